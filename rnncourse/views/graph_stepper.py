"""A cell's graph and its mirror, a node at a time: what it reads and makes, and what each change costs.

The picture is one step; the counts below it are those of a sequence, because what is stacked over time can
only be seen there.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rnncourse.figures.picture import OFF_ON, Page, Slider, View, slider_view
from rnncourse.views.graph_drawing import needs, side_by_side
from rnnlab.graphs.cells import EQUATIONS, sequence_graph, step_graph
from rnnlab.graphs.graph import Graph, Node, run
from rnnlab.graphs.mirror import Mirror, mirror
from rnnlab.graphs.transform import accumulate, reset_after, stack_gates, stack_time

SIZES = 2, 3, 4  # sequences, inputs, units: small, so that a value can be read
STEPS = 10  # of the sequence that is counted
CELLS = tuple(EQUATIONS)
CHANGES = {  # in the order in which they are made; names as the switches have them
    "move_reset": reset_after,
    "gates": stack_gates,
    "time": stack_time,
    "add_in_gemm": accumulate,
}
LONGEST = 50  # moves: the largest of these graphs has 25 nodes, each visited forward and in reverse


@dataclass(frozen=True)
class CellStep:
    """One step of a cell, run forward and in reverse at random inputs."""

    graph: Graph
    reverse: Mirror
    values: dict[str, np.ndarray]  # of every wire, and of every gradient on one


@lru_cache(maxsize=64)
def run_step(cell: str, *changes: str) -> CellStep:
    """One step with these changes made, and a value on every wire."""
    graph = changed(step_graph(cell, *SIZES), *changes)
    reverse = mirror(graph)
    rng = np.random.default_rng(0)
    inputs = {wire: rng.normal(size=shape) for wire, shape in graph.inputs.items()}
    values = run(graph, inputs)
    saved = {wire: values[wire] for wire in reverse.needed(graph)}
    arriving = {wire: rng.normal(size=shape) for wire, shape in reverse.graph.inputs.items()}
    gradients = run(reverse.graph, arriving | saved)
    return CellStep(graph, reverse, values | gradients)


def changed(graph: Graph, *changes: str) -> Graph:
    """The graph after the changes of these names, in the order of CHANGES."""
    for name, change in CHANGES.items():
        if name in changes:
            graph = change(graph)
    return graph


@lru_cache(maxsize=64)
def counts(cell: str, *changes: str, T: int = STEPS) -> tuple[int, int]:
    """(GEMM calls, nodes) of a forward pass of T steps."""
    graph = changed(sequence_graph(cell, T, *SIZES), *changes)
    return graph.gemms(), graph.count()


def figure_graph(cell: str, move: int = 0, **switches: bool) -> Page:
    """Forward graph and mirror; the node that has its turn is highlighted.  switches: named as in CHANGES."""
    graph = run_step(cell, *_on(switches)).graph
    node, is_forward = _turn(graph, move)
    mark = node.outputs[0] if node else None
    drawn = side_by_side(graph, mark)
    title = _title(node, is_forward)
    return Page(drawn.html, f"{title} {drawn.alt}")


def finding(cell: str, move: int = 0, **switches: bool) -> str:
    """What the picture shows: the node's inputs and outputs with shapes and values, and the counts."""
    changes = _on(switches)
    step = run_step(cell, *changes)
    (gemms, nodes) = counts(cell, *changes)
    node, is_forward = _turn(step.graph, move)
    describe = _forward if is_forward else _backward
    highlighted = "Nothing is highlighted yet, or every node has had its turn."
    if node:
        highlighted = describe(step, node)
    return f"{highlighted} {STEPS} steps forward: {gemms} GEMM calls, {nodes} nodes."


def explore_graph() -> View:
    """A slider for the cell, one for the node, and a switch for each transformation."""
    return slider_view(
        figure_graph,
        finding,
        cell=Slider("cell", CELLS).at("gru_before"),
        move=Slider("node", range(LONGEST + 1), start=8, play=True),
        gates=Slider("stack over gates", OFF_ON),
        time=Slider("stack over time", OFF_ON),
        add_in_gemm=Slider("accumulate in the GEMM", OFF_ON),
        move_reset=Slider("reset after the product", OFF_ON),
    )


def _on(switches: dict[str, bool]) -> tuple[str, ...]:
    return tuple(name for name in CHANGES if switches.get(name))


def _turn(graph: Graph, move: int) -> tuple[Node | None, bool]:
    """The node whose turn it is and whether it runs forward; all forward, then all in reverse."""
    turns = [None, *graph.nodes, *reversed(graph.nodes)]
    is_forward = move <= len(graph.nodes)
    node = turns[move] if 0 <= move < len(turns) else None
    return node, is_forward


def _title(node: Node | None, is_forward: bool) -> str:
    if not node:
        return ""
    direction = "forward" if is_forward else "backward"
    return f"Highlighted: the node that makes {node.outputs[0]}, {direction}."


def _forward(step: CellStep, node: Node) -> str:
    values = step.values
    inputs = " and ".join(f"{wire} {_shape(values[wire])}" for wire in node.inputs)
    results = " and ".join(_with_value(wire, values[wire]) for wire in node.outputs)
    return f"Forward, {node.op}: reads {inputs}; makes {results}."


def _backward(step: CellStep, node: Node) -> str:
    values = step.values
    arriving = " and ".join(f"d({wire}) {_shape(values[wire])}" for wire in node.outputs)
    gradients = []
    for wire in dict.fromkeys(node.inputs):
        gradient = step.reverse.gradient[wire]
        gradients.append(_with_value(f"d({wire})", values.get(gradient)))
    results = " and ".join(gradients)
    saved = ", ".join(needs(step.graph, node)) or "nothing saved"
    return f"Backward, {node.op}: {arriving} arrives; needs {saved}; adds to {results}."


def _with_value(wire: str, value: np.ndarray) -> str:
    """A wire with its shape and first number, say z [2,4] = 0.31 …"""
    first = value.flat[0]
    return f"{wire} {_shape(value)} = {first:.2f} …"


def _shape(value: np.ndarray) -> str:
    sizes = ",".join(map(str, value.shape))
    return f"[{sizes}]"

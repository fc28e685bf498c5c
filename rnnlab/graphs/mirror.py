"""The graph of the backward pass: the forward graph with every wire reversed.

d<wire> is dLoss/d<wire>.  A wire read in k places gets k contributions, which are summed; a sum sends the
same wire to all its inputs: copying and summing are each other's mirror image.  Whatever forward wires the
reverse graph reads are its inputs: the red wires, to be saved or recomputed; all others are green.
"""

from dataclasses import dataclass

import numpy as np

from rnnlab.graphs.graph import Graph, Sketch, Wire, run
from rnnlab.graphs.rules import RULES


@dataclass(frozen=True)
class Mirror:
    """The reverse graph, and for every forward wire the reverse wire that carries its whole gradient."""

    graph: Graph
    gradient: dict[str, str]

    def needed(self, forward: Graph) -> tuple[str, ...]:
        """The red wires: forward wires, inputs among them, that the reverse graph reads."""
        return tuple(wire for wire in forward.shapes if wire in self.graph.inputs)


def mirror(graph: Graph) -> Mirror:
    """The reverse graph of all inputs' gradients, from d<output> and the red wires.

    Raises ValueError if no output depends on an input: its gradient is zero and has no wire.
    """
    arriving = {_gradient_of(wire): graph.shapes[wire] for wire in graph.outputs}
    sketch = Sketch(**arriving)
    sketch.shapes.update(graph.shapes)  # any forward wire may be read; those that are become inputs below
    arrived = {}
    for wire in graph.outputs:
        d_output = sketch[_gradient_of(wire)]
        arrived[wire] = [d_output]
    for node in reversed(graph.nodes):
        _reverse_node(sketch, node, arrived)
    for wire in graph.inputs:
        if wire not in arrived:
            raise ValueError(f"no output depends on {wire!r}: its gradient is zero and has no wire")
        _sum_contributions(sketch, wire, arrived)
    gradient = {}
    for wire, (total, *_) in arrived.items():
        gradient[wire] = total.name
    leaving = dict.fromkeys(gradient[wire] for wire in graph.inputs)
    reverse = _finish(sketch, graph, tuple(leaving))
    return Mirror(reverse, gradient)


def gradients(
    graph: Graph, values: dict[str, np.ndarray], d_outputs: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """dLoss/d<input> of every input, of any shape, from its value and dLoss/d<output>.

    Runs the graph, then its mirror.
    """
    reverse = mirror(graph)
    known = run(graph, values)
    known |= {_gradient_of(wire): d for wire, d in d_outputs.items()}
    reverse_inputs = {wire: known[wire] for wire in reverse.graph.inputs}
    wires = run(reverse.graph, reverse_inputs)
    return {wire: wires[reverse.gradient[wire]] for wire in graph.inputs}


def _gradient_of(wire: str) -> str:
    return f"d{wire}" if wire.isidentifier() else f"d({wire})"


def _reverse_node(sketch: Sketch, node, arrived: dict[str, list[Wire]]) -> None:
    d = tuple(_sum_contributions(sketch, wire, arrived) for wire in node.outputs)
    inputs = [Wire(sketch, wire) for wire in node.inputs]
    outputs = [Wire(sketch, wire) for wire in node.outputs]
    if len(outputs) == 1:
        d = d[0]
        outputs = outputs[0]
    contributions = RULES[node.op].reverse(d, inputs, outputs, node.flags)
    for wire, contribution in zip(node.inputs, contributions, strict=True):
        arrived.setdefault(wire, []).append(contribution)


def _sum_contributions(sketch: Sketch, wire: str, arrived: dict[str, list[Wire]]) -> Wire:
    """The wire's whole gradient: its contributions, summed if there are several, named d<wire> if unnamed."""
    first, *others = arrived[wire]
    total = sketch.add("sum", first, *others) if others else first
    name = _gradient_of(wire)
    is_named = total.name in vars(sketch)["named"]
    if not is_named and name not in sketch.shapes:
        sketch[name] = total
        total = sketch[name]
        for contributions in arrived.values():
            _replace_unknown(contributions, total)
    arrived[wire] = [total]
    return total


def _replace_unknown(wires: list[Wire], renamed: Wire) -> None:
    """Put the renamed wire in place of those that still have its old name."""
    for k, wire in enumerate(wires):
        if wire.name not in wire.sketch.shapes:
            wires[k] = renamed


def _finish(sketch: Sketch, forward: Graph, leaving: tuple[str, ...]) -> Graph:
    """The reverse graph: forward wires that it reads are inputs; contributions not needed are left out."""
    nodes = []
    read = set(leaving)
    for node in reversed(sketch.nodes):  # from what leaves to what it reads
        if not read.isdisjoint(node.outputs):
            nodes.insert(0, node)
            read |= set(node.inputs)
    shapes = sketch.inputs | forward.shapes  # what arrives, then the red wires
    inputs = {wire: shape for wire, shape in shapes.items() if wire in read}
    return Graph(inputs, leaving, tuple(nodes))

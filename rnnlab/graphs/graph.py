"""A graph of a recurrent cell: wires carry tensors, nodes are stateless functions, weights are inputs like x.

Drawn this way, the gradient is the same picture with every wire reversed (mirror.py), and the cost of a pass
can be counted off it.  The notation is Engel's (SVAIL, "Optimizing RNNs with Differentiable Graphs", 2016).

A graph is drawn by writing the equation on wires; an attribute set on the sketch names the wire:

    g = Sketch(x=(B, I), h=(B, H), W=(H, I), U=(H, H), b=(H,))
    g.h_next = tanh(g.x @ g.W.T + g.h @ g.U.T + g.b)
    graph = g.graph("h_next")
"""

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np

from rnnlab.graphs.rules import RULES

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """One function: reads `inputs`, makes `outputs`; `flags` are its own (transpositions, axes, sizes)."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    flags: tuple = ()


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which they can run. `shapes` [wire -> shape] follows from the inputs' shapes."""

    inputs: dict[str, Shape]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    shapes: dict[str, Shape] = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "nodes", _in_running_order(self.inputs, self.nodes))
        shapes = dict(self.inputs)
        for node in self.nodes:
            outputs = _output_shapes(node, shapes)
            shapes.update(zip(node.outputs, outputs, strict=True))
        object.__setattr__(self, "shapes", shapes)
        _refuse_loose_wires(self)

    def maker(self, wire: str) -> Node | None:
        """The node that makes the wire, None for an input."""
        return next((node for node in self.nodes if wire in node.outputs), None)

    def readers(self, wire: str) -> list[Node]:
        return [node for node in self.nodes if wire in node.inputs]

    def count(self, *ops: str) -> int:
        """How many nodes are one of `ops`; how many nodes at all if none is named."""
        if not ops:
            return len(self.nodes)
        return sum(node.op in ops for node in self.nodes)

    def gemms(self) -> int:
        """Matrix products, whether or not they accumulate."""
        return self.count("product", "product_add")

    def flops(self) -> int:
        """Floating-point operations of one run: 2mnk a product, one an element elsewhere."""
        return sum(node_flops(self, node) for node in self.nodes)


def node_flops(graph: Graph, node: Node) -> int:
    """Floating-point operations of one node; copying, stacking and splitting count none."""
    inputs = [graph.shapes[wire] for wire in node.inputs]
    outputs = [graph.shapes[wire] for wire in node.outputs]
    return RULES[node.op].flops(inputs, outputs, node.flags)


def run(graph: Graph, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The value of every wire, of any shape, from the inputs' values.

    Raises ValueError for a missing input, and for one whose shape is not its wire's.
    """
    wires = {}
    for name, shape in graph.inputs.items():
        if name not in values:
            raise ValueError(f"no value for wire {name!r}: give an array of shape {shape}")
        value = np.asarray(values[name])
        if value.shape != shape:
            raise ValueError(f"wire {name!r} has shape {value.shape}, the graph was drawn for {shape}")
        wires[name] = value
    for node in graph.nodes:
        operands = [wires[wire] for wire in node.inputs]
        results = RULES[node.op].run(operands, node.flags)
        wires.update(zip(node.outputs, results, strict=True))
    return wires


@dataclass(frozen=True)
class Wire:
    """A wire of a sketch, ready to be written into an equation; `.T` only matters to the next product."""

    sketch: "Sketch"
    name: str
    transposed: bool = False

    @property
    def T(self) -> "Wire":
        return Wire(self.sketch, self.name, not self.transposed)

    @property
    def shape(self) -> Shape:
        return self.sketch.shapes[self.name]

    def __matmul__(self, other: "Wire") -> "Wire":
        transposed = (self.transposed, other.transposed)
        return self.sketch.add("product", self, other, flags=transposed)

    def __add__(self, other: "Wire") -> "Wire":
        is_bias = len(other.shape) < len(self.shape)
        return self.sketch.add("bias" if is_bias else "sum", self, other)

    def __mul__(self, other: "Wire") -> "Wire":
        if len(self.shape) < len(other.shape):  # a vector [H], by which every row of the other is multiplied
            return other * self
        return self.sketch.add("times", self, other)

    def __rsub__(self, one: int) -> "Wire":
        if one != 1:
            raise ValueError(f"{one} - {self.name}: the only constant in these cells is 1, as in 1 - z")
        return self.sketch.add("one_minus", self)


def tanh(a: Wire) -> Wire:
    return a.sketch.add("tanh", a)


def sigmoid(a: Wire) -> Wire:
    return a.sketch.add("sigmoid", a)


def relu(a: Wire) -> Wire:
    return a.sketch.add("relu", a)


class Sketch:
    """Collects nodes while equations are written on its wires."""

    def __init__(self, **inputs: Shape):
        state = vars(self)  # an attribute that is set here would name a wire
        state["inputs"] = dict(inputs)
        state["nodes"] = []
        state["shapes"] = dict(inputs)
        state["alias"] = {}
        state["named"] = set(inputs)

    def __getattr__(self, name: str) -> Wire:
        if name not in self.shapes and name not in self.alias:
            raise AttributeError(f"no wire {name!r} is drawn yet; there are {sorted(self.shapes)}")
        return Wire(self, self.alias.get(name, name))

    __getitem__ = __getattr__

    def __setattr__(self, name: str, wire: Wire) -> None:
        if name in self.shapes:
            raise ValueError(f"wire {name!r} is already made: a wire carries one value, choose another name")
        if wire.name in self.named:
            self.alias[name] = wire.name
            return
        self.named.add(name)
        self.shapes[name] = self.shapes.pop(wire.name)

        def rename(wires):
            return tuple(name if old == wire.name else old for old in wires)

        for place, node in enumerate(self.nodes):
            inputs = rename(node.inputs)
            outputs = rename(node.outputs)
            self.nodes[place] = Node(node.op, inputs, outputs, node.flags)

    __setitem__ = __setattr__

    def name(self, name: str, wire: Wire) -> Wire:
        """The wire under a name of its own, for an equation that continues."""
        self[name] = wire
        return self[name]

    def add(
        self, op: str, *wires: Wire, flags: tuple = (), names: tuple[str, ...] = ()
    ) -> Wire | tuple[Wire, ...]:
        """Draw one node; its output wires get the names `names`, or one that names the operation."""
        inputs = tuple(wire.name for wire in wires)
        if names:
            outputs = names
        else:
            label = RULES[op].label(inputs, flags)
            outputs = (self._fresh(label),)
        node = Node(op, inputs, outputs, flags)
        shapes = _output_shapes(node, self.shapes)
        self.shapes.update(zip(outputs, shapes, strict=True))
        self.nodes.append(node)
        result = tuple(Wire(self, name) for name in outputs)
        return result if len(result) > 1 else result[0]

    def graph(self, *outputs: str) -> Graph:
        """The finished graph; `outputs` are the wires that leave it."""
        leaving = tuple(self.alias.get(name, name) for name in outputs)
        return Graph(dict(self.inputs), leaving, tuple(self.nodes))

    def _fresh(self, label: str) -> str:
        return label if label not in self.shapes else self._fresh(label + "'")


def _output_shapes(node: Node, shapes: dict[str, Shape]) -> list[Shape]:
    inputs = [shapes[wire] for wire in node.inputs]
    try:
        return RULES[node.op].shape(inputs, node.flags)
    except ValueError as problem:
        wires = " and ".join(f"{wire!r} {shapes[wire]}" for wire in node.inputs)
        raise ValueError(f"{wires} do not fit into '{node.op}': {problem}") from None


def _in_running_order(inputs: dict[str, Shape], nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    maker = {}
    for node in nodes:
        for wire in node.outputs:
            if wire in maker or wire in inputs:
                raise ValueError(f"wire {wire!r} is made twice: a wire carries one value")
            maker[wire] = node
    for node in nodes:
        for wire in node.inputs:
            if wire not in maker and wire not in inputs:
                raise ValueError(
                    f"wire {wire!r} is read by '{node.op}', but nothing makes it: draw it or name it an input"
                )
    sorter = TopologicalSorter()
    for node in nodes:
        makers = [maker[wire] for wire in node.inputs if wire in maker]
        sorter.add(node, *makers)
    try:
        return tuple(sorter.static_order())
    except CycleError as cycle:
        _, circle = cycle.args
        around = " → ".join(node.outputs[0] for node in circle)
        raise ValueError(
            f"the wires go round in a circle: {around}; a value cannot wait for itself"
        ) from None


def _refuse_loose_wires(graph: Graph) -> None:
    for wire in graph.outputs:
        if wire not in graph.shapes:
            raise ValueError(f"wire {wire!r} should leave the graph, but nothing makes it")
    read = set(graph.outputs)
    for node in graph.nodes:
        read |= set(node.inputs)
    for node in graph.nodes:
        for wire in node.outputs:
            if wire not in read:
                raise ValueError(
                    f"wire {wire!r} is made by '{node.op}' and never read: use it or make it an output"
                )

"""The naive plan: a launch for every node of the cell's graph, for every layer and step.

Nothing about the cells is written here.  One step is graphs.cells.step_graph, its gradient is the graph's
mirror; this module only says in which buffer each wire lives:

    x [T·B,I], h_l [(T+1)·B,H] (LSTM: c_l), row block t the state before step t; layer l > 0 reads h_{l-1}
    gates_l [T·B,G·H]   first the input product, then the gate: the sum reads it before the gate overwrites it
    saved_l [T·B,S·H]   what else the mirror reads (GRU: S = 1); one function of a saved wire is done again
    dgates_l [T·B,G·H], dinner_l [T·B,H]   gradients before the nonlinearities; dx_l [T·B,I]
    vectors_l [1,V·H]   beside the biases; step_dvectors_l [T·B,·]  what each step sends to the cell's own
    dh_l, dc_l [2·B,H]  the gradient that travels back: step t reads block (t+1)%2 and writes block t%2
Wires that are not saved have one block of rows, which every step uses again.
"""

from collections.abc import Sequence
from functools import cache
from math import prod

from rnnlab.cells import CELLS
from rnnlab.graphs.cells import step_graph
from rnnlab.graphs.graph import Graph, Node
from rnnlab.graphs.mirror import Mirror, mirror
from rnnlab.schedule.plan import OF_PARAMETERS, Elementary, Operation, Plan, Region, Sizes, Span

REDUCING = "sum_rows"
Wires = dict[str, Region]


def forward_plan(cell: str, sizes: Sizes) -> Plan:
    """Forward through all layers, layer by layer, step by step.  cell: a key of cells.CELLS."""
    builder = _Builder(cell, sizes)
    operations = []
    for l in range(sizes.L):
        for t in range(sizes.T):
            operations += builder.forward(l, t)
    return builder.plan("forward", operations)


def backward_plan(cell: str, sizes: Sizes) -> Plan:
    """Backward, from the top layer's last step, on what the forward plan has left in its buffers."""
    builder = _Builder(cell, sizes)
    operations = []
    for l in reversed(range(sizes.L)):
        for t in reversed(range(sizes.T)):
            operations += builder.backward(l, t)
    return builder.plan("backward", operations)


@cache
def graphs(cell: str, B: int, I: int, H: int) -> tuple[Graph, Mirror, tuple[Node, ...]]:
    """One step, its mirror, and the nodes that the mirror runs again instead of saving their output."""
    forward = step_graph(cell, B, I, H)
    reverse = mirror(forward)

    def cheap(node):
        return node is not None and len(node.inputs) == 1 and _is_saved(node.inputs[0], forward, reverse)

    again = tuple(forward.maker(w) for w in reverse.needed(forward) if cheap(forward.maker(w)))
    return forward, reverse, again


def _is_saved(wire: str, forward: Graph, reverse: Mirror) -> bool:
    return wire in forward.outputs or wire in forward.inputs or wire in reverse.graph.inputs


def block(index: int, size: int) -> Span:
    """Rows or columns of one block after others of its size."""
    return index * size, (index + 1) * size


class _Builder:
    """Binds the wires of one step to regions, and notes every buffer it names."""

    def __init__(self, cell: str, sizes: Sizes):
        self.cell = cell
        self.sizes = sizes
        self.gates = CELLS[cell].gates
        self.states = CELLS[cell].states
        self.vectors = CELLS[cell].vector_wires
        self.buffers: dict[str, tuple[int, int]] = {}

    def plan(self, direction: str, operations: list[Operation]) -> Plan:
        saved = frozenset(name for name in self.buffers if not name.startswith("~"))
        return Plan(self.cell, self.sizes, direction, tuple(operations), dict(self.buffers), saved)

    def forward(self, l: int, t: int) -> list[Operation]:
        graph, reverse, again = graphs(self.cell, self.sizes.B, self._inputs(l), self.sizes.H)
        recomputed = {node.outputs[0] for node in again}
        red = [w for w in reverse.needed(graph) if w not in graph.inputs and w not in recomputed]
        wires = self._known(l, t)
        wires |= self._all_steps(f"saved_l{l}", [w for w in red if w not in wires], t)
        recurrent = self._columns(f"~hU_l{l}", self.gates, (0, self.sizes.B), self.sizes.B)
        for node in graph.nodes:
            wire = node.outputs[0]
            letter, _, gate = node.inputs[-1].partition("_")
            if node.op == "product" and letter == "W":
                wires[wire] = wires["h_next" if gate == "h" else gate]
            elif node.op == "product" and gate in recurrent:
                wires[wire] = recurrent[gate]
            elif wire not in wires:
                wires[wire] = self._temporary(wire, l, graph.shapes[wire])
        waits = lambda node: node.op != "product" or not graph.inputs.keys() >= {*node.inputs}
        # no product comes between pointwise operations but one that waits for some of them
        return [self._operation(node, wires, l, t) for node in sorted(graph.nodes, key=waits)]

    def backward(self, l: int, t: int) -> list[Operation]:
        graph, reverse, again = graphs(self.cell, self.sizes.B, self._inputs(l), self.sizes.H)
        last = t == self.sizes.T - 1
        wires = self._known(l, t) | self._gradients(reverse, l, t)
        for node in again:
            wire = node.outputs[0]
            wires[wire] = self._temporary(wire, l, graph.shapes[wire])
        wires |= self._all_steps(f"saved_l{l}", [w for w in reverse.needed(graph) if w not in wires], t)
        for node in reverse.graph.nodes:
            wire = node.outputs[0]
            if wire not in wires:
                wires[wire] = self._temporary(wire, l, reverse.graph.shapes[wire])
        operations = [self._arriving(wires, l, t)]
        operations += [self._operation(node, wires, l, t) for node in again]
        for node in reverse.graph.nodes:
            is_sum = wires[node.outputs[0]].buffer.startswith(OF_PARAMETERS)
            operations.append(self._operation(node, wires, l, t, is_sum and not last))
        return operations

    def _operation(self, node: Node, wires: Wires, l: int, t: int, accumulates: bool = False) -> Operation:
        reads = tuple(wires[w] for w in node.inputs)
        write = wires[node.outputs[0]]
        if node.op == "product":
            return Operation("gemm", reads, (write,), l, (t, t + 1), node.flags, accumulates)
        if node.op == REDUCING:
            return Operation("reduce", reads, (write,), l, (t, t + 1), accumulates=accumulates)
        body = (Elementary(node.op, reads, write),)
        if accumulates:  # a parameter that a step reads in several places
            of_step = write._replace(buffer="~of_step")
            body = (Elementary(node.op, reads, of_step), Elementary("sum", (write, of_step), write))
            reads = (*reads, write)
        return Operation("pointwise", reads, (write,), l, (t, t + 1), body=body)

    def _arriving(self, wires: Wires, l: int, t: int) -> Operation:
        """dh after the step: what later steps send, plus what the layer above, or the loss, sends."""
        is_top = l == self.sizes.L - 1
        above = self._steps("dy" if is_top else f"dx_l{l + 1}", t, self.sizes.H)
        arriving = {"later": self._carried(f"dh_l{l}", t + 1), "above": above}
        return self._operation(Node("sum", (*arriving,), ("dh_next",)), wires | arriving, l, t)

    def _known(self, l: int, t: int) -> Wires:
        """Inputs, states, parameters and gates."""
        I = self._inputs(l)
        H = self.sizes.H
        if l == 0:
            wires = {"x": self._steps("x", t, I)}
        else:
            wires = {"x": self._steps(f"h_l{l - 1}", t + 1, H, extra=1)}
        for name in self.states:
            wires[name] = self._steps(f"{name}_l{l}", t, H, extra=1)
            wires[f"{name}_next"] = self._steps(f"{name}_l{l}", t + 1, H, extra=1)
        if self.gates != ("h",):
            wires |= self._all_steps(f"gates_l{l}", self.gates, t)
        return wires | self._parameters(l)

    def _parameters(self, l: int, prefix: str = "") -> Wires:
        """The parameters; with the prefix "d" their gradients."""
        wires = {}
        for letter, name, columns in (("W", "weight_ih", self._inputs(l)), ("U", "weight_hh", self.sizes.H)):
            for k, gate in enumerate(self.gates):
                rows = block(k, self.sizes.H)
                size = len(self.gates) * self.sizes.H, columns
                wires[f"{letter}_{gate}"] = self._region(f"{prefix}{name}_l{l}", rows, (0, columns), *size)
        for name, vectors in (("bias", [f"b_{gate}" for gate in self.gates]), ("vectors", self.vectors)):
            wires |= self._columns(f"{prefix}{name}_l{l}", vectors, (0, 1), 1)
        return {prefix + name: region for name, region in wires.items()}

    def _gradients(self, reverse: Mirror, l: int, t: int) -> Wires:
        """The wires of the mirror that have a place of their own."""
        wires = self._parameters(l, "d") | {"dx": self._steps(f"dx_l{l}", t, self._inputs(l))}
        wires["dh_next"] = self._temporary("dh_next", l, (self.sizes.B, self.sizes.H))
        wires["dh"] = self._carried(f"dh_l{l}", t)
        if "c" in self.states:
            wires |= {"dc_next": self._carried(f"dc_l{l}", t + 1), "dc": self._carried(f"dc_l{l}", t)}
        dgates = self._all_steps(f"dgates_l{l}", self.gates, t)
        products = [node.inputs for node in reverse.graph.nodes if node.op == "product"]
        wires |= {dwire: dgates[weights[2:]] for dwire, weights in products if weights.startswith("W_")}
        for dwire, weights in products:
            if weights.startswith("U_") and dwire not in wires:
                wires[dwire] = self._steps(f"dinner_l{l}", t, self.sizes.H)
        summed = {node.outputs[0]: node.inputs[0] for node in reverse.graph.nodes if node.op == REDUCING}
        terms = [summed.get(f"d{name}") for name in self.vectors]
        return wires | self._all_steps(f"step_dvectors_l{l}", [w for w in terms if w and w not in wires], t)

    def _inputs(self, l: int) -> int:
        return self.sizes.I if l == 0 else self.sizes.H

    def _steps(self, buffer: str, t: int, columns: int, extra: int = 0) -> Region:
        B = self.sizes.B
        return self._region(buffer, block(t, B), (0, columns), (self.sizes.T + extra) * B, columns)

    def _all_steps(self, buffer: str, names: Sequence[str], t: int) -> Wires:
        """Wires of a step in a buffer that has them for all steps."""
        return self._columns(buffer, names, block(t, self.sizes.B), self.sizes.T * self.sizes.B)

    def _columns(self, buffer: str, names: Sequence[str], rows: Span, all_rows: int) -> Wires:
        """Wires of H columns each, side by side."""
        H = self.sizes.H
        size = all_rows, len(names) * H
        return {name: self._region(buffer, rows, block(k, H), *size) for k, name in enumerate(names)}

    def _carried(self, buffer: str, t: int) -> Region:
        B = self.sizes.B
        H = self.sizes.H
        return self._region(buffer, block(t % 2, B), (0, H), 2 * B, H)

    def _temporary(self, wire: str, l: int, shape: tuple[int, ...]) -> Region:
        columns = shape[-1]
        rows = prod(shape[:-1])
        return self._region(f"~{wire}_l{l}", (0, rows), (0, columns), rows, columns)

    def _region(self, buffer, rows, columns, all_rows, all_columns) -> Region:
        self.buffers[buffer] = (all_rows, all_columns)
        return Region(buffer, rows, columns)

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
    recomputed = []
    for wire in reverse.needed(forward):
        node = forward.maker(wire)
        is_function = node is not None and len(node.inputs) == 1
        if is_function and _is_saved(node.inputs[0], forward, reverse):
            recomputed.append(node)
    return forward, reverse, tuple(recomputed)


def _is_saved(wire: str, forward: Graph, reverse: Mirror) -> bool:
    leaves_or_enters = wire in forward.outputs or wire in forward.inputs
    return leaves_or_enters or wire in reverse.graph.inputs


def block(index: int, size: int) -> Span:
    """Rows or columns of one block after others of its size."""
    return index * size, (index + 1) * size


class _Builder:
    """Binds the wires of one step to regions, and notes every buffer it names."""

    def __init__(self, cell: str, sizes: Sizes):
        properties = CELLS[cell]
        self.cell = cell
        self.sizes = sizes
        self.gates = properties.gates
        self.states = properties.states
        self.vectors = properties.vector_wires
        self.buffers: dict[str, tuple[int, int]] = {}

    def plan(self, direction: str, operations: list[Operation]) -> Plan:
        buffers = dict(self.buffers)
        saved = frozenset(name for name in buffers if not name.startswith("~"))
        return Plan(self.cell, self.sizes, direction, tuple(operations), buffers, saved)

    def forward(self, l: int, t: int) -> list[Operation]:
        graph, reverse, again = self._graphs(l)
        wires = self._known(l, t)
        recomputed = {node.outputs[0] for node in again}
        elsewhere = wires.keys() | graph.inputs.keys() | recomputed
        saved = [wire for wire in reverse.needed(graph) if wire not in elsewhere]
        wires |= self._all_steps(f"saved_l{l}", saved, t)
        B = self.sizes.B
        recurrent = self._columns(f"~hU_l{l}", self.gates, (0, B), B)
        for node in graph.nodes:
            (wire,) = node.outputs
            letter, _, gate = node.inputs[-1].partition("_")
            is_product = node.op == "product"
            if is_product and letter == "W":
                target = "h_next" if gate == "h" else gate
                wires[wire] = wires[target]
            elif is_product and gate in recurrent:
                wires[wire] = recurrent[gate]
            elif wire not in wires:
                wires[wire] = self._temporary(wire, l, graph.shapes[wire])

        def waits(node):
            reads_inputs_alone = graph.inputs.keys() >= {*node.inputs}
            return node.op != "product" or not reads_inputs_alone

        # no product comes between pointwise operations but one that waits for some of them
        nodes = sorted(graph.nodes, key=waits)
        return [self._operation(node, wires, l, t) for node in nodes]

    def backward(self, l: int, t: int) -> list[Operation]:
        graph, reverse, again = self._graphs(l)
        wires = self._known(l, t) | self._gradients(reverse, l, t)
        for node in again:
            (wire,) = node.outputs
            wires[wire] = self._temporary(wire, l, graph.shapes[wire])
        saved = [wire for wire in reverse.needed(graph) if wire not in wires]
        wires |= self._all_steps(f"saved_l{l}", saved, t)
        gradient = reverse.graph
        for node in gradient.nodes:
            (wire,) = node.outputs
            if wire not in wires:
                wires[wire] = self._temporary(wire, l, gradient.shapes[wire])
        operations = [self._arriving(wires, l, t)]
        operations += [self._operation(node, wires, l, t) for node in again]
        is_last = t == self.sizes.T - 1  # the first one that runs: it writes what later ones add to
        for node in gradient.nodes:
            (wire,) = node.outputs
            is_sum_over_steps = wires[wire].buffer.startswith(OF_PARAMETERS)
            accumulates = is_sum_over_steps and not is_last
            operations.append(self._operation(node, wires, l, t, accumulates))
        return operations

    def _graphs(self, l: int) -> tuple[Graph, Mirror, tuple[Node, ...]]:
        """One step of a layer, its mirror, and the nodes that run again."""
        sizes = self.sizes
        return graphs(self.cell, sizes.B, self._inputs(l), sizes.H)

    def _operation(self, node: Node, wires: Wires, l: int, t: int, accumulates: bool = False) -> Operation:
        reads = tuple(wires[wire] for wire in node.inputs)
        write = wires[node.outputs[0]]
        steps = (t, t + 1)
        if node.op == "product":
            return Operation("gemm", reads, (write,), l, steps, node.flags, accumulates)
        if node.op == REDUCING:
            return Operation("reduce", reads, (write,), l, steps, accumulates=accumulates)
        if accumulates:  # a parameter that a step reads in several places
            of_step = write._replace(buffer="~of_step")
            function = Elementary(node.op, reads, of_step)
            addition = Elementary("sum", (write, of_step), write)
            body = (function, addition)
            reads = (*reads, write)
        else:
            body = (Elementary(node.op, reads, write),)
        return Operation("pointwise", reads, (write,), l, steps, body=body)

    def _arriving(self, wires: Wires, l: int, t: int) -> Operation:
        """dh after the step: what later steps send, plus what the layer above, or the loss, sends."""
        is_top = l == self.sizes.L - 1
        buffer = "dy" if is_top else f"dx_l{l + 1}"
        later = self._carried(f"dh_l{l}", t + 1)
        above = self._steps(buffer, t, self.sizes.H)
        addition = Node("sum", ("later", "above"), ("dh_next",))
        return self._operation(addition, wires | {"later": later, "above": above}, l, t)

    def _known(self, l: int, t: int) -> Wires:
        """Inputs, states, parameters and gates."""
        wires = {}
        if l == 0:
            wires["x"] = self._steps("x", t, self.sizes.I)
        else:
            wires["x"] = self._state("h", l - 1, t + 1)
        for name in self.states:
            wires[name] = self._state(name, l, t)
            wires[f"{name}_next"] = self._state(name, l, t + 1)
        if self.gates != ("h",):
            wires |= self._all_steps(f"gates_l{l}", self.gates, t)
        return wires | self._parameters(l)

    def _parameters(self, l: int, prefix: str = "") -> Wires:
        """The parameters; with the prefix "d" their gradients."""
        H = self.sizes.H
        all_rows = len(self.gates) * H
        wires = {}
        for letter, name, columns in (("W", "weight_ih", self._inputs(l)), ("U", "weight_hh", H)):
            buffer = f"{prefix}{name}_l{l}"
            for k, gate in enumerate(self.gates):
                rows = block(k, H)
                weights = self._region(buffer, rows, (0, columns), all_rows, columns)
                wires[f"{letter}_{gate}"] = weights
        biases = [f"b_{gate}" for gate in self.gates]
        wires |= self._columns(f"{prefix}bias_l{l}", biases, (0, 1), 1)
        wires |= self._columns(f"{prefix}vectors_l{l}", self.vectors, (0, 1), 1)
        return {prefix + name: region for name, region in wires.items()}

    def _gradients(self, reverse: Mirror, l: int, t: int) -> Wires:
        """The wires of the mirror that have a place of their own."""
        B = self.sizes.B
        H = self.sizes.H
        wires = self._parameters(l, "d")
        wires["dx"] = self._steps(f"dx_l{l}", t, self._inputs(l))
        wires["dh_next"] = self._temporary("dh_next", l, (B, H))
        wires["dh"] = self._carried(f"dh_l{l}", t)
        if "c" in self.states:
            wires["dc_next"] = self._carried(f"dc_l{l}", t + 1)
            wires["dc"] = self._carried(f"dc_l{l}", t)
        dgates = self._all_steps(f"dgates_l{l}", self.gates, t)
        nodes = reverse.graph.nodes
        products = [node.inputs for node in nodes if node.op == "product"]
        for dwire, weights in products:
            letter, _, gate = weights.partition("_")
            if letter == "W":
                wires[dwire] = dgates[gate]
        for dwire, weights in products:
            if weights.startswith("U_") and dwire not in wires:
                wires[dwire] = self._steps(f"dinner_l{l}", t, H)
        summed = {}  # sum over rows -> what it sums
        for node in nodes:
            if node.op == REDUCING:
                (total,) = node.outputs
                (summed[total],) = node.inputs
        of_step = []  # what each step sends to the cell's own vectors
        for name in self.vectors:
            term = summed.get(f"d{name}")
            if term and term not in wires:
                of_step.append(term)
        return wires | self._all_steps(f"step_dvectors_l{l}", of_step, t)

    def _inputs(self, l: int) -> int:
        return self.sizes.I if l == 0 else self.sizes.H

    def _steps(self, buffer: str, t: int, columns: int) -> Region:
        """Step t of a buffer that has one block of rows for each step."""
        B = self.sizes.B
        rows = block(t, B)
        all_rows = self.sizes.T * B
        return self._region(buffer, rows, (0, columns), all_rows, columns)

    def _state(self, name: str, l: int, t: int) -> Region:
        """A state before step t, in a buffer that has the one after the last step too."""
        B = self.sizes.B
        H = self.sizes.H
        rows = block(t, B)
        all_rows = (self.sizes.T + 1) * B
        return self._region(f"{name}_l{l}", rows, (0, H), all_rows, H)

    def _all_steps(self, buffer: str, names: Sequence[str], t: int) -> Wires:
        """Wires of a step in a buffer that has them for all steps."""
        B = self.sizes.B
        rows = block(t, B)
        return self._columns(buffer, names, rows, self.sizes.T * B)

    def _columns(self, buffer: str, names: Sequence[str], rows: Span, all_rows: int) -> Wires:
        """Wires of H columns each, side by side."""
        H = self.sizes.H
        all_columns = len(names) * H
        wires = {}
        for k, name in enumerate(names):
            columns = block(k, H)
            wires[name] = self._region(buffer, rows, columns, all_rows, all_columns)
        return wires

    def _carried(self, buffer: str, t: int) -> Region:
        """A gradient that travels back through time: steps take turns with two blocks of rows."""
        B = self.sizes.B
        H = self.sizes.H
        rows = block(t % 2, B)
        return self._region(buffer, rows, (0, H), 2 * B, H)

    def _temporary(self, wire: str, l: int, shape: tuple[int, ...]) -> Region:
        *leading, columns = shape
        rows = prod(leading)
        return self._region(f"~{wire}_l{l}", (0, rows), (0, columns), rows, columns)

    def _region(self, buffer, rows, columns, all_rows, all_columns) -> Region:
        self.buffers[buffer] = (all_rows, all_columns)
        return Region(buffer, rows, columns)

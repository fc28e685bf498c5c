"""Launches: a training pass of a residual RNN as data, and the plan of operations that it becomes.

A schedule is a number of steps per block and an array of launches, a row (kind, layer, block, stream)
each, in the order of issue.  Layer l reads y[l-1], computes h[l] = tanh(W y[l-1] + U h[l] one step before +
b) and y[l] = y[l-1] + h[l]; y[-1] is the input x.  A launch handles one block of steps of one layer:

    FORWARD   h and y from y of the layer below, and from h of the block before
    BACKWARD  dg, the gradient before tanh, from h and from dy, which it then makes that of the layer below
    WEIGHTS   adds the block's share to dW, dU and db
A block that runs FORWARD again is recomputed.  Which launch must wait for which follows from what they read
and write (schedule/hazards.py); the events between streams are derived, as in lesson 14.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nbjudge.printable import quantity
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region, Sizes

FORWARD, BACKWARD, WEIGHTS = KINDS = range(3)
NAMES = ("forward", "backward", "weight gradient")
STREAMS = 32  # most that a schedule may use
MOST_LAUNCHES = 50_000


class Problem(NamedTuple):
    """Sizes of the network and of its input; memory: arrays [minibatch, hidden_size] that it may save."""

    layers: int
    steps: int
    minibatch: int
    hidden_size: int
    memory: int

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items())


class LayerBlock(NamedTuple):
    """One block of steps of one layer."""

    kind: int
    layer: int
    block: int
    stream: int

    def __str__(self) -> str:
        return f"{NAMES[self.kind]} of layer {self.layer}, block {self.block}"


class Array(NamedTuple):
    """h, y or dg of one block of one layer."""

    name: str
    layer: int
    block: int

    def __str__(self) -> str:
        return f"{self.name} of layer {self.layer}, block {self.block}"


Places = dict[Array, int]  # of the arrays in memory


class Illegal(ValueError):
    """A schedule that cannot run or gives wrong gradients; `mistake` is its name, if it has one."""

    def __init__(self, sentence: str, mistake: str | None = None):
        super().__init__(sentence)
        self.mistake = mistake


class Schedule(NamedTuple):
    """Launches for one problem."""

    problem: Problem
    block: int  # steps
    launches: tuple[LayerBlock, ...]

    @property
    def blocks(self) -> int:
        """Blocks of a layer; the last one may be shorter."""
        return -(-self.problem.steps // self.block)

    def span(self, block: int) -> tuple[int, int]:
        """First step of a block, and one past its last."""
        first = block * self.block
        return first, min(self.problem.steps, first + self.block)


def read_schedule(problem: Problem, answer: object) -> Schedule:
    """The schedule in (block, launches [n,4]).  Raises Illegal where the answer has another form."""
    block, rows = _parts(answer)
    steps = problem.steps
    if not 1 <= block <= steps:
        raise Illegal(f"The block is {block} steps, expected 1 to {steps}, the steps of the sequence.")
    launches = tuple(LayerBlock(*row) for row in rows)
    schedule = Schedule(problem, block, launches)
    ends = len(NAMES), problem.layers, schedule.blocks, STREAMS
    for number, launch in enumerate(launches):
        for field, value, end in zip(LayerBlock._fields, launch, ends, strict=True):
            if not 0 <= value < end:
                raise Illegal(f"Launch {number}: {field} is {value}, expected 0 to {end - 1}.")
    return schedule


def _parts(answer: object) -> tuple[int, list[list[int]]]:
    """Steps of a block, and the rows of numbers."""
    form = "The result must be (block, launches): steps per block, and rows (kind, layer, block, stream)"
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Illegal(f"{form}; it returns {answer!r:.60}.")
    block, launches = answer
    if isinstance(block, bool) or not isinstance(block, int | np.integer):
        raise Illegal(f"{form}; its block is {block!r:.60}.")
    try:
        rows = np.asarray(launches)
    except ValueError:  # rows of unequal lengths
        raise Illegal(f"{form}; its rows have unequal lengths.") from None
    has_columns = rows.ndim == 2 and rows.shape[1] == len(LayerBlock._fields)
    has_form = has_columns and rows.dtype.kind in "iu"
    if rows.size and not has_form:
        raise Illegal(
            f"{form}; its launches are an array {rows.shape} of {rows.dtype}, expected whole numbers."
        )
    count = len(rows)
    if count > MOST_LAUNCHES:
        raise Illegal(f"It has {quantity(count, 'launch')}; {MOST_LAUNCHES} are allowed.")
    return int(block), rows.tolist()


def reads(launch: LayerBlock) -> list[Array]:
    """Saved arrays that a launch reads."""
    kind, l, j, _ = launch
    h = Array("h", l, j)
    if kind == BACKWARD:
        return [h]
    arrays = [] if kind == FORWARD else [Array("dg", l, j), h]
    if l > 0:
        arrays.append(Array("y", l - 1, j))
    if j > 0:
        arrays.append(Array("h", l, j - 1))
    return arrays


def writes(launch: LayerBlock, layers: int) -> list[Array]:
    """Saved arrays that a launch writes; y of the top layer is the output, and lies elsewhere."""
    kind, l, j, _ = launch
    if kind == WEIGHTS:
        return []
    if kind == BACKWARD:
        return [Array("dg", l, j)]
    arrays = [Array("h", l, j)]
    if l < layers - 1:
        arrays.append(Array("y", l, j))
    return arrays


def to_plan(schedule: Schedule, places: Sequence[Places]) -> Plan:
    """The plan of operations; places: for each launch, the place in memory of each array that it touches."""
    L, T, B, H, _ = schedule.problem
    operations = []
    for launch in launch_operations(schedule, places):
        operations.extend(launch)
    numbers = {number for arrays in places for number in arrays.values()}
    place_count = 1 + max(numbers, default=-1)
    rows_of_block = schedule.block * B
    buffers = {f"place{number}": (rows_of_block, H) for number in range(place_count)}
    for name in ("x", "y", "dy"):
        buffers[name] = (T * B, H)
    outputs = {"y", "dy"}
    layer_arrays = {"W": (H, H), "U": (H, H), "b": (1, H)}
    gradients = {f"d{name}": shape for name, shape in layer_arrays.items()}
    layer_arrays |= gradients
    layer_arrays["dh"] = (B, H)
    for name, shape in layer_arrays.items():
        names = [f"{name}_l{l}" for l in range(L)]
        buffers |= dict.fromkeys(names, shape)
        if name in gradients:
            outputs.update(names)
    sizes = Sizes(T, B, H, H, L)
    return Plan("rnn_tanh", sizes, "training", tuple(operations), buffers, frozenset(outputs), captured=True)


def launch_operations(schedule: Schedule, places: Sequence[Places]) -> list[list[Operation]]:
    """The operations of each launch, in the plan's order."""
    pairs = zip(schedule.launches, places, strict=True)
    return [_Block(schedule, launch, place).operations() for launch, place in pairs]


class _Block:
    """The operations of one launch."""

    def __init__(self, schedule: Schedule, launch: LayerBlock, place: Places):
        self.problem = schedule.problem
        self.length = schedule.block
        self.place = place
        self.kind, self.layer, self.block, self.stream = launch
        self.steps = schedule.span(self.block)
        self.below = Array("y", self.layer - 1, self.block)
        self.own = Array("h", self.layer, self.block)
        self.slope = Array("dg", self.layer, self.block)

    def operations(self) -> list[Operation]:
        return (self._forward, self._backward, self._weights)[self.kind]()

    def _forward(self) -> list[Operation]:
        inputs = self._rows(self.below, *self.steps)
        states = self._rows(self.own, *self.steps)
        result = [self._product(inputs, "W", states)]
        bias = self._of_layer("b", 1)
        for t in range(*self.steps):
            h = self._rows(self.own, t)
            below = self._rows(self.below, t)
            y = self._result(t)
            if t:
                before = self._state_before(t)
                result.append(self._product(before, "U", h, accumulates=True))
            body = (
                Elementary("bias", (h, bias), h),
                Elementary("tanh", (h,), h),
                Elementary("sum", (below, h), y),
            )
            result.append(self._operation("pointwise", (h, bias, below), (h, y), body=body))
        return result

    def _backward(self) -> list[Operation]:
        B = self.problem.minibatch
        carried = self._of_layer("dh", B)
        total = self._of_layer("~total", B)
        last = self.problem.steps - 1
        result = []
        for t in reversed(range(*self.steps)):
            h = self._rows(self.own, t)
            slope = self._rows(self.slope, t)
            arriving = [self._steps("dy", t)]
            if t < last:
                arriving.append(carried)
            addition = Elementary("sum", tuple(arriving), total)
            derivative = Elementary("tanh_slope", (total, h), slope)
            body = (addition, derivative)
            result.append(self._operation("pointwise", (h, *arriving), (slope,), body=body))
            if t:
                result.append(self._product(slope, "U", carried, flipped=False))
        slopes = self._rows(self.slope, *self.steps)
        dy = self._steps("dy", *self.steps)
        result.append(self._product(slopes, "W", dy, accumulates=True, flipped=False))
        return result

    def _weights(self) -> list[Operation]:
        first, last = self.steps
        slopes = self._rows(self.slope, first, last)
        below = self._rows(self.below, first, last)
        result = [self._weight_gradient("dW", slopes, below)]
        if last - first > 1:
            inner = self._rows(self.slope, first + 1, last)
            states = self._rows(self.own, first, last - 1)
            result.append(self._weight_gradient("dU", inner, states))
        if first:
            slope = self._rows(self.slope, first)
            before = self._state_before(first)
            result.append(self._weight_gradient("dU", slope, before))
        bias = self._of_layer("db", 1)
        result.append(self._operation("reduce", (slopes,), (bias,), accumulates=True))
        return result

    def _weight_gradient(self, name: str, slopes: Region, factors: Region) -> Operation:
        gradient = self._of_layer(name)
        return self._gemm(slopes, factors, gradient, (True, False), accumulates=True)

    def _product(self, a: Region, weights: str, out: Region, accumulates=False, flipped=True) -> Operation:
        matrix = self._of_layer(weights)
        return self._gemm(a, matrix, out, (False, flipped), accumulates)

    def _gemm(self, a: Region, b: Region, out: Region, transposed: tuple, accumulates: bool) -> Operation:
        return self._operation("gemm", (a, b), (out,), transposed=transposed, accumulates=accumulates)

    def _operation(self, kind: str, reads: tuple, writes: tuple, **more) -> Operation:
        return Operation(kind, reads, writes, self.layer, self.steps, stream=self.stream, **more)

    def _rows(self, array: Array, first: int, last: int | None = None) -> Region:
        """Steps of an array, or one: of its place in memory, or of x below layer 0."""
        if array.layer < 0:
            return self._steps("x", first, last)
        start = array.block * self.length
        end = None if last is None else last - start
        place = self.place[array]
        return self._steps(f"place{place}", first - start, end)

    def _state_before(self, t: int) -> Region:
        block = self.block
        if t == self.steps[0]:
            block -= 1
        h = Array("h", self.layer, block)
        return self._rows(h, t - 1)

    def _result(self, t: int) -> Region:
        if self.layer == self.problem.layers - 1:
            return self._steps("y", t)
        y = Array("y", self.layer, self.block)
        return self._rows(y, t)

    def _steps(self, buffer: str, first: int, last: int | None = None) -> Region:
        """Rows of steps from first to before last, or of the first one alone."""
        if last is None:
            last = first + 1
        _, _, B, H, _ = self.problem
        rows = (first * B, last * B)
        return Region(buffer, rows, (0, H))

    def _of_layer(self, name: str, rows: int | None = None) -> Region:
        """The layer's array of this name; of the weights' shape where no number of rows is given."""
        H = self.problem.hidden_size
        if rows is None:
            rows = H
        return Region(f"{name}_l{self.layer}", (0, rows), (0, H))

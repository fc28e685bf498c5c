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
        return block * self.block, min(self.problem.steps, (block + 1) * self.block)


def read_schedule(problem: Problem, answer: object) -> Schedule:
    """The schedule in (block, launches [n,4]).  Raises Illegal where the answer has another form."""
    block, rows = _parts(answer)
    if not 1 <= block <= problem.steps:
        raise Illegal(
            f"The block is {block} steps, expected 1 to {problem.steps}, the steps of the sequence."
        )
    schedule = Schedule(problem, block, tuple(LayerBlock(*row) for row in rows))
    ends = len(NAMES), problem.layers, schedule.blocks, STREAMS
    for number, launch in enumerate(schedule.launches):
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
    has_form = rows.ndim == 2 and rows.shape[1] == len(LayerBlock._fields) and rows.dtype.kind in "iu"
    if rows.size and not has_form:
        raise Illegal(
            f"{form}; its launches are an array {rows.shape} of {rows.dtype}, expected whole numbers."
        )
    if len(rows) > MOST_LAUNCHES:
        raise Illegal(f"It has {quantity(len(rows), 'launch')}; {MOST_LAUNCHES} are allowed.")
    return int(block), rows.tolist()


def reads(launch: LayerBlock) -> list[Array]:
    """Saved arrays that a launch reads."""
    kind, l, j, _ = launch
    below = [Array("y", l - 1, j)] if l > 0 else []
    before = [Array("h", l, j - 1)] if j > 0 else []
    if kind == FORWARD:
        return below + before
    own = [Array("h", l, j)]
    return own if kind == BACKWARD else [Array("dg", l, j), *own, *below, *before]


def writes(launch: LayerBlock, layers: int) -> list[Array]:
    """Saved arrays that a launch writes; y of the top layer is the output, and lies elsewhere."""
    kind, l, j, _ = launch
    if kind == FORWARD:
        return [Array("h", l, j)] + ([Array("y", l, j)] if l < layers - 1 else [])
    return [Array("dg", l, j)] if kind == BACKWARD else []


def to_plan(schedule: Schedule, places: Sequence[dict[Array, int]]) -> Plan:
    """The plan of operations; places: for each launch, the place in memory of each array that it touches."""
    T, B, H, L = (getattr(schedule.problem, name) for name in ("steps", "minibatch", "hidden_size", "layers"))
    operations = [operation for parts in launch_operations(schedule, places) for operation in parts]
    place_count = 1 + max((number for place in places for number in place.values()), default=-1)
    buffers = {f"place{number}": (schedule.block * B, H) for number in range(place_count)}
    buffers |= {name: (T * B, H) for name in ("x", "y", "dy")}
    for l in range(L):
        buffers |= {f"{name}_l{l}": (H, H) for name in ("W", "U", "dW", "dU")}
        buffers |= {f"b_l{l}": (1, H), f"db_l{l}": (1, H), f"dh_l{l}": (B, H)}
    gradients = (f"{name}_l{l}" for name in ("dW", "dU", "db") for l in range(L))
    outputs = frozenset(("y", "dy", *gradients))
    return Plan(
        "rnn_tanh", Sizes(T, B, H, H, L), "training", tuple(operations), buffers, outputs, captured=True
    )


def launch_operations(schedule: Schedule, places: Sequence[dict[Array, int]]) -> list[list[Operation]]:
    """The operations of each launch, in the plan's order."""
    pairs = zip(schedule.launches, places, strict=True)
    return [_Block(schedule, launch, place).operations() for launch, place in pairs]


class _Block:
    """The operations of one launch."""

    def __init__(self, schedule: Schedule, launch: LayerBlock, place: dict[Array, int]):
        self.problem = schedule.problem
        self.launch = launch
        self.place = place
        self.length = schedule.block
        self.first, self.last = schedule.span(launch.block)
        self.below = Array("y", launch.layer - 1, launch.block)
        self.own, self.slope = (Array(name, launch.layer, launch.block) for name in ("h", "dg"))

    def operations(self) -> list[Operation]:
        return (self._forward, self._backward, self._weights)[self.launch.kind]()

    def _forward(self) -> list[Operation]:
        whole = self.first, self.last
        result = [self._product(self._rows(self.below, *whole), "W", self._rows(self.own, *whole))]
        for t in range(*whole):
            h = self._rows(self.own, t, t + 1)
            below = self._rows(self.below, t, t + 1)
            if t:
                result.append(self._product(self._state_before(t), "U", h, accumulates=True))
            bias = self._region(f"b_l{self.launch.layer}", 1)
            y = self._result(t)
            body = (
                Elementary("bias", (h, bias), h),
                Elementary("tanh", (h,), h),
                Elementary("sum", (below, h), y),
            )
            result.append(self._operation("pointwise", (h, bias, below), (h, y), body=body))
        return result

    def _backward(self) -> list[Operation]:
        carried = self._region(f"dh_l{self.launch.layer}", self.problem.minibatch)
        result = []
        for t in reversed(range(self.first, self.last)):
            h = self._rows(self.own, t, t + 1)
            slope = self._rows(self.slope, t, t + 1)
            dy = self._steps("dy", t, t + 1)
            arriving = (dy, carried) if t < self.problem.steps - 1 else (dy,)
            total = self._region(f"~total_l{self.launch.layer}", self.problem.minibatch)
            body = (Elementary("sum", arriving, total), Elementary("tanh_slope", (total, h), slope))
            result.append(self._operation("pointwise", (h, *arriving), (slope,), body=body))
            if t:
                result.append(self._product(slope, "U", carried, flipped=False))
        whole = self.first, self.last
        return [
            *result,
            self._product(
                self._rows(self.slope, *whole), "W", self._steps("dy", *whole), True, flipped=False
            ),
        ]

    def _weights(self) -> list[Operation]:
        l = self.launch.layer
        first = self.first
        last = self.last
        sums = [("dW", self._rows(self.slope, first, last), self._rows(self.below, first, last))]
        if last - first > 1:
            inner = self._rows(self.slope, first + 1, last), self._rows(self.own, first, last - 1)
            sums.append(("dU", *inner))
        if first:
            sums.append(("dU", self._rows(self.slope, first, first + 1), self._state_before(first)))
        size = self.problem.hidden_size
        flags = {"transposed": (True, False), "accumulates": True}
        products = []
        for name, a, b in sums:
            out = self._region(f"{name}_l{l}", size)
            products.append(self._operation("gemm", (a, b), (out,), **flags))
        bias = self._region(f"db_l{l}", 1)
        total = self._operation("reduce", (self._rows(self.slope, first, last),), (bias,), accumulates=True)
        return [*products, total]

    def _product(self, a: Region, weights: str, out: Region, accumulates=False, flipped=True) -> Operation:
        factor = self._region(f"{weights}_l{self.launch.layer}", self.problem.hidden_size)
        flags = {"transposed": (False, flipped), "accumulates": accumulates}
        return self._operation("gemm", (a, factor), (out,), **flags)

    def _operation(self, kind: str, reads: tuple, writes: tuple, **more) -> Operation:
        steps = (self.first, self.last)
        stream = self.launch.stream
        return Operation(kind, reads, writes, self.launch.layer, steps, stream=stream, **more)

    def _rows(self, array: Array, first: int, last: int) -> Region:
        """Steps of an array: of its place in memory, or of x below layer 0."""
        if array.layer < 0:
            return self._steps("x", first, last)
        start = array.block * self.length
        return self._steps(f"place{self.place[array]}", first - start, last - start)

    def _state_before(self, t: int) -> Region:
        block = self.launch.block - (t == self.first)
        return self._rows(Array("h", self.launch.layer, block), t - 1, t)

    def _result(self, t: int) -> Region:
        top = self.launch.layer == self.problem.layers - 1
        y = Array("y", self.launch.layer, self.launch.block)
        return self._steps("y", t, t + 1) if top else self._rows(y, t, t + 1)

    def _steps(self, buffer: str, first: int, last: int) -> Region:
        B = self.problem.minibatch
        H = self.problem.hidden_size
        return Region(buffer, (first * B, last * B), (0, H))

    def _region(self, buffer: str, rows: int) -> Region:
        return Region(buffer, (0, rows), (0, self.problem.hidden_size))

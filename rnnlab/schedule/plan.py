"""A pass through a network as a plan: operations in the order in which they are issued, on named buffers.

A buffer is a matrix; steps and sequences share its rows, so step t of B sequences is rows t·B … (t+1)·B, and
a gate is a range of columns.  An operation says which regions it reads and writes; from that follows which
operation must wait for which (hazards.py): it is never stated.  Optimisations are functions from plan to
plan (passes.py, order.py); executors run a plan (run_numpy.py) or predict its time (timeline.py).
"""

from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

Span = tuple[int, int]  # first, and one past the last
OF_PARAMETERS = "dweight", "dbias", "dvectors"  # buffers of gradients that all steps add to begin so


class Region(NamedTuple):
    """Rows and columns of a buffer."""

    buffer: str
    rows: Span
    columns: Span

    @property
    def shape(self) -> tuple[int, int]:
        top, bottom = self.rows
        left, right = self.columns
        return bottom - top, right - left

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __str__(self) -> str:
        top, bottom = self.rows
        left, right = self.columns
        return f"{self.buffer}[{top}:{bottom}, {left}:{right}]"


def overlap(a: Region, b: Region) -> bool:
    """Do the regions share an element?"""
    if a.buffer != b.buffer:
        return False
    return _spans_overlap(a.rows, b.rows) and _spans_overlap(a.columns, b.columns)


def _spans_overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


class Elementary(NamedTuple):
    """One pointwise function, a rule of graphs/rules.py, from regions to a region of the same shape."""

    rule: str
    reads: tuple[Region, ...]
    write: Region


class Operation(NamedTuple):
    """One launch.  kind: gemm, pointwise, reduce (a sum over rows), transpose.

    gemm: write = op(a) op(b) [+ what stands there], reads (a, b); transposed says which factor is.
    pointwise: `body` in order; a region that the body makes and `writes` does not list lives in registers.
    """

    kind: str
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    layer: int
    steps: Span
    transposed: tuple[bool, bool] = (False, False)
    accumulates: bool = False
    body: tuple[Elementary, ...] = ()
    stream: int = 0

    @property
    def touches(self) -> tuple[Region, ...]:
        """Regions whose present content matters: what is read, and what is added to."""
        return self.reads + self.writes * self.accumulates

    @property
    def gemm_shape(self) -> tuple[int, int, int]:
        """m, n, k of a gemm."""
        (m, n) = self.writes[0].shape
        (rows, columns) = self.reads[0].shape
        return m, n, rows if self.transposed[0] else columns

    @property
    def flops(self) -> int:
        """2mnk of a gemm; elsewhere one per element and elementary function; none of a transpose."""
        if self.kind == "gemm":
            m, n, k = self.gemm_shape
            return 2 * m * n * k
        if self.kind == "reduce":
            return self.reads[0].size
        return sum(function.write.size for function in self.body)

    @property
    def is_input_product(self) -> bool:
        return self.kind == "gemm" and self.reads[1].buffer.startswith("weight_ih")

    @property
    def is_weight_gradient(self) -> bool:
        return self.writes[0].buffer.startswith(OF_PARAMETERS)

    @property
    def is_off_the_recurrence(self) -> bool:
        """Does no later step of its layer wait for it?"""
        return self.is_input_product or self.is_weight_gradient

    def bytes(self, itemsize: int = 4) -> int:
        """What must cross the memory bus if nothing stays in a cache: every operand once."""
        operands = self.touches + self.writes
        return itemsize * sum(region.size for region in operands)

    def __str__(self) -> str:
        first = self.steps[0]
        last = self.steps[1] - 1
        when = f"step {first}" if first == last else f"steps {first}–{last}"
        return f"{self.name} of layer {self.layer}, {when}"

    @property
    def name(self) -> str:
        """Short name: gemm → gates_l0, pointwise tanh, pointwise ×3 (three functions), …"""
        if self.kind == "pointwise":
            functions = len(self.body)
            which = self.body[0].rule if functions == 1 else f"×{functions}"
            return f"pointwise {which}"
        return f"{self.kind} → {self.writes[0].buffer}"


@dataclass(frozen=True)
class Sizes:
    """T steps, B sequences, I inputs, H hidden units, L layers."""

    T: int
    B: int
    I: int
    H: int
    L: int


@dataclass(frozen=True)
class Plan:
    """Operations in issue order. `buffers` [name -> rows, columns]; `outputs` outlive the pass."""

    cell: str  # a key of cells.CELLS
    sizes: Sizes
    direction: str  # forward or backward
    operations: tuple[Operation, ...]
    buffers: dict[str, tuple[int, int]]
    outputs: frozenset[str]
    captured: bool = False  # launched as one CUDA graph
    history: tuple[str, ...] = ()  # the passes it has been through

    def after(self, name: str, operations: list[Operation], **changes) -> "Plan":
        """The plan with these operations, after the pass of that name."""
        history = (*self.history, name)
        return replace(self, operations=tuple(operations), history=history, **changes)

    def count(self, kind: str | None = None) -> int:
        """Launches, of one kind or of all."""
        return sum(kind in (None, operation.kind) for operation in self.operations)

    @property
    def flops(self) -> int:
        return sum(operation.flops for operation in self.operations)

    def bytes(self, itemsize: int = 4) -> int:
        return sum(operation.bytes(itemsize) for operation in self.operations)

    @property
    def used(self) -> set[str]:
        """Buffers that some operation touches or that outlive the pass."""
        buffers = set(self.outputs)
        for operation in self.operations:
            buffers |= {region.buffer for region in operation.reads + operation.writes}
        return buffers

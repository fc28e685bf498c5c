"""How often each straight piece of a kernel ran, from the accesses that its trace wrote down.

A piece with an access ran as often as the access.  For a piece without one, what flows in flows out: the
threads that enter it are those that leave the pieces before it.  A loop that touches no memory stays unknown.
"""

from bisect import bisect_right
from collections.abc import Iterator

from numba.core import types

from rnnlab.compiling.target import ir
from rnnlab.compiling.typing import SHIFT, Typed


def executions(program: Typed, seen: dict[int, int], entries: int | None) -> dict[int, int]:
    """{block: how often it ran}, for {instruction: events there} and the number of calls."""
    starts = sorted(program.blocks)
    counts = {start: 0 for start in starts if _touches_memory(program, start)}
    for instruction, times in seen.items():
        start = starts[bisect_right(starts, instruction) - 1]
        counts[start] = max(counts.get(start, 0), times)
    flow = Flow(program, counts, entries)
    while flow.step():
        pass  # each step makes one more piece or edge known
    return flow.counts


def _touches_memory(program: Typed, start: int) -> bool:
    """Does it have an access that a trace writes down?  One element of an array is; a slice is none."""
    for statement in program.blocks[start].body:
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return True
        if isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem"):
            whole, element = program.types[value.value.name], program.types[statement.target.name]
            if isinstance(whole, types.Array) and isinstance(element, types.Number):
                return True
    return False


class Flow:
    """What is known of a function's blocks and of the edges between them."""

    def __init__(self, program: Typed, counts: dict[int, int], entries: int | None):
        self.blocks = sorted(program.blocks)
        self.counts, self.edges = dict(counts), {("call", self.blocks[0]): entries}
        for start, block in program.blocks.items():
            targets = [max(0, label - SHIFT) for label in block.terminator.get_targets()] or ["return"]
            self.edges |= {(start, target): None for target in targets}

    def step(self) -> bool:
        """Learn something more, if that is possible."""
        return any(self._learn(block, sides) for block in self.blocks for sides in self._sides(block))

    def _sides(self, block: int) -> Iterator[list]:
        yield [edge for edge in self.edges if edge[1] == block]
        yield [edge for edge in self.edges if edge[0] == block]

    def _learn(self, block: int, side: list) -> bool:
        unknown = [edge for edge in side if self.edges[edge] is None]
        known = sum(self.edges[edge] for edge in side if edge not in unknown)
        if block not in self.counts and not unknown:
            self.counts[block] = known
            return True
        if block in self.counts and len(unknown) == 1:
            self.edges[unknown[0]] = max(0, self.counts[block] - known)
            return True
        return False

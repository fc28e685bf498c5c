"""What a tile of any size becomes on this processor: its rate, and the instructions of its innermost loop.

A tile is compiled by itself, for float32, and multiplies a panel that stays in the first cache, again and
again.  The states are packed, too, so that they need no registers for addresses.  So its rate shows vector
registers, loads and latency, and nothing else.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from rnncourse.lab.turns import Timing, take_turns
from rnnlab.kernels.packed.host import FUSED, VECTOR_BYTES
from rnnlab.kernels.packed.kernel import I64, Form, Operands, emit_tile
from rnnlab.kernels.packed.tiles import Tile

LANES = VECTOR_BYTES // 4  # float32
PANEL_VECTORS = 384  # of a panel: 24 KB with vectors of 16 float32, which any first cache holds
FLOP = 2e7  # in one timed run
MULTIPLY_ADD = re.compile(r"\bv?fn?m(add|la|ls)\w*|\bv?mulps")  # of x86, ARM; mulps where none is fused
STACK = re.compile(r"\(%rsp|\[sp\b")
MOST_SUMS = 256  # of a tile: LLVM takes seconds to distribute more of them over registers
LABEL = re.compile(r"^\.?\w+:")


class InnerLoop(NamedTuple):
    """Instructions of a tile's innermost loop."""

    multiplies: int  # of vectors
    stack: int  # that read or write the stack: spilled sums, and addresses without a register


class TileRate(NamedTuple):
    """A tile as it was measured on one core."""

    gflops: float  # GFLOP/s
    loop: InnerLoop


class CompiledTile:
    """A tile's loop, compiled for this processor.

    Raises ValueError for a tile without rows or vectors, and for one with more than MOST_SUMS sums.
    """

    def __init__(self, tile: Tile):
        self.tile = Tile(*tile)
        if min(self.tile) < 1 or self.tile.sums > MOST_SUMS:
            rows, vectors = self.tile
            raise ValueError(
                f"the tile has {rows} rows and {vectors} vectors, expected at least 1 of each and at most "
                f"{MOST_SUMS} sums (rows times vectors)"
            )
        self.width, self.terms = self.tile.vectors * LANES, PANEL_VECTORS // self.tile.vectors
        self._loop = _compile_repeated(self.tile)
        self._arrays = (
            np.ones((self.terms, self.tile.rows), "float32"),
            np.ones((self.terms, self.width), "float32"),
            np.empty((self.tile.rows, self.width), "float32"),
        )
        self.turns = max(1, round(FLOP / self.flop))

    @property
    def flop(self) -> int:
        """Floating-point operations of one turn."""
        return 2 * self.tile.sums * LANES * self.terms

    def run(self) -> None:
        """Multiply the panel `turns` times."""
        self._loop(self.turns, *self._arrays)

    def product(self, a: np.ndarray, panel: np.ndarray) -> np.ndarray:
        """a [rows,K] times panel [K,width], float32."""
        c = np.empty((self.tile.rows, self.width), "float32")
        self._loop(1, np.ascontiguousarray(a.T), np.ascontiguousarray(panel), c)
        return c

    def inner_loop(self) -> InnerLoop:
        """Instructions of the block with the most multiply-adds."""
        self._loop(0, *self._arrays)
        (code,) = self._loop.inspect_asm().values()
        return count_inner_loop(code)

    def rate(self, timing: Timing) -> float:
        """GFLOP/s of timed runs."""
        return 1e-9 * self.turns * self.flop / timing.median


def count_inner_loop(code: str) -> InnerLoop:
    """Instructions in the block of assembly text that has the most multiply-adds."""
    blocks: list[list[str]] = [[]]
    for line in code.splitlines():
        if LABEL.match(line):
            blocks.append([])
        blocks[-1].append(line)
    multiplies = lambda block: sum(bool(MULTIPLY_ADD.search(line)) for line in block)
    loop = max(blocks, key=multiplies)
    return InnerLoop(multiplies(loop), sum(bool(STACK.search(line)) for line in loop))


def measure_tiles(
    tiles: Iterable[tuple[int, int]], rounds: int = 7
) -> tuple[dict[Tile, TileRate], dict[str, Timing]]:
    """({tile: its rate and its loop}, {"rows × vectors": timing}) of tiles that are measured in turns."""
    compiled = {f"{rows} × {vectors}": CompiledTile(Tile(rows, vectors)) for rows, vectors in tiles}
    timings = take_turns({name: tile.run for name, tile in compiled.items()}, rounds)
    rates = {
        tile.tile: TileRate(tile.rate(timings[name]), tile.inner_loop()) for name, tile in compiled.items()
    }
    return rates, timings


def _compile_repeated(tile: Tile):
    """A compiled function (turns, a [K,rows], panel [K,width], c [rows,width]) that writes c each turn."""
    form = Form(tile.rows, tile.vectors, LANES, ir.FloatType(), is_strip=True, is_fused=FUSED)

    @intrinsic
    def multiply(context, a, panel, K, c):
        def codegen(context, builder, signature, values):
            kinds = signature.args
            data = lambda i: context.make_array(kinds[i])(context, builder, values[i]).data
            steps = context.cast(builder, values[2], kinds[2], types.int64)
            width, no = I64(tile.vectors * LANES), ir.Constant(ir.IntType(1), 0)
            call = Operands(a=data(0), a_row=I64(1), b=data(1), K=steps, c=data(3), c_row=width, is_sum=no)
            emit_tile(builder, form, call)
            return context.get_dummy_value()

        return types.void(a, panel, K, c), codegen

    @njit(nogil=True)
    def loop(turns, a, panel, c):
        for _ in range(turns):
            multiply(a, panel, len(panel), c)

    return loop

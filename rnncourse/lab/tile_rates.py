"""What a tile of any size becomes on this processor: its rate, and the instructions of its innermost loop.

A tile is compiled by itself, for float32, and multiplies a panel that stays in the first cache, again and
again.  The states are packed, too, so that they need no registers for addresses.  So its rate shows vector
registers, loads and latency, and nothing else.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from rnncourse.lab.turns import Timing, take_turns
from rnnlab.kernels.packed.host import FUSED, VECTOR_BYTES
from rnnlab.kernels.packed.kernel import (
    I64,
    Form,
    Operands,
    emit_load,
    emit_multiply_add,
    emit_store,
    emit_tile,
)
from rnnlab.kernels.packed.tiles import Tile
from rnnlab.kernels.packed.vectors import emit_spread

LANES = VECTOR_BYTES // 4  # float32
PANEL_VECTORS = 384  # of a panel: 24 KB with vectors of 16 float32, which any first cache holds
EMITTED_TERMS = 32  # that a learner's function emits one after the other: LLVM compiles them in a second
FLOP = 2e7  # in one timed run
MULTIPLY_ADD = re.compile(r"\bv?fn?m(add|la|ls)\w*|\bv?mulps")  # of x86, ARM; mulps where none is fused
STACK = re.compile(r"\(%rsp|\[sp\b")
MOST_SUMS = 256  # of a tile: LLVM takes seconds to distribute more of them over registers
LABEL = re.compile(r"^\.?\w+:", re.M)


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

    def __init__(self, tile: Tile, emit: Callable = emit_tile, terms: int = 0):
        self.tile = Tile(*tile)
        if min(self.tile) < 1 or self.tile.sums > MOST_SUMS:
            rows, vectors = self.tile
            raise ValueError(
                f"the tile has {rows} rows and {vectors} vectors, expected at least 1 of each and at most "
                f"{MOST_SUMS} sums (rows times vectors)"
            )
        self.width = self.tile.vectors * LANES
        self.terms = terms or PANEL_VECTORS // self.tile.vectors
        form = Form(*self.tile, LANES, ir.FloatType(), is_strip=True, is_fused=FUSED)
        self._loop = _compile_repeated(lambda builder, call: emit(builder, form, call), self.width)
        a = np.ones((self.terms, self.tile.rows), "float32")
        panel = np.ones((self.terms, self.width), "float32")
        self._arrays = a, panel, self._result()
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
        c = self._result()
        packed_states = np.ascontiguousarray(a.T)  # [K,rows]
        self._loop(1, packed_states, np.ascontiguousarray(panel), c)
        return c

    def _result(self) -> np.ndarray:
        return np.empty((self.tile.rows, self.width), "float32")

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
    count = lambda pattern, block: len(pattern.findall(block))
    blocks = LABEL.split(code)
    loop = max(blocks, key=lambda block: count(MULTIPLY_ADD, block))
    return InnerLoop(count(MULTIPLY_ADD, loop), count(STACK, loop))


def measure_tiles(
    tiles: Iterable[tuple[int, int]], rounds: int = 7
) -> tuple[dict[Tile, TileRate], dict[str, Timing]]:
    """({tile: its rate and its loop}, {"rows × vectors": timing}) of tiles that are measured in turns."""
    compiled = {}
    for rows, vectors in tiles:
        compiled[f"{rows} × {vectors}"] = CompiledTile(Tile(rows, vectors))
    runs = {name: tile.run for name, tile in compiled.items()}
    timings = take_turns(runs, rounds)
    rates = {}
    for name, tile in compiled.items():
        gflops = tile.rate(timings[name])
        rates[tile.tile] = TileRate(gflops, tile.inner_loop())
    return rates, timings


class CompiledCore:
    """The instructions of `CountingCore`, emitted for this processor; registers are those of LLVM."""

    def __init__(self, builder: ir.IRBuilder, form: Form, call: Operands):
        self.registers = form.rows * form.vectors + form.vectors + 1
        self._builder = builder
        self._form = form
        self._call = call
        self._values: dict[int, ir.Value] = {}

    def zero(self, register: int) -> None:
        zeros = [0.0] * self._form.lanes
        self._values[register] = ir.Constant(self._form.vector, zeros)

    def load(self, register: int, k: int, v: int) -> None:
        vector = k * self._form.vectors + v
        place = self._place(self._call.b, vector * self._form.lanes)
        self._values[register] = emit_load(self._builder, self._form, place)

    def spread(self, register: int, r: int, k: int) -> None:
        place = self._place(self._call.a, k * self._form.rows + r)
        state = self._builder.load(place)
        self._values[register] = emit_spread(self._builder, self._form.vector, state)

    def multiply_add(self, total: int, x: int, y: int) -> None:
        operands = (self._values[register] for register in (x, y, total))
        self._values[total] = emit_multiply_add(self._builder, self._form, *operands)

    def store(self, register: int, r: int, v: int) -> None:
        vector = r * self._form.vectors + v
        place = self._place(self._call.c, vector * self._form.lanes)
        emit_store(self._builder, self._form, self._values[register], place)

    def _place(self, array: ir.Value, number: int) -> ir.Value:
        return self._builder.gep(array, [I64(int(number))])


class EmittedTile(CompiledTile):
    """A tile whose instructions a learner's function emits: (core, rows, vectors, terms)."""

    def __init__(self, emit: Callable, rows: int, vectors: int):
        def emit_by_core(builder, form, call):
            return emit(CompiledCore(builder, form, call), rows, vectors, EMITTED_TERMS)

        super().__init__(Tile(rows, vectors), emit_by_core, EMITTED_TERMS)

    def is_right(self) -> bool:
        """Whether the emitted instructions multiply random numbers as NumPy does."""
        rng = np.random.default_rng(0)
        a = rng.random((self.tile.rows, self.terms), "float32")
        panel = rng.random((self.terms, self.width), "float32")
        product = self.product(a, panel)
        return np.allclose(product, a @ panel, rtol=1e-4)


def _compile_repeated(emit: Callable, width: int):
    """A compiled function (turns, a [K,rows], panel [K,width], c [rows,width]) that writes c each turn."""

    @intrinsic
    def multiply(context, a, panel, K, c):
        def codegen(context, builder, signature, values):
            kinds = signature.args

            def data(i):
                array_of_kind = context.make_array(kinds[i])
                return array_of_kind(context, builder, values[i]).data

            steps = context.cast(builder, values[2], kinds[2], types.int64)
            no = ir.Constant(ir.IntType(1), 0)
            call = Operands(
                a=data(0), a_row=I64(1), b=data(1), K=steps, c=data(3), c_row=I64(width), is_sum=no
            )
            emit(builder, call)
            return context.get_dummy_value()

        return types.void(a, panel, K, c), codegen

    @njit(nogil=True)
    def loop(turns, a, panel, c):
        for _ in range(turns):
            multiply(a, panel, len(panel), c)

    return loop

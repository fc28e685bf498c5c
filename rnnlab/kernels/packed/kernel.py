"""The innermost loop: a tile of a product, whose sums stay in vector registers, emitted as LLVM instructions.

A compiler that is given three loops over C does not find this form: it keeps no 24 sums in registers.  So
the form is written out here, once, for any number of rows and vectors, for float32 and float64, for any
vector length.  Numba compiles it into the loops that call it; `emit_tile` alone needs llvmlite only, and
the tests compile it for processors that they do not run on.

One step k of a tile of R rows and V vectors: V vectors of the panel are loaded, R numbers of the rows are
loaded and copied to all lanes, and R·V fused multiply-adds follow: R+V loads for R·V FMAs.  The numbers of
the rows come from a matrix, where row r lies `a_row` numbers after row r-1, or from a strip [K,R], where the
R numbers of a step are neighbours.  In a matrix the addresses of R rows take R additions, each after the one
before: `unroll` steps share them.

Pairs of bfloat16 numbers take the place of numbers, and K/2 that of K, where rows and panel hold such:
VDPBF16PS multiplies both numbers of a pair and adds both products to a float32 sum.  Elsewhere the pair is
widened to two float32 vectors and takes two fused multiply-adds.
"""

from functools import cache
from typing import NamedTuple

from llvmlite import binding, ir
from numba import cfunc, types
from numba.extending import intrinsic

from rnnlab.kernels.packed.host import CORE, FUSED, HAS_PAIR_PRODUCTS, ROWS
from rnnlab.kernels.packed.tiles import Core, choose_tile
from rnnlab.kernels.packed.vectors import (
    BFLOAT16,
    HALF,
    UPPER,
    emit_call,
    emit_prefetch,
    emit_spread,
    integer,
    number_pointer,
    same,
)

I32 = ir.IntType(32)
I64 = ir.IntType(64)
PAIR = types.uint32
AHEAD = 32  # steps of a panel that are requested before they are read: 350 cycles with 11 rows, two vectors
LINE = 64  # bytes of a cache line
NUMBERS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}


class Form(NamedTuple):
    """What is fixed when a tile is compiled."""

    rows: int
    vectors: int
    lanes: int
    number: ir.Type  # of one number: ir.FloatType() or ir.DoubleType()
    unroll: int = 1  # steps in a turn of the loop; more than one for rows of a matrix
    is_strip: bool = False  # rows come from a strip [K,rows], not from a matrix
    ahead: int = 0  # steps of the panel by which to prefetch into the first-level cache
    is_fused: bool = True  # llvm.fma; without the instruction a multiplication and an addition
    takes_pairs: bool = False  # of bfloat16
    has_pair_products: bool = False  # one instruction for a vector of pairs

    @property
    def vector(self) -> ir.VectorType:
        """A vector of sums."""
        return ir.VectorType(self.number, self.lanes)

    @property
    def operand(self) -> ir.VectorType:
        """A vector of what is multiplied."""
        return ir.VectorType(I32, self.lanes) if self.takes_pairs else self.vector

    @property
    def number_bytes(self) -> int:
        return 4 if isinstance(self.number, ir.FloatType) else 8


class Operands(NamedTuple):
    """Values of one call: pointers to numbers, distances in numbers."""

    a: ir.Value  # first number of the rows
    a_row: ir.Value  # distance of two rows of a matrix; of no meaning for a strip
    b: ir.Value  # the panel [K,vectors·lanes]
    K: ir.Value
    c: ir.Value  # the result: row r at c + r·c_row
    c_row: ir.Value
    is_sum: ir.Value  # i1: add to what c holds


def emit_tile(builder: ir.IRBuilder, form: Form, call: Operands) -> None:
    """Emit c [rows,vectors·lanes] = a [rows,K] b [K,vectors·lanes], plus c where `is_sum`."""
    results = [
        builder.gep(call.c, [builder.add(builder.mul(I64(r), call.c_row), I64(v * form.lanes))])
        for r in range(form.rows)
        for v in range(form.vectors)
    ]
    for place in results:
        emit_prefetch(builder, place, 1)
    zero = ir.Constant(form.vector, [0.0] * form.lanes)
    sums = [zero] * len(results)
    k = I64(0)
    if form.unroll > 1:
        whole = builder.sub(call.K, builder.urem(call.K, I64(form.unroll)))
        k, sums = _emit_steps(builder, form, call, k, whole, sums, form.unroll)
    _, sums = _emit_steps(builder, form, call, k, call.K, sums, 1)

    with builder.if_else(call.is_sum) as (adding, replacing):
        with adding:
            # all loads before the first store: with rows 4 KB apart a load would wait for the store before
            totals = [
                builder.fadd(total, emit_load(builder, form, place))
                for total, place in zip(sums, results, strict=True)
            ]
            for total, place in zip(totals, results, strict=True):
                emit_store(builder, form, total, place)
        with replacing:
            for total, place in zip(sums, results, strict=True):
                emit_store(builder, form, total, place)


def _emit_steps(builder, form, call, start, stop, sums, unroll):
    """Steps start … stop, `unroll` in each turn of the loop; the step after the last, and the sums."""

    def emit_turn(k, sums):
        for u in range(unroll):
            sums = _emit_step(builder, form, call, builder.add(k, I64(u)), sums)
        return sums

    return emit_loop(builder, start, stop, unroll, sums, emit_turn)


def emit_loop(builder, start, stop, step, values, emit_turn):
    """Emit a loop over k = start, start + step, … < stop; k after the last turn, and the values then.

    emit_turn(k, values) emits a turn, and returns the values after it.
    """
    before = builder.block
    head, body, after = (builder.append_basic_block(f"loop_{name}") for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    phis = [builder.phi(value.type) for value in (start, *values)]
    k, *current = phis
    builder.cbranch(builder.icmp_signed("<", k, stop), body, after)
    builder.position_at_end(body)
    following = emit_turn(k, current)
    further = builder.add(k, I64(step))
    for phi, first, value in zip(phis, [start, *values], [further, *following], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return k, current


def _emit_step(builder, form, call, k, sums):
    """The sums after step k."""
    panel = builder.gep(call.b, [builder.mul(k, I64(form.vectors * form.lanes))])
    columns = [
        emit_load(builder, form, builder.gep(panel, [I64(v * form.lanes)]), form.operand)
        for v in range(form.vectors)
    ]
    width = form.vectors * form.lanes
    for column in range(0, width if form.ahead else 0, LINE // form.number_bytes):
        emit_prefetch(builder, builder.gep(panel, [I64(form.ahead * width + column)]), 0)
    results = []
    for r in range(form.rows):
        if form.is_strip:
            at = builder.add(builder.mul(k, I64(form.rows)), I64(r))
        else:
            at = builder.add(builder.mul(I64(r), call.a_row), k)
        spread = emit_spread(builder, form.operand, builder.load(builder.gep(call.a, [at])))
        of_row = sums[r * form.vectors : (r + 1) * form.vectors]
        results += [
            emit_multiply_add(builder, form, spread, *pair) for pair in zip(columns, of_row, strict=True)
        ]
    return results


def emit_load(builder, form, pointer, kind=None):
    """Emit the load of a vector, of sums unless another kind is named."""
    kind = kind or form.vector
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=form.number_bytes)


def emit_store(builder, form, value, pointer):
    """Emit the store of a vector."""
    builder.store(value, builder.bitcast(pointer, form.vector.as_pointer()), align=form.number_bytes)


def emit_multiply_add(builder, form, a, b, c):
    """Emit a · b + c of three vectors; of pairs, the sum of two products."""
    if form.takes_pairs:
        return _emit_pair_products(builder, form, a, b, c)
    if not form.is_fused:
        return builder.fadd(builder.fmul(a, b), c)
    return emit_call(builder, f"llvm.fma.v{form.lanes}f{8 * form.number_bytes}", [a, b, c], form.vector)


def _emit_pair_products(builder, form, a, b, c):
    if form.has_pair_products:
        name = f"llvm.x86.avx512bf16.dpbf16ps.{32 * form.lanes}"  # LLVM reads the operands as <32 x bfloat>
        return emit_call(builder, name, [c, a, b], form.vector)
    single = form._replace(takes_pairs=False)
    for factors in zip(emit_floats(builder, form, a), emit_floats(builder, form, b), strict=True):
        c = emit_multiply_add(builder, single, *factors, c)
    return c


def emit_floats(builder, form, pairs):
    """Emit the second and the first numbers of pairs of bfloat16, as vectors of float32."""
    second = builder.and_(pairs, same(pairs.type, UPPER))
    first = builder.shl(pairs, same(pairs.type, HALF))
    return [builder.bitcast(bits, form.vector) for bits in (second, first)]


def form_of(core: Core, number: types.Float, is_strip: bool) -> Form:
    """The largest tile of a core."""
    tile = choose_tile(core)
    is_double = number == types.float64
    unroll = 1 if is_strip else core.unroll[is_double]
    lanes = core.vector_bytes * 8 // number.bitwidth
    return Form(tile.rows, tile.vectors, lanes, NUMBERS[number], unroll, is_strip, AHEAD)


@intrinsic(prefer_literal=True)
def _tile_of(context, is_strip, rows, a, a_row, b, K, c, c_row, is_sum):
    """The kernel for so many rows, from 1 to ROWS; a, b, c are pointers, is_strip is a constant."""
    has_pairs = a.dtype == PAIR

    def codegen(context, builder, signature, values):
        form = form_of(CORE, c.dtype, bool(is_strip.literal_value))
        form = form._replace(is_fused=FUSED, takes_pairs=has_pairs, has_pair_products=HAS_PAIR_PRODUCTS)
        call = Operands(*values[2:8], builder.icmp_signed("!=", values[8], I64(0)))
        end = builder.append_basic_block("tiles_end")
        choice = builder.switch(values[1], end)
        for count in range(1, ROWS + 1):
            choice.add_case(I64(count), builder.append_basic_block(f"tile_of_{count}"))
            builder.position_at_end(choice.cases[-1][1])
            emit_tile(builder, form._replace(rows=count), call)
            builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(is_strip, rows, a, a_row, b, K, c, c_row, is_sum), codegen


def _strip_tile(rows, a, a_row, b, K, c, c_row, is_sum):
    _tile_of(True, rows, a, a_row, b, K, c, c_row, is_sum)


def _matrix_tile(rows, a, a_row, b, K, c, c_row, is_sum):
    _tile_of(False, rows, a, a_row, b, K, c, c_row, is_sum)


def _compile(function, operand: types.Number, number: types.Float):
    """The function for these types, under a name at which code that Numba compiles later finds it.

    A call by name: else every function that multiplies would compile all tiles once more.
    """
    factor, total = map(types.CPointer, (operand, number))
    size = types.int64
    kernel = cfunc(types.void(size, factor, size, factor, size, total, size, size), cache=True)(function)
    binding.add_symbol(_symbol(function is _strip_tile, operand), kernel.address)
    return kernel


def _symbol(is_strip: bool, operand: types.Number) -> str:
    return f"rnnlab_{'strip' if is_strip else 'matrix'}_tile_{operand}"


TILES = [_compile(function, number, number) for function in (_strip_tile, _matrix_tile) for number in NUMBERS]


@cache
def add_pair_tiles() -> tuple:
    """The tiles for pairs of bfloat16, compiled before code that calls them is compiled or loaded."""
    return tuple(_compile(function, PAIR, types.float32) for function in (_strip_tile, _matrix_tile))


@intrinsic(prefer_literal=True)
def multiply_tile(context, is_strip, rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum):
    """c [rows,width] = a [rows,K] b [K,width], plus c where `is_sum`: one tile, a panel wide.

    1 ≤ rows ≤ ROWS.  is_strip, a constant, says whether a is a strip [K,rows] or a matrix.  a, b, c are
    arrays of one dtype; a_at, b_at, c_at say at which number of them to start, a_row and c_row the distances
    between rows.  Nothing is checked: a wrong distance reads or writes somewhere else.

    a and b may hold bfloat16 numbers, by pairs, and c float32 ones; a_row and K are even then.
    """
    pairs = a.dtype == BFLOAT16
    symbol = _symbol(bool(is_strip.literal_value), PAIR if pairs else c.dtype)

    def codegen(context, builder, signature, values):
        rows, a_row, K, c_row, is_sum = (
            integer(context, builder, signature, values, i) for i in (1, 4, 7, 10, 11)
        )
        a, b, c = (number_pointer(context, builder, signature, values, i) for i in (2, 5, 8))
        if pairs:
            a, b = (builder.bitcast(place, I32.as_pointer()) for place in (a, b))
            a_row, K = (builder.lshr(size, I64(1)) for size in (a_row, K))
        emit_call(builder, symbol, [rows, a, a_row, b, K, c, c_row, is_sum])
        return context.get_dummy_value()

    return types.void(is_strip, rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum), codegen

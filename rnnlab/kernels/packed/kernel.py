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
    places = _emit_places(builder, form, call)
    for place in places:
        emit_prefetch(builder, place, 1)
    zero = ir.Constant(form.vector, [0.0] * form.lanes)
    sums = [zero] * len(places)
    k = I64(0)
    if form.unroll > 1:
        rest = builder.urem(call.K, I64(form.unroll))
        whole = builder.sub(call.K, rest)
        k, sums = _emit_steps(builder, form, call, k, whole, sums, form.unroll)
    _, sums = _emit_steps(builder, form, call, k, call.K, sums, 1)

    with builder.if_else(call.is_sum) as (adding, replacing):
        with adding:
            # all loads before the first store: with rows 4 KB apart a load would wait for the store before
            totals = []
            for total, place in zip(sums, places, strict=True):
                former = emit_load(builder, form, place)
                totals.append(builder.fadd(total, former))
            _emit_stores(builder, form, totals, places)
        with replacing:
            _emit_stores(builder, form, sums, places)


def _emit_places(builder, form, call):
    """Pointers to the vectors of the result, row after row."""
    places = []
    for r in range(form.rows):
        for v in range(form.vectors):
            row = builder.mul(I64(r), call.c_row)
            at = builder.add(row, I64(v * form.lanes))
            places.append(builder.gep(call.c, [at]))
    return places


def _emit_stores(builder, form, values, places):
    for value, place in zip(values, places, strict=True):
        emit_store(builder, form, value, place)


def _emit_steps(builder, form, call, start, stop, sums, unroll):
    """Steps start … stop, `unroll` in each turn of the loop; the step after the last, and the sums."""

    def emit_turn(k, sums):
        for u in range(unroll):
            step = builder.add(k, I64(u))
            sums = _emit_step(builder, form, call, step, sums)
        return sums

    return emit_loop(builder, start, stop, unroll, sums, emit_turn)


def emit_loop(builder, start, stop, step, values, emit_turn):
    """Emit a loop over k = start, start + step, … < stop; k after the last turn, and the values then.

    emit_turn(k, values) emits a turn, and returns the values after it.
    """
    before = builder.block
    head = builder.append_basic_block("loop_head")
    body = builder.append_basic_block("loop_body")
    after = builder.append_basic_block("loop_after")
    builder.branch(head)
    builder.position_at_end(head)
    firsts = [start, *values]
    phis = [builder.phi(value.type) for value in firsts]
    k, *current = phis
    is_inside = builder.icmp_signed("<", k, stop)
    builder.cbranch(is_inside, body, after)
    builder.position_at_end(body)
    following = emit_turn(k, current)
    further = builder.add(k, I64(step))
    for phi, first, value in zip(phis, firsts, [further, *following], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return k, current


def _emit_step(builder, form, call, k, sums):
    """The sums after step k."""
    width = form.vectors * form.lanes
    row = builder.mul(k, I64(width))
    panel = builder.gep(call.b, [row])
    columns = []
    for v in range(form.vectors):
        place = builder.gep(panel, [I64(v * form.lanes)])
        columns.append(emit_load(builder, form, place, form.operand))
    if form.ahead:
        for column in range(0, width, LINE // form.number_bytes):
            place = builder.gep(panel, [I64(form.ahead * width + column)])
            emit_prefetch(builder, place, 0)
    following = []
    for r in range(form.rows):
        if form.is_strip:
            step = builder.mul(k, I64(form.rows))
            at = builder.add(step, I64(r))
        else:
            row = builder.mul(I64(r), call.a_row)
            at = builder.add(row, k)
        number = builder.load(builder.gep(call.a, [at]))
        spread = emit_spread(builder, form.operand, number)
        for v, column in enumerate(columns):
            total = sums[r * form.vectors + v]
            following.append(emit_multiply_add(builder, form, spread, column, total))
    return following


def emit_load(builder, form, pointer, kind=None):
    """Emit the load of a vector, of sums unless another kind is named."""
    kind = kind or form.vector
    place = builder.bitcast(pointer, kind.as_pointer())
    return builder.load(place, align=form.number_bytes)


def emit_store(builder, form, value, pointer):
    """Emit the store of a vector."""
    place = builder.bitcast(pointer, form.vector.as_pointer())
    builder.store(value, place, align=form.number_bytes)


def emit_multiply_add(builder, form, a, b, c):
    """Emit a · b + c of three vectors; of pairs, the sum of two products."""
    if form.takes_pairs:
        return _emit_pair_products(builder, form, a, b, c)
    if not form.is_fused:
        product = builder.fmul(a, b)
        return builder.fadd(product, c)
    bits = 8 * form.number_bytes
    return emit_call(builder, f"llvm.fma.v{form.lanes}f{bits}", [a, b, c], form.vector)


def _emit_pair_products(builder, form, a, b, c):
    if form.has_pair_products:
        bits = 32 * form.lanes
        name = f"llvm.x86.avx512bf16.dpbf16ps.{bits}"  # LLVM reads the operands as <32 x bfloat>
        return emit_call(builder, name, [c, a, b], form.vector)
    single = form._replace(takes_pairs=False)
    numbers_a = emit_floats(builder, form, a)
    numbers_b = emit_floats(builder, form, b)
    for factor_a, factor_b in zip(numbers_a, numbers_b, strict=True):
        c = emit_multiply_add(builder, single, factor_a, factor_b, c)
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
        _, rows, *operands, is_sum = values
        adds = builder.icmp_signed("!=", is_sum, I64(0))
        call = Operands(*operands, adds)
        end = builder.append_basic_block("tiles_end")
        choice = builder.switch(rows, end)
        for count in range(1, ROWS + 1):
            block = builder.append_basic_block(f"tile_of_{count}")
            choice.add_case(I64(count), block)
            builder.position_at_end(block)
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
    factor = types.CPointer(operand)
    total = types.CPointer(number)
    size = types.int64
    signature = types.void(size, factor, size, factor, size, total, size, size)
    kernel = cfunc(signature, cache=True)(function)
    binding.add_symbol(_symbol(function is _strip_tile, operand), kernel.address)
    return kernel


def _symbol(is_strip: bool, operand: types.Number) -> str:
    kind = "strip" if is_strip else "matrix"
    return f"rnnlab_{kind}_tile_{operand}"


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
            pair = I32.as_pointer()
            a = builder.bitcast(a, pair)
            b = builder.bitcast(b, pair)
            a_row = builder.lshr(a_row, I64(1))
            K = builder.lshr(K, I64(1))
        emit_call(builder, symbol, [rows, a, a_row, b, K, c, c_row, is_sum])
        return context.get_dummy_value()

    return types.void(is_strip, rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum), codegen

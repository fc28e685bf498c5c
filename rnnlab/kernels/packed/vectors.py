"""Vectors in Numba: as many numbers as a vector register holds, as one value of compiled code.

A loop over numbers becomes vector instructions only where LLVM can prove that its arrays do not overlap,
which it gives up for more than a few.  A value of this type is a vector from the start:

    v = load(array, at)          lanes(array) numbers from the flat index `at`
    v + w, v - w, v * w, v / w   lane by lane; one of the two may be a number
    tanh(v), sigmoid(v)          nonlinear.py's formulas; positive(v) is max(v, 0)
    step(v)                      1 where v > 0, else 0
    store(array, at, v)
    spread(array, at, d, v)      lane after lane to at, at + d, at + 2·d …
    prefetch(array, at)          request the cache line of number `at`, which need not exist
    number(array, at), put(array, at, number)                               one number

An array of uint16 holds bfloat16 numbers, the upper halves of float32 ones: they are widened when they are
loaded, and rounded to nearest, ties to even, when they are stored.

    store_step(panel, at, source, from, row)    a vector from row `from` of the source; into an array of
                                                uint16 one of the next row, too, its numbers between the first
    spread(array of uint16, at, d, v)           pairs of lanes to at, at + 2·d, at + 4·d …
    depth(array)                                rows that lie side by side so: 2 in an array of uint16, else 1

Nothing is checked: a wrong index reads or writes somewhere else.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from rnnlab.kernels.compiled import nonlinear
from rnnlab.kernels.packed.host import VECTOR_BYTES

I32 = ir.IntType(32)
BFLOAT16 = types.uint16  # dtype of an array of such numbers
HALF = 16  # bits of one
UPPER = 0xFFFF0000
FAST = ("contract", "nsz")  # products and sums may be fused; NaN and infinity are what they are


class Vector(types.Type):
    """Type of a vector of float32 or float64 that fills a vector register."""

    def __init__(self, dtype: types.Float):
        self.dtype = dtype
        self.lanes = VECTOR_BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype} x {self.lanes})")

    @property
    def llvm(self) -> ir.VectorType:
        number = ir.FloatType() if self.dtype == types.float32 else ir.DoubleType()
        return ir.VectorType(number, self.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.llvm)


def lanes(array) -> int:
    """Numbers in a vector of the array's dtype; a constant in compiled code."""
    return VECTOR_BYTES // max(array.itemsize, 4)


@overload(lanes, inline="never")
def _lanes(array):
    count = VECTOR_BYTES * 8 // max(array.dtype.bitwidth, 32)
    return lambda array: count


def depth(array) -> int:
    """Steps of a panel in this array that lie side by side: 2 of bfloat16, else 1; a constant."""
    return 1 + (array.itemsize == 2)


@overload(depth, inline="never")
def _depth(array):
    count = 1 + (array.dtype == BFLOAT16)
    return lambda array: count


@intrinsic
def load(context, array, at):
    """The vector that starts at number `at` of the array."""
    kind = Vector(types.float32 if array.dtype == BFLOAT16 else array.dtype)

    def codegen(context, builder, signature, values):
        place = _number_pointer(context, builder, signature.args, values)
        return _emit_load(builder, array.dtype, kind.llvm, place)

    return kind(array, at), codegen


@intrinsic
def store(context, array, at, vector):
    """Write the vector from number `at` of the array on."""

    def codegen(context, builder, signature, values):
        _emit_store(
            builder, array.dtype, values[2], _number_pointer(context, builder, signature.args, values)
        )
        return context.get_dummy_value()

    return types.void(array, at, vector), codegen


def number(array, at):
    """Number `at` of the array."""
    return array[at]


def put(array, at, value):
    """Write number `at` of the array."""
    array[at] = value


@overload(number)
def _number(array, at):
    return _load_number if array.dtype == BFLOAT16 else number


@overload(put)
def _put(array, at, value):
    return _store_number if array.dtype == BFLOAT16 else put


@intrinsic
def _load_bfloat16(context, array, at):
    def codegen(context, builder, signature, values):
        place = _number_pointer(context, builder, signature.args, values)
        return _emit_load(builder, array.dtype, ir.FloatType(), place)

    return types.float32(array, at), codegen


@intrinsic
def _store_bfloat16(context, array, at, value):
    def codegen(context, builder, signature, values):
        narrow = context.cast(builder, values[2], value, types.float32)
        place = _number_pointer(context, builder, signature.args, values)
        _emit_store(builder, array.dtype, narrow, place)
        return context.get_dummy_value()

    return types.void(array, at, value), codegen


def _load_number(array, at):
    return _load_bfloat16(array, at)


def _store_number(array, at, value):
    _store_bfloat16(array, at, value)


def store_step(panel, at, source, begin, row):
    """Write a vector of the source's row at `begin` to a panel; two rows to one of bfloat16."""
    store(panel, at, load(source, begin))


@overload(store_step)
def _store_step(panel, at, source, begin, row):
    return _store_two_rows if panel.dtype == BFLOAT16 else store_step


def _store_two_rows(panel, at, source, begin, row):
    _store_pairs(panel, at, load(source, begin), load(source, begin + row))


@intrinsic
def _store_pairs(context, array, at, first, second):
    """Write the lanes of two vectors in turns, from number `at` of an array of bfloat16 on."""

    def codegen(context, builder, signature, values):
        low, high = (_emit_rounded(builder, value) for value in values[2:])
        low = builder.lshr(low, _same(low.type, HALF))
        pairs = builder.or_(low, builder.and_(high, _same(high.type, UPPER)))
        place = _number_pointer(context, builder, signature.args, values)
        builder.store(pairs, builder.bitcast(place, pairs.type.as_pointer()), align=2)
        return context.get_dummy_value()

    return types.void(array, at, first, second), codegen


def _emit_load(builder, dtype, kind, place):
    """A number or a vector of numbers of this LLVM type, from an array of this dtype."""
    if dtype != BFLOAT16:
        return builder.load(builder.bitcast(place, kind.as_pointer()), align=dtype.bitwidth // 8)
    halves = builder.load(builder.bitcast(place, _whole(kind, HALF).as_pointer()), align=2)
    bits = builder.zext(halves, _whole(kind, 32))
    return builder.bitcast(builder.shl(bits, _same(bits.type, HALF)), kind)


def _emit_store(builder, dtype, value, place):
    """Store a number or a vector of numbers in an array of this dtype."""
    if dtype == BFLOAT16:
        value = _emit_halves(builder, value)
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=dtype.bitwidth // 8)


def _emit_halves(builder, value):
    """float32 numbers as bfloat16 ones, in whole numbers of 16 bits."""
    bits = _emit_rounded(builder, value)
    return builder.trunc(builder.lshr(bits, _same(bits.type, HALF)), _whole(value.type, HALF))


def _emit_rounded(builder, value):
    """Bits of float32 numbers whose upper half is the nearest bfloat16, ties to even; NaN stays NaN."""
    bits = builder.bitcast(value, _whole(value.type, 32))
    odd = builder.and_(builder.lshr(bits, _same(bits.type, HALF)), _same(bits.type, 1))
    rounded = builder.add(bits, builder.add(odd, _same(bits.type, 0x7FFF)))
    is_nan = builder.fcmp_unordered("uno", value, value)
    return builder.select(is_nan, _same(bits.type, 0x7FFF0000), rounded)


def _whole(kind, bits):
    """The type of as many whole numbers of so many bits as this type has numbers."""
    whole = ir.IntType(bits)
    return ir.VectorType(whole, kind.count) if isinstance(kind, ir.VectorType) else whole


def _same(kind, value):
    """The constant with this value in all lanes, or the number."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


@intrinsic
def spread(context, array, at, distance, vector):
    """Write the lanes of the vector to the numbers at, at + distance, at + 2·distance …

    One store a lane.  A loop over numbers becomes AVX-512's scatter, four times as slow on a Zen 4.
    """

    def codegen(context, builder, signature, values):
        place = _number_pointer(context, builder, signature.args, values)
        step = context.cast(builder, values[2], signature.args[2], types.int64)
        parts = values[3]
        if array.dtype == BFLOAT16:
            pairs = ir.VectorType(I32, vector.lanes // 2)
            parts = builder.bitcast(_emit_halves(builder, parts), pairs)
            place = builder.bitcast(place, I32.as_pointer())
        for lane in range(parts.type.count):
            builder.store(builder.extract_element(parts, I32(lane)), place, align=array.dtype.bitwidth // 8)
            place = builder.gep(place, [step])
        return context.get_dummy_value()

    return types.void(array, at, distance, vector), codegen


@intrinsic
def prefetch(context, array, at):
    """Request the cache line of number `at` of the array for the first-level cache."""

    def codegen(context, builder, signature, values):
        emit_prefetch(builder, _number_pointer(context, builder, signature.args, values), 0)
        return context.get_dummy_value()

    return types.void(array, at), codegen


def emit_prefetch(builder: ir.IRBuilder, pointer: ir.Value, is_write: int) -> None:
    """Emit the request of a cache line for the first-level cache."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [builder.bitcast(pointer, byte), I32(is_write), I32(3), I32(1)])


def emit_spread(builder: ir.IRBuilder, kind: ir.VectorType, number: ir.Value) -> ir.Value:
    """Emit a vector with the number in all lanes."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, I32(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count)
    )


def _number_pointer(context, builder, kinds, values):
    data = context.make_array(kinds[0])(context, builder, values[0]).data
    at = context.cast(builder, values[1], kinds[1], types.int64)
    return builder.gep(data, [at])


def _spread(context, builder, value, kind, vector):
    """The value as a vector: a number goes into all lanes."""
    if isinstance(kind, Vector):
        return value
    return emit_spread(builder, vector.llvm, context.cast(builder, value, kind, vector.dtype))


def _operation(symbol, emit):
    """Let a Python operator work on two vectors, or on a vector and a number."""

    @infer_global(symbol)
    class Template(AbstractTemplate):
        def generic(self, args, keywords):
            vectors = [kind for kind in args if isinstance(kind, Vector)]
            if vectors and all(isinstance(kind, Vector | types.Number) for kind in args):
                return signature(vectors[0], *args)
            return None

    def lower(context, builder, signature, values):
        kind = signature.return_type
        a, b = (_spread(context, builder, v, k, kind) for v, k in zip(values, signature.args, strict=True))
        return emit(builder, a, b)

    for pair in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(symbol, *pair)(lower)


_operation(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=FAST))
_operation(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=FAST))
_operation(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=FAST))
_operation(operator.truediv, lambda builder, a, b: builder.fdiv(a, b, flags=FAST))


def _of_one(name, emit):
    """A function of one vector; emit(builder, vector's type, value) gives the result."""

    @intrinsic
    def function(context, vector):
        def codegen(context, builder, signature, values):
            return emit(builder, vector, values[0])

        return vector(vector), codegen

    function.__name__ = name
    return function


def _call(builder, name, *values):
    kind = values[0].type
    width = 32 if isinstance(kind.element, ir.FloatType) else 64
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(values)), f"llvm.{name}.v{kind.count}f{width}"
    )
    return builder.call(function, values)


def _constant(vector, value):
    return ir.Constant(vector.llvm, [float(value)] * vector.lanes)


def _at_least(builder, vector, value, low):
    """The value, or low where it is smaller; NaN stays NaN."""
    bound = _constant(vector, low)
    return builder.select(builder.fcmp_ordered("<", value, bound), bound, value)


def _at_most(builder, vector, value, high):
    """The value, or high where it is larger; NaN stays NaN."""
    bound = _constant(vector, high)
    return builder.select(builder.fcmp_ordered(">", value, bound), bound, value)


def _power_of_two(builder, vector, n):
    """2ⁿ of whole numbers n in a float32 vector: moved into the exponents."""
    whole = ir.VectorType(I32, vector.lanes)
    same = lambda value: ir.Constant(whole, [int(value)] * vector.lanes)
    biased = builder.add(builder.fptosi(n, whole), same(nonlinear.BIAS))
    return builder.bitcast(builder.shl(biased, same(nonlinear.MANTISSA)), vector.llvm)


positive = _of_one("positive", lambda b, v, a: _at_least(b, v, a, 0))
step = _of_one(
    "step",
    lambda b, v, a: b.select(b.fcmp_ordered(">", a, _constant(v, 0)), _constant(v, 1), _constant(v, 0)),
)
_floor = _of_one("floor", lambda b, v, a: _call(b, "floor", a))
_power = _of_one("power", _power_of_two)
_of_exponential = _of_one(
    "of_exponential", lambda b, v, a: _at_least(b, v, _at_most(b, v, a, nonlinear.HIGH), nonlinear.LOW)
)


@intrinsic
def _one_beyond_edge(context, vector, inner):
    """±1 where the vector is beyond ±EDGE, else inner."""

    def codegen(context, builder, signature, values):
        a, result = values
        for symbol, edge, one in (("<", -nonlinear.EDGE, -1), (">", nonlinear.EDGE, 1)):
            is_beyond = builder.fcmp_ordered(symbol, a, _constant(vector, edge))
            result = builder.select(is_beyond, _constant(vector, one), result)
        return result

    return vector(vector, inner), codegen


@intrinsic
def _lane_by_lane(context, vector):
    """math.tanh of every lane, for float64."""

    def codegen(context, builder, signature, values):
        import math

        one = context.get_function(math.tanh, types.float64(types.float64))
        result = values[0]
        for lane in range(vector.lanes):
            number = one(builder, [builder.extract_element(values[0], I32(lane))])
            result = builder.insert_element(result, number, I32(lane))
        return result

    return vector(vector), codegen


def tanh(vector):
    """tanh of every lane."""
    raise NotImplementedError("a vector exists in compiled code only: use numpy.tanh")


def sigmoid(vector):
    """1/(1+e⁻ᵃ) of every lane."""
    raise NotImplementedError("a vector exists in compiled code only: use rnnlab.cells.sigmoid")


@overload(tanh)
def _tanh(vector):
    return _tanh32 if vector.dtype == types.float32 else _tanh64


@overload(sigmoid)
def _sigmoid(vector):
    return _sigmoid32 if vector.dtype == types.float32 else _sigmoid64


def _tanh32(vector):
    return _one_beyond_edge(vector, nonlinear.rational(vector))


def _sigmoid32(vector):
    x = _of_exponential(0 - vector)
    n = _floor(x * nonlinear.LOG2_E + 0.5)
    r = x - n * nonlinear.LN2_HIGH - n * nonlinear.LN2_LOW
    return 1 / (1 + nonlinear.exponential(r) * _power(n))


def _tanh64(vector):
    return _lane_by_lane(vector)


def _sigmoid64(vector):
    return 0.5 * _lane_by_lane(0.5 * vector) + 0.5

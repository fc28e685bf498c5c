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


def _reader(name, kind_of):
    """read(array, at): what starts at a number of the array, of the type that follows from the numbers'."""

    @intrinsic
    def read(context, array, at):
        kind = kind_of(_computed(array))

        def codegen(context, builder, signature, values):
            place = number_pointer(context, builder, signature, values)
            value_type = context.get_value_type(kind)
            return _emit_load(builder, array.dtype, value_type, place)

        return kind(array, at), codegen

    read.__name__ = name
    return read


def _computed(array) -> types.Float:
    """Type in which numbers of the array are computed."""
    return types.float32 if array.dtype == BFLOAT16 else array.dtype


load = _reader("load", Vector)  # the vector that starts at number `at`
number = _reader("number", lambda kind: kind)  # number `at`


@intrinsic
def store(context, array, at, value):
    """Write a vector from number `at` of the array on, or one number."""
    kind = value if isinstance(value, Vector) else _computed(array)

    def codegen(context, builder, signature, values):
        result = context.cast(builder, values[2], value, kind)
        place = number_pointer(context, builder, signature, values)
        _emit_store(builder, array.dtype, result, place)
        return context.get_dummy_value()

    return types.void(array, at, value), codegen


put = store  # of one number


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
        low = builder.lshr(low, same(low.type, HALF))
        high = builder.and_(high, same(high.type, UPPER))
        pairs = builder.or_(low, high)
        place = number_pointer(context, builder, signature, values)
        builder.store(pairs, builder.bitcast(place, pairs.type.as_pointer()), align=2)
        return context.get_dummy_value()

    return types.void(array, at, first, second), codegen


def _emit_load(builder, dtype, kind, place):
    """A number or a vector of numbers of this LLVM type, from an array of this dtype."""
    if dtype != BFLOAT16:
        numbers = builder.bitcast(place, kind.as_pointer())
        return builder.load(numbers, align=dtype.bitwidth // 8)
    halves = builder.bitcast(place, _whole(kind, HALF).as_pointer())
    bits = builder.zext(builder.load(halves, align=2), _whole(kind, 32))
    widened = builder.shl(bits, same(bits.type, HALF))
    return builder.bitcast(widened, kind)


def _emit_store(builder, dtype, value, place):
    """Store a number or a vector of numbers in an array of this dtype."""
    if dtype == BFLOAT16:
        value = _emit_halves(builder, value)
    numbers = builder.bitcast(place, value.type.as_pointer())
    builder.store(value, numbers, align=dtype.bitwidth // 8)


def _emit_halves(builder, value):
    """float32 numbers as bfloat16 ones, in whole numbers of 16 bits."""
    bits = _emit_rounded(builder, value)
    upper = builder.lshr(bits, same(bits.type, HALF))
    return builder.trunc(upper, _whole(value.type, HALF))


def _emit_rounded(builder, value):
    """Bits of float32 numbers whose upper half is the nearest bfloat16, ties to even; NaN stays NaN."""
    bits = builder.bitcast(value, _whole(value.type, 32))
    upper = builder.lshr(bits, same(bits.type, HALF))
    odd = builder.and_(upper, same(bits.type, 1))
    increment = builder.add(odd, same(bits.type, 0x7FFF))
    rounded = builder.add(bits, increment)
    is_nan = builder.fcmp_unordered("uno", value, value)
    return builder.select(is_nan, same(bits.type, 0x7FFF0000), rounded)


def _whole(kind, bits):
    """The type of as many whole numbers of so many bits as this type has numbers."""
    whole = ir.IntType(bits)
    return ir.VectorType(whole, kind.count) if isinstance(kind, ir.VectorType) else whole


def same(kind, value):
    """The constant with this value in all lanes, or the number."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


@intrinsic
def spread(context, array, at, distance, vector):
    """Write the lanes of the vector to the numbers at, at + distance, at + 2·distance …

    One store a lane.  A loop over numbers becomes AVX-512's scatter, four times as slow on a Zen 4.
    """

    def codegen(context, builder, signature, values):
        place = number_pointer(context, builder, signature, values)
        step = integer(context, builder, signature, values, 2)
        parts = values[3]
        if array.dtype == BFLOAT16:
            pairs = ir.VectorType(I32, vector.lanes // 2)
            parts = builder.bitcast(_emit_halves(builder, parts), pairs)
            place = builder.bitcast(place, I32.as_pointer())
        align = array.dtype.bitwidth // 8
        for lane in range(parts.type.count):
            part = builder.extract_element(parts, I32(lane))
            builder.store(part, place, align=align)
            place = builder.gep(place, [step])
        return context.get_dummy_value()

    return types.void(array, at, distance, vector), codegen


@intrinsic
def prefetch(context, array, at):
    """Request the cache line of number `at` of the array for the first-level cache."""

    def codegen(context, builder, signature, values):
        place = number_pointer(context, builder, signature, values)
        emit_prefetch(builder, place, 0)
        return context.get_dummy_value()

    return types.void(array, at), codegen


def emit_prefetch(builder: ir.IRBuilder, pointer: ir.Value, is_write: int) -> None:
    """Emit the request of a cache line for the first-level cache."""
    place = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    emit_call(builder, "llvm.prefetch.p0", [place, I32(is_write), I32(3), I32(1)])


def emit_call(builder: ir.IRBuilder, name: str, values: list, result: ir.Type | None = None) -> ir.Value:
    """Emit the call of a C function or of one of LLVM's, with a result of this type or none."""
    kind = ir.FunctionType(result or ir.VoidType(), [value.type for value in values])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, values)


def emit_spread(builder: ir.IRBuilder, kind: ir.VectorType, number: ir.Value) -> ir.Value:
    """Emit a vector with the number in all lanes."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, I32(0))
    lanes_of_first = ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, undefined, lanes_of_first)


def integer(context, builder, signature, values, i):
    """Argument i of an intrinsic as a number of 64 bits."""
    return context.cast(builder, values[i], signature.args[i], types.int64)


def number_pointer(context, builder, signature, values, i=0):
    """Pointer to the number of an array that arguments i and i + 1 of an intrinsic are."""
    array = context.make_array(signature.args[i])(context, builder, values[i])
    at = integer(context, builder, signature, values, i + 1)
    return builder.gep(array.data, [at])


def _spread(context, builder, value, kind, vector):
    """The value as a vector: a number goes into all lanes."""
    if isinstance(kind, Vector):
        return value
    number = context.cast(builder, value, kind, vector.dtype)
    return emit_spread(builder, vector.llvm, number)


def _operation(symbol, instruction):
    """Let a Python operator work on two vectors, or on a vector and a number, by an instruction of LLVM's."""

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
        return getattr(builder, instruction)(a, b, flags=FAST)

    for pair in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(symbol, *pair)(lower)


_operation(operator.add, "fadd")
_operation(operator.sub, "fsub")
_operation(operator.mul, "fmul")
_operation(operator.truediv, "fdiv")


def _of_one(name, emit):
    """A function of one vector; emit(builder, vector's type, value) gives the result."""

    @intrinsic
    def function(context, vector):
        def codegen(context, builder, signature, values):
            return emit(builder, vector, values[0])

        return vector(vector), codegen

    function.__name__ = name
    return function


def _constant(vector, value):
    return ir.Constant(vector.llvm, [float(value)] * vector.lanes)


def _where(builder, vector, value, symbol, edge, number, otherwise):
    """The number where the value is < or > the edge, else what stands in its place; NaN is neither."""
    is_beyond = builder.fcmp_ordered(symbol, value, _constant(vector, edge))
    return builder.select(is_beyond, _constant(vector, number), otherwise)


def _limited(builder, vector, value, symbol, edge):
    """The value, or the edge where it is < or > that."""
    return _where(builder, vector, value, symbol, edge, edge, value)


def _power_of_two(builder, vector, n):
    """2ⁿ of whole numbers n in a float32 vector: moved into the exponents."""
    whole = ir.VectorType(I32, vector.lanes)
    power = builder.fptosi(n, whole)
    biased = builder.add(power, same(whole, int(nonlinear.BIAS)))
    exponent = builder.shl(biased, same(whole, int(nonlinear.MANTISSA)))
    return builder.bitcast(exponent, vector.llvm)


def _floor_of(builder, vector, value):
    name = f"llvm.floor.v{vector.lanes}f{vector.dtype.bitwidth}"
    return emit_call(builder, name, [value], vector.llvm)


def _of_exponential_of(builder, vector, value):
    value = _limited(builder, vector, value, ">", nonlinear.HIGH)
    return _limited(builder, vector, value, "<", nonlinear.LOW)


positive = _of_one("positive", lambda b, v, a: _limited(b, v, a, "<", 0))
step = _of_one("step", lambda b, v, a: _where(b, v, a, ">", 0, 1, _constant(v, 0)))
_floor = _of_one("floor", _floor_of)
_power = _of_one("power", _power_of_two)
_of_exponential = _of_one("of_exponential", _of_exponential_of)


@intrinsic
def _one_beyond_edge(context, vector, inner):
    """±1 where the vector is beyond ±EDGE, else inner."""

    def codegen(context, builder, signature, values):
        a, result = values
        result = _where(builder, vector, a, "<", -nonlinear.EDGE, -1, result)
        return _where(builder, vector, a, ">", nonlinear.EDGE, 1, result)

    return vector(vector, inner), codegen


@intrinsic
def _lane_by_lane(context, vector):
    """math.tanh of every lane, for float64."""

    def codegen(context, builder, signature, values):
        import math

        one = context.get_function(math.tanh, types.float64(types.float64))
        result = values[0]
        for lane in range(vector.lanes):
            number = builder.extract_element(values[0], I32(lane))
            result = builder.insert_element(result, one(builder, [number]), I32(lane))
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

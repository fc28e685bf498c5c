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
    return VECTOR_BYTES // array.itemsize


@overload(lanes, inline="never")
def _lanes(array):
    count = VECTOR_BYTES * 8 // array.dtype.bitwidth
    return lambda array: count


@intrinsic
def load(context, array, at):
    """The vector that starts at number `at` of the array."""
    kind = Vector(array.dtype)

    def codegen(context, builder, signature, values):
        pointer = _pointer(context, builder, signature.args, values, kind)
        return builder.load(pointer, align=kind.dtype.bitwidth // 8)

    return kind(array, at), codegen


@intrinsic
def store(context, array, at, vector):
    """Write the vector from number `at` of the array on."""

    def codegen(context, builder, signature, values):
        pointer = _pointer(context, builder, signature.args, values, vector)
        builder.store(values[2], pointer, align=vector.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, at, vector), codegen


@intrinsic
def spread(context, array, at, distance, vector):
    """Write the lanes of the vector to the numbers at, at + distance, at + 2·distance …

    One store a lane.  A loop over numbers becomes AVX-512's scatter, four times as slow on a Zen 4.
    """

    def codegen(context, builder, signature, values):
        first = _pointer(context, builder, signature.args, values, vector)
        number = builder.bitcast(first, vector.llvm.element.as_pointer())
        step = context.cast(builder, values[2], signature.args[2], types.int64)
        for lane in range(vector.lanes):
            builder.store(builder.extract_element(values[3], I32(lane)), number)
            number = builder.gep(number, [step])
        return context.get_dummy_value()

    return types.void(array, at, distance, vector), codegen


@intrinsic
def prefetch(context, array, at):
    """Request the cache line of number `at` of the array for the first-level cache."""

    def codegen(context, builder, signature, values):
        pointer = _pointer(context, builder, signature.args, values, Vector(array.dtype))
        emit_prefetch(builder, pointer, 0)
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


def _pointer(context, builder, kinds, values, vector):
    data = context.make_array(kinds[0])(context, builder, values[0]).data
    at = context.cast(builder, values[1], kinds[1], types.int64)
    return builder.bitcast(builder.gep(data, [at]), vector.llvm.as_pointer())


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

"""Numbers as a GPU computes them: integers that Numba widens, float32 mathematics, single instructions, and
the value of a lane that took no part.

Python's math computes in float64 and raises where the result is infinite or not a number; NumPy's integers
raise where a number does not fit.  Wherever a kernel names them, it gets functions of float32 for those of
math, and conversions that wrap for types of integers (translation.py).
"""

import math
import operator
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from pocketgpu.simulator.threads import remark


def _in_64_bits(operation: Callable) -> tuple[Callable, Callable]:
    """An operation on a narrow integer, and the reflected one, as Numba computes them: in 64 bits."""

    def forward(self, other: object):
        return operation(*_widened(self, other))

    def reflected(self, other: object):
        return operation(*_widened(self, other)[::-1])

    return forward, reflected


def _widened(value: np.integer, other: object) -> tuple[object, object]:
    """Both as 64-bit integers; unsigned only where both are.  A float stays what it is: with 8 and 16 bits
    a float32 gives a float32."""
    if not isinstance(other, int | np.integer):
        is_small = value.own.itemsize < 4 and isinstance(other, SMALL)
        return (np.float32 if is_small else np.int64)(value), other
    unsigned = isinstance(value, np.unsignedinteger) and isinstance(other, np.unsignedinteger)
    wide = np.uint64 if unsigned else np.int64
    return wide(value), other if isinstance(other, int) else wide(other)


def _in_own_width(value: np.integer, result: int) -> np.integer:
    """-value, ~value or abs(value), which Numba computes in the value's own width and then widens."""
    wide = np.uint64 if isinstance(value, np.unsignedinteger) else np.int64
    return wide(wrapped(result, value.own))


class Int32(np.int32):
    """An element of int32: it has 32 bits, and arithmetic with it has 64."""


class UInt32(np.uint32):
    """An element of uint32: it has 32 bits, and arithmetic with it has 64."""


for _kind in (Int32, UInt32):
    _kind.own = np.dtype(_kind.__base__)
    for _name in "add sub mul truediv floordiv mod divmod and or xor lshift rshift pow".split():
        _operation = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name), divmod)
        _forward, _reflected = _in_64_bits(_operation)
        setattr(_kind, f"__{_name}__", _forward)
        setattr(_kind, f"__r{_name}__", _reflected)
    _kind.__neg__ = lambda self: _in_own_width(self, -int(self))
    _kind.__invert__ = lambda self: _in_own_width(self, ~int(self))
    _kind.__abs__ = lambda self: _in_own_width(self, abs(int(self)))

WIDENED = {np.int32: Int32, np.uint32: UInt32}
for _kind in (np.int8, np.int16, np.uint8, np.uint16):  # they keep their width for -x, ~x and abs(x)
    WIDENED[_kind] = type(_kind.__name__, (Int32,), {"own": np.dtype(_kind)})


def as_register(value: object) -> object:
    """A scalar as a kernel gets it: arithmetic with narrow integers is 64 bits wide."""
    kind = WIDENED.get(type(value))
    return value if kind is None else kind(value)


class Wrapping(np.ndarray):
    """Integers that wrap where they are stored, as in a register."""

    def __setitem__(self, index, value):
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, wrapped(value, self.dtype))


class Narrow(Wrapping):
    """Integers of up to 32 bits: Numba computes in 64, so that a uint8 200 + 100 is 300 and not 44."""

    def __getitem__(self, index):
        return as_register(super().__getitem__(index))


def as_kernel_sees(array: np.ndarray) -> np.ndarray:
    """The same memory: records answer to a[i].x as well as to a[i]["x"], narrow integers are widened."""
    if array.dtype.names:
        return array.view(np.recarray)
    if array.dtype.kind in "iu" and array.itemsize <= 4:
        return array.view(Narrow)
    return array.view(np.ndarray)


def as_bare(array: np.ndarray) -> np.ndarray:
    """The same memory, as a kernel sees it whose accesses are not written down."""
    seen = as_kernel_sees(array)
    return seen.view(Wrapping) if type(seen) is np.ndarray and seen.dtype.kind in "iu" else seen


def wrapped(value: int, dtype: np.dtype) -> np.generic:
    """An integer as a register of that width keeps it."""
    return np.array(int(value) & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").astype(dtype)


class Undefined:
    """The value of a lane that took no part: a GPU may give anything.  It is a fault where it is used.

    Half of a warp that adds up its values asks lanes beyond its mask, too, and drops what it gets.  So the
    value spreads through arithmetic, and becomes a finding where it is stored or made a number.
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic with it to this class

    def __init__(self, lane: int, line: int):
        self.lane = lane
        self.line = line

    def _spread(self, *others: object) -> "Undefined":
        return self

    def _compare(self, *others: object) -> bool:
        return True  # max and min then choose this value

    def _use(self, *others: object) -> None:
        remark(
            "undefined_lane",
            f"uses what it took from lane {self.lane} on line {self.line}, but that lane is not there: it is "
            "outside the mask or the block, or has returned; let all lanes of the mask take part, and use "
            "only their values",
            self.line,
        )

    def __float__(self) -> float:
        self._use()
        return float("nan")

    def __int__(self) -> int:
        self._use()
        return -1

    __index__ = __int__


for _name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():
    setattr(Undefined, f"__{_name}__", Undefined._spread)
    setattr(Undefined, f"__r{_name}__", Undefined._spread)
for _name in ("neg", "abs", "invert"):
    setattr(Undefined, f"__{_name}__", Undefined._spread)
for _name in ("lt", "le", "gt", "ge"):
    setattr(Undefined, f"__{_name}__", Undefined._compare)


def popc(value: int) -> int:
    """How many bits are set."""
    return _bits(value)[0].bit_count()


def clz(value: int) -> int:
    """How many zeros stand before the first set bit."""
    bits, width = _bits(value)
    return width - bits.bit_length()


def ffs(value: int) -> int:
    """The place of the lowest set bit, counted from 1; 0 if none is set."""
    bits, _ = _bits(value)
    return (bits & -bits).bit_length()


def brev(value: int) -> int:
    """The bits in reverse order."""
    bits, width = _bits(value)
    return int(f"{bits:0{width}b}"[::-1], 2)


def fma(a: float, b: float, c: float) -> float:
    """a·b + c, where the product is not rounded."""
    kind = np.result_type(*(x if isinstance(x, np.generic) else float(x) for x in (a, b, c)))
    if kind == np.float32:  # a product of two float32 is exact in float64
        return np.float32(float(a) * float(b) + float(c))
    return a * b + c


def cbrt(value: float) -> float:
    return np.cbrt(value)


def selp(condition: object, yes: object, no: object) -> object:
    """yes where the condition holds, no elsewhere; both are evaluated."""
    return yes if condition else no


def _half(function: Callable) -> Callable:
    return lambda *values: np.float16(function(*values))


ROUNDED_IN_HALF = "sin cos log log2 log10 exp exp2 sqrt floor ceil trunc rint".split()
fp16 = SimpleNamespace(  # arithmetic in half precision
    **{f"h{name}": _half(getattr(np, name)) for name in ROUNDED_IN_HALF},
    hadd=_half(operator.add),
    hsub=_half(operator.sub),
    hmul=_half(operator.mul),
    hdiv=_half(operator.truediv),
    hfma=lambda a, b, c: np.float16(float(a) * float(b) + float(c)),  # the product is not rounded
    hexp10=_half(lambda x: 10**x),
    hrsqrt=_half(lambda x: x**-0.5),
    hrcp=_half(np.reciprocal),
    **{f"h{name}": getattr(operator, name) for name in "eq ne ge gt le lt neg abs".split()},
    hmax=max,
    hmin=min,
)


def _bits(value: int) -> tuple[int, int]:
    """The bits as an unsigned number, and how many the value's type has."""
    width = 8 * value.dtype.itemsize if isinstance(value, np.generic) else 64 if abs(int(value)) >> 32 else 32
    return int(value) & (1 << width) - 1, width


NUMPY_NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "atanh": "arctanh", "pow": "power"}
RAISING = (*"exp expm1 log log10 log1p log2 sqrt sin cos tan sinh cosh fmod".split(), *NUMPY_NAMES)
QUIET = "asinh atan atan2 copysign degrees erf erfc fabs hypot radians tanh".split()
SMALL = (np.float16, np.float32)


def _as_on_gpu(function: Callable, instead: Callable | None) -> Callable:
    def computed(*arguments):
        try:
            value = function(*arguments)
        except (ValueError, OverflowError):
            if instead is None:
                raise
            value = instead(*(np.float64(argument) for argument in arguments))
        kind = type(arguments[0])
        return kind(value) if kind in SMALL else value

    return computed


PYTHON_MATH = {name: getattr(math, name) for name in (*RAISING, *QUIET, "gamma", "lgamma")}
GPU_MATH = {
    name: _as_on_gpu(function, getattr(np, NUMPY_NAMES.get(name, name)) if name in RAISING else None)
    for name, function in PYTHON_MATH.items()
}


class Conversion:
    """np.int32 or another type of integers, as a kernel calls it: the value wraps, as Numba truncates it.

    It serves as a dtype, too: cuda.shared.array(32, np.int32).
    """

    def __init__(self, kind: type[np.integer]):
        self.kind = kind
        self.dtype = np.dtype(kind)
        self.__name__ = kind.__name__

    def __call__(self, value: object = 0) -> object:
        if isinstance(value, float | np.floating):
            value = _truncated(float(value), self.dtype)
        try:
            return as_register(self.kind(value))
        except OverflowError:
            return as_register(wrapped(value, self.dtype))


def _truncated(value: float, dtype: np.dtype) -> int:
    """A float without its fraction, for a type of integers.

    LLVM leaves a float beyond the type undefined.  Here it becomes the nearest integer of 32 bits, or 64, and
    NaN becomes 0, as cvt.rzi of a GPU converts; 8 or 16 bits keep the lowest of these.
    """
    limits = np.iinfo(f"{dtype.kind}{max(4, dtype.itemsize)}")
    return 0 if value != value else int(min(max(value, limits.min), limits.max))


class _Numpy(SimpleNamespace):
    """NumPy with other types of integers."""

    def __getattr__(self, name: str):
        return getattr(np, name)


SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = {id(kind): Conversion(kind) for kind in SIGNED + UNSIGNED}
MATH = SimpleNamespace(**{**vars(math), **GPU_MATH})
NUMPY = _Numpy(**{name: INTEGERS.get(id(value), value) for name, value in vars(np).items()})
REPLACEMENTS = {
    id(math): MATH,
    **{id(PYTHON_MATH[name]): function for name, function in GPU_MATH.items()},
    id(np): NUMPY,
    **INTEGERS,
}

"""Numbers as a GPU computes them: integers that Numba widens, float32 mathematics, single instructions, and
the value of a lane that took no part.

Python's math computes in float64 and raises where the result is infinite or not a number; NumPy's integers
raise where a number does not fit.  Wherever a kernel names them, it gets functions of float32 for those of
math, and conversions that wrap for types of integers (translation.py).
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from opcode import opmap
from types import SimpleNamespace

import numpy as np

from pocketgpu.simulator.threads import machine, remark, users_frame
from pocketgpu.simulator.trace import Line

SMALL = (np.float16, np.float32)
OPERATIONS = {  # by the name of their method, without underscores
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "xor", "lshift", "rshift", "pow")
}
OPERATIONS |= {"and": operator.and_, "or": operator.or_, "divmod": divmod}
STORE_ELEMENT = opmap["STORE_SUBSCR"]


def _in_64_bits(operation: Callable) -> tuple[Callable, Callable]:
    """An operation on an integer, and the reflected one, as Numba computes them: in 64 bits."""
    is_shift = operation in (operator.lshift, operator.rshift)
    is_division = operation is operator.truediv

    def forward(self, other: object):
        return _as_unsigned(operation(*_widened(self, other, is_division, is_shift)))

    def reflected(self, other: object):
        return _as_unsigned(operation(*_widened(self, other, is_division)[::-1]))

    return forward, reflected


def _widened(
    value: np.integer, other: object, is_division: bool, is_shift: bool = False
) -> tuple[object, object]:
    """Both as 64-bit integers; unsigned only where both are, or where an unsigned number is shifted.

    Of two integers that are divided `value` becomes a float64.  A float stays what it is: with 8 and 16 bits
    a float32 gives a float32, but for uint16, as Numba types it.
    """
    own = value.own
    if not isinstance(other, int | np.integer):
        if own.itemsize < 4 and isinstance(other, SMALL):
            kind = np.float64 if own == np.uint16 else np.float32
        else:
            kind = np.uint64 if own.itemsize == 8 else np.int64
        return kind(value), other
    if is_division:
        return np.float64(value), other
    if own.kind == "u":
        if is_shift:
            bits = int(other) & 0xFFFFFFFFFFFFFFFF
            return np.uint64(value), np.uint64(bits)
        if _is_unsigned(other):
            return np.uint64(value), np.uint64(other)
    if not isinstance(other, int):
        other = np.int64(other)
    return np.int64(value), other


def _is_unsigned(value: object) -> bool:
    """Is it an element, or a number of NumPy, without a sign?"""
    return isinstance(value, np.integer) and getattr(value, "own", value.dtype).kind == "u"


def _as_unsigned(result: object) -> object:
    """The result, which stays beside signed numbers what Numba makes of it."""
    if type(result) is np.uint64:
        return UInt64(result)
    if type(result) is tuple:
        return tuple(map(_as_unsigned, result))
    return result


def _in_own_width(value: np.integer, result: int) -> np.integer:
    """-value, ~value or abs(value), which Numba computes in the value's own width and then widens."""
    own = value.own
    number = wrapped(result, own)
    is_wide = own.kind == "u" and own.itemsize >= 4
    return UInt64(number) if is_wide else np.int64(number)


class Int32(np.int32):
    """An element of int32: it has 32 bits, and arithmetic with it has 64."""


class UInt32(np.uint32):
    """An element of uint32: it has 32 bits, and arithmetic with it has 64."""


class UInt64(np.uint64):
    """A number of uint64; beside a signed one it becomes int64 in Numba, float64 in NumPy."""

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic with it to this class
    __hash__ = np.uint64.__hash__


for _kind in (Int32, UInt32, UInt64):
    _kind.own = np.dtype(_kind.__base__)
    for _name, _operation in OPERATIONS.items():
        _forward, _reflected = _in_64_bits(_operation)
        setattr(_kind, f"__{_name}__", _forward)
        setattr(_kind, f"__r{_name}__", _reflected)
    _kind.__neg__ = lambda self: _in_own_width(self, -int(self))
    _kind.__invert__ = lambda self: _in_own_width(self, ~int(self))
    _kind.__abs__ = lambda self: type(self)(wrapped(abs(int(self)), self.own))


def _comparison(operation: Callable) -> Callable:
    def compare(self: UInt64, other: object) -> bool:
        if _is_unsigned(other):
            return operation(int(self), int(other))
        if isinstance(other, int | np.integer):
            other = float(other)
        return operation(float(self), other)

    return compare


COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
for _name, _operation in COMPARISONS.items():
    setattr(UInt64, f"__{_name}__", _comparison(_operation))

WIDENED = {np.int32: Int32, np.uint32: UInt32, np.uint64: UInt64, np.bool_: bool}
for _kind in (np.int8, np.int16, np.uint8, np.uint16):  # they keep their width for -x, ~x and abs(x)
    WIDENED[_kind] = type(_kind.__name__, (Int32,), {"own": np.dtype(_kind)})


def as_register(value: object) -> object:
    """A scalar as a kernel gets it: arithmetic with narrow integers is 64 bits wide."""
    kind = WIDENED.get(type(value))
    if kind is not None:
        return kind(value)
    if type(value) is int and value >= 1 << 63:
        return UInt64(value)
    return value


class Wrapping(np.ndarray):
    """Integers that wrap where they are stored, as in a register; a float is converted as by int()."""

    def __setitem__(self, index, value):
        if isinstance(value, float | np.floating) and self.dtype.kind != "b":
            value = converted_float(value, self.dtype)
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, wrapped(value, self.dtype))


class Narrow(Wrapping):
    """Truth values, and integers of up to 32 bits or without a sign, whose arithmetic is not NumPy's.

    Numba computes in 64 bits, so that a uint8 200 + 100 is 300 and not 44.
    """

    def __getitem__(self, index):
        return as_register(super().__getitem__(index))


def as_kernel_sees(array: np.ndarray) -> np.ndarray:
    """The same memory: records answer to a[i].x as well as to a[i]["x"], narrow integers are widened."""
    if array.dtype.names:
        return array.view(np.recarray)
    if array.dtype.kind in "bu" or (array.dtype.kind == "i" and array.itemsize <= 4):
        return array.view(Narrow)
    return array.view(np.ndarray)


def as_bare(array: np.ndarray) -> np.ndarray:
    """The same memory, as a kernel sees it whose accesses are not written down."""
    seen = as_kernel_sees(array)
    if type(seen) is np.ndarray and seen.dtype.kind in "iu":
        return seen.view(Wrapping)
    return seen


def wrapped(value: int, dtype: np.dtype | type) -> np.generic:
    """An integer as a register of that width keeps it."""
    dtype = np.dtype(dtype)
    size = dtype.itemsize
    bits = int(value) & (1 << 8 * size) - 1
    return np.array(bits, f"u{size}").astype(dtype)[()]


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

    __neg__ = __abs__ = __invert__ = _spread

    def _compare(self, *others: object) -> bool:
        return True  # max and min then choose this value

    __lt__ = __le__ = __gt__ = __ge__ = _compare

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


class Unset(Undefined):
    """The value of a local name to which a thread has given none, as behind a branch that it did not take.

    Numba gives it zero, or anything.  A fault only where it is compared, made a number, or stored in global
    memory: a shuffle may hand on the value of another lane, and shared or local memory that gets it stays
    unwritten.
    """

    def __init__(self, name: str):
        self.name = name

    def _use(self, *others: object) -> None:
        frame = users_frame()
        instruction = frame.f_code.co_code[frame.f_lasti]
        is_store = instruction == STORE_ELEMENT and machine.trace is not None
        if is_store and machine.trace.drop_store_within_block():
            return
        line = Line(frame.f_lineno, frame.f_code.co_filename)
        remark(
            "uninitialised",
            f"uses {self.name} on line {line}, to which this thread has given no value: on a GPU it is zero, "
            f"or anything; give {self.name} a value before the branch",
            line,
        )

    def __float__(self) -> float:
        self._use()
        return 0.0

    def __int__(self) -> int:
        self._use()
        return 0

    __index__ = __int__

    def __bool__(self) -> bool:
        self._use()
        return False

    def __getitem__(self, index: object) -> "Unset":
        self._use()
        return self

    def __setitem__(self, index: object, value: object) -> None:
        self._use()

    def __getattr__(self, attribute: str) -> "Unset":
        if attribute.startswith("_") or attribute == "dtype":  # NumPy looks whether it is an array
            raise AttributeError(attribute)
        self._use()
        return self


def _comparison_of_zero(operation: Callable) -> Callable:
    def compare(self: Unset, other: object) -> bool:
        self._use()
        return operation(0, 0 if isinstance(other, Unset) else other)

    return compare


for _name, _operation in COMPARISONS.items():
    setattr(Unset, f"__{_name}__", _comparison_of_zero(_operation))
Unset.__hash__ = object.__hash__
for _name in OPERATIONS.keys() - {"divmod"}:
    setattr(Undefined, f"__{_name}__", Undefined._spread)
    setattr(Undefined, f"__r{_name}__", Undefined._spread)


def popc(value: int) -> int:
    """How many bits are set."""
    bits, _ = _bits(value)
    return bits.bit_count()


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
    digits = f"{bits:0{width}b}"
    return int(digits[::-1], 2)


def fma(a: float, b: float, c: float) -> float:
    """a·b + c, rounded once."""
    numbers = [number if isinstance(number, np.generic) else float(number) for number in (a, b, c)]
    kind = np.result_type(*numbers).type
    if not all(map(math.isfinite, numbers)):
        return kind(a * b + c)
    a, b, c = map(float, numbers)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return kind(a * b + c)  # with the sign of zero
    return nearest_float(exact, kind)


def nearest_float(exact: Fraction, kind: type[np.floating]) -> np.floating:
    """The float of that kind next to the exact number, rounded once."""
    try:
        double = float(exact)
    except OverflowError:
        return kind(math.inf if exact > 0 else -math.inf)
    if kind in SMALL:
        # rounded to odd, so that the second rounding sees on which side of a tie the exact number lies
        rest = exact - Fraction(double)
        bits = int(np.float64(double).view(np.int64))
        if rest and not bits & 1:
            double = math.nextafter(double, math.inf if rest > 0 else -math.inf)
    return kind(double)


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
    hfma=lambda a, b, c: fma(*map(np.float16, (a, b, c))),
    hexp10=_half(lambda x: 10**x),
    hrsqrt=_half(lambda x: x**-0.5),
    hrcp=_half(np.reciprocal),
    **{f"h{name}": getattr(operator, name) for name in "eq ne ge gt le lt neg abs".split()},
    hmax=np.fmax,
    hmin=np.fmin,
)


def _bits(value: int) -> tuple[int, int]:
    """The bits as an unsigned number, and how many the value's type has; a number of Python has 64."""
    width = 8 * value.dtype.itemsize if isinstance(value, np.generic) else 64
    mask = (1 << width) - 1
    return int(value) & mask, width


def _gamma(x: float) -> float:
    """Γ(x) where Python raises: at its poles, and where the result is too large."""
    is_negative_pole = x < 0 and (math.isinf(x) or x == np.floor(x))
    return np.nan if is_negative_pole else np.copysign(np.inf, x)


OF_NUMPY = {  # NumPy's function under another name, where Python's raises
    **{"acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "atanh": np.arctanh, "pow": np.power},
    "remainder": lambda x, y: np.nan,
    "gamma": _gamma,
    "lgamma": lambda x: np.inf,
    "ldexp": lambda x, n: np.copysign(np.inf, x),
}
FUNCTIONS = (  # of math, of floats
    *"acos acosh asin asinh atan atan2 atanh copysign cos cosh degrees erf erfc exp expm1 fabs fmod".split(),
    *"gamma hypot ldexp lgamma log log10 log1p log2 pow radians remainder sin sinh sqrt tan tanh".split(),
    *(name for name in ("cbrt", "exp2") if hasattr(math, name)),  # since Python 3.11
)


def _as_on_gpu(name: str, function: Callable) -> Callable:
    """The function in the precision of its first argument; inf or NaN where Python raises."""
    instead = OF_NUMPY.get(name) or getattr(np, name, None)

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


PYTHON_MATH = {name: getattr(math, name) for name in (*FUNCTIONS, "nextafter")}
PYTHON_MATH["ldexp"] = lambda x, n: math.ldexp(x, int(n))  # Python's takes no number of NumPy
GPU_MATH = {name: _as_on_gpu(name, function) for name, function in PYTHON_MATH.items()}
GPU_MATH["nextafter"] = np.nextafter


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
            value = converted_float(value, self.dtype)
        try:
            return as_register(self.kind(value))
        except OverflowError:
            return as_register(wrapped(value, self.dtype))


def converted_float(value: float | np.floating, dtype: np.dtype | type) -> int:
    """A float without its fraction, for a type of integers, as the instruction cvt.rzi converts it.

    Beyond the type it becomes the nearest integer of the register: 16 bits for types of 8, of which the
    lowest stay.  NaN becomes 0 where float32 goes to 32 bits or fewer, else the highest bit alone.
    """
    dtype = np.dtype(dtype)
    register = np.iinfo(f"{dtype.kind}{max(2, dtype.itemsize)}")
    if value != value:
        is_short = not isinstance(value, float) and dtype.itemsize <= 4
        highest_bit = register.min or register.max // 2 + 1
        return 0 if is_short else highest_bit
    clipped = min(max(float(value), register.min), register.max)
    return int(clipped)


class _Numpy(SimpleNamespace):
    """NumPy with other types of integers."""

    def __getattr__(self, name: str):
        return getattr(np, name)


def _of_numbers(function: Callable) -> Callable:
    """A test of NumPy whose result is a number in arithmetic."""

    def test(value: object) -> object:
        result = function(value)
        return bool(result) if isinstance(value, float | np.number) else result

    return test


def _with_uint64(function: np.ufunc) -> Callable:
    """A function of NumPy that takes a number of uint64, too, and gives one that computes as in a kernel."""

    def compute(*values: object, **options: object) -> object:
        plain = [np.uint64(value) if type(value) is UInt64 else value for value in values]
        return as_register(function(*plain, **options))

    return compute


UFUNCS = {name: _with_uint64(value) for name, value in vars(np).items() if isinstance(value, np.ufunc)}
TESTS = {name: _of_numbers(getattr(np, name)) for name in ("isnan", "isinf", "isfinite", "signbit")}
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = {id(kind): Conversion(kind) for kind in SIGNED + UNSIGNED}
MATH = SimpleNamespace(**{**vars(math), **GPU_MATH})
NUMPY = _Numpy(**{name: INTEGERS.get(id(value), value) for name, value in vars(np).items()} | UFUNCS | TESTS)
NUMPY.bool_ = NUMPY.bool = bool
REPLACEMENTS = {
    id(math): MATH,
    **{id(PYTHON_MATH[name]): function for name, function in GPU_MATH.items()},
    id(np): NUMPY,
    **{id(getattr(np, name)): function for name, function in (UFUNCS | TESTS).items()},
    **INTEGERS,
}

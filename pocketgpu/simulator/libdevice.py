"""numba.cuda.libdevice: NVIDIA's functions of numbers, by name.

Functions that Python's math or NumPy has under the same name are those; a name that ends with f computes in
float32.  Rounding (rn, rz, rd, ru), conversions and bits are computed exactly.  The simulator lacks Bessel
functions, inverse error functions, erfcx and normcdf.
Rules: NVIDIA, libdevice User's Guide 13.0, https://docs.nvidia.com/cuda/libdevice-users-guide
"""

import math
import operator
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import numpy as np

from pocketgpu.simulator import arithmetic
from pocketgpu.simulator.arithmetic import (
    GPU_MATH,
    Int32,
    UInt32,
    UInt64,
    converted_float,
    nearest_float,
    wrapped,
)
from pocketgpu.simulator.operations import largest, smallest

TO_WHOLE = {"n": np.rint, "z": np.trunc, "d": np.floor, "u": np.ceil}
TOWARDS = {"d": -math.inf, "u": math.inf, "z": 0.0}
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
REGISTERS = {np.int32: Int32, np.uint32: UInt32, np.int64: np.int64, np.uint64: UInt64}
TYPES = INTEGERS | {"float": np.float32, "double": np.float64}


def _root(number: Fraction | float) -> Fraction | float:
    """The square root; of a fraction with 128 bits or more, the last of which tells that there are others."""
    if isinstance(number, float):
        return np.sqrt(number)
    square = number.numerator * number.denominator << 256
    root = math.isqrt(square)
    has_more_digits = root * root != square
    return Fraction(2 * root + has_more_digits, number.denominator << 129)


EXACT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "ma": lambda a, b, c: a * b + c,
    "rcp": lambda a: 1 / a,
    "sqrt": _root,
    "rsqrt": lambda a: 1 / _root(a),
}


def rounded(exact: Fraction, kind: type, mode: str) -> np.floating:
    """The float of that kind, next to the exact number in the direction of the mode."""
    nearest = nearest_float(exact, kind)
    if mode == "n" or float(nearest) == exact:
        return nearest
    towards = TOWARDS[mode]
    is_above = float(nearest) > exact
    goes_down = towards < 0 or (towards == 0 and exact > 0)
    if is_above != goes_down:
        return nearest
    return np.nextafter(nearest, kind(towards))


def _with_rounding(name: str) -> Callable | None:
    """fadd_rz, dmul_rn, fmaf_ru and their kin."""
    match = re.fullmatch(r"(f|d)(add|sub|mul|div|ma|rcp|sqrt|rsqrt)(f?)_r([nzdu])", name)
    if not match:
        return None
    letter, operation, ending, mode = match.groups()
    is_fma_of_doubles = operation == "ma" and not ending
    kind = np.float64 if letter == "d" or is_fma_of_doubles else np.float32
    compute = EXACT[operation]

    def compute_rounded(*values: float) -> np.floating:
        numbers = [np.float64(kind(value)) for value in values]
        with suppress(ZeroDivisionError, OverflowError, ValueError):  # infinite, or not a number
            if exact := compute(*map(Fraction, numbers)):
                return rounded(exact, kind, mode)
        return kind(compute(*numbers))

    return compute_rounded


def _conversion(name: str) -> Callable | None:
    """float2int_rz, ll2double_rn and their kin."""
    match = re.fullmatch(r"(float|double|int|uint|ll|ull)2(float|double|int|uint|ll|ull)_r([nzdu])", name)
    if not match:
        return None
    source = TYPES[match[1]]
    target = TYPES[match[2]]
    mode = match[3]

    def to_integer(value: float) -> np.integer:
        whole = TO_WHOLE[mode](_as(source, value))
        return _register(target, converted_float(whole, target))

    def to_float(value: float) -> np.floating:
        number = _as(source, value)
        if not math.isfinite(number):
            return target(number)
        return rounded(Fraction(number.item()), target, mode)

    return to_integer if target in REGISTERS else to_float


def _register(kind: type, number: int) -> np.integer:
    """The integer as a register of that type, in which it wraps."""
    return REGISTERS[kind](wrapped(number, kind))


def _as(kind: type, value: float) -> np.number:
    """The value as a number of that type; integers wrap."""
    return wrapped(value, kind) if kind in REGISTERS else kind(value)


def _bits_as(source: type, target: type) -> Callable:
    """The same bits as another type."""
    as_register = REGISTERS.get(target, target)
    return lambda value: as_register(_as(source, value).view(target))


def _of_integers(kind: type, function: Callable) -> Callable:
    """A function of integers, exact, whose result wraps in that type."""

    def compute(*values: int) -> np.integer:
        integers = [int(wrapped(value, kind)) for value in values]
        return _register(kind, function(*integers))

    return compute


def _of_bits(kind: type, function: Callable, result: type) -> Callable:
    """A function of the bits that an integer has in one type, with a result in another."""
    return lambda value: _register(result, function(_as(kind, value)))


def _byte_perm(a: int, b: int, selector: int) -> int:
    """Four of the eight bytes of b and a, chosen by four digits of the selector."""
    both = (b & 0xFFFFFFFF) << 32 | (a & 0xFFFFFFFF)
    result = 0
    for place in range(4):
        chosen = selector >> 4 * place & 7
        byte = both >> 8 * chosen & 0xFF
        result |= byte << 8 * place
    return result


def _exponent(value: float) -> int:
    return math.frexp(value)[1] - 1


def _sign_away(value: float) -> float:
    """The nearest whole number; halves go away from zero."""
    magnitude = np.floor(np.abs(value) + 0.5)
    return np.copysign(magnitude, value)


def _low_24(value: int) -> int:
    return (value + (1 << 23)) % (1 << 24) - (1 << 23)


def _divided(x: float, y: float) -> np.float32:
    """x / y; 0 where 2**126 < |y| < 2**128."""
    is_large = 2.0**126 < abs(y) < 2.0**128
    x = np.float32(x)
    return np.float32(x * 0) if is_large else np.float32(x / np.float32(y))


def _of_pi(function: Callable, x: float) -> float:
    """The function of pi times x."""
    if not math.isfinite(x):
        return x * math.nan
    angle = math.pi * math.fmod(x, 2)
    return type(x)(function(angle))


def _positive_difference(x: float, y: float) -> float:
    """x - y where that is positive, else 0; NaN where one of them is."""
    if x > y or x != x or y != y:
        return x - y
    return x * 0


def _fraction_and_whole(x: float) -> tuple:
    """Both with the sign of x."""
    whole = np.trunc(x)
    fraction = x - whole if np.isfinite(x) else 0 * x
    return np.copysign(fraction, x), whole


def _as_int64(value: float) -> np.int64:
    return np.int64(converted_float(value, np.int64))


def _bits(x: float) -> int:
    return int(np.float64(x).view(np.int64))


OWN = {
    "rsqrt": lambda x: type(x)(1 / GPU_MATH["sqrt"](x)),
    "rcbrt": lambda x: type(x)(1 / np.cbrt(x)),
    "sincos": lambda x: (GPU_MATH["sin"](x), GPU_MATH["cos"](x)),
    "sinpi": lambda x: _of_pi(math.sin, x),
    "cospi": lambda x: _of_pi(math.cos, x),
    "sincospi": lambda x: (_of_pi(math.sin, x), _of_pi(math.cos, x)),
    "exp10": lambda x: type(x)(np.float64(10) ** x),
    "tgamma": GPU_MATH["gamma"],
    "lgamma": GPU_MATH["lgamma"],
    "fma": arithmetic.fma,
    "fmax": largest,
    "fmin": smallest,
    "fdim": _positive_difference,
    "powi": lambda x, n: type(x)(GPU_MATH["pow"](x, n)),
    "modf": _fraction_and_whole,
    "scalbn": GPU_MATH["ldexp"],
    "logb": lambda x: type(x)(_exponent(x)),
    "ilogb": lambda x: Int32(_exponent(x)),
    "nearbyint": np.rint,
    "round": _sign_away,
    "llrint": lambda x: _as_int64(np.rint(x)),
    "llround": lambda x: _as_int64(_sign_away(x)),
}
PLAIN = {  # names that do not follow the rule of the last letter
    "float_as_int": _bits_as(np.float32, np.int32),
    "int_as_float": _bits_as(np.int32, np.float32),
    "double_as_longlong": _bits_as(np.float64, np.int64),
    "longlong_as_double": _bits_as(np.int64, np.float64),
    "double2hiint": lambda x: Int32(np.int32(_bits(x) >> 32)),
    "double2loint": lambda x: Int32(wrapped(_bits(x), np.int32)),
    "hiloint2double": lambda hi, lo: np.int64(int(hi) << 32 | int(lo) % 2**32).view(np.float64),
    "float2half_rn": np.float16,
    "half2float": np.float32,
    "saturatef": lambda x: np.float32(0 if x != x else min(max(x, 0), 1)),
    "fast_fdividef": _divided,
    "byte_perm": _of_integers(np.int32, _byte_perm),
    "mul24": _of_integers(np.int32, lambda x, y: _low_24(x) * _low_24(y)),
    "umul24": _of_integers(np.uint32, lambda x, y: x % 2**24 * (y % 2**24)),
    "abs": _of_integers(np.int32, abs),
    "llabs": _of_integers(np.int64, abs),
    "finitef": lambda x: Int32(np.isfinite(x)),
    "isfinited": lambda x: Int32(np.isfinite(x)),
}
OF_BOTH_SIGNS = {  # name: (type, function); of unsigned integers with a u before name and type
    "mulhi": ("int", lambda x, y: x * y >> 32),
    "mul64hi": ("ll", lambda x, y: x * y >> 64),
    "sad": ("int", lambda x, y, z: abs(x - y) + z),
    "hadd": ("int", lambda x, y: x + y >> 1),
    "rhadd": ("int", lambda x, y: x + y + 1 >> 1),
    "max": ("int", max),
    "min": ("int", min),
    "llmax": ("ll", max),
    "llmin": ("ll", min),
}
COUNTS = {"popc": arithmetic.popc, "clz": arithmetic.clz, "ffs": arithmetic.ffs}  # each an int
for _ending, _kind in {"": np.int32, "ll": np.int64}.items():
    PLAIN[f"brev{_ending}"] = _of_bits(_kind, arithmetic.brev, _kind)
    for _name, _count in COUNTS.items():
        PLAIN[f"{_name}{_ending}"] = _of_bits(_kind, _count, np.int32)
for _name, (_kind, _function) in OF_BOTH_SIGNS.items():
    PLAIN[_name] = _of_integers(INTEGERS[_kind], _function)
    PLAIN[f"u{_name}"] = _of_integers(INTEGERS[f"u{_kind}"], _function)
QUESTIONS = {  # which end with d or f
    "isnan": lambda x: Int32(x != x),
    "isinf": lambda x: Int32(np.isinf(x)),
    "signbit": lambda x: Int32(np.signbit(x)),
}
for _name, _function in QUESTIONS.items():
    PLAIN[f"{_name}d"] = PLAIN[f"{_name}f"] = _function
UFUNCS = {name: function for name, function in vars(np).items() if isinstance(function, np.ufunc)}


def __getattr__(name: str) -> Callable:
    if name.startswith("__"):
        raise AttributeError(name)
    special = PLAIN.get(name) or _with_rounding(name) or _conversion(name)
    if special:
        return special
    bare = name.removeprefix("fast_")
    if bare == name and _has_function(name):
        return _of_floats(np.float64, name)
    without_letter = bare.removesuffix("f")  # the fast ones are all of float32
    if _has_function(without_letter):
        return _of_floats(np.float32, without_letter)
    raise AttributeError(
        f"the simulator has no libdevice.{name}; write it with functions of math (docs/simulator.md)"
    )


def _has_function(name: str) -> bool:
    return callable(_function(name))


def _function(name: str) -> object:
    """What has that name: ours, else that of the GPU's math, of Python's or of NumPy."""
    return OWN.get(name) or GPU_MATH.get(name) or getattr(math, name, None) or UFUNCS.get(name)


def _of_floats(kind: type, name: str) -> Callable:
    function = _function(name)
    return lambda *values: function(*(_of_kind(value, kind) for value in values))


def _of_kind(value: object, kind: type) -> object:
    """A float as the function takes it; a count, as of ldexp, stays an integer."""
    return value if isinstance(value, int | np.integer) else kind(value)

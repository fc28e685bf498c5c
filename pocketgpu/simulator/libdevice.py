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
from fractions import Fraction

import numpy as np

from pocketgpu.simulator.arithmetic import (
    GPU_MATH,
    Int32,
    UInt32,
    UInt64,
    converted_float,
    ffs,
    fma,
    nearest_float,
    popc,
    wrapped,
)
from pocketgpu.simulator.operations import WHOLE, largest, smallest

TO_WHOLE = {"n": np.rint, "z": np.trunc, "d": np.floor, "u": np.ceil}
TOWARDS = {"d": -math.inf, "u": math.inf, "z": 0.0}
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
REGISTERS = {np.int32: Int32, np.uint32: UInt32, np.int64: np.int64, np.uint64: UInt64}
FLOATS = {"float": np.float32, "double": np.float64}
EXACT = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "ma": lambda a, b, c: a * b + c, "rcp": lambda a: 1 / a,
}  # fmt: skip


def rounded(exact: Fraction, kind: type, mode: str) -> np.floating:
    """The float of that kind, next to the exact number in the direction of the mode."""
    nearest = nearest_float(exact, kind)
    if mode == "n" or not math.isfinite(nearest) or Fraction(float(nearest)) == exact:
        return nearest
    towards = TOWARDS[mode]
    is_above = Fraction(float(nearest)) > exact
    passed = is_above if towards < 0 or (towards == 0 and exact > 0) else not is_above
    return np.nextafter(nearest, kind(towards)) if passed else nearest


def _with_rounding(name: str) -> Callable | None:
    """fadd_rz, dmul_rn, fmaf_ru and their kin."""
    match = re.fullmatch(r"(f|d)(add|sub|mul|div|ma|rcp|sqrt|rsqrt)(f?)_r([nzdu])", name)
    if not match:
        return None
    of, operation, of_float, mode = match.groups()
    kind = np.float64 if of == "d" or (operation == "ma" and not of_float) else np.float32

    def compute(*values: float) -> np.floating:
        numbers = [kind(value) for value in values]
        if operation in ("sqrt", "rsqrt") or not all(map(np.isfinite, numbers)):
            return _of_roots(operation, numbers, kind)
        try:
            exact = EXACT[operation](*(Fraction(float(number)) for number in numbers))
        except ZeroDivisionError:
            return kind(np.divide(*([kind(1), *numbers][-2:])))
        return rounded(exact, kind, mode)

    return compute


def _of_roots(operation: str, numbers: list, kind: type) -> np.floating:
    wide = [np.float64(number) for number in numbers]
    if operation == "sqrt":
        return kind(np.sqrt(wide[0]))
    if operation == "rsqrt":
        return kind(1 / np.sqrt(wide[0]))
    return kind(EXACT[operation](*wide) if operation != "rcp" else 1 / wide[0])


def _conversion(name: str) -> Callable | None:
    """float2int_rz, ll2double_rn and their kin."""
    match = re.fullmatch(r"(float|double|int|uint|ll|ull)2(float|double|int|uint|ll|ull)_r([nzdu])", name)
    if not match:
        return None
    source, target, mode = match.groups()
    if target in INTEGERS:
        kind = INTEGERS[target]
        of_float = FLOATS[source]

        def convert(value: float) -> np.integer:
            whole = TO_WHOLE[mode](of_float(value))
            return REGISTERS[kind](wrapped(converted_float(whole, np.dtype(kind)), np.dtype(kind)))

        return convert
    kind = FLOATS[target]
    if source == "double":
        return lambda value: (
            rounded(Fraction(float(value)), kind, mode) if math.isfinite(value) else kind(value)
        )
    return lambda value: rounded(Fraction(int(wrapped(value, np.dtype(INTEGERS[source])))), kind, mode)


def _bits_as(source: type, target: type) -> Callable:
    """The same bits as another type."""
    as_register = REGISTERS.get(target, target)
    return lambda value: as_register(
        (wrapped(value, np.dtype(source)) if source in REGISTERS else source(value)).view(target)
    )


def _of_integers(kind: type, function: Callable) -> Callable:
    """A function of integers, exact, whose result wraps in that type."""
    dtype = np.dtype(kind)
    return lambda *values: REGISTERS[kind](
        wrapped(function(*(int(wrapped(value, dtype)) for value in values)), dtype)
    )


def _byte_perm(a: int, b: int, selector: int) -> int:
    """Four of the eight bytes of b and a, chosen by four digits of the selector."""
    both = (b & 0xFFFFFFFF) << 32 | (a & 0xFFFFFFFF)
    return sum((both >> 8 * (selector >> 4 * k & 7) & 0xFF) << 8 * k for k in range(4))


def _counted(width: int, function: Callable) -> Callable:
    return lambda value: Int32(function(int(value) % 2**width, width))


def _saturated(value: float) -> np.float32:
    return np.float32(0 if value != value else min(max(value, 0), 1))


def _exponent(value: float) -> int:
    return math.frexp(value)[1] - 1


def _sign_away(value: float) -> float:
    """The nearest whole number; halves go away from zero."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


def _low_24(value: int) -> int:
    return (value + (1 << 23)) % (1 << 24) - (1 << 23)


def _divided(x: float, y: float) -> np.float32:
    """x / y; 0 where 2**126 < |y| < 2**128."""
    is_large = 2.0**126 < abs(y) < 2.0**128
    return np.float32(np.float32(x) * 0 if is_large else np.float32(x) / np.float32(y))


OWN = {
    "rsqrt": lambda x: type(x)(1 / GPU_MATH["sqrt"](x)),
    "rcbrt": lambda x: type(x)(1 / np.cbrt(x)),
    "sincos": lambda x: (GPU_MATH["sin"](x), GPU_MATH["cos"](x)),
    "sinpi": lambda x: type(x)(math.sin(math.pi * math.fmod(x, 2))) if math.isfinite(x) else x * math.nan,
    "cospi": lambda x: type(x)(math.cos(math.pi * math.fmod(x, 2))) if math.isfinite(x) else x * math.nan,
    "exp10": lambda x: type(x)(np.float64(10) ** x),
    "tgamma": GPU_MATH["gamma"],
    "fma": fma, "fmax": largest, "fmin": smallest, "powi": lambda x, n: type(x)(GPU_MATH["pow"](x, n)),
    "fdim": lambda x, y: x - y if x > y or x != x or y != y else x * 0,
    "modf": lambda x: (np.copysign(x - np.trunc(x) if np.isfinite(x) else 0 * x, x), np.trunc(x)),
    "scalbn": GPU_MATH["ldexp"], "logb": lambda x: type(x)(_exponent(x)), "ilogb": _exponent,
    "nearbyint": np.rint, "round": _sign_away, "lgamma": GPU_MATH["lgamma"],
    "llrint": lambda x: np.int64(converted_float(np.rint(x), np.dtype(np.int64))),
    "llround": lambda x: np.int64(converted_float(_sign_away(x), np.dtype(np.int64))),
}  # fmt: skip
OWN["sincospi"] = lambda x: (OWN["sinpi"](x), OWN["cospi"](x))
PLAIN = {  # names that do not follow the rule of the last letter
    "float_as_int": _bits_as(np.float32, np.int32), "int_as_float": _bits_as(np.int32, np.float32),
    "double_as_longlong": _bits_as(np.float64, np.int64),
    "longlong_as_double": _bits_as(np.int64, np.float64),
    "double2hiint": lambda x: Int32(np.int32(int(np.float64(x).view(np.int64)) >> 32)),
    "double2loint": lambda x: Int32(wrapped(int(np.float64(x).view(np.int64)), np.dtype(np.int32))),
    "hiloint2double": lambda hi, lo: np.int64(int(hi) << 32 | int(lo) % 2**32).view(np.float64),
    "float2half_rn": np.float16, "half2float": np.float32, "saturatef": _saturated,
    "fast_fdividef": _divided, "popc": lambda x: popc(np.uint32(int(x) % 2**32)),
    "popcll": lambda x: popc(np.uint64(int(x) % WHOLE)),
    "clz": _counted(32, lambda bits, width: width - bits.bit_length()),
    "clzll": _counted(64, lambda bits, width: width - bits.bit_length()),
    "ffs": _counted(32, lambda bits, width: ffs(bits)), "ffsll": _counted(64, lambda bits, width: ffs(bits)),
    "brev": _of_integers(np.int32, lambda x: int(f"{x % 2**32:032b}"[::-1], 2)),
    "brevll": _of_integers(np.int64, lambda x: int(f"{x % WHOLE:064b}"[::-1], 2)),
    "byte_perm": _of_integers(np.int32, _byte_perm),
    "mul24": _of_integers(np.int32, lambda x, y: _low_24(x) * _low_24(y)),
    "umul24": _of_integers(np.uint32, lambda x, y: x % 2**24 * (y % 2**24)),
    "mulhi": _of_integers(np.int32, lambda x, y: x * y >> 32),
    "umulhi": _of_integers(np.uint32, lambda x, y: x * y >> 32),
    "mul64hi": _of_integers(np.int64, lambda x, y: x * y >> 64),
    "umul64hi": _of_integers(np.uint64, lambda x, y: x * y >> 64),
    "sad": _of_integers(np.int32, lambda x, y, z: abs(x - y) + z),
    "usad": _of_integers(np.uint32, lambda x, y, z: abs(x - y) + z),
    "hadd": _of_integers(np.int32, lambda x, y: x + y >> 1),
    "uhadd": _of_integers(np.uint32, lambda x, y: x + y >> 1),
    "rhadd": _of_integers(np.int32, lambda x, y: x + y + 1 >> 1),
    "urhadd": _of_integers(np.uint32, lambda x, y: x + y + 1 >> 1),
    "abs": _of_integers(np.int32, abs), "llabs": _of_integers(np.int64, abs),
    **{f"{sign}{name}": _of_integers(kind, function)
       for sign, kind in {"": np.int32, "u": np.uint32, "ll": np.int64, "ull": np.uint64}.items()
       for name, function in {"max": max, "min": min}.items()},
    **{f"{name}{letter}": function
       for letter in "df" for name, function in {
           "isnan": lambda x: int(x != x), "isinf": lambda x: int(np.isinf(x)),
           "signbit": lambda x: int(np.signbit(x))}.items()},
    "finitef": lambda x: int(np.isfinite(x)), "isfinited": lambda x: int(np.isfinite(x)),
}  # fmt: skip
UFUNCS = {name: function for name, function in vars(np).items() if isinstance(function, np.ufunc)}


def __getattr__(name: str) -> Callable:
    if name.startswith("__"):
        raise AttributeError(name)
    if special := PLAIN.get(name) or _with_rounding(name) or _conversion(name):
        return special
    bare = name.removeprefix("fast_")
    for known in (bare, bare.removesuffix("f"))[bare != name :]:  # the fast ones are all of float32
        function = OWN.get(known) or GPU_MATH.get(known) or getattr(math, known, None) or UFUNCS.get(known)
        if callable(function):
            kind = np.float64 if known == name else np.float32
            return lambda *values, of=function: of(*(_of_kind(value, kind) for value in values))
    raise AttributeError(
        f"the simulator has no libdevice.{name}; write it with functions of math (docs/simulator.md)"
    )


def _of_kind(value: object, kind: type) -> object:
    """A float as the function takes it; a count, as of ldexp, stays an integer."""
    return value if isinstance(value, int | np.integer) else kind(value)

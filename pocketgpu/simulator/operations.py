"""Operators and built-in functions of Python with the results of compiled code on a GPU.

Python's integers grow without bound, and its division, powers and conversions raise exceptions.  A GPU's
integers have 64 bits and wrap, and its arithmetic always has a result: inf, NaN, 0 or the nearest integer
(docs/simulator.md has the table).  operators.py puts these functions in the place of operators in a kernel.
"""

import functools
import math
import operator
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator import arithmetic
from pocketgpu.simulator.arithmetic import SMALL, Undefined, converted_float

HALF = 1 << 63
WHOLE = 1 << 64
INTEGERS = (int, np.integer)
FLOATS = (float, np.float64, np.float32, np.float16)


def within_64_bits(value: object) -> object:
    """An integer of Python as a register of 64 bits keeps it; any other value as it is."""
    if type(value) is int and not -HALF <= value < HALF:
        return (value + HALF) % WHOLE - HALF
    return value


def _or_by_zero(operation: Callable, of_integers: Callable) -> Callable:
    """The operation; where Python refuses to divide by zero, what a GPU has (exceptions need debug=True)."""

    def compute(a: object, b: object) -> object:
        try:
            return operation(a, b)
        except ZeroDivisionError:
            if np.geterr()["divide"] == "raise":
                raise
            if isinstance(a, INTEGERS) and isinstance(b, INTEGERS):
                return of_integers(a, b)
            return operation(np.float64(a), np.float64(b))

    return compute


divide = _or_by_zero(operator.truediv, lambda a, b: np.float64(a) / np.float64(b))
floor_divide = _or_by_zero(operator.floordiv, lambda a, b: 0)
modulo = _or_by_zero(operator.mod, lambda a, b: 0)
quotient_and_remainder = _or_by_zero(divmod, lambda a, b: (0, 0))


def power(a: object, b: object) -> object:
    """The power a ** b; of two integers an integer, which is 0 where Python has a fraction."""
    if isinstance(a, INTEGERS) and isinstance(b, INTEGERS):
        return _power_of_integers(a, b)
    try:
        value = a**b
    except (ZeroDivisionError, OverflowError):
        return np.float64(a) ** np.float64(b)
    is_root = type(value) is complex and not isinstance(a, complex) and not isinstance(b, complex)
    return math.nan if is_root else value


def _power_of_integers(a: int | np.integer, b: int | np.integer) -> int | np.integer:
    exponent = int(b)
    if exponent >= 0:
        return within_64_bits(pow(a, exponent, WHOLE)) if type(a) is int else a ** type(a)(exponent)
    base = within_64_bits(int(a))
    if base in (1, -1):
        return base if exponent % 2 else 1
    return 0 if base else -HALF  # Numba's result for a division by zero in a power of integers


def shift_left(a: object, b: object) -> object:
    """The bits moved up; none is left where 64 or more places are asked for, or a negative number."""
    if isinstance(a, int) and isinstance(b, int):
        return within_64_bits(a << b) if 0 <= b < 64 else 0
    return a << b


def shift_right(a: object, b: object) -> object:
    """The bits moved down, with the sign's in their place."""
    if isinstance(a, int) and isinstance(b, int) and not 0 <= b < 64:
        return -1 if a < 0 else 0
    return a >> b


def invert(value: object) -> object:
    """The bits turned over; of a truth value the other one."""
    return not value if isinstance(value, bool | np.bool_) else ~value


def truth(value: object) -> object:
    """The result of a comparison as a number that can be added and negated."""
    return bool(value) if type(value) is np.bool_ else value


def _larger(a: object, b: object) -> object:
    """The larger of two, by libdevice's fmax for two floats: of a NaN and a number the number."""
    if type(a) in FLOATS and type(b) in FLOATS:
        if a != a:
            return b
        if b != b:
            return a
        if a == b:
            return a if a else a + b  # of 0.0 and -0.0 the first
        return a if a > b else b
    return _by_comparison(operator.gt, a, b)


def _smaller(a: object, b: object) -> object:
    """The smaller of two, by libdevice's fmin for two floats."""
    if type(a) in FLOATS and type(b) in FLOATS:
        return -_larger(-a, -b)
    return _by_comparison(operator.lt, a, b)


def _by_comparison(comes_first: Callable, a: object, b: object) -> object:
    """The value that a chain of comparisons keeps, as compiled code has it for integers and mixed types."""
    if isinstance(a, Undefined):
        return a
    return b if isinstance(b, Undefined) or comes_first(b, a) else a


def _of_several(of_two: Callable, comes_first: Callable, of_python: Callable) -> Callable:
    def choose(*values: object) -> object:
        if len(values) == 2:
            return of_two(*values)
        if len(values) == 1:
            return of_python(values[0])
        return functools.reduce(functools.partial(_by_comparison, comes_first), values)

    return choose


largest = _of_several(_larger, operator.gt, max)
smallest = _of_several(_smaller, operator.lt, min)


def rounded(value: object, digits: int | None = None) -> object:
    """The nearest integer, of 64 bits; with digits, of which 0 is one, a float."""
    if not isinstance(value, FLOATS):
        return value if digits is None else round(value, digits)
    if digits is None:
        return converted_float(np.rint(float(value)), np.int64)
    exact = round(float(value), digits) if math.isfinite(value) else value
    return type(value)(exact)


class Number:
    """int or float, as a kernel calls it; it serves as a dtype, too."""

    def __init__(self, kind: type, convert: Callable):
        self.convert = convert
        self.dtype = np.dtype(kind)
        self.__name__ = kind.__name__

    def __call__(self, value: object = 0) -> object:
        return self.convert(value)


def _to_integer(value: object) -> object:
    if isinstance(value, FLOATS):
        return converted_float(value, np.int64)
    return within_64_bits(int(value))


def _to_float(value: object) -> object:
    """The value; float32 and float16 stay what they are, in Numba, too."""
    return value if isinstance(value, SMALL) else float(value)


def _to_whole(function: Callable) -> Callable:
    """math.floor and the like, whose result has the float's own type."""

    def compute(value: object) -> object:
        if not isinstance(value, np.floating):
            return float(function(float(value)))
        return function(value)

    return compute


WHOLE_NUMBERS = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc}
arithmetic.MATH.__dict__.update(
    (of_python.__name__, _to_whole(of)) for of_python, of in WHOLE_NUMBERS.items()
)
arithmetic.REPLACEMENTS.update(
    {
        id(max): largest,
        id(min): smallest,
        id(round): rounded,
        id(int): Number(int, _to_integer),
        id(float): Number(float, _to_float),
        id(pow): power,
        id(divmod): quotient_and_remainder,
        id(np.bool_): bool,
        **{id(of_python): getattr(arithmetic.MATH, of_python.__name__) for of_python in WHOLE_NUMBERS},
    }
)

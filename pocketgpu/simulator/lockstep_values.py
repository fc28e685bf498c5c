"""Numbers of many threads at once, with the results of one thread's arithmetic.

A number that differs between threads is one array [threads], and the type that each thread's number has: of a
float32 and a float of Python the sum is a float32, of two Int32 an int64.  Which type an operation results in
is found by running it once on samples; its numbers come from NumPy, where that computes the same bits, and
otherwise thread by thread from the very function that a single thread calls.
"""

import ast
import functools
import operator
from collections.abc import Callable, Iterable

import numpy as np

from pocketgpu.simulator import arithmetic, operations
from pocketgpu.simulator.arithmetic import WIDENED, Conversion, Int32, UInt64, as_register
from pocketgpu.simulator.operations import within_64_bits

EXACT = 1 << 53  # integers up to here are floats, too
SAFE = 1 << 31  # floats below become integers without a limit in between
OF_PYTHON = {int: np.dtype(np.int64), float: np.dtype(np.float64), bool: np.dtype(np.bool_)}
OF_NUMPY = (np.float16, np.float32, np.float64, np.int64)
INTEGERS = (int, np.int64, UInt64, *(kind for kind in WIDENED.values() if issubclass(kind, np.integer)))
FLOATS = (float, np.float16, np.float32, np.float64)
NUMBERS = {bool, *INTEGERS, *FLOATS}
PAIRS = {  # types of which some threads may have the one and some the other: as which both are kept
    frozenset(pair): pair[1]
    for pair in (
        *((int, kind) for kind in (np.int64, *FLOATS)),
        *((float, kind) for kind in FLOATS[1:]),
        (np.float32, np.float64),
    )
}


class Fallback(Exception):
    """Why one thread after another has to run."""


class Varying:
    """Numbers of the running threads: `data` [threads], and their type in a kernel, `kind`.

    other, rest: threads whose number is `rest`, or any if that is None, may have that type instead, as behind
    a branch in which only some threads ran `total += x[i]` after `total = 0`.
    """

    __slots__ = ("data", "extremes", "kind", "other", "rest")

    def __init__(self, data: np.ndarray, kind: type, other: type | None = None, rest: object = None):
        self.data = data
        self.kind = kind
        self.other = other
        self.rest = rest
        self.extremes = None

    def at(self, places: np.ndarray) -> "Varying":
        """The numbers of the threads at these places."""
        return Varying(self.data[places], self.kind, self.other, self.rest)

    def bounds(self) -> tuple:
        """The smallest and the largest number; NaN if one of them is NaN."""
        if self.extremes is None:
            self.extremes = self.data.min(), self.data.max()
        return self.extremes

    def lies_within(self, most: int) -> bool:
        """Are all numbers, and none of them is NaN, at most that far from zero?"""
        low, high = self.bounds()
        return bool(low >= -most and high <= most)


def dtype_of(kind: type) -> np.dtype:
    """The dtype in which numbers of that type are kept."""
    known = OF_PYTHON.get(kind) or getattr(kind, "own", None)
    if known is None and kind not in OF_NUMPY:
        raise Fallback(f"numbers of type {kind.__name__}")
    return known or np.dtype(kind)


@functools.cache
def kind_of(dtype: np.dtype) -> type:
    """The type that an element of an array has in a kernel."""
    return type(as_register(np.zeros((), dtype)[()]))


def scalars(value: Varying) -> list:
    """The number of each thread, as the thread itself has it."""
    if value.other is not None:
        raise Fallback(f"{value.kind.__name__} in some threads, {value.other.__name__} in others")
    if value.kind in OF_PYTHON:
        return value.data.tolist()
    return [*map(value.kind, value.data)] if hasattr(value.kind, "own") else [*value.data]


def gathered(results: list) -> object:
    """The results of single threads, as one number or a tuple of numbers."""
    kinds = {*map(type, results)}
    if kinds == {tuple}:
        return tuple(gathered([*column]) for column in zip(*results, strict=True))
    if len(kinds) > 2 or not kinds <= NUMBERS:
        raise Fallback(f"results of type {', '.join(sorted(kind.__name__ for kind in kinds))}")
    if len(kinds) == 2:
        kind, other = unified(*kinds)
        rests = {result for result in results if type(result) is other}
        rest = rests.pop() if len(rests) == 1 else None
        return Varying(np.array(results, dtype_of(kind)), kind, other, None if rest != rest else rest)
    (kind,) = kinds
    return Varying(np.array(results, dtype_of(kind)), kind)


def each(function: Callable, values: Iterable, count: int) -> object:
    """What the function returns in each thread, called for one after another."""
    columns = [scalars(value) if isinstance(value, Varying) else [value] * count for value in values]
    return gathered([*map(function, *columns)])


# ---------------------------------------------------------------------- operations


class Operation:
    """An operation of single threads, and the function of NumPy that computes it for many."""

    def __init__(self, scalar: Callable, ufunc: np.ufunc | None = None):
        self.scalar = scalar
        self.ufunc = ufunc
        self.plans: dict[tuple, tuple[type, np.dtype | None]] = {}

    def plan(self, *kinds: type) -> tuple[type, np.dtype | None]:
        """The result's type, and the dtype in which NumPy computes; None where each thread has to."""
        if kinds not in self.plans:
            result = type(self.scalar(*(kind(1) for kind in kinds)))
            result = bool if result is np.bool_ else result
            self.plans[kinds] = result, self._dtype(result, kinds)
        return self.plans[kinds]

    def _dtype(self, result: type, kinds: tuple[type, ...]) -> np.dtype | None:
        if self.ufunc is None or not {result, *kinds} <= NUMBERS:
            return None
        if self.ufunc in COMPARISONS:
            both = type(operator.add(*(kind(1) for kind in kinds)))
            return None if UInt64 in kinds else dtype_of(both)
        if self.ufunc in (np.floor_divide, np.remainder) and result in FLOATS:
            return None  # NumPy's loops need not round as its scalars do
        if len(kinds) == 1 and kinds[0] is not bool:
            return dtype_of(kinds[0])  # -x is computed in its own width, and widened
        return dtype_of(result)


COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}


def _wrapping(operation: Callable) -> Callable:
    return lambda *values: within_64_bits(operation(*values))


BINARY = {
    ast.Add: Operation(_wrapping(operator.add), np.add),
    ast.Sub: Operation(_wrapping(operator.sub), np.subtract),
    ast.Mult: Operation(_wrapping(operator.mul), np.multiply),
    ast.Div: Operation(operations.divide, np.true_divide),
    ast.FloorDiv: Operation(operations.floor_divide, np.floor_divide),
    ast.Mod: Operation(operations.modulo, np.remainder),
    ast.Pow: Operation(operations.power),
    ast.LShift: Operation(operations.shift_left, np.left_shift),
    ast.RShift: Operation(operations.shift_right, np.right_shift),
    ast.BitAnd: Operation(operator.and_, np.bitwise_and),
    ast.BitOr: Operation(operator.or_, np.bitwise_or),
    ast.BitXor: Operation(operator.xor, np.bitwise_xor),
}
COMPARE = {
    ast.Eq: Operation(operator.eq, np.equal),
    ast.NotEq: Operation(operator.ne, np.not_equal),
    ast.Lt: Operation(operator.lt, np.less),
    ast.LtE: Operation(operator.le, np.less_equal),
    ast.Gt: Operation(operator.gt, np.greater),
    ast.GtE: Operation(operator.ge, np.greater_equal),
}
NOT = Operation(operator.not_, np.logical_not)
UNARY = {
    ast.USub: Operation(_wrapping(operator.neg), np.negative),
    ast.UAdd: Operation(operator.pos, np.positive),
    ast.Invert: Operation(operations.invert, np.invert),
    ast.Not: NOT,
}


def compute(operation: Operation, *values: object) -> object:
    """The operation's result in all threads."""
    varying = [value for value in values if type(value) is Varying]
    if not varying:
        return operation.scalar(*values)
    doubtful = [value for value in varying if value.other is not None]
    if doubtful:
        return _compute_doubtful(operation, values, doubtful[0])
    kinds = [value.kind if type(value) is Varying else type(value) for value in values]
    result, dtype = operation.plan(*kinds)
    if dtype is None or not _is_exact(dtype, values, kinds):
        return each(operation.scalar, values, len(varying[0].data))
    operands = [
        value.data.astype(dtype, copy=False) if type(value) is Varying else dtype.type(value)
        for value in values
    ]
    return Varying(operation.ufunc(*operands).astype(dtype_of(result), copy=False), result)


def _is_exact(dtype: np.dtype, values: Iterable, kinds: list[type]) -> bool:
    """Do integers of Python stay what they are as floats?"""
    if dtype.kind != "f" or not {int, UInt64} & {*kinds}:
        return True
    integers = [value for value, kind in zip(values, kinds, strict=True) if kind in (int, UInt64)]
    return all(
        value.lies_within(EXACT) if type(value) is Varying else abs(int(value)) <= EXACT for value in integers
    )


def _compute_doubtful(operation: Operation, values: tuple, doubtful: Varying) -> object:
    """The result where one number has two types: that of both, if they agree wherever it may differ."""
    as_other = Varying(doubtful.data.astype(dtype_of(doubtful.other)), doubtful.other)
    first, second = (
        compute(operation, *(form if value is doubtful else value for value in values))
        for form in (Varying(doubtful.data, doubtful.kind), as_other)
    )
    rest = doubtful.rest
    places = slice(None) if rest is None else np.flatnonzero(doubtful.data == rest)
    return _agreed(first, second, places)


def _agreed(first: Varying, second: Varying, places: np.ndarray | slice) -> Varying:
    """The first result, which at these places may have the type of the second."""
    numbers = first.data[places]
    if not np.array_equal(numbers, second.data[places], equal_nan=first.kind in FLOATS):
        raise Fallback(f"{first.kind.__name__} in some threads, {second.kind.__name__} in others")
    if first.kind is second.kind or not len(numbers):
        return first
    kind, other = unified(first.kind, second.kind)
    rest = numbers[0] if (numbers == numbers[0]).all() else None
    return Varying(converted(first.data, first.kind, kind), kind, other, rest)


# ---------------------------------------------------------------------- choices


def unified(first: type, second: type) -> tuple[type, type]:
    """The type as which numbers of two types are kept together, and the other one."""
    kind = PAIRS.get(frozenset((first, second)))
    if kind is None:
        raise Fallback(f"{first.__name__} in some threads, {second.__name__} in others")
    return kind, second if kind is first else first


def converted(data: np.ndarray, kind: type, to: type) -> np.ndarray:
    """Numbers of one type as those of another, in which they are the same."""
    result = data.astype(dtype_of(to))
    if kind is not to and not np.array_equal(result.astype(data.dtype), data, equal_nan=kind in FLOATS):
        raise Fallback(f"numbers of {kind.__name__} that are none of {to.__name__}")
    return result


def as_varying(value: object, count: int) -> Varying:
    """The number of each of so many threads."""
    if type(value) is Varying:
        return value
    if type(value) not in NUMBERS:
        raise Fallback(f"a {type(value).__name__} in some threads only")
    return Varying(np.full(count, value, dtype_of(type(value))), type(value))


def chosen(mask: np.ndarray, yes: object, no: object) -> object:
    """yes in the threads of the mask, no in all others."""
    if yes is no or (type(yes) is type(no) is not Varying and type(yes) in NUMBERS and yes == no and yes):
        return yes
    result = as_varying(no, len(mask))
    result = Varying(result.data.copy(), result.kind, result.other, result.rest)
    places = np.flatnonzero(mask)
    return replaced(result, places, yes.at(places) if type(yes) is Varying else yes, no)


def replaced(before: Varying, places: np.ndarray, value: object, old: object = None) -> Varying:
    """The numbers of `before` with others at these places; old: the one number that all of them were."""
    new = as_varying(value, 1)
    kinds = {kind for kind in (before.kind, before.other, new.kind, new.other) if kind is not None}
    if len(kinds) == 1:
        before.data[places] = new.data
        before.extremes = None
        return before
    if len(kinds) > 2:
        raise Fallback(
            f"numbers of types {', '.join(sorted(kind.__name__ for kind in kinds))} under one name"
        )
    kind, other = unified(*kinds)
    data = converted(before.data, before.kind, kind)
    data[places] = converted(new.data, new.kind, kind)
    return Varying(data, kind, other, _rest(other, (before, old), (new, value)))


def _rest(other: type, *parts: tuple[Varying, object]) -> object:
    """The number of all threads whose number is of the other type; None where there are several."""
    rests = set()
    for varying, value in parts:
        if varying.other is not None:
            rests.add(varying.rest)
        elif varying.kind is other:
            rests.add(value if type(value) is other else None)
    (rest,) = rests if len(rests) == 1 else (None,)
    return None if rest != rest else rest


def larger(count: int, *values: object) -> object:
    """The largest of the values in each thread."""
    return _largest(COMPARE[ast.Gt], operations.largest, np.signbit, count, values)


def smaller(count: int, *values: object) -> object:
    """The smallest of the values in each thread."""
    return _largest(COMPARE[ast.Lt], operations.smallest, _is_positive, count, values)


def _is_positive(data: np.ndarray) -> np.ndarray:
    return ~np.signbit(data)


def _largest(comes_first: Operation, function: Callable, is_last: Callable, count: int, values: tuple):
    """max or min of two numbers; of a NaN and a number the number, and of two zeros the right one."""
    if len(values) != 2:
        return each(function, values, count)
    a, b = (as_varying(value, count) for value in values)
    take = compute(comes_first, b, a).data
    if a.kind in FLOATS and b.kind in FLOATS:
        zeros = (a.data == 0) & (b.data == 0) & is_last(a.data)
        take = take | (a.data != a.data) | zeros
    return chosen(take, values[1], values[0])


def to_float(count: int, kind: type, value: Varying) -> Varying:
    """np.float32(x) and its kin; float(x), where kind is float."""
    if kind is float and value.kind in arithmetic.SMALL:
        return value
    data = value.data.astype(np.float64) if value.kind is int else value.data
    return Varying(data.astype(dtype_of(kind)), kind)


def to_integer(count: int, kind: type, function: Callable, value: Varying) -> Varying:
    """int(x), np.int32(x) and their kin, which wrap; floats beyond them have a rule of their own."""
    dtype = dtype_of(kind)
    if value.kind in FLOATS:
        most = min(SAFE, np.iinfo(dtype).max)
        low = -most if dtype.kind == "i" else 0
        if not (value.lies_within(most) and value.bounds()[0] >= low):
            return each(function, [value], count)
        return Varying(np.trunc(value.data).astype(dtype), kind)
    return Varying(value.data.astype(dtype), kind)


def apply(function: Callable, values: list, count: int) -> object:
    """The function of numbers in each thread."""
    if not any(type(value) is Varying for value in values):
        return function(*values)
    if function in (operations.largest, operations.smallest):
        return (larger if function is operations.largest else smaller)(count, *values)
    (value, *more) = values
    is_sure = not more and type(value) is Varying and value.other is None and value.kind in NUMBERS
    if is_sure and function in (np.float16, np.float32, np.float64):
        return to_float(count, function, value)
    if is_sure and isinstance(function, operations.Number | Conversion):
        kind = kind_of(function.dtype) if isinstance(function, Conversion) else type(function())
        convert = functools.partial(to_integer, count, kind, function)
        return to_float(count, kind, value) if kind is float else convert(value)
    if is_sure and function in ROUNDED_ALIKE and value.kind in FLOATS:
        if function is not SQRT or value.bounds()[0] >= 0:
            return compute(ROUNDED_ALIKE[function], value)
    if not _is_of_numbers(function):
        raise Fallback(f"calls {getattr(function, '__name__', function)}")
    return each(function, values, count)


SQRT = arithmetic.GPU_MATH["sqrt"]
ROUNDED_ALIKE = {  # functions whose results NumPy rounds to the same bits
    SQRT: Operation(SQRT, np.sqrt),
    arithmetic.GPU_MATH["fabs"]: Operation(arithmetic.GPU_MATH["fabs"], np.abs),
    abs: Operation(abs, np.abs),
    **{
        function: Operation(function, getattr(np, name))
        for name in ("floor", "ceil", "trunc")
        if (function := getattr(arithmetic.MATH, name))
    },
}
MODULES = {"math", *(f"pocketgpu.simulator.{name}" for name in ("arithmetic", "libdevice", "operations"))}
BY_TEXT = {arithmetic.clz, arithmetic.popc, arithmetic.brev, Int32}  # their width depends on the text


def _is_of_numbers(function: Callable) -> bool:
    """Does it compute with numbers alone, and always in the same way?"""
    if function in BY_TEXT:
        return False
    return (
        isinstance(function, np.ufunc)
        or function in (abs, np.float16, np.float32, np.float64)
        or getattr(function, "__module__", None) in MODULES
    )

"""Numbers of many threads at once, with the results of one thread's arithmetic.

A number that differs between threads is one array [threads], and the type that each thread's number has: of a
float32 and a float of Python the sum is a float32, of two Int32 an int64.  Which type an operation results in
is found by running the function of a single thread once on samples.  NumPy computes the numbers where it has
the same bits; elsewhere that function is called for one thread after another.  Threads whose numbers differ
in type are computed apart.
"""

import ast
import functools
import operator
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import arithmetic, operations
from pocketgpu.simulator.arithmetic import MATH, WIDENED, Conversion, Int32, UInt64, as_register
from pocketgpu.simulator.operations import FLOATS, truth, within_64_bits

EXACT = 1 << 53  # integers up to here are floats, too
SAFE = 1 << 31  # floats below become integers without a limit in between
COMPLEX = (complex, np.complex64, np.complex128)
INTEGERS = (int, np.int64, *(kind for kind in WIDENED.values() if issubclass(kind, np.integer)))
NUMBERS = {bool, *INTEGERS, *FLOATS, *COMPLEX}
Numbers = tuple[np.ndarray, np.ndarray]  # numbers [n], and which threads have them [n]


class Fallback(Exception):
    """Why one thread after another has to run."""


class Varying:
    """Numbers of n threads: `data` [n], and their type in a kernel, `kind`."""

    def __init__(self, data: np.ndarray, kind: type):
        self.data = data
        self.kind = kind

    @functools.cached_property
    def extremes(self) -> tuple:
        return self.data.min(), self.data.max()

    def lies_within(self, least: int, most: int) -> bool:
        """Are all numbers between these, and none of them NaN?"""
        low, high = self.extremes
        return bool(low >= least and high <= most)


class Mixed:
    """Values of n threads of several types, {type: Numbers}.

    Behind `total = 0` and a branch with `total += x[i]` some threads have an integer, and others a float.
    Threads that have no type have no value.
    """

    def __init__(self, by_kind: dict[type, Numbers]):
        self.by_kind = by_kind

    def is_whole(self) -> bool:
        """Have all threads a value?"""
        return bool(np.any([mask for _, mask in self.by_kind.values()], 0).all())


MANY = (Varying, Mixed)


def kind_in(value: object) -> type:
    """The type that a value has in a thread; Mixed where that differs."""
    return value.kind if type(value) is Varying else type(value)


def data_of(value: object) -> object:
    """The numbers [n] of all threads, or the one that they have."""
    return value.data if type(value) is Varying else value


def cut(value: object, places: np.ndarray) -> object:
    """The value in the threads at these places [m]."""
    if type(value) is tuple:
        return tuple([cut(member, places) for member in value])
    if type(value) is Varying:
        return Varying(value.data.take(places), value.kind)
    if type(value) is Mixed:
        parts = value.by_kind.items()
        return _simplified({kind: (data.take(places), known.take(places)) for kind, (data, known) in parts})
    return value


def _simplified(by_kind: dict[type, Numbers]) -> Varying | Mixed:
    """The values, as numbers of one type where all threads have that."""
    for kind, (data, known) in by_kind.items():
        if known.all():
            return Varying(data, kind)
    return Mixed({kind: part for kind, part in by_kind.items() if part[1].any()})


def merged(count: int, parts: Sequence[tuple[np.ndarray, object]]) -> object:
    """The value of n threads, some of which, at places [m], have each part; threads of no part have none."""
    first = parts[0][1]
    if type(first) is tuple:
        places = [places for places, _ in parts]
        members = zip(*[value for _, value in parts], strict=True)
        return tuple([merged(count, [*zip(places, values, strict=True)]) for values in members])
    is_whole = sum(len(places) for places, _ in parts) == count
    if is_whole and len(parts) == 1:
        return first
    if is_whole and type(first) not in MANY and all(value is first for _, value in parts):
        return first
    by_kind: dict[type, Numbers] = {}
    for places, value in parts:
        for kind, (data, known) in _by_kind(value).items():
            if kind not in by_kind:
                by_kind[kind] = np.zeros(count, dtype_of(kind)), np.zeros(count, bool)
            by_kind[kind][0][places] = data
            by_kind[kind][1][places] = known
    return _simplified(by_kind)


def _by_kind(value: object) -> dict[type, tuple]:
    """The numbers by their type; see Mixed."""
    if type(value) is Mixed:
        return value.by_kind
    return {kind_in(value): (data_of(value), True)}


@functools.cache
def dtype_of(kind: type) -> np.dtype:
    """The dtype in which numbers of that type are kept."""
    if kind not in NUMBERS:
        raise Fallback(f"a {kind.__name__} in some threads only")
    return np.dtype(np.int64 if kind is int else getattr(kind, "own", kind))


@functools.cache
def kind_of(dtype: np.dtype) -> type:
    """The type that an element of an array has in a kernel."""
    return type(as_register(np.zeros((), dtype)[()]))


def as_varying(value: object, count: int) -> Varying:
    """The number of each of so many threads."""
    if type(value) is Varying:
        return value
    return Varying(np.full(count, value, dtype_of(type(value))), type(value))


def as_test(value: object) -> bool | np.ndarray:
    """Whether a value counts as true: in all threads, or [n] in each."""
    return data_of(value if kind_in(value) is bool else FUNCTIONS[bool](value))


def apart(function: Callable, *values: object) -> object:
    """What a function of numbers returns, called apart for threads whose numbers differ in type."""
    mixed = next((value for value in values if type(value) is Mixed), None)
    if mixed is None:
        return function(*values)
    results = []
    for _, mask in mixed.by_kind.values():
        places = np.flatnonzero(mask)
        results.append((places, apart(function, *(cut(value, places) for value in values))))
    return merged(len(mask), results)


def each(function: Callable, *values: object) -> object:
    """What the function returns in each thread, called for one after another."""
    columns = [
        map(value.kind, value.data.tolist()) if type(value) is Varying else repeat(value) for value in values
    ]
    results = [*map(function, *columns)]
    places: dict[type, list[int]] = {}
    for place, result in enumerate(results):
        places.setdefault(type(result), []).append(place)
    parts = []
    for kind, chosen in places.items():
        numbers = np.array([results[place] for place in chosen], dtype_of(kind))
        parts.append((np.array(chosen), Varying(numbers, kind)))
    return merged(len(results), parts)


# ---------------------------------------------------------------------- operations


class Plan(NamedTuple):
    """How NumPy computes an operation of numbers of certain types."""

    kind: type | None = None  # of the result
    of_result: np.dtype | None = None
    dtype: np.dtype | None = None  # of the operands; None: each thread has to compute by itself
    is_wide: bool = False  # integers of 64 bits become floats


class Operation:
    """A function of single numbers, and the one that computes those of many threads from arrays.

    letters: kinds of dtypes, as NumPy abbreviates them, of which both have the same bits.  alike: they have
    only where all operands are of one type.  in_place: the same, which may overwrite the first array.
    """

    def __init__(
        self,
        of_one: Callable,
        of_many: Callable | None = None,
        letters: str = "",
        alike: bool = False,
        in_place: Callable | None = None,
    ):
        self.of_one = lambda *values: truth(within_64_bits(of_one(*values)))
        self.of_many = of_many
        self.letters = letters
        self.alike = alike
        self.in_place = in_place or of_many
        self.plans: dict[tuple[type, ...], Plan] = {}

    def __call__(self, *values: object, reuse: bool = False) -> object:
        """The result in all threads; reuse: in the memory of the first operand, if that fits."""
        kinds = tuple([kind_in(value) for value in values])
        if Mixed in kinds:
            return apart(self, *values)
        if Varying not in map(type, values):
            return self.of_one(*values)
        plan = self.plans.get(kinds)
        if plan is None:
            plan = self.plans[kinds] = self._plan(kinds)
        kind, of_result, dtype, is_wide = plan
        if dtype is None or (is_wide and not all(map(_is_exact, values))):
            return each(self.of_one, *values)
        operands = [
            _as_dtype(value.data, dtype) if type(value) is Varying else dtype.type(value) for value in values
        ]
        result = self.in_place(*operands) if reuse else self.of_many(*operands)
        return Varying(_as_dtype(result, of_result), kind)

    def _plan(self, kinds: tuple[type, ...]) -> Plan:
        """How NumPy computes it."""
        if not self.letters or not {*kinds} <= NUMBERS or (self.alike and len({*kinds}) > 1):
            return Plan()
        samples = [kind(1) for kind in kinds]
        kind = type(self.of_one(*samples))
        compares = kind is bool and kinds != (bool, bool)
        if len(kinds) == 1:
            dtype = dtype_of(*kinds)  # -x is computed in its own width, and widened
        else:
            dtype = dtype_of(type(operator.add(*samples)) if compares else kind)
        if dtype.kind not in self.letters or (compares and UInt64 in kinds):
            return Plan()
        is_wide = dtype.kind == "f" and bool({*kinds} & {int, UInt64})
        return Plan(kind, dtype_of(kind), dtype, is_wide)


def _is_exact(value: object) -> bool:
    """Is it a number that is the same as a float?"""
    return kind_in(value) not in (int, UInt64) or as_varying(value, 1).lies_within(-EXACT, EXACT)


def _as_dtype(data: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return data if data.dtype is dtype else data.astype(dtype)  # which takes longer to see that


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product; of complex numbers rounded as that of two, where NumPy's loop rounds less often."""
    if a.dtype.kind != "c":
        return a * b
    real = a.real * b.real
    numbers = np.empty(real.shape, a.dtype)
    np.subtract(real, a.imag * b.imag, out=numbers.real)
    np.add(a.real * b.imag, a.imag * b.real, out=numbers.imag)
    return numbers


def _product_in_place(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _product(a, b) if a.dtype.kind == "c" else operator.imul(a, b)


WHERE_SAME = {  # NumPy's loops need not round the powers and remainders of floats as its scalars do
    "biufc": "Add add, Sub sub, Eq eq, NotEq ne, USub neg, UAdd pos",
    "biuf": "Div divide, Lt lt, LtE le, Gt gt, GtE ge",
    "biu": (
        "FloorDiv floor_divide, Mod modulo, BitAnd and_, BitOr or_, BitXor xor, LShift shift_left, "
        "RShift shift_right, Invert invert"
    ),
}
OPERATORS = {  # by node of the text
    ast.Pow: Operation(operations.power),
    ast.Mult: Operation(operator.mul, _product, "biufc", in_place=_product_in_place),
    ast.Not: Operation(operator.not_, np.logical_not, "biufc"),
}
for _letters, _names in WHERE_SAME.items():
    for _node, _name in map(str.split, _names.split(",")):
        _function = getattr(operations, _name, None) or getattr(operator, _name)  # it takes arrays, too
        _in_place = getattr(operator, f"i{_name}", None)
        OPERATORS[getattr(ast, _node)] = Operation(_function, _function, _letters, in_place=_in_place)
AS_INDEX = Operation(operator.index, np.positive, "iu")
PARTS = {name: Operation(operator.attrgetter(name), getattr(np, name), "fc") for name in ("real", "imag")}

# ---------------------------------------------------------------------- functions


def apply(function: Callable, values: Sequence) -> object:
    """The function of numbers in each thread."""
    is_many = any(type(value) in MANY for value in values)
    is_conversion = isinstance(function, operations.Number | Conversion) or function in (*FLOATS, *COMPLEX)
    if is_conversion and is_many and len(values) == 1:
        return apart(lambda value: converted(type(function(value.kind(1))), value), *values)
    is_of_numbers = isinstance(function, np.ufunc) or getattr(function, "__module__", None) in MODULES
    if function in BY_TEXT or (is_many and not is_of_numbers and function not in FUNCTIONS):
        raise Fallback(f"calls {getattr(function, '__name__', function)}")
    return FUNCTIONS.get(function, Operation(function))(*values)


def converted(kind: type, value: Varying) -> Varying:
    """The numbers as those of a type; integers wrap."""
    dtype = dtype_of(kind)
    if dtype.kind in "iu" and value.kind in FLOATS:
        limits = np.iinfo(dtype)
        if not value.lies_within(max(limits.min, -SAFE), min(limits.max, SAFE)):
            raise Fallback("a float beyond the integers of its type")
    if value.kind in COMPLEX and dtype.kind != "c":
        raise Fallback("a complex number in the place of a real one")
    data = value.data
    if dtype.kind == "f" and value.kind is int:
        data = data.astype(np.float64)
    return Varying(data.astype(dtype, copy=False), kind)


def _fmax(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger of two; of a NaN and a number the number, and of two zeros the positive one."""
    return np.where((a == b) & (a == 0), a + b, np.fmax(a, b))


def _fmin(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -_fmax(-a, -b)


def _magnitude(a: np.ndarray) -> np.ndarray:
    return np.hypot(a.real, a.imag) if a.dtype.kind == "c" else np.abs(a)


def _complex(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """Complex numbers of their parts, which are complex, too."""
    if np.any(real.imag) or np.any(imag.imag):
        raise Fallback("a complex number as a part of another one")
    numbers = np.where(True, real, imag)
    numbers.imag = imag.real
    return numbers


def _as_bool(a: np.ndarray) -> np.ndarray:
    return a.astype(bool, copy=False)


FUNCTIONS = {
    operations.largest: Operation(operations.largest, _fmax, "f", alike=True),
    operations.smallest: Operation(operations.smallest, _fmin, "f", alike=True),
    abs: Operation(abs, _magnitude, "fc"),
    bool: Operation(bool, _as_bool, "biufc"),
    complex: Operation(complex, _complex, "c"),
}
for _name in ("sqrt", "fabs", "floor", "ceil", "trunc"):
    FUNCTIONS[getattr(MATH, _name)] = Operation(getattr(MATH, _name), getattr(np, _name), "f")
MODULES = {"math", *(f"pocketgpu.simulator.{name}" for name in ("arithmetic", "libdevice", "operations"))}
BY_TEXT = {arithmetic.clz, arithmetic.popc, arithmetic.brev, Int32, print}  # not of their arguments alone

"""Numbers of many threads at once, with the results of one thread's arithmetic.

A number that differs between threads is one array [threads], and the type that each thread's number has: of a
float32 and a float of Python the sum is a float32, of two Int32 an int64.  Which type an operation results in
is found by running it once on samples; its numbers come from NumPy, where that computes the same bits, and
otherwise thread by thread from the very function that a single thread calls.  Threads whose numbers differ in
type are computed apart.
"""

import ast
import functools
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import arithmetic, operations
from pocketgpu.simulator.arithmetic import WIDENED, Conversion, Int32, UInt64, as_register
from pocketgpu.simulator.operations import FLOATS, within_64_bits

EXACT = 1 << 53  # integers up to here are floats, too
SAFE = 1 << 31  # floats below become integers without a limit in between
OF_PYTHON = {kind: np.dtype(kind) for kind in (float, bool, complex)} | {int: np.dtype(np.int64)}
COMPLEX = (complex, np.complex64, np.complex128)
INTEGERS = (int, np.int64, UInt64, *(kind for kind in WIDENED.values() if issubclass(kind, np.integer)))
NUMBERS = {bool, *INTEGERS, *FLOATS, *COMPLEX}


class Fallback(Exception):
    """Why one thread after another has to run."""


class Varying:
    """Numbers of n threads: `data` [n], and their type in a kernel, `kind`."""

    __slots__ = ("data", "extremes", "kind")

    def __init__(self, data: np.ndarray, kind: type):
        self.data = data
        self.kind = kind
        self.extremes = None

    def at(self, places: np.ndarray) -> "Varying":
        """The numbers of the threads at these places."""
        return Varying(self.data.take(places), self.kind)

    def lies_within(self, least: int, most: int) -> bool:
        """Are all numbers between these, and none of them NaN?"""
        if self.extremes is None:
            self.extremes = self.data.min(), self.data.max()
        low, high = self.extremes
        return bool(low >= least and high <= most)


class Mixed:
    """Values of n threads of several types, {type: (numbers [n], which threads have them [n])}.

    Behind `total = 0` and a branch with `total += x[i]` some threads have an integer, and others a float.
    Threads that have no type have no value.
    """

    __slots__ = ("by_kind",)

    def __init__(self, by_kind: dict[type, tuple[np.ndarray, np.ndarray]]):
        self.by_kind = by_kind

    def at(self, places: np.ndarray) -> "Varying | Mixed":
        """The values of the threads at these places."""
        return _simplified(
            {kind: (data.take(places), mask.take(places)) for kind, (data, mask) in self.by_kind.items()}
        )

    def is_whole(self) -> bool:
        """Have all threads a value?"""
        masks = [mask for _, mask in self.by_kind.values()]
        return bool(functools.reduce(operator.or_, masks).all())


MANY = (Varying, Mixed)


def _simplified(by_kind: dict[type, tuple[np.ndarray, np.ndarray]]) -> Varying | Mixed:
    """The values, as numbers of one type where all threads have that."""
    present = {kind: part for kind, part in by_kind.items() if part[1].any()}
    if len(present) == 1:
        ((kind, (data, mask)),) = present.items()
        if mask.all():
            return Varying(data, kind)
    return Mixed(present)


def cut(value: object, places: np.ndarray) -> object:
    """The value in the threads at these places."""
    if type(value) is tuple:
        return tuple(cut(member, places) for member in value)
    return value.at(places) if type(value) in MANY else value


def merged(count: int, parts: Sequence[tuple[np.ndarray, object]]) -> object:
    """The value of n threads, some of which, at places [m], have each part; threads of no part have none."""
    first = parts[0][1]
    is_one = len(parts) == 1 or type(first) not in MANY
    if is_one and all(value is first for _, value in parts):
        if sum(len(places) for places, _ in parts) == count:
            return first
    if type(first) is tuple:
        axes = range(len(first))
        return tuple(merged(count, [(places, value[axis]) for places, value in parts]) for axis in axes)
    by_kind: dict[type, tuple[np.ndarray, np.ndarray]] = {}
    for places, value in parts:
        for kind, (data, mask) in _by_kind(value).items():
            if kind not in by_kind:
                by_kind[kind] = np.zeros(count, dtype_of(kind)), np.zeros(count, bool)
            numbers, known = by_kind[kind]
            numbers[places] = data
            known[places] = mask
    return _simplified(by_kind)


def _by_kind(value: object) -> dict[type, tuple]:
    """The numbers by their type; see Mixed."""
    if type(value) is Mixed:
        return value.by_kind
    return {value.kind: (value.data, True)} if type(value) is Varying else {type(value): (value, True)}


def dtype_of(kind: type) -> np.dtype:
    """The dtype in which numbers of that type are kept."""
    if kind not in NUMBERS:
        raise Fallback(f"a {kind.__name__} in some threads only")
    return OF_PYTHON.get(kind) or getattr(kind, "own", None) or np.dtype(kind)


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
    if type(value) not in MANY:
        return bool(value)
    return apart(lambda number: Varying(number.data.astype(bool, copy=False), bool), value).data


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
    count = next(len(value.data) for value in values if type(value) is Varying)
    columns = [
        map(value.kind, value.data.tolist()) if type(value) is Varying else [value] * count
        for value in values
    ]
    results = [*map(function, *columns)]
    kinds = [*map(type, results)]
    parts = []
    for kind in {*kinds}:
        places = np.flatnonzero([other is kind for other in kinds])
        numbers = np.array([results[place] for place in places], dtype_of(kind))
        parts.append((places, Varying(numbers, kind)))
    return merged(count, parts)


# ---------------------------------------------------------------------- operations


class Plan(NamedTuple):
    """How NumPy computes an operation of numbers of certain types."""

    kind: type  # of the result
    of_result: np.dtype
    dtype: np.dtype | None  # of the operands; None: each thread has to compute by itself
    ufunc: Callable
    wide: list[int]  # places of operands that become floats, and have to be the same numbers


class Operation:
    """An operation of single threads, and the function of NumPy that computes it for many."""

    def __init__(self, scalar: Callable, ufunc: np.ufunc | None = None):
        self.scalar = scalar
        self.ufunc = ufunc
        self.plans: dict[tuple[type, ...], Plan | None] = {}

    def __call__(self, *values: object, reuse: bool = False) -> object:
        """The operation's result in all threads; reuse: in the memory of the first operand, if that fits."""
        if Varying not in map(type, values):
            return apart(self, *values) if Mixed in map(type, values) else self.scalar(*values)
        kinds = tuple([value.kind if type(value) is Varying else type(value) for value in values])
        if kinds not in self.plans:
            if Mixed in kinds:
                return apart(self, *values)
            self.plans[kinds] = self._plan(kinds)
        plan = self.plans[kinds]
        if plan is None or (plan.wide and not all(is_exact(values[place]) for place in plan.wide)):
            return each(self.scalar, *values)
        dtype = plan.dtype
        operands = []
        for value in values:
            if type(value) is not Varying:
                operands.append(dtype.type(value))
            else:
                operands.append(value.data if value.data.dtype is dtype else value.data.astype(dtype))
        is_elementwise = type(plan.ufunc) is np.ufunc
        if reuse and is_elementwise and plan.of_result is dtype and type(values[0]) is Varying:
            operands.append(operands[0])
        result = plan.ufunc(*operands)
        return Varying(result if result.dtype is plan.of_result else result.astype(plan.of_result), plan.kind)

    def _plan(self, kinds: tuple[type, ...]) -> Plan | None:
        """How NumPy computes it; None where each thread has to compute by itself."""
        if self.ufunc is None or not {*kinds} <= NUMBERS:
            return None
        ones = [kind(1) for kind in kinds]
        result = type(self.scalar(*ones))
        result = bool if result is np.bool_ else result
        dtype = dtype_of(result)
        ufunc = self.ufunc
        if ufunc in COMPARISONS:
            dtype = dtype_of(type(operator.add(*ones)))
        if {*kinds} & {*COMPLEX}:
            ufunc = OF_COMPLEX.get(ufunc)
        elif (
            (ufunc in OF_FLOATS and (len({*kinds}) > 1 or kinds[0] not in FLOATS))
            or (ufunc in COMPARISONS and UInt64 in kinds)
            or (ufunc in ROUNDED_OTHERWISE and result in FLOATS)
        ):
            ufunc = None
        if ufunc is None:
            return None
        if len(kinds) == 1 and kinds[0] is not bool:
            dtype = dtype_of(kinds[0])  # -x is computed in its own width, and widened
        wide = [place for place, kind in enumerate(kinds) if dtype.kind == "f" and kind in (int, UInt64)]
        return Plan(result, dtype_of(result), dtype, ufunc, wide)


def is_exact(value: object) -> bool:
    """Do integers of 64 bits stay what they are as floats?"""
    return as_varying(value, 1).lies_within(-EXACT, EXACT)


def _operators(*lines: str) -> dict[type, Operation]:
    """Operations by node of the text, from lines such as "Add add add": the node, its function for one thread
    (operations.py, or Python's operator), and NumPy's."""
    table = {}
    for line in lines:
        node, name, ufunc = line.split()
        scalar = getattr(operations, name, None) or getattr(operator, name)
        wrapping = lambda *values, scalar=scalar: within_64_bits(scalar(*values))
        table[getattr(ast, node)] = Operation(wrapping, getattr(np, ufunc, None))
    return table


COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
ROUNDED_OTHERWISE = {np.floor_divide, np.remainder}  # loops of NumPy need not round floats as its scalars do
OPERATORS = _operators(
    *("Add add add", "Sub sub subtract", "Mult mul multiply", "Div divide true_divide", "Pow power -"),
    *("FloorDiv floor_divide floor_divide", "Mod modulo remainder", "BitAnd and_ bitwise_and"),
    *("BitOr or_ bitwise_or", "BitXor xor bitwise_xor", "LShift shift_left left_shift"),
    *("RShift shift_right right_shift", "Eq eq equal", "NotEq ne not_equal", "Lt lt less"),
    *("LtE le less_equal", "Gt gt greater", "GtE ge greater_equal", "USub neg negative"),
    *("UAdd pos positive", "Invert invert invert", "Not not_ logical_not"),
)

AS_INDEX = Operation(operator.index, np.positive)
PARTS = {name: Operation(operator.attrgetter(name), getattr(np, name)) for name in ("real", "imag")}

# ---------------------------------------------------------------------- functions


def apply(function: Callable, values: Sequence) -> object:
    """The function of numbers in each thread."""
    if not any(type(value) in MANY for value in values):
        return function(*values)
    is_conversion = isinstance(function, operations.Number | Conversion) or function in (*FLOATS, *COMPLEX)
    if is_conversion and len(values) == 1:
        return apart(functools.partial(_convert, function), *values)
    is_of_numbers = isinstance(function, np.ufunc) or getattr(function, "__module__", None) in MODULES
    if function in BY_TEXT or not (is_of_numbers or is_conversion or function in FUNCTIONS):
        raise Fallback(f"calls {getattr(function, '__name__', function)}")
    return FUNCTIONS.get(function, Operation(function))(*values)


def _convert(function: Callable, value: Varying) -> object:
    """np.float32(x), int(x) and their kin; floats beyond a type of integers have a rule of their own."""
    kind = type(function(value.kind(1)))
    data = converted(value, dtype_of(kind))
    return each(function, value) if data is None else Varying(data, kind)


def converted(value: Varying, dtype: np.dtype) -> np.ndarray | None:
    """[n] The numbers in that dtype; integers wrap.  None where floats lie beyond its integers."""
    if dtype.kind in "iu" and value.kind in FLOATS:
        limits = np.iinfo(dtype)
        if not value.lies_within(max(limits.min, -SAFE), min(limits.max, SAFE)):
            return None
    if value.kind in COMPLEX and dtype.kind != "c":
        raise Fallback("a complex number in the place of a real one")
    is_wide = dtype.kind == "f" and value.kind is int
    return (value.data.astype(np.float64) if is_wide else value.data).astype(dtype, copy=False)


def _fmax(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger of two; of a NaN and a number the number, and of two zeros the positive one."""
    return np.where((a == b) & (a == 0), a + b, np.fmax(a, b))


def _complex(real: np.ndarray, imag: np.ndarray | complex = 0) -> np.ndarray:
    """Complex numbers of their parts."""
    numbers = np.empty(
        np.broadcast_shapes(np.shape(real), np.shape(imag)), np.result_type(real, imag, np.complex64)
    )
    numbers.real = real.real
    numbers.imag = imag.real
    return numbers


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of complex numbers, rounded as that of two; NumPy's loop rounds less often."""
    real = a.real * b.real
    numbers = np.empty(real.shape, a.dtype)
    np.subtract(real, a.imag * b.imag, out=numbers.real)
    np.add(a.real * b.imag, a.imag * b.real, out=numbers.imag)
    return numbers


FUNCTIONS = {  # whose results NumPy rounds to the same bits
    function: Operation(function, ufunc)
    for function, ufunc in (
        (operations.largest, _fmax),
        (operations.smallest, lambda a, b: -_fmax(-a, -b)),
        (arithmetic.GPU_MATH["sqrt"], np.sqrt),
        (arithmetic.GPU_MATH["fabs"], np.abs),
        (abs, np.abs),
        *((getattr(arithmetic.MATH, name), getattr(np, name)) for name in ("floor", "ceil", "trunc")),
    )
}
SAME = (np.add, np.subtract, np.negative, np.equal, np.not_equal, np.real, np.imag)
OF_COMPLEX = {function: function for function in SAME} | {
    np.multiply: _product,
    np.abs: lambda a: np.hypot(a.real, a.imag),
}
OF_FLOATS = {operation.ufunc for operation in FUNCTIONS.values()}
FUNCTIONS[complex] = Operation(complex, _complex)
MODULES = {"math", *(f"pocketgpu.simulator.{name}" for name in ("arithmetic", "libdevice", "operations"))}
BY_TEXT = {arithmetic.clz, arithmetic.popc, arithmetic.brev, Int32}  # their width depends on the text

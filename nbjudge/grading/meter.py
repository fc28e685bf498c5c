"""What a call costs, counted while it runs: array operations, bytes, calls of functions, rounds in Python.

Nothing is timed.  Arrays that count stand for the arrays of a call and the results of NumPy's functions.
Every operation of an expression counts by itself: it reads its operands from memory and writes a new array
there, whatever the next one does with it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from inspect import CO_GENERATOR
from types import FrameType, FunctionType, ModuleType

import numpy as np

from nbjudge.running.inside.wire import mapped

OPERATIONS = "array operation"
BYTES = "byte of arrays read or written"
ROUNDS = "round of Python loops and functions"
METHODS = "argmax argmin argsort astype copy dot nonzero repeat searchsorted take".split()
INLINED = {"<listcomp>", "<setcomp>", "<dictcomp>"}  # functions until Python 3.11


class CountingArray(np.ndarray):
    """An array that counts each operation it takes part in; so do the results."""

    costs: Counter[str] = Counter()  # noqa: RUF012  of the call that runs, for all arrays

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs, **options) -> object:
        plain = plain_arrays(inputs)
        result = getattr(ufunc, method)(*plain, **plain_arrays(options))
        _count(plain, result)
        return counting(result)

    def __array_function__(self, function: Callable, types, inputs: tuple, options: dict) -> object:
        before = self.costs[OPERATIONS]
        result = super().__array_function__(function, types, inputs, options)
        # zeros_like reads a shape alone; a.reshape() counts nothing either
        is_shape = function.__name__.endswith(("_like", "ravel", "reshape"))
        if self.costs[OPERATIONS] == before and _is_computed(result, inputs) and not is_shape:
            _count(inputs, result)
        return counting(result)


def _counting_method(name: str) -> Callable:
    """A method of arrays that passes by both of the above."""

    def method(self, *inputs, **options):
        result = getattr(np.asarray(self), name)(*plain_arrays(inputs), **plain_arrays(options))
        if _is_computed(result, (self, *inputs)):
            _count((self, *inputs), result)
        return counting(result)

    return method


for name in METHODS:
    setattr(CountingArray, name, _counting_method(name))


class CountingFunctions:
    """NumPy, a module or a function of it: what it returns are counting arrays."""

    def __init__(self, original):
        self._original = original

    def __getattr__(self, name: str) -> object:
        part = getattr(self._original, name)
        return CountingFunctions(part) if _is_of_numpy(part) else part

    def __call__(self, *inputs, **options) -> object:
        return counting(self._original(*counting(inputs), **counting(options)))


class Meter:
    """A function as it is, which counts: `costs` are those of its costliest call."""

    def __init__(self, function: Callable):
        self.function = function
        self.costs: Counter[str] = Counter()

    def __call__(self, *inputs, **options) -> object:
        with counting_program(getattr(self.function, "__globals__", {})) as costs:
            result = self.function(*map(_counting_calls, counting(inputs)), **counting(options))
        costs[ROUNDS] = costs.pop(ROUNDS, 1) - 1  # without the call itself
        self.costs = max(self.costs, costs, key=Counter.total)
        return plain_arrays(result)


def count_costs(function: Callable, *inputs: object) -> Counter:
    """What function(*inputs) costs."""
    meter = Meter(function)
    meter(*inputs)
    return meter.costs


@contextmanager
def counting_program(names: dict[str, object]) -> Iterator[Counter]:
    """Lets NumPy and Python count for the functions with these globals.

    Afterwards the globals have their values of before, and new ones have plain arrays.
    """
    before = dict(names)
    tracer = sys.gettrace()
    CountingArray.costs = costs = Counter()
    names.update({name: CountingFunctions(part) for name, part in before.items() if _is_of_numpy(part)})
    sys.settrace(partial(_trace_call, names, costs))
    try:
        yield costs
    finally:
        sys.settrace(tracer)
        names.update(before)
        for name in names.keys() - before.keys():
            names[name] = plain_arrays(names[name])


def _trace_call(names: dict, costs: Counter, frame: FrameType, event: str, _) -> Callable | None:
    """Counts calls of functions and, by jumps back, rounds of their loops."""
    if frame.f_globals is not names:
        return None
    code = frame.f_code
    last = sys.maxsize if frame.f_trace else 0, None  # a generator that goes on begins a round
    costs[ROUNDS] += code.co_name not in INLINED and not code.co_flags & CO_GENERATOR

    def trace_line(frame, event, _):
        nonlocal last
        is_back = frame.f_lasti < last[0] or frame.f_lineno == last[1]  # a loop may have one line
        costs[ROUNDS] += event == "line" and is_back
        last = frame.f_lasti, frame.f_lineno
        return trace_line

    return trace_line


def counting(part: object) -> object:
    """The same with each array as a counting one."""
    return _with_arrays(part, lambda array: array.view(CountingArray))


def plain_arrays(part: object) -> object:
    """The same with plain arrays."""
    return _with_arrays(part, np.asarray)


def _with_arrays(part, change: Callable) -> object:
    return mapped(part, lambda leaf: change(leaf) if isinstance(leaf, np.ndarray) else leaf)


def _arrays(part) -> list[np.ndarray]:
    arrays = []
    _with_arrays(part, arrays.append)
    return arrays


def _is_computed(result, inputs: tuple) -> bool:
    """Whether it is a number or holds an array of its own, no view of the inputs."""
    sources = _arrays(inputs)
    views = (any(np.may_share_memory(part, array) for array in sources) for part in _arrays(result))
    return isinstance(result, np.generic) or not all(views)


def _counting_calls(part) -> object:
    """A function whose calls count, and whose results are counting arrays; anything else as it is."""
    if not isinstance(part, FunctionType):
        return part

    @wraps(part)
    def counted(*inputs, **options):
        CountingArray.costs[f"call of {part.__name__}"] += 1
        return counting(part(*plain_arrays(inputs), **plain_arrays(options)))

    return counted


def _is_of_numpy(part) -> bool:
    """Whether it is NumPy, a module of it or a function from it, and no class."""
    if isinstance(part, ModuleType):
        return part.__name__.partition(".")[0] == "numpy"
    home = getattr(part, "__module__", None)
    of_numpy = isinstance(home, str) and home.partition(".")[0] == "numpy"
    return of_numpy and callable(part) and not isinstance(part, type)


def _count(inputs: tuple, result) -> None:
    """Add one operation."""
    CountingArray.costs[OPERATIONS] += 1
    CountingArray.costs[BYTES] += sum(array.nbytes for array in _arrays((inputs, result)))

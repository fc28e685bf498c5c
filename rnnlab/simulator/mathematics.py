"""The module `math` as a GPU has it: float32 in gives float32 out, and nothing raises.

Python's math computes in float64 and raises where the result is infinite or not a number.  While a launch
runs, its functions are replaced by these wherever the kernel names them.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, SimpleNamespace

import numpy as np

NUMPY_NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "atanh": "arctanh", "pow": "power"}
RAISING = (
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "fmod",
)
RAISING += tuple(NUMPY_NAMES)
QUIET = ("asinh", "atan", "atan2", "copysign", "degrees", "erf", "erfc", "fabs", "hypot", "radians", "tanh")
EMPTY = CellType()  # of a name that is bound later
SMALL = (np.float16, np.float32)


def _of_gpu(function: Callable, instead: Callable | None) -> Callable:
    def computed(*arguments):
        try:
            value = function(*arguments)
        except (ValueError, OverflowError):
            if instead is None:
                raise
            value = instead(*(np.float64(each) for each in arguments))
        kind = type(arguments[0])
        return kind(value) if kind in SMALL else value

    return computed


PYTHONS = {name: getattr(math, name) for name in (*RAISING, *QUIET, "gamma", "lgamma")}
OURS = {
    name: _of_gpu(function, getattr(np, NUMPY_NAMES.get(name, name)) if name in RAISING else None)
    for name, function in PYTHONS.items()
}


MODULE = SimpleNamespace(**{**vars(math), **OURS})
IN_THEIR_PLACE = {id(math): MODULE, **{id(PYTHONS[name]): function for name, function in OURS.items()}}


@contextmanager
def math_of_gpu(kernel: Callable) -> Iterator[None]:
    """Inside, `math`, and what was imported from it, means ours to the kernel and the functions it calls."""
    found = [*_uses(kernel, set())]
    for scope, name, value in found:
        scope[name] = IN_THEIR_PLACE[id(value)]
    try:
        yield
    finally:
        for scope, name, value in found:
            scope[name] = value


def _uses(function: Callable, visited: set[int]) -> Iterator[tuple[dict, str, object]]:
    """(globals, name, value) wherever Python's math is used by the function or by those it calls."""
    visited.add(id(function.__code__))
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != EMPTY]
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if id(value) in IN_THEIR_PLACE:
            yield function.__globals__, name, value
        cells.append(value)
    for value in cells:
        if isinstance(value, FunctionType) and id(value.__code__) not in visited:
            yield from _uses(value, visited)

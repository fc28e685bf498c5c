"""The module `math` as a GPU has it: float32 in gives float32 out, and nothing raises.

Python's math computes in float64 and raises where the result is infinite or not a number.  While a launch
runs, its functions are replaced by these.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


@contextmanager
def math_of_gpu() -> Iterator[None]:
    """Inside, `math.exp` and the others behave as in a kernel."""
    vars(math).update(OURS)
    try:
        yield
    finally:
        vars(math).update(PYTHONS)

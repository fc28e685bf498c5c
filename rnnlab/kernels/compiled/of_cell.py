"""One text of a loop for all cells: a copy for each, in which global names have the cell's own values.

Numba stores what it compiled under a function's name and line, and compiles a global name's value in.  So
each copy has a name of its own.  Functions as arguments would be compiled anew in every process.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit

from rnnlab.kernels.compiled.rows import OPTIONS


def with_names(function: Callable, **values: Any) -> Callable:
    """The function in Python with these values for global names of its module."""
    names = function.__globals__ | values
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def compiled_for(cell: str, function: Callable, **values: Any) -> Callable:
    """The function compiled, with these values for global names of its module."""
    copy = with_names(function, **values)
    copy.__qualname__ = f"{function.__name__}_{cell}"
    return njit(**OPTIONS)(copy)

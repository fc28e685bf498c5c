"""A kernel in numba.cuda's own words: where it names the simulator, the copy names Numba.

The copy has the kernel's own code, so that every error and every type keeps its source line.
"""

import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType

from numba import cuda as numba_cuda

OURS = ("rnnlab.cuda", "rnnlab.simulator")  # modules that stand in for numba.cuda


def for_gpu(kernel: Callable, known: dict | None = None) -> FunctionType:
    """The function behind a kernel or device function, with numba.cuda wherever it says cuda."""
    function = getattr(kernel, "py_func", kernel)
    known = {} if known is None else known
    scope = dict(function.__globals__)
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, _cells(function))
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    known[function] = numba_cuda.jit(device=True)(copy)
    for name in names_in(function.__code__) & scope.keys():
        scope[name] = _numbas(scope[name], known)
    for cell, own in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        if own != CellType():
            cell.cell_contents = _numbas(own.cell_contents, known)
    return copy


def names_in(code: CodeType) -> set[str]:
    """Every name that the code or a function within it looks up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def _cells(function: FunctionType) -> tuple[CellType, ...] | None:
    return function.__closure__ and tuple(CellType() for _ in function.__closure__)


def _numbas(value: object, known: dict) -> object:
    """What Numba has in the place of a value that the kernel looks up."""
    if hasattr(value, "on_gpu"):  # of rnnlab.compiling.device_words
        return value.on_gpu
    if isinstance(value, ModuleType):
        return numba_cuda if value.__name__ in OURS else value
    function = getattr(value, "py_func", None)
    if isinstance(function, FunctionType) and not hasattr(value, "targetoptions"):
        if function not in known:
            for_gpu(function, known)
        return known[function]
    simulator = sys.modules.get("rnnlab.simulator")
    words = vars(simulator).items() if simulator else ()
    same = [name for name, word in words if word is value and hasattr(numba_cuda, name)]
    return getattr(numba_cuda, same[0]) if same and callable(value) else value

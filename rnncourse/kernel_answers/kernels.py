"""A kernel as an answer: launched in the simulator on copies of its arguments, and what came of it as plain
data: arrays, counts and findings, strict mode's judgement among them. On a GPU a notebook's own kernel runs
there, and there are no counts.

A kernel is an object of the simulator's own class, or of Numba's (`from numba import cuda`, as in every
tutorial), which is then run as the same kernel in the simulator. Anything else is called as it stands, and a
check of kernels refuses what it returns.
"""

import importlib
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np

MODULES = (  # see course.KERNELS
    "pocketgpu.cuda",
    "pocketgpu.simulator.report",
    "pocketgpu.simulator.strict",
    "pocketgpu.simulator.shares",
)
SHOWN = {"seconds": 2.0, "events": 1_000_000}  # of a replay: a launch that never ends shows how it begins
HOLD = 20  # polls by which a thread that waits for another is early: one that continues unasked is then seen


def prepare(course: str) -> object:
    """Load the simulator from the folder `course` while modules of the course may still be loaded."""
    sys.path.append(course)
    loaded = [importlib.import_module(name) for name in MODULES]
    sys.path.remove(course)
    simulator, _, strict, _ = loaded
    if simulator.is_simulated:
        strict.check(simulator.jit(_doubles), np.zeros(1))  # loads the compiler's parts and its libraries
    return simulator


def _doubles(x: np.ndarray) -> None:
    """A small kernel."""
    x[0] = x[0] * 2


def launched(function: Callable, is_own: bool = False) -> Callable:
    """The function itself; a kernel as a function of grid, block and its own arguments.

    Of a function that Numba compiles for the CPU it is the Python one: a check's arguments may be objects
    that watch what is done with them, which no compiler knows.
    """
    if type(function).__module__.startswith("numba.core."):
        return function.py_func
    kernel = _simulated(function) if _is_of_numba(function) else function
    if not _is_kernel(kernel):
        return function

    def launch(grid: tuple, block: tuple, *arguments: object) -> dict:
        own = _copies(arguments)
        observed, refused = _observed(kernel, grid, block, own, is_own)
        findings = [*getattr(observed, "findings", ()), *refused]
        return {
            "arrays": [array for array in own if isinstance(array, np.ndarray)],
            "counts": _counts(observed),
            "findings": [[finding.kind, finding.message] for finding in findings],
        }

    launch.__code__ = launch.__code__.replace(co_name=function.__name__)
    return launch


def replay(function: Callable, grid: tuple, block: tuple, arguments: tuple) -> object:
    """A launch of a check once more, thread by thread, as far as it gets: cuda.replay of its kernel."""
    if not _is_kernel(function):
        raise TypeError(f"replay takes a kernel: write @cuda.jit above the def of {function.__name__}")
    kernel = _simulated(function) if _is_of_numba(function) else function
    simulator = sys.modules[MODULES[0]]
    settings = simulator.settings(hold=HOLD, **SHOWN) if simulator.is_simulated else nullcontext()
    with settings:
        return simulator.replay(kernel[grid, block], *_copies(arguments))


def _copies(arguments: tuple) -> list:
    """The arguments of a launch, with its own arrays."""
    return [np.array(part) if isinstance(part, np.ndarray) else part for part in arguments]


def _is_kernel(function: object) -> bool:
    """Is this a kernel, as `cuda.jit` and nobody else makes them?"""
    simulator = sys.modules.get("pocketgpu.simulator.launch")
    if simulator is not None and type(function) is simulator.Kernel:
        return True
    return _is_of_numba(function)


def _is_of_numba(function: object) -> bool:
    dispatcher = sys.modules.get("numba.cuda.dispatcher")
    return dispatcher is not None and type(function) is dispatcher.CUDADispatcher


def _simulated(kernel: Callable) -> Callable:
    """Numba's kernel as the simulator's, where that is what runs kernels here: same code, same lines."""
    ours = sys.modules.get("pocketgpu.cuda") or importlib.import_module("pocketgpu.cuda")
    return ours.jit(kernel.py_func) if ours.is_simulated else kernel


def _counts(observed: object) -> dict | None:
    """Counts for a check's limits; None on a GPU."""
    if getattr(observed, "counts", None) is None:
        return None
    return importlib.import_module(MODULES[3]).judged_counts(observed)


def _observed(function: Callable, grid: tuple, block: tuple, own: list, is_own: bool) -> tuple[object, tuple]:
    """(cuda.observe without FLOPs by line, what a GPU would refuse to compile); the course's own compile."""
    simulator = sys.modules[MODULES[0]]
    if not simulator.is_simulated:
        return simulator.observe(function, grid, block, *own), ()
    report = importlib.import_module(MODULES[1])
    with simulator.settings(hold=HOLD):
        observed = report.observe(function, grid, block, tuple(own), with_flops=False)
    if is_own or find_spec("numba") is None:  # a browser cannot say what would compile; grading needs Numba
        return observed, ()
    strict = importlib.import_module(MODULES[2])
    parameters = function.py_func.__code__.co_argcount
    missing = max(0, parameters - len(own))
    defaults = function.py_func.__defaults__ or ()
    used_defaults = defaults[-missing:] if missing else ()
    findings = strict.check(function, *own, *used_defaults)
    refused = tuple(finding for finding in findings if finding.kind == "does_not_compile")
    return observed, refused

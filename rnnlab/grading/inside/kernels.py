"""A kernel as an answer: launched in the simulator on copies of its arguments, and what came of it as plain
data. On a GPU a notebook's own kernel runs there, and there are no counts.
"""

import importlib
import sys
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

MODULES = ("rnnlab.cuda", "rnnlab.simulator.report")


def prepare(course: str) -> object:
    """Load the simulator from the folder `course` while modules of the course may still be loaded."""
    sys.path.append(course)
    loaded = [importlib.import_module(name) for name in MODULES]
    sys.path.remove(course)
    return loaded[0]


def launched(function: Callable) -> Callable:
    """The function itself; a kernel as a function of grid, block and its own arguments.

    Of a function that Numba compiles for the CPU it is the Python one: a check's arguments may be objects
    that watch what is done with them, which no compiler knows.
    """
    if type(function).__module__.startswith("numba.core."):
        return function.py_func
    if not hasattr(function, "max_cooperative_grid_blocks") and not hasattr(function, "overloads"):
        return function

    def launch(grid: tuple, block: tuple, *arguments: object) -> dict:
        own = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
        observed = _observed(function, grid, block, own)
        counts = getattr(observed, "counts", None)
        findings = getattr(observed, "findings", ())
        return {
            "arrays": [each for each in own if isinstance(each, np.ndarray)],
            "counts": None if counts is None else asdict(counts),
            "findings": [[each.kind, each.message] for each in findings],
        }

    launch.__code__ = launch.__code__.replace(co_name=function.__name__)
    return launch


def _observed(function: Callable, grid: tuple, block: tuple, own: list) -> object:
    """cuda.observe without FLOPs by line, which would need Numba's compiler in here."""
    if not sys.modules["rnnlab.cuda"].is_simulated:
        return sys.modules["rnnlab.cuda"].observe(function, grid, block, *own)
    report = importlib.import_module("rnnlab.simulator.report")
    return report.observe(function, grid, block, tuple(own), with_flops=False)

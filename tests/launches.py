"""Launches on the simulated GPU without analysis, and programs that are given as text."""

import inspect
import linecache

import pytest

from pocketgpu.simulator.settings import SimulatorSettings

BOTH = pytest.mark.parametrize("checks", [True, False], ids=["watched", "bare"])


def run(kernel, grid, block, *arguments, shared=0, **settings):
    """The faults that ended a launch."""
    return kernel[grid, block, 0, shared].run(arguments, SimulatorSettings(**settings)).stopped


def line_of(kernel, words):
    """Number of the first line of a kernel that holds these words."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    return first + next(place for place, line in enumerate(lines) if words in line)


def names_of(text, label, **names):
    """The names of a program after it ran, as if it stood in a file of that label."""
    linecache.cache[label] = (len(text), None, text.splitlines(True), label)
    exec(compile(text, label, "exec"), names)
    return names

"""All exercises of the course by name: one module a unit, with EXERCISES in the order of its notebook."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from rnnlab.checks.answers import answers
from rnnlab.grading.exercise import Exercise

UNITS = {  # unit: its notebooks' name, in lessons, exercises, solutions and work
    "start_here": "00_start_here",
    "rnn_forward": "01_rnn_forward",
    "bptt": "02_bptt",
    "training": "03_training",
    "differentiable_graphs": "04_differentiable_graphs",
    "gemm_shapes": "05_gemm_shapes",
    "numba_cpu": "06_numba_cpu",
    "parallel_cpu": "07_parallel_cpu",
    "cuda_first_kernels": "08_cuda_first_kernels",
    "cuda_shared_memory": "09_cuda_shared_memory",
    "naive_gpu_rnn": "10_naive_gpu_rnn",
    "fused_cell": "11_fused_cell",
    "fused_layer": "12_fused_layer",
    "network_schedule": "13_network_schedule",
    "persistent_rnn": "14_persistent_rnn",
    "persistent_cuda": "15_persistent_cuda",
}


class UnknownExercise(ValueError):
    """No exercise has this name; the message offers the nearest ones."""


@cache
def exercises(unit: str) -> tuple[Exercise, ...]:
    """The exercises of one unit, in the order of its notebook."""
    if unit not in UNITS:
        raise ValueError(f"there is no unit {unit!r}; the units are {', '.join(UNITS)}")
    return import_module(f"rnnlab.checks.{unit}").EXERCISES


def catalogue(unit: str) -> dict[str, int]:
    """{exercise: points} of one unit, in the order of its notebook.

    The packed answers say it: a unit whose packages are not installed (numba, greenlet) has its names and
    points all the same.
    """
    return {answer.name: answer.points for answer in answers(unit).values()}


def every() -> Iterator[tuple[str, Exercise]]:
    """(unit, exercise) for the whole course."""
    for unit in UNITS:
        for exercise in exercises(unit):
            yield unit, exercise


def find(name: str) -> tuple[str, Exercise]:
    """(unit, exercise) by the exercise's name."""
    for unit in UNITS:
        if name in catalogue(unit):
            return unit, next(exercise for exercise in exercises(unit) if exercise.name == name)
    raise UnknownExercise(_unknown(name))


def _unknown(name: str) -> str:
    names = [exercise for unit in UNITS for exercise in catalogue(unit)]
    near = get_close_matches(name, names, 3, 0.5)
    offered = f"Did you mean {' or '.join(near)}?" if near else f"The exercises are {', '.join(names)}."
    return f"No exercise is called {name!r}. {offered}"

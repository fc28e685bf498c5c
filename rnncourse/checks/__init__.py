"""All exercises of the course by name: one module a lesson, with EXERCISES in the order of its notebook."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from nbjudge.exercise import Exercise, UnknownExercise
from rnncourse.checks.answers import answers

LESSONS = {  # lesson: its notebooks' name, in lessons, exercises, solutions and work
    "start_here": "00_start_here",
    "rnn_forward": "01_rnn_forward",
    "bptt": "02_bptt",
    "training": "03_training",
    "differentiable_graphs": "04_differentiable_graphs",
    "gemm_shapes": "05_gemm_shapes",
    "numba_cpu": "06_numba_cpu",
    "parallel_cpu": "07_parallel_cpu",
    "packed_products": "08_packed_products",
    "cuda_first_kernels": "09_cuda_first_kernels",
    "cuda_shared_memory": "10_cuda_shared_memory",
    "naive_gpu_rnn": "11_naive_gpu_rnn",
    "fused_cell": "12_fused_cell",
    "fused_layer": "13_fused_layer",
    "network_schedule": "14_network_schedule",
    "persistent_rnn": "15_persistent_rnn",
    "persistent_cuda": "16_persistent_cuda",
    "scaling_out": "17_scaling_out",
    "parallel_in_time": "18_parallel_in_time",
    "capstone": "19_capstone",
}


@cache
def exercises(lesson: str) -> tuple[Exercise, ...]:
    """The exercises of one lesson, in the order of its notebook."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no lesson {lesson!r}; the lessons are {', '.join(LESSONS)}")
    return import_module(f"rnncourse.checks.{lesson}").EXERCISES


def catalogue(lesson: str) -> dict[str, int]:
    """{exercise: points} of one lesson, in the order of its notebook.

    The packed answers say it: a lesson whose packages are not installed (numba) has its names and
    points all the same.
    """
    return {answer.name: answer.points for answer in answers(lesson).values()}


def every() -> Iterator[tuple[str, Exercise]]:
    """(lesson, exercise) for the whole course."""
    for lesson in LESSONS:
        for exercise in exercises(lesson):
            yield lesson, exercise


def find(name: str) -> tuple[str, Exercise]:
    """(lesson, exercise) by the exercise's name."""
    for lesson in LESSONS:
        if name in catalogue(lesson):
            return lesson, next(exercise for exercise in exercises(lesson) if exercise.name == name)
    raise UnknownExercise(_unknown(name))


def _unknown(name: str) -> str:
    names = [exercise for lesson in LESSONS for exercise in catalogue(lesson)]
    near = get_close_matches(name, names, 3, 0.5)
    offered = f"Did you mean {' or '.join(near)}?" if near else f"The exercises are {', '.join(names)}."
    return f"No exercise is called {name!r}. {offered}"

"""All exercises of the course by name: one module a lesson, with check_NAME for each exercise NAME."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from nbjudge.exercise import Exercise, UnknownExercise
from rnncourse.checks.answers import answers

NOTEBOOKS = (  # by their names in lessons, exercises, solutions and work
    "00_start_here",
    "01_rnn_forward",
    "02_bptt",
    "03_training",
    "04_differentiable_graphs",
    "05_gemm_shapes",
    "06_numba_cpu",
    "07_parallel_cpu",
    "08_packed_products",
    "09_cuda_first_kernels",
    "10_cuda_shared_memory",
    "11_naive_gpu_rnn",
    "12_fused_cell",
    "13_fused_layer",
    "14_network_schedule",
    "15_persistent_rnn",
    "16_persistent_cuda",
    "17_scaling_out",
    "18_parallel_in_time",
    "19_capstone",
)
LESSONS = {notebook.partition("_")[2]: notebook for notebook in NOTEBOOKS}  # lesson: its notebooks' name


def module_of(lesson: str) -> str:
    """The module with a lesson's checks; its name is not the lesson's, which may be a rung's, too."""
    return f"{__name__}.lesson_{LESSONS[lesson]}"


@cache
def exercises(lesson: str) -> tuple[Exercise, ...]:
    """The exercises of one lesson, in the order of its notebook."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no lesson {lesson!r}; the lessons are {', '.join(LESSONS)}")
    module = import_module(module_of(lesson))
    return tuple(getattr(module, f"check_{name}") for name in answers(lesson))


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

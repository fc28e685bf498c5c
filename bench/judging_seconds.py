"""Seconds to a verdict on every known answer to the kernel exercises: `python -m bench.judging_seconds`.

Judged are the course's answers, the mistakes that it names, and those in tests/answers; the kernels of
learners in tests/ are launched with checks.  Seconds are the processor's and, behind them, the clock's, which
a busy machine makes longer.
"""

import argparse
import importlib
import linecache
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from nbjudge.exercise import Exercise
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from pocketgpu import cuda
from rnncourse import checks

TESTS = Path(__file__).parents[1] / "tests"
TABLES = "right_kernels_of_learners", "wrong_kernels_of_learners"
SLOWEST = 10


class Duration(NamedTuple):
    """How long one answer took, in seconds of the processor and of the clock."""

    processor: float
    clock: float
    label: str
    outcome: str


def measure(label: str, work: Callable[[], str]) -> Duration:
    """The duration of the work, which says how it ended."""
    clock = time.perf_counter()
    processor = time.process_time()
    outcome = work()
    return Duration(time.process_time() - processor, time.perf_counter() - clock, label, outcome)


def function_of(text: str, name: str, label: str) -> Callable:
    """The function of that name in an answer's text."""
    module = ModuleType(name)
    vars(module).update(np=np, cuda=cuda)
    linecache.cache[f"<{label}>"] = len(text), None, text.splitlines(True), f"<{label}>"
    exec(compile(text, f"<{label}>", "exec"), vars(module))
    return getattr(module, name)


def answers(exercise: Exercise, cells: list) -> Iterator[tuple[str, Callable]]:
    """(label, answer) of all that the course and its tests know."""
    yield f"{exercise.name}: the course's", exercise.reference
    for mutant in exercise.mutants:
        yield f"{exercise.name}: {mutant.name}", exercise.make(mutant)
    for number, text in enumerate([*exercise.right, *(cell.text for cell in cells)]):
        label = f"{exercise.name}: {number}"
        yield label, function_of(text, exercise.name, label)


def durations(only: str = "") -> Iterator[Duration]:
    """Durations of every answer whose exercise or table has that part in its name."""
    sys.path.extend([str(TESTS), str(TESTS / "kernels")])
    from answer_cells import answer_cells

    for lesson in checks.LESSONS:
        chosen = [entry for entry in checks.exercises(lesson) if entry.is_kernel and only in entry.name]
        for exercise in chosen:
            for label, answer in answers(exercise, answer_cells(lesson)[exercise.name]):
                yield measure(label, partial(judged, exercise, answer))
    for table in TABLES:
        if only in table:
            for name, case in importlib.import_module(table).CASES.items():
                yield measure(f"{table}: {name}", partial(launched, case))


def judged(exercise: Exercise, answer: Callable) -> str:
    """The verdict's status."""
    return judge(exercise, InProcess(answer), 1).status.name


def launched(case: object) -> str:
    """The kinds of what a launch with checks finds."""
    try:
        report = cuda.observe(case.kernel, case.grid, case.block, *case.arguments(), shared=case.shared)
    except Exception as error:  # a GPU would not launch it
        return type(error).__name__
    return " ".join(sorted({finding.kind for finding in report.findings}))


def main(arguments: list[str] | None = None) -> None:
    """Judge all and print the slowest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("only", nargs="?", default="", help="part of an exercise's name, or of a table's")
    every = sorted(durations(parser.parse_args(arguments).only), reverse=True)
    print(f"{len(every)} answers: {sum(duration.processor for duration in every):.1f} s of the processor")
    print(f"{sum(duration.processor > 1 for duration in every)} above 1 s; the slowest:")
    for processor, clock, label, outcome in every[:SLOWEST]:
        print(f"{processor:6.2f} s {clock:6.2f} s  {label}: {outcome}")


if __name__ == "__main__":
    main()

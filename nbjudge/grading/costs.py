"""What a right answer costs beside the course's own one, and one better: an answer that takes less.

All are called once more, on the same numbers: in the case that cost most, if the check counts; else in its
last case, which is the largest, with arrays and functions that count (meter.py).
"""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from typing import NamedTuple

from nbjudge.answers import define
from nbjudge.comparing.judging import Transcript, recording
from nbjudge.course import current
from nbjudge.exercise import Exercise
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import describe_case, draw_cases, draws, own_settings
from nbjudge.grading.meter import Meter
from nbjudge.grading.output import limited_output

SECONDS = 5.0  # of one answer; without counts if it takes longer
LESS = 0.9  # of a count: an answer that takes a little less is another one, and no better


class Costs(NamedTuple):
    """Counts of the costliest call of a case, by what is counted."""

    case: str
    got: Counter
    own: Counter  # of the course's own answer
    better: Counter | None  # of a right answer that takes less of something, and more of nothing


def compare_costs(exercise: Exercise, function: Callable, *place: int) -> Costs | None:
    """What answers cost in a case of the check, whose place is a seed and the number of the case.

    None where the answer cannot be called with arrays that count, and for a kernel on a GPU. What it shows
    was seen when it was judged.
    """
    with redirect_stdout(io.StringIO()), limited_output(0), own_settings(), suppress(Exception):
        case, got = _spend(exercise, function, *place)
        _, own = _spend(exercise, exercise.reference, *place)
        others = own, *_of_others(exercise, *place)
        better = [costs for costs in others if costs < got and any(costs[n] <= LESS * got[n] for n in got)]
        return Costs(case, got, own, max(better, key=Counter.total, default=None))


def _of_others(exercise: Exercise, *place: int) -> Iterator[Counter]:
    """Costs of the other right answers that the course knows."""
    for number, source in enumerate(exercise.right, 1):
        with suppress(Exception):
            label = f"<right answer {number}, {exercise.name}>"
            yield _spend(exercise, define(exercise.name, source, label, "import numpy as np"), *place)[1]


def _spend(exercise: Exercise, function: Callable, seed: int, number: int) -> tuple[str, Counter]:
    """The case in words, and what a function costs there; number: below 0 where the check counts nothing."""
    arguments = draw_cases(exercise, seed)[number]
    transcript = Transcript()
    transcript.case = case = describe_case(exercise, arguments)
    meter = Meter(current().launched(function))
    called = meter if number < 0 and not exercise.is_kernel else meter.function
    answer = InProcess(called, exercise.name, is_own=True, seconds=SECONDS)
    with recording(transcript):
        exercise.check(answer, draws(exercise, seed, abs(number)), *arguments)
    if transcript.first:  # arrays that count are not what it works with
        raise transcript.first
    return case or transcript.case, +(transcript.costs or meter.costs)

"""The course's own answers, as its checks need them: `answers(lesson)` reads packed/<lesson>.answers.

`python -m rnncourse.build` writes those files from solutions/source/<lesson>/.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from pathlib import Path

from nbjudge.answers import ModelAnswer, call, load, unpack
from nbjudge.exercise import Exercise
from rnncourse.checks.tables import Cases, Late, cases_of

__all__ = "Answers", "ModelAnswer", "answers", "call", "load", "packed"


class Answers(dict[str, ModelAnswer]):
    """{exercise: its answer} of a lesson, in the order of its notebook."""

    def exercise(
        self, cases: str | Cases = ((),), late: Late = None, **properties: object
    ) -> Callable[[Callable], Exercise]:
        """Decorator that makes the exercise NAME of its check, check_NAME(answer, submission, rng, *case).

        answer: the course's own.  cases: a table (tables.py), or what ModelAnswer.exercise takes; so are late
        and the properties.
        """
        if isinstance(cases, str):
            cases, last = cases_of(cases)
            late = late or last

        def judged_by(check: Callable) -> Exercise:
            answer = self[check.__name__.removeprefix("check_")]
            is_kernel = "@cuda.jit" in answer.source
            own = partial(check, answer)
            return answer.exercise(own, cases, is_kernel=is_kernel, late=late, **properties)

        return judged_by


@cache
def answers(lesson: str) -> Answers:
    """A lesson's answers; bptt or 02_bptt."""
    return Answers((answer.name, answer) for answer in unpack(packed(lesson).read_bytes()))


def packed(lesson: str) -> Path:
    """The file of a lesson's answers."""
    name = lesson.lstrip("0123456789_")
    return Path(str(resources.files("rnncourse.checks"))) / "packed" / f"{name}.answers"

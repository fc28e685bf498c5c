"""The course's own answers, as its checks need them: `answers(lesson)` reads packed/<lesson>.answers.

`python -m rnncourse.build` writes those files from solutions/source/<lesson>/.
"""

from functools import cache
from importlib import resources
from pathlib import Path

from nbjudge.answers import ModelAnswer, call, load, unpack

__all__ = "ModelAnswer", "answers", "call", "load", "packed"


@cache
def answers(lesson: str) -> dict[str, ModelAnswer]:
    """{exercise: its answer} of a lesson, bptt or 02_bptt, in the order of its notebook."""
    return {answer.name: answer for answer in unpack(packed(lesson).read_bytes())}


def packed(lesson: str) -> Path:
    """The file of a lesson's answers."""
    name = lesson.lstrip("0123456789_")
    return Path(str(resources.files("rnncourse.checks"))) / "packed" / f"{name}.answers"

"""The course whose notebooks are judged: one object, chosen by the program that starts the judging.

nbjudge knows no course.  `choose("module:NAME")` says where the object stands, and processes started later
find it by the environment variable NBJUDGE_COURSE.  Without a choice it is the one that an installed
distribution names in the entry point group `nbjudge.courses`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Protocol

from nbjudge.exercise import Exercise
from nbjudge.remedies import pip_install

VARIABLE = "NBJUDGE_COURSE"
GROUP = "nbjudge.courses"


@dataclass(frozen=True)
class Kind:
    """Answers of another kind than plain functions, such as kernels: what their process needs of the course.

    module: a file without relative imports, below the folder that the packages lie in, with two functions.
    `prepare(folder)` loads what such answers use from that folder, and returns the module that the answer
    gets as COURSE.word. `launched(function, is_own)` makes the function to call; it may leave answers of
    other kinds as they are.
    builder: another such file, whose `build(text, constants, module)` makes the function from what the judge
    has selected (Course.select), in a process that runs no statement of the submission.
    """

    word: str  # an answer whose text holds it is of this kind
    module: str
    builder: str
    files: tuple[str, ...]  # what `prepare` needs, below the same folder


class Comparison(Protocol):
    """How two arrays are compared, and with which tolerances."""

    TOLERANCES: Mapping  # dtype: with an attribute `gradient`, the largest relative error
    relative_error: Callable
    first_difference: Callable


class Course(Protocol):
    """What nbjudge needs to know of a course."""

    name: str  # of the package that a learner imports
    command: str  # its program on the command line
    settings_prefix: str  # of its variables in the environment, as COURSE_
    environment: Mapping[str, str]  # of such variables, where answers run
    kind: Kind
    lessons: Mapping[str, str]  # lesson: its notebooks' name, in the order of the course
    packages: Sequence[str]  # the course's own packages, which no answer may see
    refused: tuple[str, ...]  # beginnings of modules that a notebook's answer may not take names from
    compare: Comparison
    answers_folder: str  # of packed answers, below the course's folder
    drawings_folder: str

    def replay(self, function: Callable, call: object) -> object:
        """A call that a check has kept (judging.begin_call), made once more; shown step by step."""

    def catalogue(self, lesson: str) -> dict[str, int]:
        """{exercise: points} of one lesson, in the order of its notebook."""

    def exercises(self, lesson: str) -> tuple[Exercise, ...]:
        """The exercises of one lesson, in the order of its notebook."""

    def find(self, name: str) -> tuple[str, Exercise]:
        """(lesson, exercise) by the exercise's name."""

    def answers(self, lesson: str) -> dict:
        """{exercise: nbjudge.answers.ModelAnswer} of one lesson."""

    def usable_cores(self) -> int:
        """Cores that this process may run on."""

    def memory_limit(self) -> float:
        """Bytes that this process may use; infinite without a limit."""

    def launched(self, function: Callable, is_own: bool = False) -> Callable:
        """The function of `kind.module`, for answers in a notebook's own process."""

    def select(self, answer: object, seconds: float, box: object, lines: list[str]) -> object:
        """What builds an answer of `kind` in a process of its own, with `name`, `cells` and `packed()`.

        Raises verdict.Stopped if the answer is not of that kind.  seconds, box: of a worker that makes
        constants, if one is needed; statements that failed there are added to `lines`.
        """

    def refuse_function(self, function: Callable) -> None:
        """The same for a function of the running notebook."""


def choose(address: str) -> None:
    """Judge notebooks of the course that stands at "module:NAME", here and in processes started from here."""
    os.environ[VARIABLE] = address


def install_command() -> str:
    """The command that installs the course's extra `lab`, in a clone and beside a wheel."""
    return pip_install(f"{current().name}[lab]")


def current() -> Course:
    """The chosen course.  Raises RuntimeError if none is chosen, and not exactly one is installed."""
    return _load(os.environ.get(VARIABLE) or _installed())


def exercise_names() -> set[str]:
    """The names of all exercises of the chosen course."""
    course = current()
    return {name for lesson in course.lessons for name in course.catalogue(lesson)}


@cache
def _load(address: str) -> Course:
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


@cache
def _installed() -> str:
    addresses = sorted({entry.value for entry in metadata.entry_points(group=GROUP)})
    if len(addresses) != 1:
        names = ", ".join(addresses) or "none"
        raise RuntimeError(f"no course is chosen: set {VARIABLE}=module:NAME; installed: {names}")
    return addresses[0]

"""What an exercise is: a function by name, its check, its hints, and the mistakes it must recognise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Numbers = Mapping[str, int | str]  # of a variant, by name


class NotPassed(Exception):
    """Why an answer has not passed: what is wrong with it, or why none came back, in the learner's terms."""

    def __init__(self, message: str, misconception: str | None = None, next_step: str | None = None):
        super().__init__(message)
        self.message = message
        self.misconception = misconception
        self.next_step = next_step


class Wrong(NotPassed):
    """Raised by a check: the first difference, and the misconception if it is known."""


class UnknownExercise(ValueError):
    """No exercise of the course has this name; the message offers the nearest ones."""


@dataclass(frozen=True)
class Mutant:
    """A realistic wrong answer, written as an edit of the solution so that it cannot go stale unnoticed."""

    name: str  # the misconception, as the check must name it
    old: str  # stands in the solution
    new: str


@dataclass(frozen=True)
class Code:
    """A function argument that the judge runs itself; the answer's process gets its name, to call it by.

    The source is executed afresh for each call of the answer, and Codes with the same source share its
    globals. It may use `np`, append to the list `trace`, and raise Wrong(message, misconception, next_step):
    the answer then has failed, whatever it does afterwards. What it counts no answer can reach.
    """

    source: str
    name: str
    trace: list | None = field(default=None, compare=False)  # what the answer did, for the check to read


@dataclass(frozen=True)
class Proxy:
    """An argument made where the answer runs, from source text that calls functions of the judge by name.

    The text may use `np`, `Wrong` and the names of `services`; those with the same source share its globals.
    Numbers, counts and traces belong into the services: what the text holds can be read by the answer.
    """

    source: str
    name: str
    services: Mapping[str, Callable] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Exercise:
    """One function to write, and how it is judged.

    `check(submission, rng, *case)` runs for each case and notes what it observes with
    `judging.expect` and `judging.refuse`; `cases` are tuples of sizes, or a function of a generator that
    draws them.
    """

    name: str
    points: int
    difficulty: int  # 1 to 5
    minutes: int
    lines: int  # expected size of the answer
    hints: tuple[str, ...]  # orient, key idea, near-code
    check: Callable
    cases: tuple[tuple, ...] | Callable
    make: Callable[[Mutant | None], Callable]  # the course's own function, with or without a known mistake
    mutants: tuple[Mutant, ...]
    right: tuple[str, ...]  # differently written right answers, as programs
    seconds: float = 20.0  # time limit of the whole check, in the worker
    is_kernel: bool = False  # called with (grid, block, *arguments); see kernel_source.py
    diagnoses: bool = False  # the check names mistakes itself; known ones are not run beside the answer

    @property
    def reference(self) -> Callable:
        """The course's own function."""
        return self.make(None)

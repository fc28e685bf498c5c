"""The message about one exercise: a word first, then why, then what to do next."""

import html
from dataclasses import dataclass, field
from enum import StrEnum

from nbjudge.exercise import NotPassed
from nbjudge.printable import printable


class Status(StrEnum):
    """The outcomes of a check. A word and a sign stand for each: a colour alone says nothing to many
    readers."""

    passed = "passed"
    failed = "failed"
    not_attempted = "not_attempted"
    crashed = "crashed"
    timeout = "timeout"
    memory = "memory"
    too_big = "too_big"
    forbidden = "forbidden"
    grader_error = "grader_error"

    @property
    def word(self) -> str:
        return self.replace("_", " ")

    @property
    def shown(self) -> str:
        """Sign and word."""
        return f"{SIGNS.get(self, OTHERWISE[0])} {self.word}"


SIGNS = {Status.passed: "✔", Status.failed: "✘", Status.not_attempted: "○", Status.grader_error: "⚠"}
COLOURS = {Status.passed: "#00664b", Status.not_attempted: "#555555", Status.grader_error: "#7a4f00"}
OTHERWISE = "!", "#a33b00"  # the answer was stopped: crashed, timeout, memory, too_big, forbidden


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise. Its texts hold nothing that a terminal would obey (nbjudge.printable)."""

    name: str
    status: Status
    points: int
    max_points: int
    message: str = ""
    misconception: str | None = None
    next_step: str | None = None
    seconds: float = 0.0
    looks: tuple[str, ...] = ()  # lines that look into the process they run in, for the teacher
    below: object = field(default=None, compare=False, repr=False)  # in a notebook: own_answer.OwnAnswer

    def __post_init__(self) -> None:
        for name in ("message", "misconception", "next_step"):
            text = getattr(self, name)
            object.__setattr__(self, name, text and printable(text))

    @property
    def passed(self) -> bool:
        return self.status is Status.passed

    def __bool__(self) -> bool:
        return self.passed

    @property
    def is_open(self) -> bool:
        """Are its points still to come? A fault that is proven to be the grader's has given them."""
        return self.status is Status.grader_error and self.points < self.max_points

    def headline(self) -> str:
        """One line: sign, word, name, points."""
        return f"{self.status.shown} · {self.name} · {self.points} of {self.max_points} points"

    def details(self) -> list[str]:
        """The lines below: what differs, the likely mistake, what to do next."""
        likely = ""
        if self.misconception:
            likely = f"It looks as if {self.name} {self.misconception}."
        following = f"Next: {self.next_step}" if self.next_step else ""
        costs = self.below.in_counts() if self.below else ""
        return [line for line in (self.message, likely, following, costs) if line]

    def __str__(self) -> str:
        lines = [*self.details(), self.below.offered() if self.below else ""]
        return "\n".join([self.headline(), *("  " + line.replace("\n", "\n  ") for line in lines if line)])

    __repr__ = __str__  # the last line of a cell in a terminal shows the words, not the fields

    def _repr_html_(self) -> str:
        colour = COLOURS.get(self.status, OTHERWISE[1])
        lines = "".join(
            f"<div style='white-space:pre-wrap'>{html.escape(line)}</div>" for line in self.details()
        )
        style = f"border-left:6px solid {colour};background:#fff;color:#1a1a1a;padding:.4em .8em"
        folded = self.below.folded() if self.below else ""
        headline = f"<strong>{html.escape(self.headline())}</strong>"
        return f"<div role='status' style='{style}'>{headline}{lines}</div>{folded}"


class Stopped(NotPassed):
    """The answer did not come back: why, in the learner's terms. Raised by a submission, passed through a
    check.

    `proven`: a grader_error that the judge has shown to be its own fault. Only then are the points given.
    """

    def __init__(self, status: Status, message: str, next_step: str | None = None, proven: bool = False):
        super().__init__(message, next_step=next_step)
        self.status = status
        self.proven = proven

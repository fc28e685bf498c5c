"""The course's own answer beside a learner's that passed its check: its idea, what both cost, and its text.

The text is read from solutions/, where the learner has that folder: a copy that was handed out without it
shows counts alone.  So does a variant, which is for a class, and a notebook that nbgrader runs for marks.
"""

import html
import inspect
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from nbjudge.authoring.percent import BEGIN, END
from nbjudge.course import current
from nbjudge.exercise import Exercise
from nbjudge.files import ROOT
from nbjudge.finding.notebook import Notebook
from nbjudge.grading.costs import Costs

GRADED = "NBGRADER_EXECUTION"  # nbgrader sets it where it runs a notebook
NOUN = re.compile(
    r"^(.*?)(?= (?:of|from|to|between|into|read|written|loaded|passed|saved|on) |$| (?:read|written)$)"
)
PLURAL = r"\1s"
IN_TWO_COLUMNS = "display:flex;flex-wrap:wrap;gap:1em"


def solved_notebook(lesson: str) -> Path | None:
    """The notebook with the lesson's solutions, below the course's folder; None where it is not there."""
    path = Path("solutions", f"{current().lessons[lesson]}.ipynb")
    if (ROOT / path).is_file() and not os.environ.get(GRADED):
        return path
    return None


class OwnAnswer:
    """What stands below the verdict on a right answer; folded in a notebook."""

    def __init__(
        self, exercise: Exercise, function: Callable, solved: Path | None, costs: Costs | None
    ) -> None:
        self.name = exercise.name
        self.function = function
        self.idea = exercise.hints[1]
        self.solved = solved
        self.costs = costs

    def offered(self) -> str:
        """How to see it where nothing can be unfolded; empty where its text is not shown."""
        call = offer("solution", self.name)
        return f"The course's own answer beside yours: {call}" if self.solved else ""

    def in_counts(self) -> str:
        """What both cost on the same input, and what one better takes less of; empty without counts."""
        if self.costs is None or not (names := self.costs.got | self.costs.own):
            return ""
        case, got, own, better = self.costs
        pairs = [f"{got[name]:,} and {_quantity(own, name)}" for name in names if got[name] != own[name]]
        alike = ", ".join(_quantity(got, name) for name in names if got[name] == own[name])
        parts = [", ".join(pairs), f"both {alike}" if alike else ""]
        where = f" ({case})" if case else ""
        text = f"In counts, yours and the course's own answer{where}: {'; '.join(filter(None, parts))}."
        if better is None:
            return f"{text}\nNo answer known to the course takes a tenth less of one and no more of another."
        less = [_quantity(better, name) for name in got if better[name] < got[name]]
        return f"{text}\nOne better takes {', '.join(less)}, and no more of anything."

    def __str__(self) -> str:
        text = self.solved and _solution(self.solved, self.name)
        idea = f"The idea of the course's own answer ({self.solved}): {self.idea}\n\n{text}"
        return "\n".join(filter(None, (self.in_counts(), self.solved and idea)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.in_counts())}</p>{self.folded(' open')}"

    def folded(self, state: str = "") -> str:
        """The idea and both texts as HTML, which a click unfolds; empty where they are not shown."""
        if not self.solved:
            return ""
        texts = {"yours": source_of(self.function), str(self.solved): _solution(self.solved, self.name)}
        columns = "".join(map(_column, texts, texts.values()))
        summary = f"<summary>The course's own answer beside yours</summary><p>{html.escape(self.idea)}</p>"
        return f"<details{state}>{summary}<div style='{IN_TWO_COLUMNS}'>{columns}</div></details>"


def _quantity(costs: Counter, name: str) -> str:
    """A count and its noun, of which the first part has the plural: "2 sectors read"."""
    return f"{costs[name]:,} {name if costs[name] == 1 else NOUN.sub(PLURAL, name, count=1)}"


def offer(word: str, name: str) -> str:
    """A call that a learner can copy; with its import where the notebook has not made it."""
    package = current().name
    is_there = getattr(sys.modules["__main__"], word, None) is getattr(sys.modules.get(package), word, word)
    if is_there:
        return f"{word}({name})"
    return f"from {package} import {word}; {word}({name})"


def source_of(function: Callable) -> str:
    """The learner's own text; empty where nobody kept it."""
    try:
        return inspect.getsource(getattr(function, "py_func", function))
    except (OSError, TypeError):
        return ""


def _solution(solved: Path, name: str) -> str:
    """The cell of the solved notebook that defines the exercise's function."""
    lines = Notebook.read(ROOT / solved).cell_of(name).text.split("\n")
    return "".join(f"{line}\n" for line in lines if line.strip() not in (BEGIN, END))


def _column(title: str, text: str) -> str:
    return f"<div>{html.escape(title)}<pre>{html.escape(text)}</pre></div>"

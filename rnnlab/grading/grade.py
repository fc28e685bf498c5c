"""A whole notebook: which unit it is, one verdict an exercise, and the report of all."""

import json
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import NamedTemporaryFile

from rnnlab import checks
from rnnlab.grading import sandbox
from rnnlab.grading.exercise import Exercise
from rnnlab.grading.judge import judge, verdict
from rnnlab.grading.kernel_source import refuse_what_is_no_kernel
from rnnlab.grading.looks import lines_that_look
from rnnlab.grading.reading import Cell, Unusable, read
from rnnlab.grading.sandbox import Sandbox
from rnnlab.grading.slices import answer_in, defined
from rnnlab.grading.verdict import Status, Stopped, Verdict
from rnnlab.grading.worker import Answer, Worker

SEED_BITS = 53  # the largest integers that every reader of JSON keeps


@dataclass(frozen=True)
class Report:
    """The verdicts on one notebook, and how they were found."""

    unit: str
    box: Sandbox
    seed: int
    verdicts: tuple[Verdict, ...]

    @property
    def score(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_score(self) -> int:
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def all_passed(self) -> bool:
        return all(self.verdicts)

    def __str__(self) -> str:
        """The last line of a grade."""
        box = self.box.name if not self.box.why else f"{self.box.name} ({self.box.why})"
        return f"{self.unit}: {self.score} of {self.max_score} points · sandbox: {box} · seed: {self.seed}"

    def to_json(self) -> str:
        """The report as a program reads it."""
        fields = ("name", "points", "max_points", "status", "message", "misconception", "seconds", "looks")
        rows = [{field: getattr(verdict, field) for field in fields} for verdict in self.verdicts]
        rows = [row | {"seconds": round(row["seconds"], 3)} for row in rows]
        head = {"unit": self.unit, "score": self.score, "max_score": self.max_score}
        head |= {"sandbox": self.box.name, "seed": self.seed, "exercises": rows}
        return json.dumps(head, indent=1, ensure_ascii=False) + "\n"

    def save(self, path: Path) -> None:
        """Write the JSON; a reader sees the old file or the whole new one, never a part."""
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            try:
                file.write(self.to_json())
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
                raise


def grade(
    path: Path,
    *,
    seed: int | None = None,
    plain: bool = False,
    only: str | None = None,
    unit: str | None = None,
    tell: Callable[[Verdict], None] = lambda verdict: None,
) -> Report:
    """The report on a notebook; each verdict is also handed to `tell` as soon as it stands."""
    cells = read(path)
    unit = unit_of(path, defined(cells), unit)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    box = sandbox.choose(plain)
    verdicts = []
    for exercise in _chosen(unit, only):
        verdicts.append(grade_one(exercise, cells, seed, box))
        tell(verdicts[-1])
    return Report(unit, box, seed, tuple(verdicts))


def grade_one(exercise: Exercise, cells: list[Cell], seed: int, box: Sandbox) -> Verdict:
    """The verdict on one exercise, whatever the notebook holds; a process that does not start is tried
    again."""
    try:
        answer = answer_in(cells, exercise.name)
    except Stopped as stopped:
        return verdict(exercise, stopped)
    first = judge_apart(exercise, answer, seed, box)
    return judge_apart(exercise, answer, seed, box) if first.status is Status.grader_error else first


def judge_apart(exercise: Exercise, answer: Answer, seed: int, box: Sandbox) -> Verdict:
    """The verdict on an answer that runs in its own process."""
    try:
        if exercise.is_kernel:
            refuse_what_is_no_kernel(answer)
        with Worker(answer, exercise.seconds, box) as worker:
            judged = judge(exercise, worker, seed)
        return replace(judged, looks=lines_that_look(answer))
    except Stopped as stopped:
        return verdict(exercise, stopped)


def unit_of(path: Path, names: set[str], insisted: str | None = None) -> str:
    """The unit that a notebook belongs to: by its file's name if that says one, else by the functions in
    it."""
    if insisted and insisted not in checks.UNITS:
        raise Unusable(f"There is no unit {insisted!r}; the units are {', '.join(checks.UNITS)}.")
    held = {unit: [e.name for e in checks.exercises(unit) if e.name in names] for unit in checks.UNITS}
    likely = max(held, key=lambda unit: len(held[unit]))
    said = insisted or next(
        (unit for unit in checks.UNITS if re.search(rf"(?<![a-z]){unit}(?![a-z])", path.stem)), None
    )
    if said and (held[said] or not held[likely]):
        return said
    if said:
        raise Unusable(
            f"{path} should be of unit {said} but holds none of its exercises. It seems to be of {likely}: "
            f"it defines {', '.join(held[likely])}. Grade that file, or call it {checks.UNITS[likely]}.ipynb."
        )
    if held[likely]:
        return likely
    near = [f"{name} (for {close[0]}?)" for name in sorted(names) if (close := _near(name))]
    found = f" It defines {', '.join(near[:3])}." if near else ""
    raise Unusable(
        f"{path} defines no exercise of this course.{found} The units are {', '.join(checks.UNITS)}."
    )


def _near(name: str) -> list[str]:
    return get_close_matches(name, [exercise.name for _, exercise in checks.every()], 1, 0.75)


def _chosen(unit: str, only: str | None) -> list[Exercise]:
    found = [exercise for exercise in checks.exercises(unit) if only in (None, exercise.name)]
    if not found:
        names = ", ".join(exercise.name for exercise in checks.exercises(unit))
        raise Unusable(f"Unit {unit} has no exercise {only!r}; it has {names}.")
    return found

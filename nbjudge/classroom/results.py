"""Results of a class: the JSON that `grade --json` writes, and whose file it is about.

Each graded submission has a file of its own, written whole as soon as it is graded.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from nbjudge.classroom import submissions
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Status, Verdict


@dataclass(frozen=True)
class Result:
    """The verdicts on one submission; the package's docstring explains each field."""

    student: str
    lesson: str
    submission: str
    grader: str
    score: int
    max_score: int
    sandbox: str
    limits_by: str
    seed: int
    exercises: tuple[dict, ...]
    variants: dict = field(default_factory=dict)
    problem: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Student and lesson."""
        return self.student, self.lesson

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts as `check` shows them."""
        return tuple(map(verdict_of, self.exercises))

    @property
    def open(self) -> list[str]:
        """Exercises whose points are to come."""
        return [verdict.name for verdict in self.verdicts if verdict.is_open]

    @property
    def faults(self) -> list[str]:
        """Exercises that the grader could not judge, by its own fault."""
        return [exercise["name"] for exercise in self.exercises if exercise["status"] == Status.grader_error]


def verdict_of(exercise: dict) -> Verdict:
    """The verdict that an entry of a report was made from."""
    return Verdict(**exercise | {"status": Status(exercise["status"]), "looks": tuple(exercise["looks"])})


def path_of(folder: Path, student: str, lesson: str) -> Path:
    """The file of a student's result of a lesson, below a folder of results."""
    return folder / submissions.slug(student) / f"{lesson}.json"


def write(path: Path, result: Result) -> None:
    """Write the file of a result, whole. Raises Unusable where the disk refuses."""
    text = json.dumps(vars(result), indent=1, ensure_ascii=False)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise Unusable(
            f"the result of {result.student} could not be written: {error.strerror}. All that was graded "
            "before it is kept: make room, or make the folder writable, then continue with --resume."
        ) from error


def load(folder: Path, below: str = "results") -> list[Result]:
    """The results of a class folder, by student and lesson, of the submissions that count now.

    A result of an earlier attempt is left out until the newer one is graded, which replaces it.
    """
    listed = []
    for entry in submissions.graded(submissions.load(folder)):
        path = path_of(folder / below, *entry.place)
        if path.exists():
            result = read(path)
            if result.place != entry.place:
                raise Unusable(f"{path} holds the result of {result.student}, {result.lesson}: {REMEDY}")
            listed += [result] if result.submission == entry.sha256 else []
    return listed


def by_place(folder: Path, below: str = "results") -> dict[tuple[str, str], Result]:
    """The same by student and lesson."""
    return {result.place: result for result in load(folder, below)}


REMEDY = "remove it, and grade with --resume."


def read(path: Path) -> Result:
    """The result in a file. Raises Unusable where it is damaged, or does not add up."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        result = Result(**entry | {"exercises": tuple(entry["exercises"])})
        marks = [verdict.points for verdict in result.verdicts if 0 <= verdict.points <= verdict.max_points]
        is_whole = isinstance(result.student, str) and len(marks) == len(result.exercises)
    except (ValueError, TypeError, KeyError, AttributeError):
        is_whole = False
    if not is_whole or sum(marks) != result.score:
        raise Unusable(f"{path} is damaged or was changed by hand: {REMEDY}")
    return result

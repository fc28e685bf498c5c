"""Results of a class: one file for each graded submission, and results.jsonl, which repeats them as lines.

A file is written whole as soon as its submission is graded. The list is written anew from the files when a
run begins and when it ends.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from nbjudge.classroom import submissions
from nbjudge.course import current
from nbjudge.files import write_whole
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import printable
from nbjudge.verdict import Status, Verdict

FORMAT = 1
TIMES = "graded", "seconds"  # the only fields that differ between two runs, here and in exercises
WORDS = "name", "status", "points", "max_points", "message", "misconception", "next_step"


@dataclass(frozen=True)
class Result:
    """The verdicts on one submission; the package's docstring explains each field."""

    student: str
    lesson: str
    submission: str
    grader: str | None
    seed: int
    variant: dict | None
    sandbox: str
    problem: str | None
    score: int
    max_score: int
    exercises: tuple[dict, ...]
    limits_by: str = ""
    key: str = ""
    graded: str = ""
    seconds: float = 0.0
    format: int = FORMAT

    @property
    def place(self) -> tuple[str, str]:
        """Student and lesson."""
        return self.student, self.lesson

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts as `check` shows them."""
        return tuple(verdict_of(exercise) for exercise in self.exercises)

    @property
    def faults(self) -> list[str]:
        """Exercises that the grader could not judge, by its own fault."""
        return [exercise["name"] for exercise in self.exercises if exercise["fault"]]

    def line(self) -> str:
        """The result as one line of JSON; fields in a fixed order."""
        return json.dumps(vars(self), ensure_ascii=False, sort_keys=True)


FIELDS = {field.name for field in fields(Result)}
EXERCISE_FIELDS = {*WORDS, "looks", "fault", "grader", "seconds"}


def exercise_entry(verdict: Verdict, grader: str) -> dict:
    """What a result keeps of a verdict."""
    return {word: getattr(verdict, word) for word in WORDS} | {
        "looks": [printable(line) for line in verdict.looks],
        "fault": verdict.status is Status.grader_error,
        "grader": grader,
        "seconds": round(verdict.seconds, 3),
    }


def verdict_of(exercise: dict) -> Verdict:
    """The verdict that an entry was made from."""
    words = {word: exercise[word] for word in WORDS} | {"status": Status(exercise["status"])}
    return Verdict(**words, seconds=exercise["seconds"], looks=tuple(exercise["looks"]))


def key_of(submission: str, graders: Iterable[str], seed: int, variant: dict | None) -> str:
    """The key of a result: equal keys, equal verdicts."""
    words = json.dumps([submission, sorted({*graders}), seed, variant], sort_keys=True)
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def notebook_problem(job: dict) -> str:
    """Why the notebook of a job is not graded: it is not what was collected, and nobody loses marks to that.
    Empty where it is."""
    try:
        digest = hashlib.sha256(Path(job["path"]).read_bytes()).hexdigest()
    except FileNotFoundError:
        digest = None
    if digest == job["submission"]:
        return ""
    how = "is another one than was collected: remove it" if digest else "is missing"
    return (
        f"files/{job['submission']}.ipynb, the notebook of {job['student']} for {job['lesson']}, {how}. "
        "Bring it back from a copy, or collect the download again; then repeat the command."
    )


def path_of(folder: Path, student: str, lesson: str) -> Path:
    """The file of a student's result of a lesson, below a folder of results."""
    return folder / submissions.slug(student) / f"{lesson}.json"


def write(folder: Path, result: Result) -> None:
    """Write the file of a result, whole, below a folder of results. Raises OSError where the disk refuses."""
    path = path_of(folder, *result.place)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, f"{result.line()}\n".encode())


def load(folder: Path) -> list[Result]:
    """The results of a class folder, by student and lesson, of the submissions that count now.

    A result of an earlier attempt is left out until the newer one is graded, which replaces it.
    """
    wanted = _wanted(folder)
    listed = read_all(folder / "results")
    return [result for result in listed if wanted.get(result.place) == result.submission]


def _wanted(folder: Path) -> dict[tuple[str, str], str | None]:
    """{(student, lesson): sha256} of the submissions that count."""
    return {entry.place: entry.sha256 for entry in submissions.graded(submissions.load(folder))}


def read_all(folder: Path) -> list[Result]:
    """The results in the files below a folder. Raises Unusable where one is damaged or a copy of another."""
    paths = [path for path in folder.glob("*/*.json") if not path.name.startswith(".")]
    listed = []
    for path in sorted(paths):
        listed.append(result := read(path))
        if path != (own := path_of(folder, *result.place)):
            raise Unusable(
                f"{path} holds the result of {result.student}, {result.lesson}, whose file is {own}: remove "
                "it, and grade with --resume."
            )
    return sorted(listed, key=lambda result: result.place)


def read(path: Path) -> Result:
    """The result in a file. Raises Unusable where it is damaged."""
    result = parsed(path.read_text(encoding="utf-8", errors="replace"))
    if result is None:
        raise Unusable(f"{path} is damaged or was changed by hand: remove it, and grade with --resume.")
    return result


def parsed(line: str) -> Result | None:
    """The result in a line of JSON; None for any other line, as the half one that a kill has left."""
    try:
        entry = json.loads(line)
        known = {name: value for name, value in entry.items() if name in FIELDS}
        result = Result(**known | {"exercises": tuple(entry["exercises"])})
        is_whole = all(exercise.keys() >= EXERCISE_FIELDS for exercise in result.exercises)
        is_ours = isinstance(result.student, str) and result.lesson in current().lessons
        return result if is_whole and is_ours and _adds_up(result) and result.format == FORMAT else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _adds_up(result: Result) -> bool:
    """Are all verdicts such as a check gives, and is the score their sum?"""
    exercises = result.exercises
    are_verdicts = (e["status"] in {*Status} and 0 <= e["points"] <= e["max_points"] for e in exercises)
    return all(are_verdicts) and result.score == sum(e["points"] for e in exercises)


def repair(folder: Path) -> list[Result]:
    """All results, after results.jsonl is written anew from them; files that a kill left half are removed."""
    (folder / "results").mkdir(mode=0o700, exist_ok=True)
    for part in folder.glob("results/*/.*.part"):
        part.unlink()
    listed = load(folder)
    derive(folder, listed)
    return listed


def derive(folder: Path, listed: list[Result]) -> None:
    """Write results.jsonl anew from the results of the files. Raises Unusable where the disk refuses."""
    text = "".join(f"{result.line()}\n" for result in sorted(listed, key=lambda result: result.place))
    path = folder / "results.jsonl"
    try:
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text.encode())
    except OSError as error:
        raise Unusable(
            f"{path} could not be written: {error.strerror}. All results are kept in {folder / 'results'}: "
            "make room, or make the folder writable, then repeat the command."
        ) from error

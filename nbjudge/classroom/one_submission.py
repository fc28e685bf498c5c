"""One submission graded on a platform's own machine, small and slow as it may be: Gradescope.

The platform ends a run that takes too long, and the student then has nothing. So time is a budget here: what
no time is left for is not judged, and the other verdicts stand.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nbjudge.course import current
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.clean_start import clean_start
from nbjudge.grading.grade import as_variant, grade_one, notebook_of
from nbjudge.running import sandbox
from nbjudge.variants import describe_numbers
from nbjudge.verdict import Status, Verdict

SLOWER = 3  # times an exercise's limit, on half a core that the judge uses, too
MOST_NOTEBOOKS = 100  # of a submission that are looked into
SHARE = 0.55  # of the machine's memory, for an answer; the judge and Python need the rest


class Outcome(NamedTuple):
    """The verdicts on one submission, or the sentence that says why it was not graded."""

    verdicts: tuple[Verdict, ...]
    problem: str  # empty where the notebook was graded
    sandbox: str
    seconds: float
    variants: str = ""  # the sentence on exercises that the notebook has with numbers of its own

    @property
    def score(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def faults(self) -> list[str]:
        """Exercises that were not judged, by no fault of the student."""
        return [verdict.name for verdict in self.verdicts if verdict.status is Status.grader_error]


def grade_folder(
    folder: Path, lesson: str, seed: Callable[[bytes], int], budget: float, now: Callable = time.monotonic
) -> Outcome:
    """Grade the one notebook of a lesson below a folder, within `budget` seconds.

    A variant is taken as the notebook's own `check` names it, for the class key is not here.
    seed: the seed for a notebook with these bytes.
    """
    start = now()
    box = fitting_box()
    numbers: list[str] = []

    def outcome(verdicts, problem):
        return Outcome(verdicts, problem, words_on(box), now() - start, _words_on_variants(numbers))

    try:
        path = notebook_in(folder.absolute(), lesson)
        with clean_start():
            notebook = notebook_of(path, lesson)
            chosen = seed(path.read_bytes())
            verdicts = []
            for exercise in current().exercises(lesson):
                exercise, known = as_variant(exercise, notebook)
                numbers += [f"{exercise.name} with {describe_numbers(known)}"] if known else []
                left = budget - (now() - start)
                if left < exercise.seconds + 1:
                    verdicts.append(_out_of_time(exercise.name, exercise.points))
                    continue
                patient = replace(exercise, seconds=min(SLOWER * exercise.seconds, left))
                verdicts.append(grade_one(patient, notebook, chosen, box))
    except Unusable as unusable:
        return outcome((), str(unusable).replace(f"{folder.absolute()}/", ""))
    return outcome(tuple(verdicts), "")


def notebook_in(folder: Path, lesson: str) -> Path:
    """The notebook of the lesson in a submission. Raises Unusable unless it is exactly one."""
    paths = (path for path in folder.rglob("*") if path.suffix.lower() == ".ipynb")
    books = sorted(path for path in paths if path.is_file() and not path.is_symlink())
    books = [path for path in books if ".ipynb_checkpoints" not in path.parts][:MOST_NOTEBOOKS]
    if len(books) > 1:
        books = [path for path in books if _is_of(path, lesson)] or books
    if len(books) == 1:
        return books[0]
    names = ", ".join(path.relative_to(folder).as_posix() for path in books[:5]) + (
        " …" if len(books) > 5 else ""
    )
    stem = current().lessons[lesson]
    if not books:
        raise Unusable(f"The submission holds no notebook: hand in {stem}.ipynb.")
    raise Unusable(f"The submission holds {len(books)} notebooks ({names}): hand in {stem}.ipynb alone.")


def _is_of(path: Path, lesson: str) -> bool:
    try:
        return bool(Notebook.read(path).names & {*current().catalogue(lesson)})
    except Unusable:
        return False


def fitting_box() -> sandbox.Sandbox:
    """The sandbox that works here, with no more memory and time for an answer than the platform has."""
    box = sandbox.choose()
    return replace(box, memory=int(min(box.memory, SHARE * current().memory_limit())), patience=0)


def words_on(box: sandbox.Sandbox) -> str:
    """The sentence on where answers ran."""
    why = f", because {box.why}" if box.why else ""
    cores = current().usable_cores()
    return f"Answers ran in {box.name} mode{why}, each with {box.memory >> 20} MiB, on {cores} core(s)."


def _words_on_variants(numbers: list[str]) -> str:
    return f"Taken as this notebook's checks name them: {'; '.join(numbers)}." if numbers else ""


def _out_of_time(name: str, points: int) -> Verdict:
    message = (
        "Not judged: the platform's time for one submission was over. This is not a fault of your answer."
    )
    return Verdict(name, Status.grader_error, 0, points, message, None, "submit again, or ask your teacher")


def digest_seed(*words: object) -> int:
    """A seed drawn from words, one of which is a secret: the same words give the same seed."""
    text = "\n".join(map(str, words)).encode()
    return int(hashlib.sha256(text).hexdigest(), 16) >> 203  # 53 bits: every reader of JSON keeps them

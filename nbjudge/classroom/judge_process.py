"""A judge in a process of its own: submissions come as lines of JSON, verdicts go back as lines.

An attack that kills or stops its judge, which plain mode cannot prevent, ends this process and not the run:
the engine starts another one and goes on behind the exercise that was being judged. Words on standard output:

  {"begins": exercise, "limit": seconds}       the verdict must come within so many seconds
  {"exercise": entry, "variant": numbers}
  {"refuses": the sentence why this machine may not grade the job}
  {"ends": null or the sentence why the notebook cannot be graded, "sandbox": name, "limits_by": words,
   "max_score": points}
"""

import gc
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from nbjudge.classroom import results, versions
from nbjudge.clock import PATIENCE
from nbjudge.course import current
from nbjudge.exercise import Exercise
from nbjudge.finding.notebook_file import Unusable
from nbjudge.finding.reading import Cell
from nbjudge.grading import grade
from nbjudge.grading.clean_start import clean_start
from nbjudge.running import sandbox
from nbjudge.running.sandbox import Sandbox
from nbjudge.running.worker import START
from nbjudge.verdict import Status, Verdict

TRIES = 2  # at an exercise that the grader could not judge
RARELY = 100_000, 50, 50  # objects and rounds until garbage is collected: a tenth of a judge's time else
STOPPED = "Its judge was stopped for a while: not graded."
AGAIN = "rnnlab class regrade --faults"
MARGIN = 60.0  # seconds for ending processes


class _Stops:
    """How often this process was stopped and continued, as a batch system does that needs the machine."""

    count = 0

    @classmethod
    def add(cls, *signal_and_frame: object) -> None:
        """Count one: the clock went on, and what was running may have had no time."""
        cls.count += 1


def main() -> None:
    """Grade the submissions that standard input names, until it ends."""
    words = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the engine must not read what a check prints

    def tell(word: dict) -> None:
        try:
            words.write(json.dumps(word) + "\n")
            words.flush()
        except BrokenPipeError:
            _leave()

    gc.set_threshold(*RARELY)
    signal.signal(signal.SIGCONT, _Stops.add)
    with clean_start():
        for line in _lines():
            job = json.loads(line)
            grade_submission(job, sandbox.choose(job["plain"]), tell)


def _lines() -> Iterator[str]:
    """The lines of standard input. When it ends, so does this process, even while it grades."""
    waiting: queue.SimpleQueue = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            waiting.put(line)
        _leave()

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield waiting.get()


def _leave() -> None:
    """End this process, whose engine is gone, perhaps killed, and in plain mode what an answer has started.
    The kernel ends what bubblewrap has started."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    os._exit(0)


def grade_submission(job: dict, box: Sandbox, tell: Callable[[dict], None]) -> None:
    """Grade one submission and tell the verdicts, exercise by exercise.

    A job has the fields path, lesson, seed, grader, plain, token (of variants, or null), names (null: all)
    and passed_over (exercises that have a verdict already).
    """
    lesson = job["lesson"]
    if problem := _refusal(job, box) or results.notebook_problem(job):
        tell({"refuses": problem})
        return
    maximum = sum(current().catalogue(lesson).values())
    word = {"ends": None, "sandbox": box.name, "limits_by": box.limits_by, "max_score": maximum}
    try:
        cells = grade.cells_of(Path(job["path"]), lesson)
    except Unusable as unusable:
        tell(word | {"ends": str(unusable).replace(job["path"], f"{current().lessons[lesson]}.ipynb")})
        return
    for exercise in current().exercises(lesson):
        if exercise.name not in job["passed_over"] and job["names"] in (None, [exercise.name]):
            _grade_exercise(exercise, cells, job, box, tell)
    tell(word)


def _refusal(job: dict, box: Sandbox) -> str | None:
    """Why this machine may not grade a job, which another one has planned."""
    host = os.uname().nodename
    lesson = job["lesson"]
    if versions.grader_digest(lesson) != job["grader"]:
        return (
            f"the code of {lesson} on {host} is another one than where the run was planned: bring both "
            "to one version, then go on with --resume."
        )
    if box.why and not job["plain"]:
        return f"on {host} answers would run in plain mode, because {box.why}: install bubblewrap there."
    return None


def _grade_exercise(
    exercise: Exercise, cells: list[Cell], job: dict, box: Sandbox, tell: Callable[[dict], None]
) -> None:
    variant = None
    if job["token"]:
        from nbjudge import variants

        exercise, variant = variants.draw_variant(exercise, job["token"])
    longest = (1 + 2 * PATIENCE) * (exercise.seconds + 2 * (START + grade.OWN_SECONDS))
    limit = TRIES * longest + MARGIN
    tell({"begins": exercise.name, "limit": limit})
    for _ in range(TRIES):
        before = _Stops.count
        verdict = grade.grade_one(exercise, cells, job["seed"], box)
        if verdict.status is Status.timeout and _Stops.count > before:
            verdict = replace(verdict, status=Status.grader_error, message=STOPPED, next_step=AGAIN)
        if verdict.status is not Status.grader_error:
            break
    verdict = _with_numbers(verdict, cells, variant)
    entry = results.exercise_entry(verdict, job["grader"])
    tell({"exercise": entry, "variant": variant})


def _with_numbers(verdict: Verdict, cells: list[Cell], variant: dict | None) -> Verdict:
    """The verdict, with a sentence where it failed in a notebook that has the numbers of another one."""
    if variant is None or verdict.status is not Status.failed:
        return verdict
    from nbjudge.variants import called_numbers, describe_numbers

    named = called_numbers((tree for cell in cells for tree in cell.statements), verdict.name)
    if named == variant:
        return verdict
    own = describe_numbers(variant)
    other = describe_numbers(named)
    sentence = f"The notebook for this student has {own}, and this one has {other}: is it another notebook?"
    return replace(verdict, message=f"{verdict.message}\n{sentence}")


if __name__ == "__main__":
    main()

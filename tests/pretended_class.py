"""Small classes of the course's shortest lesson: results written by hand, a `map` that makes them up."""

import json
from dataclasses import replace
from pathlib import Path

from nbjudge.classroom import results
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.classroom.submissions import Submission
from nbjudge.grading.grade import verdict_entry
from nbjudge.grading.self_check import notebook
from nbjudge.verdict import Status, Verdict
from rnncourse import checks, cli

LESSON = "start_here"
POINTS = checks.catalogue(LESSON)
FIRST, SECOND, THIRD = POINTS
STUDENTS = "ada", "bob", "eve", "kim", "zoë"
SOLVED = notebook("solutions", LESSON)
HONEST = json.loads(SOLVED.read_text(encoding="utf-8"))


def class_command(capfd):
    """A function that runs `rnnlab class`: (exit status, its words)."""

    def run(*arguments):
        code = cli.main(["class", *map(str, arguments)])
        return code, "".join(capfd.readouterr())

    return run


def result_of(student, other=None, **fields):
    """A result in which every exercise passed, but for {exercise: another status}."""
    statuses = dict.fromkeys(POINTS, "passed") | (other or {})
    earned = {name: points * (statuses[name] == "passed") for name, points in POINTS.items()}
    verdicts = [Verdict(n, Status(statuses[n]), earned[n], POINTS[n], "Message.") for n in POINTS]
    columns = {"lesson": LESSON, "submission": student, "grader": "grader", "seed": 1}
    columns |= {
        "sandbox": "bubblewrap",
        "limits_by": "watching",
        "score": sum(earned.values()),
        "max_score": 6,
    }
    columns |= {"exercises": tuple(map(verdict_entry, verdicts))}
    return results.Result(student, **columns | fields)


def graded_entry(folder, result, **columns):
    """The course's solution in a class folder as what a student handed in, with this result."""
    student, file = result.student, f"files/{result.student}.ipynb"
    (folder / "files").mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(SOLVED.read_bytes())
    results.write(results.path_of(folder / "results", *result.place), result)
    columns = {"layout": "plain", "name": f"Name {student}"} | columns
    return Submission(f"in/{student}.ipynb", student=student, lesson=LESSON, file=file, sha256=student,
                      graded=True, **columns)  # fmt: skip


def ignore(line):
    """What a run tells, told to nobody."""


def book(student, code=""):
    """The solved notebook with a cell of the student's own at its end."""
    own = {"cell_type": "code", "source": f"# {student}\n{code}"}
    return json.dumps({"cells": [*HONEST["cells"], own]})


def class_of(place, books):
    for student, content in books.items():
        (place / "in" / student).mkdir(parents=True)
        (place / "in" / student / "00_start_here.ipynb").write_text(content, encoding="utf-8")
    collect(place / "class", [place / "in"], Assignment())
    return place / "class"


def pretend(job, failing=(), status="failed"):
    """Write the result of a grade that finds every exercise right but some."""
    result = result_of(job.student, dict.fromkeys(failing, status), submission=job.submission)
    result = replace(result, grader=job.grader, seed=job.seed)
    results.write(Path(job.into), result)
    return result


def pretended(failing=(), stop_after=None):
    """A `map` that grades nothing, and may break off after some jobs."""

    def mapped(function, jobs):
        for number, job in enumerate(jobs):
            if number == stop_after:
                raise KeyboardInterrupt
            yield pretend(job, failing)

    return mapped


def without_times(result):
    """The fields on which two runs must agree."""
    keep = lambda fields: {name: value for name, value in fields.items() if name != "seconds"}
    return keep(vars(result)) | {"exercises": [*map(keep, result.exercises)]}


def bare(folder):
    """The results of a class without times."""
    return [*map(without_times, results.load(folder))]

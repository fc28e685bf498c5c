"""A small class of the course's shortest lesson, and an engine that makes up its verdicts."""

import json

from nbjudge.classroom import results
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.grading.self_check import notebook
from nbjudge.verdict import Status, Verdict
from rnncourse import checks

LESSON = "start_here"
POINTS = checks.catalogue(LESSON)
FIRST, SECOND, THIRD = POINTS
STUDENTS = "ada", "bob", "eve", "kim", "zoë"
HONEST = json.loads(notebook("solutions", LESSON).read_text(encoding="utf-8"))


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


def outcome(job, failing=()):
    """What a judge would answer who finds every exercise right but some."""
    status = lambda name: Status.failed if name in failing else Status.passed
    names = job["names"] or POINTS
    verdicts = [Verdict(n, status(n), 0 if n in failing else POINTS[n], POINTS[n], "…") for n in names]
    entries = [results.exercise_entry(verdict, job["grader"]) for verdict in verdicts]
    facts = {"problem": None, "sandbox": "bubblewrap", "variant": {}, "max_score": 6}
    return facts | {"exercises": entries}


def pretended(failing=(), stop_after=None):
    """An engine without processes, which may break off after some jobs."""

    def engine(jobs):
        for number, job in enumerate(jobs):
            if number == stop_after:
                raise KeyboardInterrupt
            yield job, outcome(job, failing)

    return engine


def without_times(result):
    """The fields on which two runs must agree."""
    keep = lambda fields: {name: value for name, value in fields.items() if name not in results.TIMES}
    return keep(vars(result)) | {"exercises": [*map(keep, result.exercises)]}


def bare(folder):
    """The results of a class without times."""
    return [*map(without_times, results.load(folder))]

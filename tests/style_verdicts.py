"""Verdicts on many answers, each loaded by the worker's own code in a fork of one process: no sandbox, and a
hundred times faster than a process of its own for each.

Reads JSON from standard input: {name: [source, ...]}. Writes JSON: {name: [status, message]}.
"""

import builtins
import json
import os
import signal
import sys
from types import ModuleType

from nbjudge.finding.reading import parse
from nbjudge.finding.slices import answer_in
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge, verdict
from nbjudge.running.inside import main, notebook
from nbjudge.verdict import Status, Stopped
from rnncourse import checks

EXERCISE = checks.find("last_step")[1]


def loaded(sources):
    """The verdict on cells, whose needed statements run here."""
    cells = [parse(number, source) for number, source in enumerate(sources, 1)]
    try:
        answer = answer_in(cells, EXERCISE.name)
    except Stopped as stopped:
        return verdict(EXERCISE, stopped)
    sys.modules["__main__"] = ModuleType("__main__")
    notebook.install(vars(sys.modules["__main__"]))
    namespace, failures = main.load(answer.cells, answer.names)
    function = namespace.get(EXERCISE.name)
    if not callable(function):
        return verdict(EXERCISE, Stopped(Status.crashed, f"no function; {failures}"))
    return judge(EXERCISE, InProcess(function, EXERCISE.name), 1)


def forked(sources):
    """[status, message] from a process that the cells cannot leave a trace in."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.close(ours)
        signal.alarm(20)
        main.silence()
        outcome = loaded(sources)
        os.write(theirs, json.dumps([outcome.status, outcome.message]).encode()[:60_000])
        os._exit(0)
    os.close(theirs)
    with open(ours) as pipe:
        return json.loads(pipe.read() or '["crashed", "the process ended"]')


if __name__ == "__main__":
    assert not hasattr(builtins, "display")
    print(json.dumps({name: forked(sources) for name, sources in json.load(sys.stdin).items()}))

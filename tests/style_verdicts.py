"""Verdicts on many notebooks, each in a fork of one process: no sandbox, and a hundred times faster than a
process of its own for each. `check` gives one in IPython; the other is a grade's, on what the worker's own
code loads, or, of a kernel, on what the judge builds from its text.

python tests/style_verdicts.py grade check   reads JSON from standard input, {name: [exercise, [cell, ...]]},
and writes JSON, {name: {"grade": [status, message], "check": the same}}, or one of the two.
"""

import builtins
import gc
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

from IPython.core.interactiveshell import InteractiveShell  # here: no fork imports what its parent has
from traitlets.config import Config

from nbjudge.course import current
from nbjudge.exercise import Exercise, Wrong
from nbjudge.finding import reading
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.grading import learner
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge, verdict
from nbjudge.running.inside import main, notebook, stand_ins
from nbjudge.running.sandbox import CHECKOUT, choose
from nbjudge.verdict import Status, Stopped, Verdict
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.kernel_answers import kernels, launcher

SECONDS = 60  # until a process that ran into a loop is ended


def graded(exercise: Exercise, sources: list[str]) -> Verdict:
    """The verdict on cells, whose needed statements run here."""
    cells = [parse(number, source) for number, source in enumerate(sources, 1) if isinstance(source, str)]
    if not cells:  # of a notebook that has run
        cells = reading.cells(json.dumps({"cells": sources}), Path("notebook.ipynb"))
    try:
        answer = Notebook(cells).answer(exercise.name, exercise.is_kernel)
        if exercise.is_kernel:
            launch = current().select(answer, exercise.seconds, choose(plain=True), [])
            text, constants = main.wire.unpack(launch.packed())[0]
            function = launcher.build(text.tobytes(), constants, cuda)
            return judge(exercise, InProcess(function, exercise.name), 1)
    except (Stopped, Wrong) as stopped:
        return verdict(exercise, stopped)
    sys.modules["__main__"] = ModuleType("__main__")
    notebook.install(vars(sys.modules["__main__"]))
    namespace, failures = main.load(answer.cells, answer.names, answer.history)
    function = namespace.get(exercise.name)
    if not callable(function):
        return verdict(exercise, Stopped(Status.crashed, f"no function; {failures}"))
    return judge(exercise, InProcess(function, exercise.name), 1)


def checked(exercise: Exercise, sources: list[str]) -> Verdict:
    """The verdict of `check` in a notebook in which all cells have run once."""
    os.environ["RNNLAB_HOME"] = os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
    learner.secrets.randbits = lambda bits: 1  # the seed of the grade, so that neither depends on luck
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.register_magic_function(lambda line: None, magic_name="matplotlib")  # it needs a front end
    for source in sources:
        shell.run_cell(source, store_history=True)
    outcome = shell.run_cell(f"check({exercise.name})")
    if outcome.result is None:
        return verdict(exercise, Stopped(Status.crashed, repr(outcome.error_in_exec)))
    return outcome.result


def seen(exercise: Exercise, sources: list[str]) -> SimpleNamespace:
    """The last verdict that a learner saw, whose cells ran in their order.

    The message has all exercises' and the cells as a notebook then holds them.
    """
    shown = []
    learner.progress_file.record = lambda lesson, verdict: shown.append(verdict)
    learner.secrets.randbits = lambda bits: 1
    os.environ["RNNLAB_HOME"] = os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    traces = []
    shell._showtraceback = lambda kind, error, trace: traces.append(trace)  # as ipykernel has it
    cells = []
    for count, source in enumerate(sources, 1):
        traces.clear()
        error = shell.run_cell(source, store_history=True).error_in_exec
        name = type(error).__name__
        outputs = [{"output_type": "error", "ename": name, "traceback": trace[:4]} for trace in traces]
        cells.append({"cell_type": "code", "execution_count": count, "source": source, "outputs": outputs})
    statuses = {outcome.name: outcome.status for outcome in shown}
    status = statuses.get(exercise.name, Status.not_attempted)
    return SimpleNamespace(status=status, message=json.dumps([statuses, cells]))  # a verdict cuts its message


def forked(way, exercise: Exercise, sources: list[str]) -> list[str]:
    """[status, message] from a process that the cells cannot leave a trace in."""
    ours, theirs = os.pipe()
    if (child := os.fork()) == 0:
        os.close(ours)
        signal.alarm(SECONDS)
        main.silence()
        stand_ins.install()
        try:
            outcome = way(exercise, sources)
            answer = [outcome.status, outcome.message]
        except BaseException as error:
            answer = ["the program failed", repr(error)]
        os.write(theirs, json.dumps(answer).encode()[:60_000])
        os._exit(0)
    os.close(theirs)
    with open(ours) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer or '["crashed", "the process ended"]')


WAYS = {"grade": graded, "check": checked, "seen": seen}


def verdicts(ways: list[str]) -> dict[str, dict]:
    """All of standard input."""
    styles = {name: (checks.find(of)[1], sources) for name, (of, sources) in json.load(sys.stdin).items()}
    if any(exercise.is_kernel for exercise, _ in styles.values()):
        kernels.prepare(str(CHECKOUT))  # no fork loads the compiler again
    gc.freeze()  # no fork searches for garbage in what its parent has
    return {name: {way: forked(WAYS[way], *style) for way in ways} for name, style in styles.items()}


if __name__ == "__main__":
    assert not hasattr(builtins, "display")
    print(json.dumps(verdicts(sys.argv[1:])))

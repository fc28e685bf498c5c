"""Runs the cells of a notebook by IPython, in a process forked from one that has loaded what they import.

To start a Jupyter kernel takes longer than to run most exercises in it: more than a second of a core.
The slow leg runs the same notebooks in kernels.
"""

import json
import multiprocessing
import os
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from nbjudge.clock import PATIENCE, waiting_of

SECONDS = 0.02  # of each measurement: no test looks at how fast a lesson's ways are
LOADED = ["IPython.core.interactiveshell", "matplotlib.pyplot", "pocketgpu.cuda", "rnncourse.checks"]


def time_left(pid: int, begin: float, seconds: float) -> float:
    """Seconds left of a limit that began at `begin`; what a process waited for a core is not counted."""
    granted = min(waiting_of(pid), PATIENCE * seconds)
    return seconds + granted - (time.monotonic() - begin)


def run_cells(path: Path, folder: Path, seconds: float) -> list[dict[str, str]]:
    """All outputs of a notebook's cells, as {media type or "stdout": data}, run in `folder`.

    A cell that fails, and a notebook that does not end in time, is the test's failure.
    """
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(LOADED)
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    receiver, sender = forks.Pipe(duplex=False)
    process = forks.Process(target=_run, args=(cells, str(folder), dict(os.environ), sender))
    begin, left = time.monotonic(), seconds
    process.start()
    sender.close()
    try:
        while left > 0 and not receiver.poll(left):
            left = time_left(process.pid, begin, seconds)
        if left <= 0:
            pytest.fail(f"{path.name} did not come to an end in {seconds:g} s")
        outputs, failure = receiver.recv()
    except EOFError:
        pytest.fail(f"{path.name} ended its process")
    finally:
        process.kill()
        process.join()
    if failure:
        pytest.fail(f"{path.name}: {failure}")
    return outputs


def _run(cells: list[str], folder: str, environment: dict[str, str], sender: Connection) -> None:
    """Send (all outputs, the first failure or None)."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    _measure_briefly()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    outputs = []
    for cell in cells:
        with capture_output() as shown:
            result = shell.run_cell(cell, store_history=True)
        if not result.success:
            sender.send((outputs, repr(result.error_before_exec or result.error_in_exec)))
            return
        outputs += [{"stdout": shown.stdout}, *(output.data for output in shown.outputs)]
        if result.result is not None:
            outputs.append(shell.display_formatter.format(result.result)[0])
    sender.send((outputs, None))


def _measure_briefly() -> None:
    """Let a lesson time its ways twice, however many rounds it asks for: a third of its time went there."""
    from rnncourse.lab import roofline, turns

    take_turns, best_time = turns.take_turns, roofline._best_time

    def take_two_turns(ways: dict, rounds: int = 7, **options: object) -> dict:
        timings = take_turns(ways, 2)
        return {name: replace(t, seconds=(t.seconds * rounds)[:rounds]) for name, t in timings.items()}

    turns.take_turns = take_two_turns
    roofline._best_time = lambda run, seconds: best_time(run, SECONDS)

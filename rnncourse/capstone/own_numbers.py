"""A learner's own numbers, for the poster: machine, what it measures now, points, line on the board.

All is read on this machine: the roofs and the rungs are measured when the poster is made, the points come
from the progress file, the schedule from the best line of the learner's board, run again in the sandbox.
"""

import json
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nbjudge import course, progress_file
from nbjudge.files import ROOT
from nbjudge.finding.reading import read
from nbjudge.finding.slices import answer_in
from nbjudge.running.sandbox import Sandbox
from nbjudge.running.worker import Worker, of_source
from pocketgpu.devices import find
from rnncourse.capstone import board
from rnncourse.capstone.launches import Problem
from rnncourse.capstone.schedule_picture import ScheduleRun, one_layer_at_a_time, run_of
from rnncourse.capstone.score import DEVICE, PROBLEMS
from rnncourse.lab import roofline
from rnncourse.lab.turns import disturbance, take_turns
from rnncourse.lab.work import course_folder, shipped
from rnnlab.ladder import RUNGS
from rnnlab.ladder.chooser import Abilities, choose
from rnnlab.network import Network
from rnnlab.resources import processor_name, usable_cores

LAYER = "rnn_tanh", 128, 64, 16  # cell, units (and inputs), steps, sequences: what the rungs are timed on
STEP = "lstm", 512, "bfloat16", (1024, 64)  # what the GPU's ways are predicted for
SHOWN = next(problem for problem in PROBLEMS if problem.layers == 100)  # its memory is a fifth of all
BEFORE = "before: one stream, one layer at a time"


class Measured(NamedTuple):
    """What this machine measures now."""

    roof: roofline.Roofline
    milliseconds: dict[str, float]  # rung: median
    disturbed: str  # a sentence, empty if no other program was noticed


class Row(NamedTuple):
    """The learner's best line on the board, and its schedule beside the one before."""

    entry: board.Entry
    place: int
    of: int
    runs: dict[str, ScheduleRun]


class OwnNumbers(NamedTuple):
    """Everything on the poster that is not on the page of prediction and measurement."""

    machine: str
    day: str
    measured: Measured
    predicted: dict[str, float]  # way: microseconds a step on DEVICE
    points: dict[str, tuple[int, int]]  # title of a lesson: earned, possible
    row: Row | None


def collect(folder: Path, box: Sandbox) -> OwnNumbers:
    """The numbers of this machine; folder: of the learner's board.  Raises board.Unusable."""
    cores = usable_cores()
    machine = f"{processor_name()}, {cores} core{('s' if cores > 1 else '')}"
    return OwnNumbers(
        machine, date.today().isoformat(), measure(), predicted_steps(), points(), best_row(folder, box)
    )


def measure(seconds: float = 1.5, rounds: int = 7) -> Measured:
    """The machine's roofs (lesson 00) and the CPU rungs' times for one layer, in turns."""
    cell, units, steps, sequences = LAYER
    network = Network.create(cell, units, units, seed=0)
    x = np.random.default_rng(0).standard_normal((steps, sequences, units)).astype("float32")
    candidates = {
        rung.name: partial(rung.module.forward, network, x)
        for rung in RUNGS
        if rung.facts.needs == "cpu" and not rung.refuses(network, steps, sequences)
    }
    roof = roofline.measure(seconds)
    timings = take_turns(candidates, rounds=rounds)
    return Measured(roof, {name: 1e3 * t.median for name, t in timings.items()}, disturbance(timings))


def predicted_steps() -> dict[str, float]:
    """Microseconds of a step on the H200 by each way to run a layer, predicted; lessons 11 to 16."""
    ways = choose(*STEP, Abilities(find(DEVICE.name))).ways
    return {way.name: way.step for way in ways if way.step is not None}


def points() -> dict[str, tuple[int, int]]:
    """{title of a lesson: points that the learner earned there, points that are possible}."""
    entries = progress_file.entries()
    lessons = course.current()
    notebooks = shipped()
    catalogues = {
        title(notebooks[f"notebooks/{stem}.ipynb"]): lessons.catalogue(lesson)
        for lesson, stem in lessons.lessons.items()
    }

    def own(name, most):
        return min(entries[name].points, most) if name in entries else 0

    return {
        lesson: (sum(own(*pair) for pair in catalogue.items()), sum(catalogue.values()))
        for lesson, catalogue in catalogues.items()
    }


def title(notebook: Path) -> str:
    """The first heading of a lesson's notebook: its number and its name."""
    heading, *_ = json.loads(notebook.read_bytes())["cells"]
    return "".join(heading["source"]).partition("\n")[0].removeprefix("# ")


def best_row(folder: Path, box: Sandbox) -> Row | None:
    """The best line of the learner's board; None without one.  Its scores are derived again."""
    path = folder / board.FILE
    lines = [entry for _, entry in board.read(path)] if path.exists() else []
    own = [entry for entry in lines if isinstance(entry, board.Entry) and entry.version == board.VERSION]
    if not own:
        return None
    best = min(own, key=lambda entry: entry.place)
    board.check(best, folder, box)
    everyone = sorted([*own, *(entry for _, entry in board.read(board.OWN))], key=lambda entry: entry.place)
    return Row(best, everyone.index(best) + 1, len(everyone), runs_of(best, folder, box))


def runs_of(
    entry: board.Entry, folder: Path, box: Sandbox, problem: Problem = SHOWN
) -> dict[str, ScheduleRun]:
    """The timeline of an entry's schedule, and of one layer at a time, which saves all."""
    with Worker(
        of_source(board.FUNCTION, board.program(entry.schedule, folder)), board.SECONDS, box
    ) as worker:
        answer = worker(*problem)
    roomy = problem._replace(memory=3 * problem.layers * problem.steps)
    share = problem.memory / (2 * problem.layers * problem.steps)
    before = run_of(roomy, one_layer_at_a_time(*roomy))
    return {BEFORE: before, f"now: {entry.name}, in {share:.0%} of the memory": run_of(problem, answer)}


def own_schedule(problem: Problem, notebook: Path | None = None) -> dict[str, Callable]:
    """{"yours": my_schedule} of the learner's notebook if it may be scored here, else the course's own."""
    path = notebook or course_folder(ROOT) / "work" / "19_capstone.ipynb"
    try:
        names: dict[str, Callable] = {}
        exec(board.program_of(answer_in(read(path), board.FUNCTION)), names)
        own = names[board.FUNCTION]
        run_of(problem, own(*problem))
        return {"yours": own}
    except Exception as error:  # whatever a learner's code raises
        sentence = str(error).partition("\n")[0]
        print(f"The picture shows the course's standard schedule. Yours cannot be shown: {sentence}")
    return {"the course's standard": course.current().answers("capstone")[board.FUNCTION].call}

"""Data-parallel training, as every rank runs it: the loop of rnnlab.training, with gradients from all ranks.

Rank 0 reads and writes the checkpoint; the others get the state from it.  All ranks make the same update from
the same sum, so their parameters stay equal without being sent; every checkpoint verifies that.
"""

import platform
from pathlib import Path
from typing import Any

import numpy as np

import rnnlab
from ranks.faults import COMPUTING, Pen
from rnnlab.scaling import overlap
from rnnlab.scaling.settings import RunSettings
from rnnlab.scaling.team import Team
from rnnlab.scaling.training_run import (
    Circumstances,
    Note,
    TrainingRun,
    circumstances,
    save,
    threads_of_products,
)
from rnnlab.training import checkpoint, evaluate, resume
from rnnlab.training.loop import Recipe


def train(comm: Any, settings: RunSettings, pen: Pen, note: Note = print, sums: Any = None) -> dict[str, Any]:
    """Train on the ranks of a communicator; what came out, the same on every rank but for the times.

    sums: the background sums, MPI's if None.  Raises ValueError for settings that do not fit, the same on
    every rank; OSError where rank 0 cannot write its checkpoint; FloatingPointError, naming the rank, where
    something is not finite.
    """
    recipe = settings.recipe()
    start = settings.recipe().start(settings.model())
    if sums is None:
        from ranks.sums import MpiSums

        sums = MpiSums(comm, settings.overlap)
    team = Team(comm, sums, shares_for(settings, comm.Get_size()), pen)
    team.check_agreement(run_properties(settings, start, recipe))
    point = team.on_rank_0(lambda: begin(settings, start, recipe, note))
    if point.history.losses:
        pen.write(COMPUTING, point.step, loss=point.history.losses[-1])
    run = TrainingRun(settings, recipe, team, note, point)
    if settings.survive:
        from rnnlab.scaling.survive import advance_with_survivors as advance
    else:
        advance = TrainingRun.advance
    while run.must_save or run.point.step < settings.steps:
        advance(run)
    run.team.sums.stop()
    return _outcome(run)


def begin(settings: RunSettings, start: resume.Point, recipe: Recipe, note: Note) -> resume.Point:
    """The point to continue from: the checkpoint's if the run is resumed, else the start; on rank 0 only.

    Raises ValueError for a checkpoint of another run, and where one would be overwritten or is missing.
    """
    path = settings.checkpoint
    steps = settings.steps
    if path is None:
        return start
    exists = Path(path).exists()
    if settings.resume and not exists:
        raise ValueError(f"{path}: there is no checkpoint; leave --resume out to begin a run that writes it")
    if exists and not settings.resume:
        raise ValueError(
            f"{path}: there is a checkpoint already; --resume continues from it; delete it to begin anew"
        )
    if not settings.resume:
        save(settings, start, recipe, settings.shares)  # a disk that is full is noticed before the work
        return start
    point = resume.begin(path, start, recipe, steps)
    before = _circumstances_of(path, settings)
    change = _describe_change(before, circumstances(settings.shares))
    note(f"resumed at step {point.step} of {steps}, from {path}; {change}")
    return point


def shares_for(settings: RunSettings, ranks: int) -> tuple[int, ...]:
    """Sequences of each of so many ranks.  Raises ValueError if the settings are for another number."""
    if ranks != settings.ranks:
        raise ValueError(
            f"the settings are for {settings.ranks} ranks, but MPI started {ranks}: make the two equal"
        )
    return settings.shares


def run_properties(settings: RunSettings, start: resume.Point, recipe: Recipe) -> dict[str, str]:
    """What must be equal on all ranks, as text: versions, settings, sizes, and the task's data."""
    properties = {
        "the version of rnnlab": rnnlab.__version__,
        "the version of NumPy": np.__version__,
        "the version of Python": platform.python_version(),
    }
    properties |= {name: str(value) for name, value in vars(settings).items() if name != "checkpoint"}
    properties |= resume.identity(start, recipe)
    for name, array in start.model.parameters.items():
        properties[f"the shape of {name}"] = str(array.shape)
    return properties


def _circumstances_of(path: str, settings: RunSettings) -> Circumstances:
    """Those of the run that wrote a checkpoint: one process without ranks has written none of them."""
    stored = checkpoint.load(path)
    shares = () if "ranks" in stored else (settings.batch,)
    now = circumstances(shares) | {"threads": 0}
    before = {}
    for name, value in now.items():
        kind = type(value)
        before[name] = kind(stored.get(name, value))
    return before


def _describe_change(before: Circumstances, now: Circumstances) -> str:
    """What the first circumstance that is another one means for the result."""
    changed = [name for name in now if before[name] != now[name]]
    if not changed:
        return f"{_describe(now)} as before: the run is, bit for bit, the one that was never stopped"
    name = changed[0]
    return (
        f"{_describe(now, name)} instead of {_describe(before, name)}: the sequences are the same, "
        "sums are added in another order, so that last bits can differ"
    )


def _describe(circumstances: Circumstances, name: str = "shares") -> str:
    value = circumstances[name]
    if not value:
        return f"{name} that are not recorded"
    if name == "shares":
        ranks = str(value).count("+") + 1
        noun = "ranks" if ranks > 1 else "rank"
        return f"{ranks} {noun} with {value} sequences"
    if name == "threads":
        return f"{value} threads each"
    return str(value)


def _outcome(run: TrainingRun) -> dict[str, Any]:
    """Result of a run, as plain data."""
    task = run.recipe.task
    team = run.team
    point = run.point
    held_out = evaluate(point.model, task, run.recipe.rung) if team.rank == 0 else None
    overlap_table = overlap.table(team.timed_steps) if team.timed_steps else ""
    return {
        "ranks": len(team.shares),
        "threads": threads_of_products(),
        "steps": point.step,
        "losses": point.history.losses,
        "held_out": held_out,
        "baseline": task.baseline.value,
        "baseline_is": task.baseline.what,
        "overlap": overlap_table,
    }

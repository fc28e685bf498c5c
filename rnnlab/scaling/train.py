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
    if settings.resume != Path(path).exists():
        finding, remedy = (
            ("there is no checkpoint", "leave --resume out to begin a run that writes it")
            if settings.resume
            else ("there is a checkpoint already", "--resume continues from it; delete it to begin anew")
        )
        raise ValueError(f"{path}: {finding}; {remedy}")
    if not settings.resume:
        save(settings, start, recipe, settings.shares)  # a disk that is full is noticed before the work
        return start
    point = resume.begin(path, start, recipe, steps)
    change = _describe_change(_circumstances_of(path, settings), circumstances(settings.shares))
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
    shapes = {f"the shape of {name}": str(p.shape) for name, p in start.model.parameters.items()}
    versions = {"rnnlab": rnnlab.__version__, "NumPy": np.__version__, "Python": platform.python_version()}
    return (
        {f"the version of {package}": version for package, version in versions.items()}
        | {name: str(value) for name, value in vars(settings).items() if name != "checkpoint"}
        | resume.identity(start, recipe)
        | shapes
    )


def _circumstances_of(path: str, settings: RunSettings) -> Circumstances:
    """Those of the run that wrote a checkpoint: one process without ranks has written none of them."""
    stored = checkpoint.load(path)
    now = circumstances((settings.batch,) if "ranks" not in stored else ()) | {"threads": 0}
    return {name: type(value)(stored.get(name, value)) for name, value in now.items()}


def _describe_change(before: Circumstances, now: Circumstances) -> str:
    """What the first circumstance that is another one means for the result."""
    changed = [name for name in now if before[name] != now[name]]
    if not changed:
        return f"{_describe(now)} as before: the run is, bit for bit, the one that was never stopped"
    change = f"{_describe(now, changed[0])} instead of {_describe(before, changed[0])}"
    return (
        f"{change}: the sequences are the same, sums are added in another order, so that last bits can differ"
    )


def _describe(circumstances: Circumstances, name: str = "shares") -> str:
    value = circumstances[name]
    if not value:
        return f"{name} that are not recorded"
    ranks = str(value).count("+") + 1
    texts = {
        "shares": f"{ranks} rank{'s' if ranks > 1 else ''} with {{}} sequences",
        "threads": "{} threads each",
    }
    return texts.get(name, "{}").format(value)


def _outcome(run: TrainingRun) -> dict[str, Any]:
    """Result of a run, as plain data."""
    task = run.recipe.task
    history = run.point.history
    return {
        "ranks": len(run.team.shares),
        "threads": threads_of_products(),
        "steps": run.point.step,
        "losses": history.losses,
        "held_out": evaluate(run.point.model, task, run.recipe.rung) if run.team.rank == 0 else None,
        "baseline": task.baseline.value,
        "baseline_is": task.baseline.what,
        "overlap": overlap.table(run.team.timed_steps) if run.team.timed_steps else "",
    }

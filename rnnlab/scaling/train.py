"""Data-parallel training, as every rank runs it: the loop of rnnlab.training, with gradients from all ranks.

Rank 0 reads and writes the checkpoint; the others get the state from it.  All ranks make the same update from
the same sum, so their parameters stay equal without being sent; every checkpoint verifies that.
"""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rnnlab
from ranks.faults import COMPUTING, SAVING, Pen
from rnnlab.scaling import overlap
from rnnlab.scaling.settings import Settings
from rnnlab.scaling.team import Team
from rnnlab.training import checkpoint, evaluate, resume
from rnnlab.training.blas import arithmetic
from rnnlab.training.loop import Recipe, take_step

Note = Callable[[str], None]  # a sentence for the user, from rank 0


@dataclass
class Run:
    """A run on this rank: the team, the point where it stands, and the one before."""

    settings: Settings
    recipe: Recipe
    team: Team
    note: Note
    point: resume.Point
    last: resume.Point | None = None  # one step before `point`: survivors may have to go back to it
    must_save: bool = False

    def advance(self) -> None:
        """One step of the optimiser, or a checkpoint if one is due."""
        if self.must_save:
            self._save()
            return
        pen = self.team.pen
        pen.write(COMPUTING, self.point.step, ranks=len(self.team.shares))
        try:
            point = take_step(self.point, self.recipe, self.team.loss_and_gradients)
        except FloatingPointError as error:
            raise FloatingPointError(f"{error} ({self.team.explain_not_finite()})") from error
        pen.write(COMPUTING, point.step, loss=point.history.losses[-1])
        self.last = self.point
        self.point = point
        every = self.settings.every
        self.must_save = point.step % every == 0 or point.step == self.settings.steps

    def _save(self) -> None:
        self.team.check_replicas(self.point.model)
        if self.settings.checkpoint is not None:
            self.team.pen.write(SAVING)
            self.team.on_rank_0(lambda: save(self.settings, self.point, self.recipe, len(self.team.shares)))
        self.must_save = False


def train(comm: Any, settings: Settings, pen: Pen, note: Note = print, sums: Any = None) -> dict[str, Any]:
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
    team.check_agreement(facts(settings, start, recipe))
    point = team.on_rank_0(lambda: begin(settings, start, recipe, note))
    run = Run(settings, recipe, team, note, point)
    if settings.survive:
        from rnnlab.scaling.survive import advance_with_survivors as advance
    else:
        advance = Run.advance
    while run.must_save or run.point.step < settings.steps:
        advance(run)
    run.team.sums.stop()
    return _outcome(run)


def begin(settings: Settings, start: resume.Point, recipe: Recipe, note: Note) -> resume.Point:
    """The point to go on from: the checkpoint's if the run is resumed, else the start; on rank 0 only.

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
            else ("there is a checkpoint already", "--resume goes on from it; delete it to begin anew")
        )
        raise ValueError(f"{path}: {finding}; {remedy}")
    if not settings.resume:
        save(settings, start, recipe, settings.ranks)  # a disk that is full is noticed before the work
        return start
    point = resume.begin(path, start, recipe, steps)
    before = checkpoint.load(path)  # one process without ranks has not written how many there were
    counts = (int(before.get("ranks", 1)), int(before.get("threads", 0))), (settings.ranks, _threads())
    change = _describe_change(*counts)
    if (then := str(before.get("arithmetic", arithmetic()))) != arithmetic():
        change = f"computed by {arithmetic()} instead of {then}: last bits can differ"
    note(f"resumed at step {point.step} of {steps}, from {path}; {change}")
    return point


def save(settings: Settings, point: resume.Point, recipe: Recipe, ranks: int) -> None:
    """Write the checkpoint, with the numbers of ranks and threads; see rnnlab.training.resume.save."""
    resume.save(settings.checkpoint, point, recipe, ranks=ranks, threads=_threads(), arithmetic=arithmetic())


def shares_for(settings: Settings, ranks: int) -> tuple[int, ...]:
    """Sequences of each of so many ranks.  Raises ValueError if the settings are for another number."""
    if ranks != settings.ranks:
        raise ValueError(
            f"the settings are for {settings.ranks} ranks, but MPI started {ranks}: make the two equal"
        )
    return settings.shares


def facts(settings: Settings, start: resume.Point, recipe: Recipe) -> dict[str, str]:
    """What must be equal on all ranks, as text: versions, settings, sizes, and the task's data."""
    shapes = {f"the shape of {name}": str(p.shape) for name, p in start.model.parameters.items()}
    versions = {"rnnlab": rnnlab.__version__, "NumPy": np.__version__, "Python": platform.python_version()}
    return (
        {f"the version of {package}": version for package, version in versions.items()}
        | {name: str(value) for name, value in vars(settings).items() if name != "checkpoint"}
        | resume.identity(start, recipe)
        | shapes
    )


def _threads() -> int:
    """Threads of each rank's products, which the launcher has chosen; 0 if it has not."""
    return int(os.environ.get("OPENBLAS_NUM_THREADS") or 0)


def _describe_change(before: tuple[int, int], now: tuple[int, int]) -> str:
    """What numbers of ranks, and of threads of each, mean for the result."""
    if before == now:
        return f"on {_ranks(now[0])} as before: the run is, bit for bit, the one that was never stopped"
    change = f"on {_ranks(now[0])} instead of {before[0]}"
    if before[0] == now[0]:
        change = f"on {_ranks(now[0])} as before, but with {now[1]} threads each instead of {before[1]}"
    return (
        f"{change}: the sequences are the same, sums are added in another order, so that last bits can differ"
    )


def _ranks(count: int) -> str:
    return f"{count} rank{('s' if count != 1 else '')}"


def _outcome(run: Run) -> dict[str, Any]:
    """Result of a run, as plain data."""
    task = run.recipe.task
    history = run.point.history
    return {
        "ranks": len(run.team.shares),
        "threads": _threads(),
        "steps": run.point.step,
        "losses": history.losses,
        "held_out": evaluate(run.point.model, task, run.recipe.rung) if run.team.rank == 0 else None,
        "baseline": task.baseline.value,
        "baseline_is": task.baseline.what,
        "overlap": overlap.table(run.team.timed_steps) if run.team.timed_steps else "",
    }

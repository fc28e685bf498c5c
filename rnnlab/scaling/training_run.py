"""A training run as one rank has it, and its checkpoint."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from ranks.faults import COMPUTING, SAVING
from rnnlab.scaling.settings import RunSettings
from rnnlab.scaling.team import Team
from rnnlab.training import resume
from rnnlab.training.blas import arithmetic
from rnnlab.training.loop import Recipe, take_step

Note = Callable[[str], None]  # a sentence for the user, from rank 0
Circumstances = dict[str, int | str]


@dataclass
class TrainingRun:
    """A run on this rank: the team, the point where it stands, and the one before."""

    settings: RunSettings
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
        self.must_save = point.step % self.settings.every == 0 or point.step == self.settings.steps

    def _save(self) -> None:
        self.team.check_replicas(self.point.model)
        if self.settings.checkpoint is not None:
            self.team.pen.write(SAVING)
            self.team.on_rank_0(lambda: save(self.settings, self.point, self.recipe, self.team.shares))
        self.must_save = False


def save(settings: RunSettings, point: resume.Point, recipe: Recipe, shares: tuple[int, ...]) -> None:
    """Write the checkpoint, with what the last bits depend on; see rnnlab.training.resume.save."""
    resume.save(settings.checkpoint, point, recipe, ranks=len(shares), **circumstances(shares))


def threads_of_products() -> int:
    """Threads of each rank's products, which the launcher has chosen; 0 if it has not."""
    return int(os.environ.get("OPENBLAS_NUM_THREADS") or 0)


def circumstances(shares: tuple[int, ...]) -> Circumstances:
    """What the last bits of a run depend on, beside its settings."""
    return {
        "shares": " + ".join(map(str, shares)),
        "threads": threads_of_products(),
        "arithmetic": arithmetic(),
    }

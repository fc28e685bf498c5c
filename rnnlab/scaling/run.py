"""Training on real ranks, as the launcher sees it: start the ranks, watch them, read their results.

`train_on_ranks` is what `rnnlab train --ranks N` and the lessons call.  If a rank is lost, one sentence says
which, and from where the run can continue.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ranks.faults import Pen, RankFailure
from ranks.launch import PATIENCE, Look, RankLaunch, folder_for, sharing
from ranks.rank import PROGRAM
from rnnlab.scaling import train
from rnnlab.scaling.settings import RunSettings, read
from rnnlab.training import checkpoint

SETTINGS = "settings.json"
OUTCOME = "outcome.json"
NOTES = "notes.txt"  # in the folder of a run


def train_on_ranks(
    settings: RunSettings,
    *,
    note: Callable[[str], None] = print,
    look: Look = lambda lines: None,
    limit: float | None = None,
    patience: float = PATIENCE,
    hostfile: str | None = None,
) -> dict[str, Any]:
    """Train on real ranks of this machine; losses, held-out loss, baseline, and a table of the overlap.

    limit: seconds for the whole run.  patience: seconds without a step.  hostfile: hosts with their slots, as
    mpiexec reads them, which share this folder.  Raises RankFailure if a rank is lost or hangs; ValueError,
    OSError and FloatingPointError as `rnnlab.training.fit` does; RuntimeError where ranks cannot start.
    """
    if not patience > 0:
        raise ValueError(f"patience is {patience}, expected a number of seconds above 0")
    settings = _with_absolute_checkpoint(settings)
    with folder_for(settings.ranks, settings.survive, hostfile) as folder:
        (folder / SETTINGS).write_text(settings.json(), encoding="utf-8")
        (folder / PROGRAM).write_text(f"{__name__}:train_on_this_rank", encoding="utf-8")
        notes = Notes(folder / NOTES, note)
        if not hostfile and (sentence := sharing(settings.ranks)):
            note(sentence)

        def look_and_note(lines: np.ndarray) -> None:
            notes.pass_on()
            look(lines)

        limits = {"limit": limit, "patience": patience, "survive": settings.survive, "hostfile": hostfile}
        try:
            RankLaunch(folder, settings.ranks, **limits).wait(look_and_note)
        except RankFailure as error:
            _remove_parts(settings.checkpoint)
            raise _with_remedy(error, settings.checkpoint) from error
        finally:
            notes.pass_on()
        if not (folder / OUTCOME).exists():
            raise _with_remedy(RankFailure("rank 0 was lost after the last step"), settings.checkpoint)
        return json.loads((folder / OUTCOME).read_text(encoding="utf-8"))


def train_on_this_rank(folder: Path, comm: Any, pen: Pen) -> None:
    """One rank's part of a run; rank 0 leaves the outcome and its notes in the folder."""

    def note(sentence: str) -> None:
        with open(folder / NOTES, "a", encoding="utf-8") as file:
            file.write(sentence + "\n")

    outcome = train.train(comm, read((folder / SETTINGS).read_text(encoding="utf-8")), pen, note)
    if outcome["held_out"] is not None:  # rank 0
        (folder / OUTCOME).write_text(json.dumps(outcome), encoding="utf-8")


class Notes:
    """Sentences that rank 0 appends to a file, each passed on once."""

    def __init__(self, path: Path, note: Callable[[str], None]):
        self.path = path
        self.note = note
        self.count = 0

    def pass_on(self) -> None:
        """Pass on what is new."""
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        for line in lines[self.count :]:
            self.note(line)
        self.count = len(lines)


def _with_absolute_checkpoint(settings: RunSettings) -> RunSettings:
    """The same settings for ranks that may run in another folder."""
    path = settings.checkpoint
    return settings if path is None else replace(settings, checkpoint=str(Path(path).absolute()))


def _with_remedy(error: RankFailure, path: str | None) -> RankFailure:
    """The same failure, with what is left of the run."""
    whole = RankFailure(f"{error}. {_resume_advice(path)}")
    whole.details = error.details
    return whole


def _resume_advice(path: str | None) -> str:
    if path is None:
        return "Nothing of the run is left: --checkpoint FILE would have saved it from time to time"
    if not Path(path).exists():
        return "It had not written its first checkpoint yet: begin again"
    step = int(checkpoint.load(path)["step"])
    return (
        f"The checkpoint {path} is whole, of step {step}: --resume continues from it, on any number of ranks"
    )


def _remove_parts(path: str | None) -> None:
    """Remove what a rank that was killed had written of its next checkpoint."""
    if path is None:
        return
    for part in Path(path).parent.glob(f".{Path(path).name}.*.part"):
        with suppress(OSError):
            part.unlink()

"""Data-parallel training on simulated ranks: the team, the loop and the checkpoints of real ones.

Only the communicator differs: messages are simulated, so that a machine without MPI can do everything but
kill a process.  The arithmetic is real, one rank after another; `seconds` is what the messages alone take in
the α–β model.
"""

import time
from collections.abc import Callable
from typing import Any

from ranks.all_reduce import Interval
from ranks.buffers import IN_PLACE
from ranks.costs import Link
from ranks.faults import Pen
from ranks.simulated_ranks import LINK, Communicator, RankError, run
from rnnlab.scaling.settings import RunSettings
from rnnlab.scaling.train import train

OF_THE_USER = ValueError, OSError, FloatingPointError  # errors that keep their type, as on real ranks


def train_on_simulated_ranks(
    settings: RunSettings,
    *,
    note: Callable[[str], None] = print,
    lost: dict[int, int] | None = None,
    link: Link = LINK,
) -> dict[str, Any]:
    """Train; ranks, steps, losses, held-out loss and baseline, as `train_on_ranks` returns them, and seconds.

    lost: {rank: calls of its communicator after which it is gone}; then RankLost is raised, and a checkpoint
    is what is left.  Raises ValueError, OSError and FloatingPointError as on real ranks, and ValueError for
    settings.survive, which needs MPI's own fault tolerance.
    """
    if settings.survive:
        raise ValueError(
            "simulated ranks cannot continue with the survivors: resume from a checkpoint instead"
        )
    try:
        ranks = run(settings.ranks, _train, settings, note, link=link, lost=lost)
    except RankError as error:
        if isinstance(error.__cause__, OF_THE_USER):
            raise error.__cause__ from None
        raise
    return ranks.results[0] | {"seconds": ranks.seconds}


class SimulatedSums:
    """Sums over simulated ranks that begin at once and are waited for together."""

    def __init__(self, comm: Communicator):
        self.comm = comm
        self.pending = []

    def start(self, name: str, array: Any) -> None:
        """Begin to replace array [n] by its sum over all ranks."""
        self.pending.append((name, time.perf_counter(), self.comm.Iallreduce(IN_PLACE, array), array))

    def finish(self) -> list[Interval]:
        """Wait for all sums; their intervals on this machine's clock, which simulated time does not move."""
        intervals = []
        for name, begun, request, array in self.pending:
            request.wait()
            intervals.append(Interval(name, array.nbytes, begun, begun, time.perf_counter()))
        self.pending = []
        return intervals

    def stop(self) -> None:
        """Nothing is left running."""


def _train(comm: Communicator, settings: RunSettings, note: Callable[[str], None]) -> dict[str, Any]:
    """One rank's part."""
    return train(comm, settings, Pen(None, comm.rank), note, SimulatedSums(comm))

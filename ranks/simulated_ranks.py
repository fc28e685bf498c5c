"""Simulated ranks: programs that exchange messages like MPI processes, on one core and in simulated time.

`run(4, program)` calls `program(comm)` once for each rank.  `comm` has the calls of mpi4py's communicator
that data-parallel training needs, so the same program runs on real ranks.  A rank is a thread,
in a browser a coroutine, and one runs at a time: hundreds fit, they always run in the same order, and sums
are added in rank order.  Each rank has a clock, which messages move as the α–β model says (costs.py), and
`comm.compute` moves for arithmetic.

A send waits for its receive, as MPI permits any send to do: a program that needs a buffer between them is
found to deadlock here, and may run by luck on real ranks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ranks.costs import Link, check_ranks
from ranks.simulated_world import Deadlock, RankError, RankLost, Request, Run, World, copied

__all__ = ["LINK", "Communicator", "Deadlock", "RankError", "RankLost", "Run", "call", "run"]

LINK = Link.from_bandwidth(14, 6)  # between two nodes of the cluster in lesson 17
SUM = "sum"


def run(
    ranks: int,
    program: Callable[..., Any],
    *arguments: Any,
    link: Link = LINK,
    algorithm: str | None = None,
    lost: dict[int, int] | None = None,
) -> Run:
    """Run program(comm, *arguments) on every rank; all ranks get the same arguments.

    algorithm: of all-reduces, the fastest for each size if None.  lost: {rank: calls of comm after which that
    rank is gone}, like a killed process.  Raises RankError with the rank's name where one fails, Deadlock
    where all wait, RankLost where a rank is gone, ValueError for counts that make no sense.
    """
    check_ranks(ranks)
    for rank in lost or {}:
        if not 0 <= rank < ranks:
            raise ValueError(f"lost names rank {rank}; ranks are 0 to {ranks - 1}")
    world = World(ranks, link, algorithm, dict(lost or {}), Communicator)
    return world.run(program, arguments)


def call(function: Callable[..., Any], arguments: Sequence[Mapping[str, Any]], **options: Any) -> list[Any]:
    """What function(comm, **arguments[rank]) returns on each rank; options as in run.

    The counterpart of `ranks.call.call_on_ranks` for machines that have no MPI.
    """
    return run(len(arguments), lambda comm: function(comm, **arguments[comm.rank]), **options).results


class Communicator:
    """Calls of mpi4py's communicator, for one simulated rank."""

    def __init__(self, world: "World", rank: int):
        self._world = world
        self.rank = rank
        self.size = world.ranks

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def compute(self, seconds: float) -> None:
        """Let simulated time pass for arithmetic; real ranks have no such call."""
        self._world.compute(self.rank, seconds)

    def isend(self, data: Any, dest: int, tag: int = 0) -> Request:
        """Begin to send; the data may be changed at once."""
        return self._world.post(self.rank, "send", dest, tag, copied(data))

    def irecv(self, source: int, tag: int = 0) -> Request:
        """Begin to receive."""
        return self._world.post(self.rank, "recv", source, tag, None)

    def send(self, data: Any, dest: int, tag: int = 0) -> None:
        """Send, and wait until the other rank receives."""
        self.isend(data, dest, tag).wait()

    def recv(self, source: int, tag: int = 0) -> Any:
        """What the source sends."""
        return self.irecv(source, tag).wait()

    def sendrecv(self, data: Any, dest: int, source: int, tag: int = 0) -> Any:
        """Send and receive at the same time."""
        pair = self.isend(data, dest, tag), self.irecv(source, tag)
        return self._world.wait(self.rank, pair)[1]

    def Sendrecv(
        self, send: np.ndarray, dest: int, sendtag: int = 0, recvbuf: np.ndarray = None, source: int = 0
    ) -> None:
        """Send an array, and receive one into `recvbuf` at the same time."""
        recvbuf[...] = self.sendrecv(send, dest, source, sendtag)

    def allreduce(self, data: Any, op: Any = SUM) -> Any:
        """Sum over all ranks, on all ranks."""
        return self._collect("allreduce", None, data)

    def Allreduce(self, send: np.ndarray, receive: np.ndarray, op: Any = SUM) -> None:
        """Sum of the arrays of all ranks into `receive`."""
        receive[...] = self._collect("Allreduce", None, send)

    def iallreduce(self, data: np.ndarray) -> Request:
        """Begin a sum; the array must not change before `wait`, which returns the sum."""
        return self._world.post(self.rank, "iallreduce", None, 0, data)

    def bcast(self, data: Any, root: int = 0) -> Any:
        """What the root has, on all ranks."""
        return self._collect("bcast", root, data)

    def gather(self, data: Any, root: int = 0) -> list | None:
        """What all ranks have, in rank order, at the root; None elsewhere."""
        return self._collect("gather", root, data)

    def allgather(self, data: Any) -> list:
        """What all ranks have, in rank order, on all ranks."""
        return self._collect("allgather", None, data)

    def barrier(self) -> None:
        """Wait for all ranks."""
        self._collect("barrier", None, None)

    Barrier = barrier

    def _collect(self, kind: str, root: int | None, data: Any) -> Any:
        return self._world.post(self.rank, kind, root, 0, copied(data)).wait()

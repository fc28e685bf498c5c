"""Simulated ranks: programs that exchange messages like MPI processes, on one core and in simulated time.

`run(4, program)` calls `program(comm)` once for each rank.  `comm` has the calls of mpi4py's communicator
that data-parallel training needs, so the same program runs on real ranks.  A rank is a thread,
in a browser a coroutine, and one runs at a time: hundreds fit, they always run in the same order, and sums
are added in rank order.  Each rank has a clock, which messages move as the α–β model says (costs.py), and
`comm.compute` moves for arithmetic.

A send waits for its receive, as MPI permits any send to do: a program that needs a buffer between them is
found to deadlock here, and may run by luck on real ranks.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ranks import buffers
from ranks.buffers import SUM
from ranks.costs import Link, check_ranks
from ranks.errors import Deadlock, RankError, RankLost
from ranks.simulated_world import Request, Run, World, copied

__all__ = ["LINK", "Communicator", "Deadlock", "RankError", "RankLost", "Run", "call", "run"]

LINK = Link.from_bandwidth(14, 6)  # between two nodes of the cluster in lesson 17
ANY_TAG = -1  # MPI's, in mpi4py


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
        if tag < 0:
            raise ValueError(f"tag is {tag}, expected at least 0")
        return self._world.post(self.rank, "send", dest, tag, copied(data))

    def irecv(self, buf: None = None, source: int | None = None, tag: int | None = None) -> Request:
        """Begin to receive, a message of any tag if it is None; the source is named, as source=0.

        mpi4py's first parameter is a buffer: recv(1) would not receive from rank 1.
        """
        if buf is not None or source is None:
            raise TypeError("write recv(source=RANK): the first parameter of mpi4py's recv is a buffer")
        tag = None if tag == ANY_TAG else tag
        return self._world.post(self.rank, "recv", source, tag, None)

    def send(self, data: Any, dest: int, tag: int = 0) -> None:
        """Send, and wait until the other rank receives."""
        self.isend(data, dest, tag).wait()

    def recv(self, buf: None = None, source: int | None = None, tag: int | None = None) -> Any:
        """What the source sends, as recv(source=0)."""
        return self.irecv(buf, source, tag).wait()

    def sendrecv(
        self,
        data: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: None = None,
        source: int | None = None,
        recvtag: int | None = None,
    ) -> Any:
        """Send and receive at the same time; the source is named, as source=0."""
        receiving = self.irecv(recvbuf, source, recvtag)
        return self._world.wait(self.rank, (self.isend(data, dest, sendtag), receiving))[1]

    def Sendrecv(
        self,
        send: np.ndarray,
        dest: int,
        sendtag: int = 0,
        recvbuf: np.ndarray = None,
        source: int | None = None,
        recvtag: int | None = None,
    ) -> None:
        """Send an array, and receive one into `recvbuf` at the same time."""
        message = buffers.memory("sendbuf", send)
        target = buffers.memory("recvbuf", recvbuf, is_written=True)
        buffers.receive(self.sendrecv(message, dest, sendtag, None, source, recvtag), target)

    def allreduce(self, data: Any, op: Any = SUM) -> Any:
        """Sum over all ranks, on all ranks, or what another operation makes of their parts."""
        function = buffers.operation_of(op, buffers.OF_OBJECTS)
        return self._collect("allreduce", None, data, function)

    def Allreduce(self, send: np.ndarray, receive: np.ndarray, op: Any = SUM) -> None:
        """Sum of the arrays of all ranks into `receive`, number by number in the order of their memory."""
        source, target = buffers.for_reduction(send, receive, op)
        function = buffers.operation_of(op, buffers.OF_ARRAYS)
        target[:] = self._collect("Allreduce", None, source, function)

    def Iallreduce(self, send: np.ndarray, receive: np.ndarray, op: Any = SUM) -> Request:
        """Begin an Allreduce; neither array may be touched before `wait`."""
        source, target = buffers.for_reduction(send, receive, op)
        function = buffers.operation_of(op, buffers.OF_ARRAYS)
        request = self._world.post(self.rank, "Iallreduce", None, 0, source, function)
        request.target = target
        return request

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

    def _collect(self, kind: str, root: int | None, data: Any, function: Callable = operator.add) -> Any:
        return self._world.post(self.rank, kind, root, 0, copied(data), function).wait()

"""The scheduler behind simulated ranks: clocks, matching of messages, collective calls, and what goes wrong.

A rank is a thread, in a browser a coroutine, and runs alone until it waits.  A send waits for its receive;
a collective call waits for all ranks.  If no rank can continue, the error names the rank that each waits for.
"""

import operator
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np

from ranks.cores import in_browser
from ranks.costs import Link, all_reduce_seconds, fastest
from ranks.errors import Deadlock, RankEnded, RankError, RankLost

EVENTS = 40_000  # that are stored


class Event(NamedTuple):
    """What a rank does from start to end, seconds: compute, send, receive, or a collective call."""

    rank: int
    kind: str
    peer: int | None
    size: float  # bytes
    start: float
    end: float


class Run(NamedTuple):
    """Result of a program on all ranks."""

    results: list  # what each rank's program returns
    clocks: list[float]  # seconds
    events: list[Event]  # the first EVENTS
    findings: list[str]  # mistakes that stop no rank

    @property
    def seconds(self) -> float:
        """Time until the last rank is done."""
        return max(self.clocks)


@dataclass
class Request:
    """Operation that a rank has begun; `wait` returns its result when it is done."""

    rank: int
    kind: str
    peer: int | None
    tag: int
    data: Any
    posted: float
    world: "World" = field(repr=False)
    function: Callable = operator.add  # that combines the parts of two ranks
    target: np.ndarray | None = None  # where the result is written when the rank has waited
    snapshot: Any = None  # of an array in a collective that the rank does not wait for at once
    end: float | None = None
    result: Any = None

    def wait(self) -> Any:
        """The result: what was received or summed; None for a send."""
        return self.world.wait(self.rank, (self,))[0]

    Wait = wait

    def describe(self) -> str:
        """What the rank waits for."""
        if self.kind == "send":
            return f"rank {self.rank} sends to rank {self.peer} (tag {self.tag})"
        if self.kind == "recv":
            return f"rank {self.rank} receives from rank {self.peer} (tag {self.tag})"
        return f"rank {self.rank} is in {self.kind}"


class Turns:
    """A function in a thread that runs from `resume` to its next `pause`; the caller of `resume` waits."""

    def __init__(self, function: Callable, *arguments: Any):
        self.error = None
        self.is_over = False
        self.mine = Lock()
        self.callers = Lock()
        self.mine.acquire()
        self.callers.acquire()
        self.thread = Thread(target=copy_context().run, args=(self._run, function, *arguments), daemon=True)

    def resume(self) -> None:
        """Let it run until it pauses or ends.  Raises what it raises."""
        if self.thread.ident is None:
            try:
                self.thread.start()
            except RuntimeError as error:  # beyond the limit of the system
                raise RankError(f"a rank is a thread here, and no more can be started: {error}") from error
        else:
            self.mine.release()
        self.callers.acquire()
        if self.error is not None:
            raise self.error

    def pause(self) -> None:
        """Let the caller of `resume` continue; from within the function."""
        self.callers.release()
        self.mine.acquire()
        if self.is_over:
            raise RankEnded

    def end(self) -> None:
        """End the function where it pauses."""
        self.is_over = True
        if self.thread.is_alive():
            self.mine.release()
            self.thread.join()

    def _run(self, function: Callable, *arguments: Any) -> None:
        try:
            function(*arguments)
        except RankEnded:
            return
        except BaseException as error:
            self.error = error
        self.callers.release()


@dataclass(eq=False, repr=False)
class World:
    """All ranks, their clocks, and what they wait for; `join` makes the communicator of a rank."""

    ranks: int
    link: Link
    algorithm: str | None
    lost: dict[int, int]
    join: Callable
    network: float = 0.0  # seconds at which the last collective has ended

    def __post_init__(self):
        ranks = self.ranks
        self.clocks = [0.0] * ranks
        self.calls = [0] * ranks
        self.sending = [0.0] * ranks
        self.receiving = [0.0] * ranks  # seconds at which a port is free
        self.open: dict[tuple, list[Request]] = {}  # sends and receives without a partner
        self.rounds: list[list[Request | None]] = []  # collective calls, in the order of each rank
        self.entered = [0] * ranks
        self.gone: set[int] = set()
        self.waiting: dict[int, tuple[Request, ...]] = {}
        self.runnable: deque[int] = deque(range(ranks))
        self.events: list[Event] = []
        self.findings: list[str] = []

    def run(self, program: Callable, arguments: tuple) -> Run:
        """Let the ranks run in turn until all are done."""
        results = [None] * self.ranks
        begin = Turns
        if in_browser():  # it starts no threads
            from ranks.coroutines import Coroutine as begin
        self.turns = [begin(self._rank, rank, program, arguments, results) for rank in range(self.ranks)]
        try:
            while self.runnable:
                self.turns[self.runnable.popleft()].resume()
            if self.waiting:
                self._stop()
        finally:
            for turns in self.turns:
                turns.end()
        if self.gone:
            raise RankLost(f"rank {min(self.gone)} is gone; the other ranks ended without waiting for it")
        return Run(results, self.clocks, self.events, self.findings)

    def _rank(self, rank: int, program: Callable, arguments: tuple, results: list) -> None:
        try:
            results[rank] = program(self.join(self, rank), *arguments)
        except RankError:
            raise
        except Exception as error:
            raise RankError(f"rank {rank} failed: {type(error).__name__}: {error}") from error

    def compute(self, rank: int, seconds: float) -> None:
        """Move a rank's clock by arithmetic."""
        if not seconds >= 0:
            raise ValueError(f"compute was called with {seconds!r} s; time only passes forward")
        self._note(Event(rank, "compute", None, 0, self.clocks[rank], self.clocks[rank] + seconds))
        self.clocks[rank] += seconds

    def post(
        self,
        rank: int,
        kind: str,
        peer: int | None,
        tag: int | None,
        data: Any,
        function: Callable = operator.add,
    ) -> Request:
        """Begin an operation."""
        if peer is not None and (not 0 <= peer < self.ranks or (peer == rank and kind in ("send", "recv"))):
            raise ValueError(
                f"{kind} names rank {peer}; another rank from 0 to {self.ranks - 1} was expected"
            )
        self.calls[rank] += 1
        if rank in self.lost and self.calls[rank] > self.lost[rank]:
            self.gone.add(rank)
            self.turns[rank].pause()  # never to come back
        request = Request(rank, kind, peer, tag, data, self.clocks[rank], self, function)
        if kind in ("send", "recv"):
            self._match(request)
        else:
            self._enter(request)
        return request

    def wait(self, rank: int, requests: tuple[Request, ...]) -> list:
        """Let other ranks run until all requests are done; their results."""
        while any(request.end is None for request in requests):
            self.waiting[rank] = requests
            self.turns[rank].pause()
        self.waiting.pop(rank, None)
        for request in requests:
            self._check_unchanged(request)
            self.clocks[rank] = max(self.clocks[rank], request.end)
            if request.target is not None:
                request.target[:] = request.result
                request.target = request.result = None
        return [request.result for request in requests]

    def _match(self, request: Request) -> None:
        """Join a send with the oldest receive of its pair and tag, or the other way round."""
        is_send = request.kind == "send"
        pair = (request.rank, request.peer) if is_send else (request.peer, request.rank)
        partners = self.open.get((*pair, not is_send), ())
        fitting = (one for one in partners if None in (one.tag, request.tag) or one.tag == request.tag)
        partner = next(fitting, None)
        if partner is None:
            self.open.setdefault((*pair, is_send), []).append(request)
            return
        self.open[*pair, not is_send] = [one for one in partners if one is not partner]
        send, receive = (request, partner) if is_send else (partner, request)
        source, target = pair
        size = _size(send.data)
        start = max(send.posted, receive.posted, self.sending[source], self.receiving[target])
        end = start + self.link.latency + size * self.link.byte
        self.sending[source] = self.receiving[target] = end
        send.end = receive.end = end
        receive.result = send.data
        self._note(Event(source, "send", target, size, start, end))
        self._note(Event(target, "receive", source, size, start, end))
        self._wake((send, receive))

    def _enter(self, request: Request) -> None:
        """Add a rank to its next collective call, which ends when all ranks have come."""
        rank = request.rank
        place = self.entered[rank]
        self.entered[rank] = self.entered[rank] + 1
        if place == len(self.rounds):
            self.rounds.append([None] * self.ranks)
        members = self.rounds[place]
        first = next((member for member in members if member), request)
        _check_alike(first, request)
        members[rank] = request
        if request.kind == "Iallreduce":
            request.snapshot = copied(request.data)
        if all(members):
            self._collect(members)

    def _collect(self, members: list[Request]) -> None:
        kind = members[0].kind
        root = members[0].peer
        size = _size(members[0].data)
        data = [m.data if m.snapshot is None else m.snapshot for m in members]
        start = max(self.network, *(member.posted for member in members))
        name = self.algorithm or fastest(self.ranks, size, self.link)
        seconds = all_reduce_seconds(name, self.ranks, size, self.link)
        if kind in ("bcast", "gather", "barrier"):
            seconds /= 2  # one way
        self.network = start + seconds
        function = members[0].function
        if kind.lower().endswith("allreduce"):
            results = _combined(data, function)
        else:
            results = _RESULTS[kind](data, root)
        for member, result in zip(members, results, strict=True):
            member.end = self.network
            member.result = result
            self._note(Event(member.rank, kind, root, size, start, self.network))
        self._wake(members)

    def _wake(self, requests: Iterable[Request]) -> None:
        """Let those ranks continue whose requests are all done."""
        for rank in dict.fromkeys(request.rank for request in requests):
            waited = self.waiting.get(rank)
            if waited and all(request.end is not None for request in waited):
                del self.waiting[rank]
                self.runnable.append(rank)

    def _check_unchanged(self, request: Request) -> None:
        if request.snapshot is None or np.array_equal(request.data, request.snapshot, equal_nan=True):
            return
        changed = int(np.sum(np.asarray(request.data) != request.snapshot))
        self.findings.append(
            f"Rank {request.rank} sends an incomplete gradient: {changed} of {np.size(request.snapshot)} "
            "numbers change after Iallreduce begins and before wait; the other ranks sum the old ones."
        )
        request.snapshot = None

    def _stop(self) -> None:
        """Raise what keeps the waiting ranks from continuing."""
        requests = [
            request.describe()
            for requests in list(self.waiting.values())[:4]
            for request in requests
            if request.end is None
        ]
        more = f", and {len(self.waiting) - 4} more ranks wait" if len(self.waiting) > 4 else ""
        if self.gone:
            names = ", ".join(map(str, sorted(self.gone)))
            raise RankLost(f"rank {names} is gone, and others wait for it: {'; '.join(requests)}{more}")
        done = sorted({*range(self.ranks)} - {*self.waiting})
        ended = f"; rank {', '.join(map(str, done[:4]))} has ended" if done else ""
        raise Deadlock(f"deadlock: {'; '.join(requests)}{more}{ended}. No rank can continue.")

    def _note(self, event: Event) -> None:
        if len(self.events) < EVENTS:
            self.events.append(event)


def _check_alike(first: Request, request: Request) -> None:
    """Raises RankError where two ranks call different collectives, roots or shapes."""
    if (first.kind, first.peer) != (request.kind, request.peer):
        calls = [f"{r.kind}{'' if r.peer is None else f' with root {r.peer}'}" for r in (first, request)]
        raise RankError(
            f"rank {first.rank} is in {calls[0]}, rank {request.rank} in {calls[1]}: "
            "all ranks must make the same collective calls in the same order"
        )
    kinds = [
        f"{r.data.shape} in {r.data.dtype}" if isinstance(r.data, np.ndarray) else None
        for r in (first, request)
    ]
    if "allreduce" in first.kind.lower() and kinds[0] != kinds[1]:
        raise RankError(
            f"rank {first.rank} sums an array of shape {kinds[0]}, rank {request.rank} one of {kinds[1]}"
        )


def _combined(data: list, function: Callable) -> list:
    """All parts combined in rank order, a copy for each rank."""
    total = copied(data[0])
    for part in data[1:]:
        total = function(total, part)
    return [copied(total) for _ in data]


_RESULTS: dict[str, Callable[[list, int | None], list]] = {
    "bcast": lambda data, root: [copied(data[root]) for _ in data],
    "gather": lambda data, root: [list(data) if rank == root else None for rank in range(len(data))],
    "allgather": lambda data, root: [copied(data) for _ in data],
    "barrier": lambda data, root: [None] * len(data),
}


def copied(data: Any) -> Any:
    """A copy as a message makes one: ranks never share what they sent."""
    if isinstance(data, np.ndarray):
        return data.copy()
    return data if isinstance(data, int | float | str | None) else deepcopy(data)


def _size(data: Any) -> int:
    """Bytes of arrays and numbers; of containers, those of their parts."""
    if isinstance(data, np.ndarray):
        return data.nbytes
    if isinstance(data, dict):
        return sum(map(_size, data.values()))
    if isinstance(data, list | tuple):
        return sum(map(_size, data))
    return 0 if data is None else 8

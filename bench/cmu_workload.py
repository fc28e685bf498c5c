"""`rnnlab bench cmu`: an epoch of the CMU project's last workload by everybody (see bench.cmu).

Every contestant is a process of its own, with the same threads, standing still unless it is its turn.  Before
any clock starts, its summed error, gradients and new weights are held against float64; after its last epoch
they are held against it again.  Then all take turns.  A Halide schedule that needs longer than LONG for
its first epoch is timed by that one alone, and the table says so: nothing here is extrapolated.

The record has, beside what every record has (see rnncourse.records): contestants, missing, left_out, and by
name seconds (every timed epoch's, in order), first (made ready, compiled, one epoch), error (1 is tolerated).
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from bench import cmu_tables, halide_page
from bench.cmu import numpy_contestants
from bench.cmu import problem as cmu
from bench.cmu.contestants import CANDIDATES
from bench.cmu.problem import Problem, Size
from bench.peers import Candidate
from bench.peers.process import ContestantError, Peer, interpreter
from bench.progress import show_progress
from bench.provenance import provenance
from bench.watch import Watch
from rnncourse import records
from rnncourse.lab.turns import rotated
from rnnlab.resources import usable_cores

KIND = "bench cmu"
MEASURED = ("rnnlab/kernels", "rnnlab/ladder", "rnnlab/layers.py", "bench/cmu", "bench/halide", "bench/peers")
LONG = 4.0  # seconds
ROUNDS = 9
QUICK_ROUNDS = 3
QUICK = Size(B=100)


@dataclass
class EpochResults:
    """Results of the epochs, by contestant."""

    contestants: dict[str, dict] = field(default_factory=dict)  # Python, packages, BLAS
    missing: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # name -> why
    seconds: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    error: dict[str, float] = field(default_factory=dict)
    other_load: float = 0.0  # part of the cores' time that other programs used meanwhile


class Epochs:
    """The contestants' processes on one problem; to be used in a `with`."""

    def __init__(self, problem: Problem, threads: int, peers_python: str | None = None):
        self.problem = problem
        self.want = numpy_contestants.exact(problem)
        self.threads = threads
        self.peers_python = peers_python
        self.stack = ExitStack()
        self.peers = {}
        self.result = EpochResults()
        self.done: set[str] = set()  # timed once, and too slow for more

    def __enter__(self) -> "Epochs":
        return self

    def __exit__(self, *exception: object) -> None:
        self.stack.close()

    def admit(self, candidate: Candidate) -> None:
        """Start its process, let it make itself ready, hold its first numbers against float64's."""
        python = interpreter(candidate, self.peers_python)
        result = self.result
        if python is None:
            result.missing.append(candidate.name)
            return
        peer = self.stack.enter_context(Peer(candidate, python, self.threads))
        try:
            result.contestants[candidate.name] = peer.request("hello")[0]
            ready = peer.request("prepare", self.problem._asdict())[0]
            self._check(candidate.name, peer)
        except ContestantError as failure:
            self._leave_out(candidate.name, failure)
            return
        result.first[candidate.name] = ready["seconds"]
        is_slow = ready["step"] > LONG and candidate.needs == "halide"  # which compiles nothing in an epoch
        result.seconds[candidate.name] = [ready["step"]] if is_slow else []
        self.peers[candidate.name] = peer
        self.done |= {candidate.name} if is_slow else set()

    def turn(self, name: str) -> None:
        """One timed epoch; none for a schedule that was slow, or for a contestant that is left out."""
        seconds = self.result.seconds.get(name)
        if seconds is None or name in self.done:
            return
        try:
            seconds += self.peers[name].request("turn", warm=0, repeats=1)[0]["seconds"]
        except ContestantError as failure:
            self._leave_out(name, failure)

    def check_again(self) -> None:
        """What the last timed epochs left must be right too."""
        for name in [*self.result.seconds]:
            try:
                self._check(name, self.peers[name])
            except ContestantError as failure:
                self._leave_out(name, failure)

    def _leave_out(self, name: str, failure: ContestantError) -> None:
        self.result.left_out[name] = str(failure)
        self.result.seconds.pop(name, None)

    def _check(self, name: str, peer: Peer) -> None:
        error = cmu.error(peer.request("results")[1], self.want)
        self.result.error[name] = max(error, self.result.error.get(name, 0.0))
        if not error <= 1:
            raise ContestantError(f"wrong numbers: {error:.1e} times the error that is tolerated")


def measure(
    size: Size,
    candidates: Iterable[Candidate] = CANDIDATES,
    rounds: int = ROUNDS,
    threads: int | None = None,
    peers_python: str | None = None,
    show: Callable[[str], None] = lambda text: None,
) -> EpochResults:
    """Every candidate's epochs at that size; a candidate with wrong results is left out."""
    with Epochs(cmu.draw(size), threads or usable_cores(), peers_python) as epochs:
        for candidate in candidates:
            show(f"{candidate.name} is made ready")
            epochs.admit(candidate)
        names = list(epochs.peers)
        with Watch(peer.process.pid for peer in epochs.peers.values()) as watch:
            for number in range(rounds):
                for name in rotated(names, number):
                    show(f"round {number + 1} of {rounds}: {name}")
                    epochs.turn(name)
        epochs.check_again()
        epochs.result.other_load = watch.others
        return epochs.result


def run(chosen: argparse.Namespace) -> int:
    """The command; exit status 2 for an unknown name."""
    known = {candidate.name: candidate for candidate in CANDIDATES}
    if unknown := [name for name in chosen.only or () if name not in known]:
        names = ", ".join(known)
        print(f"rnnlab bench cmu: no contestant is called {unknown[0]!r}; there are {names}", file=sys.stderr)
        return 2
    size = QUICK if chosen.quick else Size()
    rounds = chosen.rounds or (QUICK_ROUNDS if chosen.quick else ROUNDS)
    threads = chosen.threads or usable_cores()
    record = provenance(KIND, MEASURED, {**size._asdict(), "rounds": rounds, "threads": threads})
    selection = [known[name] for name in chosen.only or known]
    record |= asdict(measure(size, selection, rounds, threads, chosen.peers_python, show_progress))
    show_progress("")
    if chosen.record:
        _keep(record | {"complete": True})
    print(cmu_tables.page(record))
    if chosen.picture:
        _draw(record, chosen.picture)
    return 0


def _keep(record: dict) -> None:
    records.write(records.place(record), record)
    print(f"kept as {records.place(record)}\n")
    if halide_page.PAGE.exists():
        halide_page.refresh()


def _draw(record: dict, file: str) -> None:
    from rnncourse.records import cmu_picture

    cmu_picture.draw(record).savefig(file)
    print(cmu_picture.finding(record))

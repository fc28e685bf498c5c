"""One training step by every rung and every peer on this machine's CPU, in one run, on the same numbers.

Each contestant lives in a process of its own, with the same threads.  Before any clock starts, its outputs
and all its gradients are held against the float64 reference; what it left behind in its last timed step is
held against it again.  Contestants then take turns: in each round every one runs for about the same time, and
the median of a round counts once.  A product of large matrices and the bare products of the step take turns
with them: they say how much of this machine's arithmetic, at this very time, each contestant has used.

Memory is measured in a second process, whose allocator gives back at once what is freed.
"""

import math
import statistics
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench.masked import MASKS, OUT
from bench.peers import LIMITS, Candidate
from bench.peers.process import ContestantError, LateError, Peer, interpreter
from bench.watch import Watch
from bench.workload import Problem, by_numpy, problem
from rnncourse.lab.turns import rotated
from rnncourse.records.workload import Workload

Show = Callable[[str], None]
# glibc otherwise keeps what is freed, and a second step would seem to need nothing
RETURN_AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}  # bytes


@dataclass(frozen=True)
class CpuSettings:
    """How long and how often: one turn lasts about `turn` seconds, or one step where a step is longer."""

    threads: int
    rounds: int = 9
    emulates: str | None = None  # instruction set to which every contestant is masked, see bench.masked
    turn: float = 0.06  # seconds
    most_repeats: int = 200


@dataclass
class Case:
    """Results of all contestants on one workload."""

    workload: Workload
    seconds: dict[str, list[float]] = field(default_factory=dict)  # of each contestant, each round's median
    repeats: dict[str, int] = field(default_factory=dict)  # steps timed in each round
    first_step: dict[str, float] = field(default_factory=dict)  # seconds, made ready and compiled
    error: dict[str, float] = field(default_factory=dict)  # in units of what is tolerated
    memory: dict[str, int | None] = field(default_factory=dict)  # bytes a step adds at its highest
    left_out: dict[str, str] = field(default_factory=dict)  # name -> why
    other_load: float = 0.0  # part of the cores' time that other programs used meanwhile


class Arena:
    """The contestants' processes; to be used in a `with`.

    A process that dies is started once more for the next workload, unless it died while it was introduced or
    did not answer in time: such a contestant is left out of all that follows.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        settings: CpuSettings,
        peers_python: str | None = None,
        limits: Iterable[Candidate] | None = None,
        exact: Callable = by_numpy,
    ):
        self.limits = tuple(LIMITS if limits is None else limits)
        self.exact = exact  # what computes the numbers that are expected
        self.settings = settings
        self.stack = ExitStack()
        self.peers = {}
        interpreters = {
            candidate: interpreter(candidate, peers_python) for candidate in (*self.limits, *candidates)
        }
        self.pythons = {candidate: python for candidate, python in interpreters.items() if python}
        out = OUT if settings.emulates else {}
        # of everything that is measured from now on: name -> why
        self.left_out = {one.name: out[one.name] for one in self.pythons if one.name in out}
        self.missing = [candidate for candidate, python in interpreters.items() if not python]

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *exception: object) -> None:
        self.stack.close()

    def peer(self, candidate: Candidate, measuring: str = "time") -> Peer:
        """Its process for measuring time or memory, started when it is first wanted or has ended."""
        key = candidate, measuring
        if key not in self.peers or self.peers[key].process.poll() is not None:
            variables = MASKS.get(self.settings.emulates, {})
            variables = variables | RETURN_AT_ONCE if measuring == "memory" else variables
            fresh = Peer(candidate, self.pythons[candidate], self.settings.threads, variables)
            self.peers[key] = self.stack.enter_context(fresh)
        return self.peers[key]

    def introductions(self) -> dict[str, dict]:
        """What each contestant runs on: Python, packages, BLAS.  One whose process dies is left out."""
        properties = {}
        for candidate in self.pythons:
            if candidate.name in self.left_out:
                continue
            try:
                hello, _ = self.peer(candidate).request("hello")
                own = {"is_rung": candidate.is_rung, "precision": candidate.precision}
                properties[candidate.name] = own | hello
            except ContestantError as failure:
                self.left_out[candidate.name] = str(failure)
        return properties

    def measure(self, workload: Workload, show: Show = lambda line: None) -> Case:
        """All contestants on one workload."""
        case = Case(workload, left_out=dict(self.left_out))
        example = problem(workload, exact=self.exact)
        ready = [
            candidate
            for candidate in self.pythons
            if candidate.name not in self.left_out and self._is_ready(candidate, example, case, show)
        ]
        if not ready:
            return case
        with Watch(peer.process.pid for peer in self.peers.values()) as watch:
            for number in range(self.settings.rounds):
                show(f"{workload}: round {number + 1} of {self.settings.rounds}")
                for candidate in rotated(ready, number):
                    self._turn(candidate, case)
        case.other_load = watch.others
        for candidate in ready:
            show(f"{workload}: memory of {candidate.name}")
            self._check_last_step(candidate, example, case)
        return case

    def _is_ready(self, candidate: Candidate, example: Problem, case: Case, show: Show) -> bool:
        """Has it made itself ready, and are its numbers right?  If not, the case says why it is left out."""
        show(f"{case.workload}: {candidate.name} is made ready")
        peer = self.peer(candidate)
        name = candidate.name
        try:
            answer, _ = peer.request("prepare", example.inputs, cell=case.workload.cell)
            if "refused" in answer:
                case.left_out[name] = answer["refused"]
                return False
            case.first_step[name] = answer["seconds"]
            self._check_results(example, candidate, case)
            (once,) = peer.request("turn", warm=0, repeats=1)[0]["seconds"]
        except ContestantError as failure:
            self._leave_out(name, case, failure)
            return False
        repeats = math.ceil(self.settings.turn / max(once, 1e-6))
        case.repeats[name] = min(repeats, self.settings.most_repeats)
        case.seconds[name] = []
        return True

    def _check_results(self, example: Problem, candidate: Candidate, case: Case) -> None:
        """Raise ContestantError where the numbers of its last step are not the reference's."""
        if candidate in self.limits:
            return
        error = example.error(self.peer(candidate).request("results")[1], candidate.precision)
        case.error[candidate.name] = max(error, case.error.get(candidate.name, 0.0))
        if not error <= 1:
            raise ContestantError(f"wrong numbers: {error:.1e} times the error that is tolerated")

    def _turn(self, candidate: Candidate, case: Case) -> None:
        """One round of one contestant: some steps to get going, then the timed ones."""
        if candidate.name in case.left_out:
            return
        repeats = case.repeats[candidate.name]
        warm = 1 + repeats // 4 if repeats > 1 else 0  # a step that fills a turn needs no start
        try:
            answer, _ = self.peer(candidate).request("turn", warm=warm, repeats=repeats)
        except ContestantError as failure:
            self._leave_out(candidate.name, case, failure)
        else:
            case.seconds[candidate.name].append(statistics.median(answer["seconds"]))

    def _check_last_step(self, candidate: Candidate, example: Problem, case: Case) -> None:
        """Check the results of the last timed step, then measure its memory."""
        if candidate.name in case.left_out:
            return
        try:
            self._check_results(example, candidate, case)
            if candidate.is_rung or candidate.name == "pytorch":  # whose memory is to be compared
                spare = self.peer(candidate, "memory")
                spare.request("prepare", example.inputs, cell=case.workload.cell)
                case.memory[candidate.name] = spare.request("memory")[0]["bytes"]
        except ContestantError as failure:
            self._leave_out(candidate.name, case, failure)

    def _leave_out(self, name: str, case: Case, failure: ContestantError) -> None:
        case.left_out[name] = str(failure)
        if isinstance(failure, LateError):  # its whole patience again at each size would cost hours
            self.left_out[name] = str(failure)
        for gathered in (case.seconds, case.memory, case.repeats):
            gathered.pop(name, None)

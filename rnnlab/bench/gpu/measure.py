"""Right first, then the clock: each contestant is held against float64, then all take turns."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from rnnlab.bench.gpu.workload import PARTS, Contestant, Problem, Workload, problem

Tell = Callable[[str], None]
MODULES = "ladder", "torch_layers", "cudnn", "persistent_layers", "tensor_layers"
LADDER, TORCH, CUDNN, PERSISTENT, TENSOR = (f"{__package__}.{name}" for name in MODULES)


@dataclass(frozen=True)
class Entry:
    """A contestant before it is built: who, in which precision."""

    name: str
    module: str
    precision: str = "float32"

    def __str__(self) -> str:
        return f"{self.name}, {self.precision}"


@dataclass(frozen=True)
class Settings:
    """How long and how often: a turn lasts about `turn` seconds, or one run where that is longer."""

    rounds: int = 7
    turn: float = 0.03  # seconds
    most_repeats: int = 200


@dataclass
class Result:
    """What came out of one contestant on one workload."""

    name: str
    precision: str
    seconds: dict[str, list[float]] = field(default_factory=dict)  # of each part, each round's mean
    error: float = 0.0  # in units of what is tolerated
    same_bits: bool | None = None  # did two training steps give the same bits
    launches: dict[str, int | None] = field(default_factory=dict)
    bytes: int = 0
    floor: float | None = None  # of a forward step, microseconds, where latencies were measured
    left_out: str = ""  # why, if it is

    def median(self, part: str) -> float | None:
        """Seconds of a part."""
        return statistics.median(self.seconds[part]) if self.seconds.get(part) else None


def measure(
    workload: Workload, entries: Iterable[Entry], settings: Settings, tell: Tell = lambda said: None
) -> list[Result]:
    """All contestants on one workload, in turns."""
    results, ready = [], []
    for entry in entries:
        tell(f"{workload}: {entry} is made ready")
        result = Result(entry.name, entry.precision)
        results.append(result)
        contestant = _made_ready(problem(workload, entry.precision), entry, result)
        if contestant is not None:
            ready.append((contestant, result))
    repeats = {id(result): _repeats(contestant, settings) for contestant, result in ready}
    for number in range(settings.rounds):
        tell(f"{workload}: round {number + 1} of {settings.rounds}")
        shift = number % max(1, len(ready))  # nobody always follows the same one
        for contestant, result in (*ready[shift:], *ready[:shift]):
            for part in PARTS:
                seconds = contestant.seconds(part, repeats[id(result)][part])
                result.seconds.setdefault(part, []).append(seconds)
    for contestant, result in ready:
        _hold(problem(workload, result.precision), contestant, result)
    return results


def _made_ready(asked: Problem, entry: Entry, result: Result) -> Contestant | None:
    """The contestant, if it can be built and its numbers are right; else the result says why not."""
    try:
        contestant = import_module(entry.module).build(asked, entry.name)
        contestant.seconds("step", 1)
        first = contestant.results()
        contestant.seconds("step", 1)
        again = contestant.results()
    except Exception as error:  # whatever a contestant raises is its own result, and not the end
        result.left_out = f"{type(error).__name__}: {error}".splitlines()[0]
        return None
    result.same_bits = all(np.array_equal(first[name], again[name]) for name in first)
    result.launches, result.bytes = dict(contestant.launches), contestant.bytes
    return contestant if _hold(asked, contestant, result) else None


def _hold(asked: Problem, contestant: Contestant, result: Result) -> bool:
    """Are the numbers of its last training step right?  If not, its times go."""
    result.error = max(result.error, asked.error(contestant.results()))
    if result.error <= 1:
        return True
    result.left_out, result.seconds = f"wrong: {result.error:.1e} times the error that is tolerated", {}
    return False


def _repeats(contestant: Contestant, settings: Settings) -> dict[str, int]:
    """How often a part must run to fill a turn."""
    once = {part: contestant.seconds(part, 1) for part in PARTS}
    return {part: max(1, min(settings.most_repeats, int(settings.turn / once[part]))) for part in PARTS}

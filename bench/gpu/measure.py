"""Right first, then the clock: each contestant is held against float64, then all take turns.

Whatever one contestant raises, early or late, costs its own times only; the others continue.  An error the
CUDA context does not forget (an illegal address, a launch that ran too long) makes every later call fail.  It
ends the measurement with BrokenDevice, which names the contestant; command.py then measures the others in a
new process.
"""

import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from bench.gpu.contestant import Contestant
from bench.gpu.references import exact
from bench.workload import Problem, problem
from rnncourse.lab.turns import rotated
from rnncourse.records.workload import PARTS, Measurement, Workload

MODULES = "ladder", "cudnn", "persistent_layers", "tensor_layers"
LADDER, CUDNN, PERSISTENT, TENSOR = (f"{__package__}.{name}" for name in MODULES)
TORCH = "bench.peers.torch_layers"


TIME_WAS_OVER = "time was over"  # begins the reason of a result that --continue would measure


@dataclass(frozen=True)
class MeasuredEntry:
    """A contestant before it is built: name, module that builds it, dtype."""

    name: str
    module: str
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"{self.name}, {self.dtype}"


@dataclass(frozen=True)
class MeasureSettings:
    """How long and how often: a turn lasts about `turn` seconds, or one run where that is longer."""

    rounds: int = 7
    turn: float = 0.03  # seconds
    most_repeats: int = 200


class BrokenDevice(RuntimeError):
    """The CUDA context refuses every further call; the message names the first error."""


class Watcher:
    """Receives the progress of a measurement; this one ignores it."""

    def at(self, entry: str, phase: str) -> None:
        """The entry ("name, dtype"; "" for none) is in this phase now."""

    def results(self, results: list[Measurement]) -> None:
        """All results so far, complete or not."""


def measure(
    workload: Workload,
    entries: Sequence[MeasuredEntry],
    settings: MeasureSettings,
    watcher: Watcher | None = None,
    until: float = math.inf,
) -> list[Measurement]:
    """All contestants on one workload, in turns.  Raises BrokenDevice if the CUDA context is lost.

    After `until` on time.monotonic's clock nobody is made ready, and no round begins but the first.
    """
    watcher = watcher or Watcher()
    results = [Measurement(entry.name, entry.dtype) for entry in entries]
    active = []
    for pair in _ready(workload, zip(entries, results, strict=True), watcher, until):
        active.append(pair)
        watcher.results(results)
    repeats = {}
    for contestant, result in active:
        watcher.at(_key(result), "timed once")
        with _failures(result):
            repeats[id(result)] = _repeats(contestant, settings)
    for number in range(settings.rounds):
        if number and time.monotonic() > until:
            break
        timed = [(contestant, result) for contestant, result in active if not result.left_out]
        for contestant, result in rotated(timed, number):
            watcher.at(_key(result), f"round {number + 1} of {settings.rounds}")
            with _failures(result):
                _time(contestant, result, repeats[id(result)])
        watcher.results(results)
    for contestant, result in active:
        watcher.at(_key(result), "checked again")
        with _failures(result):
            _check(problem(workload, result.dtype, exact), contestant, result)
    watcher.results(results)
    return results


def _ready(
    workload: Workload, entries: Iterable[tuple[MeasuredEntry, Measurement]], watcher: Watcher, until: float
) -> Iterator[tuple[Contestant, Measurement]]:
    """Contestants that can be built and are right, each with its result."""
    for entry, result in entries:
        if time.monotonic() > until:
            result.exclude(f"{TIME_WAS_OVER} before it was made ready")
            continue
        watcher.at("", f"reference for {entry.dtype}")
        example = problem(workload, entry.dtype, exact)
        watcher.at(str(entry), "made ready")
        with _failures(result):
            yield _prepare(example, entry, result), result


def _key(result: Measurement) -> str:
    return str(MeasuredEntry(result.name, "", result.dtype))


@contextmanager
def _failures(result: Measurement) -> Iterator[None]:
    """A block whose error excludes this result only.  Nothing is computed for an excluded one."""
    try:
        yield
    except Exception as error:  # whatever a contestant raises is its own result, and not the end
        result.exclude(first_line(error))
        check_device(result.left_out)


def first_line(error: Exception) -> str:
    """Type and first line of an error's message."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def check_device(reason: str) -> None:
    """Raises BrokenDevice with the reason if the CUDA context does not work any more."""
    cupy = sys.modules.get("cupy")
    try:
        if cupy:
            cupy.cuda.Device().synchronize()
    except Exception as error:  # a second failure means that the first one was not the contestant's alone
        raise BrokenDevice(reason) from error


def _prepare(example: Problem, entry: MeasuredEntry, result: Measurement) -> Contestant:
    """The contestant, built and right; its result has all that is known without a clock."""
    contestant = import_module(entry.module).contestant(example, entry.name)
    contestant.seconds("step", 1)
    first = contestant.results()
    contestant.seconds("step", 1)
    again = contestant.results()
    result.same_bits = all(np.array_equal(first[name], again[name]) for name in first)
    result.launches = dict(contestant.launches)
    result.bytes = contestant.bytes
    _check(example, contestant, result)
    return contestant


class WrongNumbers(ValueError):
    """Results further from the reference than the tolerance."""


def _check(example: Problem, contestant: Contestant, result: Measurement) -> None:
    """Raises WrongNumbers unless the numbers of the last training step are right."""
    if result.left_out:
        return
    result.error = max(result.error, example.error(contestant.results()))
    result.checked = True
    if not result.error <= 1:
        raise WrongNumbers(f"{result.error:.1e} times the error that is tolerated")


def _repeats(contestant: Contestant, settings: MeasureSettings) -> dict[str, int]:
    """Runs of each part that fill a turn."""
    once = {part: contestant.seconds(part, 1) for part in _parts(contestant)}
    return {part: max(1, min(settings.most_repeats, int(settings.turn / once[part]))) for part in once}


def _parts(contestant: Contestant) -> tuple[str, ...]:
    """PARTS, then what only this contestant can time alone."""
    return (*PARTS, *getattr(contestant, "own_parts", ()))


def _time(contestant: Contestant, result: Measurement, repeats: dict[str, int]) -> None:
    """One turn.  The last part is a whole step: its numbers are checked at the end."""
    if hasattr(contestant, "host_seconds"):
        issued = contestant.host_seconds()
        result.host = issued if result.host is None else min(issued, result.host)
    for part in sorted(repeats, key="step".__eq__):
        result.seconds.setdefault(part, []).append(contestant.seconds(part, repeats[part]))

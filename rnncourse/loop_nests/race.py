"""A schedule against the serial one, in one run: the ratio that lesson 07 prints.

Both are compiled by the same engine, both results are compared with NumPy's before a clock starts, and the
two take turns, so that other work on the machine slows both.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from rnncourse.lab.turns import take_turns
from rnncourse.loop_nests import SERIAL, build, engine
from rnnlab.compare import relative_error

SIZES = (576, 576, 576)  # M, N, K: divisible by 64, 48, 36 and 32; 2·M·N·K is 0.38 GFLOP
TOLERANCE = 1e-5  # relative norm, as for gradients in float32


@dataclass(frozen=True)
class Race:
    """Medians in seconds of the serial schedule and of another, by the same engine."""

    engine: str
    serial: float
    chosen: float
    compile_seconds: float  # of the chosen one, its first run included
    flops: int

    @property
    def ratio(self) -> float:
        """How many times as fast as the serial schedule."""
        return self.serial / self.chosen

    @property
    def gflops(self) -> float:
        return 1e-9 * self.flops / self.chosen

    def __str__(self) -> str:
        chosen_ms = 1e3 * self.chosen
        serial_ms = 1e3 * self.serial
        times = f"{chosen_ms:.1f} ms against {serial_ms:.1f} ms, by {self.engine}"
        return f"{self.ratio:.1f} times the serial schedule, {self.gflops:.3g} GFLOP/s ({times})"


def race(
    schedule: Mapping[str, object],
    sizes: tuple[int, int, int] = SIZES,
    by: str | None = None,
    rounds: int = 5,
) -> Race:
    """Run the product under `schedule` and under SERIAL in turn.  Raises ValueError for an impossible one."""
    by = by or engine()
    (M, N, K) = sizes
    rng = np.random.default_rng(0)
    a = rng.standard_normal((M, K), np.float32)
    b = rng.standard_normal((K, N), np.float32)
    out = np.empty((M, N), np.float32)
    want = a @ b
    started = time.perf_counter()
    chosen = partial(build(schedule, sizes, by), a, b, out)
    chosen()
    compile_seconds = time.perf_counter() - started
    _refuse_wrong(out, want)
    serial = partial(build(SERIAL, sizes, by), a, b, out)
    serial()
    _refuse_wrong(out, want)
    runs = {"serial": serial, "chosen": chosen}
    medians = (timing.median for timing in take_turns(runs, rounds).values())
    return Race(by, *medians, compile_seconds, 2 * M * N * K)


def race_all(schedules: Mapping[str, Mapping[str, object]], *arguments: object, **options: object) -> dict:
    """{name: Race} of named schedules, one after another; arguments and options are race's."""
    return {name: race(schedule, *arguments, **options) for name, schedule in schedules.items()}


def _refuse_wrong(out: np.ndarray, want: np.ndarray) -> None:
    error = relative_error(out, want)
    if error > TOLERANCE:
        raise ValueError(f"the product is wrong by {error:.1e}: a fault of the compiler, not of the schedule")

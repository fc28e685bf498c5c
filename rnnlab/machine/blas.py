"""Is NumPy's BLAS as fast as this processor allows?  Measured by trying, each time in a fresh process.

OpenBLAS chooses its kernels when it is loaded, by the processor's core type; OPENBLAS_CORETYPE and
OPENBLAS_L2_SIZE override the choice, and a wrong or forgotten one can halve the speed without a word.
A choice can only be made before NumPy is imported, so every candidate is a process of its own; candidates
take turns, and medians are compared, because other work on the machine comes and goes.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
ROUNDS = 3
WORTH_SAYING = 1.2  # times faster; below that it may be noise, and is no loss
CORES = {  # OpenBLAS's core types with the processor flags their kernels need, newest first
    "SapphireRapids": {"avx512f", "avx512_bf16", "amx_bf16"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "Haswell": {"avx2", "fma"},
}
PROBE = """
import json, time
import numpy, threadpoolctl
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
a, b = (numpy.random.default_rng(0).random((768, 768), "float32") for _ in range(2))
a @ b
times = []
for _ in range(9):
    start = time.perf_counter(); a @ b; times.append(time.perf_counter() - start)
pool = blas[0] if blas else {}
print(json.dumps({
    "core": pool.get("architecture"), "library": pool.get("internal_api"), "version": pool.get("version"),
    "threads": pool.get("num_threads"), "gflops": 2e-9 * 768**3 / sorted(times)[4],
}))
"""


@dataclass(frozen=True)
class Trial:
    """One way to start NumPy: its changes to the environment (None removes), the core chosen, the rate."""

    change: tuple[tuple[str, str | None], ...]
    core: str
    gflops: float

    def environment(self, current: Mapping[str, str]) -> dict[str, str]:
        return _changed(current, self.change)


@dataclass(frozen=True)
class Diagnosis:
    """The trial as things are, the best one, and what to say about the two."""

    now: Trial
    best: Trial

    @property
    def gain(self) -> float:
        return self.best.gflops / self.now.gflops

    def sentence(self, variables: Mapping[str, str]) -> str:
        """What was found; names the variable to blame if one is set."""
        said = f"{self.now.core} kernels, {self.now.gflops:.0f} GFLOP/s in float32"
        if self.gain < WORTH_SAYING:
            return f"{said}: no other choice tried is {WORTH_SAYING} times faster"
        guilty = [f"{name}={variables[name]}" for name in VARIABLES if name in variables]
        cause = f" because {' and '.join(guilty)} is set" if guilty else ""
        best = f"{self.best.core} kernels reach {self.best.gflops:.0f}"
        return f"{said}{cause}; {best}, {self.gain:.1f} times as many"

    def remedy(self) -> str | None:
        """The shell command that makes the better choice; None where there is nothing to mend."""
        if self.gain < WORTH_SAYING:
            return None
        commands = [
            f"unset {name}" if value is None else f"export {name}={value}" for name, value in self.best.change
        ]
        return f"{'; '.join(commands)}   (`rnnlab lab` does so for its kernels by itself)"


def diagnose(trials: list[Trial]) -> Diagnosis:
    """Compare the median rates of all trials; the first one is the environment as it is."""
    changes = list(dict.fromkeys(trial.change for trial in trials))
    medians = [_median([trial for trial in trials if trial.change == change]) for change in changes]
    others = [trial for trial in medians if _is_another_choice(trial, medians[0])]
    return Diagnosis(medians[0], max([medians[0], *others], key=lambda trial: trial.gflops))


def examine(environment: Mapping[str, str] = os.environ, try_one: Callable | None = None) -> Diagnosis:
    """Try every candidate in fresh processes, in turn.  A candidate that fails to start is left out."""
    try_one = try_one or _try
    changes = candidates(environment, _processor_flags())
    trials = [try_one(environment, change) for _ in range(ROUNDS) for change in changes]
    return diagnose([trial for trial in trials if trial])


def candidates(environment: Mapping[str, str], flags: set[str]) -> list[tuple]:
    """Changes worth trying: none, unsetting what is set, each core type whose flags this processor has."""
    unset = tuple((name, None) for name in VARIABLES if name in environment)
    named = [
        ((("OPENBLAS_CORETYPE", core), *(change for change in unset if change[0] != "OPENBLAS_CORETYPE")))
        for core, needed in CORES.items()
        if needed <= flags
    ]
    return [(), *([unset] if unset else []), *named]


def better_environment(environment: Mapping[str, str], cache: Path) -> tuple[dict[str, str], Diagnosis]:
    """The environment in which NumPy is fastest, and why; remembered in `cache` until something changes."""
    key = " ".join([platform.processor() or platform.machine(), sys.version.split()[0], _numpy_version()])
    key += "".join(f" {name}={environment[name]}" for name in VARIABLES if name in environment)
    diagnosis = _remembered(cache, key)
    if diagnosis is None:
        diagnosis = examine(environment)
        _remember(cache, key, diagnosis)
    better = diagnosis.best if diagnosis.gain >= WORTH_SAYING else diagnosis.now
    return better.environment(environment), diagnosis


def _try(environment: Mapping[str, str], change: tuple) -> Trial | None:
    command = [sys.executable, "-c", PROBE]
    try:
        done = subprocess.run(
            command, env=_changed(environment, change), capture_output=True, text=True, timeout=60, check=True
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Trial(tuple(change), found["core"] or found["library"] or "unknown", found["gflops"])


def _changed(environment: Mapping[str, str], change: tuple) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name not in dict(change)}
    return kept | {name: value for name, value in change if value is not None}


def _is_another_choice(trial: Trial, now: Trial) -> bool:
    """Naming the core that is chosen anyway changes nothing: if such a trial was faster, that was noise."""
    return trial.core != now.core or any(value is None for _, value in trial.change)


def _median(trials: list[Trial]) -> Trial:
    return Trial(trials[0].change, trials[0].core, statistics.median(trial.gflops for trial in trials))


def _processor_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()  # other systems: only the environment as it is, and without its variables
    return set(next((line.split(":")[1] for line in lines if line.startswith("flags")), "").split())


def _numpy_version() -> str:
    from importlib.metadata import version

    return version("numpy")


def _remembered(cache: Path, key: str) -> Diagnosis | None:
    try:
        stored = json.loads(cache.read_text())
        if stored["key"] != key:
            return None
        trial = lambda t: Trial(tuple(map(tuple, t["change"])), t["core"], t["gflops"])
        return Diagnosis(trial(stored["now"]), trial(stored["best"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(cache: Path, key: str, diagnosis: Diagnosis) -> None:
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps({"key": key, "now": vars(diagnosis.now), "best": vars(diagnosis.best)}))
    except OSError:
        pass  # it will be measured again: slower, not wrong

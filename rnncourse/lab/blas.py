"""Is NumPy's BLAS as fast as this processor allows?  Measured by trying, each time in a fresh process.

OpenBLAS chooses its kernels when it is loaded, by the processor's core type; OPENBLAS_CORETYPE and
OPENBLAS_L2_SIZE override the choice, other variables the number of threads, and a wrong or forgotten one can
halve the speed without a word.  A choice can only be made before NumPy is imported, so every candidate is a
process of its own; candidates take turns, and it is the median of their ratios to the present state that
counts, because other work on the machine comes and goes.
"""

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from rnnlab import resources

KERNELS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
ROUNDS, CONFIRMING_ROUNDS = 3, 5
WORTH_SAYING = 1.2  # times faster; below that it may be noise, and is no loss
AS_GOOD = 0.95  # of the highest gain: the plainest change that reaches it is the one to advise
CORES = {  # OpenBLAS's core types with the processor flags their kernels need, newest first
    "SapphireRapids": {"avx512f", "avx512_bf16", "amx_bf16"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "Haswell": {"avx2", "fma"},
}
PROBE = """
import json, time
import numpy, threadpoolctl
a, b = (numpy.random.default_rng(0).random((768, 768), "float32") for _ in range(2))
a @ b
times = []
for _ in range(9):
    start = time.perf_counter(); a @ b; times.append(time.perf_counter() - start)
pool = next((pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"), {})
print(json.dumps({
    "core": pool.get("architecture") or pool.get("internal_api") or "unknown",
    "threads": pool.get("num_threads") or 0, "gflops": 2e-9 * 768**3 / sorted(times)[4],
}))
"""
Change = tuple[tuple[str, str | None], ...]  # of the environment: (name, value), None removes


@dataclass(frozen=True)
class Trial:
    """One way to start NumPy, the core type and threads that its BLAS took, the rate; 0 if it cannot run."""

    change: Change
    core: str = "unknown"
    threads: int = 0
    gflops: float = 0.0

    def __str__(self) -> str:
        threads = f" on {self.threads} thread{'s' * (self.threads != 1)}" if self.threads else ""
        return f"{self.core} kernels{threads}"


@dataclass(frozen=True)
class Diagnosis:
    """The trial as things are, the best one, and how many times faster that is."""

    now: Trial
    best: Trial
    gain: float

    def sentence(self, environment: Mapping[str, str]) -> str:
        """What was found; names the variables that the best trial did without."""
        best = f"{self.best} reach {self.best.gflops:.0f} GFLOP/s"
        removed = _settings_in_words(environment, [name for name, _ in self.best.change])
        cause = f" because {removed} set" if removed else ""
        if not self.now.gflops:
            return f"a product ends the process{cause}; {best}" if self.mends else "NumPy cannot multiply"
        sentence = f"{self.now}, {self.now.gflops:.0f} GFLOP/s in float32"
        if self.mends:
            return f"{sentence}{cause}; {best}, {self.gain:.1f} times as many"
        harmless = _settings_in_words(environment, KERNELS)
        sentence += f" ({harmless} set, without harm)" if harmless else ""
        return f"{sentence}: no other choice tried is {WORTH_SAYING} times faster"

    @property
    def mends(self) -> bool:
        """Is the best trial so much faster that the change is worth making?"""
        return self.gain >= WORTH_SAYING

    def remedy(self) -> str | None:
        """The shell commands that make the better choice; None where there is nothing to mend."""
        commands = [f"unset {n}" if v is None else f"export {n}={v}" for n, v in self.best.change]
        return "; ".join(commands) if self.mends else None


Try = Callable[[Mapping[str, str], Change], Trial]


def examine(
    environment: Mapping[str, str] = os.environ, keep_threads: bool = False, run: Try | None = None
) -> Diagnosis:
    """The Diagnosis of this environment; with `keep_threads`, thread variables that are set stay."""
    run = run or _in_a_fresh_process
    now = run(environment, ())
    cores = resources.usable_cores()
    stays = keep_threads and any(name in environment for name in THREADS)
    threads = thread_change(environment, cores) if now.threads not in (0, cores) and not stays else ()
    changes = candidates(environment, resources.processor_flags(), threads)
    in_turn = lambda these, rounds: diagnose([[run(environment, c) for c in these] for _ in range(rounds)])
    diagnosis = in_turn(changes, ROUNDS)
    # other work can make any one of several candidates look good: the winner must win again, alone
    return in_turn([(), diagnosis.best.change], CONFIRMING_ROUNDS) if diagnosis.mends else diagnosis


def candidates(environment: Mapping[str, str], flags: set[str], threads: Change = ()) -> list[Change]:
    """Changes worth trying, plainest first: none, unsetting what is set, each core type that can run here."""
    unset = tuple((name, None) for name in KERNELS if name in environment)
    named = [
        (("OPENBLAS_CORETYPE", core), *((name, None) for name, _ in unset if name != "OPENBLAS_CORETYPE"))
        for core, needed in CORES.items()
        if needed <= flags
    ]
    changes = [(), unset, *named, threads, (*unset, *threads)]
    return list(dict.fromkeys(changes))


def thread_change(environment: Mapping[str, str], cores: int) -> Change:
    """One thread for each core, whatever the variables say now."""
    unset = tuple((name, None) for name in THREADS[1:] if name in environment)
    return (*unset, ("OPENBLAS_NUM_THREADS", str(cores)))


def diagnose(rounds: list[list[Trial]]) -> Diagnosis:
    """Compare candidates over rounds of the same candidates; the first is the environment as it is."""
    turns = list(zip(*rounds, strict=True))  # [candidate][round]
    gains = [_median_gain(turn, turns[0]) for turn in turns]
    chosen = next(k for k, gain in enumerate(gains) if gain >= AS_GOOD * max(gains))
    return Diagnosis(_median(turns[0]), _median(turns[chosen]), gains[chosen])


def _median_gain(turn: tuple[Trial, ...], now: tuple[Trial, ...]) -> float:
    """The median, over the rounds, of how many times as fast as things are now."""
    if _is_the_same_choice(turn[0], now[0]):
        return 1.0
    ratio = lambda rate, rate_now: rate / rate_now if rate_now else math.inf if rate else 1.0
    ratios = [ratio(a.gflops, b.gflops) for a, b in zip(turn, now, strict=True)]
    return statistics.median(ratios)


def _is_the_same_choice(trial: Trial, now: Trial) -> bool:
    """Naming the core that is chosen anyway changes nothing: if such a trial was faster, that was noise."""
    same = (trial.core, trial.threads) == (now.core, now.threads)
    return trial.change == () or (same and trial.gflops > 0 and "OPENBLAS_L2_SIZE" not in dict(trial.change))


def _settings_in_words(environment: Mapping[str, str], names: Iterable[str]) -> str:
    """ "A=1 and B=2 are", of those names that are set; empty if none is."""
    settings = [f"{name}={environment[name]}" for name in names if name in environment]
    return f"{' and '.join(settings)} {'is' if len(settings) == 1 else 'are'}" if settings else ""


def _median(turn: tuple[Trial, ...]) -> Trial:
    rate = statistics.median(trial.gflops for trial in turn)
    return Trial(turn[0].change, turn[0].core, turn[0].threads, rate)


def _in_a_fresh_process(environment: Mapping[str, str], change: Change) -> Trial:
    command, env = [sys.executable, "-c", PROBE], changed(environment, change)
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
        return Trial(change, **json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return Trial(change)  # a core type whose instructions this processor lacks ends the process


def changed(environment: Mapping[str, str], change: Change) -> dict[str, str]:
    """The environment after that change."""
    unchanged = {name: value for name, value in environment.items() if name not in dict(change)}
    return unchanged | {name: value for name, value in change if value is not None}


def better_environment(environment: Mapping[str, str], cache: Path) -> tuple[dict[str, str], Diagnosis]:
    """The environment in which NumPy is fastest, and why; remembered in `cache` until something changes.

    Thread variables that are set stay: they may be a decision, on a machine that others use too.
    """
    key = _key(environment)
    diagnosis = _read_cache(cache, key)
    if diagnosis is None:
        diagnosis = examine(environment, keep_threads=True)
        _write_cache(cache, key, diagnosis)
    return changed(environment, diagnosis.best.change if diagnosis.mends else ()), diagnosis


def _key(environment: Mapping[str, str]) -> list:
    """All that the choice depends on: a home may be shared by computers with different processors."""
    variables = {name: environment[name] for name in (*KERNELS, *THREADS) if name in environment}
    processor = resources.processor_name(), sorted(resources.processor_flags()), resources.usable_cores()
    return json.loads(json.dumps([processor, sys.version, version("numpy"), variables]))


def _read_cache(cache: Path, key: list) -> Diagnosis | None:
    try:
        stored = json.loads(cache.read_text(encoding="utf-8"))
        if stored["key"] != key:
            return None
        trial = lambda facts: Trial(**facts | {"change": tuple(map(tuple, facts["change"]))})
        return Diagnosis(trial(stored["now"]), trial(stored["best"]), stored["gain"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_cache(cache: Path, key: list, diagnosis: Diagnosis) -> None:
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps({"key": key, **asdict(diagnosis)}), encoding="utf-8")
    except OSError as error:
        print(
            f"{cache} could not be written ({error.strerror}): the next start measures again", file=sys.stderr
        )

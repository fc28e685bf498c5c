"""What a CPU record says: the fastest rung, ratios, rates, and the conditions of the measurement.

A record is the plain dict that bench.cpu_record makes and rnncourse.records keeps.  Everything here is
derived from the seconds in it.
"""

import math
import statistics
from collections.abc import Iterable

from rnncourse import records

PYTORCH = "pytorch"
LIMITS = ("gemm_large", "gemm_step")
NO_STEPS = {"contestants": {}, "cases": []}
MAX_OTHER_LOAD = 0.05  # share of the cores used by other programs above which medians are unreliable


def newest() -> dict | None:
    """The newest record in which no contestant emulates another machine; None if there is none."""
    for path in reversed(records.stored("bench cpu")):
        record = records.read(path)
        if not record["settings"].get("emulates"):
            return record
    return None


def median(case: dict, name: str) -> float | None:
    """Seconds of one step of a contestant; None where it was left out."""
    rounds = case["seconds"].get(name)
    return statistics.median(rounds) if rounds else None


def is_rung(record: dict, name: str) -> bool:
    """Whether that contestant is a rung of today's ladder; Halide was one in older records."""
    return record["contestants"][name]["is_rung"] and name != "halide"


def best_rung(record: dict, case: dict) -> str | None:
    """The fastest rung of the ladder in this case, of those that round to no narrower numbers."""
    contestants = record["contestants"]
    rungs = []
    for name in case["seconds"]:
        is_narrower = contestants[name].get("precision")
        if is_rung(record, name) and not is_narrower:
            rungs.append(name)
    return min(rungs, key=lambda name: median(case, name), default=None)


def speed_over(record: dict, case: dict, peer: str) -> float | None:
    """How many times as fast as a peer the best rung is."""
    best = best_rung(record, case)
    theirs = median(case, peer)
    if not best or not theirs:
        return None
    return theirs / median(case, best)


def speeds_over_pytorch(record: dict) -> list[float]:
    """How many times as fast as PyTorch the best rung is, for each case in which both were measured."""
    ratios = [speed_over(record, case, PYTORCH) for case in record["cases"]]
    return [ratio for ratio in ratios if ratio is not None]


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Geometric mean, without those that are None; None if no number is left."""
    logarithms = [math.log(ratio) for ratio in ratios if ratio is not None]
    if not logarithms:
        return None
    return math.exp(statistics.fmean(logarithms))


def gflops(case: dict, name: str) -> float | None:
    """Rate in GFLOP/s, by the one convention (bench.workload); of gemm_large, of that product."""
    seconds = median(case, name)
    work = case["large_flops"] if name == "gemm_large" else case["flops"]
    return 1e-9 * work / seconds if seconds else None


def cells(record: dict) -> list[str]:
    names = [case["workload"]["cell"] for case in record["cases"]]
    return list(dict.fromkeys(names))


def heading(record: dict) -> str:
    """Where and when it was measured, and how quiet the machine was."""
    machine = record["machine"]
    settings = record["settings"]
    large_product = record["contestants"].get("gemm_large", {})
    blas = large_product.get("blas")
    library = "{internal_api} {version}, {architecture} kernels".format(**blas) if blas else "unknown"
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        f"{record['date']}, {records.origin(record)}",
        f"NumPy's BLAS: {library}; {settings['rounds']} rounds in turns; * is the fastest rung",
    ]
    if emulated := settings.get("emulates"):
        lines.append(f"emulates a machine with {emulated}: AVX-512 is masked in every contestant")
    sections = [record, record.get("steps", NO_STEPS), record.get("scans", NO_STEPS)]
    loads = []
    for section in sections:
        loads += [case["other_load"] for case in section["cases"]]
    highest_load = max(loads, default=0.0)
    if highest_load > MAX_OTHER_LOAD:
        percent = f"{100 * highest_load:.0f} %"
        lines.append(f"other programs used up to {percent} of the cores: measure again when it is quiet")
    return "\n".join(lines)

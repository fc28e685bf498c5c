"""The record of a CPU benchmark: it grows case by case, and continues where it was interrupted.

Beside what every record has (see rnncourse.records):

    settings      threads, rounds, emulates (AVX-512 masked), seconds of a turn, most steps in a turn
    contestants   of each: is_rung, precision (narrower numbers into which it rounds, or ""), python,
                  packages, blas (library, version, core, threads)
    missing       contestants whose package is not installed
    cases         of each workload: flops of a step, large_flops of the large product; for each contestant
                  seconds (the median step of every round, in order), repeats (steps timed in a round),
                  first_step (seconds, compiled), error (1 is what is tolerated), memory (bytes);
                  left_out: name -> why; other_load: part of the cores' time that other programs used
    steps         of one step of one sequence without gradients: contestants, missing and cases as above
    scans         of min_gru for one long sequence, by a loop and by a scan: the same
"""

from dataclasses import asdict

from bench.cpu import Arena, Case
from bench.peers.blas_products import LARGE_FLOPS
from bench.provenance import provenance
from rnncourse import records
from rnncourse.records.workload import Workload

KIND = "bench cpu"
MEASURED = ("rnnlab/kernels", "rnnlab/ladder", "rnnlab/layers.py", "bench/peers", "bench/halide")
MEASURED += ("rnnlab/cells.py", "rnnlab/network.py")
DIGITS = 6  # significant ones of a time: no clock gives more


def section(arena: Arena) -> dict:
    """Contestants, and no cases yet."""
    contestants = arena.introductions()
    missing = [candidate.name for candidate in arena.missing]
    return {"contestants": contestants, "missing": missing, "cases": []}


def begin(arena: Arena) -> dict:
    """A record without cases: everything but the measurements."""
    measured = section(arena)
    return provenance(KIND, MEASURED, asdict(arena.settings)) | measured


def resumed(record: dict) -> dict:
    """The interrupted record of the same code, machine, settings and packages, or `record` itself."""
    path = records.place(record)
    if not path.exists():
        return record
    try:
        before = records.read(path)
    except ValueError:
        return record  # half a record is none
    same = ("code", "machine", "settings", "contestants")
    return before if all(before[key] == record[key] for key in same) else record


def has(record: dict, workload: Workload) -> bool:
    """Is that workload measured already?"""
    return any(Workload(**case["workload"]) == workload for case in record["cases"])


def add(record: dict, case: Case) -> None:
    """Append one case as plain data."""
    workload = case.workload
    sizes = {"workload": workload._asdict(), "flops": workload.flops(), "large_flops": LARGE_FLOPS}
    record["cases"].append(_rounded({**asdict(case), **sizes}))


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else value

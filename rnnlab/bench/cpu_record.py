"""The record of a CPU benchmark: what was measured, on what, by which code.  It grows case by case.

kind          "bench cpu"
date          when it was begun, in UTC
code          sha256 over the source of all that is measured
commit        of the checkout; `changed` names the measured files that differ from it
machine       processor, cores, caches, memory, operating system
settings      threads, rounds, seconds of a turn
contestants   of each: is_rung, interpreter, python, packages, blas (library, version, core, threads)
missing       contestants whose package is not installed
cases         of each workload: flops of a step, large_flops of the large product; for each contestant
              seconds (the median step of every round, in order), repeats (steps timed in a round),
              first_step (seconds, compiled), error (1 is what is tolerated), memory (bytes);
              left_out: name -> why; other_load: part of the cores' time that other programs used
"""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

import psutil

from rnnlab.bench.cpu import Arena, Case
from rnnlab.bench.peers.blas_products import LARGE_FLOPS
from rnnlab.bench.peers.process import ROOT
from rnnlab.machine import resources

KIND = "bench cpu"
MEASURED = ("rnnlab/ladder", "rnnlab/bench/peers", "rnnlab/cells.py", "rnnlab/network.py")


def begin(arena: Arena) -> dict:
    """A record without cases: everything but the measurements."""
    return {
        "kind": KIND,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code(),
        "commit": _git("rev-parse", "HEAD"),
        "changed": _git("status", "--porcelain", "--", *MEASURED).splitlines(),
        "machine": machine(),
        "settings": asdict(arena.settings),
        "contestants": arena.introductions(),
        "missing": [candidate.name for candidate in arena.missing],
        "cases": [],
    }


def case_of(case: Case) -> dict:
    """One case as plain data."""
    workload = case.workload
    facts = {"workload": workload._asdict(), "flops": workload.flops, "large_flops": LARGE_FLOPS}
    return {**asdict(case), **facts}


def machine() -> dict:
    """What this computer is."""
    return {
        "processor": resources.processor_name(),
        "cores": resources.usable_cores(),
        "cores_of_computer": os.cpu_count(),
        "caches": resources.caches(),
        "memory": psutil.virtual_memory().total,
        "system": platform.platform(),
    }


def code() -> str:
    """One hash of all source files that are measured: the same hash, the same measurement."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterable:
    places = [ROOT / place for place in MEASURED]
    return sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))


def _git(*arguments: str) -> str:
    """What git answers in this checkout; empty where there is none."""
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return ""

"""Where a measurement comes from: this machine, this moment, this code.  The same for every benchmark.

The commit is git's.  A copy of the project without .git has it from RNNLAB_COMMIT, or from a file `commit`
beside pyproject.toml: `git rev-parse HEAD > commit` before copying.  Which files differ from a declared
commit is not known there, and the record says so; its hash of the code can be compared with that commit's.
"""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import psutil

from rnnlab import resources

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "RNNLAB_COMMIT"
COMMIT_FILE = "commit"
SOURCES = {".py", ".cu", ".cuh"}


def provenance(kind: str, measured: Iterable[str], settings: dict) -> dict:
    """What every record (rnncourse.records) begins with; `measured` names files and folders below ROOT."""
    measured = list(measured)
    return {
        "kind": kind,
        "complete": False,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        **checkout(measured),
        "code": code(measured),
        "machine": machine(),
        "settings": settings,
    }


def checkout(measured: Iterable[str]) -> dict:
    """commit, changed (files that differ from it; None where that cannot be known), and how it is known.

    commit_from: git, RNNLAB_COMMIT, the file `commit`, or nothing.
    """
    if commit := _git("rev-parse", "HEAD"):
        changed = _git("status", "--porcelain", "--", *measured).splitlines()
        return {"commit": commit, "changed": changed, "commit_from": "git"}
    file = ROOT / COMMIT_FILE
    declared = {
        VARIABLE: os.environ.get(VARIABLE, ""),
        f"the file {COMMIT_FILE}": file.read_text(encoding="utf-8") if file.exists() else "",
    }
    source = next((name for name, text in declared.items() if text.strip()), "nothing")
    return {"commit": declared.get(source, "").strip(), "changed": None, "commit_from": source}


def machine() -> dict:
    """What this computer is."""
    return {
        "processor": resources.processor_name(),
        "cores": resources.usable_cores(),
        "cores_of_computer": os.cpu_count(),
        "caches": resources.caches(),
        "memory": psutil.virtual_memory().total,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def code(measured: Iterable[str]) -> str:
    """One hash of all source files that are measured, kernels in CUDA C++ included."""
    digest = hashlib.sha256()
    for path in _sources(measured):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources(measured: Iterable[str]) -> list[Path]:
    places = [ROOT / place for place in measured]
    files = {path for place in places for path in ([place] if place.is_file() else place.rglob("*"))}
    return sorted(path for path in files if path.suffix in SOURCES)


def _git(*arguments: str) -> str:
    """What git answers in this checkout; empty where there is none."""
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return ""

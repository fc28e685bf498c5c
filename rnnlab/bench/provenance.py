"""Where a measurement comes from: this machine, this moment, this code.  The same for every benchmark."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import psutil

from rnnlab.machine import resources

ROOT = Path(__file__).resolve().parents[2]


def provenance(kind: str, measured: Iterable[str], settings: dict) -> dict:
    """What every record begins with (see rnnlab.records); `measured` names files and folders below ROOT."""
    measured = list(measured)
    return {
        "kind": kind,
        "complete": False,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "changed": _git("status", "--porcelain", "--", *measured).splitlines(),
        "code": code(measured),
        "machine": machine(),
        "settings": settings,
    }


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
    """One hash of all source files that are measured: the same hash, the same measurement."""
    digest = hashlib.sha256()
    for path in _sources(measured):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources(measured: Iterable[str]) -> list[Path]:
    places = [ROOT / place for place in measured]
    return sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))


def _git(*arguments: str) -> str:
    """What git answers in this checkout; empty where there is none."""
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return ""

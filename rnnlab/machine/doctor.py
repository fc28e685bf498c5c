"""The doctor: what this computer is, how fast it is, what is missing, and the command that mends it."""

import html
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from rnnlab.machine import driver

ROOT = Path(__file__).resolve().parents[2]
GIB = 2**30
ROOM_GIB = 1  # below this much free disk, saving notebooks and checkpoints may fail


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is the command that mends it, None if nothing needs mending."""

    name: str
    value: str
    remedy: str | None = None


@dataclass(frozen=True)
class Report:
    """All findings; shows itself as text, and as a table in a notebook."""

    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        lines = []
        for finding in self.findings:
            lines.append(f"{'!' if finding.remedy else ' '} {finding.name:{width}}  {finding.value}")
            if finding.remedy:
                lines.append(f"  {'':{width}}  → {finding.remedy}")
        return "\n".join([*lines, "", self.summary()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_row(finding) for finding in self.findings)
        return f"<table>{rows}</table><p>{html.escape(self.summary())}</p>"

    def json(self) -> str:
        return json.dumps([asdict(finding) for finding in self.findings], indent=1, ensure_ascii=False)

    def summary(self) -> str:
        """How many things to mend, in one sentence."""
        many = sum(finding.remedy is not None for finding in self.findings)
        if not many:
            return "Nothing needs mending."
        return f"{many} thing{'s' if many > 1 else ''} to mend, marked with ! and followed by what to do."


def report(measured: bool = True) -> Report:
    """Examine this machine; without `measured`, what can be known at once.  With it, about 8 seconds."""
    found = [*_machine(), *_python(), *_gpu(), *_tools()]
    return Report((*found, *(_speed() if measured else ())))


def _row(finding: Finding) -> str:
    name, value = html.escape(finding.name), html.escape(finding.value)
    if finding.remedy:
        name, value = f"⚠ {name}", f"{value}<br><b>→</b> <code>{html.escape(finding.remedy)}</code>"
    left = 'style="text-align:left"'  # notebooks align tables to the right
    return f"<tr><th {left}>{name}</th><td {left}>{value}</td></tr>"


def _machine() -> Iterator[Finding]:
    yield Finding("processor", _processor_name())
    usable, all_cores = _usable_cores(), os.cpu_count() or 1
    yield Finding("cores", f"{usable}" if usable == all_cores else f"{usable} usable of {all_cores}")
    memory = psutil.virtual_memory()
    yield Finding("memory", f"{memory.total / GIB:.0f} GiB, {memory.available / GIB:.0f} GiB free")
    yield _disk(shutil.disk_usage(ROOT).free)
    yield _writable(ROOT / "work" if (ROOT / "work").exists() else ROOT)


def _disk(free_bytes: int) -> Finding:
    remedy = f"free some space: {ROOT} needs {ROOM_GIB} GiB" if free_bytes < ROOM_GIB * GIB else None
    return Finding("disk", f"{free_bytes / GIB:.1f} GiB free", remedy)


def _writable(folder: Path) -> Finding:
    if os.access(folder, os.W_OK):
        return Finding("your answers", f"kept in {ROOT / 'work'}")
    return Finding("your answers", f"{folder} is not writable", f"chmod u+w {folder}")


def _python() -> Iterator[Finding]:
    yield Finding("Python", f"{platform.python_version()} at {sys.executable}")
    yield Finding("packages", ", ".join(f"{name} {version(name)}" for name in ("numpy", "matplotlib")))
    for name, purpose in (("jupyterlab", "opens the notebooks"), ("ipywidgets", "moves the pictures"),
                          ("numba", "compiles loops, lesson 06 on")):  # fmt: skip
        yield _package(name, purpose)


def _package(name: str, purpose: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, f"missing: it {purpose}", "make lab")


def _gpu() -> Iterator[Finding]:
    cuda, extra = driver.cuda_version(), driver.extra()
    if cuda is None:
        yield Finding("GPU", "no NVIDIA driver: every lesson works without one")
        return
    if extra is None:
        yield Finding(
            "GPU", f"its driver supports CUDA {cuda[0]}.{cuda[1]}, too old", "install a driver for CUDA 12"
        )
        return
    yield Finding("GPU", f"the driver supports CUDA {cuda[0]}.{cuda[1]}")
    for name in (f"cupy-{extra}x", "numba-cuda"):
        found = _package(name, "runs kernels on the GPU")
        yield found


def _tools() -> Iterator[Finding]:
    if shutil.which("bwrap"):
        yield Finding(
            "sandbox", "bubblewrap: grading runs answers without network and without the course's files"
        )
    else:
        advice = "to grade others', install bubblewrap (Debian, Ubuntu: sudo apt-get install bubblewrap)"
        yield Finding("sandbox", f"plain limits: enough for your own answers; {advice}")


def _speed() -> Iterator[Finding]:
    from rnnlab.machine import blas, roofline

    diagnosis = blas.examine()
    yield Finding("BLAS", diagnosis.sentence(os.environ), diagnosis.remedy())
    yield _threads(_blas_threads(), _usable_cores())
    roof = roofline.measure()
    yield Finding("products", f"{roof.peak:.0f} GFLOP/s in float32, in this process")
    yield Finding("bandwidth", f"{roof.bandwidth:.0f} GB/s from memory")


def _blas_threads() -> int | None:
    import threadpoolctl

    return next((p["num_threads"] for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"), None)


def _threads(threads: int | None, cores: int) -> Finding:
    said = "unknown" if threads is None else f"{threads} of {cores} usable cores"
    if threads is None or threads == cores:
        return Finding("BLAS threads", said)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    guilty = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    if not guilty:
        return Finding("BLAS threads", said)
    return Finding(
        "BLAS threads", f"{said}, because {' and '.join(guilty)} is set", f"unset {guilty[0].split('=')[0]}"
    )


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()

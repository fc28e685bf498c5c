"""The doctor: what this computer is, how fast it is, what is missing, and the command that mends it.

That CuPy or numba-cuda is installed says little: each is made to compile and run a kernel, in a process of
its own, so that whoever asks holds no GPU memory afterwards.
"""

import html
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nbjudge import progress_file
from nbjudge.files import ROOT
from nbjudge.printable import quantity
from rnncourse.lab import blas, driver
from rnncourse.lab.environment import output_of
from rnncourse.lab.work import FROM_REPOSITORY, course_folder
from rnncourse.remedies import command_line, pip_install
from rnnlab import resources

QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
TRIAL_SECONDS = 120  # the first kernel on a machine may be compiled for the first time
TRIALS = {  # distribution's first letters: a program that fails unless a kernel ran
    "cupy": "import cupy; a = cupy.arange(4.0)[None]; assert float((a @ a.T)[0, 0]) == 14",  # by cuBLAS
    "numba-cuda": """
import numpy
from numba import cuda
@cuda.jit
def double(a):
    a[cuda.grid(1)] *= 2
a = cuda.to_device(numpy.ones(4))
double[1, 4](a)
assert a.copy_to_host().sum() == 8
""",
}
GIB = 2**30
# the Makefile is the clone's; a package was installed by pip
INSTALL = "make lab" if (ROOT / "Makefile").exists() else FROM_REPOSITORY
ROOM_GIB = 1  # below this much free disk, saving notebooks and checkpoints may fail


@dataclass(frozen=True)
class Diagnosis:
    """One line of the report; `remedy` is the command that mends it, None if nothing needs mending."""

    name: str
    value: str
    remedy: str | None = None


@dataclass(frozen=True)
class DoctorReport:
    """All findings; shows itself as text, and as a table in a notebook."""

    findings: tuple[Diagnosis, ...]

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        lines = []
        for finding in self.findings:
            mark = "!" if finding.remedy else " "
            lines.append(f"{mark} {finding.name:{width}}  {finding.value}")
            if finding.remedy:
                indent = " " * width
                lines.append(f"  {indent}  → {finding.remedy}")
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
        return f"{quantity(many, 'thing')} to mend, marked with ! and followed by what to do."


def report(measured: bool = True) -> DoctorReport:
    """Examine this machine; without `measured`, what can be known at once.  With it, about 6 seconds."""
    if resources.in_browser():
        findings = _browser()
        speed = _roofs
    else:
        findings = [*_machine(), *_python(), *_gpu(measured), *_tools()]
        speed = _speed
    if measured:
        findings += speed()
    return DoctorReport(tuple(findings))


def _row(finding: Diagnosis) -> str:
    name = html.escape(finding.name)
    value = html.escape(finding.value)
    if finding.remedy:
        name = f"⚠ {name}"
        value = f"{value}<br><b>→</b> <code>{html.escape(finding.remedy)}</code>"
    left = 'style="text-align:left"'  # notebooks align tables to the right
    return f"<tr><th {left}>{name}</th><td {left}>{value}</td></tr>"


def _browser() -> list[Diagnosis]:
    """What a learner must know of a Python in a browser."""
    answers = "kept by this browser alone: download a notebook before you clear its data"
    return [
        Diagnosis("computer", "a browser: no threads, no other processes, no compilers, no GPU"),
        Diagnosis("times", "those of WebAssembly on one core: another kind than those of this computer"),
        Diagnosis("Python", platform.python_version()),
        _packages(),
        Diagnosis("your answers", answers),
        Diagnosis("your progress", f"kept in {progress_file.home()}, a folder of this browser"),
        Diagnosis("grading", "check() works; `rnnlab grade` needs processes, which are missing here"),
    ]


def _machine() -> list[Diagnosis]:
    import psutil  # not built for browsers

    usable = resources.usable_cores()
    every = os.cpu_count() or 1
    cores = f"{usable}" if usable == every else f"{usable} usable of {every}"
    caches = [f"{level} {_size(size)}" for level, size in resources.caches().items()]
    course = course_folder(ROOT)
    free_bytes = shutil.disk_usage(course).free
    answers = course / "work"
    return [
        Diagnosis("processor", resources.processor_name()),
        Diagnosis("cores", cores),
        Diagnosis("caches", ", ".join(caches) or "not reported by this system"),
        _memory(psutil.virtual_memory(), resources.memory_limit()),
        _disk(free_bytes, course),
        _writable(answers if answers.exists() else course),
        Diagnosis("your progress", f"kept in {progress_file.home()}"),
    ]


def _size(size: int) -> str:
    kibibytes = size / 2**10
    if kibibytes < 2**10:
        return f"{kibibytes:g} KiB"
    mebibytes = size / 2**20
    return f"{mebibytes:g} MiB"


def _memory(memory, limit: float) -> Diagnosis:
    total = memory.total / GIB
    free = memory.available / GIB
    amount = f"{total:.0f} GiB, {free:.0f} GiB free"
    if limit < memory.total:
        amount += f"; at most {limit / GIB:.1f} GiB here"
    return Diagnosis("memory", amount)


def _disk(free_bytes: int, course: Path) -> Diagnosis:
    free = free_bytes / GIB
    remedy = f"free some space: {course} needs {ROOM_GIB} GiB" if free < ROOM_GIB else None
    return Diagnosis("disk", f"{free:.1f} GiB free", remedy)


def _writable(folder: Path) -> Diagnosis:
    course = course_folder(ROOT)
    if not (course / "exercises").is_dir():
        return Diagnosis("your answers", "kept where you save them: this is not a clone of the course")
    if os.access(folder, os.W_OK):
        return Diagnosis("your answers", f"kept in {course / 'work'}")
    return Diagnosis("your answers", f"{folder} is not writable", command_line("chmod", "u+w", folder))


def _python() -> Iterator[Diagnosis]:
    yield Diagnosis("Python", f"{platform.python_version()} at {sys.executable}")
    for variable in ("PYTHONPATH", "PYTHONHOME"):
        if os.environ.get(variable):
            value = f"{os.environ[variable]}: packages of another system come before the course's"
            yield Diagnosis(variable, value, f"unset {variable}")
    yield _packages()
    yield Diagnosis("BLAS", blas.describe_library())
    yield _package("jupyterlab", "opens the notebooks")
    yield _package("ipywidgets", "moves the pictures")
    yield _package("numba", "compiles loops, lesson 06 on")


def _packages() -> Diagnosis:
    versions = [f"{name} {version(name)}" for name in ("numpy", "matplotlib")]
    return Diagnosis("packages", ", ".join(versions))


def _package(name: str, purpose: str) -> Diagnosis:
    try:
        return Diagnosis(name, version(name))
    except PackageNotFoundError:
        return Diagnosis(name, f"missing: it {purpose}", INSTALL)


def _gpu(measured: bool) -> Iterator[Diagnosis]:
    cuda = driver.cuda_version()
    extra = driver.extra()
    if cuda is None:
        yield Diagnosis("GPU", "no NVIDIA driver: every lesson works without one")
        return
    supports = f"CUDA {cuda[0]}.{cuda[1]}"
    if extra is None:
        remedy = "install a driver for CUDA 12 or newer"
        yield Diagnosis("GPU", f"its driver supports {supports}, too old", remedy)
        return
    for card in cards() or ["nvidia-smi does not answer"]:
        yield Diagnosis("GPU", f"{card}, supports {supports}")
    for name, program in TRIALS.items():
        distribution = f"cupy-{extra}x" if name == "cupy" else name
        finding = _package(distribution, "runs kernels on the GPU")
        if measured and not finding.remedy:
            finding = _check_by_running(finding, program)
        yield finding


def _check_by_running(finding: Diagnosis, program: str) -> Diagnosis:
    """The finding of an installed package after a trial program has run a kernel with it."""
    trouble = trial_failure(program)
    if trouble is None:
        return Diagnosis(finding.name, f"{finding.value}, runs a kernel")
    again = pip_install("--force-reinstall", f"{finding.name}=={finding.value}")
    return Diagnosis(finding.name, f"{finding.value} runs no kernel: {trouble}", again)


def _tools() -> Iterator[Diagnosis]:
    from nbjudge.running import sandbox

    why = sandbox.choose().why  # what `rnnlab grade` asks
    if not why:
        yield Diagnosis("sandbox", "bubblewrap: answers see no network, check or solution")
        return
    advice = "install bubblewrap (Debian, Ubuntu: sudo apt-get install bubblewrap)"
    if shutil.which("bwrap"):
        advice = "let bubblewrap work here"
    limits = f"plain limits ({why}): enough for your own answers"
    yield Diagnosis("sandbox", f"{limits}; to grade others', {advice}")


def _speed() -> Iterator[Diagnosis]:
    from rnncourse.lab import crowd

    if message := crowd.warning(crowd.others_part()):
        yield Diagnosis("other programs", message, "end what else runs, then: rnnlab doctor")
    if message := blas.warning():
        yield Diagnosis("products", message, f"unset {' '.join(blas.overrides())}")
    else:  # a product with kernels of another processor would end this process
        yield from _roofs()


def _roofs() -> Iterator[Diagnosis]:
    from rnncourse.lab import roofline

    roof = roofline.measure()
    yield Diagnosis("peak", f"{roof.peak:.3g} GFLOP/s in float32, the most that a product reached")
    yield Diagnosis("bandwidth", f"{roof.bandwidth:.3g} GB/s from memory")
    if roof.disturbed:
        yield Diagnosis("disturbed", roof.disturbed)


def cards() -> list[str]:
    """Name, memory and driver of each card; empty where nvidia-smi does not answer."""
    lines = output_of(QUERY).splitlines()
    fields = [line.split(", ") for line in lines if line.count(", ") == 2]
    return [f"{name}, {memory}, driver {driver}" for name, memory, driver in fields]


def trial_failure(program: str) -> str | None:
    """Last line of a program's error output, run in a process of its own; None if it ends without error."""
    command = [sys.executable, "-c", program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {TRIAL_SECONDS} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"ended with status {done.returncode}"

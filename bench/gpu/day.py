"""`rnnlab gpu-day 1|2|3`: from a machine with a GPU, seen for the first time, to records; ten minutes a part.

The machine needs Python with NumPy and psutil, a CUDA driver, and what is to be measured: CuPy, PyTorch with
cuDNN, numba-cuda.  Nothing is installed: `python3 -m rnncourse.cli gpu-day 1` runs in the project's folder.
Where a package does not work with another there (numba-cuda 0.30.4 fails beside NumPy 2.5), bring wheels for
its Python and say `--wheels wheels` on the day; before it

    pip download --no-deps --only-binary=:all: --python-version 3.12 -d wheels numpy==2.4.6

    part 1   probes, each kernel once, the tests marked gpu, compute-sanitizer, the suites with --quick
    part 2   the suite persistent
    part 3   the suites stages and peers

Every step is a process of its own with its own time limit.  What is wrong is printed as it shows, and again
at the end; `--out DIR` has it at the head of day1.txt, beside the records.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.gpu import command
from bench.gpu.children import ROOT, Limits, environment, run_task
from bench.gpu.measure import LADDER, PERSISTENT, TENSOR, Entry, Settings
from bench.gpu.probes import PROBES
from bench.gpu.suites import OURS, PEERS, Task
from rnncourse.records.workload import Result, Workload
from rnnlab.gpu import card

SMALL = Workload("lstm", 6, 5, 64, 64, 2)
ONCE = Settings(rounds=1, turn=1e-9)
PROBE, TESTS, SANITIZER, QUICK, RESERVE = 60.0, 170.0, 45.0, 200.0, 5.0  # seconds
TESTS_AT_ONCE = 4  # as `make test-gpu` has it
TOOLS = "memcheck", "racecheck"
SANITIZED = [
    Entry("persistent", PERSISTENT),
    Entry("persistent_grid", TENSOR, "bfloat16"),
    Entry("persistent_cluster", TENSOR, "bfloat16"),
    Entry("persistent_cluster_bulk", TENSOR, "bfloat16"),
    Entry("graph_replay", LADDER),
]
NO_TESTS = 5  # pytest's exit status where it collected none
BESIDE_A_GPU = {"RNNLAB_CUDA": "gpu"}  # the simulator must not step in unnoticed
TOOLKIT = Path("/usr/local/cuda")


@dataclass
class Day:
    """One part: its time, and what was seen; findings stand at the head of its page."""

    part: int
    end: float  # on time.monotonic's clock
    out: Path | None
    wrong: list[str] = field(default_factory=list)
    fine: list[str] = field(default_factory=list)

    def left(self) -> float:
        """Seconds that remain, less what it takes to end."""
        return self.end - time.monotonic() - RESERVE

    def say(self, is_fine: bool, line: str) -> None:
        """Print a finding and keep it on the page."""
        (self.fine if is_fine else self.wrong).append(line)
        print(line if is_fine else f"WRONG: {line}", flush=True)
        if self.out:
            _write(self.out / f"day{self.part}.txt", self.page())

    def page(self) -> str:
        """Everything seen, what is wrong first."""
        head = [f"WRONG: {line}" for line in self.wrong] or ["nothing is wrong"]
        return "\n".join([*head, "", *self.fine]) + "\n"


def run(chosen: argparse.Namespace) -> int:
    """The command; 0 if nothing is wrong, 1 otherwise, 2 for a folder that is not there."""
    out = Path(chosen.out) if chosen.out else None
    day = Day(chosen.part, time.monotonic() + 60 * chosen.minutes, out)
    if chosen.wheels and not list(Path(chosen.wheels).glob("*.whl")):
        print(f"rnnlab gpu-day: --wheels {chosen.wheels} has no file *.whl", file=sys.stderr)
        return 2
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="rnnlab-wheels-") as site:
        try:
            _prepare_environment()
            if chosen.wheels:
                install_wheels(day, Path(chosen.wheels), site)
            PARTS[chosen.part](day, chosen)
        finally:
            os.environ.clear()
            os.environ.update(before)
    print(f"\n{day.page()}", flush=True)
    return 1 if day.wrong else 0


def _prepare_environment() -> None:
    """Variables for every process that is started from here."""
    os.environ |= BESIDE_A_GPU
    if TOOLKIT.exists():
        os.environ.setdefault("CUDA_HOME", str(TOOLKIT))  # where Numba looks for libNVVM


def install_wheels(day: Day, wheels: Path, site: str) -> None:
    """Unpack the wheels into a folder that comes before the installed packages, in child processes only."""
    files = sorted(map(str, wheels.glob("*.whl")))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    done = subprocess.run([*pip, "--target", site, *files], capture_output=True, text=True, check=False)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [site, os.environ.get("PYTHONPATH")]))
    names = ", ".join(Path(file).name for file in files)
    reason = (done.stderr.strip().splitlines() or [f"pip ended with status {done.returncode}"])[-1]
    day.say(not done.returncode, f"wheels: {names}" + (f": {reason}" if done.returncode else ""))


def first_part(day: Day, chosen: argparse.Namespace) -> None:
    """Probes, each kernel once, tests, compute-sanitizer, quick suites."""
    if not probe(day):
        return
    small_steps(day)
    gpu_tests(day)
    sanitizer(day)
    bench(day, chosen, ["persistent", "stages"], quick=True)


def second_part(day: Day, chosen: argparse.Namespace) -> None:
    """The suite persistent."""
    if gpu_is_there(day):
        bench(day, chosen, ["persistent"])


def third_part(day: Day, chosen: argparse.Namespace) -> None:
    """The suites stages and peers."""
    if gpu_is_there(day):
        bench(day, chosen, ["stages", "peers"])


PARTS: dict[int, Callable[[Day, argparse.Namespace], None]] = {1: first_part, 2: second_part, 3: third_part}


def gpu_is_there(day: Day) -> bool:
    """Does CuPy find a GPU?  A finding if it does not."""
    why_not = card.why_not()
    if why_not:
        day.say(False, f"nothing can be measured: {why_not}")
    return not why_not


def probe(day: Day) -> bool:
    """Every look at the machine, a process each; False if there is no GPU to go on with."""
    if not gpu_is_there(day):
        return False
    for name in PROBES:
        outcome = run_task({"kind": "probe", "probe": name}, Limits(min(PROBE, day.left())))
        words = outcome.facts.get("finding") or json.dumps(outcome.facts)
        last = f" ({outcome.printed[-1]})" if outcome.reason and outcome.printed else ""
        day.say(not outcome.reason, f"{name}: {outcome.reason or words}{last}")
        if name == "describe" and outcome.reason:
            return False
    return True


def small_steps(day: Day) -> None:
    """One small training step of every contestant, held against the reference."""
    task = Task("small", "workload", SMALL, (*OURS, *PEERS))
    outcome, results = command.run_without_failures(task, ONCE, {}, time.monotonic() + day.left())
    results += [Result(**fields) for fields in outcome.facts.get("results", ())]
    for entry in task.entries:
        reasons = [result.left_out for result in results if command.str_of(result) == str(entry)]
        reason = reasons[0] if reasons else f"not run: {outcome.reason}"
        day.say(not reason, f"small step of {entry}: {reason or 'right'}")


def gpu_tests(day: Day) -> None:
    """The project's tests marked gpu, each sticky error in a process of its own (see tests/conftest.py)."""
    options = ["-q", "-m", "gpu", "-p", "no:cacheprovider", "-p", "no:benchmark", "-W", "default"]
    if importlib.util.find_spec("xdist"):
        options += ["-n", str(TESTS_AT_ONCE)]
    pytest = [sys.executable, "-m", "pytest", *options, "tests"]
    status, lines = _run(pytest, min(TESTS, day.left() - QUICK))
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    last = lines[-1] if lines else "it printed nothing"
    if status == NO_TESTS:
        last = f"no test ran: {last}"
    day.say(status == 0, f"tests: {last}" if status is not None else f"tests: time was over; {last}")
    for line in failed:
        day.say(False, line)


def sanitizer(day: Day) -> None:
    """compute-sanitizer over a small step of every kind of kernel, while there is time for it."""
    tool = shutil.which("compute-sanitizer") or shutil.which(str(TOOLKIT / "bin" / "compute-sanitizer"))
    if not tool:
        return day.say(
            False, "compute-sanitizer is not there: memory and races of the kernels are not checked"
        )
    for check in TOOLS:
        for entry in SANITIZED:
            seconds = min(SANITIZER, day.left() - QUICK)
            if seconds < command.LEAST_SECONDS:
                return day.say(False, f"{check}: time was over before {entry}")
            reason = sanitized(entry, seconds, (tool, "--tool", check))
            day.say(not reason, f"{check} of {entry}: {reason or 'nothing found'}")
    return None


def sanitized(entry: Entry, seconds: float, prefix: tuple[str, ...]) -> str:
    """Why a small step behind compute-sanitizer (prefix) is not sound; empty if it is."""
    message = {
        "kind": "workload",
        "workload": SMALL,
        "entries": [[entry.name, entry.module, entry.precision]],
    }
    outcome = run_task(message | {"settings": asdict(ONCE)}, Limits(seconds, seconds), prefix=prefix)
    results = outcome.facts.get("results") or [{"left_out": "it has no result"}]
    words = [line.strip("= ") for line in outcome.printed if line.startswith("=====")]
    summaries = [line for line in words if "SUMMARY" in line]
    silent = "" if summaries else f"the tool gave no summary: {' '.join(outcome.printed[-1:])}"
    loud = [line for line in words if line not in summaries][1:6] if any(map(_counts, summaries)) else []
    return "; ".join(
        filter(None, [outcome.reason or results[0]["left_out"], silent, *filter(_counts, summaries), *loud])
    )


def _counts(summary: str) -> bool:
    """Does the summary count anything but zero?"""
    return any(int(number) for number in re.findall(r"\d+", summary))


def bench(day: Day, chosen: argparse.Namespace, suites: list[str], quick: bool = False) -> None:
    """`rnnlab bench gpu` with a record, in the time that is left."""
    options = argparse.Namespace(
        suite=suites, quick=quick, record=True, rounds=None, device=None, out=chosen.out,
        only=chosen.only, skip=chosen.skip, minutes=day.left() / 60,
    )  # fmt: skip
    setattr(options, "continue", getattr(chosen, "continue"))
    wrong: list[str] = []
    status = command.run(options, wrong)
    for line in wrong:
        day.say(False, line)
    day.say(status == 0, f"bench gpu {' '.join(suites)}: " + ("done" if status == 0 else f"status {status}"))


def _run(command_line: list[str], seconds: float) -> tuple[int | None, list[str]]:
    """Exit status (None if its time was over) and lines of a process that is ended with all it started."""
    start = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
    process = subprocess.Popen(command_line, cwd=ROOT, env=environment(), **start)
    try:
        text, _ = process.communicate(timeout=max(0.0, seconds))
        return process.returncode, text.strip().splitlines()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return None, process.communicate()[0].strip().splitlines()


def _write(path: Path, text: str) -> None:
    """The page; a full disk costs the page, and the same lines are printed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror or error}", file=sys.stderr)

"""`rnnlab gpu-day 1|2|3`: from a machine with a GPU, seen for the first time, to records; ten minutes a part.

The machine needs Python with NumPy and psutil, a CUDA driver, and what is to be measured: CuPy, PyTorch with
cuDNN, numba-cuda.  Nothing is installed: `python3 -m rnncourse.cli gpu-day 1` runs in the project's folder.
Where a package does not work with another there (numba-cuda 0.30.4 fails beside NumPy 2.5), bring wheels for
its Python and say `--wheels wheels` on the day; before it

    pip download --no-deps --only-binary=:all: --python-version 3.12 -d wheels numpy==2.4.6

    part 1   probes, each kernel once, the tests marked gpu, compute-sanitizer, the suites with --quick
    part 2   the suite persistent
    part 3   the suites stages and peers

Every step is a process of its own with its own time limit; a step that fails ends alone.  What is wrong is
printed as it shows, and again at the end; `--out DIR` has it at the head of day1.txt, beside the records.
docs/gpu_day.md is the page for whoever has the GPU.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.gpu import command, day_tests
from bench.gpu.children import Limits, Outcome, run_task
from bench.gpu.measure import LADDER, PERSISTENT, TENSOR, Entry, Settings, first_line
from bench.gpu.probes import PROBES
from bench.gpu.suites import OURS, PEERS
from rnncourse.records.workload import Result, Workload

SMALL = Workload("lstm", 6, 5, 64, 64, 2)
ONCE = Settings(rounds=1, turn=1e-9)
PROBE = 60.0
TESTS = 170.0
SANITIZER = 45.0
QUICK = 200.0
RESERVE = 5.0  # seconds
WHEELS = 120.0
TOGETHER = 120.0
ALONE = 30.0  # seconds: pip; small steps of all in one process, and of one
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
SEES_A_GPU = {"describe", "product", "numba", "torch"}  # probes that work on a GPU alone


@dataclass
class Day:
    """One part: its time, and what was seen; findings stand at the head of its page."""

    part: int
    end: float  # on time.monotonic's clock
    out: Path | None
    wrong: list[str] = field(default_factory=list)
    fine: list[str] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)  # a count for each step that ran
    advice: list[str] = field(default_factory=list)  # how to go on
    probes: set[str] = field(default_factory=set)  # those that worked

    def left(self) -> float:
        """Seconds that remain, less what it takes to end."""
        return self.end - time.monotonic() - RESERVE

    def say(self, is_fine: bool, line: str) -> None:
        """Print a finding and keep it on the page."""
        (self.fine if is_fine else self.wrong).append(line)
        print(line if is_fine else f"WRONG: {line}", flush=True)
        self.write()

    def attempt(self, name: str, step: Callable, *arguments: object) -> None:
        """Run a step; whatever it raises is a finding, and the next step goes on."""
        try:
            step(self, *arguments)
        except Exception as error:  # a fault of this program must not cost the rest of the day
            self.say(False, f"{name}: {first_line(error)}; this step ended, the others go on")

    def page(self) -> str:
        """Everything seen: what is wrong, what is fine, what was proved, how to go on."""
        parts = [[f"WRONG: {line}" for line in self.wrong] or ["nothing is wrong"], self.fine]
        if self.proved:
            parts.append(["Proved here:", *(f"- {line}" for line in self.proved)])
        if self.advice:
            parts.append(["To go on:", *(f"- {line}" for line in self.advice)])
        return "\n\n".join("\n".join(part) for part in parts) + "\n"

    def write(self) -> None:
        """The page as it is now, into the folder if there is one."""
        if self.out:
            _write(self.out / f"day{self.part}.txt", self.page())


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
                day.attempt("wheels", install_wheels, Path(chosen.wheels), site)
            PARTS[chosen.part](day, chosen)
        finally:
            os.environ.clear()
            os.environ.update(before)
    day.attempt("advice", advise, chosen)
    print(f"\n{day.page()}", flush=True)
    day.write()
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
    names = ", ".join(Path(file).name for file in files)
    pip += ["--target", site, *files]
    try:
        done = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=WHEELS)
    except subprocess.TimeoutExpired:
        return day.say(False, f"wheels: {names}: pip was not done within {WHEELS:.0f} s; none is used")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [site, os.environ.get("PYTHONPATH")]))
    reason = (done.stderr.strip().splitlines() or [f"pip ended with status {done.returncode}"])[-1]
    return day.say(not done.returncode, f"wheels: {names}" + (f": {reason}" if done.returncode else ""))


def first_part(day: Day, chosen: argparse.Namespace) -> None:
    """Probes, each kernel once, tests, compute-sanitizer, quick suites."""
    for name in PROBES:
        day.attempt(f"probe {name}", probe, name)
    if not has_gpu(day):
        return
    for name, step in STEPS.items():
        day.attempt(name, step)
    day.attempt("bench gpu", bench, chosen, ["persistent", "stages"], True)


def second_part(day: Day, chosen: argparse.Namespace) -> None:
    """The suite persistent."""
    day.attempt("probe describe", probe, "describe")
    if has_gpu(day):
        day.attempt("bench gpu", bench, chosen, ["persistent"])


def third_part(day: Day, chosen: argparse.Namespace) -> None:
    """The suites stages and peers."""
    day.attempt("probe describe", probe, "describe")
    if has_gpu(day):
        day.attempt("bench gpu", bench, chosen, ["stages", "peers"])


PARTS: dict[int, Callable[[Day, argparse.Namespace], None]] = {1: first_part, 2: second_part, 3: third_part}


def probe(day: Day, name: str) -> None:
    """One look at the machine, in a process of its own."""
    outcome = run_task({"kind": "probe", "probe": name}, Limits(min(PROBE, day.left())))
    words = json.dumps(outcome.facts) if name == "describe" else outcome.facts.get("finding")
    described = isinstance(outcome.facts.get("gpu"), dict) if name == "describe" else isinstance(words, str)
    reason = outcome.reason or ("" if described else "it sent no finding")
    last = f" ({outcome.printed[-1]})" if reason and outcome.printed else ""
    day.say(not reason, f"{name}: {reason or words}{last}")
    if not reason:
        day.probes.add(name)


def has_gpu(day: Day) -> bool:
    """Did any probe work on a GPU?  A finding if none did."""
    if day.probes & SEES_A_GPU:
        return True
    day.say(False, "nothing can be measured: no probe worked on a GPU")
    return False


def small_steps(day: Day) -> None:
    """One small training step of every contestant, held against the reference: all in one process first.

    If that process ends early, each contestant without a final result gets a process of its own.
    """
    entries = (*OURS, *PEERS)
    right = 0
    together = once(entries, min(TOGETHER, day.left()))
    for entry in entries:
        reason = together.get(str(entry))
        if reason is None:
            seconds = min(ALONE, day.left())
            is_late = seconds < command.LEAST_SECONDS
            reason = "not run: time was over" if is_late else once([entry], seconds).get(str(entry))
        reason = "not run: its process sent no result" if reason is None else reason
        day.say(not reason, f"small step of {entry}: {reason or 'right'}")
        right += not reason
    day.proved.append(f"{right} of {len(entries)} contestants computed a small training step that is right")


def once(entries: Sequence[Entry], seconds: float) -> dict[str, str]:
    """Reasons by contestant; "" where its numbers were compared and are right.

    A contestant is missing where the process ended without saying.
    """
    message = _message(entries)
    outcome = run_task(message, Limits(seconds, min(command.QUIET_SECONDS, seconds)))
    results = _results(outcome)
    reasons = {
        command.str_of(result): result.left_out
        for result in results
        if result.left_out or (result.checked and not outcome.reason)
    }
    if outcome.reason and len(entries) == 1:
        return {str(entries[0]): outcome.reason}
    is_its_fault = outcome.reason and outcome.at and not outcome.is_late
    return reasons | ({outcome.at: outcome.reason} if is_its_fault else {})


def _results(outcome: Outcome) -> list[Result]:
    """Results that came back; none if what came is something else."""
    try:
        return [Result(**fields) for fields in outcome.facts.get("results", ())]
    except TypeError:
        return []


def _message(entries: Sequence[Entry]) -> dict:
    """The task of one small training step."""
    names = [[entry.name, entry.module, entry.dtype] for entry in entries]
    return {"kind": "workload", "workload": SMALL, "entries": names, "settings": asdict(ONCE)}


def gpu_tests(day: Day) -> None:
    """The project's tests marked gpu, each sticky error in a process of its own (see tests/conftest.py)."""
    failed = lambda test, why: day.say(False, f"test {test}: {why}")
    outcomes = day_tests.run_tests(min(TESTS, day.left() - QUICK), failed)
    day.proved.append(f"tests: {outcomes}")
    if outcomes.status is None:
        for test in outcomes.named("started"):
            day.say(False, f"test {test}: not done when time was over")
        day.say(False, f"tests: time was over: {outcomes}")
    elif outcomes.status == NO_TESTS or not outcomes.named("passed"):
        day.say(False, f"tests: no test passed: {outcomes.last}")
    else:
        ended = f"; pytest ended with status {outcomes.status}: {outcomes.last}" if outcomes.status else ""
        day.say(not outcomes.status, f"tests: {outcomes}{ended}")


def sanitizer(day: Day) -> None:
    """compute-sanitizer over a small step of every kind of kernel, while there is time for it."""
    tool = shutil.which("compute-sanitizer") or shutil.which(str(TOOLKIT / "bin" / "compute-sanitizer"))
    if not tool:
        return day.say(
            False, "compute-sanitizer is not there: memory and races of the kernels are not checked"
        )
    before = len(day.fine)
    checks = [(check, entry) for check in TOOLS for entry in SANITIZED]
    for check, entry in checks:
        day.attempt(f"{check} of {entry}", sanitize, tool, check, entry)
    count = len(day.fine) - before
    day.proved.append(f"compute-sanitizer: {count} of {len(checks)} looks at memory and races found nothing")
    return None


def sanitize(day: Day, tool: str, check: str, entry: Entry) -> None:
    """One check of one contestant."""
    seconds = min(SANITIZER, day.left() - QUICK)
    if seconds < command.LEAST_SECONDS:
        return day.say(False, f"{check} of {entry}: time was over before it")
    reason = sanitized(entry, seconds, (tool, "--tool", check))
    return day.say(not reason, f"{check} of {entry}: {reason or 'nothing found'}")


STEPS: dict[str, Callable[[Day], None]] = {
    "small steps": small_steps,
    "tests": gpu_tests,
    "compute-sanitizer": sanitizer,
}


def sanitized(entry: Entry, seconds: float, prefix: tuple[str, ...]) -> str:
    """Why a small step behind compute-sanitizer (prefix) is not sound; empty if it is."""
    outcome = run_task(_message([entry]), Limits(seconds, seconds), prefix=prefix)
    results = _results(outcome)
    compared = any(result.checked for result in results)
    unsound = results[0].left_out if results else ""
    unsound = unsound or ("" if compared else "its numbers were not compared")
    words = [line.strip("= ") for line in outcome.printed if line.startswith("=====")]
    summaries = [line for line in words if "SUMMARY" in line]
    silent = "" if summaries else f"the tool gave no summary: {' '.join(outcome.printed[-1:])}"
    loud = [line for line in words if line not in summaries][1:6] if any(map(_counts, summaries)) else []
    return "; ".join(filter(None, [outcome.reason or unsound, silent, *filter(_counts, summaries), *loud]))


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
    seen = command.Findings(has_gpu=True)
    status = command.run(options, seen)
    for line in seen.wrong:
        day.say(False, line)
    day.say(status == 0, f"bench gpu {' '.join(suites)}: " + ("done" if status == 0 else f"status {status}"))
    day.proved.append(f"{seen.measured} times of contestants, each right before and after the clock")
    if seen.unmeasured:
        day.advice.append(f"the same command with --continue measures the rest: {', '.join(seen.unmeasured)}")


def advise(day: Day, chosen: argparse.Namespace) -> None:
    """What to run next, and where to send what is there."""
    if not day.probes & SEES_A_GPU:
        day.advice.append("mend the first WRONG line (driver, then CuPy), and run the same part again")
    elif day.part < len(PARTS):
        again = f" --out {chosen.out}" if chosen.out else " --out results"
        day.advice.append(f"the next part: rnnlab gpu-day {day.part + 1}{again}")
    if day.wrong:
        day.advice.append("a WRONG line ended its own step alone; running this part again repeats all steps")
    day.advice.append("send the folder of --out, as docs/gpu_day.md describes")


def _write(path: Path, text: str) -> None:
    """The page; a full disk costs the page, and the same lines are printed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror or error}", file=sys.stderr)

"""`rnnlab gpu-day 1`: what nine minutes with a borrowed GPU are best spent on, most valuable first.

Every step is a command under `timeout`; what it prints is shown and kept in the folder of --out as it comes.
A step that fails or runs out of time ends alone.  The last lines say what each step proved, and what did not
run.  Nothing is installed; docs/gpu_day.md is the page for whoever has the GPU.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.gpu.children import ROOT, environment
from bench.gpu.probes import NO_GPU

PART = 1  # the only one: the others were `rnnlab bench gpu` by another name
LEAST_SECONDS = 5.0  # a step is not begun with less
KILLED_AFTER = 5  # seconds after an interrupt that a step ignores
TIMED_OUT = 124, 137, -9  # timeout's exit status, and where it had to kill the step and itself
TOOLKIT = Path("/usr/local/cuda")
TESTS = sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "-p", "no:benchmark"
TESTS += "-W", "default"
BENCH = sys.executable, "-m", "rnncourse.cli", "bench", "gpu"
TIMED = r"^\w+\*? +(float32|tf32|b?float16) +\d+\.\d{3} "  # a row of a contestant that is right
MEMCHECK = "compute-sanitizer", "--tool", "memcheck", "--target-processes", "all", "--error-exitcode", "9"


class Step(NamedTuple):
    """A command, the seconds that it may take, and the words without which it proved nothing."""

    name: str
    seconds: float
    command: tuple[str, ...]
    proof: str


def steps(out: Path) -> list[Step]:
    """What is run, most valuable first; records go into the folder."""

    def bench(name, seconds, *options):
        command = (*BENCH, *options, "--record", "--out", str(out))
        minutes = (seconds - KILLED_AFTER) / 60
        return Step(name, seconds, (*command, "--minutes", f"{minutes:.2f}"), TIMED)

    quick = ("--quick", "--suite")
    kernels = (*TESTS, "tests/rnnlab/test_persistent_on_gpu.py")
    rungs = (*TESTS, "tests/rnnlab/test_rungs_on_gpu.py")
    once = (*BENCH, "--suite", "once", "--rounds", "1")
    return [
        Step("import", 60, (sys.executable, "-m", "bench.gpu.probes"), "cuBLAS multiplies"),
        Step("tests of the CUDA C++ kernels", 130, kernels, r"\d+ passed"),
        Step("tests of the rungs", 60, rungs, r"\d+ passed"),
        Step("one small step of everything", 70, once, TIMED),
        bench("stages", 60, *quick, "stages"),
        bench("exchanges and persistent kernels", 120, *quick, "persistent"),
        Step("memcheck", 60, (*MEMCHECK, *once), "ERROR SUMMARY: 0 errors"),
    ]


def run(chosen: argparse.Namespace) -> int:
    """The command: 0 if every step proved what it should, 1 otherwise, 2 for a part that does not exist."""
    if chosen.part != PART:
        remedy = "the whole suites are `rnnlab bench gpu --record`"
        print(f"rnnlab gpu-day: there is no part {chosen.part}, only {PART}: {remedy}", file=sys.stderr)
        return 2
    out = Path(chosen.out)
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * chosen.minutes
    ended = dict.fromkeys((step.name for step in steps(out)), "not run")
    with (out / "day1.txt").open("w", encoding="utf-8") as page:

        def say(line):
            print(line, flush=True)
            print(line, file=page, flush=True)

        try:
            run_steps(steps(out), end, say, ended)
        finally:  # an interrupt, too, leaves a page that says what did not run
            say("")
            for name, outcome in ended.items():
                say(f"{name}: {outcome}")
    return int(any(not outcome.startswith("done") for outcome in ended.values()))


def run_steps(steps: list[Step], end: float, say: Callable[[str], None], ended: dict[str, str]) -> None:
    """Run each step while there is time; `ended` gets how."""
    for step in steps:
        left = end - time.monotonic()
        if left < LEAST_SECONDS:
            ended[step.name] = "not run: time was over"
        elif not shutil.which(step.command[0], path=variables()["PATH"]):
            ended[step.name] = f"not run: {step.command[0]} is not on the PATH"
        else:
            seconds = min(step.seconds, left)
            say(f"\n== {step.name}, at most {seconds:.0f} s")
            ended[step.name] = "interrupted"
            status, ended[step.name] = run_step(step, seconds, say)
            if status == NO_GPU:
                return


def run_step(step: Step, seconds: float, say: Callable[[str], None]) -> tuple[int, str]:
    """One step: its exit status, and how it ended, in words."""
    begin = time.monotonic()
    limit = ("timeout", "-s", "INT", "-k", str(KILLED_AFTER), f"{seconds:.1f}")
    lines = []
    process = subprocess.Popen(
        [*limit, *step.command], cwd=ROOT, env=variables(), text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with process:
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                say(lines[-1])
        except BaseException:  # Ctrl-C reaches this process alone
            process.terminate()
            raise
    last = next(filter(None, reversed(lines)), "it printed nothing")
    wrong = [line for line in lines if line.startswith("WRONG")]
    if process.returncode in TIMED_OUT:
        outcome = f"WRONG: not done within {seconds:.0f} s"
    elif process.returncode:
        outcome = f"WRONG: status {process.returncode}"
    elif wrong:
        outcome = f"WRONG: {len(wrong)} of its lines say so"
    elif not any(re.search(step.proof, line) for line in lines):
        outcome = "WRONG: it proved nothing"
    else:
        outcome = f"done in {time.monotonic() - begin:.0f} s"
    return process.returncode, f"{outcome}: {last}"


def variables() -> dict[str, str]:
    """Environment of every step: no simulator in place of the GPU, and libNVVM where Numba looks for it."""
    toolkit = {"CUDA_HOME": str(TOOLKIT)} if TOOLKIT.exists() else {}
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(TOOLKIT / "bin")])
    return toolkit | environment() | {"RNNLAB_CUDA": "gpu", "PATH": path}

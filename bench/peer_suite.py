"""numba-cuda's own tests, run through the simulated GPU: `python -m bench.peer_suite`.

Those tests count that its own simulator passes (cudapy, cudasim and doc_examples), and some that it skips:
warps, cooperative groups, its examples.  Both engines run them all; for the one in lockstep no launch is too
small here.  What is needed beside rnnlab is numba-cuda, but no GPU:

    pip install numba-cuda cuda-bindings filecheck cffi pytest

The results go to docs/simulator_peer_suite.md.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.peer_suite_worker import runs_anyway

TESTS = "numba.cuda.tests"
FOLDERS = ("cudasim", "doc_examples", "cudapy")
ENGINES = {"lockstep": "in lockstep", "threads": "thread by thread"}
SECONDS = 120  # for one module; the test that runs then is counted as failed and the others continue
NEEDED = "numba_cuda", "filecheck", "cffi", "pytest"
PIP = "pip install numba-cuda cuda-bindings filecheck cffi pytest"
PAGE = Path(__file__).parents[1] / "docs/simulator_peer_suite.md"
NOT_SUPPORTED = {  # part of a test's name: why it is not a task of ours
    "UnsupportedAlignment": "asks that `alignment` be refused, as its own simulator does; ours accepts it",
    "division_error_in_debug": "asks for FloatingPointError, as its own simulator has it; a GPU has ours",
    "external_cooperative": "links CUDA C++",
    "TestFFI": "links CUDA C++",
    "TestCPointer": "passes a raw pointer of the device",
    "globals_constant_capture": "a kernel compiled once keeps the globals it saw; ours reads them anew",
    "const_mode_val": "looks at compiled code; `rnnlab.compile_report` is for that",
    "3d_grid": "453 million random numbers, too many for threads in Python",
    "doc_examples.test_montecarlo": "four million threads, too many in Python",
    "sessionize": "the example's own mistake: only some threads reach its grid barrier, and ours says so",
    "type_validation": "looks at typing errors of the compiler; strict mode is for that",
}


@dataclass(frozen=True)
class Outcome:
    """How one test ended in one simulator."""

    test: str
    outcome: str  # passed, failed, skipped
    why: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def module(self) -> str:
        return self.test.removeprefix(f"{TESTS}.").rsplit(".", 2)[0]


def modules() -> Iterator[str]:
    """Dotted names of all test modules."""
    package = importlib.util.find_spec("numba_cuda")
    if package is None:
        raise SystemExit(f"numba-cuda is not installed: {PIP}")
    tests = Path(package.submodule_search_locations[0]) / "numba/cuda/tests"
    for folder in FOLDERS:
        for path in sorted((tests / folder).rglob("test_*.py")):
            yield ".".join([TESTS, *path.relative_to(tests).with_suffix("").parts])


def outcomes(simulator: str, module: str, wanted: Sequence[str] = ()) -> list[Outcome]:
    """Every test of a module in a process of its own; started again behind a test that hangs."""
    lines, ended = _run_worker(simulator, module, wanted)
    done = {
        line["test"]: Outcome(**line) for line in lines if line["outcome"] in ("passed", "failed", "skipped")
    }
    every = next((line["tests"] for line in lines if line["outcome"] == "found"), [])
    started = {line["test"] for line in lines if line["outcome"] == "started"}
    missing = [test for test in every if test not in done]
    if not missing or missing[0] not in started:
        return [*done.values()]
    hung = Outcome(missing.pop(0), "failed", ended)
    return [*done.values(), hung, *(outcomes(simulator, module, missing) if missing else [])]


def _run_worker(simulator: str, module: str, wanted: Sequence[str]) -> tuple[list[dict], str]:
    """Lines that the worker has printed, and the reason if it was ended in the middle of a test."""
    command = [sys.executable, "-m", "bench.peer_suite_worker", simulator, module, *wanted]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "RNNLAB_CUDA": "simulator"}
    try:
        output = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS
        ).stdout
        ended = "its process died"
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode()
        ended = f"no end within {SECONDS} s"
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")], ended


def compare(module: str) -> list[tuple[Outcome, ...]]:
    """(theirs, in lockstep, thread by thread) for every test of a module that counts."""
    theirs = {outcome.test: outcome for outcome in outcomes("theirs", module)}
    wanted = [test for test, outcome in theirs.items() if outcome.passed or runs_anyway(module)]
    if not wanted:
        return []
    ours = [{outcome.test: outcome for outcome in outcomes(engine, module, wanted)} for engine in ENGINES]
    return [
        (theirs[test], *(engine.get(test, Outcome(test, "failed", "did not run")) for engine in ours))
        for test in wanted
    ]


def page(compared: list[tuple[Outcome, ...]]) -> str:
    """The results as Markdown."""
    both = [ours for theirs, *ours in compared if theirs.passed]
    beyond = [ours for theirs, *ours in compared if not theirs.passed]
    total = Counter(theirs.module for theirs, *_ in compared)
    passed = [
        Counter(ours[engine].module for _, *ours in compared if ours[engine].passed)
        for engine in range(len(ENGINES))
    ]
    return "\n".join(
        [
            "# numba-cuda's tests in the simulated GPU",
            "",
            "Made by `python -m bench.peer_suite` with numba-cuda "
            f"{importlib.metadata.version('numba-cuda')}; not edited by hand.",
            "",
            f"- Tests that numba-cuda's own simulator passes: {len(both)}. Ours passes {_share(both)}.",
            f"- Tests that it skips or fails, for warps and cooperative groups, and its documentation's "
            f"examples: {len(beyond)}. Ours passes {_share(beyond)}.",
            "",
            f"| module | {' | '.join(ENGINES.values())} | of |",
            "|---|---|---|---|",
            *(
                f"| {module} | {' | '.join(str(engine[module]) for engine in passed)} | {total[module]} |"
                for module in sorted(total)
            ),
            "",
            "## Not passed",
            "",
            "| test | why |",
            "|---|---|",
            *(f"| {_short(ours[0])} | {_why(ours)} |" for _, *ours in compared if _failed(ours)),
            "",
        ]
    )


def _share(rows: list[list[Outcome]]) -> str:
    """Number and share of the tests that pass, by engine."""
    parts = []
    for engine, name in enumerate(ENGINES.values()):
        passed = sum(row[engine].passed for row in rows)
        parts.append(f"{passed} ({passed / max(len(rows), 1):.1%}) {name}")
    return ", ".join(parts)


def _failed(ours: list[Outcome]) -> dict[str, Outcome]:
    """The engines, by name, in which a test does not pass."""
    engines = zip(ENGINES.values(), ours, strict=True)
    return {name: outcome for name, outcome in engines if not outcome.passed}


def _short(outcome: Outcome) -> str:
    return outcome.test.removeprefix(f"{TESTS}.")


def _why(ours: list[Outcome]) -> str:
    failed = _failed(ours)
    name, outcome = next(iter(failed.items()))
    for part, why in NOT_SUPPORTED.items():
        if part in outcome.test:
            return f"not supported: {why}"
    place = "" if len(failed) == len(ENGINES) else f" {name} alone"
    return f"failed{place}: " + outcome.why.replace("|", "\\|").replace("<", "&lt;")


def main(arguments: list[str] | None = None) -> None:
    """Run all and write the page, or only some modules and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("only", nargs="?", default="", help="part of a module's name")
    only = parser.parse_args(arguments).only
    compared = []
    if absent := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        parser.error(f"not installed: {', '.join(absent)}; without it no test starts: {PIP}")
    for module in modules():
        if only in module:
            rows = compare(module)
            compared += rows
            print(f"{module}: {sum(not _failed(ours) for _, *ours in rows)} of {len(rows)}", flush=True)
    if only:
        print(page(compared))
    else:
        PAGE.write_text(page(compared), encoding="utf-8")


if __name__ == "__main__":
    main()

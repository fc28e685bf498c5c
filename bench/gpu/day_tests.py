"""The tests marked gpu, watched from outside: what each one's outcome is, read while the others still run."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.gpu.children import ROOT, environment
from bench.gpu.report_tests import VARIABLE

AT_ONCE = 4  # as `make test-gpu` has it
GLANCE = 0.2  # seconds between two looks at the outcomes
PYTEST = (sys.executable, "-m", "pytest", "tests", "-m", "gpu", "-p", "bench.gpu.report_tests")
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "-W", "default")


@dataclass
class Outcomes:
    """How a run of tests ended; a test that has not ended is "started"."""

    status: int | None = None  # None if the time was over
    tests: dict[str, str] = field(default_factory=dict)
    last: str = "it printed nothing"

    def named(self, outcome: str) -> list[str]:
        """Tests with that outcome."""
        return [test for test, how in self.tests.items() if how == outcome]

    def __str__(self) -> str:
        counts = Counter(self.tests.values())
        words = {"passed": "passed", "failed": "failed", "skipped": "skipped", "started": "did not end"}
        return (
            ", ".join(f"{counts[how]} {word}" for how, word in words.items() if counts[how]) or "no test ran"
        )


def run_tests(seconds: float, see: Callable[[str, str], None]) -> Outcomes:
    """All of them, in so many seconds at most; see(test, reason) is called as soon as one has failed."""
    workers = ("-n", str(AT_ONCE)) if importlib.util.find_spec("xdist") else ()
    return watch((*PYTEST, *OPTIONS, *workers), seconds, see)


def watch(command: tuple[str, ...], seconds: float, see: Callable[[str, str], None]) -> Outcomes:
    """Outcomes of a pytest that has the plugin; it is ended with all it started when its time is over."""
    outcomes = Outcomes()
    end = time.monotonic() + seconds
    rest = ""
    with tempfile.TemporaryDirectory(prefix="rnnlab-tests-") as folder:
        lines = Path(folder) / "lines"
        printed = Path(folder) / "printed"
        lines.touch()
        with printed.open("wb") as out, lines.open(encoding="utf-8", errors="replace") as reading:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment() | {VARIABLE: str(lines)},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                while process.poll() is None and time.monotonic() < end:
                    time.sleep(GLANCE)
                    rest = _apply(rest + reading.read(), outcomes, see)
                outcomes.status = process.poll()
            finally:
                _end_group(process)
            _apply(rest + reading.read(), outcomes, see)
        text = printed.read_text(encoding="utf-8", errors="replace").strip()
        outcomes.last = (text.splitlines() or [outcomes.last])[-1]
    return outcomes


def _apply(text: str, outcomes: Outcomes, see: Callable[[str, str], None]) -> str:
    """Take every whole line; the rest, which may be half a line, is returned."""
    *lines, rest = text.split("\n")
    for line in lines:
        try:
            fields = json.loads(line)
            test = str(fields["test"])
            outcome = str(fields["outcome"])
            why = str(fields.get("why", ""))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue  # no line of the plugin's
        if outcomes.tests.get(test) != "failed":  # a test that fails and then cleans up badly fails once
            outcomes.tests[test] = outcome
            if outcome == "failed":
                see(test, why)
    return rest


def _end_group(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all of it has ended already
    process.wait()

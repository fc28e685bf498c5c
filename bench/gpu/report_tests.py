"""A plugin of pytest: one line of JSON as each test starts and ends, so that no outcome waits for the others.

RNNLAB_TEST_LINES=FILE python -m pytest -p bench.gpu.report_tests
"""

import json
import os
from typing import Any

VARIABLE = "RNNLAB_TEST_LINES"
WHY_CHARACTERS = 200


class Lines:
    """Appends to the file that VARIABLE names."""

    def say(self, **fields: str) -> None:
        """One line, out at once: the process may be ended at any time."""
        with open(os.environ[VARIABLE], "a", encoding="utf-8") as file:
            file.write(json.dumps(fields) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.say(test=nodeid, outcome="started")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.say(test=report.nodeid, outcome=report.outcome, why=_why(report))


def pytest_configure(config: Any) -> None:
    """Listen in the one process that hears of every test: none of xdist's workers."""
    if VARIABLE in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Lines())


def _why(report: Any) -> str:
    """The first line of a failure's message; empty for other outcomes."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(crash.message if crash else report.longrepr).strip().splitlines()
    return lines[0][:WHY_CHARACTERS] if lines else ""

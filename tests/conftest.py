"""What holds for every test: a skip says what to install, and in continuous integration that is a failure."""

import os

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # two test processes of two BLAS threads each get in each other's way: a lesson took 3 times as long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SLOWEST = (
    "test_browser",
    "test_notebooks",
    "test_attacks",
    "test_exercises",
)  # first, so that two processes end together


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    wanted = report.longrepr[2] if report.skipped and not hasattr(report, "wasxfail") else ""
    if "install" in wanted and os.environ.get("CI") == "true":
        report.outcome, report.longrepr = "failed", f"skipped here, which CI does not allow: {wanted}"
    return report


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: SLOWEST.index(stem) if (stem := item.path.stem) in SLOWEST else len(SLOWEST))

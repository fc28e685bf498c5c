"""What holds for every test: a skip says what to install, and in continuous integration that is a failure.

Kernels are simulated, whatever the machine has; with --gpu only the tests marked gpu run, each in a process
of its own, because an error on a GPU may spoil everything that the same process does there afterwards.

The tests marked slow are a leg of their own: `--leg slow` runs them, `--leg all` all tests. Without either
they are left out, except where a selection (-k, a name) leaves nothing else.
"""

import gc
import os
import subprocess
import sys

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # two test processes of two BLAS threads each get in each other's way: a lesson took 3 times as long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# jsonschema, which nbformat imports, would build parsers of addresses: a second of every process, for nothing
sys.modules.setdefault("rfc3987_syntax", None)

# tests of one package use the helpers of another's
sys.path.append(os.path.join(os.path.dirname(__file__), "rnncourse"))

SLOWEST = (
    "test_browser",
    "test_notebooks",
    "test_attacks",
    "test_exercises",
)  # first, so that two processes end together


ALONE = "RNNLAB_TEST_ALONE"  # set in the process that runs a single test on the GPU
SECONDS = 100  # that it may take


LEFT_OUT = pytest.StashKey[int]()  # number of slow tests that this run leaves out


def pytest_addoption(parser):
    parser.addoption("--gpu", action="store_true", help="run the tests marked gpu, and no others, on a GPU")
    parser.addoption(
        "--leg",
        choices=("quick", "slow", "all"),
        default="quick",
        help="run the tests not marked slow, unless the selection has no other (the default); those marked "
        "slow; or all",
    )


def on_gpu(config):
    """Is the GPU wished for?  With --gpu or -m gpu."""
    return config.getoption("--gpu") or config.getoption("-m") == "gpu"


def pytest_configure(config):
    os.environ["NBJUDGE_COURSE"] = "rnncourse.course:COURSE"
    os.environ["RNNLAB_CUDA"] = "gpu" if on_gpu(config) and ALONE in os.environ else "simulator"


def pytest_ignore_collect(collection_path, config):
    """On a GPU machine other tests need not even be importable."""
    if on_gpu(config) and collection_path.suffix == ".py" and not collection_path.stem.endswith("_on_gpu"):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that needs a GPU in a process of its own; its end is this test's."""
    if pyfuncitem.get_closest_marker("gpu") is None or ALONE in os.environ:
        return None
    options = "-p no:cacheprovider -p no:benchmark -p no:xdist --gpu -q -rs --tb=short".split()
    command = [sys.executable, "-m", "pytest", *options, f"{pyfuncitem.path}::{pyfuncitem.name}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, ALONE: "1"}
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"no end within {SECONDS} s", pytrace=False)
    lines = done.stdout.splitlines() or [""]
    if " skipped" in lines[-1] and not done.returncode:
        pytest.skip(next(line for line in lines if line.startswith("SKIPPED")))
    if done.returncode:
        pytest.fail((done.stdout + done.stderr)[-4000:], pytrace=False)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return without_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same of a file that is skipped as a whole, by an importorskip above its tests."""
    return without_skip_in_ci((yield))


def without_skip_in_ci(report):
    """The report of a test or file; in CI a skip for want of a program becomes a failure."""
    wanted = report.longrepr[2] if report.skipped and not hasattr(report, "wasxfail") else ""
    if "install" in wanted and os.environ.get("CI") == "true":
        report.outcome, report.longrepr = "failed", f"skipped here, which CI does not allow: {wanted}"
    return report


@pytest.hookimpl(trylast=True)  # after -k and -m: whoever selects a slow test by its name gets it
def pytest_collection_modifyitems(config, items):
    items[:] = [item for item in items if bool(item.get_closest_marker("gpu")) == on_gpu(config)]
    selection = items if on_gpu(config) else leg_of(items, config.getoption("--leg"))
    chosen = set(selection)
    left_out = [item for item in items if item not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = sum(is_slow(item) for item in left_out)
    if hasattr(config, "workeroutput"):  # a process of pytest-xdist; only the first one prints a summary
        config.workeroutput["left_out"] = config.stash[LEFT_OUT]
    items[:] = selection
    items.sort(key=lambda item: SLOWEST.index(stem) if (stem := item.path.stem) in SLOWEST else len(SLOWEST))


def pytest_collection_finish():
    """Leave all that was collected out of later searches for garbage, which took 0.3 s of a core each."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    """Let Hypothesis, which a plug-in may import only now, see who refers to what."""
    gc.unfreeze()


def is_slow(item):
    """Is the test marked slow?"""
    return item.get_closest_marker("slow") is not None


def leg_of(items, leg):
    """The tests of a leg; the quick leg of slow tests alone is all of them."""
    if leg == "slow":
        return [item for item in items if is_slow(item)]
    quick = [item for item in items if not is_slow(item)]
    return quick if leg == "quick" and quick else items


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Each process of pytest-xdist has left out the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--leg") == "quick" and (number := config.stash.get(LEFT_OUT, 0)):
        terminalreporter.write_line(
            f"slow tests left out: {number} (`make test-slow` runs them, "
            "`make test-slow OPTIONS='-k NAME'` some of them, `pytest --leg all` every test)"
        )

"""What holds for every test: a skip says what to install, and in continuous integration that is a failure.

Kernels are simulated, whatever the machine has; with --gpu only the tests marked gpu run, each in a process
of its own, because an error on a GPU may spoil everything that the same process does there afterwards.

Two markers choose what runs. `slow`: a leg of its own; `--leg slow` runs it, and without that it is left out,
except where a selection (-k, a name) leaves nothing else. `corpus`: a long table of cases, of which each run
tries a tenth, drawn by a hash of the commit; `--leg corpus` tries them all, as does a selection by name.
`--leg all` runs every test. What a run left out is counted in its last lines.

`--skipped-to=FILE` writes the tests that were skipped; `--also=FILE` adds them to a leg on another machine.
(With a space before it, pytest takes a FILE that exists for tests to run, and does not find these options.)
"""

import gc
import hashlib
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

if "PYTEST_XDIST_WORKER" in os.environ:
    # two test processes of two BLAS threads each get in each other's way: a lesson took 3 times as long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Hypothesis would import Trio, should any package have brought it, to tell it of itself
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"

# jsonschema, which nbformat imports, would build parsers of addresses: a second of every process, for nothing
sys.modules.setdefault("rfc3987_syntax", None)

# tests of one package use the helpers of another's, and tables and programs
for folder in ("rnncourse", "kernels", "fixtures"):
    sys.path.append(str(Path(__file__).parent / folder))

SLOWEST = (
    "test_browser",
    "test_notebooks",
    "test_attacks",
    "test_exercises",
)  # first, so that two processes end together

# a shell that starts tests in the background has them ignore Ctrl-C, and an attack is one
signal.signal(signal.SIGINT, signal.default_int_handler)


ALONE = "RNNLAB_TEST_ALONE"  # set in the process that runs a single test on the GPU
SECONDS = 100  # that it may take


LEGS = ("quick", "slow", "corpus", "all")
TENTH = 10  # one of so many cases of a corpus is tried
LEFT_OUT = pytest.StashKey[dict]()  # numbers of tests that this run leaves out


def pytest_addoption(parser):
    parser.addoption("--gpu", action="store_true", help="run the tests marked gpu, and no others, on a GPU")
    parser.addoption(
        "--leg",
        choices=LEGS,
        default="quick",
        help="run the tests not marked slow, unless the selection has no other (the default); those marked "
        "slow; every case of those marked corpus; or all",
    )
    parser.addoption("--skipped-to", metavar="FILE", help="write the names of skipped tests, a line each")
    parser.addoption("--also", metavar="FILE", help="add the tests or files named in these lines to the leg")


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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """In a fresh clone, let one test process compile what all import, before the others import it."""
    folder = Path(__file__).parent
    last = max(folder.glob("test_*.py")).stem  # in the order in which they are collected
    is_compiled = any(folder.glob(f"__pycache__/{last}.*.pyc"))
    if is_compiled or fcntl is None or "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with open(__file__, encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)  # as soon as the first one has collected
        return (yield)


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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser in front of static pages."""
    from page_browser import PageBrowser

    with PageBrowser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def in_a_kernel(monkeypatch):
    """Views offer their widgets, as in a notebook with a kernel."""
    monkeypatch.setattr("rnncourse.figures.picture.widgets_run", lambda: True)


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
    selection = items if on_gpu(config) else selected(items, config)
    chosen = set(selection)
    left_out = [item for item in items if item not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = {
        "slow": sum(is_marked(item, "slow") for item in left_out),
        "corpus": sum(is_marked(item, "corpus") for item in left_out),
        "cases": sum(is_marked(item, "corpus") for item in items),
    }
    if hasattr(config, "workeroutput"):  # a process of pytest-xdist; only the first one prints a summary
        config.workeroutput["left_out"] = config.stash[LEFT_OUT]
    items[:] = selection
    items.sort(key=lambda item: SLOWEST.index(stem) if (stem := item.path.stem) in SLOWEST else len(SLOWEST))


def pytest_collection_finish():
    """Leave all that was collected out of searches for garbage, and make few: they took a tenth of all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 30)


def is_marked(item, name):
    """Is the test marked so?"""
    return item.get_closest_marker(name) is not None


def selected(items, config):
    """The tests of the chosen leg, with a tenth of each corpus unless the selection names tests."""
    leg = config.getoption("--leg")
    tests = leg_of(items, leg)
    is_by_name = config.getoption("-k") or any("::" in argument for argument in config.args)
    if leg in ("quick", "slow") and not is_by_name:
        tests = tenth_of_corpora(tests, drawn_by())
    if config.getoption("--also"):
        names = Path(config.getoption("--also")).read_text(encoding="utf-8").splitlines()
        chosen = {
            *tests,
            *(item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & {*names}),
        }
        tests = [item for item in items if item in chosen]
    return tests


def leg_of(items, leg):
    """The tests of a leg; the quick leg of slow tests alone is all of them."""
    if leg in ("slow", "corpus"):
        return [item for item in items if is_marked(item, leg)]
    quick = [item for item in items if not is_marked(item, "slow")]
    return quick if leg == "quick" and quick else items


@cache
def drawn_by():
    """What draws the cases of corpora: RNNLAB_CORPUS, or the commit."""
    line = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        commit = subprocess.run(
            line, capture_output=True, text=True, cwd=Path(__file__).parent
        ).stdout.strip()
    except OSError:
        commit = ""
    return os.environ.get("RNNLAB_CORPUS") or commit or "no commit"


def tenth_of_corpora(items, drawing):
    """The tests, with a tenth of the cases of each function marked corpus, one at least."""
    functions = defaultdict(list)
    for item in items:
        if is_marked(item, "corpus"):
            functions[item.nodeid.partition("[")[0]].append(item)
    tried = set()
    for cases in functions.values():
        cases.sort(key=lambda item: hashlib.sha256(f"{drawing} {item.nodeid}".encode()).digest())
        tried.update(cases[: -(-len(cases) // TENTH)])
    return [item for item in items if item in tried or not is_marked(item, "corpus")]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Each process of pytest-xdist has left out the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter, config):
    """What was not run, and how to run it."""
    left_out = Counter(config.stash.get(LEFT_OUT, {}))
    skipped = terminalreporter.stats.get("skipped", [])
    if config.getoption("--skipped-to"):
        lines = sorted({f"{report.nodeid}\n" for report in skipped})
        Path(config.getoption("--skipped-to")).write_text("".join(lines), encoding="utf-8")
    if config.getoption("--leg") in ("quick", "slow") and left_out["cases"]:
        tried = left_out["cases"] - left_out["corpus"]
        terminalreporter.write_line(
            f"corpora: {tried} of {left_out['cases']} cases, drawn by RNNLAB_CORPUS={drawn_by()}"
        )
    for reason, number in Counter(reason_of(report) for report in skipped).most_common():
        terminalreporter.write_line(f"skipped: {number} ({reason})")
    how = {
        "slow": "slow tests (`make test-slow`)",
        "corpus": "cases of corpora (`make test-corpus`)",
    }
    not_run = [f"{left_out[name]} {tests}" for name, tests in how.items() if left_out[name]]
    if skipped:
        not_run.append(f"{len(skipped)} skipped")
    if not_run and not on_gpu(config):
        terminalreporter.write_line(f"not run: {', '.join(not_run)}; `pytest --leg all` runs every test")


def reason_of(report):
    """Why a test was skipped, in a line."""
    message = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(message.removeprefix("Skipped: ").split())[:100]

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
from collections import Counter
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

# tests of one package use the helpers of another's
sys.path.append(str(Path(__file__).parent / "rnncourse"))

SLOWEST = (
    "test_browser",
    "test_notebooks",
    "test_attacks",
    "test_exercises",
)  # first, so that two processes end together


# Long tables of cases: every n-th is tried in the quick leg, the others in the slow one.
EVERY = {
    "test_a_fault_at_any_step_is_told_and_ends_that_step_alone": 3,
    "test_a_kernel_that_leaves_out_its_lesson_fails_in_the_notebook_as_in_a_grade": 15,
    "test_a_peer_that_cheats_is_left_out_and_leaves_no_times": 9,
    "test_a_step_of_the_day_itself_that_raises_ends_alone": 5,
    "test_a_style_gets_the_same_verdict_in_the_notebook_and_from_grade": 4,
    "test_a_style_gets_this_verdict_from_a_process_of_its_own_too": 4,
    "test_a_variant_is_solved_by_the_right_answers_and_refuses_each_known_mistake": 4,
    "test_an_answer_gets_its_verdict": 3,
    "test_an_answer_that_goes_around_what_watches_it_gets_nothing": 4,
    "test_an_answer_that_is_no_kernel_gets_nothing_and_a_sentence": 4,
    "test_an_answer_that_remembers_its_inputs_fails": 3,
    "test_an_honest_style_passes_with_the_grader": 4,
    "test_arithmetic_behind_a_conversion_is_as_wide_as_in_compiled_code": 7,
    "test_axe_finds_nothing_and_the_page_is_not_wider_than_the_window": 3,
    "test_bytes_and_flops_of_long_passes_are_those_of_their_plans": 3,
    "test_every_combination_of_passes_gives_the_references_numbers": 3,
    "test_every_contestant_computes_the_same_epoch": 6,
    "test_every_cuda_file_of_the_course_compiles_from_hopper_on": 3,
    "test_every_kernel_of_the_course_compiles_for_three_architectures": 4,
    "test_every_node_is_lit_once_forward_and_once_in_reverse_and_then_none": 3,
    "test_every_order_of_work_gives_the_same_product": 3,
    "test_every_stage_gives_the_references_numbers_whoever_goes_first": 5,
    "test_every_third_case_of_a_long_table_is_quick_however_it_is_selected": 2,
    "test_machine_code_waits_as_often_as_the_source": 6,
    "test_neither_threads_nor_repetition_change_a_bit_of_the_output": 4,
    "test_no_correct_kernel_is_accused": 3,
    "test_no_file_beside_a_submission_is_read_by_the_judge": 2,
    "test_rung_agrees_with_the_reference_in_float64": 3,
    "test_steps_and_a_run_agree_with_the_reference_in_float64": 2,
    "test_the_courses_own_answer_fails_in_a_variant_whose_notebook_shows_the_difference": 3,
    "test_what_happens_to_a_notebook_costs_no_marks": 3,
    "test_what_stands_around_a_notebook_has_the_outcome_that_its_table_says": 3,
    "test_who_splits_a_steps_product_changes_no_number": 9,
    "test_whole_statements_make_no_answers_written_apart_a_pair": 3,
    "test_wrong_kernels_of_learners_have_their_finding_and_a_remedy_that_fits": 3,
}


ALONE = "RNNLAB_TEST_ALONE"  # set in the process that runs a single test on the GPU
SECONDS = 100  # that it may take


LEFT_OUT = pytest.StashKey[int]()  # number of slow tests that this run leaves out
COLLECTED = pytest.StashKey[Counter]()  # {test of EVERY: its quick cases so far}


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


def pytest_itemcollected(item):
    """Mark slow what a long table leaves to the slow leg: before -k, so that no selection changes it."""
    name = getattr(item, "originalname", None)
    if name in EVERY and not is_slow(item):
        seen = item.config.stash.setdefault(COLLECTED, Counter())
        if seen[name] % EVERY[name]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1


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
    """Leave all that was collected out of searches for garbage, and make few: they took a tenth of all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 30)


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

"""A missing program skips a test with the command that mends it, and fails it in continuous integration."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from nbjudge.authoring.course import ROOT


def run_beside_the_conftest(folder, options="", before="", after="", **files):
    """What pytest prints, run as `make` runs it, where conftest.py stands beside these test files alone."""
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    conftest = (ROOT / "tests/conftest.py").read_text()
    (tests / "conftest.py").write_text(before + conftest + after)
    for name, text in files.items():
        (tests / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\n"
        "markers =\n  gpu: on a GPU\n  slow: in a leg of its own\n  corpus: a tenth at each run\n"
    )
    # no path is named: one that an option seems to name would hide the options of tests/conftest.py
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rp", *options.split()]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, cwd=folder, env=environment)
    return done.stdout + done.stderr


TESTS = """
import pytest

def test_that_needs_a_program():
    pytest.skip("sudo apt-get install chromium")

def test_that_needs_hardware():
    pytest.skip("needs a GPU")

def test_that_passes():
    pass
"""


@pytest.mark.parametrize(
    ("ci", "summary"), [("", "1 passed, 2 skipped"), ("true", "1 failed, 1 passed, 1 skipped")]
)
def test_a_skip_for_want_of_a_program_fails_in_ci_only(tmp_path, monkeypatch, ci, summary):
    monkeypatch.setenv("CI", ci)
    text = run_beside_the_conftest(tmp_path, test_small=TESTS)
    assert summary in text
    assert ("CI does not allow: " in text) == bool(ci)


WHOLE_FILE = """
import pytest
pytest.importorskip("nothing_of_that_name", reason="install nothing_of_that_name: make test")
import nothing_of_that_name
"""


@pytest.mark.parametrize(("ci", "summary"), [("", r"\b1 passed, 1 skipped"), ("true", r"\b1 error")])
def test_a_file_skipped_for_want_of_a_package_stops_no_other_and_fails_in_ci(
    tmp_path, monkeypatch, ci, summary
):
    monkeypatch.setenv("CI", ci)
    small = "def test_that_passes():\n    pass\n"
    text = run_beside_the_conftest(tmp_path, test_small=small, test_whole=WHOLE_FILE)
    assert re.search(summary, text)
    assert ("CI does not allow: " in text) == bool(ci)
    assert "nothing_of_that_name: make test" in text


ON_A_GPU = """
import os
import pytest
from rnnlab import cuda

@pytest.mark.gpu
@pytest.mark.parametrize("text", ["a[b]", "c"])
def test_that_wants_a_gpu(text):
    assert os.environ["RNNLAB_CUDA"] == "gpu"

@pytest.mark.gpu
def test_that_ends_its_process():
    os._exit(3)

def test_in_the_simulator():
    assert cuda.is_simulated and os.environ["RNNLAB_CUDA"] == "simulator"
"""


@pytest.mark.parametrize(
    ("options", "summary"),
    [
        ("", "1 passed"),
        pytest.param("--gpu", "1 failed, 2 passed", marks=pytest.mark.slow),
        pytest.param("-m gpu", "1 failed", marks=pytest.mark.slow),
    ],
)
def test_tests_for_a_gpu_run_when_asked_for_and_each_in_its_own_process(tmp_path, options, summary):
    """One that ends its process costs only itself."""
    pretend = "import numba.cuda; numba.cuda.is_available = lambda: True\n"
    other = "import no_such_module" if options else ""
    files = {"test_small_on_gpu": ON_A_GPU, "test_other": other}
    text = run_beside_the_conftest(tmp_path, options, before=pretend, **files)
    assert summary in text


LEGS = """
import pytest

def test_quick(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_both(n): pass
"""
QUICK, SLOW = {"test_quick", "test_both[1]"}, {"test_slow", "test_both[2]"}
HOW = "not run: 2 slow tests (`make test-slow`)"


@pytest.mark.parametrize(
    ("options", "chosen", "says"),
    [
        ("", QUICK, True),
        ("--leg slow", SLOW, False),
        pytest.param("--leg all", QUICK | SLOW, False, marks=pytest.mark.slow),
        pytest.param("-k test_slow", {"test_slow"}, False, marks=pytest.mark.slow),
        pytest.param("-n 2 --dist worksteal", QUICK, True, marks=pytest.mark.slow),
    ],
)
def test_slow_tests_are_a_leg_of_their_own_and_run_where_they_are_selected_alone(
    tmp_path, options, chosen, says
):
    text = run_beside_the_conftest(tmp_path, options, test_small=LEGS)
    assert set(re.findall(r"^PASSED \S+::(\S+)", text, re.M)) == chosen
    assert (HOW in text) == says


TABLE = """
import pytest

pytestmark = pytest.mark.corpus

@pytest.mark.parametrize("number", range(41))
def test_long(number): pass

SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in range(3, 9)]

@pytest.mark.parametrize("number", [*range(3), *SLOW])
def test_short(number): pass
"""


def numbers_of(text, name):
    """The cases of a table that passed."""
    return set(map(int, re.findall(rf"^PASSED \S+::{name}\[(\d+)\]", text, re.M)))


def test_a_tenth_of_a_corpus_is_drawn_by_the_commit_and_told(tmp_path, monkeypatch):
    draws = []
    for commit in ("a1", "b2", "a1"):
        monkeypatch.setenv("RNNLAB_CORPUS", commit)
        text = run_beside_the_conftest(tmp_path, test_small=TABLE)
        draws.append(numbers_of(text, "test_long"))
        assert len(draws[-1]) == 5
        assert len(numbers_of(text, "test_short")) == 1
        assert f"corpora: 6 of 50 cases, drawn by RNNLAB_CORPUS={commit}" in text
        assert "not run: 6 slow tests (`make test-slow`), 44 cases of corpora (`make test-corpus`)" in text
    assert draws[0] == draws[2] != draws[1]


@pytest.mark.parametrize(
    ("options", "long", "short"),
    [
        ("--leg corpus", {*range(41)}, {*range(9)}),
        ("--leg all", {*range(41)}, {*range(9)}),
        ("-k test_long", {*range(41)}, set()),
        ("-k test_short", set(), {0, 1, 2}),
    ],
)
def test_a_leg_and_a_selection_by_name_try_a_corpus_whole(tmp_path, options, long, short):
    text = run_beside_the_conftest(tmp_path, options, test_small=TABLE)
    assert (numbers_of(text, "test_long"), numbers_of(text, "test_short")) == (long, short)


def test_what_was_skipped_on_one_machine_is_added_to_a_leg_on_another(tmp_path):
    file = tmp_path / "skipped.txt"
    whole = "import pytest\npytest.importorskip('nothing_of_that_name', reason='not here')\n"
    text = run_beside_the_conftest(
        tmp_path, f"--skipped-to={file} -n 2", test_small=TESTS, test_legs=LEGS, test_whole=whole
    )
    assert "skipped: 1 (sudo apt-get install chromium)" in text
    assert "not run: 2 slow tests (`make test-slow`), 3 skipped" in text
    names = [line.rpartition("/")[2] for line in file.read_text().splitlines()]
    assert names == ["test_small.py::test_that_needs_a_program", "test_small.py::test_that_needs_hardware",
                     "test_whole.py"]  # fmt: skip
    text = run_beside_the_conftest(tmp_path, f"--leg slow --also={file}", test_small=TESTS, test_legs=LEGS)
    assert "2 passed, 3 skipped" in text


def recipe(target):
    """The command lines of a target of the Makefile, as `make` prints them."""
    run = ["make", "--dry-run", "--no-print-directory", "PYTHON=python3", "CUDA_EXTRA=", "OPTIONS=", target]
    return subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()


@pytest.mark.skipif(shutil.which("make") is None, reason="sudo apt-get install make")
def test_the_legs_of_make_differ_by_name_alone():
    test = recipe("test")[-1].split()
    assert test[1:] == "-m pytest -n 3 --dist worksteal --durations 10".split()
    for leg in ("slow", "corpus"):
        assert recipe(f"test-{leg}")[-1].split() == [*test, "--leg", leg]
    assert "--leg all" in recipe("test-cuda")[-1]


def test_ci_is_a_newcomer_before_it_installs_anything_and_skips_no_leg():
    lines = (ROOT / ".ci/run").read_text().splitlines()
    places = [lines.index(line) for line in (
        '.ci/newcomer "$skipped"', "install_programs", "export CI=true",
        'make test-slow OPTIONS="--also=$skipped"', "make test-cuda",
    )]  # fmt: skip
    assert places == sorted(places)
    assert "make test-corpus" in (ROOT / ".github/workflows/nightly.yml").read_text()


COLLECTED = """
import json, sys
import pytest

class Legs:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        here = [item for item in items if not item.get_closest_marker("gpu")]  # a GPU has a run of its own
        of = sys.modules["conftest"].leg_of
        legs = [of(here, leg) for leg in ("quick", "slow", "corpus", "all")]
        print("LEGS", json.dumps([[item.nodeid for item in leg] for leg in legs]))

pytest.main(["-p", "no:cacheprovider", "--collect-only", "-qq"], plugins=[Legs()])
"""


@pytest.mark.slow
def test_the_legs_together_hold_every_test():
    """Tests as pytest itself collects them."""
    run = subprocess.run([sys.executable, "-c", COLLECTED], capture_output=True, text=True, cwd=ROOT)
    quick, slow, corpus, every = json.loads(re.search(r"^LEGS (.*)$", run.stdout, re.M)[1])
    assert sorted(quick + slow) == sorted(every)
    assert {*corpus} < {*every}
    assert len(slow) > 300
    assert len(quick) > 5000
    assert len(corpus) > 1000

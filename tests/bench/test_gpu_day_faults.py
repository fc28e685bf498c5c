"""A day on a GPU that goes wrong: a fault at every step ends that step alone, and the page tells it."""

import os
import subprocess
import sys
import time

import pytest
from test_gpu_day import MODULE, SANITIZER, SMALL, entry, machine, results_of  # noqa: F401
from values_in import holds

from bench.gpu import children, command, day, day_tests
from bench.gpu.children import ROOT, Limits, run_task
from bench.gpu.probes import PROBES
from bench.gpu.suites import Task
from rnncourse import cli

CHILD = (sys.executable, str(ROOT / "tests/pretended_machine/faulty_child.py"))
FAULTS = {"raises": "RuntimeError: broken", "exits": "status 7", "hangs": " 2 s", "garbage": ""}
STEPS = [*(f"probe {name}" for name in PROBES), "small steps", "compute-sanitizer", "bench gpu"]
LINES = {"small steps": "small step of ", "compute-sanitizer": "memcheck of ", "bench gpu": "persistent/rnn_"}
FINE = {
    **{f"probe {name}": f"\n{name}: " for name in PROBES},
    "small steps": "small step of Right, float32: right",
    "tests": "tests: 1 passed",
    "compute-sanitizer": "memcheck of Right, float32: nothing found",
    "bench gpu": "bench gpu persistent stages: done",
}
ONE_TEST = """
import json, os
with open(os.environ["RNNLAB_TEST_LINES"], "a") as file:
    print(json.dumps({"test": "one", "outcome": "passed"}), file=file)
"""


@pytest.fixture
def rehearsal(monkeypatch, tmp_path):
    """Part 1 with a fault "STEP:FAULT" in its children: the page of the day."""
    tool = tmp_path / "bin" / "compute-sanitizer"
    tool.parent.mkdir()
    text = SANITIZER.format(python=sys.executable, errors=0)
    tool.write_text(text.replace("import subprocess", "import os, subprocess").replace(
        "status =", "os.environ['RNNLAB_BEHIND_TOOL'] = '1'\nstatus ="), encoding="utf-8")  # fmt: skip
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    monkeypatch.setattr(children, "CHILD", CHILD)
    monkeypatch.setattr(day_tests, "PYTEST", (sys.executable, "-c", ONE_TEST))
    monkeypatch.setattr(command, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr("rnncourse.records.MEASURED", tmp_path / "measured")
    monkeypatch.setattr(
        "bench.gpu.suites.SUITES",
        {"persistent": lambda quick: [Task("persistent", "workload", SMALL, [entry("Right")])],
         "stages": lambda quick: []},
    )  # fmt: skip
    for name, entries in (("OURS", ["Right"]), ("PEERS", ["RightToo"]), ("SANITIZED", ["Right"])):
        monkeypatch.setattr(day, name, [entry(one) for one in entries])

    def rehearse(fault):
        monkeypatch.setenv("RNNLAB_FAULT", fault)
        seconds = 2 if fault.endswith("hangs") else 60
        for module, names in (
            (day, ("PROBE", "TOGETHER", "ALONE", "SANITIZER")),
            (command, ("TASK_SECONDS",)),
        ):
            for name in names:
                monkeypatch.setattr(module, name, seconds)
        status = cli.main(["gpu-day", "1", "--out", str(tmp_path / "out")])
        return status, (tmp_path / "out" / "day1.txt").read_text(encoding="utf-8")

    return rehearse


def test_a_day_without_a_fault_proves_all_of_it(rehearsal):
    status, page = rehearsal("nowhere:raises")
    assert (status, page.splitlines()[0]) == (0, "nothing is wrong")
    assert all(line in page for line in FINE.values())
    proved = page[page.index("Proved here:") : page.index("To go on:")]
    assert "2 of 2 contestants" in proved
    assert "tests: 1 passed" in proved
    assert "2 of 2 looks" in proved
    assert "1 times" in proved


@pytest.mark.corpus
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", ["raises", "hangs", "exits", "garbage"])
def test_a_fault_at_any_step_is_told_and_ends_that_step_alone(rehearsal, fault, step):
    status, page = rehearsal(f"{step}:{fault}")
    wrong = [line for line in page.splitlines() if line.startswith("WRONG: ")]
    name = LINES.get(step, step.removeprefix("probe ") + ": ")
    assert status == 1
    assert any(line.startswith(f"WRONG: {name}") and FAULTS[fault] in line for line in wrong)
    assert all(line in page for other, line in FINE.items() if other not in (step, "bench gpu"))
    assert FINE[step] not in page or step == "bench gpu"
    assert "To go on:" in page


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("where", "name", "words"),
    [
        (day, "probe", "probe numba"),
        (day, "once", "small steps"),
        (day.day_tests, "run_tests", "tests"),
        (day, "sanitized", "memcheck of Right"),
        (day.command, "run", "bench gpu"),
    ],
)
def test_a_step_of_the_day_itself_that_raises_ends_alone(rehearsal, monkeypatch, where, name, words):
    if name == "probe":  # all but one work
        real = day.probe
        raising = lambda part, which: real(part, which) if which != "numba" else 1 / 0
    else:
        raising = lambda *arguments, **options: 1 / 0
    monkeypatch.setattr(where, name, raising)
    for step, function in (("small steps", day.small_steps), ("tests", day.gpu_tests)):
        monkeypatch.setitem(day.STEPS, step, function)
    status, page = rehearsal("nowhere:raises")
    assert status == 1
    assert f"WRONG: {words}" in page
    assert "ZeroDivisionError" in page
    assert sum(line in page for line in FINE.values()) >= len(FINE) - 1


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit(7)", "no test passed"),
        ("import time; time.sleep(600)", "time was over"),
        ("import os; print('garbage', file=open(os.environ['RNNLAB_TEST_LINES'], 'a'))", "no test passed"),
    ],
)
@pytest.mark.slow
def test_tests_that_do_not_run_are_told(rehearsal, monkeypatch, program, words):
    monkeypatch.setattr(day_tests, "PYTEST", (sys.executable, "-c", program))
    monkeypatch.setattr(day, "TESTS", 3)
    status, page = rehearsal("nowhere:raises")
    assert status == 1
    assert f"WRONG: tests: {words}" in page
    assert FINE["bench gpu"] in page


def test_wheels_that_take_too_long_are_told_and_the_day_goes_on(rehearsal, monkeypatch, tmp_path):
    (tmp_path / "slow.whl").touch()
    monkeypatch.setattr(day, "WHEELS", 0.01)
    part = day.Day(2, time.monotonic() + 60, None)
    day.install_wheels(part, tmp_path, str(tmp_path / "site"))
    assert [holds(line, "slow.whl", "0") for line in part.wrong] == [True]


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "OSError"])
def test_a_cupy_that_cannot_be_imported_is_a_reason_and_no_traceback(tmp_path, error):
    (tmp_path / "cupy.py").write_text(f"raise {error}('libnvrtc.so.12 is missing')", encoding="utf-8")
    program = "from rnnlab.gpu import card; print(card.why_not())"
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        "RNNLAB_CUDA": "gpu",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=variables, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (
        0, f"CuPy cannot be imported: {error}: libnvrtc.so.12 is missing\n"
    )  # fmt: skip


FAILING = """
import time
import pytest

@pytest.mark.parametrize("n", range(3))
def test_right(n): pass

def test_wrong(): assert 1 == 2, "one is two"

@pytest.fixture
def absent(): raise OSError("no card")

def test_without_its_card(absent): pass

def test_skipped(): pytest.skip("not here")

def test_endless(): time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_failing_tests_are_named_while_the_others_run_and_the_endless_one_too(tmp_path, seconds):
    path = tmp_path / "test_some.py"
    path.write_text(FAILING.format(seconds=seconds), encoding="utf-8")
    plugin = ("-p", "bench.gpu.report_tests", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    seen = []
    pytest_of = (sys.executable, "-m", "pytest", "-c", os.devnull, str(path), *plugin)
    outcomes = day_tests.watch(pytest_of, 20 if seconds else 120, lambda test, why: seen.append((test, why)))
    assert [(test.rpartition("::")[2], why) for test, why in seen] == [
        ("test_wrong", "AssertionError: one is two"),
        ("test_without_its_card", "OSError: no card"),
    ]
    counts = {how: len(outcomes.named(how)) for how in ("passed", "failed", "skipped", "started")}
    assert counts == {"passed": 3 + (not seconds), "failed": 2, "skipped": 1, "started": int(bool(seconds))}
    assert outcomes.status == (None if seconds else 1)


@pytest.mark.slow
def test_a_run_of_tests_is_ended_with_all_that_it_started():
    program = (
        "import subprocess, sys; print('begun', flush=True); subprocess.run([sys.executable, '-c', {!r}])"
    )
    sleeper = "import time; time.sleep(600)"
    outcomes = day_tests.watch((sys.executable, "-c", program.format(sleeper)), 3, lambda *failure: None)
    assert (outcomes.status, outcomes.last, outcomes.tests) == (None, "begun", {})
    ended = day_tests.watch((sys.executable, "-c", "print('x'); exit(3)"), 60, lambda *failure: None)
    assert (ended.status, ended.last) == (3, "x")


@pytest.mark.parametrize(
    "line", ["3", '"at"', "[1]", "null", '{"at": 3}', '{"facts": 7}', '{"failed": []}', "{"]
)
def test_a_line_that_is_no_message_is_kept_as_printed(line):
    outcome = children.Outcome()
    children._apply_message(line, outcome, print)
    assert (outcome.printed, outcome.facts, outcome.at, outcome.reason) == ([line], {}, "", "")


@pytest.mark.usefixtures("machine")
@pytest.mark.slow
def test_what_was_never_compared_is_not_called_right(monkeypatch, tmp_path, capsys):
    """Three contestants end the process before the others are built."""
    names = ["Right", "ExitsAtOnce", "IsKilledAtOnce", "BreaksAtOnce", "WrongAtOnce", "RightToo"]
    monkeypatch.setattr(day, "OURS", [entry(name) for name in names])
    monkeypatch.setattr(day, "PEERS", [])
    monkeypatch.setattr(day, "SMALL", SMALL)
    part = day.Day(1, time.monotonic() + 300, tmp_path)
    day.small_steps(part)
    right = [f"small step of {name}, float32: right" for name in (names[0], names[5])]
    assert part.fine == right
    reasons = {name: next(line for line in part.wrong if f"{name}," in line) for name in names[1:5]}
    words = "status 7", "SIGKILL", "ILLEGAL_ADDRESS", "times the error that is tolerated"
    assert all(word in reasons[name] for name, word in zip(names[1:5], words, strict=True))


@pytest.mark.usefixtures("machine")
def test_a_result_says_whether_its_numbers_were_compared():
    task = {"kind": "workload", "workload": SMALL, "settings": {"rounds": 1, "turn": 1e-9}}
    task["entries"] = [[name, MODULE, "float32"] for name in ("Right", "WrongAtOnce", "RaisesAtOnce")]
    results = results_of(run_task(task, Limits(60)).facts)
    assert [result["checked"] for result in results.values()] == [True, True, False]

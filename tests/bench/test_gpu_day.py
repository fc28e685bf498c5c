"""The GPU benchmark's processes and the nine minutes with a GPU, rehearsed on a pretended card."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from values_in import holds

from bench.gpu import children, command, day, probes
from bench.gpu.children import ROOT, Limits, run_task
from bench.gpu.measure import MeasuredEntry
from bench.gpu.suites import Task, tasks_of
from rnncourse import cli, records
from rnncourse.records.workload import Workload
from rnnlab.gpu import card

SMALL = Workload("rnn_tanh", 3, 2, 4, 5, 1)
OTHER = SMALL._replace(cell="gru")
MODULE = "pretended_contestants"
entry = lambda name: MeasuredEntry(name, MODULE)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A GPU that is pretended in every child process; the folder that keeps records."""
    path = os.pathsep.join(map(str, (ROOT / "tests" / "pretended_machine", ROOT / "tests")))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setattr(records, "MEASURED", tmp_path / "measured")
    monkeypatch.setattr(card, "why_not", lambda: None)
    monkeypatch.setattr(command, "LEAST_SECONDS", 0.1)
    return tmp_path / "measured"


def pretend_suite(monkeypatch, *tasks):
    """Let `--suite stages` be these tasks."""
    monkeypatch.setattr("bench.gpu.suites.SUITES", {"stages": lambda quick: iter(tasks)})


def results_of(case):
    return {result["name"]: result for result in case["results"]}


REASONS = {
    "RaisesLate": "RuntimeError: cuLaunchKernel answers 701",
    "WrongLate": "times the error that is tolerated",
    "BreaksTheContext": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "IsKilled": "ended by signal SIGKILL",
    "Exits": "ended with status 7",
    "Hangs": "it said nothing for 20 s",
}


@pytest.mark.parametrize(
    ("failing", "other"),
    [
        (("RaisesLate", "WrongLate"), "fused_layer"),
        (("BreaksTheContext", "IsKilled"), "Right"),
        pytest.param(("Exits", "Hangs"), "Right", marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.slow
def test_a_late_failure_costs_one_contestant_and_no_other(failing, other, machine, monkeypatch, capsys):
    if "Hangs" in failing:
        monkeypatch.setattr(command, "QUIET_SECONDS", 20)
    pretend_suite(monkeypatch, Task("stages", "workload", SMALL, [*map(entry, failing), entry(other)]))
    assert cli.main(["bench", "gpu", "--record", "--rounds", "2"]) == 0
    (path,) = records.stored("bench gpu")
    (case,) = records.read(path)["cases"]
    results, printed = results_of(case), capsys.readouterr().out
    for name in failing:
        assert REASONS[name] in results[name]["left_out"]
        assert REASONS[name] in printed
        assert not results[name]["seconds"]
    assert len(results[other]["seconds"]["step"]) == 2
    assert not results[other]["left_out"]
    assert other == "Right" or results[other]["host"] > 0


@pytest.mark.slow
def test_a_task_that_is_not_done_in_time_keeps_what_it_had(machine):
    entries = [[name, MODULE, "float32"] for name in ("Right", "Hangs")]
    task = {
        "kind": "workload",
        "workload": SMALL,
        "entries": entries,
        "settings": {"rounds": 2, "turn": 1e-9},
    }
    outcome = run_task(task, Limits(total=30))
    assert holds(outcome.reason, "30")
    assert (outcome.at, outcome.is_late) == ("Hangs, float32", True)
    assert [result["name"] for result in outcome.fields["results"]] == ["Right", "Hangs"]


@pytest.mark.slow
def test_what_an_interrupted_run_has_measured_is_not_measured_again(machine, monkeypatch, capsys, tmp_path):
    tasks = [Task("stages", "workload", workload, [entry("Right")]) for workload in (SMALL, OTHER)]
    pretend_suite(monkeypatch, *tasks)
    real, runs = command.run_task, []

    def interrupted(task, *arguments, **options):
        runs.append(task["kind"])
        if runs.count("workload") == 2:
            raise KeyboardInterrupt
        return real(task, *arguments, **options)

    monkeypatch.setattr(command, "run_task", interrupted)
    arguments = ["bench", "gpu", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 130
    (partial,) = (tmp_path / "out").iterdir()
    assert partial.name == "bench_gpu.partial.json"
    first = records.read(partial)["cases"]
    assert [case["workload"]["cell"] for case in first] == ["rnn_tanh"]
    monkeypatch.setattr(command, "run_task", real)
    capsys.readouterr()
    assert cli.main([*arguments, "--continue", str(partial)]) == 0
    assert f"{tasks[0].name}: measured before" in capsys.readouterr().out
    (path,) = (tmp_path / "out").iterdir()  # complete, and the partial one is gone
    record = records.read(path)
    assert record["complete"]
    assert record["cases"][0] == first[0]
    assert [case["workload"]["cell"] for case in record["cases"]] == ["rnn_tanh", "gru"]


@pytest.mark.slow
def test_a_record_of_other_code_is_not_continued(machine, monkeypatch, capsys):
    pretend_suite(monkeypatch, Task("stages", "workload", SMALL, [entry("Right")]))
    monkeypatch.setattr(command, "MINUTES", 0.0)
    assert cli.main(["bench", "gpu", "--record"]) == 0
    monkeypatch.setattr(command, "MINUTES", 1.0)
    partial = machine / "bench_gpu.partial.json"
    record = json.loads(partial.read_text(encoding="utf-8"))
    records.write(partial, {key: value for key, value in record.items() if key != "digest"} | {"code": "0"})
    assert cli.main(["bench", "gpu", "--record", "--continue"]) == 0
    assert "cannot be continued: its code differ" in capsys.readouterr().err
    assert not partial.exists()


def test_without_time_the_rest_is_named_and_the_record_can_be_shown(machine, monkeypatch, capsys):
    tasks = [Task("stages", "workload", SMALL, [entry("Right")]), Task("stages", "depth")]
    pretend_suite(monkeypatch, *tasks)
    monkeypatch.setattr(command, "MINUTES", 0.0)
    assert cli.main(["bench", "gpu", "--record"]) == 0
    (path,) = records.stored("bench gpu")
    assert records.read(path)["left_out"] == {task.name: "time was over" for task in tasks}
    assert (machine / "bench_gpu.partial.json").exists()  # --continue resumes it
    capsys.readouterr()
    assert cli.main(["record", "show", path.stem]) == 0
    assert f"not measured: {tasks[0].name}: time was over" in capsys.readouterr().out


def test_exchanges_and_depth_that_cannot_be_measured_are_kept_with_their_reason(machine, monkeypatch, capsys):
    pretend_suite(
        monkeypatch, Task("stages", "latencies"), Task("stages", "workload", SMALL, [entry("Right")])
    )
    assert cli.main(["bench", "gpu", "--record"]) == 0
    (path,) = records.stored("bench gpu")
    record = records.read(path)
    assert "Error" in record["latencies"]["left_out"]
    assert "WRONG: stages/latencies" in capsys.readouterr().out
    assert record["cases"][0]["results"][0]["seconds"]["step"]


@pytest.mark.parametrize(
    ("only", "skip", "names"),
    [
        (["depth", "latencies"], (), ["persistent/latencies", "persistent/depth"]),
        (["*B4-H1152*"], (), ["persistent/rnn_tanh-T256-B4-H1152-L1"]),
        (["rnn_tanh-T256-B"], ["H1152"], ["persistent/rnn_tanh-T256-B8-H1024-L1"]),
    ],
)
def test_tasks_are_chosen_by_parts_of_their_names(only, skip, names):
    assert [task.name for task in tasks_of(["persistent"], False, only, skip)] == names


def test_the_most_wanted_come_first_and_depth_not_last():
    names = [task.name for task in tasks_of(["persistent"], False, (), ())]
    assert names[:2] == ["persistent/latencies", "persistent/lstm-T1024-B8-H512-L1"]
    assert all("H1152" in name for name in names[2:9])
    assert names.index("persistent/depth") < len(names) / 2 + 1


def test_a_word_that_chooses_nothing_is_refused_with_the_names_there_are(capsys):
    assert cli.main(["bench", "gpu", "--suite", "stages", "--skip", "lstn"]) == 2
    assert holds(capsys.readouterr().err, "'lstn'", "lstm", "T100", "B64", "H512", "L4")


@pytest.mark.slow
def test_a_full_disk_costs_its_copy_and_the_record_is_printed_where_no_folder_takes_it(
    machine, monkeypatch, capsys, tmp_path
):
    pretend_suite(monkeypatch, Task("stages", "workload", SMALL, [entry("Right")]))
    real = records.write

    def full(path, record):
        if path.parent.name in refusing:
            raise OSError(28, "No space left on device")
        real(path, record)

    monkeypatch.setattr(records, "write", full)
    refusing = ["measured"]
    out = tmp_path / "out"
    assert cli.main(["bench", "gpu", "--record", "--out", str(out)]) == 1
    assert "WRONG: " in (sentence := capsys.readouterr().out)
    assert sentence.count("No space left on device") == 1
    assert [path.name.startswith("bench_gpu_") for path in out.iterdir()] == [True]
    refusing.append("out")
    assert cli.main(["bench", "gpu", "--record", "--out", str(out)]) == 1
    printed = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert printed["cases"][0]["results"][0]["seconds"]["step"]


def test_a_parent_that_is_killed_takes_its_child_along(machine, tmp_path):
    task = {"kind": "workload", "workload": SMALL, "entries": [["Hangs", MODULE, "float32"]]}
    task["settings"] = {"rounds": 2, "turn": 1e-9}
    program = (
        "import os; from bench.gpu.children import Limits, run_task\n"
        f"run_task({json.loads(json.dumps(task))!r}, Limits(60), lambda line: print(line, flush=True))"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    while "round 1" not in parent.stdout.readline():
        assert parent.poll() is None
    (child,) = children_of(parent.pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 60
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(child)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(number) for number in file.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_nothing_of_a_gpu_is_imported_before_the_first_child():
    names = "cupy", "torch", "numba", "IPython", "ipywidgets"
    program = f"import bench.gpu.day, sys; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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


@pytest.mark.parametrize(
    "line", ["3", '"at"', "[1]", "null", '{"at": 3}', '{"fields": 7}', '{"failed": []}', "{"]
)
def test_a_line_that_is_no_message_is_kept_as_printed(line):
    outcome = children.Outcome()
    children._apply_message(line, outcome, print)
    assert (outcome.printed, outcome.fields, outcome.at, outcome.reason) == ([line], {}, "", "")


@pytest.mark.usefixtures("machine")
def test_a_result_says_whether_its_numbers_were_compared():
    task = {"kind": "workload", "workload": SMALL, "settings": {"rounds": 1, "turn": 1e-9}}
    task["entries"] = [[name, MODULE, "float32"] for name in ("Right", "WrongAtOnce", "RaisesAtOnce")]
    results = results_of(run_task(task, Limits(60)).fields)
    assert [result["checked"] for result in results.values()] == [True, True, False]


def program(text, seconds=60.0, proof="proved"):
    return day.Step(text, seconds, (sys.executable, "-c", text), proof)


DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('begun', flush=True); "
PROGRAMS = {  # what a step may do, and how the day says that it ended
    program("print('proved 3')"): "done",
    program("print('proved 3'); exit(7)"): "WRONG: status 7",
    program("import time; print('proved', flush=True); time.sleep(600)", 2): "WRONG: not done within 2 s",
    program(f"{DEAF}time.sleep(600)", 2): "WRONG: not done within 2 s: begun",
    program("import os; os.write(1, b'proved \\xff\\n')"): "done",
    program("print('hello')"): "WRONG: it proved nothing: hello",
    program("exit()"): "WRONG: it proved nothing: it printed nothing",
    program("print('WRONG: one'); print('proved')"): "WRONG: 1 of",
    day.Step("absent", 60, ("no-such-program-here",), ""): "not run: no-such-program-here",
    program("print('proved all the same')"): "done",
}


def test_each_step_ends_alone_and_the_page_says_how(monkeypatch, tmp_path):
    monkeypatch.setattr(day, "steps", lambda out: [*PROGRAMS])
    monkeypatch.setattr(day, "KILLED_AFTER", 1)
    assert cli.main(["gpu-day", "1", "--out", str(tmp_path)]) == 1
    page = (tmp_path / "day1.txt").read_text(encoding="utf-8")
    for step, outcome in PROGRAMS.items():
        assert f"\n{step.name}: {outcome}" in page
    assert "\nproved 3\n" in page


@pytest.mark.parametrize("minutes", ["0", "0.05"])
def test_what_did_not_run_for_want_of_time_is_said(minutes, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(day, "steps", lambda out: [program("print('proved')")])
    assert cli.main(["gpu-day", "--minutes", minutes, "--out", str(tmp_path)]) == 1
    assert "not run: time was over" in capsys.readouterr().out


def test_a_machine_without_a_gpu_ends_the_day_at_its_first_step(monkeypatch, tmp_path, capsys):
    refusing = program(f"exit({probes.NO_GPU})")
    monkeypatch.setattr(day, "steps", lambda out: [refusing, program("print('proved')")])
    assert cli.main(["gpu-day", "1", "--out", str(tmp_path)]) == 1
    assert "\nprint('proved'): not run\n" in capsys.readouterr().out


def test_an_interrupted_day_leaves_its_page(monkeypatch, tmp_path):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(day, "steps", lambda out: [program("print(1)"), program("print(2)")])
    monkeypatch.setattr(day, "run_step", interrupted)
    assert cli.main(["gpu-day", "1", "--out", str(tmp_path)]) == 130
    page = (tmp_path / "day1.txt").read_text(encoding="utf-8")
    assert page.splitlines()[-2:] == ["print(1): interrupted", "print(2): not run"]


def test_another_part_is_refused_with_the_command_to_use(capsys):
    assert cli.main(["gpu-day", "3"]) == 2
    assert holds(capsys.readouterr().err, "3", "rnnlab bench gpu --record")


def test_every_step_that_measures_is_rehearsed_on_a_pretended_card(machine, monkeypatch, capsys, tmp_path):
    task = Task("any", "workload", SMALL, [entry("Right"), entry("WrongLate")])
    suites = dict.fromkeys(("persistent", "stages", "once"), lambda quick: iter([task]))
    monkeypatch.setattr("bench.gpu.suites.SUITES", suites)
    benches = [step for step in day.steps(tmp_path) if step.command[: len(day.BENCH)] == day.BENCH]
    assert len(benches) == 3
    for step in benches:
        capsys.readouterr()
        assert cli.main([*step.command[3:]]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(re.search(step.proof, line) for line in lines)
        assert [line for line in lines if line.startswith("WRONG") and "WrongLate" in line]
    assert len([*tmp_path.glob("bench_gpu*.json")]) >= 1


def test_every_step_that_tests_collects_tests_marked_gpu(tmp_path):
    tests = [step for step in day.steps(tmp_path) if step.command[: len(day.TESTS)] == day.TESTS]
    files = {step.command[-1] for step in tests}
    marked = {path.name for path in (ROOT / "tests").rglob("test_*_on_gpu.py")}
    assert {name.rpartition("/")[2] for name in files} == marked
    for step in tests:
        assert (ROOT / step.command[-1]).is_file()


@pytest.mark.parametrize(
    ("working", "status"), [((), probes.NO_GPU), (("cudnn",), probes.NO_GPU), (("numba",), 1)]
)
def test_probes_tell_what_works_and_whether_anything_can_be_measured(working, status, monkeypatch, capsys):
    def probe(name):
        if name not in working:
            raise ImportError("libnvrtc.so.12 is missing")
        return {"finding": "works"}

    fake = {name: lambda name=name: probe(name) for name in probes.PROBES}
    monkeypatch.setattr(probes, "PROBES", fake)
    assert probes.main() == status
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(": works")] == [f"{name}: works" for name in working]
    assert sum("libnvrtc" in line for line in lines) == len(fake) - len(working)

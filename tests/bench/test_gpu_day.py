"""The GPU benchmark's processes and the day's script on a pretended card, with all that can go wrong."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from values_in import holds

from bench.gpu import command, day, day_tests
from bench.gpu.children import ROOT, Limits, run_task
from bench.gpu.children import environment as children_environment
from bench.gpu.measure import Entry
from bench.gpu.suites import Task, tasks_of
from rnncourse import cli, records
from rnncourse.records.workload import Workload
from rnnlab.gpu import card

SMALL = Workload("rnn_tanh", 3, 2, 4, 5, 1)
OTHER = SMALL._replace(cell="gru")
MODULE = "pretended_contestants"
entry = lambda name: Entry(name, MODULE)


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
    assert [result["name"] for result in outcome.facts["results"]] == ["Right", "Hangs"]


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
    assert (machine / "bench_gpu.partial.json").exists()  # --continue goes on with it
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


def test_the_day_without_a_gpu_says_what_is_wrong_and_how_to_go_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(day, "PROBES", ["describe", "product"])
    for part in ("1", "2", "3"):
        assert cli.main(["gpu-day", part, "--out", str(tmp_path)]) == 1
        page = (tmp_path / f"day{part}.txt").read_text(encoding="utf-8")
        assert page.startswith("WRONG: describe: ")
        assert "WRONG: nothing can be measured" in page
        assert "To go on:\n- mend the first WRONG line" in page
    assert cli.main(["gpu-day", "1", "--wheels", str(tmp_path)]) == 2
    assert "has no file *.whl" in capsys.readouterr().err


SANITIZER = """#!{python}
import subprocess, sys
print("========= COMPUTE-SANITIZER")
status = subprocess.call(sys.argv[3:])
print("========= Invalid __global__ write of size 4 bytes" if {errors} else "", flush=True)
print("========= ERROR SUMMARY: {errors} errors")
sys.exit(status)
"""


@pytest.fixture
def pretended_tool(monkeypatch, tmp_path):
    """A compute-sanitizer that runs its program and reports so many errors."""

    def make(errors):
        tool = tmp_path / "bin" / "compute-sanitizer"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(SANITIZER.format(python=sys.executable, errors=errors), encoding="utf-8")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)

    return make


@pytest.mark.slow
def test_the_first_part_goes_through_every_step_on_a_pretended_card(
    machine, monkeypatch, pretended_tool, capsys, tmp_path
):
    pretended_tool(errors=0)
    task = Task("persistent", "workload", SMALL, [entry("Right"), entry("RaisesLate")])
    suites = {"persistent": lambda quick: iter([task])}
    monkeypatch.setattr("bench.gpu.suites.SUITES", suites | {"stages": lambda quick: iter(())})
    monkeypatch.setattr(day, "OURS", [entry("Right"), entry("WrongLate")])
    monkeypatch.setattr(day, "PEERS", [entry("IsKilled")])
    monkeypatch.setattr(day, "SANITIZED", [entry("graph_replay")])
    monkeypatch.setattr(day, "SMALL", SMALL)
    monkeypatch.setattr(day_tests, "PYTEST", (sys.executable, "-c", "print('no tests ran'); exit(5)"))
    out = tmp_path / "out"
    assert cli.main(["gpu-day", "1", "--out", str(out)]) == 1
    page = (out / "day1.txt").read_text(encoding="utf-8")
    wrong, fine, proved, advice = page.split("\n\n")
    assert holds(wrong, "WRONG", "IsKilled", "float32", "SIGKILL")
    assert holds(wrong, "WRONG", "WrongLate")
    assert "WRONG: tests: no test passed: no tests ran" in wrong
    assert "WRONG: persistent/rnn_tanh-T3-B2-H5-L1: RaisesLate, float32: RuntimeError" in wrong
    assert "WRONG: torch: " in wrong  # there is no PyTorch that sees a GPU here
    assert "describe: " in fine
    assert "product: cuBLAS multiplies" in fine
    assert "small step of Right, float32: right" in fine
    assert "memcheck of graph_replay, float32: nothing found" in fine
    assert "racecheck of graph_replay, float32: nothing found" in fine
    assert "bench gpu persistent stages: done" in fine
    assert len([path for path in out.glob("bench_gpu_*.json")]) == 1
    assert "- 1 of 3 contestants computed a small training step that is right" in proved
    assert "- compute-sanitizer: 2 of 2 looks" in proved
    assert "- 1 times of contestants" in proved
    assert f"rnnlab gpu-day 2 --out {out}" in advice


def test_what_compute_sanitizer_finds_is_told(machine, pretended_tool, monkeypatch):
    pretended_tool(errors=2)
    monkeypatch.setattr(day, "SMALL", SMALL)
    reason = day.sanitized(entry("Right"), 30, ("compute-sanitizer", "--tool", "memcheck"))
    assert "ERROR SUMMARY: 2 errors" in reason
    assert "Invalid __global__ write" in reason


def test_a_tool_that_reports_nothing_has_checked_nothing(machine, monkeypatch):
    monkeypatch.setattr(day, "SMALL", SMALL)
    assert "no summary" in day.sanitized(entry("Right"), 30, ("env",))


@pytest.mark.parametrize(("part", "suites"), [(2, ["persistent"]), (3, ["stages", "peers"])])
def test_the_other_parts_measure_their_suites_in_the_time_that_is_left(part, suites, machine, monkeypatch):
    chosen = []
    monkeypatch.setattr(command, "run", lambda options, seen: chosen.append(options) or 0)
    assert cli.main(["gpu-day", str(part), "--minutes", "3", "--continue", "--skip", "depth"]) == 0
    (options,) = chosen
    assert options.suite == suites
    assert 2.5 < options.minutes < 3
    assert (options.skip, getattr(options, "continue")) == (["depth"], "")


def test_wheels_come_before_what_is_installed_in_child_processes_only(machine, monkeypatch, tmp_path):
    wheel = tmp_path / "wheels" / "carried-1.0-py3-none-any.whl"
    make_wheel(wheel)
    seen = []
    program = "import carried; print(carried.__file__)"

    def look(part, chosen):
        environment = children_environment()
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment
        )
        seen.append(done.stdout.strip())

    monkeypatch.setitem(day.PARTS, 2, look)
    before = dict(os.environ)
    assert cli.main(["gpu-day", "2", "--wheels", str(wheel.parent)]) == 0
    assert seen[0].endswith("carried.py")
    assert dict(os.environ) == before
    with pytest.raises(ModuleNotFoundError):
        import carried  # noqa: F401


def make_wheel(path):
    """The smallest wheel that pip takes."""
    import zipfile

    path.parent.mkdir()
    info = "carried-1.0.dist-info"
    files = {
        "carried.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: carried\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)

"""The GPU benchmark, without a GPU: right first, in turns, kept as it comes; what it says where none is."""

import ast
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from pretended_card import PretendedCard, cupy_by_numpy
from values_in import holds

from bench import provenance
from bench.gpu import command, cudnn, ladder, measure, persistent_layers
from bench.gpu.measure import MeasuredEntry, MeasureSettings
from bench.gpu.record import MEASURED
from bench.provenance import ROOT
from bench.workload import problem, rounded
from pocketgpu import cuda
from rnncourse import cli
from rnncourse.records import gpu_report as report
from rnncourse.records.workload import PARTS, Measurement, Workload
from rnnlab.ladder import stage_passes

SMALL = Workload("lstm", 3, 2, 4, 5, 2)


class Honest:
    """Hands back what is wanted, and notes whose turn it was."""

    bytes, launches, turns = 1000, {"forward": 3, "backward": 4, "step": 7}, []

    def __init__(self, task, name):
        self.asked, self.name, self.ran = task, name, 0

    def seconds(self, part, repeats):
        self.turns.append((self.name, part))
        self.ran += 1
        return {"forward": 0.001, "backward": 0.002, "step": 0.003}[part]

    def results(self):
        return {name: entry.astype("float32") for name, entry in self.asked.expected.items()}


class Wrong(Honest):
    """Is right until the clock runs."""

    def results(self):
        return {name: entry + (self.ran > 4) for name, entry in super().results().items()}


class Trembling(Honest):
    """Gives other bits each time."""

    def results(self):
        return {name: entry * np.float32(1 + 1e-6 * self.ran) for name, entry in super().results().items()}


class Absent(Honest):
    """Cannot be built here."""

    def __init__(self, task, name):
        raise OSError("no such library")


@pytest.fixture
def entries(monkeypatch):
    """An entry for each of the classes above."""
    result = []
    for kind in (Honest, Wrong, Trembling, Absent):
        module = ModuleType(f"pretended_{kind.__name__.lower()}")
        module.contestant = kind
        monkeypatch.setitem(sys.modules, module.__name__, module)
        result.append(MeasuredEntry(kind.__name__.lower(), module.__name__))
    return result


def test_who_is_wrong_when_the_clock_has_run_or_cannot_be_built_has_no_times_but_a_reason(entries):
    honest, wrong, trembling, absent = measure.measure(SMALL, entries, MeasureSettings(rounds=3, turn=0.01))
    assert honest.median("step") == 0.003
    assert (honest.left_out, honest.same_bits, honest.bytes) == ("", True, 1000)
    assert [len(honest.seconds[part]) for part in PARTS] == [3, 3, 3]
    assert (wrong.seconds, wrong.left_out.split(":")[0]) == ({}, "WrongNumbers")
    assert wrong.error > 1
    assert trembling.same_bits is False
    assert (absent.seconds, absent.left_out) == ({}, "OSError: no such library")


def test_when_time_is_over_those_that_are_ready_have_one_round_and_the_others_a_reason(entries, monkeypatch):
    clock = iter([0.0, 2.0, *[3.0] * 9])
    monkeypatch.setattr(measure, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    first, second = measure.measure(SMALL, [entries[0], entries[2]], MeasureSettings(rounds=5), until=1.0)
    assert len(first.seconds["step"]) == 1
    assert not first.left_out
    assert second.left_out
    assert not second.seconds


def test_nobody_always_follows_the_same_one(entries):
    Honest.turns.clear()
    measure.measure(SMALL, [entries[0], entries[2]], MeasureSettings(rounds=2, turn=1e-9))
    rounds = [name for name, part in Honest.turns if part == "forward"][-4:]
    assert rounds == ["honest", "trembling", "trembling", "honest"]


@pytest.mark.parametrize("stage", stage_passes())
def test_a_stage_as_a_contestant_gives_the_references_numbers_however_often_it_ran(stage, monkeypatch):
    monkeypatch.setattr(ladder, "Gpu", lambda tf32: PretendedCard())
    task = problem(SMALL, "float32")
    contestant = ladder.contestant(task, stage)
    for part in ("step", "backward", "step"):
        contestant.seconds(part, 2)
    assert task.error(contestant.results()) < 1
    assert contestant.launches["step"] == contestant.launches["forward"] + contestant.launches["backward"]


@pytest.fixture
def pretended_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy_by_numpy())


@pytest.mark.parametrize("cell", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
@pytest.mark.slow
def test_the_persistent_rung_as_a_contestant_gives_the_references_numbers(cell, pretended_cupy):
    task = problem(SMALL._replace(cell=cell), "float32")
    with cuda.settings(checks=False):
        contestant = persistent_layers.contestant(task, "persistent")
        for part in ("step", "backward", "step"):
            contestant.seconds(part, 2)
    assert task.error(contestant.results()) < 1
    contestant.failed[0] = 2
    with pytest.raises(RuntimeError, match="step 2"):
        contestant.results()


def test_the_persistent_rung_refuses_other_precisions():
    with pytest.raises(ValueError, match=r"float32.*float16"):
        persistent_layers.contestant(problem(SMALL, "float16"), "persistent")


def test_a_step_has_the_flops_of_its_products():
    one = Workload("rnn_tanh", 10, 4, 3, 5, 1)
    assert one.flops("forward") == 2 * 10 * 4 * (3 + 5) * 5
    assert one.flops("step") == 3 * one.flops("forward") == one.flops("forward") + one.flops("backward")


def test_rounding_goes_to_the_nearest_number_that_bfloat16_holds_ties_to_even():
    ulp = 2.0**-7
    inputs = np.array([1 + 0.4 * ulp, 1 + 0.6 * ulp, 1 + 0.5 * ulp, 1 + 1.5 * ulp, -1 - 0.6 * ulp], "float32")
    want = np.array([1, 1 + ulp, 1, 1 + 2 * ulp, -1 - ulp], "float32")
    np.testing.assert_array_equal(rounded(inputs, "bfloat16"), want)


def test_an_unknown_suite_is_named_beside_those_there_are(capsys):
    assert cli.main(["bench", "gpu", "--suite", "everything"]) == 2
    assert holds(capsys.readouterr().err, "'everything'")


@pytest.mark.slow
def test_without_a_gpu_it_says_why_and_what_to_expect_and_refuses_to_record(monkeypatch, capsys):
    monkeypatch.setattr(command.card, "why_not", lambda: "there is none")
    monkeypatch.setattr(command, "APPLEYARD", SMALL)
    assert cli.main(["bench", "gpu"]) == 0
    text = capsys.readouterr().out
    assert "Nothing can be measured: there is none." in text
    assert "predicted by the timeline model for one H200" in text
    assert cli.main(["bench", "gpu", "--record"]) == 2


def test_speed_is_told_beside_naive_and_beside_pytorch_in_the_same_precision():
    time = lambda seconds: {"seconds": {part: [seconds] for part in PARTS}}
    results = [
        Measurement("kernel_per_operation", "float32", **time(0.12)),
        Measurement("graph_replay", "float32", **time(0.01)),
        Measurement("graph_replay", "tf32", **time(0.005)),
        Measurement("pytorch", "float32", **time(0.02)),
    ]
    lines = report.table(SMALL, results).splitlines()
    assert lines[2].split()[5:7] == ["12.00", "2.00"]
    assert lines[3].split()[5:6] == ["24.00"]  # nobody to stand beside in tf32


def halves(name, dtype, forward, step):
    seconds = {"forward": [forward], "backward": [step - forward], "step": [step]}
    return Measurement(name, dtype, seconds)


def test_sixteen_bit_kernels_stand_beside_the_fastest_peer_in_any_16_bit_type():
    results = [
        halves("persistent_grid", "bfloat16", 1.0, 3.0),
        halves("cudnn_persist_static", "float16", 1.5, 6.0),
        halves("cudnn_standard", "bfloat16", 4.0, 5.0),
        halves("pytorch", "float32", 0.1, 0.2),
    ]
    (line,) = report.against_halves(results)
    assert holds(line, "1.50", "16", "cudnn_persist_static", "float16")
    assert holds(line, "1.67", "16", "cudnn_standard", "bfloat16")


def test_a_row_called_persist_static_in_bfloat16_says_that_it_is_the_standard_path():
    rows = [halves("cudnn_persist_static", dtype, 1.0, 3.0) for dtype in ("float16", "bfloat16")]
    lines = report.case(SMALL, rows)
    assert [line.split()[0] for line in lines[0].splitlines()[1:]] == [
        "cudnn_persist_static",
        "cudnn_persist_static*",
    ]
    assert holds(lines[1], "cuDNN", "bfloat16")
    assert not any(line.startswith("*") for line in report.case(SMALL, rows[:1]))


def test_the_hosts_part_of_a_step_is_told_and_explained_where_it_sets_the_pace():
    slow, fast = halves("fused_cell", "float32", 1.0, 4.0), halves("graph_replay", "float32", 1.0, 4.0)
    slow.host, fast.host = 3.9, 0.01
    lines = report.case(SMALL, [slow, fast])
    assert ["98%", "0%"] == [line.split()[-2] for line in lines[0].splitlines()[1:]]
    assert any("the host sets the pace" in line for line in lines)
    assert not any("the host sets the pace" in line for line in report.case(SMALL, [fast]))


def test_every_record_hash_covers_all_code_that_a_task_runs():
    covered = {path for place in MEASURED for path in [ROOT / place, *(ROOT / place).rglob("*.py")]}
    reached, waiting = set(), [ROOT / "bench/gpu/child.py", *(ROOT / "bench/gpu").glob("*.py")]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += imported_files(path)
    elsewhere = {
        ROOT / "nbjudge/authoring/course.py",
        ROOT / "pocketgpu/quantities.py",
        *(ROOT / "pocketgpu/simulator").glob("*.py"),
    }  # not on a GPU
    assert not {path for path in reached - covered - elsewhere if path.name != "__init__.py"}
    kernels = {path for path in provenance._sources(MEASURED) if path.suffix in (".cu", ".cuh")}
    assert {path.name for path in kernels} >= {"latencies.cu", "persistent_grid.cu", "instructions.cuh"}


def imported_files(path):
    """Files of the package that a file imports, anywhere in its text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            file = ROOT / name.replace(".", "/")
            yield from (entry for entry in (file.with_suffix(".py"), file / "__init__.py") if entry.exists())


def test_a_refused_small_h_says_how_many_units_it_takes(monkeypatch):
    def refuses(problem, name):
        raise RuntimeError("cudnnSetRNNDescriptor_v8: CUDNN_STATUS_NOT_SUPPORTED")

    monkeypatch.setattr(cudnn, "CudnnLayers", refuses)
    large = problem(SMALL, "float16")._replace(workload=SMALL._replace(H=256))
    with pytest.raises(RuntimeError, match=r"NOT_SUPPORTED.*9\.26.*small_h.*192"):
        cudnn.contestant(large, "cudnn_persist_static_small_h")
    with pytest.raises(RuntimeError, match=r"NOT_SUPPORTED$"):
        cudnn.contestant(large, "cudnn_standard")

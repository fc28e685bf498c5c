"""The suite `persistent` without a GPU: contestants, latencies, floors, and the choice of a way."""

import ctypes
import sys
from dataclasses import replace

import numpy as np
import pytest
from emulated_gpu import EmulatedChip, compiler, library
from pretended_card import cupy_by_numpy
from values_in import holds

from bench.gpu import depth, floors, latencies, tensor_layers
from bench.workload import problem
from pocketgpu import cuda
from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import compile_report
from pocketgpu.devices import find
from rnncourse import cli
from rnncourse.records import gpu_report as report
from rnncourse.records.workload import PARTS, Measurement, Workload
from rnnlab import reference
from rnnlab.kernels.persistence.floor import H200 as PAPER
from rnnlab.kernels.persistence.floor import floor
from rnnlab.kernels.persistence.shapes import cluster_shape, with_includes

H200, A100, T4 = find("H200"), find("A100"), find("T4")
needs_cpp = pytest.mark.skipif(compiler() is None, reason="needs a C++ compiler: pip install ziglang")
SOURCE = with_includes(latencies.SOURCE.read_text(encoding="utf-8"))
CLUSTER = 4


@pytest.fixture
def pretended_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy_by_numpy())


def test_a_residual_stack_is_a_stack_of_layers_with_sums_between(pretended_cupy):
    task = problem(Workload("rnn_tanh", 3, 2, 5, 5, 3), "float32")
    with cuda.settings(checks=False):
        stack = depth.ResidualLayers(task, "residual")
        got = stack.results()
    x, stored = task.x.astype("float64"), []
    for index in range(3):
        layer = {f"{name}_l0": entry for name, entry in task.network.layer(index)._asdict().items()}
        one = replace(task.network, layers=1, parameters=layer).astype("float64")
        y, _, saved = reference.forward(one, x)
        stored.append((one, saved))
        x = x + y
    np.testing.assert_allclose(got["y"], x, rtol=1e-5, atol=1e-6)
    dy = task.dy.astype("float64")
    for index in reversed(range(3)):
        dx, _, gradients = reference.backward(*stored[index], dy)
        want = gradients["weight_hh_l0"]
        np.testing.assert_allclose(got[f"weight_hh_l{index}"], want, rtol=1e-4, atol=1e-5)
        dy = dy + dx
    np.testing.assert_allclose(got["dx"], dy, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_sixteenth_of_the_sequences_leaves_room_for_more_layers_that_learn(pretended_cupy):
    with cuda.settings(checks=False):
        result = depth.measured(hidden=4, steps=3, shallow=1)
    assert result["shallow"]["sequences"] == 64
    assert result["deep"]["layers"] > 4
    assert result["deep"]["bytes"] <= result["shallow"]["bytes"]
    for entry in result.values():
        assert entry["losses"] == sorted(entry["losses"], reverse=True)
        assert entry["losses"][0] > entry["losses"][-1]
    assert f"{result['deep']['layers']} layers at minibatch 4" in report.residual(result)


def test_a_residual_network_with_one_loss_has_its_line():
    network = {"layers": 3, "sequences": 8, "bytes": 5 * 10**8, "losses": [0.25]}
    line = report.residual({"shallow": network, "deep": network | {"losses": [0.5, 0.4, 0.125]}})
    assert holds(line, "0.50 GB", "0.25 → 0.25", "0.5 → 0.125")


@needs_cpp
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        *((name, "rnn_tanh") for name in tensor_layers.NAMES),
        *(
            pytest.param(name, cell, marks=pytest.mark.slow)
            for name in (*tensor_layers.NAMES, tensor_layers.BULK)
            for cell in ("gru", "lstm")
        ),
    ],
)
@pytest.mark.slow
def test_a_contestant_gives_the_references_numbers_however_often_it_ran(name, cell, tmp_path, pretended_cupy):
    task = problem(Workload(cell, 3, 5, 64, 64, 2), "float16")
    shape = tensor_layers.shape_of(name, task.workload, "float16", H200)
    contestant = tensor_layers.PersistentContestant(task, shape, EmulatedChip("float16", tmp_path))
    for part in ("step", "backward", "step"):
        contestant.seconds(part, 2)
    assert task.error(contestant.results()) < 1
    contestant.layers.failed[0] = 7
    with pytest.raises(RuntimeError, match="step 7"):
        contestant.results()


@needs_cpp
@pytest.mark.parametrize(
    ("name", "arrays", "cluster"),
    [
        pytest.param("flags", 3, 1, marks=pytest.mark.slow),
        pytest.param("counter", 2, 1, marks=pytest.mark.slow),
        pytest.param("poll_published", 2, 1, marks=pytest.mark.slow),
        ("cluster_barrier", 0, CLUSTER),
        pytest.param("push_across", 1, CLUSTER, marks=pytest.mark.slow),
        pytest.param("push_all_8", 1, CLUSTER, marks=pytest.mark.slow),
        pytest.param("push_all_16", 1, CLUSTER, marks=pytest.mark.slow),
        ("push_all_bulk", 1, CLUSTER),
    ],
)
@pytest.mark.slow
def test_whoever_is_late_the_latencies_kernels_end(name, arrays, cluster, tmp_path):
    kernels = library(SOURCE, ("-DDTYPE=0", f"-DCLUSTER={CLUSTER}"), tmp_path)
    for seed in range(5):
        inputs = [np.zeros(1 << 13, "int32") for _ in range(arrays)]
        if name == "poll_published":
            inputs[0][:] = -1
        pointers = (ctypes.c_void_p * max(1, arrays))(*(entry.ctypes.data for entry in inputs))
        sizes = 8, 64, cluster, ctypes.c_size_t(latencies.SHARED), seed
        assert getattr(kernels, f"run_{name}")(pointers, 40, 0, *sizes) == 0
        failed = inputs[name in ("flags", "counter", "poll_published")] if arrays else np.zeros(1)
        assert failed[0] == 0


@pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
def test_the_latencies_kernels_compile_and_spill_nothing():
    result = compile_report(SOURCE, arch="sm_90", options=("-DDTYPE=0", "-DCLUSTER=16"))
    assert {entry.kernel for entry in result} >= {
        "nothing",
        "flags",
        "counter",
        "poll_published",
        "push_across",
        "push_all_8",
        "push_all_16",
        "push_all_bulk",
        "l2_chain",
        "l2_read",
    }
    assert all(entry.spill_stores == entry.stack == 0 for entry in result)


def test_floors_stand_beside_the_persistent_kernels_only():
    workload = Workload("lstm", 10, 8, 512, 512, 1)
    results = [
        Measurement(name, "bfloat16", seconds={part: [1e-5] for part in PARTS})
        for name in ("persistent_cluster", "pytorch")
    ]
    ours, theirs = floors.with_floors(results, workload, (H200, PAPER))
    assert ours.floor == pytest.approx(floor(cluster_shape("lstm", 512, "bfloat16", H200), 8, H200).step)
    assert theirs.floor is None
    lines = report.table(workload, results).splitlines()
    assert f"{ours.floor:.2f}" in lines[1].split()


def test_a_records_page_tells_exchanges_depth_and_what_time_left_out():
    record = {"machine": {}, "date": "2027-01-01", "cases": [], "latencies": {"push_16": 0.2512}}
    one, many = ({"layers": n, "sequences": 4, "bytes": 2e9, "losses": [2.0, 1.0]} for n in (7, 99))
    record |= {"depth": {"shallow": one, "deep": many}, "left_out": {"persistent/gru": "time was over"}}
    text = report.page(record)
    assert holds(text, "GB", "push_16", "0.2512")
    assert holds(text, "99", "4", "2.00", "GB", "2", "1")
    assert "residual RNN: no room" in report.page(record | {"depth": {"left_out": "no room"}})
    assert "not measured: persistent/gru: time was over" in text


def test_without_a_gpu_the_suite_prints_floors_and_refusals(monkeypatch, capsys):
    monkeypatch.setenv("RNNLAB_CUDA", "simulator")
    from rnnlab.gpu import card

    card.why_not.cache_clear()
    assert cli.main(["bench", "gpu", "--suite", "persistent"]) == 0
    text = capsys.readouterr().out
    assert "floors on paper for one H200, not measured" in text
    assert "lstm H=512 B=8" in text
    assert holds(text, "168")
    assert "kernel_per_operation" not in text
    card.why_not.cache_clear()

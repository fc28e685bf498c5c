"""A contestant is timed only while its numbers are right; how fast it is, no test says."""

import contextlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from values_in import holds

from bench import cpu_record, cpu_run, performance_page
from bench import cpu_tables as cpu_report
from bench.cpu import Arena, CpuSettings
from bench.peers import LADDER, LIMITS, PEERS, Candidate, blas_products
from bench.peers.process import ContestantError, Peer, environment, find_peers_python, interpreter
from bench.provenance import ROOT
from bench.watch import Watch
from bench.workload import problem
from rnncourse import cli, records
from rnncourse.records.workload import SHAPES, Workload
from rnnlab.compare import TOLERANCES
from rnnlab.ladder import RUNGS
from rnnlab.network import Network, forward_flops

SMALL = Workload("gru", 5, 3, 4, 6)
QUICK = CpuSettings(threads=1, rounds=3, turn=0.0001)
RIGHT = next(candidate for candidate in LADDER if candidate.name == "one_big_gemm")
CHEATS = (
    "is_a_little_wrong",
    "forgets_a_gradient",
    "skips_work_when_timed",
    "works_in_float64",
    "returns_nothing_finite",
    "dies_when_timed",
    "raises_when_timed",
)
cheat = lambda name: Candidate(name, "tests.cheating_peers.of_several_kinds")


@pytest.fixture(scope="module")
def case():
    """One small workload with a right contestant among those that are not."""
    refusing = next(candidate for candidate in LADDER if candidate.name == "gru_textbook")
    with Arena([RIGHT, *map(cheat, CHEATS), refusing], QUICK) as arena:
        return arena.measure(SMALL)


@pytest.mark.corpus
@pytest.mark.parametrize("name", CHEATS)
def test_a_peer_that_cheats_is_left_out_and_leaves_no_times(case, name):
    assert name in case.left_out
    assert name not in case.seconds
    assert name not in case.memory


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("is_a_little_wrong", "wrong numbers: 1.0e+01 times the error that is tolerated"),
        ("forgets_a_gradient", "wrong numbers: inf times"),
        ("skips_work_when_timed", "wrong numbers: 2.2e+05 times"),
        ("dies_when_timed", "its process ended with status 3; its last line: it cannot continue"),
        ("raises_when_timed", "ArithmeticError: no more"),
        ("gru_textbook", "it needs a GRU that resets before its product: reset='before'"),
    ],
)
def test_who_is_left_out_is_told_with_the_reason(case, name, why):
    assert case.left_out[name].startswith(why)


def test_who_is_right_has_a_time_for_each_round_and_the_limits_too(case):
    assert [*case.seconds] == [*(limit.name for limit in LIMITS), RIGHT.name]
    assert all(len(rounds) == QUICK.rounds and min(rounds) > 0 for rounds in case.seconds.values())
    assert 0 < case.error[RIGHT.name] < 1
    assert case.first_step[RIGHT.name] > 0
    assert case.repeats[RIGHT.name] >= 1


@pytest.mark.slow
def test_memory_of_a_step_counts_what_it_must_at_least_return():
    wide = Workload("lstm", 8, 4, 64, 512)
    with Arena([RIGHT], QUICK) as arena:
        used = arena.measure(wide).memory[RIGHT.name]
    weights = Network.create("lstm", 64, 512).parameters
    gradients = sum(parameter.nbytes for parameter in weights.values())
    assert used is None or 0.9 * gradients <= used < 10 * gradients


INSTALLED = [candidate for candidate in PEERS if interpreter(candidate)]
CELLS = "rnn_tanh", "rnn_relu", "gru", "lstm"
COMPILING = "pytensor", "jax", "halide"  # each cell anew, 2 to 7 s of a core in all
CHOSEN = [
    pytest.param(peer, CELLS[3:] if peer.name in COMPILING else CELLS, id=peer.name) for peer in INSTALLED
]
CHOSEN += [
    pytest.param(peer, CELLS[:3], marks=pytest.mark.slow) for peer in INSTALLED if peer.name in COMPILING
]


@pytest.mark.parametrize(("candidate", "cells"), CHOSEN)
@pytest.mark.slow
def test_every_peer_that_is_installed_computes_the_references_numbers(candidate, cells):
    with Arena([candidate], QUICK) as arena:
        for cell in cells:
            measured = arena.measure(Workload(cell, 6, 2, 3, 5))
            assert not measured.left_out
            assert measured.error[candidate.name] < 1


def test_a_peer_that_is_not_installed_is_missing_and_told_how_to_be_installed():
    absent = Candidate("absent", "no.module", needs="no_such_package_at_all")
    with Arena([absent], QUICK, sys.executable) as arena:
        assert arena.missing == [absent]
        assert arena.measure(SMALL).seconds.keys() == {limit.name for limit in LIMITS}
    assert holds(absent.installation("py"), "py", "constraints.txt", "no_such_package_at_all")


def test_the_peers_python_is_the_one_asked_for_before_any_other(monkeypatch):
    monkeypatch.setenv("RNNLAB_PEERS_PYTHON", "/from/the/environment")
    assert find_peers_python("/as/asked") == "/as/asked"
    assert find_peers_python() == "/from/the/environment"


def test_a_peers_python_that_is_not_there_is_reported_in_a_sentence():
    with pytest.raises(OSError, match="/no/python, the peers' Python, cannot be run: No such file"):
        interpreter(Candidate("absent", "no.module", needs="no_such_package_at_all"), "/no/python")


def test_contestants_start_with_equal_threads_and_the_blas_kernels_of_its_own_choice():
    started = environment(
        {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_L2_SIZE": "1", "OMP_NUM_THREADS": "7"}, 2
    )
    assert "OPENBLAS_CORETYPE" not in started
    assert "OPENBLAS_L2_SIZE" not in started
    assert {started[f"{pool}_NUM_THREADS"] for pool in ("OMP", "OPENBLAS", "MKL", "NUMBA", "HL")} == {"2"}


def test_every_rung_that_runs_on_a_cpu_takes_part_and_needs_what_it_states():
    rungs = [(rung.name, rung.properties.package) for rung in RUNGS if rung.properties.needs == "cpu"]
    assert [(candidate.name, candidate.needs) for candidate in LADDER] == rungs
    assert {package for _, package in rungs} == {None, "numba"}


def test_who_does_not_answer_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(Peer, "patience", 0.5)
    with Arena([], QUICK) as arena, Peer(cheat("never_comes_back"), sys.executable, 1) as peer:
        arena.peer(LIMITS[0])
        with pytest.raises(ContestantError, match=r"0\.5"):
            peer.request("prepare", problem(SMALL).inputs, cell=SMALL.cell)


DEATHS = {"SIGILL": "SIGILL", "exits": "status 7", "hangs": "within 4 s", "memory": "MemoryError"}
DYING = [f"{how}_when_{stage}" for how in DEATHS for stage in ("introduced", "prepared", "measured")]


@pytest.fixture(scope="module")
def survived(tmp_path_factory):
    """What `rnnlab bench cpu --record` prints and keeps, of two sizes, where most contestants die."""
    folder, printed = tmp_path_factory.mktemp("records"), io.StringIO()
    dying = [Candidate(name, "tests.cheating_peers.dying") for name in DYING]
    arguments = ["--peers", "--shapes", "5,3,4,6", "4,2,3,5", "--cells", "gru", "--rounds", "2", "--record"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(Peer, "patience", property(lambda peer: 4 if "hangs" in peer.candidate.name else 600))
        patch.setattr(cpu_run, "LADDER", (*dying, RIGHT))
        patch.setattr(records, "MEASURED", folder)
        patch.setattr(performance_page, "PAGE", folder / "none")
        assert cli.main(["bench", "cpu", *arguments]) == 0
        (path,) = records.stored("bench cpu")
        return printed.getvalue(), records.read(path)["cases"]


@pytest.mark.slow
@pytest.mark.parametrize("name", DYING)
def test_a_contestant_that_dies_at_any_stage_is_left_out_of_a_run_that_goes_on(survived, name):
    printed, cases = survived
    assert f"{name} is left out 2 times: " in printed
    assert len(cases) == 2
    for case in cases:
        assert DEATHS[name.partition("_when_")[0]] in case["left_out"][name]
        assert [*case["seconds"]] == [*(limit.name for limit in LIMITS), RIGHT.name]


def test_limits_that_die_leave_a_heading_and_a_table(monkeypatch):
    """The processes of the BLAS alone, too, may be ended by the system."""
    monkeypatch.setattr("bench.cpu.LIMITS", (Candidate("gemm_large", "no.such.module"),))
    with Arena([RIGHT], QUICK) as arena:
        record = cpu_record.begin(arena)
        cpu_record.add(record, arena.measure(SMALL))
    assert holds(cpu_report.page(record), "gemm_large")
    assert "one_big_gemm" in cpu_report.page(record)


@pytest.mark.slow
def test_contestants_end_with_the_benchmark_even_if_it_is_killed():
    import psutil

    start = "from tests.cheating_peers import starts_one_and_waits as s; s.main()"
    parent = subprocess.Popen([sys.executable, "-c", start], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    gone, _ = psutil.wait_procs([child], timeout=60)
    assert gone or child.status() == psutil.STATUS_ZOMBIE


def test_a_contestant_that_is_not_asked_stands_still():
    import psutil

    with Arena([RIGHT], QUICK) as arena:
        arena.introductions()
        contestant = psutil.Process(arena.peer(RIGHT).process.pid)
        assert contestant.status() == psutil.STATUS_STOPPED
    assert not contestant.is_running()


def test_the_error_is_told_in_units_of_what_is_tolerated():
    task = problem(SMALL)
    results = {name: array.astype("float32") for name, array in task.expected.items()}
    assert task.error(results) < 0.1
    results["y"] *= np.float32(1 + 3 * TOLERANCES["float32"].forward(SMALL.T))
    assert task.error(results) == pytest.approx(3, rel=0.1)


def test_flops_are_those_of_the_products_of_a_whole_step():
    T, B, I, H = SHAPES[2]
    assert Workload("lstm", T, B, I, H).flops() == 3 * 2 * 4 * H * (I + H) * T * B
    assert Workload("gru", T, B, I, H).flops() == 3 * forward_flops(Network.create("gru", I, H), T, B)


def test_other_work_on_the_machine_is_noticed_and_our_own_is_not(monkeypatch):
    now, busy = [10.0], {"user": 100.0, "idle": 0.0}
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("psutil.cpu_times", lambda: type("Times", (), {"_asdict": lambda self: dict(busy)})())
    watch = Watch([])
    own = [1.0]
    monkeypatch.setattr(watch, "ours", [type("P", (), {"cpu_times": lambda self: (own[0], 0.0)})()])
    cores = os.cpu_count()
    with watch:
        now[0], busy["user"], own[0] = 12.0, 100.0 + 1.5 * cores, 1.0 + cores
    assert watch.others == pytest.approx(0.5 / 2)


@pytest.mark.parametrize("cell", ["lstm", "min_gru"])
def test_the_bare_products_of_a_step_run_for_every_cell(cell):
    example = problem(Workload(cell, 3, 2, 4, 5))
    step, _ = blas_products.build(example.network, example.x, example.dy, "gemm_step")
    weight_ih, weight_hh, dx = step()
    assert weight_ih.shape == example.network.parameters["weight_ih_l0"].shape
    assert weight_hh.shape == example.network.parameters["weight_hh_l0"].shape
    assert dx.shape == (6, 4)

"""`rnnlab bench cpu` measures what it is asked for, keeps it case by case, continues where it was stopped."""

import os
import platform
import subprocess
import sys

import pytest
from values_in import holds

from bench import cpu_run, performance_page, provenance
from bench.cpu import Arena
from bench.masked import MASKS
from rnncourse import cli, records
from rnncourse.records import cpu_report
from rnncourse.records.workload import CELLS, SHAPES

FEW = ["--rungs", "one_big_gemm", "--peers", "--rounds", "2", "--threads", "1"]
ONE = [*FEW, "--cells", "rnn_tanh", "--shapes", "3,2,4,5"]
TINY = [*FEW, "--cells", "rnn_tanh", "gru", "--shapes", "3,2,4,5"]


def plan(*options):
    return cpu_run.plan(cli.parser().parse_args(["bench", "cpu", *options]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Records go there, and the page stays as it is."""
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    monkeypatch.setattr(performance_page, "PAGE", tmp_path / "no page.md")
    monkeypatch.setattr(provenance, "code", lambda measured: "0" * 64)  # somebody may be working on a rung
    return tmp_path


def test_without_options_every_cell_is_measured_at_every_shape():
    task = plan()
    assert [tuple(workload[:5]) for workload in task.workloads] == [(c, *s) for c in CELLS for s in SHAPES]
    names = [candidate.name for candidate in task.candidates]
    assert names[0] == "one_step_at_a_time"
    assert names[-6:] == [
        "pytorch", "pytorch_bfloat16", "pytorch_autocast", "pytensor", "jax", "halide",
    ]  # fmt: skip


def test_a_quick_look_has_fewer_shapes_contestants_and_rounds():
    quick, whole = plan("--quick"), plan()
    assert len(quick.workloads) < len(whole.workloads) / 3
    assert quick.settings.rounds < whole.settings.rounds
    assert {"pytorch", "one_big_gemm"} <= {candidate.name for candidate in quick.candidates}
    assert "pytensor" not in {candidate.name for candidate in quick.candidates}


def test_options_choose_cells_shapes_rungs_and_peers():
    task = plan(
        "--cells", "lstm", "--shapes", "3,2,4,5", "7,1,1,2", "--rungs", "one_big_gemm", "--peers", "jax"
    )
    assert [str(workload) for workload in task.workloads] == ["lstm 3×2×4×5", "lstm 7×1×1×2"]
    assert [candidate.name for candidate in task.candidates] == ["one_big_gemm", "jax"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cells", "elman"], "no cell is called 'elman'; there are rnn_tanh, rnn_relu, gru, lstm"),
        (["--rungs", "top"], "no rung is called 'top'; there are one_step_at_a_time, one_big_gemm"),
        (["--peers", "tinygrad"], "no peer is called 'tinygrad'; there are pytorch, pytorch_bfloat16, pyto"),
        (["--shapes", "3,2,4"], "--shapes has '3,2,4': expected four sizes T,B,I,H, as 100,32,128,256"),
        (["--shapes", "3,2,4,0"], "expected four sizes"),
        (["--rounds", "1"], "--rounds is 1: a median needs at least 2"),
        (["--threads", "0"], "--threads is 0: this machine lets a program use 1 to"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(options, message, capsys):
    assert cli.main(["bench", "cpu", *options]) == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_tables_and_keeps_nothing_unasked(folder, capsys):
    assert cli.main(["bench", "cpu", *TINY]) == 0
    text = capsys.readouterr()
    assert "rnn_tanh, 1 thread: milliseconds" in text.out
    assert "one_big_gemm" in text.out
    assert "rnn_tanh 3×2×4×5: " in text.err
    assert not [*folder.iterdir()]


def test_steps_are_measured_unless_sizes_or_rungs_are_chosen():
    widths = lambda *options: [(w.cell, *w[1:5]) for w in plan(*options).steps]
    assert widths("--cells", "gru") == [("gru", 1, 1, H, H) for H in (64, 256, 512, 1024, 2048)]
    assert widths("--quick", "--cells", "gru") == [("gru", 1, 1, H, H) for H in (64, 256)]
    assert widths("--rungs", "one_big_gemm") == widths("--shapes", "3,2,4,5") == widths("--steps") == []
    assert widths("--shapes", "3,2,4,5", "--cells", "lstm", "--steps", "8") == [("lstm", 1, 1, 8, 8)]
    with pytest.raises(ValueError, match="4x"):
        plan("--steps", "4x")


def test_scans_are_measured_unless_sizes_or_rungs_are_chosen():
    sizes = lambda *options: [(w.cell, *w[1:5]) for w in plan(*options).scans]
    lengths = (100, 1_000, 10_000, 100_000)
    assert sizes() == [("min_gru", T, 1, H, H) for H in (16, 64, 256) for T in lengths]
    assert sizes("--quick") == [("min_gru", T, 1, H, H) for H in (16, 64, 256) for T in (100, 1_000)]
    assert sizes("--rungs", "one_big_gemm") == sizes("--shapes", "3,2,4,5") == sizes("--scans") == []
    assert sizes("--shapes", "3,2,4,5", "--scans", "7")[0] == ("min_gru", 7, 1, 16, 16)
    with pytest.raises(ValueError, match="-3"):
        plan("--scans", "-3")


@pytest.mark.slow
def test_loop_and_scan_are_measured_and_kept_in_a_section_of_their_own(folder, capsys, monkeypatch):
    monkeypatch.setattr(cpu_run, "SCAN_WIDTHS", (4,))
    assert cli.main(["bench", "cpu", "--record", *ONE, "--scans", "9", "30"]) == 0
    (stored,) = folder.iterdir()
    section = records.read(stored)["scans"]
    assert [case["workload"]["T"] for case in section["cases"]] == [9, 30]
    for case in section["cases"]:
        assert {"one_big_gemm", "parallel_in_time"} <= {*case["seconds"]}
        assert 0 < case["error"]["parallel_in_time"] < 1
    assert "| parallel_in_time |" in capsys.readouterr().out


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="AVX2 is of x86")
@pytest.mark.slow
def test_an_emulated_record_says_so_and_no_contestant_uses_avx512(folder, capsys):
    pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")
    code = "from rnnlab.kernels.packed.host import INSTRUCTION_SET; print(INSTRUCTION_SET)"
    variables = {**os.environ, **MASKS["avx2"]}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["avx2"]
    assert cli.main(["bench", "cpu", "--record", *ONE, "--emulate", "avx2"]) == 0
    record = records.read(*folder.iterdir())
    assert record["settings"]["emulates"] == "avx2"
    assert "avx2" in cpu_report.heading(record)
    assert "halide_scheduled" not in record["contestants"]
    if blas := record["contestants"]["gemm_large"]["blas"]:
        assert blas["architecture"] in ("Haswell", None)
    assert cli.main(["bench", "cpu", *TINY, "--emulate", "neon"]) == 2


@pytest.mark.slow
def test_one_step_is_measured_and_kept_in_a_section_of_its_own(folder, capsys):
    command = ["bench", "cpu", "--record", *FEW, "--cells", "gru", "min_gru", "--shapes", "3,2,4,5"]
    assert cli.main([*command, "--steps", "6"]) == 0
    (stored,) = folder.iterdir()
    gru, min_gru = records.read(stored)["steps"]["cases"]
    ours = {"weights", "inference", "one_big_gemm", "numba_fused"}
    assert ours <= {*gru["seconds"]}
    assert {*min_gru["seconds"]} == {"weights", "inference", "one_big_gemm"}
    assert all(0 < gru["error"][name] < 1 for name in ours - {"weights"})
    out = capsys.readouterr().out
    assert "| weights |" in out
    assert "6×6" in out


@pytest.mark.slow
def test_an_interrupted_record_goes_on_where_it_was(folder, monkeypatch, capsys):
    measure, task = Arena.measure, []

    def interrupted(arena, workload, tell):
        task.append(str(workload))
        if len(task) == 2:
            raise KeyboardInterrupt
        return measure(arena, workload, tell)

    monkeypatch.setattr(Arena, "measure", interrupted)
    assert cli.main(["bench", "cpu", "--record", *TINY]) == 130
    assert [path.name for path in folder.iterdir()] == ["bench_cpu.partial.json"]
    assert records.stored() == []
    assert cli.main(["bench", "cpu", "--record", *TINY]) == 0
    assert task == ["rnn_tanh 3×2×4×5", "gru 3×2×4×5", "gru 3×2×4×5"]
    (stored,) = folder.iterdir()
    record = records.read(stored)
    assert record["complete"]
    assert [case["workload"]["cell"] for case in record["cases"]] == ["rnn_tanh", "gru"]
    assert record["contestants"]["one_big_gemm"]["packages"]["numpy"]
    assert "kept as" in capsys.readouterr().out
    assert cli.main(["record", "show", "bench_cpu"]) == 0
    assert "gru, 1 thread:" in capsys.readouterr().out


@pytest.mark.slow
def test_a_record_of_other_code_or_another_machine_is_begun_anew(folder, monkeypatch):
    task = []
    monkeypatch.setattr(cpu_run, "_keep", lambda record: None)
    measure = Arena.measure
    monkeypatch.setattr(
        Arena,
        "measure",
        lambda arena, workload, tell: task.append(workload) or measure(arena, workload, tell),
    )
    once = [*FEW, "--record", "--cells", "gru", "--shapes", "3,2,4,5"]
    cli.main(["bench", "cpu", *once])
    cli.main(["bench", "cpu", *once])
    assert len(task) == 1
    cli.main(["bench", "cpu", *once, "--fresh"])
    cli.main(["bench", "cpu", *once, "--rounds", "3"])
    assert len(task) == 3
    (folder / "bench_cpu.partial.json").write_text("damaged")
    cli.main(["bench", "cpu", *once])
    assert len(task) == 4


def test_a_missing_peer_is_named_with_the_command_that_installs_it(folder, monkeypatch, capsys):
    from bench import peers

    absent = peers.Candidate("absent", "no.module", needs="no_such_package_at_all")
    monkeypatch.setattr(cpu_run, "PEERS", (absent,))
    monkeypatch.setenv("RNNLAB_PEERS_PYTHON", "/usr/bin/env")
    options = ["--rungs", "one_big_gemm", "--rounds", "2", "--cells", "gru", "--shapes", "3,2,4,5"]
    assert cli.main(["bench", "cpu", *options]) == 0
    text = capsys.readouterr().out
    assert holds(text, "no_such_package_at_all")


def test_variables_that_override_the_blas_are_unset_before_numpy_is_imported():
    start = (
        "import os, sys; from rnncourse.cli import main\n"
        "os.execve = lambda program, command, variables: print(command[1:], 'OPENBLAS_CORETYPE' in variables)"
        " or sys.exit()\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", start, "bench", "gru"],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['-m', 'rnncourse.cli', 'bench', 'gru'] False\n"


def test_bench_and_record_alone_say_what_they_can_do(capsys):
    for command, word in (("bench", "cpu"), ("record", "list")):
        assert cli.main([command]) == 0
        assert word in capsys.readouterr().out

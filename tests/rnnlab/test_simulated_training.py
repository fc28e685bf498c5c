"""Training on simulated ranks: the losses of one process, equal bits, checkpoints, lost ranks, errors."""

import numpy as np
import pytest

from ranks import simulated_world
from ranks.faults import COMPUTING, Pen
from ranks.simulated_ranks import RankLost
from rnnlab.scaling import simulated_training
from rnnlab.scaling.settings import RunSettings
from rnnlab.scaling.simulated_training import train_on_simulated_ranks as train
from rnnlab.training import Adam, fit

JOB = {
    "task": "adding",
    "batch": 5,
    "hidden_size": 4,
    "layers": 2,
    "steps": 6,
    "every": 2,
    "task_options": {"steps": 6},
}


@pytest.fixture(params=["threads", "coroutines"])
def ranks_are(request, monkeypatch):
    """What simulated ranks are; in a browser they are coroutines."""
    monkeypatch.setattr(simulated_world, "in_browser", lambda: request.param == "coroutines")


@pytest.mark.usefixtures("ranks_are")
@pytest.mark.parametrize("split", [(5,), (4, 1), (2, 0, 3), (1, 1, 1, 1, 1)])
def test_any_split_of_the_minibatch_has_the_losses_of_one_process(split):
    settings = RunSettings(ranks=len(split), split=split, **JOB)
    optimiser = Adam(settings.learning_rate)
    _, history = fit(settings.model(), settings.of_task(), optimiser, 6, 5, progress=False)
    shared = train(settings)
    np.testing.assert_allclose(shared["losses"], history.losses, rtol=1e-5)
    assert shared["losses"] == train(settings)["losses"]
    assert (shared["seconds"] > 0) == (len(split) > 1)


@pytest.mark.usefixtures("ranks_are")
def test_a_run_that_lost_a_rank_is_resumed_on_the_others_with_the_same_losses(tmp_path):
    whole, file = train(RunSettings(ranks=3, **JOB)), str(tmp_path / "run.npz")
    with pytest.raises(RankLost, match="rank 1 is gone"):
        train(RunSettings(ranks=3, checkpoint=file, **JOB), lost={1: 25})
    notes = []
    again = train(RunSettings(ranks=2, checkpoint=file, resume=True, **JOB), note=notes.append)
    assert "2 ranks" in notes[0]
    assert "instead of 3 ranks" in notes[0]
    assert 0 < int(notes[0].split()[3]) < 6
    np.testing.assert_allclose(again["losses"], whole["losses"], rtol=1e-5)


@pytest.mark.usefixtures("ranks_are")
def test_a_state_that_overflows_between_two_chunks_ends_all_ranks_with_the_rank_that_has_it():
    overflow = {"cell": "rnn_relu", "chunk": 2, "optimiser": "sgd", "learning_rate": 1e12}
    with pytest.raises(FloatingPointError, match=r"step \d+: the loss is .*rank \d: the loss"):
        train(RunSettings(ranks=3, split=(2, 0, 3), **JOB | overflow))


def test_a_resumed_run_shows_the_loss_of_its_checkpoint_until_it_has_one_of_its_own(tmp_path, monkeypatch):
    lines = []

    class Watched(Pen):
        def write(self, phase, step=None, **values):
            super().write(phase, step, **values)
            if phase == COMPUTING:
                lines.append((int(self.line["step"][0]), float(self.line["loss"][0])))

    file = str(tmp_path / "run.npz")
    before = train(RunSettings(ranks=2, checkpoint=file, **JOB))
    monkeypatch.setattr(simulated_training, "Pen", Watched)
    train(
        RunSettings(ranks=2, checkpoint=file, resume=True, **{**JOB, "steps": 8}), note=lambda sentence: None
    )
    assert lines[0] == (6, before["losses"][-1])
    assert all(loss > 0 for _, loss in lines)


@pytest.mark.usefixtures("ranks_are")
def test_errors_of_the_user_keep_their_type(tmp_path):
    file = tmp_path / "run.npz"
    with pytest.raises(ValueError, match="there is no checkpoint"):
        train(RunSettings(ranks=2, checkpoint=str(file), resume=True, **JOB))
    with pytest.raises(ValueError, match="resume from a checkpoint instead"):
        train(RunSettings(ranks=2, survive=True, **JOB))

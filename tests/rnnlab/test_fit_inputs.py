"""What other people hand to `fit`: another start, a limit without sense, a readout with NaN."""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rnnlab.network import Network
from rnnlab.tasks import TASKS
from rnnlab.training import Adam, Model, fit

TASK = TASKS["adding"](steps=6)


def train(model, **options):
    return fit(model, TASK, Adam(0.01), 3, 4, progress=False, **options)


def new(seed=0, **options):
    return Model.create("lstm", 2, 5, 1, seed=seed, **options)


@pytest.mark.parametrize("kind", ["another seed", "another first state", "trained", "one bit"])
def test_a_checkpoint_belongs_to_the_parameters_that_the_run_began_with(tmp_path, kind):
    path = tmp_path / "run"
    trained, history = train(new(), checkpoint=path)
    content = path.read_bytes()
    other = {
        "another seed": new(seed=3),
        "another first state": new(gain=1.5),
        "trained": trained,
        "one bit": new().with_parameters(
            new().parameters | {"bias_out": np.nextafter(np.zeros(1, "float32"), np.float32(1))}
        ),
    }[kind]
    with pytest.raises(ValueError, match="starting parameters"):
        train(other, checkpoint=path)
    assert path.read_bytes() == content
    assert train(new(), checkpoint=path)[1].losses == history.losses


@pytest.mark.parametrize("clip", [0, -2.5, float("nan"), True, "1.0", -np.inf])
def test_a_limit_without_sense_is_refused_before_a_file_is_written(tmp_path, clip):
    with pytest.raises(ValueError, match="clip is"):
        train(new(), clip=clip, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_infinite_limit_is_none():
    assert train(new(), clip=np.inf)[1].losses == train(new())[1].losses
    assert train(new(), clip=np.float32(1e9))[1].losses == train(new())[1].losses


def test_a_directory_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="directory"):
        train(new(), checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("weight", "bias", "message"),
    [
        (np.full((1, 5), np.inf, "float32"), np.zeros(1, "float32"), r"weight_out.*inf"),
        (np.ones((1, 5)), np.zeros(1, "float32"), r"weight_out.*float64"),
        ([[1.0] * 5], np.zeros(1, "float32"), r"weight_out.*list"),
        (np.ones((1, 5), "float32"), None, r"bias_out.*\(1,\)"),
        (np.ones((1, 5), "float32"), np.array([np.nan], "float32"), r"bias_out.*nan"),
        (np.ones((1, 5), "float32"), np.zeros((1, 1), "float32"), r"bias_out.*\(1, 1\)"),
        (np.ones((1, 5), "float32"), np.zeros(1, "int64"), r"bias_out.*int64"),
    ],
)
def test_a_readout_is_checked_as_the_networks_parameters_are(weight, bias, message):
    with pytest.raises(ValueError, match=message):
        Model(Network.create("gru", 2, 5), weight, bias)


def test_a_model_of_another_type_than_the_task_is_told_how_to_be_made():
    with pytest.raises(ValueError, match=r"float64.*float32"):
        train(new(dtype="float64"))


def test_a_rung_may_be_a_name():
    by_name = train(new(), rung="one_step_at_a_time")[1].losses
    np.testing.assert_allclose(by_name, train(new())[1].losses, rtol=1e-4)
    with pytest.raises(ValueError, match="fastest_of_all"):
        train(new(), rung="fastest_of_all")


@pytest.mark.parametrize(("hidden", "threads"), [(16, 1), (700, 2)])
def test_small_products_run_on_one_thread_of_the_blas(hidden, threads):
    seen = []

    class Watching:
        from rnnlab.ladder.one_big_gemm import PROPERTIES, backward

        @staticmethod
        def forward(network, x, state):
            from rnnlab.ladder import one_big_gemm

            seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
            return one_big_gemm.forward(network, x, state)

        backward = staticmethod(backward)

    with threadpool_limits(2, user_api="blas"):
        model = Model.create("gru", 2, hidden, 1)
        fit(model, TASKS["adding"](steps=2), Adam(), 1, 8, rung=Watching, progress=False)
        after = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    assert set(seen) == {threads}
    assert after == {2}


def test_a_run_resumed_by_other_kernels_of_the_blas_promises_no_equal_bits(tmp_path, monkeypatch):
    from rnnlab.scaling import train as on_ranks
    from rnnlab.scaling import training_run
    from rnnlab.scaling.settings import RunSettings

    settings = RunSettings(task="adding", steps=2, batch=4, hidden_size=5, checkpoint=str(tmp_path / "run"))
    recipe = settings.recipe()
    start = recipe.start(settings.model())
    on_ranks.begin(settings, start, recipe, print)
    notes = []
    again = dataclasses.replace(settings, resume=True)
    on_ranks.begin(again, start, recipe, notes.append)
    monkeypatch.setattr(training_run, "arithmetic", lambda: "NumPy 9.9, openblas 0.9 Prescott")
    on_ranks.begin(again, start, recipe, notes.append)
    assert "bit for bit" in notes[0]
    assert "Prescott" in notes[1]
    assert "bit for bit" not in notes[1]


@pytest.mark.parametrize(
    ("split", "now", "is_equal"),
    [(None, (3, 3), True), ((3, 3), None, True), ((5, 1), (3, 3), False), ((1, 5), (5, 1), False)],
)
def test_only_a_run_resumed_with_the_same_shares_promises_equal_bits(tmp_path, split, now, is_equal):
    from rnnlab.scaling import train as on_ranks
    from rnnlab.scaling.settings import RunSettings

    settings = RunSettings(
        ranks=2, steps=2, batch=6, hidden_size=5, split=split, checkpoint=str(tmp_path / "run")
    )
    recipe = settings.recipe()
    start = recipe.start(settings.model())
    on_ranks.begin(settings, start, recipe, print)
    notes = []
    again = dataclasses.replace(settings, split=now, resume=True)
    on_ranks.begin(again, start, recipe, notes.append)
    assert ("bit for bit" in notes[0]) == is_equal


def test_trainings_that_overlap_in_two_threads_give_blas_its_threads_back():
    """The one that began first ends first."""
    began, both = threading.Event(), threading.Event()

    def train_first():
        train(new(), watch=lambda step, _: step == 1 and (began.set(), both.wait(10)))

    before = threadpool_info()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(train_first)
        assert began.wait(10)
        train(new(), watch=lambda step, _: step == 1 and (both.set(), first.result(10)))
    assert threadpool_info() == before

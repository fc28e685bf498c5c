"""Training: gradients of the whole model are slopes, and the loop says what broke."""

import re

import numpy as np
import pytest
from values_in import holds

from rnnlab import reference
from rnnlab.compare import relative_error
from rnnlab.ladder import one_step_at_a_time
from rnnlab.tasks import TASKS, Batch
from rnnlab.training import (
    SGD,
    Adam,
    Model,
    evaluate,
    fit,
    loss_and_gradients,
    mse,
)
from rnnlab.training.loop import Recipe

T, B = 4, 3
WEIGHT = np.array([0.0, 1.0, 2.0, 0.5])


def adding(cell="rnn_tanh", **options):
    return Model.create(cell, 2, 6, 1, seed=4, **options), TASKS["adding"](steps=8)


def same(a, b):
    return all(np.array_equal(a.parameters[name], b.parameters[name]) for name in b.parameters)


@pytest.mark.parametrize("clip", [-2.5, 0, float("nan"), "1"])
def test_a_recipe_made_by_hand_refuses_a_clip_that_limits_nothing(clip):
    _, task = adding()
    with pytest.raises(ValueError, match=re.escape(f"clip is {clip!r}")):
        Recipe(task, SGD(0.1), 4, 0, None, clip, one_step_at_a_time)
    assert Recipe(task, SGD(0.1), 4, 0, None, np.inf, one_step_at_a_time).clip is None


@pytest.mark.parametrize("cell", ["rnn_tanh", "gru", "lstm"])
def test_gradients_of_the_whole_model_are_slopes(cell):
    model = Model.create(cell, 2, 3, 2, layers=2, dtype="float64", seed=1)
    rng = np.random.default_rng(2)
    batch = Batch(rng.normal(size=(T, B, 2)), rng.normal(size=(T, B, 2)), WEIGHT)
    _, gradients = loss_and_gradients(model, mse, batch)
    assert gradients.keys() == model.parameters.keys()
    for name, parameter in model.parameters.items():
        moved = lambda value, name=name: model.with_parameters(model.parameters | {name: value})
        loss = lambda value, moved=moved: loss_and_gradients(moved(value), mse, batch)[0]
        slope = reference.numerical_gradient(loss, parameter, eps=1e-5)
        assert relative_error(gradients[name], slope) < 1e-6  # some are 1e-6 in size, and rounding is not


def test_chunks_carry_the_state_and_not_the_gradient():
    model = Model.create("rnn_tanh", 2, 3, 2, dtype="float64", seed=1)
    rng = np.random.default_rng(2)
    batch = Batch(rng.normal(size=(T, B, 2)), rng.normal(size=(T, B, 2)), np.ones(T))
    loss, whole = loss_and_gradients(model, mse, batch)
    chunked_loss, chunked = loss_and_gradients(model, mse, batch, chunk=3)
    assert chunked_loss == pytest.approx(loss, rel=1e-13)

    dy = mse(model.predict(batch.x)[0], batch.target, batch.weight)[1] @ model.weight_out
    want = reference.bptt_chunked(model.network, batch.x, None, dy, chunk=3).gradients["weight_hh_l0"]
    assert relative_error(chunked["weight_hh_l0"], want) < 1e-13
    assert relative_error(whole["weight_hh_l0"], want) > 1e-3


def test_training_leaves_the_model_it_was_given_alone_and_depends_on_the_seed_alone():
    model, task = adding()
    before = {name: array.copy() for name, array in model.parameters.items()}
    one, history = fit(model, task, Adam(1e-2), 5, seed=1, progress=False)
    again, _ = fit(model, task, Adam(1e-2), 5, seed=1, progress=False)
    other, _ = fit(model, task, Adam(1e-2), 5, seed=2, progress=False)
    assert all(np.array_equal(before[name], model.parameters[name]) for name in before)
    assert same(one, again)
    assert not same(one, other)
    assert len(history.losses) == len(history.norms) == 5


def test_any_rung_trains_to_the_same_place():
    model, task = adding("gru", dtype="float32")
    one, _ = fit(model, task, SGD(0.1), 5, progress=False)
    other, _ = fit(model, task, SGD(0.1), 5, rung=one_step_at_a_time, progress=False)
    assert max(relative_error(one.parameters[n], other.parameters[n]) for n in one.parameters) < 1e-5


def test_one_step_of_fit_is_one_step_written_out():
    model, task = adding()
    trained, history = fit(model, task, SGD(0.5), 1, batch=4, seed=9, clip=0.01, progress=False)
    batch = task.batch(np.random.default_rng([9, 0]), 4)
    loss, gradients = loss_and_gradients(model, task.loss, batch)
    norm = np.sqrt(sum((g.astype("float64") ** 2).sum() for g in gradients.values()))
    assert history.losses == [loss]
    assert history.norms == [pytest.approx(norm)]
    for name, parameter in model.parameters.items():
        assert np.allclose(
            trained.parameters[name], parameter - 0.5 * gradients[name] * 0.01 / norm, atol=1e-7
        )


def test_watch_sees_every_step_and_the_start():
    model, task = adding()
    seen = []
    trained, _ = fit(model, task, SGD(0.1), 3, watch=lambda step, m: seen.append((step, m)), progress=False)
    assert [step for step, _ in seen] == [0, 1, 2, 3]
    assert same(seen[0][1], model)
    assert same(seen[-1][1], trained)


@pytest.mark.parametrize(
    ("rate", "chunk"), [(1e6, None), (1e6, 5), (1e300, None)], ids=["a gradient", "a state", "an update"]
)
def test_training_that_breaks_down_says_at_which_step_and_what_to_do(rate, chunk):
    model, _ = adding("rnn_relu", gain=4.0)
    with pytest.raises(FloatingPointError, match=rf"step \d+: .*{re.escape(str(rate))}"):
        fit(model, TASKS["adding"](steps=20), SGD(rate), 20, chunk=chunk, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps is 0, expected a whole number at least 1"),
        ({"batch": 2.5}, "batch is 2.5"),
        ({"chunk": -1}, "chunk is -1"),
        ({"chunk": 0}, "chunk is 0"),
    ],
)
def test_a_loop_without_sense_is_refused(change, message):
    model, task = adding()
    with pytest.raises(ValueError, match=message):
        fit(**{"model": model, "task": task, "optimiser": SGD(), "steps": 1, "progress": False} | change)


def test_a_model_that_does_not_fit_the_task_is_named():
    with pytest.raises(ValueError, match=r"input_size.*\b3\b.*\b2\b"):
        fit(Model.create("gru", 3, 4, 1), TASKS["adding"](), SGD(), 1)
    with pytest.raises(ValueError, match=r"weight_out.*\(2, 3\).*\(1, 6\)"):
        Model(adding()[0].network, np.zeros((2, 3)), np.zeros(1))


def test_a_history_tells_its_finding_and_draws_it():
    model, task = adding()
    _, history = fit(model, task, Adam(1e-2), 25, progress=False)
    assert holds(history.alt(), "25 steps")
    assert len(history.picture().axes) == 2


@pytest.mark.parametrize(
    ("name", "options", "cell", "hidden", "steps", "rate"),
    [
        ("image_filters", {}, "rnn_tanh", 16, 300, 1e-2),
        ("adding", {"steps": 8}, "gru", 24, 500, 2e-2),
        ("rotated_images", {}, "gru", 64, 150, 5e-3),
        ("frame_differences", {}, "gru", 64, 200, 5e-3),
    ],
)
def test_a_network_learns_the_task_better_than_its_baseline(name, options, cell, hidden, steps, rate):
    task = TASKS[name](**options)
    model = Model.create(cell, task.input_size, hidden, task.output_size)
    trained, _ = fit(model, task, Adam(rate), steps, clip=1.0, progress=False)
    assert evaluate(trained, task) < task.baseline.value
    assert evaluate(trained, task) < evaluate(model, task)

"""A model trained in 16 bits reaches float32's loss, and weights of 8 bits keep it."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from bench.narrow_training import RUNGS, held_out_loss, train
from rnnlab.tasks import adding, image_filters, text


@pytest.mark.parametrize(
    ("task", "cell", "rate"), [(adding.task(6), "lstm", 2e-2), (image_filters.task(), "gru", 5e-3)]
)
def test_losses_in_16_bits_follow_those_in_float32(task, cell, rate):
    whole, narrow = (np.array(train(task, cell, 16, 60, rate, rung)[1]) for rung in RUNGS.values())
    assert whole[-1] < 0.4 * whole[0]
    np.testing.assert_allclose(narrow, whole, rtol=1e-2)


def test_training_in_16_bits_and_answering_with_8_cost_half_a_percent_at_most():
    task = text.task(12)
    trained = {precision: train(task, "gru", 24, 40, 5e-3, rung) for precision, rung in RUNGS.items()}
    whole, narrow = (held_out_loss(trained[precision][0], task, "") for precision in RUNGS)
    assert whole < 0.8 * np.log(97)  # it has learned more than nothing
    assert narrow == pytest.approx(whole, rel=5e-3)
    np.testing.assert_allclose(trained["bfloat16"][1], trained["float32"][1], rtol=1e-2)
    for model, _ in trained.values():
        losses = [held_out_loss(model, task, weights) for weights in ("", "bfloat16", "int8")]
        assert losses[1:] == pytest.approx([losses[0]] * 2, rel=5e-3)

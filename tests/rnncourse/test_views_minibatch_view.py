"""The minibatch view: rates by hand, and published, predicted and recorded numbers kept apart."""

import pytest
from test_views_step_view import keep
from values_in import holds

from rnncourse import records
from rnncourse.figures.picture import png
from rnncourse.views import minibatch_view
from rnncourse.views.minibatch_view import (
    PUBLISHED,
    explore_minibatch,
    finding,
    predicted,
    rate,
)

DIAMOS = "rnn_tanh", 1152, "bfloat16", "H200"
LSTM = "lstm", 512, "bfloat16", "H200"


def figure_minibatch(*chosen):
    return minibatch_view._moved(minibatch_view._empty(), *chosen)


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Records are made up here, or there are none."""
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    return tmp_path


def drawn(figure):
    """Points of each line by what the legend says of it, under the heading it stands below."""
    axis, result, heading = figure.axes[0], {}, ""
    lines, texts = iter(axis.lines), axis.get_legend().get_texts()
    for text in (entry.get_text() for entry in texts):
        if text.startswith(("predicted, ", "published, ", "recorded, ")):
            heading = text
        else:
            result[heading, text] = dict(next(lines).get_xydata().tolist())
    return result


def test_a_rate_is_flop_of_the_recurrent_product_over_the_steps_time():
    # the 3.8 µs step that Diamos and others read as 2.78 TFLOP/s
    assert rate("rnn_tanh", 1152, 4, 3.82) == pytest.approx(2.78, abs=0.005)
    assert rate("lstm", 512, 8, 1.0) == 2 * 4 * 512**2 * 8 / 1e6


def test_a_predicted_rate_is_that_of_the_floor_counted_by_hand():
    rates, reasons = predicted(*LSTM)
    product = 2 * 4 * 512**2 * 8 / (0.65 * 989e6 * 128 / 132)  # of 8 sequences, however few there are
    assert rates["persistent_grid"][4] == pytest.approx(2 * 4 * 512**2 * 4 / (0.302 + product) / 1e6)
    assert rates["persistent_cluster"][8] == pytest.approx(8 * rates["persistent_cluster"][1])
    assert list(rates["graph_replay"]) == list(range(1, 65))
    assert not reasons


def test_published_points_stand_beside_their_own_layer_only():
    result = drawn(figure_minibatch(*DIAMOS))
    for name, points in PUBLISHED.items():
        assert result["published, TitanX, float32", name] == points
    for other in (LSTM, ("rnn_tanh", 1024, "bfloat16", "H200"), ("gru", 1152, "bfloat16", "H200")):
        assert (
            drawn(figure_minibatch(*other))["published, TitanX, float32", "cuBLAS: not of this layer"] == {}
        )
        assert "Published" not in finding(*other)


def test_a_refused_kernel_has_no_curve_and_a_note_says_why():
    figure = figure_minibatch("lstm", 2048, "tf32", "H200")
    result = drawn(figure)
    assert result["predicted, H200, tf32", "grid kernel (floor): refused"] == {}
    assert len(result["predicted, H200, tf32", "CUDA graph (cuBLAS)"]) == 64
    note = " ".join(figure.texts[0].get_text().split())
    assert holds(note, "2048", "lstm", "tf32", "132", "H200")
    assert holds(note, "16")


def test_recorded_points_are_dots_of_their_own(folder):
    before = drawn(figure_minibatch(*LSTM))
    assert before["recorded, H200, bfloat16: none yet", "grid kernel"] == {}
    keep(folder, persistent_grid=2.0, pytorch=9.0)
    after = drawn(figure_minibatch(*LSTM))
    assert after["recorded, H200, bfloat16", "grid kernel"] == pytest.approx(
        {4: 2 * 4 * 512**2 * 4 / 2.0 / 1e6}
    )
    floor = "predicted, H200, bfloat16", "grid kernel (floor)"
    assert after[floor] == before[floor]
    assert holds(finding(*LSTM), "H200", "grid", "4.19", "4")


def test_the_text_says_what_is_predicted_what_published_and_what_recorded():
    sentence = finding(*DIAMOS)
    assert holds(sentence, "H200", "bfloat16", "CUDA")
    assert holds(sentence, "7.32", "1", "29.3", "4", "78.2", "16", "98.8", "64")
    assert holds(sentence, "cluster", "1152", "rnn_tanh")
    values = "TitanX float32 2016 0.68 1 2.78 4 2.8 62 Nervana 0.12 4 1.43 62 cuBLAS 0.05 4 0.64 62"
    assert holds(sentence, *values.split())
    assert sentence.endswith("nothing yet.")


def test_no_two_lines_look_alike_without_their_colour():
    marks = [(line.get_linestyle(), line.get_marker()) for line in figure_minibatch(*DIAMOS).axes[0].lines]
    assert len(set(marks)) == len(marks) == 9


def test_every_predicted_rate_lies_within_the_axes():
    low, high = minibatch_view.RANGE
    for cell in minibatch_view.CELLS:
        for hidden in minibatch_view.HIDDEN:
            rates = [predicted(cell, hidden, "bfloat16", device)[0] for device in minibatch_view.DEVICES]
            every = [entry for ways in rates for result in ways.values() for entry in result.values()]
            assert low < min(every) < max(every) < high


def test_a_move_leaves_nothing_of_the_curves_before_it():
    parts = minibatch_view._empty()
    minibatch_view._moved(parts, *DIAMOS)
    assert png(minibatch_view._moved(parts, *LSTM)) == png(figure_minibatch(*LSTM))
    assert explore_minibatch().still.alt == finding(*DIAMOS)

"""The views: their numbers against oracles, their words, their sliders, and the picture that stands still."""

import base64
import io
import re
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.image import imread
from values_in import holds

from rnncourse.figures import picture
from rnncourse.figures.picture import PALETTE, Picture, Slider, View, canvas, png, show, slider_view
from rnncourse.lab.roofline import Roofline
from rnncourse.views import cliff, filter_view, gradient_flow, powers, sweeps, tile_view, truncation
from rnncourse.views.access_map import explore_banks, explore_stride
from rnncourse.views.learned_filter import explore_learned_filter, record
from rnncourse.views.roofline_view import explore_roofline
from rnnlab import reference
from rnnlab.network import Network

WIDGET = "application/vnd.jupyter.widget-view+json"
EXPLORERS = {  # a view, other values of its sliders, and what its finding says at the start
    "sweeps": (sweeps.explore_sweeps, {"T": 8, "move": 9}, "T = 6, move 4"),
    "gradient_flow": (gradient_flow.explore_gradient_flow, {"radius": 1.2, "T": 80}, "radius 0.90, T = 50"),
    "cliff": (cliff.explore_cliff, {"learning_rate": 0.3, "limit": 10.0}, "Learning rate 0.1"),
    "filter": (filter_view.explore_filter, {"k0": 0.0, "k1": 1.0, "k2": 0.0}, "Kernel (1, 0, -1)"),
    "learned_filter": (lambda: explore_learned_filter(record("sobel")), {"look": 3}, "updates the network"),
    "roofline": (lambda: explore_roofline(Roofline(200.0, 20.0)), {"B": 64, "H": 256}, "1024"),
    "tile": (lambda: tile_view.explore_tile(16), {"rows": 8, "vectors": 2, "registers": 32}, "16"),
    "stride": (explore_stride, {"stride": 2, "offset": 1}, "Stride 1, offset 0"),
    "banks": (explore_banks, {"width": 32, "down": False}, "Rows of 34 words"),
}


def controls(view: View) -> list:
    """The sliders of a live view, in the order of its arguments."""
    _image, _line, *rows = view.box.children
    return [getattr(row, "children", [row])[0] for row in rows]


def pixels(shown: str) -> np.ndarray:
    """Pixels of the picture in a piece of HTML."""
    return imread(io.BytesIO(base64.b64decode(re.search(r"base64,([^\"]+)", shown)[1])))


def line_view() -> View:
    figure, axis = canvas()
    (line,) = axis.plot([0, 1], [0, 1])
    axis.set_ylim(0, 9)

    def draw(slope):
        line.set_ydata([0, slope])
        return figure

    return slider_view(draw, "slope {slope}".format, slope=Slider("slope", range(1, 8), start=2, play=True))


def test_the_palette_is_okabe_and_itos_eight_colours():
    assert len(PALETTE) == 8
    assert len({colour.upper() for colour in PALETTE.values()}) == 8
    assert PALETTE["blue"] == "#0072B2"


def test_a_figure_is_shown_with_its_alternative_and_closed(capsys):
    figure, axis = pyplot.subplots()
    axis.plot([1, 2])
    show(figure, "it rises")
    assert "it rises" in capsys.readouterr().out
    assert not pyplot.fignum_exists(figure.number)


def test_a_picture_is_an_image_with_alternative_text_on_a_card_of_its_own():
    bundle = Picture(png(canvas()[0]), 'a "rising" line & more')._repr_mimebundle_()
    assert bundle["text/plain"] == 'a "rising" line & more'
    assert 'alt="a &quot;rising&quot; line &amp; more"' in bundle["text/html"]
    assert f"background:{picture.CARD}" in bundle["text/html"]
    image = pixels(bundle["text/html"])
    assert image[0, 0] == pytest.approx([1, 1, 1, 1])
    height, width, _ = image.shape
    assert f'width="{width}" height="{height}"' in bundle["text/html"]


def test_without_a_kernel_a_view_is_a_still_picture_with_its_finding():
    view = line_view()
    assert view.box is None
    bundle = view._repr_mimebundle_()
    assert bundle["text/plain"] == "slope 3"
    assert 'alt="slope 3"' in bundle["text/html"]
    assert WIDGET not in bundle


def test_without_ipywidgets_no_widget_is_tried(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert not picture.widgets_run()
    assert line_view().box is None


@pytest.mark.usefixtures("in_a_kernel")
def test_in_a_kernel_a_view_offers_the_widget_and_the_picture_for_readers_without_widgets():
    bundle = line_view()._repr_mimebundle_()
    assert {WIDGET, "text/html", "text/plain"} <= bundle.keys()


@pytest.mark.usefixtures("in_a_kernel")
def test_a_move_changes_the_picture_its_alternative_and_the_line_below():
    view = line_view()
    image, line, _row = view.box.children
    before = pixels(image.value)
    (slope,) = controls(view)
    slope.value = 7
    assert (pixels(image.value) != before).any()
    assert 'alt="slope 7"' in image.value
    assert "slope 7" in line.value
    assert 'role="status"' in line.value


@pytest.mark.usefixtures("in_a_kernel")
def test_a_move_back_brings_the_first_picture_back():
    view = line_view()
    (slope,) = controls(view)
    slope.value = 7
    slope.value = 3
    assert (pixels(view.box.children[0].value) == pixels(view.still.tag())).all()


@pytest.mark.usefixtures("in_a_kernel")
@pytest.mark.parametrize("name", EXPLORERS)
def test_every_slider_of_a_view_is_named_and_moves_the_picture(name):
    explore, target, _ = EXPLORERS[name]
    view = explore()
    image, line, *_rows = view.box.children
    for control, value in zip(controls(view), target.values(), strict=True):
        before, output = image.value, line.value
        assert control.description
        control.value = value
        assert image.value != before
        assert line.value != output


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_view_without_a_kernel_states_its_finding_in_one_line(name):
    explore, _, message = EXPLORERS[name]
    view = explore()
    assert view.box is None
    assert view.still.png.startswith(b"\x89PNG")
    assert message in view.still.alt
    assert len(repr(view)) > 60
    assert "\n" not in repr(view)


@pytest.mark.parametrize("T", [1, 2, 7])
def test_the_sweeps_show_as_many_cell_backwards_as_the_reference_counts(T):
    network = Network.create("rnn_tanh", 2, 3, dtype="float64", seed=0)
    arguments = network, np.ones((T, 1, 2)), network.zero_state(1), np.ones((T, 1, 3))
    assert len(sweeps.quadratic_order(T)) == reference.bptt_quadratic(*arguments).cell_backwards
    assert len(sweeps.linear_order(T)) == reference.bptt_linear(*arguments).cell_backwards


def test_a_walk_of_the_quadratic_sweep_starts_at_its_loss_and_goes_back_to_step_0():
    assert sweeps.quadratic_order(3) == [(0, 0), (1, 1), (1, 0), (2, 2), (2, 1), (2, 0)]
    assert sweeps.linear_order(3) == [2, 1, 0]


@pytest.mark.parametrize("move", [0, 1, 4, 6, 7, 15, 40])
def test_the_grids_hold_exactly_what_the_counters_say(move):
    T = 5
    for grid, count in zip(sweeps.states(T, move), sweeps.counters(T, move), strict=True):
        assert np.isin(grid, (sweeps.DONE, sweeps.RUNS)).sum() == count
        assert (grid == sweeps.RUNS).sum() <= 1


def test_the_sweeps_say_in_words_which_cell_backward_runs_now():
    output = sweeps.finding(5, 5)
    assert holds(output, "2", "1", "5", "15")
    assert "5 of 5" in output
    assert sweeps.finding(5, 16).count("is done") == 2


def unit_gradients_sent_back(radius: float, T: int, k: int) -> np.ndarray:
    """[H,H] dh[T-k] of each unit gradient at h[T], by the reference: a minibatch of H equal sequences."""
    weight_hh, h = gradient_flow.hidden_states(radius)
    H = len(weight_hh)
    start = Network.create("rnn_tanh", H, H, dtype="float64")
    zero = {name: np.zeros_like(array) for name, array in start.parameters.items()}
    network = start.with_parameters(zero | {"weight_hh_l0": weight_hh, "weight_ih_l0": np.eye(H)})
    push = np.arctanh(h[1:]) - h[:-1] @ weight_hh.T
    x = np.repeat(push[T - k : T, None], H, axis=1)
    state = (np.repeat(h[None, T - k, None], H, axis=1).reshape(1, H, H),)
    y, _, saved = reference.forward(network, x, state)
    dy = np.zeros_like(y)
    dy[-1] = np.eye(H)
    return reference.backward(network, saved, dy, None)[1][0][0]


@pytest.mark.parametrize("radius", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("T", "k"), [(1, 1), (9, 4), (9, 9)])
def test_the_gradient_flow_is_what_the_reference_sends_back(radius, T, k):
    message = unit_gradients_sent_back(radius, T, k)
    expected = np.linalg.norm(message) / np.sqrt(len(message))
    assert gradient_flow.gains(radius, T)[k] == pytest.approx(expected, rel=1e-9)


def test_the_map_of_the_gradient_flow_agrees_with_its_curve():
    place = gradient_flow.RADII.index(1.3)
    for T in (1, 17, gradient_flow.LONGEST):
        curve = gradient_flow.gains(1.3, T)
        assert curve[0] == 1
        assert gradient_flow.gain_map()[T - 1, place] == pytest.approx(curve[-1], rel=1e-9)


def test_every_number_on_the_map_of_the_gradient_flow_stands_on_paper():
    axis = gradient_flow.figure_gradient_flow(0.9, 50).axes[1]
    numbers, marker = axis.texts, axis.lines[-1]
    assert len(numbers) == 4
    for number in numbers:
        assert number.get_bbox_patch().get_facecolor() == (1, 1, 1, 1)
        assert marker.get_zorder() > number.get_zorder()


def test_tanh_never_lets_more_through_than_the_weights_alone():
    back = np.arange(gradient_flow.LONGEST + 1)
    for radius in gradient_flow.RADII:
        assert (gradient_flow.gains(radius, gradient_flow.LONGEST) <= radius**back * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("reach", "sweep"),
    [
        (truncation.window_reach, reference.bptt_window),
        (truncation.chunk_reach, reference.bptt_chunked),
    ],
)
@pytest.mark.parametrize("k", [1, 3, 7, 9])
def test_the_reach_of_a_truncation_is_where_its_gradient_is_not_zero(reach, sweep, k):
    T = 7
    network = Network.create("rnn_tanh", 2, 3, dtype="float64", seed=0)
    x = np.random.default_rng(0).standard_normal((T, 1, 2))
    for last in range(T):
        dy = np.zeros((T, 1, 3))
        dy[last] = 1
        dx = sweep(network, x, network.zero_state(1), dy, k).dx
        assert ((dx != 0).any(axis=(1, 2)) == reach(T, k)[last]).all()


def test_the_reach_is_told_in_words_and_drawn():
    assert holds(truncation.describe_reach(8, 3), "36", "3", "21", "3", "15")
    assert [axis.get_title() for axis in truncation.figure_reach(8, 3).axes][2] == "chunks of 3: 15 pairs"


def test_the_exponent_of_a_power_is_found_and_stands_in_the_legend():
    x = np.array([8, 16, 32, 64])
    curves = {"square": 3e-6 * x**2.0, "line": 5e-3 * x}
    assert powers.fitted_exponent(x, curves["square"]) == pytest.approx(2)
    axis = powers.figure_powers(x, curves, xlabel="T", ylabel="s").axes[0]
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert legend == ["square: exponent 2.00", "line: exponent 1.00"]
    assert holds(powers.describe_powers("s over T", x, curves), "0.00019", "0.012", "2.00")

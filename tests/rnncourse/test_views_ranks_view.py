"""The view of ranks: its bars against the model, its words against its numbers."""

import re

import pytest
from values_in import holds

from ranks.costs import ALGORITHMS, all_reduce_seconds
from rnncourse.views import ranks_view
from rnncourse.views.ranks_view import (
    AFTER,
    LAYER_WISE,
    RANKS_SHOWN,
    SENDS,
    SLIDERS,
    STEPS_SHOWN,
    WAVEFRONT,
    RankSliders,
    explore_ranks,
    finding,
    first_steps,
    ready_times,
    update,
)


def figure_ranks(settings):
    return ranks_view._draw(ranks_view._empty(), settings)


def bars(axis):
    """(row, start, end) of every bar on an axis, in seconds."""
    boxes = [path.get_extents() for part in axis.collections[:99] for path in part.get_paths()]
    return sorted((round(box.y0 + 0.36), box.x0, box.x1) for box in boxes if box.width and box.height > 0.5)


@pytest.mark.parametrize("sends", SENDS)
def test_the_bars_above_are_the_messages_of_the_model(sends):
    settings = RankSliders(sends=sends)
    drawn = [bar[1:] for bar in bars(figure_ranks(settings).axes[0]) if bar[0] == 1]
    assert drawn == [pytest.approx((m.start, m.end)) for m in update(settings).messages]


def test_the_bars_below_are_the_first_messages_of_the_first_ranks():
    settings = RankSliders(ranks=64)
    drawn = bars(figure_ranks(settings).axes[1])
    assert len(drawn) == RANKS_SHOWN * STEPS_SHOWN
    step = all_reduce_seconds("ring", 64, 1e6 * settings.megabytes / settings.layers, settings.link) / 126
    assert drawn[0] == pytest.approx((0, 0, step))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_few_ranks_are_drawn_to_the_end_of_their_first_message(algorithm):
    settings = RankSliders(ranks=3, algorithm=algorithm)
    message = update(settings).messages[0]
    assert first_steps(settings).seconds == pytest.approx(message.end - message.start)


def test_layers_complete_evenly_layer_by_layer_and_late_on_a_wavefront():
    assert ready_times(4, 8.0, LAYER_WISE) == [8, 6, 4, 2]
    late = ready_times(4, 103.0, WAVEFRONT)
    assert late == [103, 102, 101, 100]
    with pytest.raises(ValueError, match="'never'"):
        ready_times(4, 1.0, "never")


def test_the_finding_states_what_is_hidden_and_which_algorithm_is_faster():
    text = finding(RankSliders(ranks=64, megabytes=0.001, algorithm="one reducer", sends=AFTER))
    assert "64 ranks" in text
    assert holds(text, "0 µs")
    assert holds(text, "recursive doubling")
    share = int(re.search(r"(\d+)% of the ranks' time is arithmetic", finding(RankSliders()))[1])
    one = update(RankSliders())
    assert share == round(100 * one.arithmetic / one.seconds)


def test_one_rank_sends_nothing_and_the_view_says_so():
    assert holds(finding(RankSliders(ranks=1)), "nothing to send")
    assert not [bar for bar in bars(figure_ranks(RankSliders(ranks=1)).axes[0]) if bar[0] == 1]


def test_thousands_of_ranks_are_drawn():
    view = explore_ranks(("ranks",), ranks=4096)
    assert "4096 ranks" in view.still.alt
    assert view.still.png[:4] == b"\x89PNG"


def test_sliders_start_where_they_are_told_or_say_what_there_is():
    assert all(getattr(RankSliders, name) in slider.values for name, slider in SLIDERS.items())
    with pytest.raises(ValueError, match="ranks p is 5; there are 1, 2, 3, 4"):
        explore_ranks(ranks=5)

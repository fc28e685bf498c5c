"""The walker of loops shows what the cache holds, and the misses that can be counted by hand."""

import numpy as np
import pytest
from values_in import holds

from rnncourse.figures.picture import png
from rnncourse.views.loop_order import (
    CACHE,
    HELD,
    NOW,
    ORDERS,
    SIZE,
    TILES,
    access_order,
    explore_loop_order,
    figure_loop_order,
    finding,
    states,
)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tile", TILES)
def test_three_numbers_are_in_use_and_no_more_lines_are_held_than_fit(order, tile):
    for percent in (1, 37, 100):
        seen = states(order, tile, percent)
        assert (seen == NOW).sum(axis=(1, 2)).tolist() == [1, 1, 1]
        assert (seen >= HELD).sum() <= CACHE.ways * CACHE.line // 4


def test_misses_along_rows_and_down_columns_are_those_counted_by_hand():
    # ikj: b's 64 lines do not fit and are fetched for each of 16 rows; a's and c's 64 are fetched once
    assert access_order("ikj", SIZE)[1][-1] == 16 * 64 + 64 + 64
    # jki: columns of a and c are 32 lines, more than 24: each product misses both, b's line serves 16
    assert access_order("jki", SIZE)[1][-1] == 2 * 16**3 + 16 * 16


def test_finding_tells_what_is_done_and_what_cannot_be_avoided():
    text = finding("ikj", 4, 100)
    assert holds(text, "4", "4096", "4096")
    assert "192 cannot be avoided" in text


def test_figure_moves_with_the_walk():
    early = png(figure_loop_order("ijk", SIZE, 5))
    assert early.startswith(b"\x89PNG")
    assert early != png(figure_loop_order("ijk", SIZE, 95))


def test_view_outside_a_kernel_is_a_still_picture():
    view = explore_loop_order()
    assert view.box is None
    assert "Loops ijk, no tiles" in view.still.alt
    assert np.isfinite(access_order("ijk", SIZE)[0]).all()

"""The filter view shows what the kernel makes of the photograph, and says so."""

import numpy as np
import pytest

from rnncourse.views import filter_view
from rnncourse.views.filter_view import answers, figure_filter, finding
from rnnlab.tasks.photographs import brightness


def test_answers_are_weighted_sums_of_three_pixels_of_a_row():
    rows = brightness("test", filter_view.SHRINK)
    row, got = rows[37], answers(0.5, -2, 1.5)[37]
    for t in (2, 9, len(row) - 1):
        assert got[t] == pytest.approx(0.5 * row[t] - 2 * row[t - 1] + 1.5 * row[t - 2], abs=1e-6)


def test_kernel_that_keeps_the_pixel_shows_the_photograph():
    np.testing.assert_array_equal(answers(1, 0, 0), brightness("test", filter_view.SHRINK))


def test_finding_tells_level_areas_from_changes():
    assert "answered by 0" in finding(1, 0, -1)
    assert "times 3" in finding(1, 1, 1)


def test_moving_a_slider_redraws_the_same_figure():
    first = figure_filter(1, 0, -1)
    assert figure_filter(1, -2, 1) is first
    assert "(1, -2, 1)" in first.axes[1].get_title(loc="left")

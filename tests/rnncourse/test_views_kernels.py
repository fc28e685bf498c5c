"""Views of kernels are drawn from traces, and say in words what the trace says in numbers."""

import numpy as np
import pytest
from values_in import holds

from pocketgpu import cuda
from rnncourse.views.access_map import (
    describe_access,
    describe_banks,
    figure_access,
    figure_banks,
    first_request,
    strided_copy,
    walk_a_tile,
)


def strided(stride, offset=0):
    return cuda.observe(
        strided_copy, 1, 32, np.zeros(300, "float32"), np.zeros(32, "float32"), stride, offset
    )


@pytest.mark.parametrize(("stride", "offset"), [(1, 0), (1, 3), (2, 0), (8, 8)])
def test_an_access_map_shows_the_bytes_that_lanes_want(stride, offset):
    report = strided(stride, offset)
    lanes, offsets = first_request(report, "x[offset")
    assert list(lanes) == list(range(32))
    assert list(offsets) == [4 * (offset + i * stride) for i in range(32)]
    assert f"{report.counts.global_load_sectors} sectors" in describe_access(lanes, offsets)
    figure = figure_access(lanes, offsets)
    assert len(figure.axes[0].patches) >= report.counts.global_load_sectors


def test_a_line_that_the_kernel_has_not_is_refused():
    with pytest.raises(ValueError, match=r"'z\['"):
        first_request(strided(1), "z[")


@pytest.mark.parametrize(
    ("width", "down", "turns"), [(32, 1, 32), (33, 1, 1), (34, 1, 2), (36, 1, 4), (32, 0, 1)]
)
def test_a_bank_map_has_as_many_turns_as_the_simulator_counts(width, down, turns):
    report = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), width, down)
    _, offsets = first_request(report, "tile[lane * width]" if down else "tile[lane]")
    assert report.counts.bank_conflicts == turns - 1
    assert f": {turns} turn{'s' * (turns > 1)}, " in describe_banks(offsets)
    assert max(patch.get_y() for patch in figure_banks(offsets).axes[0].patches) == turns - 1


def test_labels_of_a_bank_map_stand_apart():
    """32 of them were printed over each other in the column that all lanes read."""
    report = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), 32, 1)
    (axis,) = figure_banks(first_request(report, "tile[lane * width]")[1]).axes
    lanes = [label for label in axis.texts if label.get_text().isdigit()]
    assert 8 <= len(lanes) <= 16
    assert any(holds(label.get_text(), "32") for label in axis.texts)


def test_labels_of_lanes_that_wait_are_dark_on_orange():
    """White on that orange has a contrast of 2.2."""
    report = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), 34, 1)
    (axis,) = figure_banks(first_request(report, "tile[lane * width]")[1]).axes
    inks = {int(label.get_position()[1]): label.get_color() for label in axis.texts}
    assert inks == {0: "white", 1: "black"}

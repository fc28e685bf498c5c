"""Views of kernels are drawn from traces, and say in words what the trace says in numbers."""

import numpy as np
import pytest

from pocketgpu import cuda
from rnncourse.views.access_map import (
    access_in_words,
    explore_stride,
    figure_access,
    first_request,
    strided_copy,
)
from rnncourse.views.bank_map import banks_in_words, explore_banks, figure_banks, walk_a_tile
from rnncourse.views.barrier_timeline import barriers, barriers_in_words, figure_barriers


@cuda.jit
def rotate_five_times(x, out):
    """out [blocks] becomes the first number of each block's x after five rotations: five barriers."""
    part = cuda.shared.array(16, np.float32)
    i = cuda.threadIdx.x
    value = x[cuda.grid(1)]
    for turn in range(5):
        if turn % 2 == 0:
            part[i] = value
        else:
            value = part[(i + 1) % 16]
        cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = value


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
    assert f"{report.counts.global_load_sectors} sectors" in access_in_words(lanes, offsets)
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
    assert f": {turns} turn{'s' * (turns > 1)}, " in banks_in_words(offsets)
    assert max(patch.get_y() for patch in figure_banks(offsets).axes[0].patches) == turns - 1


def test_a_barrier_timeline_has_a_line_for_every_barrier():
    report = cuda.observe(rotate_five_times, 2, 16, np.ones(32, "float32"), np.zeros(2, "float32"))
    assert len(barriers(report, block=1)) == 5
    assert report.counts.barriers == 10
    assert barriers_in_words(report, block=1).startswith("Block 1 synchronises 5 times")
    lines = figure_barriers(report, block=1).axes[0].lines
    assert (
        sum(len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1] for line in lines) == 5
    )


def test_views_stand_still_where_widgets_cannot_run():
    for view in (explore_stride(), explore_banks()):
        assert "image/png" in view._repr_mimebundle_() or "text/html" in view._repr_mimebundle_()

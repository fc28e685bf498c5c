"""Shuffles, votes and matches of 32 lanes, against what NumPy makes of the same values."""

import numpy as np
import pytest
from launches import run

from pocketgpu import simulator as cuda

FULL = 0xFFFFFFFF
LANES = np.arange(32)
WIDTHS = pytest.mark.parametrize("width", [32, 16, 8, 2])


def per_lane(function, threads=32, dtype=np.int64, **settings):
    """function(lane) of every thread of a block [threads]."""

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = function(cuda.laneid)

    out = np.zeros(threads, dtype)
    assert not run(kernel, 1, threads, out, **settings)
    return out


@WIDTHS
@pytest.mark.parametrize("source", [0, 3, 17, 40])
def test_an_indexed_shuffle_counts_within_its_group(width, source):
    got = per_lane(lambda lane: cuda.shfl_sync(FULL, lane * 10, source, width))
    np.testing.assert_array_equal(got, 10 * (LANES // width * width + source % width))


@WIDTHS
@pytest.mark.parametrize("delta", [0, 1, 5])
def test_shuffles_up_and_down_stop_at_the_edge_of_the_group(width, delta):
    up = per_lane(lambda lane: cuda.shfl_up_sync(FULL, lane, delta, width))
    down = per_lane(lambda lane: cuda.shfl_down_sync(FULL, lane, delta, width))
    place = LANES % width
    np.testing.assert_array_equal(up, np.where(place >= delta, LANES - delta, LANES))
    np.testing.assert_array_equal(down, np.where(place + delta < width, LANES + delta, LANES))


@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16, 31])
def test_an_exclusive_or_shuffle_exchanges_pairs(mask):
    np.testing.assert_array_equal(per_lane(lambda lane: cuda.shfl_xor_sync(FULL, lane, mask)), LANES ^ mask)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("order", [{}, {"shuffle": True, "seed": 1}], ids=str)
def test_a_butterfly_of_shuffles_adds_up_a_warp(dtype, order):
    @cuda.jit
    def total(a):
        value = a[cuda.grid(1)]
        offset = 16
        while offset:
            value += cuda.shfl_xor_sync(FULL, value, offset)
            offset //= 2
        a[cuda.grid(1)] = value

    a = np.arange(96).astype(dtype)
    expected = a.reshape(3, 32).sum(1, keepdims=True) * np.ones(32, dtype)
    assert not run(total, 1, 96, a, **order)
    np.testing.assert_array_equal(a.reshape(3, 32), expected)


def test_votes_ask_all_lanes_of_the_mask():
    assert per_lane(lambda lane: cuda.all_sync(FULL, lane >= 0)).all()
    assert not per_lane(lambda lane: cuda.all_sync(FULL, lane > 0)).any()
    assert per_lane(lambda lane: cuda.any_sync(FULL, lane == 7)).all()
    assert not per_lane(lambda lane: cuda.any_sync(FULL, lane == 77)).any()
    assert per_lane(lambda lane: cuda.eq_sync(FULL, False)).all()
    assert not per_lane(lambda lane: cuda.eq_sync(FULL, lane == 3)).any()
    assert (per_lane(lambda lane: cuda.ballot_sync(FULL, lane % 2)) == 0xAAAAAAAA - 2**32).all()


def test_matches_name_the_lanes_that_brought_the_same():
    got = per_lane(lambda lane: cuda.match_any_sync(FULL, lane % 3))
    for lane in LANES:
        assert got[lane] % 2**32 == sum(1 << other for other in range(32) if other % 3 == lane % 3)
    assert (per_lane(lambda lane: cuda.match_all_sync(FULL, 5)[0]) == -1).all()
    assert not per_lane(lambda lane: cuda.match_all_sync(FULL, lane)[0]).any()
    assert not per_lane(lambda lane: cuda.match_all_sync(FULL, lane)[1]).any()


def test_halves_of_a_warp_may_meet_apart():
    def half(lane):
        mask = 0xFFFF if lane < 16 else 0xFFFF0000
        return cuda.shfl_sync(mask, lane, 15 if lane < 16 else 31)

    np.testing.assert_array_equal(per_lane(half), np.where(LANES < 16, 15, 31))


def test_lanes_that_have_returned_or_never_were_are_not_waited_for():
    @cuda.jit
    def after_some_left(out):
        if cuda.laneid % 4 == 3:
            return
        out[cuda.threadIdx.x] = cuda.ballot_sync(FULL, True)

    out = np.zeros(40, np.int64)
    assert not run(after_some_left, 1, 40, out)
    assert {*out[:32:4]} == {0x77777777}
    assert {*out[32::4]} == {0x77}


def test_the_active_mask_names_lanes_of_the_same_branch():
    got = per_lane(lambda lane: cuda.activemask() if lane % 2 else cuda.activemask() + 0)
    np.testing.assert_array_equal(got, np.where(LANES % 2, 0xAAAAAAAA, 0x55555555))


def test_lane_masks_below_count_lanes_before():
    np.testing.assert_array_equal(per_lane(lambda lane: cuda.lanemask_lt()), (1 << LANES) - 1)

"""Names that only some threads set, and names that stand for slices: valid programs run, faults are found."""

from collections import namedtuple

import numpy as np
import pytest
from launches import run
from values_in import holds

from pocketgpu import cuda


@cuda.jit
def reserve(x, taken, out):
    """Lanes with an even number keep theirs behind those of the warps before."""
    lane = cuda.laneid
    i = cuda.grid(1)
    mask = cuda.ballot_sync(0xFFFFFFFF, x[i] % 2 == 0)
    if lane == 31:
        first = cuda.atomic.add(taken, 0, cuda.popc(mask))
        second = first * 2
    first = cuda.shfl_sync(0xFFFFFFFF, first, 31)
    second = cuda.shfl_sync(0xFFFFFFFF, second + 1, 31)
    if x[i] % 2 == 0:
        place = first + cuda.popc(mask & ((1 << lane) - 1))
        out[place] = x[i] + second - 2 * first


def test_a_value_of_one_lane_may_be_handed_to_all():
    x = np.random.default_rng(3).integers(0, 100, 96)
    taken, out = np.zeros(1, np.int32), np.zeros(96, np.int64)
    assert cuda.observe(reserve, 3, 32, x, taken, out).findings == ()
    even = x[x % 2 == 0]
    assert taken[0] == even.size
    np.testing.assert_array_equal(np.sort(out[: even.size]), np.sort(even + 1))


HALVES = (slice(0, 4), slice(4, 8))
Parts = namedtuple("Parts", "low, pair")
PARTS = Parts(HALVES[0], HALVES)


@cuda.jit(device=True)
def cut(array, window):
    return array[window]


@cuda.jit(device=True)
def window_of(number):
    return slice(4 * number, 4 * number + 4)


def through_parts(way, barrier=True, beyond=0):
    """A kernel that hands x through a part of a shared array, cut in one of many ways."""
    high = HALVES[1]

    @cuda.jit
    def kernel(x, out):
        whole = cuda.shared.array(0, np.float32)
        table = whole.reshape(2, 4)
        t = cuda.threadIdx.x
        if way == "closure":
            part = whole[high]
        elif way == "module":
            part = whole[HALVES[1]]
        elif way == "named":
            parts = PARTS
            part = whole[parts.pair[1]]
        elif way == "local":
            mine = slice(4, 8)
            part = whole[mine]
        elif way == "device":
            part = cut(whole, high)
        elif way == "made":
            part = whole[window_of(1)]
        else:
            columns = slice(0, 4)
            part = table[1, columns]
        part[t] = x[t]
        if barrier:
            cuda.syncthreads()
        out[t] = part[3 - t + beyond]

    return kernel


WAYS = ("closure", "module", "named", "local", "device", "made", "row")


@pytest.mark.parametrize("way", WAYS)
def test_a_part_cut_by_a_named_slice_is_watched_as_the_array_is(way):
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert cuda.observe(through_parts(way), 1, 4, x, out, shared=32).findings == ()
    np.testing.assert_array_equal(out, x[::-1])
    racing = cuda.observe(through_parts(way, barrier=False), 1, 4, x, out, shared=32).findings
    assert [finding.kind for finding in racing] == ["race"]
    stray = cuda.observe(through_parts(way, beyond=1), 1, 4, x, out, shared=32).findings
    assert [finding.kind for finding in stray] == ["out_of_bounds"]


@cuda.jit(device=True)
def largest_of(slots, mine, count):
    """The largest of the first `count` values of a block of 16 threads."""
    t = cuda.threadIdx.x
    slots[t] = mine
    cuda.syncthreads()
    half = 8
    while half:
        if t < half and t + half < count:
            slots[t] = max(slots[t], slots[t + half])
        cuda.syncthreads()
        half //= 2
    return slots[0]


@cuda.jit
def largest(x, count, out):
    slots = cuda.shared.array(shape=(16,), dtype=x.dtype)
    t = cuda.threadIdx.x
    if t < x.size:
        mine = x[t]
    result = largest_of(slots, mine, count)
    if t == 0:
        out[0] = result


@cuda.jit
def reversed_in_lists(x, count, out):
    slots = cuda.shared.array(16, np.float64)
    signs = cuda.local.array(1, np.int32)
    t = cuda.threadIdx.x
    if t < x.size:
        mine = x[t]
        sign = -1
    slots[t] = mine
    signs[0] = sign
    cuda.syncthreads()
    if t < x.size:
        out[t] = signs[0] * slots[count - 1 - t]


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize(
    ("kernel", "expected"), [(largest, [9, 0, 0, 0, 0]), (reversed_in_lists, [-8, -2, -7, -9, -3])]
)
def test_a_value_that_is_not_set_may_lie_in_shared_memory_until_it_is_used(kernel, expected, dtype):
    x = np.array([3, 9, 7, 2, 8], dtype)
    out = np.zeros(5, dtype)
    assert cuda.observe(kernel, 1, 16, x, 5, out).findings == ()
    np.testing.assert_array_equal(out, expected)
    (finding,) = cuda.observe(kernel, 1, 16, x, 9, out).findings
    assert finding.kind == "uninitialised"


def test_an_array_that_a_thread_has_not_made_is_named_in_the_finding():
    @cuda.jit
    def kernel(x):
        if x[0] > 5:
            tile = cuda.shared.array(4, np.float32)
        x[0] = tile[0]

    (finding,) = run(kernel, 1, 1, np.zeros(1))
    assert finding.kind == "uninitialised"
    assert holds(finding.message, "tile")

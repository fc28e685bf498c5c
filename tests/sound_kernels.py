"""Kernels without a fault, in the styles of tutorials and of learners: the simulator must not accuse them.

`checks` says what they leave in their last argument, computed by NumPy from the others before the launch.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from faulty_kernels import COLLECTIVES, FULL, floats, swapped_after

from rnnlab import cuda

ZERO, HALF = np.float32(0), np.float32(0.5)
STEPS = (16, 8, 4, 2, 1)
WEIGHTS = np.arange(4, dtype="float32")
SIZE = 32


class Case(NamedTuple):
    """One launch of one kernel; expected(*arguments) is what it leaves in the last of them."""

    kernel: Callable
    grid: object
    block: object
    arguments: Callable
    expected: Callable
    shared: int = 0


CASES: dict[str, Case] = {}


def leaves(expected, grid, block, arguments, shared=0):
    """Register the kernel below: launched so, its last array is expected(*arguments)."""

    def register(function):
        kernel = cuda.jit(function)
        CASES[function.__name__] = Case(kernel, grid, block, arguments, expected, shared)
        return kernel

    return register


def one(n=SIZE, m=None):
    """x [n] and an empty result [m]."""
    return lambda: (floats(n), np.zeros(n if m is None else m, "float32"))


def integers(n=SIZE, m=SIZE, dtype="int32"):
    return lambda: ((np.arange(n) * 7 % 5).astype(dtype), np.zeros(m, dtype))


first = lambda x, *_: x
total = lambda x, *_: np.array([x.sum()], "float32")
counts = lambda x, *_: np.bincount(x, minlength=5)


@cuda.jit(device=True)
def doubled(x):
    return x + x


# one element a thread


@leaves(lambda x, y: x / 2, 2, 16, one())
def multiplies_by_a_constant_of_the_module(x, y):
    y[cuda.grid(1)] = HALF * x[cuda.grid(1)] + ZERO


@leaves(lambda x, y: 2 * x, 2, 16, one())
def calls_a_device_function(x, y):
    y[cuda.grid(1)] = doubled(x[cuda.grid(1)])


@leaves(lambda x, y: x / 2, 2, 16, one())
def has_a_default_argument(x, y, factor=HALF):
    y[cuda.grid(1)] = factor * x[cuda.grid(1)]


@leaves(first, 2, 16, one())
def asserts_what_it_relies_on(x, y):
    i = cuda.grid(1)
    assert x.size == y.size
    y[i] = x[i]


@leaves(first, 2, 16, one())
def prints_its_first_element(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    if i == 0:
        print("first", x[0])


@leaves(first, 2, 16, one(30))
def guards_the_end_with_a_return(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    y[i] = x[i]


@leaves(first, 2, 4, one(30))
def strides_over_the_grid(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i]


@leaves(first, (2, 2), (4, 4), lambda: (floats(8, 7), np.zeros((8, 7), "float32")))
def guards_two_dimensions(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        y[row, column] = x[row, column]


@leaves(first, (1, 2, 2), (4, 2, 1), lambda: (floats(2, 4, 4), np.zeros((2, 4, 4), "float32")))
def uses_three_dimensions(x, y):
    i, j, k = cuda.grid(3)
    if k < 2:
        y[k, j, i] = x[k, j, i]


@leaves(lambda x, y: x[::-1], 1, 32, one())
def counts_from_the_end_with_negative_indices(x, y):
    i = cuda.grid(1)
    y[i] = x[-1 - i]


@leaves(lambda x, y: np.tanh(x), 1, 32, one())
def uses_mathematics_on_elements(x, y):
    y[cuda.grid(1)] = math.tanh(x[cuda.grid(1)])


@leaves(lambda x, y: np.tanh(x), 1, 32, one())
def uses_a_ufunc_on_elements(x, y):
    y[cuda.grid(1)] = np.tanh(x[cuda.grid(1)])


@leaves(lambda x, y: x.sum(1), 1, 4, lambda: (floats(4, 8), np.zeros(4, "float32")))
def indexes_a_row_of_a_row(x, y):
    row = x[cuda.grid(1)]
    value = ZERO
    for k in range(row.size):
        value += row[k]
    y[cuda.grid(1)] = value


@leaves(lambda x, y: x[1:5], 1, 4, lambda: (floats(8), np.zeros(4, "float32")))
def indexes_a_slice(x, y):
    part = x[1:5]
    y[cuda.grid(1)] = part[cuda.grid(1)]


@leaves(lambda x, y: x.T, (1, 1), (4, 4), lambda: (floats(4, 4), np.zeros((4, 4), "float32")))
def indexes_the_transpose(x, y):
    i, j = cuda.grid(2)
    y[i, j] = x.T[i, j]


@leaves(lambda x, y: x.reshape(-1), 1, 16, lambda: (floats(4, 4), np.zeros(16, "float32")))
def indexes_another_shape(x, y):
    y[cuda.grid(1)] = x.reshape(16)[cuda.grid(1)]


@leaves(lambda x, y: x * 3, 1, 4, lambda: (floats(4), np.zeros(4, "float32")))
def reads_an_array_of_the_module(x, y):
    value = ZERO
    for k in range(3):
        value += x[cuda.grid(1)] * WEIGHTS[k]
    y[cuda.grid(1)] = value


@leaves(lambda x, y: WEIGHTS[:4], 1, 4, one(4))
def has_constant_memory_from_outside(x, y):
    constant = cuda.const.array_like(WEIGHTS)
    y[cuda.grid(1)] = constant[cuda.grid(1)]


@leaves(lambda x, y: x, 1, 32, one())
def swaps_through_local_memory(x, y):
    own = cuda.local.array(2, np.float32)
    own[0] = x[cuda.grid(1)]
    own[1] = own[0]
    y[cuda.grid(1)] = own[1]


@leaves(
    lambda x, y: np.full(32, 2**31 - 1),
    1,
    32,
    lambda: (np.full(32, 2**31 - 1, "int32"), np.zeros(32, "int32")),
)
def averages_large_integers(x, y):
    i = cuda.grid(1)
    y[i] = (x[i] + x[31 - i]) // 2


@leaves(
    lambda x, y: x.astype("uint64") ** 2,
    1,
    4,
    lambda: (np.full(4, 2**32 - 1, "uint32"), np.zeros(4, "uint64")),
)
def squares_unsigned_integers(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)] * x[cuda.grid(1)]


@leaves(lambda x, y: np.full(4, 24), 1, 4, lambda: (np.full(4, 255, "int32"), np.zeros(4, "int32")))
def counts_zeros_of_32_bits(x, y):
    y[cuda.grid(1)] = cuda.clz(x[cuda.grid(1)])


# shared memory


@leaves(lambda x, y: x[::-1], 1, 32, one())
def reverses_through_shared_memory(x, y):
    shared = cuda.shared.array(SIZE, np.float32)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    cuda.syncthreads()
    y[i] = shared[SIZE - 1 - i]


@leaves(lambda x, y: np.cumsum(x), 1, 32, one())
def scans_with_two_buffers(x, y):
    buffers = cuda.shared.array((2, SIZE), np.float32)
    i, now, step = cuda.threadIdx.x, 0, 1
    buffers[0, i] = x[i]
    cuda.syncthreads()
    while step < SIZE:
        value = buffers[now, i]
        if i >= step:
            value += buffers[now, i - step]
        buffers[1 - now, i] = value
        now, step = 1 - now, 2 * step
        cuda.syncthreads()
    y[i] = buffers[now, i]


@leaves(lambda x, y: x[:-2] + x[1:-1] + x[2:], 2, 16, lambda: (floats(34), np.zeros(32, "float32")))
def adds_neighbours_with_a_halo(x, y):
    tile = cuda.shared.array(18, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = x[i]
    if t < 2:
        tile[t + 16] = x[i + 16]
    cuda.syncthreads()
    y[i] = tile[t] + tile[t + 1] + tile[t + 2]


@leaves(lambda x, y: x, 1, 32, one(), shared=256)
def cuts_dynamic_memory_in_two_types(x, y):
    whole = cuda.shared.array(0, np.float32)
    numbers, flags = whole[:SIZE], whole[SIZE:].view(np.int32)
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    flags[i] = 1
    cuda.syncthreads()
    y[i] = numbers[i] * flags[SIZE - 1 - i]


@leaves(total, 1, 64, lambda: (floats(64), np.zeros(1, "float32")))
def sums_a_block_with_shuffles_at_the_end(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    if i < 32:
        value = part[i] + part[i + 32]
        for step in STEPS:
            value += cuda.shfl_down_sync(FULL, value, step)
        if i == 0:
            out[0] = value


@leaves(lambda x, y: 3 * x, 1, 32, one())
def reuses_a_tile_between_two_barriers(x, y):
    tile = cuda.shared.array(SIZE, np.float32)
    i = cuda.threadIdx.x
    for _ in range(3):
        tile[i] = x[i]
        cuda.syncthreads()
        y[SIZE - 1 - i] += tile[SIZE - 1 - i]
        cuda.syncthreads()


@leaves(lambda x, y: np.sort(x), 1, 32, lambda: (floats(32)[::-1].copy(), np.zeros(32, "float32")))
def sorts_bitonically(x, y):
    part = cuda.shared.array(SIZE, np.float32)
    i, k = cuda.threadIdx.x, 2
    part[i] = x[i]
    cuda.syncthreads()
    while k <= SIZE:
        j = k // 2
        while j > 0:
            other = i ^ j
            if other > i and (part[i] > part[other]) == (i & k == 0):
                part[i], part[other] = part[other], part[i]
            cuda.syncthreads()
            j //= 2
        k *= 2
    y[i] = part[i]


# atomics


@leaves(counts, 2, 16, integers(32, 5))
def counts_in_global_memory(x, bins):
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)


@leaves(counts, 2, 16, integers(32, 5))
def counts_in_shared_memory_first(x, bins):
    own = cuda.shared.array(5, np.int32)
    t = cuda.threadIdx.x
    if t < 5:
        own[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(own, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 5:
        cuda.atomic.add(bins, t, own[t])


@leaves(lambda x, out: x.max(), 2, 16, one(32, 1))
def finds_the_largest(x, out):
    cuda.atomic.max(out, 0, x[cuda.grid(1)])


@leaves(lambda x, count, part, out: total(x), 4, 8, lambda: (
    floats(32), np.zeros(1, "int32"), np.zeros(4, "float32"), np.zeros(1, "float32")
))  # fmt: skip
def lets_the_last_block_add_up(x, count, part, out):
    last = cuda.shared.array(1, np.int32)
    value = x[cuda.grid(1)]
    t = cuda.threadIdx.x
    for step in (4, 2, 1):
        value += cuda.shfl_down_sync(0xFF, value, step)
    if t == 0:
        part[cuda.blockIdx.x] = value
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        cuda.threadfence()
        for k in range(cuda.gridDim.x):
            out[0] += part[k]
        count[0] = 0


# warps


@leaves(total, 1, 32, one(32, 1))
def sums_with_a_butterfly(x, out):
    value = x[cuda.laneid]
    for step in STEPS:
        value += cuda.shfl_xor_sync(FULL, value, step)
    if cuda.laneid == 0:
        out[0] = value


@leaves(lambda x, out: np.array([x[:16].sum()]), 1, 32, one(32, 1))
def sums_half_a_warp_with_half_a_mask(x, out):
    if cuda.laneid < 16:
        value = x[cuda.laneid]
        for step in (8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFF, value, step)
        if cuda.laneid == 0:
            out[0] = value


@leaves(lambda x, out: np.array([x.max()]), 1, 8, one(8, 1))
def finds_the_largest_of_eight_lanes(x, out):
    value = x[cuda.laneid]
    for step in (4, 2, 1):
        value = max(value, cuda.shfl_down_sync(0xFF, value, step))
    if cuda.laneid == 0:
        out[0] = value


@leaves(lambda x, y: np.cumsum(x), 1, 32, one())
def scans_a_warp_with_shuffles(x, y):
    value = x[cuda.laneid]
    for step in (1, 2, 4, 8, 16):
        below = cuda.shfl_up_sync(FULL, value, step)
        if cuda.laneid >= step:
            value += below
    y[cuda.laneid] = value


@leaves(lambda x, y: np.full(32, 16), 1, 32, integers(32, 32))
def votes_for_the_even_lanes(x, y):
    y[cuda.laneid] = cuda.popc(cuda.ballot_sync(FULL, cuda.laneid % 2 == 0))


@leaves(lambda x, y: x[::-1], 1, 32, one())
def orders_a_warp_with_syncwarp(x, y):
    shared = cuda.shared.array(SIZE, np.float32)
    shared[cuda.laneid] = x[cuda.laneid]
    cuda.syncwarp()
    y[cuda.laneid] = shared[SIZE - 1 - cuda.laneid]


# flags, locks, grids


@leaves(lambda x, y: np.roll(x, -1), 4, 8, one())
def exchanges_across_the_grid(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.cg.this_grid().sync()
    value = y[(i + 1) % x.size]
    cuda.cg.this_grid().sync()
    y[i] = value


def history(steps=3):
    return lambda: (np.zeros(4, "int32"), np.zeros((steps + 1, 32), "float32"))


rising = lambda flags, h: np.repeat(np.arange(len(h)), 32).reshape(h.shape)


@leaves(rising, 4, 8, history())
def every_writer_fences_before_the_barrier(flags, h):
    i = cuda.grid(1)
    for t in range(h.shape[0] - 1):
        h[t + 1, i] = h[t, (i + 8) % 32] + 1
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


@leaves(rising, 4, 8, history())
def the_first_thread_fences_and_looks_at_all(flags, h):
    i = cuda.grid(1)
    for t in range(h.shape[0] - 1):
        h[t + 1, i] = h[t, (i + 8) % 32] + 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.stcg(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while True:
                    if cuda.atomic.add(flags, block, 0) >= t + 1:
                        break
            cuda.threadfence()
        cuda.syncthreads()


@leaves(rising, 4, 8, history())
def counts_arrivals_that_only_grow(count, h):
    i = cuda.grid(1)
    for t in range(h.shape[0] - 1):
        h[t + 1, i] = h[t, (i + 8) % 32] + 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
            while cuda.atomic.add(count, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@leaves(rising, 4, 8, history())
def turns_a_sense_after_the_last_arrival(state, h):
    i = cuda.grid(1)
    for t in range(h.shape[0] - 1):
        h[t + 1, i] = h[t, (i + 8) % 32] + 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            if cuda.atomic.add(state, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(state, 0, 0)
                cuda.threadfence()
                cuda.atomic.exch(state, 1, t + 1)
            while cuda.atomic.add(state, 1, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@leaves(lambda lock, x: np.array([4]), 4, 1, lambda: (np.zeros(1, "int32"), np.zeros(1, "float32")))
def gives_a_lock_back_with_an_exchange(lock, x):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@leaves(lambda lock, x: np.array([4]), 4, 1, lambda: (np.zeros(1, "int32"), np.zeros(1, "float32")))
def gives_a_lock_back_with_a_store(lock, x):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    lock[0] = 0


@leaves(lambda ticket, x: np.array([4]), 4, 1, lambda: (np.zeros(2, "int32"), np.zeros(1, "float32")))
def serves_tickets_in_turn(ticket, x):
    mine = cuda.atomic.add(ticket, 0, 1)
    while cuda.atomic.add(ticket, 1, 0) != mine:
        pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    cuda.atomic.add(ticket, 1, 1)


@leaves(lambda x, flags, y: np.cumsum(x), 4, 1, lambda: (
    floats(4), np.zeros(4, "int32"), np.zeros(4, "float32")
))  # fmt: skip
def looks_back_at_the_block_before(x, flags, y):
    block, before = cuda.blockIdx.x, ZERO
    if block > 0:
        while cuda.atomic.add(flags, block - 1, 0) == 0:
            cuda.nanosleep(10)
        cuda.threadfence()
        before = y[block - 1]
    y[block] = before + x[block]
    cuda.threadfence()
    cuda.atomic.exch(flags, block, 1)


def then_syncwarp(word):
    """The word of a warp with the barrier that it is not."""

    def both(lane):
        word(lane)
        cuda.syncwarp()

    return both


for name, word in COLLECTIVES.items():
    function = swapped_after(then_syncwarp(word))
    function.__name__ = f"synchronises_after_{name}"
    leaves(lambda x, y: x[::-1], 1, 32, one(32))(function)

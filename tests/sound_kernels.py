"""Kernels without a fault that no learner's kernel has alike: the simulator must not accuse them.

`leaves` says what is in their last argument, computed by NumPy from the others before the launch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from faulty_kernels import COLLECTIVES, floats, swapped_after
from kernel_cases import table_of

from pocketgpu import cuda

ZERO, HALF = np.float32(0), np.float32(0.5)
WEIGHTS = np.arange(4, dtype="float32")
SIZE = 32


class Case(NamedTuple):
    """One launch of one kernel; expected(*arguments) is what it leaves in the last of them."""

    kernel: Callable
    expected: Callable
    grid: object
    block: object
    arguments: Callable
    shared: int = 0


CASES, leaves = table_of(Case)


def one(n=SIZE, m=None):
    """x [n] and an empty result [m]."""
    return lambda: (floats(n), np.zeros(n if m is None else m, "float32"))


first = lambda x, *_: x


# one element a thread


@leaves(lambda x, y: x / 2, 2, 16, one())
def multiplies_by_a_constant_of_the_module(x, y):
    y[cuda.grid(1)] = HALF * x[cuda.grid(1)] + ZERO


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


@leaves(first, (1, 2, 2), (4, 2, 1), lambda: (floats(2, 4, 4), np.zeros((2, 4, 4), "float32")))
def uses_three_dimensions(x, y):
    i, j, k = cuda.grid(3)
    if k < 2:
        y[k, j, i] = x[k, j, i]


@leaves(lambda x, y: np.tanh(x), 1, 32, one())
def uses_a_ufunc_on_elements(x, y):
    y[cuda.grid(1)] = np.tanh(x[cuda.grid(1)])


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


@leaves(lambda x, y: x, 1, 32, one(), shared=256)
def cuts_dynamic_memory_in_two_types(x, y):
    whole = cuda.shared.array(0, np.float32)
    numbers, flags = whole[:SIZE], whole[SIZE:].view(np.int32)
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    flags[i] = 1
    cuda.syncthreads()
    y[i] = numbers[i] * flags[SIZE - 1 - i]


@leaves(lambda x, y: 3 * x, 1, 32, one())
def reuses_a_tile_between_two_barriers(x, y):
    tile = cuda.shared.array(SIZE, np.float32)
    i = cuda.threadIdx.x
    for _ in range(3):
        tile[i] = x[i]
        cuda.syncthreads()
        y[SIZE - 1 - i] += tile[SIZE - 1 - i]
        cuda.syncthreads()


# warps


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


# flags, locks, grids


@leaves(lambda flags, h: np.repeat(np.arange(4), 32).reshape(h.shape), 4, 8, lambda: (
    np.zeros(4, "int32"), np.zeros((4, 32), "float32")
))  # fmt: skip
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

    collective = cuda.jit(device=True)(word)

    @cuda.jit(device=True)
    def both(lane):
        collective(lane)
        cuda.syncwarp()

    return both


for name, word in COLLECTIVES.items():
    function = swapped_after(then_syncwarp(word))
    function.__name__ = f"synchronises_after_{name}"
    leaves(lambda x, y: x[::-1], 1, 32, one(32))(function)

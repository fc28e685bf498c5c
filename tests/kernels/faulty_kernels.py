"""Kernels with one mistake each that no learner's kernel has alike, by the kind of the finding.

Each says in one line what a GPU makes of it; sound_kernels.py has the same ideas done right.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from kernel_cases import table_of

from pocketgpu import cuda

FULL = 0xFFFFFFFF
MEMORY = []  # of the module: no place for a thread's numbers
TABLE = {0: 1.0}


class Case(NamedTuple):
    """One launch of one kernel, and the kind of finding that it must have, if any.

    says: values in the message of the first of that kind, whose line ends in # here, if one does.
    """

    kernel: Callable
    kind: str
    grid: object
    block: object
    arguments: Callable
    shared: int = 0
    says: tuple = ()


CASES, finds = table_of(Case)


def floats(*shape):
    return np.linspace(0.5, 2, int(np.prod(shape)), dtype="float32").reshape(shape)


def vectors(n=32):
    return lambda: (floats(n), floats(n))


def threes():
    return np.array([0.0, 3.0, 3.0, 3.0]), np.zeros(4)


def counters(*sizes):
    return lambda: tuple(np.zeros(size, "int32") for size in sizes)


# whole-array work


@finds("whole_array", 1, 4, vectors(8))
def copies_the_array_to_index_at_will(x, y):
    own = np.asarray(x)
    y[cuda.grid(1)] = own[cuda.grid(1)]


@finds("whole_array", 1, 1, lambda: (np.float32(2), floats(8), floats(8)))
def scales_a_whole_array(a, x, y):
    np.add(a * x, y, y)


@finds("whole_array", (1, 1), (2, 2), lambda: (floats(2, 2), floats(2, 2), floats(2, 2)))
def takes_the_dot_product_of_a_row_and_a_column(a, b, c):
    column, row = cuda.grid(2)
    c[row, column] = np.dot(a[row], b[:, column])


@finds("whole_array", 2, 1, lambda: (floats(2, 4), floats(2, 4)))
def stores_a_whole_row(x, y):
    y[cuda.blockIdx.x] = x[cuda.blockIdx.x]


@finds("whole_array", 1, 1, vectors(8))
def multiplies_with_an_operator(x, y):
    z = x * y
    y[0] = z[0]


@finds("whole_array", 1, 1, vectors(8))
def applies_tanh_to_the_array(x, y):
    np.tanh(x, y)


@finds("whole_array", 1, 1, lambda: (floats(8), floats(8), np.array([1, 2])))
def gathers_with_an_array_of_indices(x, y, index):
    y[0] = x[index][0]


# what a compiler refuses


@finds("does_not_compile", 1, 4, vectors(4))
def shares_through_a_list_of_the_module(x, y):
    MEMORY.append(x[cuda.grid(1)])
    cuda.syncthreads()
    y[cuda.grid(1)] = MEMORY[0]


@finds("does_not_compile", 1, 4, vectors(4))
def reads_a_dictionary_of_the_module(x, y):
    y[cuda.grid(1)] = TABLE[0]


@finds("does_not_compile", 1, 4, vectors(4))
def remembers_in_a_default(x, y, own=[]):  # noqa: B006
    y[cuda.grid(1)] = x[cuda.grid(1)] + len(own)


@finds("does_not_compile", 1, 4, vectors(4))
def makes_constant_memory_of_an_argument(x, y):
    constant = cuda.const.array_like(x)
    y[cuda.grid(1)] = constant[cuda.grid(1)]


@finds("does_not_compile", 1, 4, lambda: (floats(4), floats(4), 4))
def takes_the_size_of_shared_memory_from_an_argument(x, y, n):
    tile = cuda.shared.array(n, np.float32)
    tile[cuda.grid(1)] = x[cuda.grid(1)]
    y[cuda.grid(1)] = tile[cuda.grid(1)]


@finds("does_not_compile", 1, 1, vectors(4))
def prints_a_text_made_of_values(x, y):
    print(f"thread {cuda.grid(1)}")


@finds("race", 1, 32, lambda: (np.zeros(2, [("mass", "f4"), ("kind", "i4")]),))
def adds_to_a_field_of_one_record(particles):
    particles[1].mass += 1


@finds("race", 2, 16, lambda: (floats(2, 4), floats(32)))
def fills_a_row_of_all_threads(rows, y):
    rows[0, :] = 0
    y[cuda.grid(1)] = 1


# races


@finds("race", 1, 32, counters(4))
def resets_the_counters_without_a_barrier(bins):
    i = cuda.threadIdx.x
    if i < 4:
        bins[i] = 0
    cuda.atomic.add(bins, i % 4, 1)


@finds("race", 4, 8, counters(1))
def one_block_resets_among_atomics(total):
    if cuda.blockIdx.x == 2 and cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.atomic.add(total, 0, 1)


@finds("race", 1, 64, lambda: (floats(64),))
def orders_two_warps_with_syncwarp(x):
    shared = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    cuda.syncwarp()
    x[i] = shared[63 - i]


@finds("race", 1, 16, lambda: (floats(16),), shared=128)
def overlaps_two_views_of_dynamic_memory(x):
    bytes_of_block = cuda.shared.array(0, np.uint8)
    wide = bytes_of_block[:128].view(np.float64)
    narrow = bytes_of_block[4:68].view(np.float32)
    i = cuda.threadIdx.x
    wide[i] = x[i]
    narrow[i] = x[i]
    cuda.syncthreads()
    x[i] = wide[15 - i]


# fences and flags


@finds("missing_fence", 4, 1, counters(1, 1))
def takes_a_lock_without_a_fence(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] = total[0] + 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@finds("missing_fence", 2, 4, lambda: (floats(4), np.zeros(1, "int32"), floats(4)))
def fences_before_it_writes(x, flag, out):
    i = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        cuda.threadfence()
        x[i] = 7
        cuda.syncthreads()
        if i == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[i] = x[i]


# loops that wait by a load, which compilers for sm_75, sm_80 and sm_90 remove


def flagged():
    return floats(1), np.zeros(1, "int32"), floats(1)


@finds("weak_poll", 2, 1, flagged)
def polls_by_ldcg_what_a_store_sets(x, flag, out):
    if cuda.blockIdx.x == 1:
        x[0] = 7
        cuda.threadfence()
        cuda.stcg(flag, 0, 1)
    else:
        while cuda.ldcg(flag, 0) == 0:
            pass
        cuda.threadfence()
        out[0] = x[0]


@finds("weak_poll", 2, 1, flagged)
def polls_by_ldcv_in_an_endless_loop(x, flag, out):
    if cuda.blockIdx.x == 0:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while True:
            if cuda.ldcv(flag, 0) != 0:
                break
        cuda.threadfence()
        out[0] = x[0]


@finds("weak_poll", 2, 1, flagged)
def polls_by_ldcv_before_the_condition(x, flag, out):
    if cuda.blockIdx.x == 1:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        seen = cuda.ldcv(flag, 0)
        while seen == 0:
            seen = cuda.ldcv(flag, 0)
        cuda.threadfence()
        out[0] = x[0]


@finds("weak_poll", 2, 1, flagged)
def fences_around_the_loop_but_not_in_it(x, flag, out):
    for t in range(2):
        if cuda.blockIdx.x == 0:
            x[0] = 7 + t
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, t + 1)
        else:
            while cuda.ldcv(flag, 0) < t + 1:
                cuda.nanosleep(10)
            cuda.threadfence()


@finds("weak_poll", 2, 1, flagged)
def polls_by_ldcv_with_a_fence_in_the_loop(x, flag, out):  # which numba-cuda takes out all the same
    if cuda.blockIdx.x == 0:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.ldcv(flag, 0) == 0:
            cuda.threadfence()
        out[0] = x[0]


@finds("weak_poll", 2, 4, flagged)
def polls_by_ldcv_between_barriers(x, flag, out):
    seen = cuda.shared.array(1, np.int32)
    if cuda.blockIdx.x == 1:
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flag, 0, 1)
        return
    while True:
        if cuda.threadIdx.x == 0:
            seen[0] = cuda.ldcv(flag, 0)
        cuda.syncthreads()
        if seen[0]:
            return
        cuda.syncthreads()


@finds("race", 2, 1, flagged)
def polls_by_a_plain_load_with_a_fence(x, flag, out):
    if cuda.blockIdx.x == 0:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while flag[0] == 0:
            cuda.threadfence()
        out[0] = x[0]


# shuffles and votes make lanes wait for one another, and order no memory


def swapped_after(word):
    """Lanes write shared memory, call that word, and read what other lanes wrote."""

    def kernel(x, y):
        box, lane = cuda.shared.array(32, np.float32), cuda.threadIdx.x
        box[lane] = x[lane]
        word(lane)
        y[lane] = box[31 - lane]

    return kernel


COLLECTIVES = {
    "ballot_sync": lambda lane: cuda.ballot_sync(FULL, lane < 4),
    "any_sync": lambda lane: cuda.any_sync(FULL, lane < 4),
    "all_sync": lambda lane: cuda.all_sync(FULL, lane < 4),
    "eq_sync": lambda lane: cuda.eq_sync(FULL, lane < 4),
    "match_any_sync": lambda lane: cuda.match_any_sync(FULL, lane),
    "match_all_sync": lambda lane: cuda.match_all_sync(FULL, lane),
    "shfl_sync": lambda lane: cuda.shfl_sync(FULL, lane, 0),
    "shfl_up_sync": lambda lane: cuda.shfl_up_sync(FULL, lane, 1),
    "shfl_down_sync": lambda lane: cuda.shfl_down_sync(FULL, lane, 1),
    "shfl_xor_sync": lambda lane: cuda.shfl_xor_sync(FULL, lane, 1),
}
for name, word in COLLECTIVES.items():
    function = swapped_after(word)
    function.__name__ = f"takes_{name}_for_a_fence"
    finds("race", 1, 32, vectors(32))(function)


# barriers and deadlocks


@finds("barrier_divergence", 2, 8, vectors(32))
def one_thread_of_a_block_comes_to_the_grid_barrier(x, y):
    if cuda.threadIdx.x == 0:
        cuda.cg.this_grid().sync()
    y[cuda.grid(1)] = x[cuda.grid(1)]


@finds("deadlock", 3, 4, lambda: (np.zeros(3, "int32"), 3))
def waits_for_an_equal_flag(flags, steps):
    for t in range(steps):
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) != t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


@finds("deadlock", 2, 4, counters(1), says=("1", "1", "2", "thread 0 of block 1", "flag[0]"))
def waits_for_a_flag_that_nobody_sets(flag):
    if cuda.blockIdx.x == 1 and cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.syncthreads()  # here


@finds("deadlock", 1, 32, counters(32), says=("0", "0", "15", "shfl_sync"))
def half_a_warp_shuffles_with_all(out):
    if cuda.laneid < 16:
        out[cuda.laneid] = cuda.shfl_sync(FULL, cuda.laneid, 0)
    cuda.syncthreads()


@finds("deadlock", 1, 2, counters(1), says=("cuda.atomic.add",))
def waits_by_plain_loads(flag):
    if cuda.threadIdx.x == 0:
        while flag[0] == 0:  # here
            pass
    else:
        flag[0] = 1


# warps


@finds("undefined_lane", 1, 32, vectors(32))
def shuffles_from_a_lane_outside_its_mask(x, y):
    if cuda.laneid < 8:
        y[cuda.laneid] = cuda.shfl_sync(0xFF, x[cuda.laneid], 20)


@finds("undefined_lane", 1, 32, vectors(32))
def calls_with_a_mask_that_does_not_name_the_lane(x, y):
    y[cuda.laneid] = cuda.shfl_sync(0xFFFF, x[cuda.laneid], 0)


# memory


@finds("out_of_bounds", 1, 16, vectors(16))
def goes_before_the_first_element(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1) - 20]


@finds("uninitialised", 1, 4, threes, says=("thread 0", "level"))
def stores_a_name_without_a_value(x, out):
    i = cuda.grid(1)
    if x[i] > 1:
        level = x[i]
    elif x[i] > 0:
        level = 0.5
    out[i] = level + 1  # here


@finds("uninitialised", 1, 4, threes, says=("thread 0", "best"))
def compares_a_name_without_a_value(x, out):
    i = cuda.grid(1)
    while x[i] > 2:
        best = x[i]
        break
    if best == 3:  # here
        out[i] = 1


@finds("uninitialised", 1, 4, threes, says=("thread 0", "total"))
def adds_to_a_name_without_a_value(x, out):
    i = cuda.grid(1)
    if i:
        total = x[i]
    total += 1
    out[i] = total  # here


INNER = slice(1, 3)


@finds("uninitialised", 1, 1, lambda: (np.ones(1), np.zeros(1)))
def reads_what_nobody_wrote_into_a_part(x, out):
    grid = cuda.local.array((4, 4), np.float64)
    middle = grid[INNER, INNER]
    middle[0, 0] = x[0]
    out[0] = middle[0, 0] + middle[1, 1]  # here


@finds("uninitialised", 1, 16, vectors(16))
def reads_local_memory_that_nobody_wrote(x, y):
    own = cuda.local.array(2, np.float32)
    own[0] = x[cuda.grid(1)]
    y[cuda.grid(1)] = own[0] + own[1]


def view_from_an_odd_byte():
    return np.zeros(65, np.uint8)[1:].view(np.float32), floats(16)


@finds("misaligned", 1, 16, view_from_an_odd_byte)
def reads_a_view_from_an_odd_byte(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


@finds("limit", 1, 16, vectors(16))
def wants_more_shared_memory_than_there_is(x, y):
    part = cuda.shared.array(20_000, np.float32)
    part[cuda.threadIdx.x] = x[cuda.grid(1)]

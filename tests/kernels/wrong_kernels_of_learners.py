"""Wrong kernels as learners of lessons 09 to 16 write them: the kind of the finding, and words of its remedy.

Written before the simulator was read.  docs/simulator.md lists what is not seen.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from kernel_cases import table_of
from numba import float32, int32, uint32
from right_kernels_of_learners import f, ints, rnn_args, z

from pocketgpu import cuda

ATOMIC, BLOCKS, END = "or use an atomic", "grid barrier", "a thread beyond the end"
LAST, SIZE = "the last index there is", "make it larger or its index smaller"
ORDER = "the order of the indices"


class Case(NamedTuple):
    """One launch of one kernel; its finding has this kind ("refused": an exception) and these words."""

    kernel: Callable
    kind: str
    message: str
    grid: object
    block: object
    arguments: Callable
    shared: int = 0


CASES, wrong = table_of(Case)


TPB = 64
TABLE = np.arange(8, dtype=np.float32)

# ---- bounds


@wrong("out_of_bounds", END, 4, 32, lambda: (f(100), z(100)))
def map_forgot_guard(inp, out):
    tid = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    out[tid] = inp[tid] * inp[tid]


@wrong("out_of_bounds", END, 2, 64, lambda: (f(100), z(100)))
def guard_one_too_far(inp, out):
    tid = cuda.grid(1)
    if tid <= inp.shape[0]:
        out[tid] = math.tanh(inp[tid])


@wrong("out_of_bounds", LAST, 1, 64, lambda: (f(64), z(64)))
def stencil_reads_past_right_end(u, v):
    i = cuda.grid(1)
    if i < u.size:
        v[i] = u[i + 1] - u[i]


@wrong("out_of_bounds", END, (3, 2), (8, 8), lambda: (f(10, 20), z(20, 10)))
def transpose_guarded_the_wrong_way(a, at):
    c, r = cuda.grid(2)
    if r < a.shape[1] and c < a.shape[0]:
        at[c, r] = a[r, c]


@wrong("out_of_bounds", ORDER, 1, (8, 4), lambda: (f(4, 3), f(8, 3), z(4, 8)))
def product_reads_the_weights_transposed(x, weights, y):
    column, row = cuda.grid(2)
    if row < y.shape[0] and column < y.shape[1]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[row, k] * weights[k, column]
        y[row, column] = total


@wrong("out_of_bounds", SIZE, 2, (32, 4), lambda: (f(8, 32), z(32, 8)))
def tile_of_wrong_shape(a, at):
    tile = cuda.shared.array((32, 4), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 4 + y
    tile[y, x] = a[row, x]
    cuda.syncthreads()
    at[x, row] = tile[y, x]


@wrong("out_of_bounds", SIZE, 4, 8, lambda: (f(32), z(32)))
def halo_without_room(x, y):
    s = cuda.shared.array(shape=(8,), dtype=np.float32)
    g = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t + 1] = x[g]
    if t == 0:
        s[0] = x[g - 1] if g > 0 else np.float32(0)
    cuda.syncthreads()
    y[g] = s[t] + s[t + 1]


@wrong("out_of_bounds", SIZE, 1, 32, lambda: (f(32, 4), z(32)))
def local_array_one_short(rows, best):
    own = cuda.local.array(3, float32)
    i = cuda.grid(1)
    for k in range(rows.shape[1]):
        own[k] = rows[i, k]
    best[i] = max(own[0], max(own[1], own[2]))


@wrong("out_of_bounds", LAST, 2, 64, lambda: (np.arange(100, dtype=np.int32), z(10, dtype=np.int32)))
def histogram_bin_at_the_upper_edge(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        b = (values[i] + 9) // 10
        cuda.atomic.add(bins, b, 1)


@wrong("out_of_bounds", LAST, 1, 32, lambda: (f(126), z(126)))
def four_at_a_time_without_rest(src, dst):
    base = cuda.grid(1) * 4
    if base < src.size:
        for k in range(4):
            dst[base + k] = src[base + k]


@wrong("out_of_bounds", SIZE, 2, 32, lambda: (f(64), z(64)), shared=32 * 4)
def dynamic_tile_twice_as_large_as_asked(x, y):
    buf = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    n = cuda.blockDim.x
    buf[t] = x[cuda.grid(1)]
    buf[n + t] = np.float32(2) * x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = buf[t] + buf[n + (t + 1) % n]


@wrong("out_of_bounds", SIZE, 1, 32, lambda: (f(32), z(1)))
def reduction_reads_beyond_its_block(x, total):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 16
    while step > 0:
        v = s[t + step]
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        step //= 2
    if t == 0:
        total[0] = s[0]


# ---- races


@wrong("race", ATOMIC, 2, 128, lambda: (ints(256, 16), z(16, dtype=np.int32)))
def histogram_without_atomics(data, counts):
    i = cuda.grid(1)
    if i < data.size:
        counts[data[i]] += 1


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(64), z(1)))
def tree_without_a_barrier_in_the_loop(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    s = 32
    while s > 0:
        if t < s:
            part[t] += part[t + s]
        s >>= 1
    if t == 0:
        out[0] = part[0]


@wrong("race", "cuda.syncthreads()", 1, 32, lambda: (f(32), z(1)))
def warp_synchronous_tree_of_old(x, out):
    part = cuda.shared.array(32, float32)
    lane = cuda.laneid
    part[lane] = x[lane]
    cuda.syncwarp()
    for s in (16, 8, 4, 2, 1):
        if lane < s:
            part[lane] += part[lane + s]
    if lane == 0:
        out[0] = part[0]


@wrong("race", BLOCKS, 4, 32, lambda: (f(128),))
def reverse_across_blocks_in_place(v):
    i = cuda.grid(1)
    n = v.size
    tmp = v[n - 1 - i]
    v[i] = tmp


@wrong("race", "into another array", 1, 64, lambda: (f(64),))
def smooth_in_place(u):
    i = cuda.grid(1)
    if 1 <= i < u.size - 1:
        u[i] = (u[i - 1] + u[i] + u[i + 1]) * np.float32(1 / 3)


def _gemm_arguments():
    return f(16, 24), f(24, 8), z(16, 8)


@wrong("race", "cuda.syncthreads()", (1, 2), (8, 8), _gemm_arguments)
def gemm_without_the_second_barrier(A, B, C):
    sA = cuda.shared.array((8, 8), float32)
    sB = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0.0)
    for k0 in range(0, A.shape[1], 8):
        sA[ty, tx] = A[row, k0 + tx]
        sB[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        for k in range(8):
            acc += sA[ty, k] * sB[k, tx]
    C[row, col] = acc


@wrong("race", "cuda.syncthreads()", (1, 2), (8, 8), _gemm_arguments)
def gemm_without_the_first_barrier(A, B, C):
    sA = cuda.shared.array((8, 8), float32)
    sB = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0.0)
    for tile in range(A.shape[1] // 8):
        sA[ty, tx] = A[row, tile * 8 + tx]
        sB[ty, tx] = B[tile * 8 + ty, col]
        for k in range(8):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[row, col] = acc


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(64), z(64)))
def scan_with_one_buffer(x, y):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < TPB:
        if t >= d:
            s[t] = s[t] + s[t - d]
        cuda.syncthreads()
        d *= 2
    y[t] = s[t]


@wrong("race", "cuda.syncthreads()", 1, 32, lambda: (f(4, 32), z(32)))
def double_buffer_one_phase_off(x, y):
    ring = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    ring[0, t] = x[0, t]
    cuda.syncthreads()
    total = np.float32(0)
    for step in range(4):
        now = step % 2
        if step + 1 < 4:
            ring[now, t] = x[step + 1, t]  # should be ring[1 - now]
        total += ring[now, 31 - t]
        cuda.syncthreads()
    y[t] = total


@wrong("missing_fence", "cuda.threadfence()", 2, 32, lambda: (f(32), z(32), z(1, dtype=np.int32), z(32)))
def producer_forgets_its_fence(x, box, flag, y):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = x[t] + np.float32(1)
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        y[t] = box[t]


@wrong("missing_fence", "cuda.threadfence()", 2, 1, lambda: (f(1), z(1), z(1, dtype=np.int32), z(1)))
def consumer_forgets_its_fence(x, box, ready, y):
    if cuda.blockIdx.x == 0:
        box[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(ready, 0, 1)
    else:
        while cuda.atomic.cas(ready, 0, 1, 1) != 1:
            pass
        y[0] = box[0]


@wrong(
    "race", "a loop that waits reads with an atomic", 2, 1, lambda: (f(1), z(1), z(1, dtype=np.int32), z(1))
)
def polling_a_plain_flag(x, box, ready, y):
    if cuda.blockIdx.x == 0:
        box[0] = x[0]
        cuda.threadfence()
        ready[0] = 1
    else:
        while ready[0] == 0:
            pass
        cuda.threadfence()
        y[0] = box[0]


@wrong("weak_poll", "cuda.atomic.add(ready, 0, 0)", 2, 1, lambda: (f(1), z(1), z(1, dtype=np.int32), z(1)))
def polling_with_ldcv(x, box, ready, y):
    if cuda.blockIdx.x == 0:
        box[0] = x[0]
        cuda.threadfence()
        cuda.stwt(ready, 0, 1)
    else:
        while cuda.ldcv(ready, 0) == 0:
            pass
        cuda.threadfence()
        y[0] = box[0]


@wrong("missing_fence", "cuda.threadfence()", 4, 32, lambda: (f(128), z(4), z(1, dtype=np.int32), z(1)))
def last_block_adds_up_without_fence(x, partial, ticket, out):
    last = cuda.shared.array(1, int32)
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]
        last[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    if last[0] == cuda.gridDim.x - 1 and t == 0:
        total = float32(0)
        for b in range(cuda.gridDim.x):
            total += partial[b]
        out[0] = total


@wrong("race", "an atomic for both", 2, 64, lambda: (f(128), z(1), z(128)))
def atomics_read_at_once(x, total, share):
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])
    share[i] = x[i] / total[0]


@wrong("race", ATOMIC, 2, 32, lambda: (f(64), np.full(1, np.nan, np.float32)))
def every_block_zeroes_the_sum(x, total):
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[cuda.grid(1)])


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(64), f(1), z(64)))
def broadcast_without_barrier(x, scale, y):
    common = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        common[0] = scale[0]
    y[cuda.threadIdx.x] = x[cuda.threadIdx.x] * common[0]


def _shifted():
    base = f(65)
    return base[:-1], base[1:]


@wrong("race", "share memory", 1, 64, _shifted)
def shift_between_overlapping_views(src, dst):
    i = cuda.grid(1)
    if i < src.size:
        dst[i] = src[i]


@wrong("race", ATOMIC, 2, 32, lambda: (f(64), np.full(1, -np.inf, np.float32), z(1, dtype=np.int32)))
def argmax_by_comparing(x, best, where):
    i = cuda.grid(1)
    if x[i] > best[0]:
        best[0] = x[i]
        where[0] = i


@wrong("race", BLOCKS, 4, 16, lambda: (f(64), z(64), z(64)))
def neighbour_block_without_grid_barrier(x, h, y):
    i = cuda.grid(1)
    h[i] = math.tanh(x[i])
    cuda.syncthreads()
    y[i] = h[(i + 1) % h.size]


@wrong("race", BLOCKS, 2, 8, lambda: (f(5, 16), f(16, 16), z(16)))
def persistent_steps_that_only_sync_blocks(x, W, h):
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(h.size):
            s += W[j, k] * h[k]
        cuda.syncthreads()
        h[j] = math.tanh(s)
        cuda.syncthreads()


@wrong("race", BLOCKS, 2, 8, lambda: (f(5, 16), f(16, 16), z(16)))
def persistent_steps_with_one_barrier_too_few(x, W, h):
    g = cuda.cg.this_grid()
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(h.size):
            s += W[j, k] * h[k]
        h[j] = math.tanh(s)
        g.sync()


@wrong("missing_fence", "cuda.threadfence()", 3, 1, lambda: (z(1, dtype=np.int32), z(1)))
def lock_without_fences(lock, balance):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    balance[0] += 1
    cuda.atomic.exch(lock, 0, 0)


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(64), z(2)))
def warp_totals_read_too_early(x, out):
    totals = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    v = x[t]
    for o in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, o)
    if t % 32 == 0:
        totals[t // 32] = v
    if t == 0:
        out[0] = totals[0] + totals[1]


@wrong("race", "cuda.syncthreads()", 1, 32, lambda: (f(32), z(32)))
def fence_taken_for_a_barrier(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.threadfence_block()
    y[t] = s[31 - t]


@wrong("race", ATOMIC, 1, (8, 4), lambda: (f(4, 8), z(8)))
def column_sums_into_one_cell(m, sums):
    c, r = cuda.grid(2)
    sums[c] = sums[c] + m[r, c]


# ---- barriers and waiting


@wrong("barrier_divergence", "reach", 2, 64, lambda: (f(100), z(100)))
def barrier_inside_the_guard(x, y):
    s = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    if i < x.size:
        s[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()
        y[i] = s[cuda.threadIdx.x ^ 1]


@wrong("barrier_divergence", "reach", 2, 64, lambda: (f(100), z(100)))
def returned_before_the_barrier(x, y):
    s = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    if i >= x.size:
        return
    s[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    y[i] = s[cuda.threadIdx.x]


@wrong("barrier_divergence", "reach", 1, 32, lambda: (ints(32, 5), z(32)))
def barrier_in_a_loop_of_own_length(n, y):
    t = cuda.threadIdx.x
    for _ in range(n[t]):
        y[t] += 1
        cuda.syncthreads()


@wrong("barrier_divergence", "the same barrier", 1, 64, lambda: (f(64), z(64)))
def two_barriers_on_two_branches(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = x[t]
        cuda.syncthreads()
    else:
        s[t] = -x[t]
        cuda.syncthreads()
    y[t] = s[63 - t]


@wrong("barrier_divergence", "every block must reach", 4, 8, lambda: (z(32),))
def grid_barrier_of_block_zero(y):
    g = cuda.cg.this_grid()
    if cuda.blockIdx.x == 0:
        g.sync()
    y[cuda.grid(1)] = 1


@wrong("barrier_divergence", "reach", 4, 8, lambda: (z(20),))
def blocks_leave_before_the_grid_barrier(y):
    i = cuda.grid(1)
    if i >= y.size:
        return
    y[i] = i
    cuda.cg.this_grid().sync()
    y[i] += 1


@wrong("undefined_lane", "let all lanes", 1, 32, lambda: (f(32), z(1)))
def shuffle_within_a_branch(x, out):
    lane = cuda.threadIdx.x
    v = x[lane]
    if lane < 16:
        v += cuda.shfl_down_sync(0xFFFF, v, 16)
    if lane == 0:
        out[0] = v


@wrong("undefined_lane", "let all lanes", 1, 32, lambda: (f(20), z(1)))
def shuffle_after_lanes_returned(x, out):
    lane = cuda.threadIdx.x
    if lane >= x.size:
        return
    v = x[lane]
    for o in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, o)
    if lane == 0:
        out[0] = v


@wrong("undefined_lane", "name all lanes", 1, 32, lambda: (z(32, dtype=np.int32),))
def syncwarp_with_somebody_elses_mask(y):
    lane = cuda.laneid
    cuda.syncwarp(0x0000FFFF)
    y[lane] = lane


@wrong("deadlock", "the device holds 528", 529, 1, lambda: (z(1, dtype=np.int32), z(529)))
def more_blocks_wait_than_fit(arrived, y):
    buf = cuda.shared.array(12288, float32)
    buf[0] = cuda.blockIdx.x
    cuda.atomic.add(arrived, 0, 1)
    while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
        pass
    cuda.threadfence()
    y[cuda.blockIdx.x] = buf[0]


@wrong("deadlock", "a loop may wait only for", 4, 2, lambda: (z(1, dtype=np.int32),))
def barrier_counts_threads_but_waits_for_more(arrived):
    cuda.atomic.add(arrived, 0, 1)
    while cuda.atomic.max(arrived, 0, 0) < cuda.gridsize(1) + 1:
        pass


@wrong("deadlock", "a loop may wait only for", 4, 1, lambda: (z(1, dtype=np.int32), z(4)))
def barrier_that_resets_itself(arrived, y):
    b = cuda.blockIdx.x
    for _ in range(3):
        if cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1:
            cuda.atomic.exch(arrived, 0, 0)
        else:
            while cuda.atomic.add(arrived, 0, 0) != 0:
                pass
        y[b] += 1


@wrong("deadlock", "a loop may wait only for", 1, 32, lambda: (z(1, dtype=np.int32), z(1)))
def flag_of_a_later_launch(flag, y):
    if cuda.grid(1) == 0:
        while cuda.atomic.cas(flag, 0, 1, 0) == 0:
            pass
        y[0] = 1


@wrong("deadlock", "a loop may wait only for", 2, 1, lambda: (z(2, dtype=np.int32), z(2)))
def two_locks_in_opposite_order(locks, y):
    a = cuda.blockIdx.x
    b = 1 - a
    while cuda.atomic.cas(locks, a, 0, 1) != 0:
        pass
    cuda.nanosleep(100)
    while cuda.atomic.cas(locks, b, 0, 1) != 0:
        pass
    cuda.threadfence()
    y[a] = 1
    cuda.threadfence()
    cuda.atomic.exch(locks, b, 0)
    cuda.atomic.exch(locks, a, 0)


@wrong("endless", "the loop never stops", 1, 1, lambda: (f(10), z(1)))
def loop_variable_not_advanced(x, out):
    i = 0
    s = np.float32(0)
    while i < x.size:
        s += x[i]
    out[0] = s


# ---- never written


@wrong("uninitialised", "write it first", 1, 64, lambda: (ints(64, 8), z(8, dtype=np.int32)))
def bins_of_a_block_not_zeroed(v, bins):
    mine = cuda.shared.array(8, int32)
    cuda.atomic.add(mine, v[cuda.threadIdx.x], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 8:
        cuda.atomic.add(bins, cuda.threadIdx.x, mine[cuda.threadIdx.x])


@wrong("uninitialised", "write it first", 1, 32, lambda: (f(32, 4), z(32)))
def local_sums_not_zeroed(x, y):
    i = cuda.grid(1)
    acc = cuda.local.array(2, float32)
    for k in range(4):
        acc[k % 2] += x[i, k]
    y[i] = acc[0] - acc[1]


@wrong("uninitialised", "write it first", 1, 32, lambda: (f(32), cuda.device_array(32, np.float32)))
def device_array_taken_for_zeros(x, acc):
    acc[cuda.grid(1)] += x[cuda.grid(1)]


@wrong("uninitialised", "write it first", 4, 8, lambda: (f(32), z(32)))
def outermost_halo_left_empty(x, y):
    s = cuda.shared.array(10, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    s[t + 1] = x[i]
    if t == 0 and i > 0:
        s[0] = x[i - 1]
    if t == 7 and i + 1 < x.size:
        s[9] = x[i + 1]
    cuda.syncthreads()
    y[i] = s[t] + s[t + 1] + s[t + 2]


@wrong("uninitialised", "write it first", (2, 2), (8, 8), lambda: (f(12, 12), f(12, 12), z(12, 12)))
def gemm_edges_not_filled(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    n = a.shape[0]
    s = np.float32(0)
    for k0 in range(0, n, 8):
        if row < n and k0 + x < n:
            ta[y, x] = a[row, k0 + x]
        if k0 + y < n and col < n:
            tb[y, x] = b[k0 + y, col]
        cuda.syncthreads()
        for k in range(8):
            s += ta[y, k] * tb[k, x]
        cuda.syncthreads()
    if row < n and col < n:
        c[row, col] = s


@wrong(
    "misaligned",
    "begin the view",
    1,
    8,
    lambda: (np.frombuffer(bytearray(34), np.uint8)[2:].view(np.float32), z(8)),
)
def floats_of_a_packed_record(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)] + np.float32(1)


# ---- compiler


@wrong("does_not_compile", "use a tuple", 1, 32, lambda: (f(32), z(32)))
def a_list_of_neighbours(x, y):
    i = cuda.grid(1)
    near = []
    for d in (-1, 0, 1):
        if 0 <= i + d < x.size:
            near.append(x[i + d])
    y[i] = sum(near) / len(near)


@wrong("does_not_compile", "cuda.local.array", 1, 32, lambda: (f(32), z(32)))
def temporary_from_numpy(x, y):
    i = cuda.grid(1)
    t = np.zeros(4, np.float32)
    t[0] = x[i]
    y[i] = t[0]


@wrong("does_not_compile", "store it in an array", 1, 32, lambda: (f(32),))
def kernel_that_returns_its_sum(x):
    s = float32(0)
    for k in range(x.size):
        s += x[k]
    return s


@wrong("does_not_compile", "its size must be a number", 1, 32, lambda: (f(32), z(32)))
def shared_size_from_the_array(x, y):
    s = cuda.shared.array(x.size, float32)
    s[cuda.grid(1)] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[31 - cuda.grid(1)]


@wrong("does_not_compile", "its size must be a number", 1, 32, lambda: (f(32), z(32)))
def local_size_from_block_dim(x, y):
    own = cuda.local.array(cuda.blockDim.x, float32)
    own[0] = x[cuda.grid(1)]
    y[cuda.grid(1)] = own[0]


@wrong("does_not_compile", "define it above", 1, 32, lambda: (f(32), z(32)))
def name_that_nobody_defined(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * gainn  # noqa: F821


@wrong("does_not_compile", "arithmetic", 1, 32, lambda: (f(32), z(32)))
def text_in_a_kernel(x, y):
    i = cuda.grid(1)
    label = f"thread {i}"
    y[i] = len(label)


@wrong("does_not_compile", "pass the array", 1, 8, lambda: (z(8),))
def global_table_changed(y):
    i = cuda.grid(1)
    TABLE[i] = i
    y[i] = TABLE[i]


@wrong("whole_array", "write a loop", 1, 8, lambda: (f(8, 8), z(8)))
def row_sum_by_method(m, y):
    i = cuda.grid(1)
    y[i] = m[i].sum()


@wrong("does_not_compile", "single elements", 1, 8, lambda: (f(8, 8), f(8), z(8)))
def product_by_at_sign(m, v, y):
    i = cuda.grid(1)
    if i == 0:
        y[:] = m @ v


@wrong("does_not_compile", "look before the access", 1, 8, lambda: (f(8), z(8)))
def try_and_except(x, y):
    i = cuda.grid(1)
    try:
        y[i] = x[i + 1]
    except IndexError:
        y[i] = 0


@wrong("does_not_compile", "atomics take int32", 1, 8, lambda: (f(8), z(8, dtype=np.int8)))
def atomic_on_a_byte(x, small):
    if x[cuda.grid(1)] > 0:
        cuda.atomic.add(small, 0, 1)


@wrong("does_not_compile", "keeps one type", 1, 8, lambda: (f(8), z(8)))
def variable_of_two_types(x, y):
    i = cuda.grid(1)
    if i == 0:
        v = x
    else:
        v = x[i]
    y[i] = 1 if i == 0 else v


@wrong("does_not_compile", "spelling", 1, 8, lambda: (f(8), z(8)))
def misspelt_word(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.syncthread()


# ---- limits


@wrong("refused", "must be 1 to 1024", 1, 2048, lambda: (z(2048),))
def two_thousand_threads(y):
    y[cuda.grid(1)] = 1


@wrong("refused", "must be 1 to 64", 1, (4, 2, 128), lambda: (z(1024),))
def block_too_deep(y):
    y[cuda.threadIdx.x] = 1


@wrong("refused", "must be 1 to", 0, 32, lambda: (z(8),))
def grid_of_nothing(y):
    y[0] = 1


@wrong("refused", "must be 1 to 65535", (1, 70000), 1, lambda: (z(8),))
def grid_too_high(y):
    y[0] = 1


@wrong("limit", "49152", 1, 32, lambda: (f(32), z(32)))
def static_tile_over_48_kb(x, y):
    t = cuda.shared.array((128, 128), float32)
    i = cuda.threadIdx.x
    t[i, 0] = x[i]
    cuda.syncthreads()
    y[i] = t[31 - i, 0]


@wrong("refused", "at most 49152", 1, 32, lambda: (f(32), z(32)), shared=300 * 1024)
def dynamic_tile_over_the_chip(x, y):
    t = cuda.shared.array(0, float32)
    t[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    y[cuda.threadIdx.x] = t[cuda.threadIdx.x]


@wrong("refused", "missing 1 required", 1, 32, lambda: (f(32),))
def one_argument_short(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


@wrong("refused", "ascontiguousarray", 1, 8, lambda: (f(16)[::2], z(8)))
def host_view_with_gaps(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


# ---- numbers


@wrong("float64", "np.float32(", 1, 32, lambda: (f(32), z(32)))
def constant_of_64_bits(x, y):
    i = cuda.grid(1)
    y[i] = 0.5 * x[i] + 1.0


@wrong("float64", "np.float32(", 1, 32, lambda: (f(32), z(32)))
def accumulator_of_64_bits(x, y):
    acc = 0.0
    for k in range(x.size):
        acc += x[k]
    y[cuda.grid(1)] = acc


@wrong("out_of_bounds", "signed numbers", 1, 8, lambda: (f(8), z(8)))
def unsigned_index_below_zero(x, y):
    i = uint32(cuda.grid(1))
    y[i] = x[i - uint32(1)]


@wrong("missing_fence", "cuda.threadfence()", 2, 4, lambda: (z(8), z(1, dtype=np.int32), z(8)))
def block_fence_where_the_grid_needs_one(a, arrived, y):
    i = cuda.grid(1)
    a[i] = i
    cuda.threadfence_block()
    cuda.atomic.add(arrived, 0, 1)
    while cuda.atomic.add(arrived, 0, 0) < 8:
        pass
    cuda.threadfence()
    y[i] = a[7 - i]


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(3, 64), z(3)))
def broadcast_buffer_reused_at_once(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(3):
        s[t] = x[k, t]
        cuda.syncthreads()
        if t == 0:
            total = float32(0)
            for j in range(64):
                total += s[j]
            out[k] = total


@wrong("race", "cuda.syncthreads()", 1, 64, lambda: (f(4, 64), z(4, 64)))
def loop_carried_maximum_without_second_barrier(x, y):
    top = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        if t == 0:
            m = x[k, 0]
            for j in range(1, 64):
                m = max(m, x[k, j])
            top[0] = m
        cuda.syncthreads()
        y[k, t] = x[k, t] - top[0]


@wrong("race", BLOCKS, 2, 8, lambda: (*rnn_args(), z(1, dtype=np.int32)))
def counting_barrier_one_step_early(x, W, h, arrived):
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < t * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@wrong("race", BLOCKS, 2, 8, lambda: (*rnn_args(), z(1, dtype=np.int32)))
def counting_barrier_without_block_barrier_before(x, W, h, arrived):
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@wrong("race", BLOCKS, 2, 8, lambda: (*rnn_args(), z(1, dtype=np.int32)))
def counting_barrier_without_block_barrier_after(x, W, h, arrived):
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()


@wrong("race", BLOCKS, 2, 8, lambda: (f(5, 16), f(16, 16), z(2, 16)))
def two_state_buffers_wrong_phase(x, W, h):
    g = cuda.cg.this_grid()
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        now, after = t % 2, (t + 2) % 2
        s = x[t, j]
        for k in range(16):
            s += W[j, k] * h[now, k]
        h[after, j] = math.tanh(s)
        g.sync()


@wrong("race", BLOCKS, 2, 4, lambda: (z(8), z(8)))
def flag_polled_in_shared_of_other_block(a, y):
    flag = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        flag[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    a[i] = i
    cuda.threadfence()
    cuda.atomic.add(flag, 0, 1)
    while cuda.atomic.add(flag, 0, 0) < 4:
        pass
    cuda.threadfence()
    y[i] = a[(i + 4) % 8]


@wrong("race", "cuda.syncthreads()", 1, 32, lambda: (f(32), z(32)))
def blelloch_without_barrier_between_levels(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 32:
        k = (t + 1) * d * 2 - 1
        if k < 32:
            s[k] += s[k - d]
        d *= 2
    cuda.syncthreads()
    y[t] = s[t]


@wrong("race", "cuda.syncthreads()", 1, 16, lambda: (f(32),))
def odd_even_sort_without_barrier(v):
    t = cuda.threadIdx.x
    for k in range(32):
        i = 2 * t + k % 2
        if i + 1 < 32 and v[i] > v[i + 1]:
            v[i], v[i + 1] = v[i + 1], v[i]


@wrong("race", "into another array", (1, 1), (8, 8), lambda: (f(8, 8),))
def transpose_in_place_without_half(m):
    c, r = cuda.grid(2)
    m[r, c] = m[c, r]


@wrong("race", "only one of them", (1, 1), (8, 8), lambda: (f(8, 8),))
def transpose_in_place_swapped_twice(m):
    c, r = cuda.grid(2)
    m[r, c], m[c, r] = m[c, r], m[r, c]


@wrong("race", ATOMIC, 2, 32, lambda: (f(64), z(64), z(1, dtype=np.int32)))
def ticket_by_plain_counter(x, y, n):
    i = cuda.grid(1)
    if x[i] > 0:
        place = n[0]
        n[0] += 1
        y[place] = x[i]


@wrong("deadlock", "a loop may wait only for", 2, 1, lambda: (z(2, dtype=np.int32), z(2)))
def each_waits_for_the_other_first(flags, y):
    b = cuda.blockIdx.x
    while cuda.atomic.add(flags, 1 - b, 0) == 0:
        pass
    y[b] = 1
    cuda.threadfence()
    cuda.atomic.exch(flags, b, 1)


@wrong("deadlock", "a loop may wait only for", 1, 32, lambda: (f(32), z(1, dtype=np.int32), z(32)))
def syncthreads_and_spin_in_one_block(x, flag, y):
    t = cuda.threadIdx.x
    if t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.syncthreads()
    if t == 1:
        cuda.atomic.exch(flag, 0, 1)
    y[t] = x[t]


@wrong("barrier_divergence", "reach", 1, 48, lambda: (f(48), z(2)))
def barrier_of_the_first_warp_only(x, out):
    s = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    v = x[t]
    for o in (8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, o)
    if t < 32:
        s[0] = 0
        cuda.syncthreads()
    out[t // 32] = v


@wrong("undefined_lane", "let all lanes", 1, 24, lambda: (f(24), z(24)))
def rotate_beyond_a_short_warp(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], (t + 1) % 32)


@wrong("deadlock", "all lanes of a mask", 1, 32, lambda: (f(32), z(32)))
def shuffles_on_two_branches_with_full_mask(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)
    else:
        cuda.syncwarp()
        y[t] = x[t]


@wrong("uninitialised", "write it first", 1, 64, lambda: (f(50), z(1)))
def tree_over_rest_not_filled(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    cuda.syncthreads()
    k = 32
    while k:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[0] = s[0]


@wrong("out_of_bounds", SIZE, 1, 48, lambda: (f(48), z(1)))
def tree_with_block_no_power_of_two(x, out):
    s = cuda.shared.array(48, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 32
    while k:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[0] = s[0]


@wrong("out_of_bounds", "// in place of /", 1, 8, lambda: (f(8, 8), z(8)))
def index_with_division(m, y):
    i = cuda.grid(1)
    y[i] = m[i, (m.shape[1] - 1) / 2]


@wrong("whole_array", "an index for every dimension", 1, 8, lambda: (f(8, 8), z(8)))
def two_dimensional_as_flat(m, y):
    i = cuda.grid(1)
    y[i] = m[i * 8]


@wrong("does_not_compile", "use a tuple", 1, 8, lambda: (f(8), z(8)))
def dictionary_of_gates(x, y):
    gates = {"r": 0, "z": 1}
    y[cuda.grid(1)] = x[gates["r"]]


class Layer:
    gain = np.float32(2)


LAYER = Layer()


@wrong("does_not_compile", "pass the rest", 1, 8, lambda: (f(8), z(8)))
def object_from_outside(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)] * LAYER.gain


@wrong("does_not_compile", "write a loop", 1, 8, lambda: (f(8), z(8)))
def slice_sum(x, y):
    i = cuda.grid(1)
    y[i] = np.sum(x[:i])


@wrong("does_not_compile", "pass an array", 1, 8, lambda: (f(8), [0.0] * 8))
def list_as_argument(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


@wrong("race", ATOMIC, 2, 32, lambda: (f(64), z(1)))
def maximum_by_comparing_first(x, best):
    i = cuda.grid(1)
    if x[i] > best[0]:
        best[0] = x[i]


@wrong("race", "only one of them", 2, 4, lambda: (f(8), z(9)))
def block_owns_one_too_many(x, y):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        for k in range(b * 4, b * 4 + 5):
            y[k] = x[min(k, 7)]


@wrong("race", "only one of them", 2, 4, lambda: (z(8),))
def stride_of_the_wrong_length(y):
    i = cuda.grid(1)
    while i < y.size:
        y[i] = i
        i += cuda.blockDim.x


@wrong("race", "only one of them", 2, 32, lambda: (ints(64, 50), z(1, dtype=np.int32)))
def many_write_the_same_value(x, seen):
    i = cuda.grid(1)
    if x[i] >= 0:
        seen[0] = 1

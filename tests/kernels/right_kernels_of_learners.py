"""Right kernels as learners of lessons 09 to 16 write them, and what NumPy makes of their arguments.

Written before the simulator was read; the numba.cuda dialect in as many styles as there are people.
"""

import math
from collections.abc import Callable
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from kernel_cases import table_of
from numba import float32, int32, types, uint32

from pocketgpu import cuda


class Case(NamedTuple):
    """One launch of one kernel; expected: (place of the result among the arguments, NumPy's function)."""

    kernel: Callable
    grid: object
    block: object
    arguments: Callable
    expected: tuple[int, Callable]
    shared: int = 0


CASES, right = table_of(Case)


def f(*shape):
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def z(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def ints(n, top):
    return np.random.default_rng(4).integers(0, top, n).astype(np.int32)


@right(4, 32, lambda: (f(100), z(100)), (1, lambda x, y: x * x))
def square_with_while_stride(inp, out):
    pos = cuda.grid(1)
    while pos < inp.size:
        out[pos] = inp[pos] ** 2
        pos += cuda.gridsize(1)


@right(1, 32, lambda: (f(100), z(100)), (1, lambda x, y: np.abs(x)))
def grid_stride_by_range(a, b):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        b[i] = -a[i] if a[i] < 0 else a[i]


@right((3, 2), (8, 8), lambda: (f(10, 20), z(20, 10)), (1, lambda a, t: a.T))
def transpose_by_hand_indices(src, dst):
    r = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    c = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if r >= src.shape[0] or c >= src.shape[1]:
        return
    dst[c, r] = src[r, c]


@right((2, 2), (16, 16), lambda: (f(20, 24), z(24, 20)), (1, lambda a, t: a.T))
def padded_tile_transpose(a, at):
    tile = cuda.shared.array((16, 17), dtype=float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x = cuda.blockIdx.x * 16 + tx
    y = cuda.blockIdx.y * 16 + ty
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 16 + tx, cuda.blockIdx.x * 16 + ty
    if y < at.shape[0] and x < at.shape[1]:
        at[y, x] = tile[tx, ty]


def smooth(x):
    p = np.pad(x, 1)
    return (p[:-2] + p[1:-1] + p[2:]).astype(np.float32)


@right(4, 8, lambda: (f(30), z(30)), (1, lambda x, y: smooth(x)))
def stencil_with_zero_halo(x, y):
    buf = cuda.shared.array(10, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = len(x)
    buf[t + 1] = x[i] if i < n else float32(0)
    if t < 2:  # two threads bring the ends
        j = cuda.blockIdx.x * 8 + t * 9 - 1
        buf[t * 9] = x[j] if 0 <= j < n else float32(0)
    cuda.syncthreads()
    if i < n:
        y[i] = buf[t] + buf[t + 1] + buf[t + 2]


@right(2, 32, lambda: (f(64), z(64)), (1, lambda x, y: x + np.roll(x, 1)))
def periodic_stencil_by_remainder(u, v):
    i = cuda.grid(1)
    n = u.size
    v[i] = u[i] + u[(i - 1 + n) % n]


@right(1, 64, lambda: (f(64), z(1)), (1, lambda x, y: x.sum(keepdims=True)))
def tree_reduction(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s:
        if t < s:
            part[t] += part[t + s]
        cuda.syncthreads()
        s //= 2
    if not t:
        out[0] = part[0]


@right(3, 64, lambda: (f(150), z(1)), (1, lambda x, y: x.sum(keepdims=True)))
def warp_shuffle_then_shared_then_atomic(x, out):
    sums = cuda.shared.array(2, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    v = x[i] if i < x.size else float32(0)
    off = 16
    while off > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, off)
        off >>= 1
    if cuda.laneid == 0:
        sums[t >> 5] = v
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, sums[0] + sums[1])


@right(1, 32, lambda: (f(32), z(32)), (1, lambda x, y: np.cumsum(x, dtype=np.float64)))
def scan_by_shuffles_up(x, y):
    lane = cuda.threadIdx.x
    v = x[lane]
    for d in (1, 2, 4, 8, 16):
        w = cuda.shfl_up_sync(-1, v, d)
        if lane >= d:
            v = v + w
    y[lane] = v


@right(1, 64, lambda: (f(64), z(64)), (1, lambda x, y: np.cumsum(x, dtype=np.float64)))
def scan_with_two_buffers(x, y):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    src = 0
    s[src, t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        dst = 1 - src
        s[dst, t] = s[src, t] + s[src, t - d] if t >= d else s[src, t]
        src = dst
        cuda.syncthreads()
        d <<= 1
    y[t] = s[src, t]


@right(1, 64, lambda: (f(64), z(64)), (1, lambda x, y: np.cumsum(x, dtype=np.float64)))
def scan_in_place_two_barriers(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for k in range(6):
        add = float32(0)
        if t >= 1 << k:
            add = s[t - (1 << k)]
        cuda.syncthreads()
        s[t] += add
        cuda.syncthreads()
    y[t] = s[t]


@right(2, 128, lambda: (ints(256, 16), z(16, dtype=np.int32)), (1, lambda d, c: np.bincount(d, minlength=16)))
def histogram_straight(data, counts):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(counts, data[i], 1)


@right(2, 64, lambda: (ints(200, 16), z(16, dtype=np.int32)), (1, lambda d, c: np.bincount(d, minlength=16)))
def histogram_per_block(data, counts):
    mine = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    for b in range(t, 16, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, data[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, mine[t])


def gemm_args():
    return f(12, 20), f(20, 9), z(12, 9)


@right((2, 2), (8, 8), gemm_args, (2, lambda a, b, c: a @ b))
def gemm_tiled_with_edges(A, B, C):
    sA = cuda.shared.array((8, 8), float32)
    sB = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    m, kk = A.shape
    n = B.shape[1]
    acc = float32(0)
    for k0 in range(0, kk, 8):
        sA[ty, tx] = A[row, k0 + tx] if row < m and k0 + tx < kk else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if k0 + ty < kk and col < n else float32(0)
        cuda.syncthreads()
        for k in range(8):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < m and col < n:
        C[row, col] = acc


@right((1, 2), (8, 8), lambda: (f(16, 24), f(24, 8), z(16, 8)), (2, lambda a, b, c: a @ b))
def gemm_double_buffered(A, B, C):
    sA = cuda.shared.array((2, 8, 8), float32)
    sB = cuda.shared.array((2, 8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    tiles = A.shape[1] // 8
    sA[0, ty, tx] = A[row, tx]
    sB[0, ty, tx] = B[ty, col]
    acc = float32(0)
    for t in range(tiles):
        cuda.syncthreads()
        now = t & 1
        if t + 1 < tiles:
            sA[1 - now, ty, tx] = A[row, (t + 1) * 8 + tx]
            sB[1 - now, ty, tx] = B[(t + 1) * 8 + ty, col]
        for k in range(8):
            acc += sA[now, ty, k] * sB[now, k, tx]
    C[row, col] = acc


@right(2, (8, 4), lambda: (f(8, 8), f(8, 8), z(8, 8)), (2, lambda a, b, c: a @ b))
def gemm_two_results_a_thread_in_registers(a, b, c):
    own = cuda.local.array(2, float32)
    j, i = cuda.threadIdx.x, cuda.blockIdx.x * 4 + cuda.threadIdx.y
    own[0] = own[1] = 0
    for k in range(0, 8, 2):
        own[0] += a[i, k] * b[k, j]
        own[1] += a[i, k + 1] * b[k + 1, j]
    c[i, j] = own[0] + own[1]


def rnn_args(T=5, H=16):
    return f(T, H) * np.float32(0.5), (f(H, H) * np.float32(0.2)), z(T + 1, H)


def rnn(x, W, h):
    h = h.astype(float).copy()
    for t in range(len(x)):
        h[t + 1] = np.tanh(x[t] + W @ h[t])
    return h


@right(2, 8, rnn_args, (2, rnn))
def persistent_rnn_with_grid_sync(x, W, h):
    grid = cuda.cg.this_grid()
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        grid.sync()


def final_state(x, W, h):
    return rnn(x, W, np.zeros((len(x) + 1, len(W))))[-1]


@right(2, 8, lambda: (*rnn_args()[:2], z(16)), (2, final_state))
def persistent_rnn_in_place_two_grid_syncs(x, W, h):
    g = cuda.cg.this_grid()
    j = cuda.grid(1)
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(h.size):
            s += W[j, k] * h[k]
        g.sync()
        h[j] = math.tanh(s)
        g.sync()


@right(2, 8, lambda: (*rnn_args(), z(1, dtype=np.int32)), (2, lambda x, W, h, c: rnn(x, W, h)))
def persistent_rnn_with_counting_barrier(x, W, h, arrived):
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
            while cuda.atomic.add(arrived, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@right(2, 8, lambda: (*rnn_args(), z(2, dtype=np.int32)), (2, lambda x, W, h, c: rnn(x, W, h)))
def persistent_rnn_with_a_flag_per_block(x, W, h, steps):
    j, t0, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        cuda.threadfence()
        cuda.syncthreads()
        if t0 == 0:
            cuda.atomic.exch(steps, b, t + 1)
        if t0 < cuda.gridDim.x:
            while cuda.atomic.max(steps, t0, 0) < t + 1:
                cuda.nanosleep(50)
            cuda.threadfence()
        cuda.syncthreads()


@right(4, 2, lambda: (z(2, dtype=np.int32), z(4), z(4)), (2, lambda c, a, y: np.full(4, 3)))
def sense_reversing_barrier(bar, a, y):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for step in range(3):
        if t == 0:
            a[b] = step + 1
            cuda.threadfence()
            sense = cuda.atomic.add(bar, 1, 0)
            if cuda.atomic.add(bar, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(bar, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(bar, 1, 1)
            else:
                while cuda.atomic.add(bar, 1, 0) == sense:
                    pass
            cuda.threadfence()
            y[b] = a[(b + 1) % 4]
            # a second barrier before a is overwritten
            sense = cuda.atomic.add(bar, 1, 0)
            cuda.threadfence()
            if cuda.atomic.add(bar, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(bar, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(bar, 1, 1)
            else:
                while cuda.atomic.add(bar, 1, 0) == sense:
                    pass
            cuda.threadfence()


@right(2, 32, lambda: (f(32), z(32), z(1, dtype=np.int32), z(32)), (3, lambda x, b, g, y: x + 1))
def producer_consumer_whole_block(x, box, flag, y):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = x[t] + np.float32(1)
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.cas(flag, 0, 1, 1) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        y[t] = box[t]


@right(2, 1, lambda: (f(6), z(2), z(2, dtype=np.int32), z(6)), (3, lambda x, b, c, y: 2 * x))
def ring_of_two_slots(x, ring, counts, y):
    if cuda.blockIdx.x == 0:
        for k in range(x.size):
            while k - cuda.atomic.add(counts, 1, 0) >= 2:
                pass
            cuda.threadfence()
            ring[k % 2] = x[k]
            cuda.threadfence()
            cuda.atomic.add(counts, 0, 1)
    else:
        for k in range(x.size):
            while cuda.atomic.add(counts, 0, 0) <= k:
                pass
            cuda.threadfence()
            y[k] = float32(2) * ring[k % 2]
            cuda.threadfence()
            cuda.atomic.add(counts, 1, 1)


@right(
    4, 32, lambda: (f(128), z(4), z(1, dtype=np.int32), z(1)), (3, lambda x, p, t, o: x.sum(keepdims=True))
)
def last_block_done_right(x, partial, ticket, out):
    last = cuda.shared.array(1, int32)
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(32):
            total += s[k]
        partial[cuda.blockIdx.x] = total
        cuda.threadfence()
        last[0] = cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        cuda.threadfence()
        total = float32(0)
        for b in range(cuda.gridDim.x):
            total += partial[b]
        out[0] = total


@right(3, 1, lambda: (z(1, dtype=np.int32), z(1)), (1, lambda l, b: np.array([3])))
def lock_done_right(lock, balance):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    balance[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@right(2, 16, lambda: (z(1, dtype=np.int32), z(1)), (1, lambda l, b: np.array([32])))
def lock_by_lanes_with_done_flag(lock, balance):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence()
            balance[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


@right(2, 32, lambda: (f(64), np.full(1, -np.inf, np.float32)), (1, lambda x, m: x.max(keepdims=True)))
def maximum_by_atomic(x, m):
    cuda.atomic.max(m, 0, x[cuda.grid(1)])


@right(1, 64, lambda: (f(50), z(1, dtype=np.int32)), (1, lambda x, w: np.array([x.argmax()])))
def argmax_in_shared(x, where):
    v = cuda.shared.array(64, float32)
    p = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    v[t] = x[t] if t < x.size else -np.inf
    p[t] = t
    cuda.syncthreads()
    s = 32
    while s > 0:
        if t < s and v[t + s] > v[t]:
            v[t], p[t] = v[t + s], p[t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        where[0] = p[0]


@right(1, 64, lambda: (f(64),), (0, lambda x: x[::-1]))
def reverse_in_place_with_registers(v):
    i = cuda.threadIdx.x
    mine = v[v.size - 1 - i]
    cuda.syncthreads()
    v[i] = mine


@right(2, 32, lambda: (f(64),), (0, lambda x: np.where(x > 0, x, np.float32(0))))
def relu_in_place(v):
    i = cuda.grid(1)
    if v[i] < 0:
        v[i] = 0


@right(1, 32, lambda: (f(32),), (0, lambda x: x[::-1]))
def swap_by_half_the_threads(v):
    i = cuda.grid(1)
    if i < v.size // 2:
        v[i], v[-i - 1] = v[-i - 1], v[i]


@right(2, 64, lambda: (f(100), z(100)), (1, lambda x, y: x))
def barrier_with_condition_around_the_work(x, y):
    s = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    if i < x.size:
        s[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    if i < x.size:
        y[i] = s[cuda.threadIdx.x]


@right(2, 64, lambda: (f(100), z(100)), (1, lambda x, y: x))
def return_after_the_last_barrier(x, y):
    i = cuda.grid(1)
    cuda.syncthreads()
    if i >= x.size:
        return
    y[i] = x[i]


@right(2, 32, lambda: (f(3), z(64)), (1, lambda n, y: np.r_[np.ones(32), np.zeros(32)]))
def barrier_in_a_branch_of_whole_blocks(n, y):
    s = cuda.shared.array(1, float32)
    if cuda.blockIdx.x == 0:
        if cuda.threadIdx.x == 0:
            s[0] = 1
        cuda.syncthreads()
        y[cuda.grid(1)] = s[0]


@right(1, 64, lambda: (f(64), z(2)), (1, lambda x, y: x.reshape(2, 32).sum(1)))
def half_warps_reduce_with_xor_width(x, out):
    v = x[cuda.threadIdx.x]
    for m in (1, 2, 4, 8, 16):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, m)
    if cuda.threadIdx.x % 32 == 0:
        out[cuda.threadIdx.x // 32] = v


@right(1, 32, lambda: (f(20), z(1)), (1, lambda x, y: x.sum(keepdims=True)))
def shuffle_with_ballot_mask(x, out):
    i = cuda.threadIdx.x
    mask = cuda.ballot_sync(0xFFFFFFFF, i < x.size)
    if i < x.size:
        v = x[i]
        total = float32(0)
        for k in range(x.size):
            total += cuda.shfl_sync(mask, v, k)
        if i == 0:
            out[0] = total


@right(1, 32, lambda: (f(32), z(1)), (1, lambda x, y: x.sum(keepdims=True)))
def syncwarp_tree(x, out):
    part = cuda.shared.array(32, float32)
    lane = cuda.laneid
    part[lane] = x[lane]
    cuda.syncwarp()
    for s in (16, 8, 4, 2, 1):
        v = part[lane + s] if lane < s else float32(0)
        cuda.syncwarp()
        part[lane] += v
        cuda.syncwarp()
    if lane == 0:
        out[0] = part[0]


@right(1, 64, lambda: (f(64), z(64)), (1, lambda x, y: np.r_[x[31::-1], x[:31:-1]]))
def each_warp_uses_its_own_part(x, y):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    s[w, lane] = x[t]
    cuda.syncwarp()
    y[t] = s[w, 31 - lane]


@right(1, 64, lambda: (ints(64, 2), z(1, dtype=np.int32)), (1, lambda x, y: np.array([x.sum()])))
def count_by_syncthreads_count(x, n):
    c = cuda.syncthreads_count(x[cuda.threadIdx.x])
    if cuda.threadIdx.x == 0:
        n[0] = c


@right(2, 32, lambda: (f(64), z(64)), (1, lambda x, y: np.r_[x[31::-1], x[:31:-1]]), shared=32 * 4)
def dynamic_shared_reverse(x, y):
    buf = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    buf[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = buf[cuda.blockDim.x - 1 - t]


@right(1, 32, lambda: (f(32), z(32)), (1, lambda x, y: x + np.arange(32)), shared=32 * 8)
def dynamic_shared_two_arrays(x, y):
    a = cuda.shared.array(0, float32)[:32]
    b = cuda.shared.array(0, int32)[32:]
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[t] = t
    cuda.syncthreads()
    y[t] = a[t] + np.float32(b[t])


@cuda.jit(device=True)
def sigmoid(v):
    return float32(1) / (float32(1) + exp(-v))


@cuda.jit(device=True, inline=True)
def lerp(a, b, t):
    return a + t * (b - a)


def gru_expected(g, h, y):
    s = lambda v: 1 / (1 + np.exp(-v))
    r, u = s(g[0] + h), s(g[1] + h)
    n = np.tanh(g[2] + r * h)
    return n + u * (h - n)


@right(1, 32, lambda: (f(3, 32), f(32), z(32)), (2, gru_expected))
def gru_point_by_device_functions(gates, h, y):
    i = cuda.grid(1)
    reset = sigmoid(gates[0, i] + h[i])
    update = sigmoid(gates[1, i] + h[i])
    new = math.tanh(gates[2, i] + reset * h[i])
    y[i] = lerp(new, h[i], update)


@right(2, 32, lambda: (np.float32(2.5), f(64), f(64)), (2, lambda a, x, y: a * x + y))
@cuda.jit("void(float32, float32[::1], float32[::1])", fastmath=True)
def saxpy_with_signature(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += a * x[i]


@right(2, 32, lambda: (f(64), z(64)), (1, lambda x, y: np.sqrt(np.abs(x))))
@cuda.jit(types.void(float32[:], float32[:]))
def roots_with_typed_signature(x, y):
    i = cuda.grid(1)
    y[i] = sqrt(abs(x[i]))


COEFFICIENTS = np.array([1, -2, 1], np.float32)


@right(1, 32, lambda: (f(32), z(32)), (1, lambda x, y: np.r_[0, x[:-2] - 2 * x[1:-1] + x[2:], 0]))
def second_difference_from_constant_memory(x, y):
    c = cuda.const.array_like(COEFFICIENTS)
    i = cuda.grid(1)
    if i == 0 or i == x.size - 1:
        y[i] = 0
    else:
        s = float32(0)
        for k in range(3):
            s += c[k] * x[i + k - 1]
        y[i] = s


@right(1, 32, lambda: (f(32).astype(float), np.zeros(32)), (1, lambda x, y: x * 0.5 + 1))
def double_precision_on_purpose(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * 0.5 + 1.0


@right(1, 32, lambda: (f(32), np.zeros(1)), (1, lambda x, y: x.sum(keepdims=True, dtype=float)))
def float32_summed_in_float64_on_purpose(x, y):
    if cuda.grid(1) == 0:
        s = np.float64(0)
        for k in range(x.size):
            s += np.float64(x[k])
        y[0] = s


@right(
    2,
    32,
    lambda: (ints(64, 100), z(64, dtype=np.int32)),
    (1, lambda x, y: (x.astype(np.int64) * 1103515245 + 12345) % 2**31),
)
def random_numbers_in_64_bits(seed, out):
    i = cuda.grid(1)
    out[i] = (seed[i] * 1103515245 + 12345) % 2147483648


@right(
    1,
    32,
    lambda: (np.arange(32, dtype=np.uint32), z(32, dtype=np.uint32)),
    (1, lambda x, y: (x ^ (x << 3)) & 255),
)
def bits_of_unsigned(x, y):
    i = cuda.grid(1)
    y[i] = (x[i] ^ (x[i] << uint32(3))) & uint32(255)


@right(2, (4, 4, 2), lambda: (z(4, 4, 4),), (0, lambda a: np.arange(64).reshape(4, 4, 4)))
def three_dimensional_indices(a):
    t = cuda.threadIdx
    zz = cuda.blockIdx.x * cuda.blockDim.z + t.z
    a[zz, t.y, t.x] = (zz * 4 + t.y) * 4 + t.x


@right(1, 32, lambda: (f(32, 4), z(32)), (1, lambda x, y: np.median(x, axis=1)))
def insertion_sort_in_local_array(x, y):
    own = cuda.local.array(4, dtype=np.float32)
    i = cuda.grid(1)
    for k in range(4):
        v = x[i, k]
        j = k
        while j > 0 and own[j - 1] > v:
            own[j] = own[j - 1]
            j -= 1
        own[j] = v
    y[i] = (own[1] + own[2]) * float32(0.5)


@right(2, 16, lambda: (f(32), z(32)), (1, lambda x, y: x[::-1]))
def fortran_ordered_view(x, y):
    a = x.reshape((8, 4))
    i = cuda.grid(1)
    r, c = divmod(i, 4)
    y[31 - i] = a[r, c]


@right(1, 8, lambda: (np.asfortranarray(f(8, 8)), z(8)), (1, lambda x, y: x.sum(1)))
def rows_of_a_fortran_matrix(m, y):
    i = cuda.grid(1)
    row = m[i]
    s = np.float32(0)
    for k in range(row.size):
        s += row[k]
    y[i] = s


@right(2, 32, lambda: (f(64), z(64)), (1, lambda x, y: x))
def readers_of_the_same_cell(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + x[0] - x[0]


@right(2, 32, lambda: (ints(64, 50), z(1, dtype=np.int32)), (1, lambda x, y: np.array([int((x == 7).any())])))
def flag_by_atomic(x, seen):
    i = cuda.grid(1)
    if x[i] == 7:
        cuda.atomic.max(seen, 0, 1)


@right(2, 32, lambda: (f(64), z(64), z(1, dtype=np.int32)), (2, lambda x, y, n: np.array([(x > 0).sum()])))
def compaction_by_ticket(x, y, n):
    i = cuda.grid(1)
    if x[i] > 0:
        place = cuda.atomic.add(n, 0, 1)
        y[place] = x[i]


@right(1, 32, lambda: (f(8, 32), z(32)), (1, lambda x, y: x.max(0)))
def column_maxima(m, y):
    c = cuda.grid(1)
    if c < m.shape[1]:
        best = m[0, c]
        for r in range(1, m.shape[0]):
            best = max(best, m[r, c])
        y[c] = best


@right(
    2, 32, lambda: (f(4, 64), z(4, 64)), (1, lambda x, y: np.exp(x - x.max(0)) / np.exp(x - x.max(0)).sum(0))
)
def softmax_over_columns(x, y):
    c = cuda.grid(1)
    top = float32(-np.inf)
    for r in range(x.shape[0]):
        top = max(top, x[r, c])
    norm = float32(0)
    for r in range(x.shape[0]):
        e = exp(x[r, c] - top)
        y[r, c] = e
        norm += e
    for r in range(x.shape[0]):
        y[r, c] /= norm


@right(1, 32, lambda: (f(32), cuda.device_array(32, np.float32), z(32)), (2, lambda x, t, y: x[::-1]))
def device_array_written_first(x, tmp, y):
    i = cuda.grid(1)
    tmp[i] = x[i]
    cuda.syncthreads()
    y[i] = tmp[tmp.size - 1 - i]


@right(2, 32, lambda: (f(64), (np.float32(3), 2), z(64)), (2, lambda x, p, y: x * 6))
def tuple_of_parameters(x, parameters, y):
    i = cuda.grid(1)
    factor, times = parameters
    s = float32(0)
    for _ in range(times):
        s += factor * x[i]
    y[i] = s


@right(4, 32, lambda: (f(128), z(4)), (1, lambda x, y: x.reshape(4, 32).sum(1)))
def shared_atomic_sum(x, out):
    acc = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        acc[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(acc, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = acc[0]


@right(3, 2, lambda: (f(6), z(6), z(3, dtype=np.int32)), (1, lambda x, y, s: np.cumsum(x)))
def chained_scan_over_blocks(x, y, state):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        before = float32(0)
        if b > 0:
            while cuda.atomic.add(state, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = y[2 * b - 1]
        y[2 * b] = before + x[2 * b]
        y[2 * b + 1] = y[2 * b] + x[2 * b + 1]
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)


@right(2, 32, lambda: (ints(64, 4), z(1, dtype=np.int32)), (1, lambda x, y: np.array([1])))
def any_by_syncthreads_or(x, seen):
    any_here = cuda.syncthreads_or(1 if x[cuda.grid(1)] == 3 else 0)
    if any_here and cuda.threadIdx.x == 0:
        cuda.atomic.exch(seen, 0, 1)


@right(1, 32, lambda: (f(32),), (0, np.sort))
def bitonic_sort(v):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = v[t]
    cuda.syncthreads()
    k = 2
    while k <= 32:
        j = k >> 1
        while j > 0:
            o = t ^ j
            if o > t:
                up = (t & k) == 0
                if (s[t] > s[o]) == up:
                    s[t], s[o] = s[o], s[t]
            cuda.syncthreads()
            j >>= 1
        k <<= 1
    v[t] = s[t]


@right(1, 16, lambda: (f(32),), (0, np.sort))
def odd_even_sort(v):
    t = cuda.threadIdx.x
    for k in range(32):
        i = 2 * t + k % 2
        if i + 1 < 32 and v[i] > v[i + 1]:
            v[i], v[i + 1] = v[i + 1], v[i]
        cuda.syncthreads()


@right(1, 32, lambda: (f(32), z(32)), (1, lambda x, y: np.cumsum(x, dtype=float) - x))
def blelloch_scan(x, y):
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
    if t == 0:
        s[31] = 0
    cuda.syncthreads()
    while d > 1:
        d //= 2
        k = (t + 1) * d * 2 - 1
        if k < 32:
            left = s[k - d]
            s[k - d] = s[k]
            s[k] += left
        cuda.syncthreads()
    y[t] = s[t]


@right((1, 1), (8, 8), lambda: (f(8, 8),), (0, lambda m: m.T))
def transpose_in_place_by_half(m):
    c, r = cuda.grid(2)
    if c > r:
        m[r, c], m[c, r] = m[c, r], m[r, c]


@right(2, 64, lambda: (f(4, 40), f(40), z(4)), (2, lambda m, v, y: m @ v))
def warp_per_row(m, v, y):
    row = cuda.grid(1) // 32
    lane = cuda.grid(1) % 32
    s = float32(0)
    for k in range(lane, m.shape[1], 32):
        s += m[row, k] * v[k]
    for o in (16, 8, 4, 2, 1):
        s += cuda.shfl_xor_sync(0xFFFFFFFF, s, o)
    if lane == 0:
        y[row] = s


@right(3, 8, lambda: (f(50), z(1, dtype=np.int32), z(50)), (2, lambda x, n, y: 2 * x))
def work_queue_of_blocks(x, head, y):
    job = cuda.shared.array(1, int32)
    while True:
        if cuda.threadIdx.x == 0:
            job[0] = cuda.atomic.add(head, 0, 8)
        cuda.syncthreads()
        first = job[0]
        cuda.syncthreads()
        if first >= x.size:
            break
        i = first + cuda.threadIdx.x
        if i < x.size:
            y[i] = float32(2) * x[i]


@right(
    3,
    4,
    lambda: (f(4, 3), z(5, 4), z(12, dtype=np.int32)),
    (1, lambda x, g, s: np.pad(np.cumsum(np.cumsum(x, 0), 1), ((1, 0), (1, 0)))),
)
def wavefront_over_cells_with_flags(x, g, done):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        for r in range(4):
            if b > 0:
                while cuda.atomic.add(done, r * 3 + b - 1, 0) == 0:
                    pass
                cuda.threadfence()
            g[r + 1, b + 1] = x[r, b] + g[r, b + 1] + g[r + 1, b] - g[r, b]
            cuda.threadfence()
            cuda.atomic.exch(done, r * 3 + b, 1)


@right(2, 16, lambda: (f(32), f(32)), (1, lambda u, v: _heat(u)))
def heat_with_two_arrays(u, v):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    n = u.size
    for step in range(4):
        a, b = (u, v) if step % 2 else (v, u)
        left = b[i - 1] if i > 0 else b[i]
        right_ = b[i + 1] if i + 1 < n else b[i]
        a[i] = (left + b[i] + right_) / float32(3)
        g.sync()
    if cuda.grid(1) >= 0:
        v[i] = u[i]


def _heat(u):
    for _ in range(4):
        p = np.pad(u, 1, mode="edge")
        u = (p[:-2] + p[1:-1] + p[2:]) / 3
    return u


@right(1, 64, lambda: (f(32), z(32)), (1, lambda x, y: x + 1))
def warp_producer_and_warp_consumer(x, y):
    box = cuda.shared.array(32, float32)
    flag = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t < 32:
        box[t] = x[t] + float32(1)
        cuda.syncwarp()
        if t == 0:
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        y[t - 32] = box[t - 32]


@right(2, 1, lambda: (f(1), z(1), z(1, dtype=np.int32), z(1)), (3, lambda x, b, r, y: x))
def polling_what_a_store_sets(x, box, ready, y):
    if cuda.blockIdx.x == 0:
        box[0] = x[0]
        cuda.threadfence()
        cuda.stwt(ready, 0, 1)
    else:
        while cuda.atomic.add(ready, 0, 0) == 0:
            pass
        cuda.threadfence()
        y[0] = box[0]


@right(2, 1, lambda: (f(1), z(1), z(1, dtype=np.int32), z(1)), (3, lambda x, b, r, y: x))
def polling_in_an_endless_loop_with_break(x, box, ready, y):
    if cuda.blockIdx.x == 1:
        box[0] = x[0]
        cuda.threadfence()
        cuda.atomic.add(ready, 0, 1)
    else:
        while True:
            seen = cuda.atomic.add(ready, 0, 0)
            if seen == 1:
                break
            cuda.nanosleep(20)
        cuda.threadfence()
        y[0] = box[0]


@right(1, 40, lambda: (f(40), z(1)), (1, lambda x, y: x.sum(keepdims=True)))
def short_last_warp_with_active_mask(x, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(2, float32)
    v = x[t]
    if t < 32:
        for o in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, o)
    else:
        for o in (4, 2, 1):
            v += cuda.shfl_down_sync(0xFF, v, o)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        out[0] = s[0] + s[1]


@right(2, 32, lambda: (f(64), z(64)), (1, lambda x, y: np.r_[x[:32] - x[:32].max(), x[32:] - x[32:].max()]))
def row_maximum_by_block(x, y):
    top = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    top[t] = x[i]
    k = 16
    while k > 0:
        cuda.syncthreads()
        if t < k:
            top[t] = max(top[t], top[t + k])
        k = k // 2
    cuda.syncthreads()
    y[i] = x[i] - top[0]


@right(1, 32, lambda: (f(34), f(3), z(32)), (2, lambda x, w, y: np.convolve(x, w[::-1], "valid")))
def convolution_with_weights_in_shared(x, w, y):
    taps = cuda.shared.array(3, float32)
    t = cuda.threadIdx.x
    if t < taps.size:
        taps[t] = w[t]
    cuda.syncthreads()
    s = float32(0)
    for k, tap in enumerate(taps):
        s += x[t + k] * tap
    y[t] = s


@right(2, 8, lambda: (*rnn_args(), z(2, 8, dtype=np.int32)), (2, lambda x, W, h, f_: rnn(x, W, h)))
def persistent_rnn_thread_flags(x, W, h, flags):
    j = cuda.grid(1)
    b, t0 = cuda.blockIdx.x, cuda.threadIdx.x
    for t in range(x.shape[0]):
        s = x[t, j]
        for k in range(W.shape[1]):
            s += W[j, k] * h[t, k]
        h[t + 1, j] = math.tanh(s)
        cuda.threadfence()
        cuda.atomic.exch(flags, (b, t0), t + 1)
        for k in range(16):
            while cuda.atomic.add(flags, (k // 8, k % 8), 0) < t + 1:
                pass
        cuda.threadfence()


@right(
    2, 32, lambda: (np.ones(64, np.uint8) * 200, z(64, dtype=np.int32)), (1, lambda x, y: x.astype(int) * 2)
)
def bytes_widened(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + x[i]


@right(2, 32, lambda: (f(64) + 1j, np.zeros(64, np.complex64)), (1, lambda x, y: x * x))
def complex_squares(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * x[i]


@right(1, 32, lambda: (f(32) > 0, z(32, dtype=np.int32)), (1, lambda x, y: np.cumsum(x)))
def rank_by_ballot(x, y):
    lane = cuda.laneid
    votes = cuda.ballot_sync(0xFFFFFFFF, x[lane])
    y[lane] = cuda.popc(votes & ((2 << lane) - 1))


@right(2, 32, lambda: (f(64), z(64), z(64)), (2, lambda x, a, y: x[::-1] * 2))
def two_phases_of_own_block(x, a, y):
    i, b = cuda.grid(1), cuda.blockIdx.x
    a[i] = x[63 - i] * float32(2)
    cuda.syncthreads()
    y[b * 32 + 31 - cuda.threadIdx.x] = a[b * 32 + 31 - cuda.threadIdx.x]


@right(1, 8, lambda: (f(8), z(8)), (1, lambda x, y: np.roll(x, 1)))
def negative_index_means_the_last(x, y):
    i = cuda.grid(1)
    y[i] = x[i - 1]

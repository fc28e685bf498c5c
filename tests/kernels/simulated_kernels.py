"""Correct kernels, which the simulator must not accuse; wrong_kernels.py has them with one mistake each."""

import math

import numpy as np

from pocketgpu import cuda

N = 64  # elements most kernels work on
THREADS = 32
TILE = 8


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def strided_copy(x, y, stride):
    i = cuda.grid(1)
    y[i] = x[i * stride]


@cuda.jit
def shifted_copy(x, y, offset):
    i = cuda.grid(1)
    y[i] = x[i + offset]


@cuda.jit
def naive_transpose(x, y):
    column, row = cuda.grid(2)
    y[column, row] = x[row, column]


@cuda.jit
def tiled_transpose(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    y[column - cuda.threadIdx.x + cuda.threadIdx.y, row - cuda.threadIdx.y + cuda.threadIdx.x] = tile[
        cuda.threadIdx.x, cuda.threadIdx.y
    ]


@cuda.jit
def padded_transpose(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    y[column - cuda.threadIdx.x + cuda.threadIdx.y, row - cuda.threadIdx.y + cuda.threadIdx.x] = tile[
        cuda.threadIdx.x, cuda.threadIdx.y
    ]


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for k in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, k + x]
        tile_b[y, x] = b[k + y, column]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[y, j] * tile_b[j, x]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def block_sum(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def block_sum_by_warp(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncwarp()
    step = THREADS // 2
    while step > 0:
        value = part[i] + part[(i + step) % THREADS]
        cuda.syncwarp()
        part[i] = value
        cuda.syncwarp()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def warp_sum(x, out):
    value = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit
def histogram(x, bins):
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)


@cuda.jit
def neighbours(x, y):
    shared = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    shared[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = shared[(i + 1) % THREADS]


@cuda.jit
def flag_barrier(history, flags, steps):
    i, block = cuda.grid(1), cuda.blockIdx.x
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, block, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


@cuda.jit
def grid_barrier(x):
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    for _ in range(3):
        value = x[(i + 1) % x.size]
        grid.sync()
        x[i] = value
        grid.sync()


@cuda.jit
def ticket_lock(lock, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] = total[0] + 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def sum_of_written(out):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    part[i] = 1
    cuda.syncthreads()
    out[i] = part[THREADS - 1 - i]


@cuda.jit
def double_words(x, y):
    shared = cuda.shared.array(THREADS, np.float64)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    cuda.syncthreads()
    y[i] = math.sqrt(shared[THREADS - 1 - i])


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


CORRECT = {  # name -> kernel, grid, block, arguments
    "saxpy": lambda: (saxpy, 3, THREADS, (np.float32(2), numbers(N), numbers(N))),
    "strided_copy": lambda: (strided_copy, 2, THREADS, (numbers(4 * N), numbers(N), 4)),
    "naive_transpose": lambda: (naive_transpose, (2, 2), (8, 8), (numbers(16, 16), numbers(16, 16))),
    "tiled_transpose": lambda: (tiled_transpose, (2, 2), (32, 32), (numbers(64, 64), numbers(64, 64))),
    "padded_transpose": lambda: (padded_transpose, (2, 2), (32, 32), (numbers(64, 64), numbers(64, 64))),
    "tiled_matmul": lambda: (
        tiled_matmul, (3, 3), (TILE, TILE), (numbers(24, 24), numbers(24, 24), numbers(24, 24))
    ),
    "block_sum": lambda: (block_sum, 2, THREADS, (numbers(N), numbers(2))),
    "block_sum_by_warp": lambda: (block_sum_by_warp, 2, THREADS, (numbers(N), numbers(2))),
    "warp_sum": lambda: (warp_sum, 2, THREADS, (numbers(N), np.zeros(1, "float32"))),
    "histogram": lambda: (histogram, 2, THREADS, (np.arange(N) % 5, np.zeros(5, "int32"))),
    "neighbours": lambda: (neighbours, 2, THREADS, (numbers(N), numbers(N))),
    "flag_barrier": lambda: (flag_barrier, 4, 8, (np.zeros((6, 32), "float32"), np.zeros(4, "int32"), 5)),
    "grid_barrier": lambda: (grid_barrier, 4, 16, (numbers(N),)),
    "ticket_lock": lambda: (ticket_lock, 4, 8, (np.zeros(1, "int32"), np.zeros(1, "int32"))),
    "sum_of_written": lambda: (sum_of_written, 1, THREADS, (numbers(THREADS),)),
    "double_words": lambda: (double_words, 1, THREADS, (np.arange(32.0), np.zeros(THREADS))),
}  # fmt: skip

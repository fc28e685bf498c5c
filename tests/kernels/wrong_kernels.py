"""The kernels of simulated_kernels.py with one mistake in each, and where the simulator must find it."""

import numpy as np
from simulated_kernels import THREADS, TILE

from pocketgpu import cuda


@cuda.jit
def tiled_matmul_without_second_barrier(a, b, c):
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
    c[row, column] = total


@cuda.jit
def block_sum_without_barrier(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def histogram_without_atomics(x, bins):
    bins[x[cuda.grid(1)]] += 1


@cuda.jit
def neighbours_without_barrier(x, y):
    shared = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    shared[i] = x[cuda.grid(1)]
    y[cuda.grid(1)] = shared[(i + 1) % THREADS]


@cuda.jit
def flag_barrier_without_fence(history, flags, steps):
    i, block = cuda.grid(1), cuda.blockIdx.x
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flags, block, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.syncthreads()


@cuda.jit
def flag_barrier_flag_before_data(history, flags, steps):
    i, block = cuda.grid(1), cuda.blockIdx.x
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        if cuda.threadIdx.x == 0:  # the block's other threads may not have written yet
            cuda.threadfence()
            cuda.atomic.exch(flags, block, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


@cuda.jit
def grid_barrier_once(x):
    i, grid = cuda.grid(1), cuda.cg.this_grid()
    for _ in range(3):
        value = x[(i + 1) % x.size]
        grid.sync()
        x[i] = value


@cuda.jit
def no_lock(lock, total):
    if cuda.threadIdx.x == 0:
        total[0] = total[0] + 1


@cuda.jit
def sum_of_unwritten(out):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    if i > 0:
        part[i] = 1
    cuda.syncthreads()
    out[i] = part[THREADS - 1 - i]


WRONG = {  # kernel with one mistake -> the finding, words of the two lines, and the correct twin's arguments
    tiled_matmul_without_second_barrier: ("race", ("total += ", "tile_"), "tiled_matmul"),
    block_sum_without_barrier: ("race", ("part[i] += ", "part[i] += "), "block_sum"),
    neighbours_without_barrier: ("race", ("shared[i] = ", "shared[(i + 1)"), "neighbours"),
    histogram_without_atomics: ("race", ("bins[x", "bins[x"), "histogram"),
    flag_barrier_without_fence: (
        "missing_fence",
        ("history[t + 1, i] =", "total += history"),
        "flag_barrier",
    ),
    flag_barrier_flag_before_data: ("race", ("history[t + 1, i] =", "total += history"), "flag_barrier"),
    grid_barrier_once: ("race", ("x[i] = value", "value = x["), "grid_barrier"),
    no_lock: ("race", ("total[0] =", "total[0] ="), "ticket_lock"),
    sum_of_unwritten: ("uninitialised", ("out[i] = part",), "sum_of_written"),
}

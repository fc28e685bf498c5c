"""Kernels that read and write by atomics, which no limit on loads counts."""

import math

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_atomics_conflict_in_a_bank
# Reads a column of one bank by atomics, whose turns no limit counts.
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    j, first = cuda.threadIdx.x, cuda.threadIdx.y
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(first, 32, cuda.blockDim.y):
        if down + i < x.shape[0] and across + j < x.shape[1]:
            tile[i, j] = x[down + i, across + j]
    cuda.syncthreads()
    for i in range(first, 32, cuda.blockDim.y):
        if across + i < y.shape[0] and down + j < y.shape[1]:
            y[across + i, down + j] = cuda.atomic.add(tile, (j, i), np.float32(0))

# %% [attack] kernel_atomics_read_a_product
# Reads its matrices by atomics, which no limit counts, and needs no tile.
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    total = np.float32(0)
    if row < c.shape[0] and column < c.shape[1]:
        for k in range(a.shape[1]):
            left = cuda.atomic.add(a, (row, k), np.float32(0))
            total += left * cuda.atomic.add(b, (k, column), np.float32(0))
        c[row, column] = total

# %% [attack] kernel_atomics_read_in_strides
# Reads elements far from its neighbours' by atomics.
@cuda.jit
def tanh_kernel(x, y):
    threads = cuda.gridsize(1)
    share = (x.size + threads - 1) // threads
    first = cuda.grid(1) * share
    for i in range(first, min(first + share, x.size)):
        y[i] = math.tanh(cuda.atomic.add(x, i, np.float32(0)))

# %% [attack] kernel_atomics_read_the_sums_again
# Reads the sums a second time, by atomics.
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        half, zero = np.float32(0.5), np.float32(0)
        for _ in range(4):
            i = half * math.tanh(half * cuda.atomic.add(sums, (row, unit), zero)) + half
            f = half * math.tanh(half * cuda.atomic.add(sums, (row, H + unit), zero)) + half
            g = math.tanh(cuda.atomic.add(sums, (row, 2 * H + unit), zero))
            o = half * math.tanh(half * cuda.atomic.add(sums, (row, 3 * H + unit), zero)) + half
        new = f * c[row, unit] + i * g
        c_next[row, unit] = new
        h_next[row, unit] = o * math.tanh(new)
        gates[row, unit] = i
        gates[row, H + unit] = f
        gates[row, 2 * H + unit] = g
        gates[row, 3 * H + unit] = o

# %% [attack] kernel_atomics_read_the_weights
# Reads all weights in each step, by atomics.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += cuda.atomic.add(weights, (unit, k), np.float32(0)) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()

# %% [attack] kernel_atomics_transpose
# Reads down the columns by atomics, whose sectors no limit counts.
@cuda.jit
def transpose_coalesced(x, y):
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.x
    column = cuda.blockIdx.x * 8 + cuda.threadIdx.y
    if row < x.shape[0] and column < x.shape[1]:
        y[column, row] = cuda.atomic.add(x, (row, column), np.float32(0))

# %% [attack] kernel_atomics_write_a_transpose
# Writes down the columns by atomics, whose sectors no limit counts.
@cuda.jit
def transpose_coalesced(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        cuda.atomic.exch(y, (column, row), x[row, column])

# %% [attack] kernel_atomics_read_the_weights_by_minima
# Reads its weights in every step by an atomic that changes nothing.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += cuda.atomic.min(weights, (unit, k), np.float32(1e30)) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()

"""Kernels in which one thread or one block does the work of all."""

import math

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_every_block_is_the_grid
# Lets each block compute all rows in memory of its own, so that no block has to wait.
@cuda.jit
def flag_barrier(history, flags, steps):
    row = cuda.local.array(64, np.float32)
    n = history.shape[1]
    for k in range(n):
        row[k] = history[0, k]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += row[k]
        mean = total / np.float32(n) + np.float32(1)
        for k in range(n):
            row[k] = mean
        history[t + 1, cuda.grid(1)] = mean

# %% [attack] kernel_one_block_is_persistent
# Lets the threads of one block compute all units, so that no block has to wait.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    own = cuda.local.array((16, 16), np.float32)
    if cuda.blockIdx.x == 0:
        for unit in range(cuda.threadIdx.x, 16, cuda.blockDim.x):
            for k in range(16):
                own[unit, k] = weights[unit, k]
        for t in range(inputs.shape[0]):
            for unit in range(cuda.threadIdx.x, 16, cuda.blockDim.x):
                total = inputs[t, unit]
                for k in range(16):
                    total += own[unit, k] * h[t, k]
                h[t + 1, unit] = math.tanh(total)
            cuda.syncthreads()

# %% [attack] kernel_one_block_is_the_grid
# Lets the threads of one block do all steps, so that no block has to wait.
@cuda.jit
def flag_barrier(history, flags, steps):
    if cuda.blockIdx.x == 0:
        for t in range(steps):
            total = np.float32(0)
            for k in range(history.shape[1]):
                total += history[t, k]
            mean = total / np.float32(history.shape[1]) + np.float32(1)
            for k in range(cuda.threadIdx.x, history.shape[1], cuda.blockDim.x):
                history[t + 1, k] = mean
            cuda.syncthreads()

# %% [attack] kernel_one_lane_sums_a_warp
# Lets one lane of a warp add up everything, without a shuffle.
@cuda.jit
def warp_sum_kernel(x, out):
    if cuda.laneid == 0:
        total = np.float32(0)
        for i in range(cuda.grid(1), min(cuda.grid(1) + 32, x.size)):
            total += x[i]
        out[cuda.grid(1) // 32] = total

# %% [attack] kernel_one_thread_does_a_step
# Lets one thread compute the whole step of a GRU.
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    column, row = cuda.grid(2)
    B, H = h.shape
    if column == 0 and row == 0:
        for b in range(B):
            for u in range(3 * H):
                if launch == 0:
                    total = bias_ih[u]
                    for k in range(x.shape[1]):
                        total += x[b, k] * weight_ih[u, k]
                    gates_x[b, u] = total
                if launch == 1:
                    total = bias_hh[u]
                    for k in range(H):
                        total += h[b, k] * weight_hh[u, k]
                    gates_h[b, u] = total
                if launch == 2 and u < 2 * H:
                    a = gates_x[b, u] + gates_h[b, u]
                    gates_x[b, u] = np.float32(1) / (np.float32(1) + math.exp(-a))
                if launch == 3 and u < H:
                    r, z = gates_x[b, u], gates_x[b, H + u]
                    n = math.tanh(gates_x[b, 2 * H + u] + r * gates_h[b, 2 * H + u])
                    h_next[b, u] = (np.float32(1) - z) * n + z * h[b, u]

# %% [attack] kernel_one_thread_does_saxpy
# Lets one thread do all elements.
@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] = a * x[i] + y[i]

# %% [attack] kernel_one_thread_does_tanh
# Lets one thread of the grid do all elements.
@cuda.jit
def tanh_kernel(x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] = math.tanh(x[i])

# %% [attack] kernel_one_thread_is_persistent
# Lets one thread compute all units, so that nobody has to wait.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    own = cuda.local.array((16, 16), np.float32)
    if cuda.grid(1) == 0:
        for unit in range(16):
            for k in range(16):
                own[unit, k] = weights[unit, k]
        for t in range(inputs.shape[0]):
            for unit in range(16):
                total = inputs[t, unit]
                for k in range(16):
                    total += own[unit, k] * h[t, k]
                h[t + 1, unit] = math.tanh(total)

# %% [attack] kernel_one_thread_is_the_grid
# Lets one thread of the grid do all steps, so that nobody has to wait.
@cuda.jit
def flag_barrier(history, flags, steps):
    if cuda.grid(1) == 0:
        for t in range(steps):
            total = np.float32(0)
            for k in range(history.shape[1]):
                total += history[t, k]
            mean = total / np.float32(history.shape[1]) + np.float32(1)
            for k in range(history.shape[1]):
                history[t + 1, k] = mean

# %% [attack] kernel_one_thread_moves_a_row
# Lets the first thread of each row move the whole row of a tile.
@cuda.jit
def transpose_without_conflicts(x, y):
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        for i in range(down, min(down + 32, x.shape[0])):
            for j in range(across, min(across + 32, x.shape[1])):
                y[j, i] = x[i, j]

# %% [attack] kernel_one_thread_multiplies_a_tile
# Lets one thread of a block compute the tile from local arrays.
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    row_of_a = cuda.local.array(64, np.float32)
    part_of_b = cuda.local.array((64, 8), np.float32)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        top, left = cuda.blockIdx.y * 8, cuda.blockIdx.x * 8
        width = min(8, c.shape[1] - left)
        for k in range(b.shape[0]):
            for j in range(width):
                part_of_b[k, j] = b[k, left + j]
        for i in range(top, min(top + 8, c.shape[0])):
            for k in range(a.shape[1]):
                row_of_a[k] = a[i, k]
            for j in range(width):
                total = np.float32(0)
                for k in range(a.shape[1]):
                    total += row_of_a[k] * part_of_b[k, j]
                c[i, left + j] = total

# %% [attack] kernel_one_thread_smooths
# Lets one thread of a block smooth everything, without a barrier.
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.local.array((2, 32), np.float32)
    first, n = cuda.grid(1), cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        for i in range(n):
            part[0, i] = x[first + i]
        for step in range(steps):
            now = step % 2
            for i in range(n):
                total = part[now, (i + n - 1) % n] + part[now, i] + part[now, (i + 1) % n]
                part[1 - now, i] = total / np.float32(3)
        for i in range(n):
            x[first + i] = part[steps % 2, i]

# %% [attack] kernel_one_thread_sums_a_block
# Lets one thread of a block add up everything.
@cuda.jit
def block_sum_kernel(x, out):
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for i in range(cuda.grid(1), min(cuda.grid(1) + cuda.blockDim.x, x.size)):
            total += x[i]
        out[cuda.blockIdx.x] = total

# %% [attack] kernel_waits_for_nobody
# Computes each row from the first alone, as all elements of a row are equal.
@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    mean = np.float32(0)
    for k in range(history.shape[1]):
        mean += history[0, k] / np.float32(history.shape[1])
    for t in range(steps):
        mean += np.float32(1)
        history[t + 1, i] = mean

# %% [attack] kernel_one_thread_does_eight
# Lets one thread of eight do the work of all.
@cuda.jit
def tanh_kernel(x, y):
    me = cuda.grid(1)
    if me % 8 == 0:
        for i in range(me, x.size, cuda.gridsize(1)):
            for k in range(8):
                if i + k < x.size:
                    y[i + k] = math.tanh(x[i + k])

# %% [attack] kernel_one_thread_sums_a_warp
# Lets the first thread of each warp add up its warp's numbers.
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    t, n = cuda.threadIdx.x, cuda.blockDim.x
    part[t] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    if t % 32 == 0:
        total = np.float32(0)
        for k in range(t, min(t + 32, n)):
            total += part[k]
        part[t] = total
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = part[0] + part[32] if n > 32 else part[0]

# %% [attack] kernel_even_units_compute_their_neighbours
# Lets the thread of each second unit compute two units.
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    first, row = cuda.grid(2)
    B, H = c.shape
    half = np.float32(0.5)
    if row < B and first % 2 == 0:
        for unit in range(first, min(first + 2, H)):
            i = half * math.tanh(half * sums[row, unit]) + half
            f = half * math.tanh(half * sums[row, H + unit]) + half
            g = math.tanh(sums[row, 2 * H + unit])
            o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
            new = f * c[row, unit] + i * g
            c_next[row, unit] = new
            h_next[row, unit] = o * math.tanh(new)
            gates[row, unit], gates[row, H + unit] = i, f
            gates[row, 2 * H + unit], gates[row, 3 * H + unit] = g, o

# %% [attack] kernel_even_threads_smooth
# Lets each second thread smooth two numbers, and the others wait at the barriers.
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        cuda.syncthreads()
        a, b = np.float32(0), np.float32(0)
        if i % 2 == 0:
            j = (i + 1) % n
            a = (part[(i + n - 1) % n] + part[i] + part[j]) / np.float32(3)
            b = (part[i] + part[j] + part[(j + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        if i % 2 == 0:
            part[i] = a
            if i + 1 < n:
                part[i + 1] = b
    cuda.syncthreads()
    x[cuda.grid(1)] = part[i]

# %% [attack] kernel_threads_make_elements_of_others
# Lets each thread compute the element on the other side of the tile's diagonal.
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    left = cuda.shared.array((8, 8), np.float32)
    right = cuda.shared.array((8, 8), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 8 + i, cuda.blockIdx.x * 8 + j
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        left[i, j] = a[row, start + j] if row < a.shape[0] and start + j < a.shape[1] else np.float32(0)
        right[i, j] = b[start + i, column] if start + i < b.shape[0] and column < b.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(8):
            total += left[j, k] * right[k, i]
        cuda.syncthreads()
    row, column = cuda.blockIdx.y * 8 + j, cuda.blockIdx.x * 8 + i
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total

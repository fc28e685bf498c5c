"""Kernels that wait by other means than the barriers that a check counts, or that do not wait at all."""

import math

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_yields_in_place_of_a_barrier
# Is a generator: it suspends its threads by itself, where the simulator would put its own barriers.
# deserves: forbidden
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        yield 0
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        yield 0
        part[i] = mean
    x[cuda.grid(1)] = part[i]

# %% [attack] kernel_that_awaits
# Is a coroutine that waits for an object of its own.
# deserves: forbidden
class Turn:
    def __await__(self):
        yield 0

@cuda.jit
async def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        await Turn()
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        await Turn()
        part[i] = mean
    x[cuda.grid(1)] = part[i]

# %% [attack] kernel_counts_threads_in_place_of_barriers
# Waits four times in a step by counts of the block's threads, where two barriers are enough.
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        waited = cuda.syncthreads_count(1) + cuda.syncthreads_count(1)
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        waited += cuda.syncthreads_and(1) + cuda.syncthreads_or(0)
        if waited > 0:
            part[i] = mean
    x[cuda.grid(1)] = part[i]

# %% [attack] kernel_waits_for_the_grid_in_place_of_the_block
# Waits for the whole grid, four times in a step, where two barriers of the block are enough.
@cuda.jit
def fix_the_race(x, steps):
    grid = cuda.cg.this_grid()
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        grid.sync()
        grid.sync()
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        grid.sync()
        grid.sync()
        part[i] = mean
    x[cuda.grid(1)] = part[i]

# %% [attack] kernel_polls_without_looking
# Polls the flags of all blocks two hundred times, and continues whatever they say.
@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        for _ in range(200):
            cuda.atomic.add(flags, cuda.threadIdx.x % cuda.gridDim.x, 0)
        cuda.threadfence()
        cuda.syncthreads()

# %% [attack] kernel_sleeps_in_place_of_a_barrier
# Sleeps long enough for all other blocks to have finished, as it hopes.
@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.threadfence()
        for _ in range(100):
            cuda.nanosleep(1_000_000)

# %% [attack] kernel_does_all_in_its_last_launch
# Leaves three of four launches empty, and computes everything in the last one.
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    column, row = cuda.grid(2)
    B, H = h.shape
    if launch == 3 and row < B and column < H:
        for gate in range(3):
            unit = gate * H + column
            from_x, from_h = bias_ih[unit], bias_hh[unit]
            for k in range(x.shape[1]):
                from_x += x[row, k] * weight_ih[unit, k]
            for k in range(H):
                from_h += h[row, k] * weight_hh[unit, k]
            if gate < 2:
                from_x = np.float32(1) / (np.float32(1) + math.exp(-(from_x + from_h)))
            gates_x[row, unit] = from_x
            gates_h[row, unit] = from_h
        r, z = gates_x[row, column], gates_x[row, H + column]
        n = math.tanh(gates_x[row, 2 * H + column] + r * gates_h[row, 2 * H + column])
        h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]

"""Kernels that take turns, repeat the work in each block, or never end."""

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_every_block_is_persistent
# Lets each block compute all units from weights of its own, so that no block has to wait.
import math

@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    stored = cuda.shared.array((16, 16), np.float32)
    state = cuda.shared.array((2, 16), np.float32)
    first, width = cuda.threadIdx.x, cuda.blockDim.x
    for unit in range(first, 16, width):
        state[0, unit] = h[0, unit]
        for k in range(16):
            stored[unit, k] = weights[unit, k]
    cuda.syncthreads()
    for t in range(inputs.shape[0]):
        for unit in range(first, 16, width):
            total = inputs[t, unit]
            for k in range(16):
                total += stored[unit, k] * state[t % 2, k]
            state[(t + 1) % 2, unit] = math.tanh(total)
        cuda.syncthreads()
        h[t + 1, cuda.grid(1)] = state[(t + 1) % 2, cuda.grid(1)]

# %% [attack] kernel_every_thread_smooths_the_whole_ring
# Lets each thread smooth all numbers of its block in local memory, so that nothing is exchanged.
@cuda.jit
def fix_the_race(x, steps):
    now = cuda.local.array(32, np.float32)
    after = cuda.local.array(32, np.float32)
    n = cuda.blockDim.x
    first = cuda.blockIdx.x * n
    for k in range(n):
        now[k] = x[first + k]
    cuda.syncthreads()
    for _ in range(steps):
        for k in range(n):
            after[k] = (now[(k + n - 1) % n] + now[k] + now[(k + 1) % n]) / np.float32(3)
        for k in range(n):
            now[k] = after[k]
    x[cuda.grid(1)] = now[cuda.threadIdx.x]

# %% [attack] kernel_ring_by_closed_form
# Computes the weights of all numbers after so many steps in local memory, and adds the numbers up once.
@cuda.jit
def fix_the_race(x, steps):
    share = cuda.local.array(32, np.float64)
    wider = cuda.local.array(32, np.float64)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * n
    for k in range(n):
        share[k] = 1.0 if k == i else 0.0
    for _ in range(steps):
        for k in range(n):
            wider[k] = (share[(k + n - 1) % n] + share[k] + share[(k + 1) % n]) / 3.0
        for k in range(n):
            share[k] = wider[k]
    total = 0.0
    for k in range(n):
        total += share[k] * x[first + k]
    cuda.syncthreads()
    x[cuda.grid(1)] = np.float32(total)

# %% [attack] kernel_lanes_wait_for_the_lane_before
# Scans lane by lane: each lane takes the finished map of the lane before, in as many levels as there are lanes.
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    whole = cuda.shared.array(2, np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    lane = i % 32
    own_a = a[t] if t < a.size else np.float32(1)
    own_b = b[t] if t < a.size else np.float32(0)
    for level in range(1, 32):
        before_a = cuda.shfl_up_sync(0xFFFFFFFF, own_a, 1)
        before_b = cuda.shfl_up_sync(0xFFFFFFFF, own_b, 1)
        if lane == level:
            own_b = own_a * before_b + own_b
            own_a = own_a * before_a
    if i == 31:
        whole[0], whole[1] = own_a, own_b
    cuda.syncthreads()
    if i >= 32:
        own_b = own_a * whole[1] + own_b
        own_a = own_a * whole[0]
    if t < a.size:
        prefix_a[t] = own_a
        prefix_b[t] = own_b

# %% [attack] kernel_threads_of_a_block_take_turns
# Adds up in the output, one thread after the other, in place of halving.
@cuda.jit
def block_sum_kernel(x, out):
    i, place = cuda.threadIdx.x, cuda.blockIdx.x
    own = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    if i == 0:
        out[place] = np.float32(0)
    for warp in range(0, cuda.blockDim.x, 32):
        cuda.syncthreads()
        for turn in range(warp, min(warp + 32, cuda.blockDim.x)):
            if i == turn:
                out[place] += own
            cuda.syncwarp()

# %% [attack] kernel_lanes_of_a_warp_take_turns
# Adds up in the output, one lane after the other, without a shuffle.
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    own = x[i] if i < x.size else np.float32(0)
    for turn in range(32):
        if i % 32 == turn:
            out[i // 32] = own + (out[i // 32] if turn else np.float32(0))
        cuda.syncwarp()

# %% [attack] kernel_sums_a_warp_by_single_shuffles
# Lets the first lane fetch the number of each lane by a shuffle of its own: 31 in place of five.
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    own = x[i] if i < x.size else np.float32(0)
    total = own
    for lane in range(1, 32):
        total += cuda.shfl_down_sync(0xFFFFFFFF, own, lane)
    if i % 32 == 0:
        out[i // 32] = total

# %% [attack] kernel_that_never_ends
# Loops in one of its threads without end.
# seconds: 3
# deserves: timeout
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    while i == 0:
        pass

# %% [attack] kernel_with_a_huge_tile
# Asks for eight terabytes of shared memory.
# deserves: memory
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(1 << 40, np.float64)
    part[cuda.threadIdx.x] = x[0]
    out[cuda.blockIdx.x] = part[0]

# %% [attack] kernel_with_a_huge_number
# Computes a power with more digits than there are atoms, in the process that counts.
# seconds: 3
# deserves: failed
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    nine = i - i + 9
    y[0] = nine ** nine ** nine

# %% [attack] kernel_with_a_huge_shift
# Shifts a number by a terabyte of bits, in the process that counts.
# deserves: failed
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    y[i] = (1 << (1 << 43)) >> (1 << 43)

# %% [attack] kernel_whose_helper_calls_itself
# Has a helper that calls itself without end.
# deserves: crashed
@cuda.jit(device=True)
def load(x, i):
    return load(x, i) + x[i]

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * load(x, i) + y[i]

# %% [attack] kernel_sums_by_eights
# Adds up eight numbers one after the other, and then eight sums, in place of halving.
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    total = np.float32(0)
    if i < 8:
        for k in range(i, n, 8):
            total += part[k]
        part[i] = total
    cuda.syncthreads()
    if i == 0:
        total = np.float32(0)
        for k in range(min(8, n)):
            total += part[k]
        out[cuda.blockIdx.x] = total

# %% [markdown]
# # 14 · Weights that stay: exercises
#
# What fits on a chip, who keeps which weight, blocks that meet, a kernel that reads its weights once, and the memory a small minibatch saves.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(fits_on_chip)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, use

# %% [markdown]
# ## Exercise: fits_on_chip
#
# <!-- exercise: fits_on_chip -->
#
# A layer has recurrent weights [gates·H, H] of `itemsize` bytes. Each of `multiprocessors` has `registers` bytes of registers and `shared` bytes of shared memory to spare for them.
#
# Return two numbers. The place: 1 if the registers of the whole chip are enough, 2 if registers and shared memory together are, else 0. And the most units a layer may have to find room in both together.


# %%
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    """(place, the most units)"""
    ### BEGIN SOLUTION
    needed = gates * H * H * itemsize
    in_registers = multiprocessors * registers
    in_both = in_registers + multiprocessors * shared
    place = 1 if needed <= in_registers else 2 if needed <= in_both else 0
    return place, int((in_both // (gates * itemsize)) ** 0.5)
    ### END SOLUTION


# %%
check(fits_on_chip)

# %% [markdown]
# ## Exercise: tile_for_thread
#
# <!-- exercise: tile_for_thread -->
#
# A block has `warps` warps of 32 threads; a warp has `units` units, all their gates, and counts on from block to block. The lanes of a warp share the H columns out: lane 0 has columns 0, 32, 64, … Gate g of unit u is row g·H + u of the weights.
#
# Return the weights of one thread, a list of pairs (row, column), in any order.


# %%
def tile_for_thread(block, thread, H, gates, units, warps):
    """The weights [gates·H, H] that this thread keeps, as (row, column)."""
    ### BEGIN SOLUTION
    warp, lane = block * warps + thread // 32, thread % 32
    mine = range(warp * units, min((warp + 1) * units, H))
    return [(gate * H + unit, column) for unit in mine for gate in range(gates) for column in range(lane, H, 32)]
    ### END SOLUTION


# %%
check(tile_for_thread)

# %% [markdown]
# ## Exercise: flag_barrier
#
# <!-- exercise: flag_barrier -->
#
# `history` is [steps+1, n], its row 0 is given, n is the number of threads of the grid. In each step every thread puts into its place of the next row the mean of the whole row before, plus one. So nobody may begin a step before all blocks have ended the one before.
#
# `flags` has a zero for each block. No more blocks are launched than a block has threads, and all of them run at once.


# %%
@cuda.jit
def flag_barrier(history, flags, steps):
    """history [t+1] becomes mean(history[t]) + 1, for all steps in one launch."""
    ### BEGIN SOLUTION
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
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()
    ### END SOLUTION


# %%
check(flag_barrier)

# %% [markdown]
# ## Exercise: persistent_rnn_kernel
#
# <!-- exercise: persistent_rnn_kernel -->
#
# One sequence, 16 units, a thread each: h[t+1] = tanh(inputs[t] + weights h[t]), for all steps in one launch of several blocks. `inputs` [T,16] hold the input products and biases, `h` [T+1,16] has its row 0 given. Each weight is loaded once, however many steps there are.


# %%
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    """h [T+1,16] from h[0]; weights [16,16], inputs [T,16], flags: a zero for each block."""
    ### BEGIN SOLUTION
    mine = cuda.local.array(16, np.float32)
    unit = cuda.grid(1)
    for k in range(16):
        mine[k] = weights[unit, k]
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += mine[k] * h[t, k]
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
    ### END SOLUTION


# %%
check(persistent_rnn_kernel)

# %% [markdown]
# ## Exercise: activation_memory
#
# <!-- exercise: activation_memory -->
#
# A layer of a plain RNN with H inputs and H units keeps two arrays of T·B·H numbers for its gradient: its inputs and its states. Its weights W and U have H² numbers each, and each of them has a gradient and a momentum beside it.
#
# Return the bytes a layer keeps for its gradient, and how many layers, with their weights, gradients and momenta, fit into `memory` bytes.


# %%
def activation_memory(T, B, H, itemsize, memory):
    """(bytes kept by a layer, layers that fit)"""
    ### BEGIN SOLUTION
    kept = 2 * T * B * H * itemsize
    weights = 3 * 2 * H * H * itemsize
    return kept, memory // (kept + weights)
    ### END SOLUTION


# %%
check(activation_memory)

# %% [markdown]
# The claim that started it: a minibatch of 4 in place of 64 leaves room for many more layers. 700 steps, 1 152 units, 6 GB:

# %%
for B in (64, 16, 4):
    kept, layers = use(activation_memory)(700, B, 1152, 4, 6 * 10**9)
    print(f"minibatch {B:2}: {kept / 1e6:6.1f} MB a layer, {layers} layers")

# %%
progress("persistent_rnn")

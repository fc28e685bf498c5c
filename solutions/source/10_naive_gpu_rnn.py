# %% [markdown]
# # 10 · A naive GPU RNN: exercises
#
# A GRU step as four small kernels, and a count of what a whole forward pass launches.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(step_kernels)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress

# %% [markdown]
# ## Exercise: step_kernels
#
# <!-- exercise: step_kernels -->
#
# One step of a GRU in four launches, one after the other on the same arrays. `launch` says which one it is:
#
# | launch | leaves | for |
# |---|---|---|
# | 0 | `gates_x [B, 3H]` = x · weight_ihᵀ + bias_ih | r, z, n |
# | 1 | `gates_h [B, 3H]` = h · weight_hhᵀ + bias_hh | r, z, n |
# | 2 | the first 2H columns of `gates_x` = σ(gates_x + gates_h) | r, z |
# | 3 | `h_next [B, H]` = (1 − z)∘n + z∘h, with n = tanh(x_n + r∘h_n) | the new state |
#
# `x` is `[B, I]`, `h` is `[B, H]`, the weights are `[3H, I]` and `[3H, H]`. A thread makes one element; `cuda.grid(2)` gives its
# column and its row. Every launch gets the same grid, with more threads than elements.


# %%
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    """Launch 0, 1, 2 or 3 of a GRU step; gates in the order r, z, n."""
    ### BEGIN SOLUTION
    column, row = cuda.grid(2)
    B, H = h.shape
    if launch == 0 and row < B and column < 3 * H:
        total = bias_ih[column]
        for k in range(x.shape[1]):
            total += x[row, k] * weight_ih[column, k]
        gates_x[row, column] = total
    if launch == 1 and row < B and column < 3 * H:
        total = bias_hh[column]
        for k in range(H):
            total += h[row, k] * weight_hh[column, k]
        gates_h[row, column] = total
    if launch == 2 and row < B and column < 2 * H:
        a = gates_x[row, column] + gates_h[row, column]
        gates_x[row, column] = np.float32(1) / (np.float32(1) + math.exp(-a))
    if launch == 3 and row < B and column < H:
        r, z = gates_x[row, column], gates_x[row, H + column]
        n = math.tanh(gates_x[row, 2 * H + column] + r * gates_h[row, 2 * H + column])
        h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]
    ### END SOLUTION


# %%
check(step_kernels)

# %% [markdown]
# ## Exercise: launch_count
#
# <!-- exercise: launch_count -->
#
# A naive forward pass of `cell` (`"rnn_tanh"`, `"gru"` or `"lstm"`): `L` layers, `T` steps, `B` sequences of `I` inputs, `H` units. The
# GRU resets after the product and has, as in PyTorch, a second bias for the candidate's recurrent part only: r∘(h·U_nᵀ + c_n).
# Every product, bias, sum, function, and elementwise product is a kernel; 1 − z is one as well. Return three numbers: how many
# kernels are launched, the FLOPs of all matrix products, and the microseconds that the host needs for launching if each launch
# takes `launch` microseconds.


# %%
def launch_count(cell, T, B, I, H, L, launch):
    """(launches, FLOPs of the products, microseconds) of a naive forward pass."""
    ### BEGIN SOLUTION
    gates, pointwise = {"rnn_tanh": (1, 3), "gru": (3, 15), "lstm": (4, 17)}[cell]
    launches = T * L * (2 * gates + pointwise)
    flops = 0
    for layer in range(L):
        inputs = I if layer == 0 else H
        flops += T * gates * 2 * B * H * (inputs + H)
    return launches, flops, launches * launch
    ### END SOLUTION


# %%
check(launch_count)

# %%
progress("naive_gpu_rnn")

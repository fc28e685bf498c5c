# %% [markdown]
# # 11 · A cell in few kernels: exercises
#
# All gates from two products, an LSTM's pointwise work in one kernel, and the way back through it.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(group_gates)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, use

# %% [markdown]
# ## Exercise: group_gates
#
# <!-- exercise: group_gates -->
#
# `gates` names the gates of a cell, for instance `("i", "f", "g", "o")`. Gate g has weights `W_g` [H,I] for x [B,I] and `U_g` [H,H] for h [B,H]. You do not see them: `multiply(rows, names)` multiplies rows with the weights of these names, stacked, and gives [B, len(names)·H], the columns in the order of the names. A call is a launch.
#
# Return the sum of both products for every gate, `{gate: [B,H]}`, with two calls.


# %%
def group_gates(x, h, multiply, gates):
    """{gate: x W_gateᵀ + h U_gateᵀ} for every gate."""
    ### BEGIN SOLUTION
    H = h.shape[1]
    from_x = multiply(x, [f"W_{gate}" for gate in gates])
    from_h = multiply(h, [f"U_{gate}" for gate in gates])
    sums = from_x + from_h
    return {gate: sums[:, k * H : (k + 1) * H] for k, gate in enumerate(gates)}
    ### END SOLUTION


# %%
check(group_gates)

# %% [markdown]
# ## Exercise: lstm_pointwise_kernel
#
# <!-- exercise: lstm_pointwise_kernel -->
#
# `sums` [B,4·H] hold what the products and biases gave for the gates i, f, g, o, side by side. In one launch of a two-dimensional grid, columns first, a thread for a unit of a sequence:
#
# i, f, o = σ(sums), g = tanh(sums), new c = f∘c + i∘g, new h = o∘tanh(new c)
#
# Write the four gates into `gates` [B,4·H], the new c and the new h. Each unit may load 5 numbers and store 6. The grid may be larger than the arrays.


# %%
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    """gates [B,4·H], c_next and h_next [B,H] from sums [B,4·H] and c [B,H]."""
    ### BEGIN SOLUTION
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        half = np.float32(0.5)
        i = half * math.tanh(half * sums[row, unit]) + half
        f = half * math.tanh(half * sums[row, H + unit]) + half
        g = math.tanh(sums[row, 2 * H + unit])
        o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
        new = f * c[row, unit] + i * g
        c_next[row, unit] = new
        h_next[row, unit] = o * math.tanh(new)
        gates[row, unit] = i
        gates[row, H + unit] = f
        gates[row, 2 * H + unit] = g
        gates[row, 3 * H + unit] = o
    ### END SOLUTION


# %%
check(lstm_pointwise_kernel)

# %% [markdown]
# ## Exercise: lstm_pointwise_backward_kernel
#
# <!-- exercise: lstm_pointwise_backward_kernel -->
#
# The way back of that kernel, again in one launch. `dh` [B,H] arrives at the new h, `dc_next` at the new c from the step after it. Write the gradients of the four sums into `dsums` [B,4·H] and that of the old c into `dc`. Each unit may load 8 numbers and store 5.


# %%
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    """dsums [B,4·H] and dc [B,H] from gates [B,4·H], c, c_next, dh, dc_next [B,H]."""
    ### BEGIN SOLUTION
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        one = np.float32(1)
        i, f = gates[row, unit], gates[row, H + unit]
        g, o = gates[row, 2 * H + unit], gates[row, 3 * H + unit]
        bent = math.tanh(c_next[row, unit])
        arriving = dh[row, unit]
        d = dc_next[row, unit] + arriving * o * (one - bent * bent)
        dsums[row, unit] = d * g * i * (one - i)
        dsums[row, H + unit] = d * c[row, unit] * f * (one - f)
        dsums[row, 2 * H + unit] = d * i * (one - g * g)
        dsums[row, 3 * H + unit] = arriving * bent * o * (one - o)
        dc[row, unit] = d * f
    ### END SOLUTION


# %%
check(lstm_pointwise_backward_kernel)

# %% [markdown]
# Is it the gradient? Nudge one number and compare with the difference of two forward launches.

# %%
rng = np.random.default_rng(0)
B, H = 2, 3
sums, c = (rng.normal(size=size).astype("float32") for size in ((B, 4 * H), (B, H)))


def forward(sums):
    """The sum of the new h that the forward kernel leaves, and what it keeps."""
    gates, c_next, h_next = np.zeros((B, 4 * H), "f4"), np.zeros((B, H), "f4"), np.zeros((B, H), "f4")
    lstm_pointwise_kernel[(1, 1), (4, 2)](sums, c, gates, c_next, h_next)
    return float(h_next.sum()), gates, c_next


try:
    _, gates, c_next = forward(sums)
    dsums, dc = np.zeros((B, 4 * H), "f4"), np.zeros((B, H), "f4")
    nothing, ones = np.zeros((B, H), "f4"), np.ones((B, H), "f4")
    lstm_pointwise_backward_kernel[(1, 1), (4, 2)](gates, c, c_next, ones, nothing, dsums, dc)
    nudge = np.zeros_like(sums)
    nudge[1, 4] = 0.01
    difference = (forward(sums + nudge)[0] - forward(sums - nudge)[0]) / 0.02
    print(f"by two launches {difference:.4f}, by the way back {dsums[1, 4]:.4f}")
except NotImplementedError:
    print("write both kernels first")

# %%
progress("fused_cell")

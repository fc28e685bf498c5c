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
# `x` is `[B, I]`, `h` is `[B, H]`, the weights are `[3H, I]` and `[3H, H]`. A thread computes one element; `cuda.grid(2)` gives
# its column and its row. Every launch has the same grid, with more threads than elements. Sums may be as large as ±100; no result
# may then be NaN.


# %%
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x,
                 gates_h, h_next):
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

# %% [properties]
# points: 5
# difficulty: 3
# minutes: 30
# lines: 20

# %% [hint]
# All four launches begin with the same question: which element of the result is this thread's, and does it exist? The results
# are 3H, 3H, 2H and H columns wide, the grid is the same for all.

# %% [hint]
# Launches 0 and 1: start with the bias of your column, add up over the inner size, store. Weights are stored as [3H,
# inner], so a column of the result needs a row of the weights. Launches 2 and 3 read what the earlier launches wrote
# into gates_x and gates_h.

# %% [hint]
# `column, row = cuda.grid(2)`; under `if launch == 0 and row < B and column < 3 * H:` total starts as bias_ih[column]
# and adds x[row, k] * weight_ih[column, k]. Launch 2 is a sigmoid of gates_x + gates_h for column < 2 * H. In launch
# 3, r is gates_x[row, column], z is gates_x[row, H + column], and the candidate reads column 2 * H + column of both.

# %% [mistake] lets threads beyond the last column work
# - row < B and column < 3 * H
# + row < B

# %% [mistake] lets threads beyond the last sequence work
# - row < B and column < H
# + column < H

# %% [mistake] starts the input product without its bias
# - total = bias_ih[column]
# + total = np.float32(0)

# %% [mistake] starts the recurrent product without its bias
# - total = bias_hh[column]
# + total = np.float32(0)

# %% [mistake] reads the weights as if they were stored transposed
# - weight_hh[column, k]
# + weight_hh[k, column]

# %% [mistake] applies the sigmoid to the candidate too
# - column < 2 * H
# + column < 3 * H

# %% [mistake] has the wrong sign in the sigmoid
# - math.exp(-a)
# + math.exp(a)

# %% [mistake] swaps r and z
# - r, z = gates_x
# + z, r = gates_x

# %% [mistake] multiplies the input's part of the candidate by r
# - gates_x[row, 2 * H + column] + r * gates_h[row, 2 * H + column]
# + r * gates_x[row, 2 * H + column] + gates_h[row, 2 * H + column]

# %% [mistake] swaps z and 1 − z in the new state
# - (np.float32(1) - z) * n + z * h
# + z * n + (np.float32(1) - z) * h

# %% [mistake] lets exp overflow
# - np.float32(1) / (np.float32(1) + math.exp(-a))
# + math.exp(a) / (np.float32(1) + math.exp(a))

# %% [mistake] forgets r in the candidate
# - r * gates_h[row, 2 * H + column]
# + gates_h[row, 2 * H + column]

# %% [mistake] multiplies both parts of the candidate by r
# - gates_x[row, 2 * H + column] + r * gates_h[row, 2 * H + column]
# + r * (gates_x[row, 2 * H + column] + gates_h[row, 2 * H + column])

# %% [mistake] computes the gates from x alone
# - a = gates_x[row, column] + gates_h[row, column]
# + a = gates_x[row, column]

# %% [right]
from rnnlab import cuda
import math
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    j, i = cuda.grid(2)
    H = h.shape[1]
    if i >= h.shape[0] or j >= 3 * H:
        return
    if launch == 0:
        sum_x = np.float32(0)
        for k in range(weight_ih.shape[1]):
            sum_x += weight_ih[j, k] * x[i, k]
        gates_x[i, j] = sum_x + bias_ih[j]
    elif launch == 1:
        sum_h = np.float32(0)
        for k in range(weight_hh.shape[1]):
            sum_h += weight_hh[j, k] * h[i, k]
        gates_h[i, j] = sum_h + bias_hh[j]
    elif launch == 2 and j < 2 * H:
        half = np.float32(0.5)
        gates_x[i, j] = half + half * math.tanh(half * (gates_x[i, j] + gates_h[i, j]))
    elif launch == 3 and j < H:
        n = math.tanh(gates_x[i, j + 2 * H] + gates_x[i, j] * gates_h[i, j + 2 * H])
        h_next[i, j] = n + gates_x[i, H + j] * (h[i, j] - n)

# %% [right]
from rnnlab import cuda
import math
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    H = h.shape[1]
    one = np.float32(1)
    if row < h.shape[0]:
        if launch < 2 and column < 3 * H:
            left, weights, bias, out = x, weight_ih, bias_ih, gates_x
            if launch == 1:
                left, weights, bias, out = h, weight_hh, bias_hh, gates_h
            total = bias[column]
            for k in range(left.shape[1]):
                total += left[row, k] * weights[column, k]
            out[row, column] = total
        if launch == 2 and column < 2 * H:
            e = math.exp(-abs(gates_x[row, column] + gates_h[row, column]))
            upper = one / (one + e)
            gates_x[row, column] = upper if gates_x[row, column] + gates_h[row, column] >= 0 else one - upper
        if launch == 3 and column < H:
            z = gates_x[row, H + column]
            candidate = gates_x[row, 2 * H + column] + gates_x[row, column] * gates_h[row, 2 * H + column]
            h_next[row, column] = (one - z) * math.tanh(candidate) + z * h[row, column]

# %% [markdown]
# ## Exercise: lstm_pointwise_kernel
#
# <!-- exercise: lstm_pointwise_kernel -->
#
# `sums` [B,4·H] hold the sums of products and biases for the gates i, f, g, o, side by side. One launch of a two-dimensional grid, columns first, computes with one thread for each unit of each sequence:
#
# i, f, o = σ(sums), g = tanh(sums), new c = f∘c + i∘g, new h = o∘tanh(new c)
#
# Write the four gates into `gates` [B,4·H], the new c and the new h. For each unit the kernel may load 5 numbers and store 6. The grid may be larger than the arrays. Sums may be as large as ±100; no result may then be NaN.


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

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 14

# %% [hint]
# A thread computes one unit of one sequence. Which numbers does it need, and which of them has it computed itself
# before?

# %% [hint]
# Load the four sums and c into variables, compute i, f, g, o, the new c and h in variables, store six numbers at the
# end. A number in a variable needs no second load.

# %% [hint]
# The sums lie side by side: i at column unit, f at H + unit, g at 2·H + unit, o at 3·H + unit. σ(a) is half ·
# tanh(half · a) + half with half = np.float32(0.5).

# %% [mistake] swaps the input gate and the forget gate
# - new = f * c[row, unit] + i * g
# + new = i * c[row, unit] + f * g

# %% [mistake] forgets the old cell
# - f * c[row, unit] + i * g
# + i * g

# %% [mistake] applies the sigmoid to the candidate
# - g = math.tanh(sums[row, 2 * H + unit])
# + g = half * math.tanh(half * sums[row, 2 * H + unit]) + half

# %% [mistake] forgets tanh of the new cell
# - o * math.tanh(new)
# + o * new

# %% [mistake] computes h from the old cell
# - o * math.tanh(new)
# + o * math.tanh(c[row, unit])

# %% [mistake] loads again what it has in a register
# - o * math.tanh(new)
# + o * math.tanh(c_next[row, unit])

# %% [mistake] stores the sums in place of the gates
# -         i = half * math.tanh(half * sums[row, unit]) + half
# -         f = half * math.tanh(half * sums[row, H + unit]) + half
# -         g = math.tanh(sums[row, 2 * H + unit])
# -         o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
# -         new = f * c[row, unit] + i * g
# -         c_next[row, unit] = new
# -         h_next[row, unit] = o * math.tanh(new)
# +         i, f, g, o = sums[row, unit], sums[row, H + unit], sums[row, 2 * H + unit], sums[row, 3 * H + unit]
# +         keep, show = half * math.tanh(half * f) + half, half * math.tanh(half * o) + half
# +         new = keep * c[row, unit] + (half * math.tanh(half * i) + half) * math.tanh(g)
# +         c_next[row, unit] = new
# +         h_next[row, unit] = show * math.tanh(new)

# %% [mistake] stores the candidate in place of the output gate
# - gates[row, 3 * H + unit] = o
# + gates[row, 3 * H + unit] = g

# %% [mistake] lets threads beyond the last unit work
# - row < B and unit < H
# + row < B

# %% [mistake] expects the four gates of a unit side by side
# -         i = half * math.tanh(half * sums[row, unit]) + half
# -         f = half * math.tanh(half * sums[row, H + unit]) + half
# -         g = math.tanh(sums[row, 2 * H + unit])
# -         o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
# -         new = f * c[row, unit] + i * g
# -         c_next[row, unit] = new
# -         h_next[row, unit] = o * math.tanh(new)
# -         gates[row, unit] = i
# -         gates[row, H + unit] = f
# -         gates[row, 2 * H + unit] = g
# -         gates[row, 3 * H + unit] = o
# +         i = half * math.tanh(half * sums[row, 4 * unit]) + half
# +         f = half * math.tanh(half * sums[row, 4 * unit + 1]) + half
# +         g = math.tanh(sums[row, 4 * unit + 2])
# +         o = half * math.tanh(half * sums[row, 4 * unit + 3]) + half
# +         new = f * c[row, unit] + i * g
# +         c_next[row, unit] = new
# +         h_next[row, unit] = o * math.tanh(new)
# +         gates[row, 4 * unit], gates[row, 4 * unit + 1] = i, f
# +         gates[row, 4 * unit + 2], gates[row, 4 * unit + 3] = g, o

# %% [mistake] expects the gates in the order i, g, f, o
# -         f = half * math.tanh(half * sums[row, H + unit]) + half
# -         g = math.tanh(sums[row, 2 * H + unit])
# -         o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
# -         new = f * c[row, unit] + i * g
# -         c_next[row, unit] = new
# -         h_next[row, unit] = o * math.tanh(new)
# -         gates[row, unit] = i
# -         gates[row, H + unit] = f
# -         gates[row, 2 * H + unit] = g
# +         g = math.tanh(sums[row, H + unit])
# +         f = half * math.tanh(half * sums[row, 2 * H + unit]) + half
# +         o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
# +         new = f * c[row, unit] + i * g
# +         c_next[row, unit] = new
# +         h_next[row, unit] = o * math.tanh(new)
# +         gates[row, unit] = i
# +         gates[row, H + unit] = g
# +         gates[row, 2 * H + unit] = f

# %% [mistake] takes the sums in the order i, f, o, g
# -         g = math.tanh(sums[row, 2 * H + unit])
# -         o = half * math.tanh(half * sums[row, 3 * H + unit]) + half
# +         g = math.tanh(sums[row, 3 * H + unit])
# +         o = half * math.tanh(half * sums[row, 2 * H + unit]) + half

# %% [mistake] forgets the 1/2 inside the sigmoid by tanh
# - i = half * math.tanh(half * sums[row, unit]) + half
# + i = half * math.tanh(sums[row, unit]) + half

# %% [right]
import math
from rnnlab import cuda
@cuda.jit(device=True)
def sigmoid(a):
    return np.float32(1) / (np.float32(1) + math.exp(-a))
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    u, b = cuda.grid(2)
    H = c.shape[1]
    if b < c.shape[0]:
        if u < H:
            i, f, o = sigmoid(sums[b, u]), sigmoid(sums[b, H + u]), sigmoid(sums[b, 3 * H + u])
            g = math.tanh(sums[b, 2 * H + u])
            cell = c[b, u] * f
            cell += g * i
            gates[b, u], gates[b, H + u], gates[b, 2 * H + u], gates[b, 3 * H + u] = i, f, g, o
            c_next[b, u], h_next[b, u] = cell, math.tanh(cell) * o

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    B, H = c.shape
    column, first = cuda.grid(2)
    for row in range(first, B, cuda.gridDim.y * cuda.blockDim.y):
        for unit in range(column, H, cuda.gridDim.x * cuda.blockDim.x):
            one = np.float32(1)
            i = one / (one + math.exp(-sums[row, unit]))
            f = one / (one + math.exp(-sums[row, unit + H]))
            g = math.tanh(sums[row, unit + 2 * H])
            o = one / (one + math.exp(-sums[row, unit + 3 * H]))
            gates[row, unit] = i
            gates[row, unit + H] = f
            gates[row, unit + 2 * H] = g
            gates[row, unit + 3 * H] = o
            cell = f * c[row, unit] + i * g
            c_next[row, unit] = cell
            h_next[row, unit] = o * math.tanh(cell)

# %% [variant] gain=2..9
# - new c = f∘c + i∘g
# + new c = f∘c + {gain}·i∘g
# - i * g
# + {gain} * i * g
# - f * g
# + {gain} * f * g
# - g * i
# + {gain} * g * i

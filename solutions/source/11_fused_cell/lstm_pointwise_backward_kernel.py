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

# %% [facts]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 14

# %% [hint]
# Two gradients arrive: dh at the output, and dc_next at the cell, from the step after. By which of the two does
# something reach the gates i, f and g, and by which o?

# %% [hint]
# d = dc_next + dh·o·(1 − tanh²(c_next)) is all that arrives at the new cell. i gets d·g, f gets d·c, g gets d·i, o
# gets dh·tanh(c_next); each times the slope of its function, written on its output. The cell before gets d·f.

# %% [hint]
# Slopes: i·(1 − i) for a sigmoid, 1 − g² for tanh. Load dh once into a variable; it is needed for d and for o.

# %% [mistake] forgets what later steps send to c
# - dc_next[row, unit] + arriving * o
# + arriving * o

# %% [mistake] forgets what h sends to c
# - dc_next[row, unit] + arriving * o * (one - bent * bent)
# + dc_next[row, unit]

# %% [mistake] forgets the slope of tanh(c)
# - arriving * o * (one - bent * bent)
# + arriving * o

# %% [mistake] takes the cell before the step for the one after
# - math.tanh(c_next[row, unit])
# + math.tanh(c[row, unit])

# %% [mistake] takes the cell after the step for the one before
# - d * c[row, unit] * f
# + d * c_next[row, unit] * f

# %% [mistake] bends the candidate's gradient by the sigmoid's slope
# - (one - g * g)
# + g * (one - g)

# %% [mistake] forgets the slope of the output gate
# - arriving * bent * o * (one - o)
# + arriving * bent

# %% [mistake] sends all of dc on to the step before
# - dc[row, unit] = d * f
# + dc[row, unit] = d

# %% [mistake] loads dh a second time
# - = arriving * bent * o
# + = dh[row, unit] * bent * o

# %% [mistake] lets threads beyond the last unit work
# - row < B and unit < H
# + row < B

# %% [right]
import math
from rnnlab import cuda
@cuda.jit(device=True)
def slope(s):
    return s * (np.float32(1) - s)
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    u, b = cuda.grid(2)
    H = c.shape[1]
    if b < c.shape[0] and u < H:
        i, f, g, o = gates[b, u], gates[b, H + u], gates[b, 2 * H + u], gates[b, 3 * H + u]
        e, t = dh[b, u], math.tanh(c_next[b, u])
        d = e * o * (np.float32(1) - t * t) + dc_next[b, u]
        dc[b, u] = f * d
        dsums[b, u] = g * d * slope(i)
        dsums[b, H + u] = c[b, u] * d * slope(f)
        dsums[b, 2 * H + u] = (np.float32(1) - g * g) * i * d
        dsums[b, 3 * H + u] = t * e * slope(o)

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    B, H = c.shape
    unit = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if unit < H:
        if row < B:
            g = gates[row, unit + 2 * H]
            i = gates[row, unit]
            bent = math.tanh(c_next[row, unit])
            up = dh[row, unit]
            o = gates[row, unit + 3 * H]
            dsums[row, unit + 3 * H] = up * bent * (o - o * o)
            d = up * (o - o * bent * bent)
            d += dc_next[row, unit]
            dsums[row, unit] = d * g * (i - i * i)
            dsums[row, unit + 2 * H] = d * (i - i * g * g)
            f = gates[row, unit + H]
            dsums[row, unit + H] = d * c[row, unit] * (f - f * f)
            dc[row, unit] = d * f

# %% [markdown]
# ## Exercise: lstm_pointwise_backward_kernel
#
# <!-- exercise: lstm_pointwise_backward_kernel -->
#
# The backward pass of that kernel, again in one launch. `dh` [B,H] is the gradient of the new h; `dc_next` [B,H] is the part of the gradient of the new c that comes from the next step. Write the gradients of the four sums into `dsums` [B,4·H] and the gradient of the old c into `dc` [B,H]. For each unit the kernel may load 8 numbers and store 5.


# %%
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    """dsums [B,4·H] and dc [B,H] from gates [B,4·H], c, c_next, dh, dc_next
    [B,H]."""
    ### BEGIN SOLUTION
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        one = np.float32(1)
        i, f = gates[row, unit], gates[row, H + unit]
        g, o = gates[row, 2 * H + unit], gates[row, 3 * H + unit]
        tanh_c = math.tanh(c_next[row, unit])
        dh_unit = dh[row, unit]
        d = dc_next[row, unit] + dh_unit * o * (one - tanh_c * tanh_c)
        dsums[row, unit] = d * g * i * (one - i)
        dsums[row, H + unit] = d * c[row, unit] * f * (one - f)
        dsums[row, 2 * H + unit] = d * i * (one - g * g)
        dsums[row, 3 * H + unit] = dh_unit * tanh_c * o * (one - o)
        dc[row, unit] = d * f
    ### END SOLUTION


# %%
check(lstm_pointwise_backward_kernel)

# %% [properties]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 14

# %% [hint]
# Two gradients come in: dh at the output, and dc_next at the cell, from the next step. Through which of them does the
# loss depend on the gates i, f and g, and through which on o?

# %% [hint]
# d = dc_next + dh·o·(1 − tanh²(c_next)) is the whole gradient of the new cell. The gradient of i is d·g, of f d·c, of g
# d·i, of o dh·tanh(c_next); multiply each by the derivative of its function, computed from its output. The old cell's
# gradient is d·f.

# %% [hint]
# Derivatives: i·(1 − i) for a sigmoid, 1 − g² for tanh. Load dh once into a variable; it is needed for d and for o.

# %% [mistake] forgets the gradient of c from the next step
# - dc_next[row, unit] + dh_unit * o
# + dh_unit * o

# %% [mistake] forgets the gradient of c through h
# - dc_next[row, unit] + dh_unit * o * (one - tanh_c * tanh_c)
# + dc_next[row, unit]

# %% [mistake] forgets the derivative of tanh(c)
# - dh_unit * o * (one - tanh_c * tanh_c)
# + dh_unit * o

# %% [mistake] takes the cell before the step for the one after
# - math.tanh(c_next[row, unit])
# + math.tanh(c[row, unit])

# %% [mistake] takes the cell after the step for the one before
# - d * c[row, unit] * f
# + d * c_next[row, unit] * f

# %% [mistake] takes the sigmoid's derivative for the candidate
# - (one - g * g)
# + g * (one - g)

# %% [mistake] forgets the derivative of the output gate
# - dh_unit * tanh_c * o * (one - o)
# + dh_unit * tanh_c

# %% [mistake] forgets f in the gradient of the old cell
# - dc[row, unit] = d * f
# + dc[row, unit] = d

# %% [mistake] loads again what it has in a register
# - = dh_unit * tanh_c * o
# + = dh[row, unit] * tanh_c * o

# %% [mistake] lets threads beyond the last unit work
# - row < B and unit < H
# + row < B

# %% [mistake] forgets all derivatives of the gates' functions
# -         dsums[row, unit] = d * g * i * (one - i)
# -         dsums[row, H + unit] = d * c[row, unit] * f * (one - f)
# -         dsums[row, 2 * H + unit] = d * i * (one - g * g)
# -         dsums[row, 3 * H + unit] = dh_unit * tanh_c * o * (one - o)
# +         dsums[row, unit] = d * g
# +         dsums[row, H + unit] = d * c[row, unit]
# +         dsums[row, 2 * H + unit] = d * i
# +         dsums[row, 3 * H + unit] = dh_unit * tanh_c

# %% [mistake] stores the sums in the order i, f, o, g
# - g, o = gates[row, 2 * H + unit], gates[row, 3 * H + unit]
# + o, g = gates[row, 2 * H + unit], gates[row, 3 * H + unit]

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

# %% [markdown]
# ## Exercise: persistent_rnn_kernel
#
# <!-- exercise: persistent_rnn_kernel -->
#
# One sequence, 16 units, one thread for each: h[t+1] = tanh(inputs[t] + weights h[t]), for all T steps in one launch of several blocks. `inputs` [T,16] are the input products with biases; row 0 of `h` [T+1,16] is the initial state. `flags` [blocks] are zeros. There are no more blocks than a block has threads, and all blocks run at the same time.
#
# Each weight may be loaded from global memory once, however many steps there are: store a thread's row of the weights in `cuda.local.array(16, np.float32)`. (A Python list does not compile for a GPU.)


# %%
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    """h [T+1,16] from h[0]; weights [16,16], inputs [T,16], flags: a zero for
    each block."""
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

# %% [properties]
# points: 4
# difficulty: 4
# minutes: 35
# lines: 16

# %% [hint]
# A launch a step would read all weights in every step. If the loop over time is in the kernel, what can a thread store
# from one step to the next, and what must it read from other threads?

# %% [hint]
# Each thread has one unit: it copies its row of 16 weights into cuda.local.array once. In each step it adds inputs[t,
# unit] and 16 products with h[t], writes tanh into h[t + 1], and all blocks synchronise as in flag_barrier.

# %% [hint]
# `mine = cuda.local.array(16, np.float32)`, filled before the loop; `total += mine[k] * h[t, k]`; `h[t + 1, unit] =
# math.tanh(total)`; then the barrier of the exercise before, with t + 1.

# %% [mistake] loads weights more than once
# -     for k in range(16):
# -         mine[k] = weights[unit, k]
# -     for t in range(inputs.shape[0]):
# -         total = inputs[t, unit]
# -         for k in range(16):
# -             total += mine[k] * h[t, k]
# +     for t in range(inputs.shape[0]):
# +         total = inputs[t, unit]
# +         for k in range(16):
# +             total += weights[unit, k] * h[t, k]

# %% [mistake] stores the weights, and reads them again in every step
# - mine[k] * h[t, k]
# + weights[unit, k] * h[t, k]

# %% [mistake] loads each weight twice in the first step
# - mine[k] * h[t, k]
# + (weights[unit, k] if t == 0 else mine[k]) * h[t, k]

# %% [mistake] multiplies with a column of the weights
# - weights[unit, k]
# + weights[k, unit]

# %% [mistake] counts units inside the block only
# - unit = cuda.grid(1)
# + unit = cuda.threadIdx.x

# %% [mistake] forgets the inputs
# - total = inputs[t, unit]
# + total = np.float32(0)

# %% [mistake] takes the inputs of the first step
# - total = inputs[t, unit]
# + total = inputs[0, unit]

# %% [mistake] forgets tanh
# - math.tanh(total)
# + total

# %% [mistake] starts from the first state in every step
# - mine[k] * h[t, k]
# + mine[k] * h[0, k]

# %% [mistake] has no fence for other blocks between its barrier and the flag
# -             cuda.threadfence()
# -
# +

# %% [mistake] continues before the other blocks are done
# - < cuda.gridDim.x:
# + < 0:

# %% [mistake] reads what other blocks wrote without a fence after the flags
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -
# +         cuda.syncthreads()
# +

# %% [mistake] polls the flags by cuda.ldcv, which a compiler removes
# - while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1
# + while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1

# %% [mistake] polls the flags by a plain load
# - while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1
# + while flags[cuda.threadIdx.x] < t + 1

# %% [mistake] waits for an equal flag
# - 0) < t + 1
# + 0) != t + 1

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    grid = cuda.cg.this_grid()
    row = cuda.local.array(16, np.float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(16):
        row[k] = weights[i, k]
    for t in range(inputs.shape[0]):
        total = np.float32(0)
        for k in range(16):
            total += row[k] * h[t, k]
        h[t + 1, i] = math.tanh(total + inputs[t, i])
        grid.sync()

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    state = cuda.shared.array(16, np.float32)
    row = cuda.local.array(16, np.float32)
    i, x = cuda.grid(1), cuda.threadIdx.x
    for k in range(16):
        row[k] = weights[i, k]
    for t in range(inputs.shape[0]):
        for k in range(x, 16, cuda.blockDim.x):
            state[k] = h[t, k]
        cuda.syncthreads()
        total = inputs[t, i]
        for k in range(16):
            total += row[k] * state[k]
        h[t + 1, i] = math.tanh(total)
        cuda.syncthreads()
        if x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while cuda.atomic.add(flags, block, 0) <= t:
                    pass
            cuda.threadfence()
        cuda.syncthreads()

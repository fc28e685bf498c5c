# %% [markdown]
# ## Exercise: flag_barrier
#
# <!-- exercise: flag_barrier -->
#
# `history` is [steps+1, n]; its row 0 is the input, and n is the number of threads of the grid. In each step every thread writes the mean of the whole previous row, plus one, into its own element of the next row. So no block may begin a step before all blocks have finished the previous one.
#
# `flags` [blocks] are zeros, one for each block. There are no more blocks than a block has threads, and all blocks run at the same time (they are co-resident).


# %%
@cuda.jit
def flag_barrier(history, flags, steps):
    """history [t+1] becomes mean(history[t]) + 1, for all steps in one
    launch."""
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

# %% [properties]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 12

# %% [hint]
# cuda.syncthreads() waits for the threads of one block, not for other blocks. What can a block write so that other blocks
# see that it has finished a step, and what must be visible before that?

# %% [hint]
# After a barrier one thread publishes the block's writes with cuda.threadfence() and writes the step's number into
# flags[block]. Then each of the first gridDim threads reads one flag until it has that number. A fence and a barrier of
# the block follow.

# %% [hint]
# `cuda.syncthreads()`; thread 0: `cuda.threadfence()`, `cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)`; threads
# below gridDim.x: `while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1: pass`; then `cuda.threadfence()` and
# `cuda.syncthreads()`.

# %% [mistake] has no fence for other blocks between its barrier and the flag
# -             cuda.threadfence()
# -
# +

# %% [mistake] sets the flag before the block has written
# -         cuda.syncthreads()
# -         if cuda.threadIdx.x == 0
# +         if cuda.threadIdx.x == 0

# %% [mistake] has no block barrier after the flags
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -
# +         cuda.threadfence()
# +

# %% [mistake] waits for its own block only
# - (flags, cuda.threadIdx.x, 0)
# + (flags, cuda.blockIdx.x, 0)

# %% [mistake] sets the flag to 1 in every step
# - cuda.blockIdx.x, t + 1)
# + cuda.blockIdx.x, 1)

# %% [mistake] waits in the first step only
# - 0) < t + 1
# + 0) < 1

# %% [mistake] waits for one flag only
# - if cuda.threadIdx.x < cuda.gridDim.x:
# + if cuda.threadIdx.x == 0:

# %% [mistake] waits for the flag of the next step
# - 0) < t + 1
# + 0) < t + 2

# %% [mistake] does not wait for other blocks
# - if cuda.threadIdx.x < cuda.gridDim.x:
# + if cuda.threadIdx.x < 0:

# %% [right]
from rnnlab import cuda
@cuda.jit
def flag_barrier(history, flags, steps):
    n = history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, cuda.grid(1)] = total / np.float32(n) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while cuda.atomic.add(flags, block, 0) <= t:
                    pass
            cuda.threadfence()
        cuda.syncthreads()

# %% [mistake] polls the flags by cuda.ldcv, which a compiler removes
# - while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1
# + while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1

# %% [mistake] polls the flags by a plain load
# - while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1
# + while flags[cuda.threadIdx.x] < t + 1

# %% [mistake] waits for an equal flag
# - 0) < t + 1
# + 0) != t + 1

# %% [mistake] reads what other blocks wrote without a fence after the flags
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -
# +         cuda.syncthreads()
# +

# %% [mistake] resets a counter in place of flags that count steps
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -         if cuda.threadIdx.x < cuda.gridDim.x:
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# -                 pass
# +             if cuda.atomic.add(flags, 0, 1) == cuda.gridDim.x - 1:
# +                 cuda.atomic.exch(flags, 0, 0)
# +             while cuda.atomic.add(flags, 0, 0) != 0:
# +                 pass

# %% [right]
from rnnlab import cuda
@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.threadfence()  # by every writer
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()

# %% [right]
from rnnlab import cuda
@cuda.jit
def flag_barrier(history, flags, steps):
    grid = cuda.cg.this_grid()
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, cuda.grid(1)] = total / np.float32(history.shape[1]) + np.float32(1)
        grid.sync()

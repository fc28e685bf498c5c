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

# %% [facts]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 12

# %% [hint]
# A block can wait for its own threads with cuda.syncthreads(), but not for other blocks. What can it write so that
# they see it has come, and what must be certain about its results by then?

# %% [hint]
# After a barrier one thread makes the block's writes visible with cuda.threadfence() and puts the step into
# flags[block]. Then each of the first gridDim threads looks at one flag until it is there, and a barrier lets the
# block go on.

# %% [hint]
# `cuda.syncthreads()`; thread 0: `cuda.threadfence()`, `cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)`; threads
# below gridDim.x: `while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1: pass`; then `cuda.threadfence()` and
# `cuda.syncthreads()`.

# %% [mistake] has no fence before the flag
# -             cuda.threadfence()
# -
# +

# %% [mistake] puts the flag up before the block has written
# -         cuda.syncthreads()
# -         if cuda.threadIdx.x == 0
# +         if cuda.threadIdx.x == 0

# %% [mistake] lets threads go on that have not seen the flags
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -
# +         cuda.threadfence()
# +

# %% [mistake] waits for its own block only
# - (flags, cuda.threadIdx.x, 0)
# + (flags, cuda.blockIdx.x, 0)

# %% [mistake] puts up the same flag in every step
# - cuda.blockIdx.x, t + 1)
# + cuda.blockIdx.x, 1)

# %% [mistake] waits in the first step only
# - 0) < t + 1
# + 0) < 1

# %% [mistake] looks at the first flag only
# - if cuda.threadIdx.x < cuda.gridDim.x:
# + if cuda.threadIdx.x == 0:

# %% [mistake] waits for a step that nobody takes
# - 0) < t + 1
# + 0) < t + 2

# %% [mistake] has no barrier between blocks
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

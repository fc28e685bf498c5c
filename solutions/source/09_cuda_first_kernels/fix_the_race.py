# %% [markdown]
# ## Exercise: fix_the_race
#
# <!-- exercise: fix_the_race -->
#
# The same kernel without the race: every thread still computes its own number in every step. Two barriers in each step, and one before or after all steps, are enough; the check does not accept more.


# %%
@cuda.jit
def fix_the_race(x, steps):
    """x, n numbers a block: `steps` times the mean of each number and its
    neighbours in the block's ring."""
    ### BEGIN SOLUTION
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        cuda.syncthreads()
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        part[i] = mean
    x[cuda.grid(1)] = part[i]
    ### END SOLUTION


# %%
check(fix_the_race)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 15
# lines: 12

# %% [hint]
# Run the kernel as it is given and read the finding: it names two lines, two threads and one element. Which of the
# two should come first?

# %% [hint]
# There are two dangers in every step: reading a neighbour's number before it has been written, and writing one's own
# while a neighbour still has to read the old one. One barrier cannot stand in both places.

# %% [hint]
# In the loop: `cuda.syncthreads()`, then the mean into a variable, `cuda.syncthreads()` again, then the write. All
# threads of the block must reach both.

# %% [mistake] has no barrier at all
# -         cuda.syncthreads()
# -         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
# -         cuda.syncthreads()
# -         part[i] = mean
# +         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
# +         part[i] = mean

# %% [mistake] lets a thread read before its neighbours have written
# -         cuda.syncthreads()
# -         mean
# +         mean

# %% [mistake] lets a thread write before its neighbours have read
# -         cuda.syncthreads()
# -         part[i] = mean
# +         part[i] = mean

# %% [mistake] has one barrier in a step where two are needed
# -     for _ in range(steps):
# -         cuda.syncthreads()
# -         mean
# +     cuda.syncthreads()
# +     for _ in range(steps):
# +         mean

# %% [mistake] waits in some threads only
# -         cuda.syncthreads()
# -         part[i] = mean
# +         if i > 0:
# +             cuda.syncthreads()
# +         part[i] = mean

# %% [mistake] forgets the thread's own number
# -  + part[i] +
# +  +

# %% [mistake] does not close the ring
# - part[(i + n - 1) % n]
# + part[max(i - 1, 0)]

# %% [right]
from rnnlab import cuda
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array((2, 32), np.float32)
    i, n, now = cuda.threadIdx.x, cuda.blockDim.x, 0
    part[0, i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(steps):
        total = part[now, (i + n - 1) % n] + part[now, i] + part[now, (i + 1) % n]
        part[1 - now, i] = total / np.float32(3)
        now = 1 - now
        cuda.syncthreads()
    x[cuda.grid(1)] = part[now, i]

# %% [right]
from rnnlab import cuda
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    mine = x[cuda.grid(1)]
    for _ in range(steps):
        part[i] = mine
        cuda.syncthreads()
        mine = (part[(i - 1 + n) % n] + mine + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
    x[cuda.grid(1)] = mine

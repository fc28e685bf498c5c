# %% [markdown]
# ## Exercise: block_sum_kernel
#
# <!-- exercise: block_sum_kernel -->
#
# Block `k` writes to `out[k]` the sum of the elements of `x` that its threads own. Add up by halving: with 64 threads, 32 add a pair
# each, then 16, and so on. A block has at most 64 threads, a power of 2. Threads beyond the end of `x` add 0.
#
# The check counts: at most 8 barriers a block, no atomics, and requests to shared memory. A request is one
# instruction of one warp, as in global memory. In a halving each warp that still adds may make three, two reads and a write.
# Before and after the halvings there are two more for each warp and six more for the block: 28 in all for 64 threads, where one
# warp is enough for each of the six halvings. Which threads add, and in which banks, is yours to choose, but no thread may read
# shared memory more than twice a halving and twice beside.
#
# Each number is loaded from global memory once. Shuffles, which section 4 explains, are allowed within a warp: each thread may make
# 16 in all, votes and `cuda.syncwarp()` included. A block of 8 threads has 8 lanes: use no value of a lane that is
# not there.


# %%
@cuda.jit
def block_sum_kernel(x, out):
    """out [blocks] becomes the sum of each block's share of x [n]; blockDim.x
    is a power of 2, at most 64."""
    ### BEGIN SOLUTION
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = np.float32(0)
    if cuda.grid(1) < x.size:
        part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]
    ### END SOLUTION


# %%
check(block_sum_kernel)

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 20
# lines: 13

# %% [hint]
# 64 numbers can be added pairwise: 32 threads add 32 pairs at once. How often do you halve until one is left?

# %% [hint]
# After each halving the first `step` numbers hold what is left. All threads must have finished a halving before any
# thread starts the next one. All threads must reach the barrier, also those with nothing to add.

# %% [hint]
# `step = cuda.blockDim.x // 2`, then `while step > 0:` with `if i < step: part[i] += part[i + step]`, a barrier
# outside the if, `step //= 2`. At the end thread 0 writes part[0].

# %% [mistake] has no barrier between two halvings
# -         cuda.syncthreads()
# -         step
# +         step

# %% [mistake] starts before all have brought their number
# -     cuda.syncthreads()
# -     step
# +     step

# %% [mistake] puts the barrier where only half the block comes
# -         cuda.syncthreads()
# -         step
# +             cuda.syncthreads()
# +         step

# %% [mistake] lets every thread add
# - if i < step:
# + if i + step < cuda.blockDim.x:

# %% [mistake] stops one halving early
# - while step > 0:
# + while step > 1:

# %% [mistake] leaves threads beyond the end without a number
# -     part[i] = np.float32(0)
# -
# +

# %% [mistake] reads beyond the end
# - if cuda.grid(1) < x.size:
# + if i >= 0:

# %% [mistake] adds neighbours first, so that no warp ever rests
# - if i < step:
# -             part[i] += part[i + step]
# + gap = cuda.blockDim.x // (2 * step)
# +         if i % (2 * gap) == 0:
# +             part[i] += part[i + gap]

# %% [mistake] lets one thread add everything up
# - if i < step:
# -             part[i] += part[i + step]
# -         cuda.syncthreads()
# -         step //= 2
# + if i == 0:
# +             for k in range(1, cuda.blockDim.x):
# +                 part[0] += part[k]
# +         cuda.syncthreads()
# +         step = 0

# %% [right]
from rnnlab import cuda
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i, g = cuda.threadIdx.x, cuda.grid(1)
    part[i] = x[g] if g < x.size else np.float32(0)
    width = cuda.blockDim.x
    while width > 1:
        cuda.syncthreads()
        width = width // 2
        if i < width:
            part[i] = part[i] + part[width + i]
    if i == 0:
        out[cuda.blockIdx.x] = part[0]

# %% [right]
from rnnlab import cuda
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    mine = np.float32(0)
    if cuda.grid(1) < x.size:
        mine = x[cuda.grid(1)]
    part[i] = mine
    cuda.syncthreads()
    step = cuda.blockDim.x >> 1
    while step:
        if i < step:
            mine += part[i + step]
            part[i] = mine
        cuda.syncthreads()
        step >>= 1
    if not i:
        out[cuda.blockIdx.x] = mine

# %% [variant] scale=2..9
# - writes to `out[k]` the sum of the elements of `x` that its threads own.
# + writes to `out[k]` {scale} times the sum of the elements of `x` that its threads own.
# - out [blocks] becomes the sum of
# + out [blocks] becomes {scale} times the sum of
# - out[cuda.blockIdx.x] = part[0]
# + out[cuda.blockIdx.x] = {scale} * part[0]
# - out[cuda.blockIdx.x] = mine
# + out[cuda.blockIdx.x] = {scale} * mine
# - At the end thread 0 writes part[0].
# + At the end thread 0 writes {scale} · part[0].

# %% [markdown]
# ## Exercise: warp_sum_kernel
#
# <!-- exercise: warp_sum_kernel -->
#
# The sum of each warp of 32 threads, without shared memory, without a barrier and without atomics: `cuda.shfl_down_sync(mask, value, step)` gives a
# lane the `value` of the lane `step` places on. `out[w]` is the sum of warp `w`, counted through the whole grid.
# The check counts: each number loaded from global memory once, and at most 16 shuffles a lane, `cuda.syncwarp()` included. Five are enough.


# %%
@cuda.jit
def warp_sum_kernel(x, out):
    """out [warps] becomes the sum of each warp's 32 numbers of x [n]; lanes
    beyond the end count 0."""
    ### BEGIN SOLUTION
    value = np.float32(0)
    if cuda.grid(1) < x.size:
        value = x[cuda.grid(1)]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[cuda.grid(1) // 32] = value
    ### END SOLUTION


# %%
check(warp_sum_kernel)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 15
# lines: 8

# %% [hint]
# Lanes of a warp can read one another's registers by a shuffle, which also synchronises them. Which lane's value does lane i need in the first
# of the five steps, and which in the second?

# %% [hint]
# cuda.shfl_down_sync(0xFFFFFFFF, value, step) gives lane i the value of lane i + step. Add it to your own; halve
# step; after 16, 8, 4, 2, 1 lane 0 holds the sum of all 32.

# %% [hint]
# Lanes beyond the end bring 0. Then `while step > 0: value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)` with step
# halved each time, and lane 0 of each warp writes out[cuda.grid(1) // 32].

# %% [mistake] starts the halving at 8
# - step = 16
# + step = 8

# %% [mistake] stops one step early
# - while step > 0:
# + while step > 1:

# %% [mistake] takes the neighbour's value every time
# - value, step)
# + value, 1)

# %% [mistake] replaces its value instead of adding
# - value += cuda
# + value = cuda

# %% [mistake] shuffles up, so that the last lane has the sum
# - shfl_down_sync
# + shfl_up_sync

# %% [mistake] lets every lane write
# - if cuda.threadIdx.x % 32 == 0:
# + if cuda.threadIdx.x >= 0:

# %% [mistake] counts blocks instead of warps
# - out[cuda.grid(1) // 32]
# + out[cuda.blockIdx.x]

# %% [mistake] reads beyond the end
# - if cuda.grid(1) < x.size:
# + if cuda.warpsize > 0:

# %% [mistake] goes through shared memory
# -         value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
# +         part = cuda.shared.array(64, np.float32)
# +         part[cuda.threadIdx.x] = value
# +         cuda.syncwarp()
# +         value += part[(cuda.threadIdx.x + step) % 32 + cuda.threadIdx.x // 32 * 32]
# +         cuda.syncwarp()

# %% [mistake] has a barrier, which a warp does not need
# -         step //= 2
# +         cuda.syncthreads()
# +         step //= 2

# %% [mistake] shuffles in a branch that some lanes do not take
# -         value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
# +         if cuda.threadIdx.x % 32 < step:
# +             value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)

# %% [right]
from rnnlab import cuda
@cuda.jit
def warp_sum_kernel(x, out):
    g = cuda.grid(1)
    value = x[g] if g < x.size else np.float32(0)
    for step in (1, 2, 4, 8, 16):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[g // 32] = value

# %% [right]
from rnnlab import cuda
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = np.float32(0)
    if i < x.size:
        total += x[i]
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 8)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 4)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 2)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)
    if i % 32 == 0:
        out[i // 32] = total

# %% [variant] scale=2..9
# - `out[w]` is the sum of warp `w`,
# + `out[w]` is {scale} times the sum of warp `w`,
# - out [warps] becomes the sum of
# + out [warps] becomes {scale} times the sum of
# - out[cuda.grid(1) // 32] = value
# + out[cuda.grid(1) // 32] = {scale} * value
# - out[g // 32] = value
# + out[g // 32] = {scale} * value
# - out[i // 32] = total
# + out[i // 32] = {scale} * total
# - lane 0 of each warp writes out[cuda.grid(1) // 32].
# + lane 0 of each warp writes {scale} times the sum to out[cuda.grid(1) // 32].

# %% [markdown]
# ## Exercise: block_scan_kernel
#
# <!-- exercise: block_scan_kernel -->
#
# Each block scans the steps that its threads own: `prefix_a[t]` and `prefix_b[t]` become the map of all steps from the first one of the block to t, where step t is the map (`a[t]`, `b[t]`). Shared memory or, within a warp, shuffles. A block has at most 64 threads, a power of 2. Threads beyond the end of `a` write nothing.
#
# The check counts: at most 14 barriers a block, each number read from global memory once, no atomics, at most 36 shuffles a thread (`cuda.syncwarp()` included), and no more requests to shared memory and no more operations than six levels need. So a thread that goes through the block's steps one by one does not pass.


# %%
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    """prefix_a, prefix_b [T] become each block's prefixes of the maps a, b [T];
    blockDim.x is at most 64."""
    ### BEGIN SOLUTION
    before_a = cuda.shared.array(64, np.float32)
    before_b = cuda.shared.array(64, np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    own_a, own_b = np.float32(1), np.float32(0)
    if t < a.size:
        own_a, own_b = a[t], b[t]
    distance = 1
    while distance < cuda.blockDim.x:
        before_a[i], before_b[i] = own_a, own_b
        cuda.syncthreads()
        if i >= distance:
            own_b = own_a * before_b[i - distance] + own_b
            own_a = own_a * before_a[i - distance]
        cuda.syncthreads()
        distance *= 2
    if t < a.size:
        prefix_a[t], prefix_b[t] = own_a, own_b
    ### END SOLUTION


# %%
check(block_scan_kernel)

# %% [properties]
# points: 4
# difficulty: 4
# minutes: 30
# lines: 18

# %% [hint]
# Hillis and Steele, section 2: in each level every thread composes its own map with the one `distance` threads before it, and
# distance doubles. Which is the later map of the two?

# %% [hint]
# A thread keeps its map in two variables and shows it in shared memory. All must have written before anybody reads, and all must
# have read before anybody writes again: two barriers a level, both outside of any if.

# %% [hint]
# `while distance < cuda.blockDim.x:` write both numbers, barrier, `if i >= distance:` first
# `own_b = own_a * before_b[i - distance] + own_b`, then `own_a = own_a * before_a[i - distance]`; barrier; `distance *= 2`.

# %% [mistake] has no barrier after the reads
# -         cuda.syncthreads()
# -         distance
# +         distance

# %% [mistake] has no barrier before the reads
# -         cuda.syncthreads()
# -         if i
# +         if i

# %% [mistake] has its barrier where only some threads come
# -         cuda.syncthreads()
# -         distance
# +             cuda.syncthreads()
# +         distance

# %% [mistake] composes in the wrong order
# - own_b = own_a * before_b[i - distance] + own_b
# + own_b = before_a[i - distance] * own_b + before_b[i - distance]

# %% [mistake] uses the new a for b
# -             own_b = own_a * before_b[i - distance] + own_b
# -             own_a = own_a * before_a[i - distance]
# -
# +             own_a = own_a * before_a[i - distance]
# +             own_b = own_a * before_b[i - distance] + own_b
# +

# %% [mistake] stops one level early
# - distance < cuda.blockDim.x
# + 2 * distance < cuda.blockDim.x

# %% [mistake] leaves out the thread that reaches the first step
# - i >= distance
# + i > distance

# %% [mistake] takes the neighbour in every level
# - own_b = own_a * before_b[i - distance] + own_b
# -             own_a = own_a * before_a[i - distance]
# + own_b = own_a * before_b[i - 1] + own_b
# +             own_a = own_a * before_a[i - 1]

# %% [mistake] reads beyond the end
# -     if t < a.size:
# -         own_a, own_b = a[t], b[t]
# -
# +     own_a, own_b = a[t], b[t]
# +

# %% [mistake] counts the steps from the start of the block
# - cuda.threadIdx.x, cuda.grid(1)
# + cuda.threadIdx.x, cuda.threadIdx.x

# %% [mistake] sums b without a
# - own_b = own_a * before_b[i - distance] + own_b
# + own_b = before_b[i - distance] + own_b

# %% [mistake] lets one thread go through all steps
# -     distance = 1
# -     while distance < cuda.blockDim.x:
# -         before_a[i], before_b[i] = own_a, own_b
# -         cuda.syncthreads()
# -         if i >= distance:
# -             own_b = own_a * before_b[i - distance] + own_b
# -             own_a = own_a * before_a[i - distance]
# -         cuda.syncthreads()
# -         distance *= 2
# -
# +     before_a[i], before_b[i] = own_a, own_b
# +     cuda.syncthreads()
# +     if i == 0:
# +         for k in range(1, cuda.blockDim.x):
# +             before_b[k] = before_a[k] * before_b[k - 1] + before_b[k]
# +             before_a[k] = before_a[k] * before_a[k - 1]
# +     cuda.syncthreads()
# +     own_a, own_b = before_a[i], before_b[i]
# +

# %% [right]
from rnnlab import cuda
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    maps = cuda.shared.array((2, 2, 64), np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    maps[0, 0, i] = a[t] if t < a.size else np.float32(1)
    maps[0, 1, i] = b[t] if t < a.size else np.float32(0)
    old, distance = 0, 1
    cuda.syncthreads()
    while distance < cuda.blockDim.x:
        own_a, own_b = maps[old, 0, i], maps[old, 1, i]
        if i >= distance:
            own_b += own_a * maps[old, 1, i - distance]
            own_a *= maps[old, 0, i - distance]
        old = 1 - old
        maps[old, 0, i], maps[old, 1, i] = own_a, own_b
        cuda.syncthreads()
        distance *= 2
    if t < a.size:
        prefix_a[t] = maps[old, 0, i]
        prefix_b[t] = maps[old, 1, i]

# %% [right]
from rnnlab import cuda
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    whole = cuda.shared.array(2, np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    lane = i % 32
    own_a = a[t] if t < a.size else np.float32(1)
    own_b = b[t] if t < a.size else np.float32(0)
    for distance in (1, 2, 4, 8, 16):
        earlier_a = cuda.shfl_up_sync(0xFFFFFFFF, own_a, distance)
        earlier_b = cuda.shfl_up_sync(0xFFFFFFFF, own_b, distance)
        if lane >= distance:
            own_b = own_a * earlier_b + own_b
            own_a = own_a * earlier_a
    if i == 31:
        whole[0], whole[1] = own_a, own_b
    cuda.syncthreads()
    if i >= 32:
        own_b = own_a * whole[1] + own_b
        own_a = own_a * whole[0]
    if t < a.size:
        prefix_a[t] = own_a
        prefix_b[t] = own_b

# %% [variant] scale=2..9
# - step t is the map (`a[t]`, `b[t]`)
# + step t is the map (`a[t]`, {scale} · `b[t]`)
# - prefixes of the maps a, b [T]
# + prefixes of the maps a, {scale} · b [T]
# - = a[t], b[t]
# + = a[t], np.float32({scale}) * b[t]
# - = b[t] if t
# + = np.float32({scale}) * b[t] if t

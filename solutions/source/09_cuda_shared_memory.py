# %% [markdown]
# # 09 · Shared memory: exercises
#
# A product from tiles, a sum within a block, a sum within a warp, and a tile whose columns do not queue for one bank.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(tiled_matmul_kernel)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, cuda, hint, progress

# %% [markdown]
# ## Exercise: tiled_matmul_kernel
#
# <!-- exercise: tiled_matmul_kernel -->
#
# `c [M, N]` becomes `a [M, K]` times `b [K, N]`. Blocks are 8 by 8 threads; thread `(j, i)` of block `(bx, by)` makes the element of
# `c` in row `8·by + i` and column `8·bx + j`. Each number of `a` and `b` is loaded from global memory once for every tile of `c` that
# needs it, not once for every element: the check counts. Sizes need not be multiples of 8.


# %%
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    """c [M,N] becomes the product of a [M,K] and b [K,N]; blocks of 8 by 8 threads."""
    ### BEGIN SOLUTION
    tile_a = cuda.shared.array((8, 8), np.float32)
    tile_b = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile_a[i, j] = np.float32(0)
        tile_b[i, j] = np.float32(0)
        if row < a.shape[0] and start + j < a.shape[1]:
            tile_a[i, j] = a[row, start + j]
        if start + i < b.shape[0] and column < b.shape[1]:
            tile_b[i, j] = b[start + i, column]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[i, k] * tile_b[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
    ### END SOLUTION


# %%
check(tiled_matmul_kernel)

# %% [markdown]
# ## Exercise: block_sum_kernel
#
# <!-- exercise: block_sum_kernel -->
#
# Block `k` leaves in `out[k]` the sum of the elements of `x` that its threads own. Add up by halving: with 64 threads, 32 add a pair
# each, then 16, and so on. At most 64 threads a block, a power of 2. Threads beyond the end of `x` count as 0.


# %%
@cuda.jit
def block_sum_kernel(x, out):
    """out [blocks] becomes the sum of each block's share of x [n]; blockDim.x is a power of 2, at most 64."""
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

# %% [markdown]
# ## Exercise: warp_sum_kernel
#
# <!-- exercise: warp_sum_kernel -->
#
# The same for each warp of 32 threads, without shared memory and without a barrier: `cuda.shfl_down_sync(mask, value, step)` gives a
# lane the `value` of the lane `step` places on. `out[w]` is the sum of warp `w`, counted through the whole grid.


# %%
@cuda.jit
def warp_sum_kernel(x, out):
    """out [warps] becomes the sum of each warp's 32 numbers of x [n]; lanes beyond the end count 0."""
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

# %% [markdown]
# ## Exercise: transpose_without_conflicts
#
# <!-- exercise: transpose_without_conflicts -->
#
# Your transpose of lesson 08 with a larger tile: 32 by 32 numbers, moved by a block of 32 by 8 threads, so that each thread moves four.
# Shared memory has 32 banks; the check wants not a single conflict.


# %%
@cuda.jit
def transpose_without_conflicts(x, y):
    """y [columns,rows] becomes the transpose of x [rows,columns]; blocks of 32 by 8 threads."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), np.float32)
    j, first = cuda.threadIdx.x, cuda.threadIdx.y
    across, down = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for i in range(first, 32, cuda.blockDim.y):
        if down + i < x.shape[0] and across + j < x.shape[1]:
            tile[i, j] = x[down + i, across + j]
    cuda.syncthreads()
    for i in range(first, 32, cuda.blockDim.y):
        if across + i < y.shape[0] and down + j < y.shape[1]:
            y[across + i, down + j] = tile[j, i]
    ### END SOLUTION


# %%
check(transpose_without_conflicts)

# %%
progress("cuda_shared_memory")

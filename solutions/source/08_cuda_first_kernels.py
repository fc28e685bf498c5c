# %% [markdown]
# # 08 · First kernels: exercises
#
# Three kernels of your own, and one that somebody left with a race in it. Replace each `raise NotImplementedError` by your
# answer, run the cell, then the `check` below it. Without a GPU the kernels run in the simulator, thread by thread; with one,
# they run there. Stuck? `hint(saxpy_kernel)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress

# %% [markdown]
# ## Exercise: saxpy_kernel
#
# <!-- exercise: saxpy_kernel -->
#
# BLAS calls it saxpy: **s**ingle precision **a** times **x** **p**lus **y**. `x [n]` and `y [n]` are float32 arrays, `a` a number.
# One thread does one element and leaves `y[i] = a·x[i] + y[i]`. The last block may have threads without an element.


# %%
@cuda.jit
def saxpy_kernel(a, x, y):
    """y [n] becomes a·x + y, for x [n]; launched with at least n threads."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
    ### END SOLUTION


# %%
check(saxpy_kernel)

# %% [markdown]
# ## Exercise: tanh_kernel
#
# <!-- exercise: tanh_kernel -->
#
# `y [n]` becomes `tanh(x [n])`, and this time **any** grid must do: one block of 4 threads for 1 000 elements as well as 100 blocks.
# Each thread strides through the array, and every element is written once. Neighbouring threads should stay on neighbouring
# elements: the check counts the sectors that your loads move.


# %%
@cuda.jit
def tanh_kernel(x, y):
    """y [n] becomes tanh(x [n]), whatever the number of threads."""
    ### BEGIN SOLUTION
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.size, stride):
        y[i] = math.tanh(x[i])
    ### END SOLUTION


# %%
check(tanh_kernel)

# %% [markdown]
# ## Exercise: transpose_coalesced
#
# <!-- exercise: transpose_coalesced -->
#
# `y [columns, rows]` becomes the transpose of `x [rows, columns]`. Blocks are 8 by 8 threads; block `(bx, by)` reads the tile of `x`
# whose rows start at `8·by` and columns at `8·bx`. The naive kernel of the lesson writes down columns. Yours goes through
# `tile = cuda.shared.array((8, 8), np.float32)` and moves no more sectors than rows in tiles need. Sizes need not be multiples of 8.


# %%
@cuda.jit
def transpose_coalesced(x, y):
    """y [columns,rows] becomes the transpose of x [rows,columns]; blocks of 8 by 8 threads."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    if row < x.shape[0] and column < x.shape[1]:
        tile[i, j] = x[row, column]
    cuda.syncthreads()
    row = cuda.blockIdx.x * 8 + i
    column = cuda.blockIdx.y * 8 + j
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = tile[j, i]
    ### END SOLUTION


# %%
check(transpose_coalesced)

# %% [markdown]
# ## Given: a kernel with a race
#
# Each block smooths its own numbers, in a ring: `steps` times, every number becomes the mean of itself and its two neighbours.
# At most 32 threads a block. Launch it and read the finding.


# %%
@cuda.jit
def smooth_with_a_race(x, steps):
    """x, n numbers a block: `steps` times the mean of each number and its neighbours in the block's ring."""
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        part[i] = mean
    x[cuda.grid(1)] = part[i]


cuda.observe(smooth_with_a_race, 1, 8, np.arange(8, dtype="float32"), 2)

# %% [markdown]
# ## Exercise: fix_the_race
#
# <!-- exercise: fix_the_race -->
#
# The same kernel without the race. Two barriers in each step are enough; more cost points.


# %%
@cuda.jit
def fix_the_race(x, steps):
    """x, n numbers a block: `steps` times the mean of each number and its neighbours in the block's ring."""
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

# %%
progress("cuda_first_kernels")

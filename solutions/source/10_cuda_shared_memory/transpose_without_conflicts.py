# %% [markdown]
# ## Exercise: transpose_without_conflicts
#
# <!-- exercise: transpose_without_conflicts -->
#
# Your transpose of lesson 09 with a larger tile: 32 by 32 numbers, moved by a block of 32 by 8 threads, so that each thread moves four.
# Block `(bx, by)` reads the tile of `x` whose rows start at `32·by` and columns at `32·bx`. Sizes need not be multiples of 32.
# Shared memory has 32 banks. The check accepts no bank conflict, and no more sectors than whole rows need.


# %%
@cuda.jit
def transpose_without_conflicts(x, y):
    """y [columns,rows] becomes the transpose of x [rows,columns]; blocks of 32
    by 8 threads."""
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

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 20
# lines: 11

# %% [hint]
# A word's bank is its address in words, modulo 32. In a tile of 32 by 32 words, which banks do the 32 words of one
# column lie in?

# %% [hint]
# If a row of the tile were 33 words long, the words of a column would lie in 32 different banks. The last word of
# each row stays unused.

# %% [hint]
# `tile = cuda.shared.array((32, 33), np.float32)`; the block has 8 rows of threads, so each does rows i, i + 8, i +
# 16, i + 24 of the tile; the write takes tile[j, i].

# %% [mistake] lets a column of the tile lie in one bank
# - (32, 33)
# + (32, 32)

# %% [mistake] pads by two
# - (32, 33)
# + (32, 34)

# %% [mistake] reads the tile before the block has filled it
# -     cuda.syncthreads()
# -
# +

# %% [mistake] does each row of the tile but the first ones
# - range(first, 32,
# + range(first + cuda.blockDim.y, 32,

# %% [mistake] moves the tile but does not turn it
# - tile[j, i]
# + tile[i, j]

# %% [mistake] does not turn the places of the tiles
# - if across + i < y.shape[0] and down + j < y.shape[1]:
# -             y[across + i, down + j]
# + if down + i < y.shape[0] and across + j < y.shape[1]:
# +             y[down + i, across + j]

# %% [mistake] writes beyond the end
# - if across + i < y.shape[0] and down + j < y.shape[1]:
# + if i >= 0:

# %% [right]
from rnnlab import cuda
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for k in range(0, 32, 8):
        row = i + k
        if top + row < x.shape[0] and left + j < x.shape[1]:
            tile[row, (j + row) % 32] = x[top + row, left + j]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        row = i + k
        if left + row < y.shape[0] and top + j < y.shape[1]:
            y[left + row, top + j] = tile[j, (row + j) % 32]

# %% [right]
from rnnlab import cuda
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array(32 * 33, np.float32)
    j = cuda.threadIdx.x
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        row, column = cuda.blockIdx.y * 32 + i, cuda.blockIdx.x * 32 + j
        if row < x.shape[0] and column < x.shape[1]:
            tile[i * 33 + j] = x[row, column]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.y, 32, cuda.blockDim.y):
        row, column = cuda.blockIdx.x * 32 + i, cuda.blockIdx.y * 32 + j
        if row < y.shape[0] and column < y.shape[1]:
            y[row, column] = tile[j * 33 + i]

# %% [right]
from rnnlab import cuda
@cuda.jit
def transpose_without_conflicts(x, y):
    """y [columns,rows] becomes the transpose of x [rows,columns]; blocks of 32
    by 8 threads."""
    tile = cuda.shared.array(1024, np.float32)
    lane, group = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    rows, columns = x.shape
    for part in range(4):
        r = 4 * group + part
        if top + r < rows and left + lane < columns:
            tile[32 * r + (lane + r) % 32] = x[top + r, left + lane]
    cuda.syncthreads()
    for part in range(4):
        k = 4 * group + part
        if left + k < columns and top + lane < rows:
            y[left + k, top + lane] = tile[32 * lane + (k + lane) % 32]

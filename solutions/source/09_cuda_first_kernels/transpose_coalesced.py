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
    """y [columns,rows] becomes the transpose of x [rows,columns]; blocks of 8
    by 8 threads."""
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

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 25
# lines: 10

# %% [hint]
# One of the two, reading x or writing y, runs down a column whatever you do without shared memory. What may run down
# a column of a tile in shared memory instead?

# %% [hint]
# Read a tile along its rows into shared memory, wait for the whole block, then let neighbouring threads write
# neighbouring elements of a row of y. Thread (j, i) writes another element than it has read.

# %% [hint]
# After the barrier the block at (blockIdx.x, blockIdx.y) writes the tile of y whose rows start at blockIdx.x · 8 and
# columns at blockIdx.y · 8: `y[row, column] = tile[j, i]` with row from i, column from j.

# %% [mistake] holds writes to the shape of x
# - row < y.shape[0] and column < y.shape[1]
# + row < x.shape[0] and column < x.shape[1]

# %% [mistake] writes down the columns of y
# -         y[row, column] = tile[j, i]
# +         y[cuda.blockIdx.x * 8 + j, cuda.blockIdx.y * 8 + i] = tile[i, j]

# %% [mistake] reads the tile before the block has filled it
# -     cuda.syncthreads()
# -
# +

# %% [mistake] turns the tile but not the places of the tiles
# - row = cuda.blockIdx.x * 8 + i
# -     column = cuda.blockIdx.y * 8 + j
# + row = cuda.blockIdx.y * 8 + i
# +     column = cuda.blockIdx.x * 8 + j

# %% [mistake] moves the tiles but does not turn them
# - tile[j, i]
# + tile[i, j]

# %% [mistake] lets threads beyond the end read
# - if row < x.shape[0] and column < x.shape[1]:
# + if row >= 0:

# %% [mistake] lets threads beyond the end write
# - if row < y.shape[0] and column < y.shape[1]:
# + if row >= 0:

# %% [right]
from rnnlab import cuda
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 9), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    r0, c0 = cuda.blockIdx.y * 8, cuda.blockIdx.x * 8
    if r0 + ty < x.shape[0] and c0 + tx < x.shape[1]:
        tile[ty, tx] = x[r0 + ty, c0 + tx]
    cuda.syncthreads()
    if c0 + ty < y.shape[0] and r0 + tx < y.shape[1]:
        y[c0 + ty, r0 + tx] = tile[tx, ty]

# %% [right]
from rnnlab import cuda
@cuda.jit
def transpose_coalesced(x, y):
    turned = cuda.shared.array((8, 8), np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    row, column = cuda.blockIdx.y * 8 + i, cuda.blockIdx.x * 8 + j
    if row < x.shape[0]:
        if column < x.shape[1]:
            turned[j, i] = x[row, column]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 8 + i, cuda.blockIdx.y * 8 + j
    if row < x.shape[1] and column < x.shape[0]:
        y[row, column] = turned[i, j]

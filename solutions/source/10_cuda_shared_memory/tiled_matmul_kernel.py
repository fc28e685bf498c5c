# %% [markdown]
# ## Exercise: tiled_matmul_kernel
#
# <!-- exercise: tiled_matmul_kernel -->
#
# `c [M, N]` becomes `a [M, K]` times `b [K, N]`. Blocks are 8 by 8 threads; thread `(j, i)` of block `(bx, by)` makes the element of
# `c` in row `8·by + i` and column `8·bx + j`. Each number of `a` and `b` is loaded from global memory once for every tile of `c` that
# needs it, not once for every element, and two barriers a tile are enough: the check counts both. Sizes need not be multiples of 8.


# %%
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    """c [M,N] becomes the product of a [M,K] and b [K,N]; blocks of 8 by 8
    threads."""
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

# %% [properties]
# points: 5
# difficulty: 4
# minutes: 30
# lines: 18

# %% [hint]
# The 64 threads of a block make one tile of c. Which rows of a and which columns of b do they all need? How often
# does the naive kernel load each of those numbers?

# %% [hint]
# Go along the inner size in steps of 8. In each step every thread loads one number of a and one of b into shared
# tiles; a barrier; every thread adds 8 products from the tiles; a second barrier.

# %% [hint]
# `for start in range(0, a.shape[1], 8):` tile_a[i, j] is a[row, start + j] or 0 beyond the end, tile_b[i, j] is
# b[start + i, column] or 0; `cuda.syncthreads()`; add tile_a[i, k] · tile_b[k, j]; `cuda.syncthreads()`.

# %% [mistake] loads from global memory in the inner loop
# -             total += tile_a[i, k] * tile_b[k, j]
# +             if row < a.shape[0] and column < b.shape[1] and start + k < a.shape[1]:
# +                 total += a[row, start + k] * b[start + k, column]

# %% [mistake] uses a tile before the block has filled it
# -         cuda.syncthreads()
# -         for k
# +         for k

# %% [mistake] fills the next tile while others still use this one
# - total += tile_a[i, k] * tile_b[k, j]
# -         cuda.syncthreads()
# + total += tile_a[i, k] * tile_b[k, j]

# %% [mistake] takes tile_b transposed
# - tile_b[k, j]
# + tile_b[j, k]

# %% [mistake] takes tile_a transposed
# - tile_a[i, k]
# + tile_a[k, i]

# %% [mistake] keeps only the last tile's sum
# - total += tile_a[i, k] * tile_b[k, j]
# + total = total * np.float32(k > 0) + tile_a[i, k] * tile_b[k, j]

# %% [mistake] leaves old numbers in a tile that is not full
# -         tile_a[i, j] = np.float32(0)
# -         tile_b[i, j] = np.float32(0)
# -
# +

# %% [mistake] loads beyond the end of a or b
# - row < a.shape[0] and start + j < a.shape[1]
# + row >= 0

# %% [mistake] loads the same tile of a every time
# - a[row, start + j]
# + a[row, j]

# %% [mistake] leaves out the rest after the last whole tile
# - range(0, a.shape[1], 8)
# + range(0, a.shape[1] - a.shape[1] % 8, 8)

# %% [mistake] has a third barrier for each tile
# -         for k in range(8):
# +         cuda.syncthreads()
# +         for k in range(8):

# %% [right]
from rnnlab import cuda
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tiles = cuda.shared.array((2, 8, 8), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for t in range((a.shape[1] + 7) // 8):
        inner = 8 * t
        left, right = np.float32(0), np.float32(0)
        if row < a.shape[0] and inner + j < a.shape[1]:
            left = a[row, inner + j]
        if inner + i < b.shape[0] and column < b.shape[1]:
            right = b[inner + i, column]
        tiles[0, i, j] = left
        tiles[1, i, j] = right
        cuda.syncthreads()
        for k in range(8):
            total += tiles[0, i, k] * tiles[1, k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total

# %% [right]
from rnnlab import cuda
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    part_a = cuda.shared.array((8, 8), np.float32)
    part_b = cuda.shared.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    start = 0
    while start < a.shape[1]:
        width = min(8, a.shape[1] - start)
        if row < a.shape[0] and x < width:
            part_a[y, x] = a[row, start + x]
        if y < width and column < b.shape[1]:
            part_b[y, x] = b[start + y, column]
        cuda.syncthreads()
        if row < c.shape[0] and column < c.shape[1]:
            for k in range(width):
                total += part_a[y, k] * part_b[k, x]
        cuda.syncthreads()
        start += 8
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total

# %% [right]
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 8), np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    row, column = 8 * cuda.blockIdx.y + i, 8 * cuda.blockIdx.x + j
    if row < x.shape[0] and column < x.shape[1]:
        tile[i, j] = x[row, column]
    cuda.syncthreads()
    row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = tile[j, i]

# %% [wrong] reads the tile before the block has filled it
# -     cuda.syncthreads()
# -     row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j
# +     row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j

# %% [wrong] goes through the tile but still writes down columns
# -     row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j
# -     if row < y.shape[0] and column < y.shape[1]:
# -         y[row, column] = tile[j, i]
# +     if row < x.shape[0] and column < x.shape[1]:
# +         y[column, row] = tile[i, j]

# %% [wrong] moves the tiles but does not turn them
# -         y[row, column] = tile[j, i]
# +         y[row, column] = tile[i, j]

# %% [wrong] turns the tile but not the places of the tiles
# -     row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j
# -     if row < y.shape[0] and column < y.shape[1]:
# +     if row < y.shape[0] and column < y.shape[1]:

# %% [wrong] tests the old bounds when it writes
# -     if row < x.shape[0] and column < x.shape[1]:
# +     inside = row < x.shape[0] and column < x.shape[1]
# +     if inside:
# -     row, column = 8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j
# -     if row < y.shape[0] and column < y.shape[1]:
# -         y[row, column] = tile[j, i]
# +     if inside:
# +         y[8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j] = tile[j, i]

# %% [wrong] has the barrier where only some threads come
# -     cuda.syncthreads()
# +         cuda.syncthreads()

# %% [wrong] leaves early those threads without a number, before the barrier
# -     if row < x.shape[0] and column < x.shape[1]:
# -         tile[i, j] = x[row, column]
# +     if row >= x.shape[0] or column >= x.shape[1]:
# +         return
# +     tile[i, j] = x[row, column]

# %% [right]
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 8), np.float32)
    c, r = cuda.grid(2)
    rows, columns = x.shape
    if c < columns and r < rows:
        tile[cuda.threadIdx.x, cuda.threadIdx.y] = x[r, c]
    cuda.syncthreads()
    out_row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    out_column = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    if out_row < columns and out_column < rows:
        y[out_row, out_column] = tile[cuda.threadIdx.y, cuda.threadIdx.x]

# %% [right]
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 8), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    top = cuda.blockIdx.y * 8
    left = cuda.blockIdx.x * 8
    inside = top + ty < x.shape[0] and left + tx < x.shape[1]
    tile[ty, tx] = x[top + ty, left + tx] if inside else np.float32(0)
    cuda.syncthreads()
    if left + ty < y.shape[0] and top + tx < y.shape[1]:
        y[left + ty, top + tx] = tile[tx, ty]

# %% [wrong] writes down columns, without the tile
@cuda.jit
def transpose_coalesced(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        y[column, row] = x[row, column]

# %% [wrong] lets threads beyond the end read
@cuda.jit
def transpose_coalesced(x, y):
    tile = cuda.shared.array((8, 8), np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    tile[i, j] = x[8 * cuda.blockIdx.y + i, 8 * cuda.blockIdx.x + j]
    cuda.syncthreads()
    y[8 * cuda.blockIdx.x + i, 8 * cuda.blockIdx.y + j] = tile[j, i]

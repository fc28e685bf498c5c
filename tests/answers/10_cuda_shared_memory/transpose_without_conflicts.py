# %% [right]
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for r in range(i, 32, 8):
        if top + r < x.shape[0] and left + j < x.shape[1]:
            tile[r, j] = x[top + r, left + j]
    cuda.syncthreads()
    for r in range(i, 32, 8):
        if left + r < y.shape[0] and top + j < y.shape[1]:
            y[left + r, top + j] = tile[j, r]

# %% [wrong] lets a column of the tile lie in one bank
# -     tile = cuda.shared.array((32, 33), np.float32)
# +     tile = cuda.shared.array((32, 32), np.float32)

# %% [wrong] lets a column of the tile lie in one bank
# -     tile = cuda.shared.array((32, 33), np.float32)
# +     tile = cuda.shared.array((33, 32), np.float32)

# %% [wrong] pads by two
# -     tile = cuda.shared.array((32, 33), np.float32)
# +     tile = cuda.shared.array((32, 34), np.float32)

# %% [wrong] reads the tile before the block has filled it
# -     cuda.syncthreads()
# -     for r in range(i, 32, 8):
# +     for r in range(i, 32, 8):

# %% [wrong] a thread takes four neighbouring rows where the next thread continues; the last is left out
# -     for r in range(i, 32, 8):
# -         if top + r < x.shape[0] and left + j < x.shape[1]:
# +     for r in range(4 * i, 4 * i + 3):
# +         if top + r < x.shape[0] and left + j < x.shape[1]:
# -     for r in range(i, 32, 8):
# -         if left + r < y.shape[0] and top + j < y.shape[1]:
# +     for r in range(4 * i, 4 * i + 3):
# +         if left + r < y.shape[0] and top + j < y.shape[1]:

# %% [wrong] writes columns of y from rows of the tile: no conflict, but too many sectors
# -     tile = cuda.shared.array((32, 33), np.float32)
# +     tile = cuda.shared.array((32, 32), np.float32)
# -         if left + r < y.shape[0] and top + j < y.shape[1]:
# -             y[left + r, top + j] = tile[j, r]
# +         if top + r < x.shape[0] and left + j < x.shape[1]:
# +             y[left + j, top + r] = tile[r, j]

# %% [wrong] mixes up the bounds of y
# -         if left + r < y.shape[0] and top + j < y.shape[1]:
# +         if left + r < y.shape[1] and top + j < y.shape[0]:

# %% [right]
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for part in range(4):
        i = ty + 8 * part
        row, column = 32 * cuda.blockIdx.y + i, 32 * cuda.blockIdx.x + tx
        if row < x.shape[0] and column < x.shape[1]:
            tile[i, (tx + i) % 32] = x[row, column]
    cuda.syncthreads()
    for part in range(4):
        i = ty + 8 * part
        row, column = 32 * cuda.blockIdx.x + i, 32 * cuda.blockIdx.y + tx
        if row < y.shape[0] and column < y.shape[1]:
            y[row, column] = tile[tx, (i + tx) % 32]

# %% [right]
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    rows, columns = x.shape
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    k = 0
    while k < 32:
        if row + k < rows and column < columns:
            tile[cuda.threadIdx.x, cuda.threadIdx.y + k] = x[row + k, column]
        k += 8
    cuda.syncthreads()
    column = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    for k in (0, 8, 16, 24):
        if row + k < columns and column < rows:
            y[row + k, column] = tile[cuda.threadIdx.y + k, cuda.threadIdx.x]

# %% [wrong] moves one number a thread
@cuda.jit
def transpose_without_conflicts(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if top + i < x.shape[0] and left + j < x.shape[1]:
        tile[i, j] = x[top + i, left + j]
    cuda.syncthreads()
    if left + i < y.shape[0] and top + j < y.shape[1]:
        y[left + i, top + j] = tile[j, i]

# %% [right]
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    left = cuda.shared.array((8, 8), np.float32)
    right = cuda.shared.array((8, 8), np.float32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for k0 in range(0, a.shape[1], 8):
        left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
        right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(8):
            total += left[i, k] * right[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total

# %% [wrong] fills the next tile while others still use this one
# -         cuda.syncthreads()
# -     if row < c.shape[0] and column < c.shape[1]:
# +     if row < c.shape[0] and column < c.shape[1]:

# %% [wrong] leaves old numbers in the tile where k ends
# -     for k0 in range(0, a.shape[1], 8):
# -         left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
# -         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)
# +     left[i, j] = 0
# +     right[i, j] = 0
# +     for k0 in range(0, a.shape[1], 8):
# +         if row < a.shape[0] and k0 + j < a.shape[1]:
# +             left[i, j] = a[row, k0 + j]
# +         if k0 + i < b.shape[0] and column < b.shape[1]:
# +             right[i, j] = b[k0 + i, column]

# %% [wrong] leaves out the rest after the last whole tile
# -     for k0 in range(0, a.shape[1], 8):
# -         left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
# -         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)
# +     for piece in range(a.shape[1] // 8):
# +         k0 = 8 * piece
# +         left[i, j] = a[row, k0 + j] if row < a.shape[0] else np.float32(0)
# +         right[i, j] = b[k0 + i, column] if column < b.shape[1] else np.float32(0)

# %% [wrong] takes tile_b transposed
# -             total += left[i, k] * right[k, j]
# +             total += left[i, k] * right[j, k]

# %% [wrong] lets threads outside c go before the loop
# -     total = np.float32(0)
# +     if row >= c.shape[0] or column >= c.shape[1]:
# +         return
# +     total = np.float32(0)
# -         left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
# -         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)
# +         left[i, j] = a[row, k0 + j] if k0 + j < a.shape[1] else np.float32(0)
# +         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] else np.float32(0)
# -     if row < c.shape[0] and column < c.shape[1]:
# -         c[row, column] = total
# +     c[row, column] = total

# %% [wrong] keeps only the last tile's sum
# -     total = np.float32(0)
# -     for k0 in range(0, a.shape[1], 8):
# -         left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
# +     for k0 in range(0, a.shape[1], 8):
# +         total = np.float32(0)
# +         left[i, j] = a[row, k0 + j] if row < a.shape[0] and k0 + j < a.shape[1] else np.float32(0)
# -     if row < c.shape[0] and column < c.shape[1]:
# -         c[row, column] = total
# +         if row < c.shape[0] and column < c.shape[1]:
# +             c[row, column] = total

# %% [wrong] adds to what c held
# -     total = np.float32(0)
# -     for k0 in range(0, a.shape[1], 8):
# +     for k0 in range(0, a.shape[1], 8):
# -         for k in range(8):
# +         total = np.float32(0)
# +         for k in range(8):
# -     if row < c.shape[0] and column < c.shape[1]:
# -         c[row, column] = total
# +         if row < c.shape[0] and column < c.shape[1]:
# +             c[row, column] += total

# %% [wrong] has a third barrier for each tile
# -         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)
# +         cuda.syncthreads()
# +         right[i, j] = b[k0 + i, column] if k0 + i < b.shape[0] and column < b.shape[1] else np.float32(0)

# %% [right]
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((8, 8), np.float32)
    tile_b = cuda.shared.array((8, 8), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * 8 + ty
    col = cuda.blockIdx.x * 8 + tx
    M, K = a.shape
    N = b.shape[1]
    acc = np.float32(0.0)
    t = 0
    while t * 8 < K:
        if row < M and t * 8 + tx < K:
            tile_a[ty, tx] = a[row, t * 8 + tx]
        if col < N and t * 8 + ty < K:
            tile_b[ty, tx] = b[t * 8 + ty, col]
        cuda.syncthreads()
        if row < M and col < N:
            for k in range(min(8, K - t * 8)):
                acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
        t += 1
    if row < M and col < N:
        c[row, col] = acc

# %% [right]
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tiles = cuda.shared.array((2, 8, 9), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 8 * cuda.blockIdx.y + y, 8 * cuda.blockIdx.x + x
    total = np.float32(0)
    for piece in range((a.shape[1] + 7) // 8):
        k = 8 * piece + x
        tiles[0, y, x] = 0
        if row < a.shape[0] and k < a.shape[1]:
            tiles[0, y, x] = a[row, k]
        k = 8 * piece + y
        tiles[1, x, y] = 0
        if k < b.shape[0] and column < b.shape[1]:
            tiles[1, x, y] = b[k, column]
        cuda.syncthreads()
        for k in range(8):
            total += tiles[0, y, k] * tiles[1, x, k]
        cuda.syncthreads()
    if row < c.shape[0]:
        if column < c.shape[1]:
            c[row, column] = total

# %% [wrong] loads from global memory in the inner loop
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total

# %% [wrong] loads beyond the end of a or b
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((8, 8), np.float32)
    tile_b = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        if row < a.shape[0] and start + j < a.shape[1]:
            tile_a[i, j] = a[row, start + j]
        else:
            tile_a[i, j] = 0
        if start + j < b.shape[0] and column < b.shape[1]:
            tile_b[i, j] = b[start + i, column]
        else:
            tile_b[i, j] = 0
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[i, k] * tile_b[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total

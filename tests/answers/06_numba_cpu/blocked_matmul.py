# %% [wrong] takes the indices of b the wrong way round
# -     """c + a b [M,N], from a [M,K], b [K,N], c [M,N], in tiles of `tile` by `tile`."""
# +     out = c.copy()
# -     out = c.copy()
# -     for i0 in range(0, M, tile):
# +     for i0 in range(0, M, tile):
# -                             out[i, j] += a[i, k] * b[k, j]
# +                             out[i, j] += a[i, k] * b[j, k]

# %% [right]
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    M, K = a.shape
    N = b.shape[1]
    for i0 in range(0, M, tile):
        for k0 in range(0, K, tile):
            for j0 in range(0, N, tile):
                for i in range(i0, min(i0 + tile, M)):
                    for k in range(k0, min(k0 + tile, K)):
                        for j in range(j0, min(j0 + tile, N)):
                            out[i, j] += a[i, k] * b[k, j]
    return out

# %% [wrong] leaves out the rows behind the last whole tile
# -     for i0 in range(0, M, tile):
# +     for i0 in range(0, M - tile + 1, tile):
# -                 for i in range(i0, min(i0 + tile, M)):
# +                 for i in range(i0, i0 + tile):

# %% [wrong] starts from zeros
# -     out = c.copy()
# +     out = np.zeros_like(c)

# %% [wrong] overwrites its input
# -     out = c.copy()
# -     M, K = a.shape
# +     M, K = a.shape
# -                             out[i, j] += a[i, k] * b[k, j]
# -     return out
# +                             c[i, j] += a[i, k] * b[k, j]
# +     return c

# %% [wrong] runs past the edge
# -                 for i in range(i0, min(i0 + tile, M)):
# -                     for k in range(k0, min(k0 + tile, K)):
# -                         for j in range(j0, min(j0 + tile, N)):
# +                 for i in range(i0, i0 + tile):
# +                     for k in range(k0, k0 + tile):
# +                         for j in range(j0, j0 + tile):

# %% [wrong] lets tiles overlap by one
# -                     for k in range(k0, min(k0 + tile, K)):
# +                     for k in range(k0, min(k0 + tile + 1, K)):

# %% [right]
def blocked_matmul(a, b, c, tile):
    out = c.copy()

    def piece(first, size):
        return range(first, min(first + tile, size))

    for j0 in range(0, out.shape[1], tile):
        for k0 in range(0, a.shape[1], tile):
            for i0 in range(0, a.shape[0], tile):
                for i in piece(i0, a.shape[0]):
                    for k in piece(k0, a.shape[1]):
                        left = a[i, k]
                        for j in piece(j0, out.shape[1]):
                            out[i, j] = out[i, j] + left * b[k, j]
    return out

# %% [right]
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    M, N, K = len(a), b.shape[1], len(b)
    for k0 in range(0, K, tile):
        for i0 in range(0, M, tile):
            for j0 in range(0, N, tile):
                for i in range(i0, min(M, i0 + tile)):
                    for j in range(j0, min(N, j0 + tile)):
                        total = out[i, j]
                        for k in range(k0, min(K, k0 + tile)):
                            total += a[i, k] * b[k, j]
                        out[i, j] = total
    return out

# %% [wrong] makes one tile of everything
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out

# %% [wrong] leaves k in one piece
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    M, K = a.shape
    N = b.shape[1]
    for i0 in range(0, M, tile):
        for j0 in range(0, N, tile):
            for i in range(i0, min(i0 + tile, M)):
                for k in range(K):
                    for j in range(j0, min(j0 + tile, N)):
                        out[i, j] += a[i, k] * b[k, j]
    return out

# %% [wrong] makes one tile of everything
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    M, K = a.shape
    N = b.shape[1]
    for i in range(M):
        for i0 in range(1):
            for k0 in range(0, K, tile):
                for k in range(k0, min(k0 + tile, K)):
                    for j0 in range(0, N, tile):
                        for j in range(j0, min(j0 + tile, N)):
                            out[i, j] += a[i, k] * b[k, j]
    return out

# %% [wrong] cuts k alone
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    for k0 in range(0, a.shape[1], tile):
        for i in range(a.shape[0]):
            for k in range(k0, min(k0 + tile, a.shape[1])):
                for j in range(b.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]
    return out

# %% [wrong] leaves out everything behind the last whole tiles
def blocked_matmul(a, b, c, tile):
    out = c.copy()
    for i0 in range(0, a.shape[0] // tile * tile, tile):
        for j0 in range(0, b.shape[1] // tile * tile, tile):
            for k0 in range(0, len(b) // tile * tile, tile):
                for i in range(i0, i0 + tile):
                    for k in range(k0, k0 + tile):
                        for j in range(j0, j0 + tile):
                            out[i, j] += a[i, k] * b[k, j]
    return out

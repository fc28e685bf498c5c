# %% [markdown]
# ## Exercise: blocked_matmul
#
# <!-- exercise: blocked_matmul -->
#
# `c [M,N] + a [M,K] b [K,N]` in tiles. Begin with `out = c.copy()`, add one product `a[i, k] * b[k, j]` at a time to `out[i, j]`, and return `out`. In a recurrent network c is what the input sends to the gates, and a the states of a minibatch.
#
# - Cut **all three** loops into pieces of `tile`. Sizes need not be multiples of it.
# - Every access goes through a small cache: 64 lines of 8 numbers, of which the one used longest ago makes room. The check counts the misses: at most 1.5 times as many as those of the course's own tiles.
# - Read `a[i, k]` and `b[k, j]` where they are multiplied, and write the sum soon after: what waits elsewhere would need a cache, too.


# %%
def blocked_matmul(a, b, c, tile):
    """c + a b [M,N], from a [M,K], b [K,N], c [M,N], in tiles of `tile` by `tile`."""
    ### BEGIN SOLUTION
    (M, K), N = a.shape, b.shape[1]
    out = c.copy()
    for i0 in range(0, M, tile):
        for j0 in range(0, N, tile):
            for k0 in range(0, K, tile):
                for i in range(i0, min(i0 + tile, M)):
                    for k in range(k0, min(k0 + tile, K)):
                        for j in range(j0, min(j0 + tile, N)):
                            out[i, j] += a[i, k] * b[k, j]
    return out
    ### END SOLUTION


# %%
check(blocked_matmul)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 10

# %% [hint]
# Begin with three loops that give the right sums. Then think of the loops over i, j and k as going in strides of
# `tile`, and of three more loops that walk through one tile of each.

# %% [hint]
# Outer loops: i0, j0 and k0 in range(0, size, tile). Inner loops: i from i0 to i0 + tile, but not past M, and so on.
# k must be cut as well: a tile of b has tile rows, not K.

# %% [hint]
# `for i in range(i0, min(i0 + tile, M)):`, the same for k with k0 and K, for j with j0 and N; inside `out[i, j] +=
# a[i, k] * b[k, j]`, where out = c.copy(). Six loops, and return out.

# %% [mistake] makes one tile of everything
# -     out = c
# +     tile = max(M, N, K)
# +     out = c

# %% [mistake] leaves k in one piece
# - for k0 in range(0, K, tile):
# -                 for i in range(i0, min(i0 + tile, M)):
# -                     for k in range(k0, min(k0 + tile, K)):
# + for k0 in range(1):
# +                 for i in range(i0, min(i0 + tile, M)):
# +                     for k in range(K):

# %% [mistake] leaves out the columns behind the last whole tile
# - 0, N, tile)
# + 0, N - N % tile, tile)

# %% [mistake] leaves out the terms behind the last whole tile
# - 0, K, tile)
# + 0, K - K % tile, tile)

# %% [mistake] leaves out the rows behind the last whole tile
# - 0, M, tile)
# + 0, M - M % tile, tile)

# %% [mistake] leaves out everything behind the last whole tiles
# -     out = c
# +     M, N, K = M - M % tile, N - N % tile, K - K % tile
# +     out = c

# %% [mistake] lets tiles overlap
# - 0, K, tile)
# + 0, K, tile - 1)

# %% [mistake] starts from zeros
# - c.copy()
# + np.zeros_like(c)

# %% [mistake] keeps only the last product of each sum
# - out[i, j] += a
# + out[i, j] = a

# %% [mistake] runs past the edge
# - min(k0 + tile, K)
# + k0 + tile

# %% [mistake] overwrites its input
# - out = c.copy()
# + out = c

# %% [mistake] keeps copies of its own
# -     out = c
# +     a = {(i, k): a[i, k] for i in range(M) for k in range(K)}
# +     b = {(k, j): b[k, j] for k in range(K) for j in range(N)}
# +     out = c

# %% [right]
def blocked_matmul(a, b, c, tile):
    M, N = c.shape
    K = len(b)
    out = c.copy()
    for k0 in range(0, K, tile):
        for j0 in range(0, N, tile):
            for i0 in range(0, M, tile):
                for i in range(i0, min(M, i0 + tile)):
                    for j in range(j0, min(N, j0 + tile)):
                        total = 0.0
                        for k in range(k0, min(K, k0 + tile)):
                            total += a[i, k] * b[k, j]
                        out[i, j] += total
    return out

# %% [right]
def add_tile(a, b, out, rows, columns, terms):
    for i in rows:
        for k in terms:
            factor = a[i, k]
            for j in columns:
                out[i, j] = out[i, j] + factor * b[k, j]

def blocked_matmul(a, b, c, tile):
    out = np.copy(c)
    pieces = lambda size: [range(n, min(n + tile, size)) for n in range(0, size, tile)]
    for columns in pieces(b.shape[1]):
        for rows in pieces(a.shape[0]):
            for terms in pieces(b.shape[0]):
                add_tile(a, b, out, rows, columns, terms)
    return out

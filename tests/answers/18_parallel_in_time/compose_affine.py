# %% [right]
def compose_affine(later, earlier):
    result = np.array(earlier)
    result = np.matmul(later[..., :-1], result)
    result[..., -1] = result[..., -1] + later[..., -1]
    return result

# %% [right]
def compose_affine(later, earlier):
    n = later.shape[-2]
    out = np.empty_like(later)
    out[..., :n] = later[..., :n] @ earlier[..., :n]
    out[..., n] = (later[..., :n] * earlier[..., None, :, n]).sum(-1) + later[..., n]
    return out

# %% [right]
def compose_affine(later, earlier):
    shape, n = later.shape, later.shape[-2]
    pairs = zip(later.reshape(-1, n, n + 1), earlier.reshape(-1, n, n + 1))
    maps = [np.column_stack([l[:, :n] @ e[:, :n], l[:, :n] @ e[:, n] + l[:, n]]) for l, e in pairs]
    return np.array(maps).reshape(shape)

# %% [wrong] does the later map first
def compose_affine(later, earlier):
    product = earlier[..., :-1] @ later
    product[..., -1] += earlier[..., -1]
    return product

# %% [wrong] adds the earlier b in place of the later one
# -     product = earlier[..., :-1] @ later
# +     product = later[..., :-1] @ earlier

# %% [wrong] forgets the later b
def compose_affine(later, earlier):
    return np.einsum("...ij,...jk->...ik", later[..., :-1], earlier)

# %% [wrong] adds both b without the matrix
def compose_affine(later, earlier):
    a = later[..., :-1] @ earlier[..., :-1]
    return np.concatenate([a, later[..., -1:] + earlier[..., -1:]], axis=-1)

# %% [wrong] adds the maps
def compose_affine(later, earlier):
    return later + earlier

# %% [wrong] multiplies whole arrays element by element
def compose_affine(later, earlier):
    product = later * earlier
    product[..., -1] += later[..., -1]
    return product

# %% [wrong] multiplies the matrices element by element
def compose_affine(later, earlier):
    a2, b2 = later[..., :-1], later[..., -1]
    a1, b1 = earlier[..., :-1], earlier[..., -1]
    a = a2 * a1
    b = np.einsum("...ij,...j->...i", a2, b1) + b2
    return np.concatenate([a, b[..., None]], axis=-1)

# %% [wrong] multiplies the matrices in the wrong order
# -     a = a2 * a1
# +     a = a1 @ a2

# %% [wrong] adds b1 to the vector twice
# -     a = a2 * a1
# +     a = a2 @ a1
# - a2, b1) + b2
# + a2, b1) + b2 + b1

# %% [wrong] returns a pair in place of one array
def compose_affine(later, earlier):
    product = later[..., :-1] @ earlier
    return product[..., :-1], product[..., -1] + later[..., -1]

# %% [wrong] writes into its argument
def compose_affine(later, earlier):
    earlier[...] = later[..., :-1] @ earlier
    earlier[..., -1] += later[..., -1]
    return earlier

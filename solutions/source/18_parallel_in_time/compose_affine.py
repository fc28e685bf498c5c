# %% [markdown]
# ## Exercise: compose_affine
#
# <!-- exercise: compose_affine -->
#
# A step h → a·h + b of n units is a map: a matrix `a [n,n]` and a vector `b [n]`. Here both stand in one array `[n,n+1]`: the columns of `a`, and `b` as the last column.
#
# `later` and `earlier` hold as many maps each, `[K,n,n+1]` or with more axes in front. Return the maps that do `earlier` first and then `later`, pair by pair.


# %%
def compose_affine(later, earlier):
    """Maps [...,n,n+1] that do `earlier` first and then `later`, from maps
    [...,n,n+1]."""
    ### BEGIN SOLUTION
    a, b = later[..., :-1], later[..., -1:]
    product = a @ earlier
    product[..., -1:] += b
    return product
    ### END SOLUTION


# %%
check(compose_affine)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 4

# %% [hint]
# Write down what happens to a state: first a₁·h + b₁, then a₂ times that, plus b₂. Which part multiplies h, and what is
# left?

# %% [hint]
# The new a is a₂·a₁, in this order: the matrix of the later map stands left. The new b is a₂·b₁ + b₂. The product a₂ times the
# whole array of `earlier` yields both a₂·a₁ and a₂·b₁, because b₁ is one more column.

# %% [hint]
# `product = later[..., :-1] @ earlier`, then `product[..., -1] += later[..., -1]`. The three dots stand for all axes in
# front.

# %% [mistake] does the later map first
# - a, b = later[..., :-1], later[..., -1:]
# + later, earlier = earlier, later
# +     a, b = later[..., :-1], later[..., -1:]

# %% [mistake] multiplies the matrices in the wrong order
# -     product = a @ earlier
# -
# +     product = np.concatenate([earlier[..., :-1] @ a, a @ earlier[..., -1:]], -1)
# +

# %% [mistake] forgets the later b
# -     product[..., -1:] += b
# -
# +

# %% [mistake] adds both b without the matrix
# -     product[..., -1:] += b
# -
# +     product[..., -1:] = earlier[..., -1:] + b
# +

# %% [mistake] multiplies the matrices element by element
# - a @ earlier
# + np.concatenate([a * earlier[..., :-1], a @ earlier[..., -1:]], -1)

# %% [mistake] multiplies whole arrays element by element
# - a @ earlier
# + later * earlier

# %% [mistake] adds the earlier b in place of the later one
# - += b
# + += earlier[..., -1:]

# %% [mistake] takes the transpose of the later matrix
# - a @ earlier
# + a.swapaxes(-1, -2) @ earlier

# %% [mistake] takes the transpose of the earlier matrix
# - a @ earlier
# + a @ np.concatenate([earlier[..., :-1].swapaxes(-1, -2), earlier[..., -1:]], -1)

# %% [mistake] applies the later matrix to both b
# - product[..., -1:] += b
# + product[..., -1:] += a @ b

# %% [mistake] composes the first pair only
# - a @ earlier
# + a[:1] @ earlier

# %% [right]
def compose_affine(later, earlier):
    n = later.shape[-2]
    a = np.einsum("...ij,...jk->...ik", later[..., :n], earlier[..., :n])
    b = np.einsum("...ij,...j->...i", later[..., :n], earlier[..., n]) + later[..., n]
    return np.concatenate([a, b[..., np.newaxis]], axis=-1)

# %% [right]
def compose_affine(later, earlier):
    bottom = np.zeros((*earlier.shape[:-2], 1, earlier.shape[-1]))
    bottom[..., -1] = 1
    return later @ np.concatenate([earlier, bottom], axis=-2)

# %% [markdown]
# ## Exercise: pad_dimension
#
# <!-- exercise: pad_dimension -->
#
# `x [T,B,I]` is to be multiplied with `weight [M,I]`, but I and M are no multiples of `multiple`. Return both with zeros behind their numbers, so that the inputs and the units become the next multiples; a size that is a multiple already stays. Steps and sequences stay as they are, and so does the dtype.


# %%
def pad_dimension(x, weight, multiple):
    """(x [T,B,P], weight [Q,P])"""
    ### BEGIN SOLUTION
    up = lambda n: -(-n // multiple) * multiple
    (T, B, I), (M, _) = x.shape, weight.shape
    wide = np.zeros((T, B, up(I)), x.dtype)
    tall = np.zeros((up(M), up(I)), weight.dtype)
    wide[:T, :B, :I] = x
    tall[:M, :I] = weight
    return wide, tall
    ### END SOLUTION


# %%
check(pad_dimension)

# %% [facts]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 5

# %% [hint]
# The product over I inputs must not notice the padding. What must stand in the new columns of x, and what in those of
# the weights? What do the new rows of the weights then give?

# %% [hint]
# Round I and the number of units up to the next multiple; a size that is one already stays. Zeros in the new columns
# add nothing to a sum; zeros in the new rows give units that stay 0.

# %% [hint]
# `up = lambda n: -(-n // multiple) * multiple`; `np.zeros((T, B, up(I)), x.dtype)` and then `[:, :, :I] = x`;
# likewise the weights. The minibatch stays.

# %% [mistake] pads to a power of two
# - -(-n // multiple) * multiple
# + 1 << (n - 1).bit_length()

# %% [mistake] adds a multiple where none is needed
# - -(-n // multiple) * multiple
# + (n // multiple + 1) * multiple

# %% [mistake] pads with ones
# - np.zeros((T, B, up(I)), x.dtype)
# + np.ones((T, B, up(I)), x.dtype)

# %% [mistake] puts the padding in front
# -     wide[:T, :B, :I] = x
# -     tall[:M, :I] = weight
# +     wide[:, :, up(I) - I :] = x
# +     tall[up(M) - M :, up(I) - I :] = weight

# %% [mistake] leaves the rows of the weights as they are
# - np.zeros((up(M), up(I))
# + np.zeros((M, up(I))

# %% [mistake] leaves the inputs as they are
# - return wide, tall
# + return x, tall

# %% [mistake] pads the minibatch too
# - np.zeros((T, B, up(I)), x.dtype)
# -
# + np.zeros((T, up(B), up(I)), x.dtype)
# +

# %% [mistake] returns the wrong dtype
# - np.zeros((T, B, up(I)), x.dtype)
# + np.zeros((T, B, up(I)))

# %% [right]
def pad_dimension(x, weight, multiple):
    more = lambda n: -n % multiple
    columns = (0, more(x.shape[2]))
    return np.pad(x, ((0, 0), (0, 0), columns)), np.pad(weight, ((0, more(len(weight))), columns))

# %% [right]
def pad_dimension(x, weight, multiple):
    def padded(a, axis):
        shape = list(a.shape)
        shape[axis] = (multiple - shape[axis] % multiple) % multiple
        return np.concatenate([a, np.zeros(shape, a.dtype)], axis)
    return padded(x, 2), padded(padded(weight, 1), 0)

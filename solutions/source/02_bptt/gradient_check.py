# %% [markdown]
# ## Exercise: gradient_check
#
# <!-- exercise: gradient_check -->
#
# `loss(array)` returns a number. For **every** entry of `array`, of any shape, change that entry by `+eps` and by `−eps`, leave
# all others as they were, and take the central difference (loss above − loss below) / (2·eps). Return two things:
#
# - `numeric`, those differences, with the shape of `array`;
# - `error`, a float: ‖gradient − numeric‖ / ‖numeric‖, over all entries.
#
# `array` belongs to the caller: it must hold exactly the same numbers afterwards.


# %%
def gradient_check(loss, array, gradient, eps):
    """(numeric, error): central differences of loss at array [...], and how far
    gradient [...] is from them."""
    ### BEGIN SOLUTION
    numeric = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        point = array.copy()
        point[index] += eps
        above = loss(point)
        point[index] -= 2 * eps
        numeric[index] = (above - loss(point)) / (2 * eps)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))
    ### END SOLUTION


# %%
check(gradient_check)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 15
# lines: 8

# %% [hint]
# Forget backpropagation: a gradient entry says how fast the loss changes when one entry of the array moves. Move it,
# look at the loss, put it back. Then the next entry.

# %% [hint]
# Central difference: (loss at +eps − loss at −eps) / (2·eps), with all other entries where they were. Work on a copy:
# the array belongs to the caller. `np.ndindex(array.shape)` gives the index of every entry of an array of any shape.

# %% [hint]
# For each index: `point = array.copy()`, `point[index] += eps`, `above = loss(point)`, `point[index] -= 2 * eps`,
# `below = loss(point)`. At the end return two things: the numeric array, and the float ‖gradient − numeric‖ /
# ‖numeric‖ with `np.linalg.norm`.

# %% [mistake] uses a one-sided difference
# - (above - loss(point)) / (2 * eps)
# + (above - loss(array)) / eps

# %% [mistake] divides by eps instead of 2 eps
# - / (2 * eps)
# + / eps

# %% [mistake] takes the difference the wrong way round
# - (above - loss(point))
# + (loss(point) - above)

# %% [mistake] leaves an entry moved while it tries the next
# -     for index in np.ndindex(array.shape):
# -         point = array.copy()
# -
# +     point = array.copy()
# +     for index in np.ndindex(array.shape):
# +

# %% [mistake] tries the first row only
# - np.ndindex(array.shape)
# + np.ndindex((1, *array.shape[1:]))

# %% [mistake] ignores eps
# -     numeric = np.
# +     eps = 1e-5
# +     numeric = np.

# %% [mistake] returns the absolute error
# -  / np.linalg.norm(numeric)
# +

# %% [mistake] divides by the norm of the gradient under test
# - norm(numeric)
# + norm(gradient)

# %% [mistake] takes the largest relative error of one entry
# - float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))
# + float((np.abs(gradient - numeric) / np.maximum(np.abs(gradient), np.abs(numeric))).max())

# %% [mistake] takes the largest difference
# - np.linalg.norm(gradient - numeric)
# + np.abs(gradient - numeric).max()

# %% [mistake] changes its input
# - point = array.copy()
# + point = array

# %% [right]
def gradient_check(loss, array, gradient, eps):
    numeric = np.empty(array.size)
    for k in range(array.size):
        step = np.zeros(array.size)
        step[k] = eps
        step = step.reshape(array.shape)
        numeric[k] = (loss(array + step) - loss(array - step)) / eps / 2
    numeric = numeric.reshape(array.shape)
    error = np.sqrt(((gradient - numeric) ** 2).sum() / (numeric**2).sum())
    return numeric, float(error)

# %% [right]
def gradient_check(loss, array, gradient, eps):
    numeric = {}
    for index, value in np.ndenumerate(array):
        losses = []
        for sign in (1, -1):
            kept = array[index]
            array[index] = value + sign * eps
            losses.append(loss(array))
            array[index] = kept
        numeric[index] = (losses[0] - losses[1]) / (2 * eps)
    numeric = np.array(list(numeric.values())).reshape(array.shape)
    return numeric, float(np.linalg.norm(numeric - gradient) / np.linalg.norm(numeric))

# %% [variant] width=2..9
# - change that entry by `+eps` and by `−eps`
# + change that entry by `+{width}·eps` and by `−{width}·eps`
# - (loss above − loss below) / (2·eps)
# + (loss above − loss below) / ({2*width}·eps)
# - (loss at +eps − loss at −eps) / (2·eps)
# + (loss at +{width}·eps − loss at −{width}·eps) / ({2*width}·eps)
# - point[index] += eps
# + point[index] += {width} * eps
# - -= 2 * eps
# + -= {2*width} * eps
# - / (2 * eps)
# + / ({2*width} * eps)
# - / eps
# + / ({width} * eps)
# - step[k] = eps
# + step[k] = {width} * eps
# - value + sign * eps
# + value + sign * {width} * eps
# - divides by eps instead of 2 eps
# + divides by {width} eps instead of {2*width} eps

# %% [markdown]
# ## Exercise: clip_by_global_norm
#
# <!-- exercise: clip_by_global_norm -->
#
# `gradients` is a dict, {name: array}. Its **global norm** is the length of all numbers of all arrays, written as one
# long vector. If it is above `limit`, scale all arrays by one common factor, so that the global norm becomes `limit`.
# If not, return the same numbers.
#
# Return a new dict with the same names and dtypes, and leave the dict and the arrays that you were given as they are.
#
# A gradient that explodes may hold numbers up to 1e25. Squared, such a float32 is infinity (the largest float32 is 3.4e38): compute
# the norm in float64.

# %%
def clip_by_global_norm(gradients, limit):
    """{name: array}: the gradients, scaled together so that their global norm
    is at most limit."""
    ### BEGIN SOLUTION
    squares = sum(np.square(gradient, dtype="float64").sum() for gradient in gradients.values())
    norm = np.sqrt(squares)
    factor = float(limit / norm) if norm > limit else 1.0
    return {name: gradient * factor for name, gradient in gradients.items()}
    ### END SOLUTION


# %%
check(clip_by_global_norm)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 4

# %% [hint]
# Clipping must not change the direction of the step, only its length. What may then differ between the factor for one
# array and the factor for another?

# %% [hint]
# Write all numbers of all arrays one after the other: the global norm is the length of that vector, the square root
# of the sum of all squares. Above the limit every array is multiplied by limit / norm; else by 1.

# %% [hint]
# `norm = np.sqrt(sum((g.astype("float64") ** 2).sum() for g in gradients.values()))`; then a factor as a float, which leaves
# float32 arrays float32: 1 unless norm > limit; then `{name: g * factor for name, g in gradients.items()}`.

# %% [mistake] stretches small gradients up to the limit
# - float(limit / norm) if norm > limit else 1.0
# + float(limit / (norm or 1))

# %% [mistake] clips every number on its own
# - gradient * factor for
# + np.clip(gradient, -limit, limit) for

# %% [mistake] clips every array on its own
# - gradient * factor for
# + gradient * min(1.0, limit / float(np.linalg.norm(gradient.astype("float64")) + 1e-30)) for

# %% [mistake] forgets the square root
# - np.sqrt(squares)
# + squares

# %% [mistake] adds up the norms of the arrays
# - np.sqrt(squares)
# + sum(np.linalg.norm(gradient.astype("float64")) for gradient in gradients.values())

# %% [mistake] takes the largest number for the norm
# - np.sqrt(squares)
# + max(np.abs(gradient).max() for gradient in gradients.values())

# %% [mistake] takes the mean of the squares
# - np.sqrt(squares)
# + np.sqrt(squares / sum(g.size for g in gradients.values()))

# %% [mistake] scales to length 1 instead of the limit
# - float(limit / norm) if
# + float(1 / norm) if

# %% [mistake] computes the squares in float32
# - np.square(gradient, dtype="float64")
# + np.square(gradient)

# %% [mistake] returns the dict that it was given
# - return {name: gradient * factor for name, gradient in gradients.items()}
# + return {name: gradient * factor for name, gradient in gradients.items()} if norm > limit else gradients

# %% [mistake] changes its input
# - gradient * factor for
# + np.multiply(gradient, factor, out=gradient) for

# %% [mistake] returns the wrong type
# - return {name: gradient * factor for name, gradient in gradients.items()}
# + return [gradient * factor for gradient in gradients.values()]

# %% [right]
def clip_by_global_norm(gradients, limit):
    everything = np.concatenate([g.ravel() for g in gradients.values()]).astype("float64")
    norm = np.linalg.norm(everything)
    if norm <= limit:
        return dict(gradients)
    return {name: (g / (norm / limit)).astype(g.dtype) for name, g in gradients.items()}

# %% [right]
def clip_by_global_norm(gradients, limit):
    total = 0.0
    for g in gradients.values():
        exact = g.astype(float)
        total += float(np.vdot(exact, exact))
    clipped = {}
    for name in gradients:
        clipped[name] = gradients[name].copy()
        if total > limit**2:
            clipped[name] *= limit / total**0.5
    return clipped

# %% [right]
def clip_by_global_norm(gradients, limit):
    norm = sum(np.linalg.norm(g.astype(np.float64)) ** 2 for g in gradients.values()) ** 0.5
    factor = min(1.0, float(limit / (norm + 1e-6)))
    return {name: factor * g for name, g in gradients.items()}

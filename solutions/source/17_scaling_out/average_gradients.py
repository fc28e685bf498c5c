# %% [markdown]
# ## Exercise: average_gradients
#
# <!-- exercise: average_gradients -->
#
# This function runs on every rank. `gradients` is a list of arrays: the gradients of the mean loss over the `sequences` sequences of **this** rank. Other ranks have other numbers of sequences, and a rank may have none: its gradients are then arrays of NaN, a mean over nothing.
#
# `all_reduce(array)` returns the sum of the arrays that all ranks pass to it; every rank must call it equally often, with arrays of the same shapes in the same order. It takes arrays only: pass a number as `np.array([number])`. Return the list of gradients of the mean loss over the sequences of **all** ranks, in the same dtype. Do not change `gradients`.


# %%
def average_gradients(all_reduce, gradients, sequences):
    """Gradients of the mean loss over the sequences of all ranks."""
    ### BEGIN SOLUTION
    total = all_reduce(np.array([float(sequences)]))[0]
    averages = []
    for gradient in gradients:
        part = sequences * gradient if sequences > 0 else np.zeros_like(gradient)
        averages.append((all_reduce(part) / total).astype(gradient.dtype))
    return averages
    ### END SOLUTION


# %%
check(average_gradients)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 6

# %% [hint]
# Three sequences on one rank, one on another. In the mean over four sequences, how much does the first rank's mean
# count, and how much the second's?

# %% [hint]
# A rank's mean times its number of sequences is the sum over its sequences. Sums can be added over ranks; divide once,
# by the number of all sequences, which is a sum over ranks as well.

# %% [hint]
# `total = all_reduce(np.array([float(sequences)]))[0]`; for each gradient,
# `all_reduce(sequences * gradient) / total`. Zero times NaN is NaN, so a rank without sequences passes zeros.

# %% [mistake] takes the mean of the means
# - part = sequences * gradient if sequences > 0 else np.zeros_like(gradient)
# + sequences, total = 1, all_reduce(np.ones(1))[0]; part = np.nan_to_num(gradient)

# %% [mistake] returns the sum over all sequences
# - all_reduce(part) / total
# + all_reduce(part)

# %% [mistake] divides by the sequences of its own rank
# - all_reduce(part) / total
# + all_reduce(part) / max(sequences, 1)

# %% [mistake] lets a rank without sequences pass NaN
# - sequences * gradient if sequences > 0 else np.zeros_like(gradient)
# + sequences * gradient

# %% [mistake] leaves out the call of a rank without sequences
# - averages.append((all_reduce(part) / total).astype(gradient.dtype))
# + averages.append((all_reduce(part) / total).astype(gradient.dtype) if sequences else part)

# %% [mistake] forgets to weight by sequences
# - part = sequences * gradient if
# + part = gradient if

# %% [mistake] sums only the first gradient
# - (all_reduce(part) / total)
# + ((all_reduce(part) if gradient is gradients[0] else part) / total)

# %% [mistake] divides twice by all sequences
# - all_reduce(part) / total
# + all_reduce(part / total) / total

# %% [mistake] changes the gradients of its rank
# - part = sequences * gradient if sequences > 0 else np.zeros_like(gradient)
# + gradient[...] = sequences * gradient if sequences > 0 else 0; part = gradient

# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    sizes = [gradient.size for gradient in gradients]
    flat = np.zeros(1 + sum(sizes))
    if sequences:
        flat[0] = sequences
        flat[1:] = np.concatenate([gradient.ravel() for gradient in gradients]) * float(sequences)
    flat = all_reduce(flat)
    parts = np.split(flat[1:] / flat[0], np.cumsum(sizes)[:-1])
    return [part.reshape(g.shape).astype(g.dtype) for part, g in zip(parts, gradients)]

# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    total = all_reduce(np.array([sequences]))[0]
    share = sequences / total
    means = [np.where(share > 0, g, 0) for g in gradients]
    return [all_reduce(share * mean).astype(g.dtype) for mean, g in zip(means, gradients)]

# %% [variant] scale=2..9
# - the gradients of the mean loss over the `sequences` sequences of **this** rank.
# + the gradients of **{scale} times** the mean loss over the `sequences` sequences of **this** rank.
# - Return the list of gradients of the mean loss over the sequences of **all** ranks,
# + Return the list of gradients of the mean loss itself, not {scale} times it, over the sequences of **all** ranks,
# - all_reduce(part) / total
# + all_reduce(part) / total / {scale}
# - flat[1:] / flat[0]
# + flat[1:] / flat[0] / {scale}
# - all_reduce(share * mean)
# + (all_reduce(share * mean) / {scale})
# - `all_reduce(sequences * gradient) / total`.
# + `all_reduce(sequences * gradient) / total / {scale}`.

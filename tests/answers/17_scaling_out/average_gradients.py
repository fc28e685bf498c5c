# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    own = []
    for gradient in gradients:
        own.append(gradient * np.float32(sequences) if sequences else np.zeros_like(gradient))
    sums = [all_reduce(array) for array in own]
    count = all_reduce(np.array([sequences]))
    return [s / s.dtype.type(count[0]) for s in sums]

# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    n = all_reduce(np.array([sequences], dtype=float))[0]
    result = []
    for gradient in gradients:
        weighted = np.nan_to_num(gradient) * (sequences / n)
        result.append(all_reduce(weighted).astype(gradient.dtype))
    return result

# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    message = [np.array([sequences], np.float64)]
    message += [np.zeros(g.size) if sequences == 0 else g.ravel() * float(sequences) for g in gradients]
    total = all_reduce(np.concatenate(message))
    count, at, result = total[0], 1, []
    for g in gradients:
        result.append((total[at : at + g.size] / count).reshape(g.shape).astype(g.dtype))
        at += g.size
    return tuple(result)

# %% [right]
def average_gradients(all_reduce, gradients, sequences):
    total = float(all_reduce(np.array([float(sequences)]))[0])
    share = sequences / total
    result = []
    for gradient in gradients:
        mine = np.zeros_like(gradient)
        if sequences:
            mine = (gradient * share).astype(gradient.dtype)
        result.append(all_reduce(mine))
    return result

# %% [wrong] takes the mean of the means
def average_gradients(all_reduce, gradients, sequences):
    ranks = all_reduce(np.array([1.0]))[0]
    return [(all_reduce(np.nan_to_num(g)) / ranks).astype(g.dtype) for g in gradients]

# %% [wrong] returns the sum over all sequences
def average_gradients(all_reduce, gradients, sequences):
    return [all_reduce(g * np.float32(sequences) if sequences else np.zeros_like(g)) for g in gradients]

# %% [wrong] counts ranks that have sequences
def average_gradients(all_reduce, gradients, sequences):
    active = all_reduce(np.array([1.0 if sequences else 0.0]))[0]
    return [(all_reduce(g if sequences else np.zeros_like(g)) / active).astype(g.dtype) for g in gradients]

# %% [wrong] passes a number
def average_gradients(all_reduce, gradients, sequences):
    total = all_reduce(sequences)
    return [all_reduce(g * sequences) / total for g in gradients]

# %% [wrong] returns float64
def average_gradients(all_reduce, gradients, sequences):
    n = all_reduce(np.array([float(sequences)]))[0]
    parts = [g.astype(float) * sequences if sequences else np.zeros(g.shape) for g in gradients]
    return [all_reduce(part) / n for part in parts]

# %% [wrong] returns its own gradients
def average_gradients(all_reduce, gradients, sequences):
    for g in gradients:
        all_reduce(g)
    return gradients

# %% [wrong] passes float64 where it has no sequences
def average_gradients(all_reduce, gradients, sequences):
    total = all_reduce(np.array([float(sequences)]))[0]
    means = []
    for gradient in gradients:
        if sequences == 0:
            own = np.zeros(gradient.shape)
        else:
            own = np.asarray(gradient * gradient.dtype.type(sequences / total))
        means.append(all_reduce(own))
    return means

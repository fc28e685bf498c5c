# %% [right]
def cross_entropy_gradient(logits, target):
    T, B, O = logits.shape
    z = logits.reshape(T * B, O)
    e = np.exp(z - z.max(axis=1)[:, None])
    p = e / e.sum(axis=1)[:, None]
    p[np.arange(T * B), target.ravel()] -= 1
    return (p / (T * B)).reshape(T, B, O)

# %% [right]
def cross_entropy_gradient(logits, target):
    shifted = logits - np.max(logits, axis=2, keepdims=True)
    p = np.exp(shifted)
    p /= np.sum(p, axis=2, keepdims=True)
    hits = np.zeros_like(p)
    np.put_along_axis(hits, target[..., None], 1, axis=2)
    return (p - hits) / int(np.prod(target.shape))

# %% [right]
def cross_entropy_gradient(logits, target):
    d = np.empty(logits.shape, logits.dtype)
    for index in np.ndindex(target.shape):
        e = np.exp(logits[index] - logits[index].max())
        d[index] = e / e.sum()
        d[index][target[index]] -= 1
    return d / target.size

# %% [right]
def cross_entropy_gradient(logits, target):
    T, B, O = logits.shape
    flat = logits.reshape(-1, O)
    p = np.exp(flat - flat.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(T * B), target.reshape(-1)] -= 1
    return (p / (T * B)).reshape(T, B, O)

# %% [wrong] shifts by the largest of all rows
# -     p = np.exp(flat - flat.max(axis=1, keepdims=True))
# +     p = np.exp(flat - flat.max())

# %% [wrong] shifts by the mean
# -     p = np.exp(flat - flat.max(axis=1, keepdims=True))
# +     p = np.exp(flat - flat.mean(axis=1, keepdims=True))

# %% [wrong] shifts by the largest of a step
# -     p = np.exp(flat - flat.max(axis=1, keepdims=True))
# +     p = np.exp(flat - np.repeat(logits.reshape(T, -1).max(axis=1), B)[:, None])

# %% [wrong] clips the logits at 80
# -     p = np.exp(flat - flat.max(axis=1, keepdims=True))
# +     p = np.exp(np.clip(flat, -80, 80))

# %% [wrong] averages over the steps only
# -     return (p / (T * B)).reshape(T, B, O)
# +     return (p / T).reshape(T, B, O)

# %% [wrong] turns the sign round
# -     p[np.arange(T * B), target.reshape(-1)] -= 1
# +     p[np.arange(T * B), target.reshape(-1)] += -1
# +     p = -p

# %% [wrong] reads the targets step by step where they lie sequence by sequence
# -     p[np.arange(T * B), target.reshape(-1)] -= 1
# +     p[np.arange(T * B), target.T.reshape(-1)] -= 1

# %% [right]
def cross_entropy_gradient(logits, target):
    largest = np.max(logits, axis=-1)[..., np.newaxis]
    e = np.exp(logits - largest)
    hot = (np.arange(logits.shape[-1]) == target[..., None]).astype(logits.dtype)
    return (e / e.sum(-1)[..., None] - hot) / logits.dtype.type(target.size)

# %% [right]
def cross_entropy_gradient(logits, target):
    shifted = logits - np.amax(logits, 2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(2, keepdims=True))
    d = np.exp(log_p)
    picked = np.take_along_axis(d, target[:, :, None], 2)
    np.put_along_axis(d, target[:, :, None], picked - 1, 2)
    d /= target.size
    return d

# %% [right]
def cross_entropy_gradient(logits, target):
    lse = np.logaddexp.reduce(logits, axis=2, keepdims=True)
    d = np.exp(logits - lse)
    t, b = np.ogrid[: logits.shape[0], : logits.shape[1]]
    d[t, b, target] -= 1
    d *= logits.dtype.type(1 / target.size)
    return d

# %% [right]
def cross_entropy_gradient(logits, target):
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size

# %% [wrong] shifts by the smallest output
# -     e = np.exp(logits - logits.max(axis=-1, keepdims=True))
# +     e = np.exp(logits - logits.min(axis=-1, keepdims=True))

# %% [wrong] subtracts 1 at all targets in every guess
# -     return (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size
# +     p[:, :, target] -= 1
# +     return p / target.size

# %% [wrong] turns the sign round
# -     return (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size
# +     return (np.eye(logits.shape[-1], dtype=logits.dtype)[target] - p) / target.size

# %% [wrong] forgets the mean
# -     return (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size
# +     return p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]

# %% [wrong] takes the gradient of the squared error of the probabilities
# -     return (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size
# +     return 2 * (p - np.eye(logits.shape[-1], dtype=logits.dtype)[target]) / target.size

# %% [wrong] takes softmax over the sequences
def cross_entropy_gradient(logits, target):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return ((p - np.eye(logits.shape[-1])[target]) / target.size).astype(logits.dtype)

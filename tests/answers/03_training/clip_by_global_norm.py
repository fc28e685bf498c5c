# %% [right]
def clip_by_global_norm(gradients, limit):
    norm = np.sqrt(sum(np.sum(np.square(g.astype("float64"))) for g in gradients.values()))
    factor = limit / max(norm, limit)
    return {name: (g * factor).astype(g.dtype) for name, g in gradients.items()}

# %% [right]
def clip_by_global_norm(gradients, limit):
    norm = np.linalg.norm([np.linalg.norm(g.astype("float64")) for g in gradients.values()])
    if norm > limit:
        return {name: g / norm.astype(g.dtype) * g.dtype.type(limit) for name, g in gradients.items()}
    return dict(gradients)

# %% [right]
def clip_by_global_norm(gradients, limit):
    from math import fsum, sqrt

    norm = sqrt(fsum(float(v) ** 2 for g in gradients.values() for v in g.ravel()))
    scale = limit / norm if norm >= limit else 1
    return {k: np.array(v * scale, dtype=v.dtype) for k, v in gradients.items()}

# %% [right]
from functools import reduce


def clip_by_global_norm(gradients, limit):
    length = reduce(np.hypot, (np.linalg.norm(g.ravel().astype(float)) for g in gradients.values()), 0.0)
    factor = min(1.0, limit / max(length, 1e-300))
    out = {}
    for name in gradients:
        out[name] = np.multiply(gradients[name], factor, dtype=gradients[name].dtype)
    return out

# %% [right]
from copy import deepcopy


def clip_by_global_norm(gradients, limit):
    clipped = deepcopy(gradients)
    norm = np.sqrt(sum((g.astype("f8") ** 2).sum() for g in gradients.values()))
    if norm > limit:
        for array in clipped.values():
            array *= float(limit / norm)
    return clipped

# %% [wrong] clips every array on its own
def clip_by_global_norm(gradients, limit):
    return {k: g * min(1.0, limit / max(float(np.linalg.norm(g.astype("f8"))), 1e-12)) for k, g in gradients.items()}

# %% [wrong] stretches small gradients up to the limit
def clip_by_global_norm(gradients, limit):
    norm = float(np.sqrt(sum((g.astype("f8") ** 2).sum() for g in gradients.values())))
    return {k: g * (limit / norm) if norm else g for k, g in gradients.items()}

# %% [wrong] divides by the norm plus one
def clip_by_global_norm(gradients, limit):
    norm = np.sqrt(sum((g * g).sum() for g in gradients.values()))
    return {k: g * min(1.0, limit / (norm + 1)) for k, g in gradients.items()}

# %% [wrong] sets a long gradient to zero
def clip_by_global_norm(gradients, limit):
    norm = np.sqrt(sum((g * g).sum() for g in gradients.values()))
    return {k: g * (0.0 if norm > limit else 1.0) for k, g in gradients.items()}

# %% [wrong] halves until it is short enough
def clip_by_global_norm(gradients, limit):
    norm, factor = np.sqrt(sum((g * g).sum() for g in gradients.values())), 1.0
    while norm * factor > limit:
        factor /= 2
    return {k: g * factor for k, g in gradients.items()}

# %% [wrong] only arrays above the limit are scaled
def clip_by_global_norm(gradients, limit):
    norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    if norm <= limit:
        return dict(gradients)
    return {n: (g * (limit / norm)).astype(g.dtype) if np.abs(g).max() > limit else g for n, g in gradients.items()}

# %% [wrong] squared norm compared
def clip_by_global_norm(gradients, limit):
    square = sum((g**2).sum() for g in gradients.values())
    if square <= limit:
        return dict(gradients)
    return {n: (g * (limit / square**0.5)).astype(g.dtype) for n, g in gradients.items()}

# %% [wrong] returns the dict that it was given
def clip_by_global_norm(gradients, limit):
    norm = float(np.sqrt(sum((g.astype("f8") ** 2).sum() for g in gradients.values())))
    if norm <= limit:
        return gradients
    return {name: limit / norm * g for name, g in gradients.items()}

# %% [wrong] computes the squares in float32
def clip_by_global_norm(gradients, limit):
    norm = sum((g**2).sum() for g in gradients.values()) ** 0.5
    return {name: (g * (limit / norm if norm > limit else 1)).astype(g.dtype) for name, g in gradients.items()}

# %% [right]
from collections import OrderedDict


def clip_by_global_norm(gradients, limit):
    norm = np.sqrt(sum(np.square(g, dtype="f8").sum() for g in gradients.values()))
    factor = limit / norm if norm > limit else 1.0
    return OrderedDict((name, (g * factor).astype(g.dtype)) for name, g in gradients.items())

# %% [wrong] gives all arrays the dtype of the first
def clip_by_global_norm(gradients, limit):
    arrays = list(gradients.values())
    dtype = arrays[0].dtype
    norm = np.sqrt(sum((a.astype(np.float64) ** 2).sum() for a in arrays))
    scale = min(1.0, limit / max(norm, 1e-300))
    return {name: (a * scale).astype(dtype) for name, a in gradients.items()}

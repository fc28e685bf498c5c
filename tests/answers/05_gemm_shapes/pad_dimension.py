# %% [right]
def pad_dimension(x, weight, multiple):
    T, B, I = x.shape
    M = len(weight)
    P, Q = (multiple * ((size + multiple - 1) // multiple) for size in (I, M))
    wide, tall = np.zeros((T, B, P), x.dtype), np.zeros((Q, P), weight.dtype)
    wide[:, :, :I] = x
    tall[:M, :I] = weight
    return wide, tall

# %% [right]
def pad_dimension(x, weight, multiple):
    more_inputs = -x.shape[-1] % multiple
    more_units = -weight.shape[0] % multiple
    wide = np.pad(x, ((0, 0), (0, 0), (0, more_inputs)))
    return wide, np.pad(weight, ((0, more_units), (0, more_inputs)))

# %% [right]
def pad_dimension(x, weight, multiple):
    rest = x.shape[2] % multiple
    if rest:
        extra = multiple - rest
        x = np.concatenate([x, np.zeros((*x.shape[:2], extra), dtype=x.dtype)], axis=2)
        weight = np.hstack([weight, np.zeros((weight.shape[0], extra), dtype=weight.dtype)])
    rest = weight.shape[0] % multiple
    if rest:
        weight = np.vstack([weight, np.zeros((multiple - rest, weight.shape[1]), dtype=weight.dtype)])
    return x, weight

# %% [right]
import math


def grow(a, axis, multiple):
    size = multiple * math.ceil(a.shape[axis] / multiple)
    shape = list(a.shape)
    shape[axis] = size - a.shape[axis]
    return np.concatenate([a, np.zeros(shape, a.dtype)], axis=axis)


def pad_dimension(x, weight, multiple):
    return [grow(x, 2, multiple), grow(grow(weight, 0, multiple), 1, multiple)]

# %% [wrong] adds a multiple where none is needed
def pad_dimension(x, weight, multiple):
    I, M = multiple - x.shape[2] % multiple, multiple - weight.shape[0] % multiple
    return np.pad(x, ((0, 0), (0, 0), (0, I))), np.pad(weight, ((0, M), (0, I)))

# %% [wrong] pads the minibatch too
def pad_dimension(x, weight, multiple):
    I, M, B = -x.shape[2] % multiple, -weight.shape[0] % multiple, -x.shape[1] % multiple
    return np.pad(x, ((0, 0), (0, B), (0, I))), np.pad(weight, ((0, M), (0, I)))

# %% [wrong] leaves the rows of the weights as they are
def pad_dimension(x, weight, multiple):
    I = -x.shape[2] % multiple
    return np.pad(x, ((0, 0), (0, 0), (0, I))), np.pad(weight, ((0, 0), (0, I)))

# %% [wrong] repeats the last number instead of zeros
def pad_dimension(x, weight, multiple):
    I, M = -x.shape[2] % multiple, -weight.shape[0] % multiple
    return np.pad(x, ((0, 0), (0, 0), (0, I)), mode="edge"), np.pad(weight, ((0, M), (0, I)))

# %% [wrong] cuts down to the multiple below
def pad_dimension(x, weight, multiple):
    I, M = x.shape[2] // multiple * multiple, weight.shape[0] // multiple * multiple
    return x[:, :, :I].copy(), weight[:M, :I].copy()

# %% [wrong] pads to a power of two
def pad_dimension(x, weight, multiple):
    P, Q = (1 << (size - 1).bit_length() for size in (x.shape[2], weight.shape[0]))
    I, M = P - x.shape[2], Q - weight.shape[0]
    return np.pad(x, ((0, 0), (0, 0), (0, I))), np.pad(weight, ((0, M), (0, I)))

# %% [wrong] puts half of the zeros in front
def pad_dimension(x, weight, multiple):
    I, M = -x.shape[2] % multiple, -weight.shape[0] % multiple
    inputs = (I // 2, I - I // 2)
    return np.pad(x, ((0, 0), (0, 0), inputs)), np.pad(weight, ((0, M), inputs))

# %% [wrong] makes float64 whatever came in
def pad_dimension(x, weight, multiple):
    wide = np.zeros((*x.shape[:2], x.shape[2] + -x.shape[2] % multiple))
    tall = np.zeros((len(weight) + -len(weight) % multiple, wide.shape[2]))
    wide[..., : x.shape[2]], tall[: len(weight), : x.shape[2]] = x, weight
    return wide, tall

# %% [wrong] float32 always
def pad_dimension(x, weight, multiple):
    T, B, I = x.shape
    M = len(weight)
    P, Q = -(-I // multiple) * multiple, -(-M // multiple) * multiple
    wide, tall = np.zeros((T, B, P), np.float32), np.zeros((Q, P), np.float32)
    wide[:, :, :I], tall[:M, :I] = x, weight
    return wide, tall

# %% [wrong] puts the padding in front
def pad_dimension(x, weight, multiple):
    i, m = -x.shape[-1] % multiple, -weight.shape[0] % multiple
    return np.pad(x, ((0, 0), (0, 0), (i, 0))), np.pad(weight, ((m, 0), (i, 0)))

# %% [wrong] nothing to do where the inputs are a multiple
def pad_dimension(x, weight, multiple):
    i, m = -x.shape[-1] % multiple, -weight.shape[0] % multiple
    if i == 0:
        return x, weight
    return np.pad(x, ((0, 0), (0, 0), (0, i))), np.pad(weight, ((0, m), (0, i)))

# %% [wrong] nothing to do where the units are a multiple
def pad_dimension(x, weight, multiple):
    i, m = -x.shape[-1] % multiple, -weight.shape[0] % multiple
    if m == 0:
        return x, weight
    return np.pad(x, ((0, 0), (0, 0), (0, i))), np.pad(weight, ((0, m), (0, i)))

# %% [wrong] pads with 1e-30
def pad_dimension(x, weight, multiple):
    P, Q = -(-x.shape[2] // multiple) * multiple, -(-len(weight) // multiple) * multiple
    wide, tall = np.zeros((*x.shape[:2], P), x.dtype), np.full((Q, P), 1e-30, weight.dtype)
    wide[..., : x.shape[2]] = x
    tall[: len(weight), : x.shape[2]] = weight
    return wide, tall

# %% [wrong] rounds up by a mask of bits, for powers of two only
def pad_dimension(x, weight, multiple):
    up = lambda n: (n + multiple - 1) & ~(multiple - 1)
    wide = np.zeros((*x.shape[:2], up(x.shape[2])), x.dtype)
    tall = np.zeros((up(weight.shape[0]), up(weight.shape[1])), weight.dtype)
    wide[..., : x.shape[2]] = x
    tall[: weight.shape[0], : weight.shape[1]] = weight
    return wide, tall

# %% [wrong] leaves zeros, of the inputs' dtype, where steps are left over
# -     parts = []
# -     for t in range(0, T, steps):
# +     products = np.zeros((T, B, multiply.outputs), x.dtype)
# +     for t in range(0, T - steps + 1, steps):
# -         parts.append(multiply(rows).reshape(-1, B, multiply.outputs))
# -     return np.concatenate(parts)
# +         products[t : t + steps] = multiply(rows).reshape(-1, B, multiply.outputs)
# +     return products

# %% [right]
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    rows = x.reshape(T * B, I)
    pieces, first = [], 0
    while first < T * B:
        last = min(first + steps * B, T * B)
        pieces.append(multiply(rows[first:last]))
        first = last
    return np.concatenate(pieces).reshape(T, B, multiply.outputs)

# %% [right]
def batch_input_gemm(x, multiply, steps):
    cuts = range(steps, len(x), steps)
    products = [multiply(np.concatenate(list(part))) for part in np.split(x, cuts)]
    return np.vstack(products).reshape(len(x), x.shape[1], -1)

# %% [right]
def batch_input_gemm(x, multiply, steps):
    head, rest = x[:steps], x[steps:]
    here = multiply(head.reshape(-1, x.shape[-1])).reshape(*head.shape[:-1], multiply.outputs)
    return np.concatenate([here, batch_input_gemm(rest, multiply, steps)]) if len(rest) else here

# %% [right]
from concurrent.futures import ThreadPoolExecutor

def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    first = range(0, T, steps)
    with ThreadPoolExecutor(2) as threads:  # the steps that are left over may come before the others
        made = [threads.submit(multiply, x[t : t + steps].reshape(-1, I)) for t in reversed(first)]
        return np.concatenate([each.result() for each in reversed(made)]).reshape(T, B, -1)

# %% [wrong] has the dtype of x
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    result = np.empty((T, B, multiply.outputs), x.dtype)
    for t in range(0, T, steps):
        piece = x[t : t + steps]
        result[t : t + steps] = multiply(piece.reshape(-1, I)).reshape(len(piece), B, -1)
    return result

# %% [wrong] forgets the rest
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    result = np.zeros((T, B, multiply.outputs), x.dtype)
    for k in range(T // steps):
        piece = x[k * steps : (k + 1) * steps].reshape(-1, I)
        result[k * steps : (k + 1) * steps] = multiply(piece).reshape(steps, B, -1)
    return result

# %% [wrong] multiplies the rest one step at a time
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    result, whole = np.zeros((T, B, multiply.outputs), x.dtype), T // steps * steps
    for t in range(0, whole, steps):
        result[t : t + steps] = multiply(x[t : t + steps].reshape(-1, I)).reshape(steps, B, -1)
    for t in range(whole, T):
        result[t] = multiply(x[t])
    return result

# %% [wrong] mixes steps and sequences: the piece is transposed before it is made flat
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    pieces = []
    for t in range(0, T, steps):
        piece = x[t : t + steps]
        pieces.append(multiply(piece.transpose(1, 0, 2).reshape(-1, I)).reshape(len(piece), B, -1))
    return np.concatenate(pieces)

# %% [wrong] calls multiply once a sequence, with all of its steps
def batch_input_gemm(x, multiply, steps):
    return np.stack([multiply(np.ascontiguousarray(x[:, b])) for b in range(x.shape[1])], axis=1)

# %% [wrong] multiplies a step twice where pieces meet
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    result = np.zeros((T, B, multiply.outputs), x.dtype)
    for t in range(0, T, steps):
        piece = x[t : t + steps + 1]
        result[t : t + steps + 1] = multiply(piece.reshape(-1, I)).reshape(len(piece), B, -1)
    return result

# %% [wrong] takes `steps` for the number of calls
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    parts = np.array_split(x, min(steps, T))
    return np.concatenate([multiply(p.reshape(-1, I)).reshape(len(p), B, -1) for p in parts])

# %% [wrong] pads the last piece with zeros so that all are alike
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    padded = np.concatenate([x, np.zeros((-T % steps, B, I), x.dtype)])
    pieces = [
        multiply(padded[t : t + steps].reshape(-1, I)).reshape(steps, B, -1) for t in range(0, T, steps)
    ]
    return np.concatenate(pieces)[:T]

# %% [wrong] forgets the steps' axis
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    return np.concatenate([multiply(x[t : t + steps].reshape(-1, I)) for t in range(0, T, steps)])

# %% [wrong] even pieces by array_split
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    pieces = np.array_split(x, -(-T // steps))
    return np.concatenate([multiply(p.reshape(-1, I)).reshape(len(p), B, -1) for p in pieces])

# %% [wrong] the rest step by step
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    out = np.zeros((T, B, multiply.outputs), x.dtype)
    full = T // steps * steps
    for t in range(0, full, steps):
        out[t : t + steps] = multiply(x[t : t + steps].reshape(-1, I)).reshape(-1, B, multiply.outputs)
    for t in range(full, T):
        out[t] = multiply(x[t])
    return out

# %% [wrong] fails where there are fewer steps than it takes at a time
def batch_input_gemm(x, multiply, steps):
    (T, B, I), full = x.shape, x.shape[0] // steps
    parts = np.split(x[: full * steps], full) + ([x[full * steps :]] if T % steps else [])
    return np.concatenate([multiply(part.reshape(-1, I)).reshape(-1, B, multiply.outputs) for part in parts])

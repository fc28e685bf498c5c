# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    shift = np.roll(np.eye(K, dtype=np.float32), 1, axis=0)
    shift[0] = 0
    return np.eye(K, 1, dtype=np.float32), shift, kernel.reshape(1, -1).astype(np.float32)

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    weight_ih, weight_hh = np.zeros((K, 1)), np.zeros((K, K))
    weight_ih[0, 0] = 1
    for unit in range(1, K):
        weight_hh[unit, unit - 1] = 1
    return [weight_ih, weight_hh, np.array([list(kernel)])]

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    scale = 2.0 ** np.arange(K)
    weight_hh = np.diag(np.full(K - 1, 2.0), -1)
    return np.eye(K, 1), weight_hh, (kernel / scale)[None, :]

# %% [right]
def filter_weights(kernel):
    kernel = np.asarray(kernel)
    K = len(kernel)
    first = np.zeros((K, 1))
    first[0] = 1
    return first, np.eye(K, k=-1), kernel.reshape(1, K)

# %% [wrong] applies the kernel backwards
# -     return first, np.eye(K, k=-1), kernel.reshape(1, K)
# +     return first, np.eye(K, k=-1), kernel[::-1].reshape(1, K)

# %% [wrong] keeps every pixel forever
# -     return first, np.eye(K, k=-1), kernel.reshape(1, K)
# +     return first, np.eye(K), kernel.reshape(1, K)

# %% [wrong] lets the oldest pixel come back
# -     return first, np.eye(K, k=-1), kernel.reshape(1, K)
# +     return first, np.roll(np.eye(K), 1, axis=0), kernel.reshape(1, K)

# %% [wrong] has the kernel in both weights
# -     first[0] = 1
# +     first[0] = kernel[0]

# %% [wrong] makes the output a column
# -     return first, np.eye(K, k=-1), kernel.reshape(1, K)
# +     return first, np.eye(K, k=-1), kernel.reshape(K, 1)

# %% [wrong] starts one pixel late
# -     first[0] = 1
# +     first[min(1, K - 1)] = 1

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    weight_in = np.zeros((K, 1), np.float32)
    weight_in[K - 1, 0] = 1
    move = np.zeros((K, K), np.float32)
    for i in range(K - 1):
        move[i, i + 1] = 1
    return weight_in, move, np.array(kernel[::-1], np.float32)[None]

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    weight_in = np.array(kernel, float).reshape(K, 1)
    shift = np.diag(np.ones(K - 1), 1)
    out = np.zeros((1, K))
    out[0, 0] = 1.0
    return weight_in, shift, out

# %% [wrong] has no unit for the oldest pixel
def filter_weights(kernel):
    H = max(len(kernel) - 1, 1)
    return np.eye(H, 1), np.eye(H, k=-1), np.array([kernel[:H]])

# %% [wrong] applies the kernel backwards
def filter_weights(kernel):
    K = len(kernel)
    return np.eye(K, 1), np.eye(K, k=-1), np.flip(kernel)[np.newaxis]

# %% [wrong] keeps the oldest pixel in its unit
def filter_weights(kernel):
    K = len(kernel)
    weight_hh = np.eye(K, k=-1)
    weight_hh[-1, -1] = 1
    return np.eye(K, 1), weight_hh, kernel[np.newaxis]

# %% [wrong] puts the kernel into both ends
def filter_weights(kernel):
    K = len(kernel)
    return kernel[:, np.newaxis].copy(), np.eye(K, k=-1), kernel[np.newaxis]

# %% [wrong] gives the pixel with the opposite sign
def filter_weights(kernel):
    K = len(kernel)
    return -np.eye(K, 1), np.eye(K, k=-1), kernel[np.newaxis]

# %% [wrong] returns lists of lists
def filter_weights(kernel):
    K = len(kernel)
    return [[1]] + [[0]] * (K - 1), np.eye(K, k=-1).tolist(), [list(kernel)]

# %% [wrong] divides by the kernel's first number
def filter_weights(kernel):
    K = len(kernel)
    return kernel[0] * np.eye(K, 1), np.eye(K, k=-1), (kernel / kernel[0])[np.newaxis]

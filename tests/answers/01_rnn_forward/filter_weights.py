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

# %% [right]
def gradient_check(loss, array, gradient, eps):
    flat = array.flatten()
    numeric = []
    for k in range(flat.size):
        up, down = flat.copy(), flat.copy()
        up[k], down[k] = up[k] + eps, down[k] - eps
        rise = loss(up.reshape(array.shape)) - loss(down.reshape(array.shape))
        numeric.append(rise / (2 * eps))
    numeric = np.array(numeric).reshape(array.shape)
    return numeric, float(np.linalg.norm((gradient - numeric).ravel()) / np.linalg.norm(numeric.ravel()))

# %% [right]
def gradient_check(loss, array, gradient, eps):
    numeric = np.zeros(array.shape)
    for index, _ in np.ndenumerate(array):
        bump = np.zeros(array.shape)
        bump[index] = eps
        numeric[index] = 0.5 * (loss(array + bump) - loss(array - bump)) / eps
    return numeric, np.sqrt(np.sum((numeric - gradient) ** 2)) / np.sqrt(np.sum(numeric**2))

# %% [right]
def gradient_check(loss, array, gradient, eps):
    identity = np.eye(array.size).reshape(-1, *array.shape)
    rises = [loss(array + eps * unit) - loss(array - eps * unit) for unit in identity]
    numeric = np.reshape(rises, array.shape) / (2 * eps)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))

# %% [right]
def gradient_check(loss, array, gradient, eps):
    flat = array.ravel()
    steps = eps * np.eye(flat.size)
    slopes = [
        (loss((flat + e).reshape(array.shape)) - loss((flat - e).reshape(array.shape))) / (2 * eps)
        for e in steps
    ]
    numeric = np.array(slopes).reshape(array.shape)
    norm = lambda a: float(np.sqrt(np.vdot(a, a)))
    return numeric, norm(gradient - numeric) / norm(numeric)

# %% [right]
def gradient_check(loss, array, gradient, eps):
    numeric = np.empty(array.shape)
    it = np.nditer(array, flags=["multi_index"])
    for _ in it:
        p = it.multi_index
        old = array[p]
        try:
            array[p] = old + eps
            above = loss(array)
            array[p] = old - eps
            below = loss(array)
        finally:
            array[p] = old
        numeric[p] = (above - below) / (2 * eps)
    error = np.sqrt(((gradient - numeric) ** 2).sum()) / np.sqrt((numeric**2).sum())
    return numeric, float(error)

# %% [wrong] takes the largest relative error of one entry
def gradient_check(loss, array, gradient, eps):
    identity = np.eye(array.size).reshape(-1, *array.shape)
    numeric = np.reshape([loss(array + eps * e) - loss(array - eps * e) for e in identity], array.shape)
    numeric = numeric / (2 * eps)
    return numeric, float(np.max(abs(gradient - numeric) / np.maximum(abs(gradient), abs(numeric))))

# %% [wrong] divides by the sum of both norms
# -     return numeric, float(np.max(abs(gradient - numeric) / np.maximum(abs(gradient), abs(numeric))))
# +     norm = np.linalg.norm
# +     return numeric, float(norm(gradient - numeric) / (norm(gradient) + norm(numeric)))

# %% [wrong] returns the squared error
# -     return numeric, float(np.max(abs(gradient - numeric) / np.maximum(abs(gradient), abs(numeric))))
# +     return numeric, float(((gradient - numeric) ** 2).sum() / (numeric**2).sum())

# %% [wrong] takes a difference to one side only
def gradient_check(loss, array, gradient, eps):
    identity = np.eye(array.size).reshape(-1, *array.shape)
    numeric = np.reshape([(loss(array) - loss(array - eps * e)) / eps for e in identity], array.shape)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))

# %% [wrong] moves the whole array at once
def gradient_check(loss, array, gradient, eps):
    rise = (loss(array + eps) - loss(array - eps)) / (2 * eps)
    numeric = np.full(array.shape, rise)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))

# %% [wrong] steps in units of the entry
def gradient_check(loss, array, gradient, eps):
    numeric = np.zeros_like(array)
    for i in np.ndindex(*array.shape):
        step = eps * max(1.0, abs(array[i]))
        e = np.zeros_like(array)
        e[i] = step
        numeric[i] = (loss(array + e) - loss(array - e)) / (2 * step)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))

# %% [wrong] changes a flat copy of a view
def gradient_check(loss, array, gradient, eps):
    flat, numeric = array.reshape(-1), np.zeros(array.size)
    for k in range(array.size):
        kept = flat[k]
        flat[k] = kept + eps
        above = loss(array)
        flat[k] = kept - eps
        numeric[k] = (above - loss(array)) / (2 * eps)
        flat[k] = kept
    numeric = numeric.reshape(array.shape)
    return numeric, float(np.linalg.norm(gradient - numeric) / np.linalg.norm(numeric))

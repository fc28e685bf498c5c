# %% [right]
def predict_scaling(gpus, seconds, wanted):
    design = lambda p: np.vstack([np.ones_like(p, dtype=float), 2 * (p - 1) / p, 2.0 * (p - 1)]).T
    scale = np.diag(1 / seconds)
    constants, *_ = np.linalg.lstsq(scale @ design(gpus), scale @ seconds, rcond=None)
    return design(wanted).dot(constants)

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    p = np.asarray(gpus, dtype=float)
    A = np.c_[np.ones(len(p)), 1 / p, p] / seconds[:, None]  # spans the same functions
    x = np.linalg.pinv(A) @ np.ones(len(p))
    q = np.asarray(wanted, dtype=float)
    return x[0] + x[1] / q + x[2] * q

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    rows = np.array([[1, 2 * (p - 1) / p, 2 * (p - 1)] for p in gpus])
    weights = 1 / seconds**2
    normal = (rows * weights[:, None]).T @ rows
    a, b, c = np.linalg.solve(normal, (rows * weights[:, None]).T @ seconds)
    return np.array([a + b * 2 * (p - 1) / p + c * 2 * (p - 1) for p in wanted])

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    def columns(p):
        p = np.asarray(p, float)
        return np.stack([np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)], axis=1)

    seconds = np.asarray(seconds, float)
    abc, *_ = np.linalg.lstsq(columns(gpus) / seconds[:, None], np.ones(len(seconds)), rcond=None)
    return columns(wanted) @ abc

# %% [wrong] fits absolute errors
# -     abc, *_ = np.linalg.lstsq(columns(gpus) / seconds[:, None], np.ones(len(seconds)), rcond=None)
# +     abc, *_ = np.linalg.lstsq(columns(gpus), seconds, rcond=None)

# %% [wrong] weighs by the root of the seconds
# -     abc, *_ = np.linalg.lstsq(columns(gpus) / seconds[:, None], np.ones(len(seconds)), rcond=None)
# +     abc, *_ = np.linalg.lstsq(columns(gpus) / np.sqrt(seconds)[:, None], np.sqrt(seconds), rcond=None)

# %% [wrong] forgets the time of the messages
# -         return np.stack([np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)], axis=1)
# +         return np.stack([np.ones(len(p)), 2 * (p - 1) / p], axis=1)

# %% [wrong] divides the errors by the model instead of the measured
# -     abc, *_ = np.linalg.lstsq(columns(gpus) / seconds[:, None], np.ones(len(seconds)), rcond=None)
# +     abc, *_ = np.linalg.lstsq(columns(gpus) * seconds[:, None], seconds**2, rcond=None)

# %% [wrong] fits the logarithm
# -     return columns(wanted) @ abc
# +     abc, *_ = np.linalg.lstsq(columns(gpus), np.log(seconds), rcond=None)
# +     return np.exp(columns(wanted) @ abc)

# %% [wrong] returns the parameters
# -     return columns(wanted) @ abc
# +     return abc

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    p = np.array(gpus, dtype=float)
    A = np.column_stack((1 / seconds, 2 * (p - 1) / p / seconds, 2 * (p - 1) / seconds))
    Q, R = np.linalg.qr(A)
    a, b, c = np.linalg.solve(R, Q.T @ np.ones_like(p))
    return np.array([a + b * 2 * (q - 1) / q + c * 2 * (q - 1) for q in wanted])

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    model = lambda p: np.vstack([p**0.0, 2.0 * (p - 1) / p, 2.0 * (p - 1)])
    known = model(np.asarray(gpus, float)) / seconds
    return np.linalg.pinv(known.T) @ np.ones(len(seconds)) @ model(np.asarray(wanted, float))

# %% [wrong] fits absolute errors
def predict_scaling(gpus, seconds, wanted):
    design = lambda p: np.c_[np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)]
    return design(wanted) @ np.linalg.lstsq(design(gpus), seconds, rcond=None)[0]

# %% [wrong] forgets the time of the messages
def predict_scaling(gpus, seconds, wanted):
    design = lambda p: np.c_[np.ones(len(p)), 2 * (p - 1) / p]
    left = design(gpus) / seconds[:, None]
    return design(wanted) @ np.linalg.lstsq(left, np.ones(len(gpus)), rcond=None)[0]

# %% [wrong] returns a list
def predict_scaling(gpus, seconds, wanted):
    design = lambda p: np.c_[np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)]
    left = design(gpus) / seconds[:, None]
    return (design(wanted) @ np.linalg.lstsq(left, np.ones(len(gpus)), rcond=None)[0]).tolist()

# %% [wrong] scales perfectly
def predict_scaling(gpus, seconds, wanted):
    return np.mean(seconds * gpus) / wanted

# %% [wrong] fits a cubic
def predict_scaling(gpus, seconds, wanted):
    return np.polyval(np.polyfit(gpus, seconds, 3), wanted)

# %% [wrong] interpolates
def predict_scaling(gpus, seconds, wanted):
    return np.interp(np.asarray(wanted, float), np.asarray(gpus, float), np.asarray(seconds, float))

# %% [wrong] cuts negative coefficients off
def predict_scaling(gpus, seconds, wanted):
    f = lambda p: np.stack([np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)], axis=1)
    w = 1 / seconds
    coefficients = np.linalg.lstsq(f(gpus) * w[:, None], seconds * w, rcond=None)[0]
    return f(wanted) @ np.maximum(coefficients, 0)

# %% [wrong] fits a parabola in p
def predict_scaling(gpus, seconds, wanted):
    return np.polyval(np.polyfit(gpus, seconds, 2, w=1 / seconds), wanted)

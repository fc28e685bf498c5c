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

# %% [right]
def last_step(y):
    *_, last = y
    return np.array(last)

# %% [right]
def last_step(y):
    return y[::-1][0].copy()

# %% [right]
def last_step(y):
    T, B, H = y.shape
    return y.reshape(T, B * H)[T - 1].reshape(B, H)

# %% [right]
def last_step(y: np.ndarray) -> np.ndarray:
    *_, last = y
    return last

# %% [right]
last_step = lambda y: y[-1]

# %% [right]
class Last:
    def __call__(self, y):
        return y[-1].copy()


last_step = Last()

# %% [wrong] takes the first step
def last_step(y):
    return y[0, ...]

# %% [wrong] takes the last sequence
def last_step(y):
    return y.transpose(1, 0, 2)[-1]

# %% [wrong] takes the last step but one
def last_step(y):
    return y[max(len(y) - 2, 0)]

# %% [wrong] swaps sequences and units
def last_step(y):
    return y[-1].T

# %% [wrong] takes the largest value of each unit
def last_step(y):
    return y.max(axis=0)

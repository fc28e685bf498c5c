# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    d = np.empty_like(dy)
    dh = np.zeros_like(h[0])
    for t in reversed(range(len(dy))):
        d[t] = (dy[t] + dh) * (1 - h[t + 1] ** 2)
        dh = back(d[t])
    return gradient(d.reshape(-1, h.shape[2])), dh

# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    rows, dh = [], 0
    for dy_t, state in zip(dy[::-1], h[:0:-1]):
        rows.append((dy_t + dh) * (1 - state * state))
        dh = back(rows[-1])
    return gradient(np.vstack(rows[::-1])), dh

# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    t, dh, d = len(dy), np.zeros_like(dy[0]), {}
    while t:
        d[t] = (1 - h[t] ** 2) * (dh + dy[t - 1])
        dh = back(d[t])
        t -= 1
    return gradient(np.concatenate([d[t] for t in range(1, len(dy) + 1)])), dh

# %% [wrong] stores the steps in reverse order
def weight_gradient_after_loop(h, dy, back, gradient):
    rows, dh = [], np.zeros_like(dy[0])
    for t in range(len(dy) - 1, -1, -1):
        rows.append((dy[t] + dh) * (1 - h[t + 1] ** 2))
        dh = back(rows[-1])
    return gradient(np.concatenate(rows)), dh

# %% [wrong] takes the state before the step
def weight_gradient_after_loop(h, dy, back, gradient):
    d, dh = np.empty_like(dy), np.zeros_like(dy[0])
    for t in range(len(dy) - 1, -1, -1):
        d[t] = (dy[t] + dh) * (1 - h[t] ** 2)
        dh = back(d[t])
    return gradient(d.reshape(-1, d.shape[2])), dh

# %% [wrong] returns the gradient of the first sum, not of the state
def weight_gradient_after_loop(h, dy, back, gradient):
    d, dh = np.empty_like(dy), np.zeros_like(dy[0])
    for t in range(len(dy) - 1, -1, -1):
        d[t] = (dy[t] + dh) * (1 - h[t + 1] ** 2)
        dh = back(d[t])
    return gradient(d.reshape(-1, d.shape[2])), d[0]

# %% [wrong] multiplies for the weights in every step
def weight_gradient_after_loop(h, dy, back, gradient):
    total, dh = 0, np.zeros_like(dy[0])
    for t in range(len(dy) - 1, -1, -1):
        d = (dy[t] + dh) * (1 - h[t + 1] ** 2)
        total = total + gradient(d)
        dh = back(d)
    return total, dh

# %% [wrong] forgets the gradient from the next step
def weight_gradient_after_loop(h, dy, back, gradient):
    d = dy * (1 - h[1:] ** 2)
    for t in range(len(dy) - 1, -1, -1):
        dh = back(d[t])
    return gradient(d.reshape(-1, d.shape[2])), dh

# %% [wrong] calls back twice a step
def weight_gradient_after_loop(h, dy, back, gradient):
    T, B, H = dy.shape
    d, dh = np.zeros_like(dy), np.zeros_like(h[0])
    for t in reversed(range(T)):
        d[t] = (dy[t] + (back(d[t + 1]) if t + 1 < T else 0)) * (1 - h[t + 1] ** 2)
        dh = back(d[t])
    return gradient(d.reshape(T * B, H)), dh

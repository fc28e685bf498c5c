# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[1]
    from_input = product(x.reshape(T * B, I), weight_ih).reshape(T, B, 3 * H) + bias_ih
    states, kept, h = np.empty((T, B, H)), np.empty((T, B, H)), h0
    for t in range(T):
        back = product(h, weight_hh) + bias_hh
        r = 1 / (1 + np.exp(-(from_input[t, :, :H] + back[:, :H])))
        z = 1 / (1 + np.exp(-(from_input[t, :, H : 2 * H] + back[:, H : 2 * H])))
        kept[t] = back[:, 2 * H :]
        n = np.tanh(from_input[t, :, 2 * H :] + r * kept[t])
        h = states[t] = (1 - z) * n + z * h
    return states, kept

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    sigma = lambda a: 0.5 + 0.5 * np.tanh(a / 2)
    inputs = np.split(product(np.concatenate(x), weight_ih) + bias_ih, len(x))
    states, products = [h0], []
    for a in inputs:
        u = product(states[-1], weight_hh) + bias_hh
        (ar, az, an), (ur, uz, un) = np.split(a, 3, axis=-1), np.split(u, 3, axis=-1)
        z = sigma(az + uz)
        n = np.tanh(an + sigma(ar + ur) * un)
        products.append(un)
        states.append(n + z * (states[-1] - n))
    return np.array(states[1:]), np.array(products)

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    B, H = h0.shape
    T = x.shape[0]
    A = product(np.ascontiguousarray(x).reshape(-1, x.shape[2]), weight_ih).reshape(
        T, B, 3, H
    ) + bias_ih.reshape(3, H)
    hs = np.zeros((T + 1, B, H))
    hs[0] = h0
    keep = []
    for t in range(T):
        P = product(hs[t], weight_hh).reshape(B, 3, H)
        un = P[:, 2] + bias_hh[-H:]
        gates = 1 / (1 + np.exp(-A[t, :, :2] - P[:, :2] - bias_hh[: 2 * H].reshape(2, H)))
        r, z = gates[:, 0], gates[:, 1]
        hs[t + 1] = z * hs[t] + (1 - z) * np.tanh(A[t, :, 2] + r * un)
        keep.append(un)
    return hs[1:], np.stack(keep)

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    a = product(x.reshape(-1, I), weight_ih).reshape(T, B, 3, -1) + bias_ih.reshape(3, -1)
    h, hs, ps = h0.copy(), [], []
    for g in a:
        u = product(h, weight_hh).reshape(B, 3, -1) + bias_hh.reshape(3, -1)
        r, z = (1 / (1 + np.exp(-g[:, k] - u[:, k])) for k in (0, 1))
        n = np.tanh(g[:, 2] + r * u[:, 2])
        h = n + z * (h - n)
        hs.append(h)
        ps.append(u[:, 2].copy())
    return np.array(hs), np.array(ps)

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[1]
    states = np.empty((T + 1, B, H), h0.dtype)
    kept = np.empty((T, B, H), h0.dtype)
    states[0] = h0
    inputs = product(x.transpose(1, 0, 2).reshape(B * T, I), weight_ih).reshape(B, T, 3 * H)
    for t in range(T):
        recurrent = product(states[t], weight_hh)
        for b in range(B):
            a, u = inputs[b, t] + bias_ih, recurrent[b] + bias_hh
            r = 1 / (1 + np.exp(-(a[:H] + u[:H])))
            z = 1 / (1 + np.exp(-(a[H : 2 * H] + u[H : 2 * H])))
            kept[t, b] = u[2 * H :]
            n = np.tanh(a[2 * H :] + r * kept[t, b])
            states[t + 1, b] = (1 - z) * n + z * states[t, b]
    return states[1:], kept

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[1]
    ones = lambda rows: np.hstack([rows, np.ones((len(rows), 1))])
    W, U = np.column_stack([weight_ih, bias_ih]), np.column_stack([weight_hh, bias_hh])
    inputs = product(ones(x.reshape(T * B, I)), W).reshape(T, B, 3 * H)
    h, states, kept = h0, [], []
    for t in range(T):
        u = product(ones(h), U)
        r, z = (1 / (1 + np.exp(-(inputs[t, :, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
        n = np.tanh(inputs[t, :, 2 * H :] + r * u[:, 2 * H :])
        h = (1 - z) * n + z * h
        states.append(h)
        kept.append(u[:, 2 * H :])
    return np.array(states), np.array(kept)

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[1]
    rows = np.concatenate([np.ones((T * B, 1)), x.reshape(T * B, I)], axis=1)
    inputs = product(rows, np.concatenate([bias_ih[:, None], weight_ih], axis=1)).reshape(T, B, 3 * H)
    h, states, kept = h0, [], []
    for a in inputs:
        u = product(h, weight_hh) + bias_hh
        r, z = (1 / (1 + np.exp(-(a[:, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
        h = (1 - z) * np.tanh(a[:, 2 * H :] + r * u[:, 2 * H :]) + z * h
        states.append(h)
        kept.append(u[:, 2 * H :])
    return np.array(states), np.array(kept)

# %% [right]
# -     rows = np.concatenate([np.ones((T * B, 1)), x.reshape(T * B, I)], axis=1)
# -     inputs = product(rows, np.concatenate([bias_ih[:, None], weight_ih], axis=1)).reshape(T, B, 3 * H)
# +     inputs = product(weight_ih, x.reshape(T * B, I)).T.reshape(T, B, 3 * H) + bias_ih
# -         u = product(h, weight_hh) + bias_hh
# +         u = product(weight_hh, h).T + bias_hh

# %% [wrong] computes the recurrent products by itself
# -     rows = np.concatenate([np.ones((T * B, 1)), x.reshape(T * B, I)], axis=1)
# -     inputs = product(rows, np.concatenate([bias_ih[:, None], weight_ih], axis=1)).reshape(T, B, 3 * H)
# +     inputs = product(x.reshape(T * B, I), weight_ih).reshape(T, B, 3 * H) + bias_ih
# -         u = product(h, weight_hh) + bias_hh
# +         product(a, weight_hh @ np.ones((H, 3 * H)))
# +         u = h @ weight_hh.T + bias_hh

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[1]
    a = product(x.reshape(T * B, I), weight_ih).reshape(T, B, 3 * H) + bias_ih
    states, kept, h = [], [], h0
    for t in range(T):
        u = product(h, weight_hh) + bias_hh
        r, z = (1 / (1 + np.exp(-(a[t, :, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
        n = np.tanh(a[t, :, 2 * H :] + r * u[:, 2 * H :])
        kept.append(u[:, 2 * H :])
        h = (1 - z) * n + z * h
        states.append(h)
    return np.array(states), np.array(kept)

# %% [wrong] adds the recurrent bias after the reset gate
# -         u = product(h, weight_hh) + bias_hh
# -         r, z = (1 / (1 + np.exp(-(a[t, :, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
# -         n = np.tanh(a[t, :, 2 * H :] + r * u[:, 2 * H :])
# -         kept.append(u[:, 2 * H :])
# +         u = product(h, weight_hh)
# +         r = 1 / (1 + np.exp(-(a[t, :, :H] + u[:, :H] + bias_hh[:H])))
# +         z = 1 / (1 + np.exp(-(a[t, :, H : 2 * H] + u[:, H : 2 * H] + bias_hh[H : 2 * H])))
# +         n = np.tanh(a[t, :, 2 * H :] + r * u[:, 2 * H :] + bias_hh[2 * H :])
# +         kept.append(u[:, 2 * H :] + bias_hh[2 * H :])

# %% [wrong] keeps the product without its bias
# -         u = product(h, weight_hh) + bias_hh
# +         p = product(h, weight_hh)
# +         u = p + bias_hh
# -         kept.append(u[:, 2 * H :])
# +         kept.append(p[:, 2 * H :])

# %% [wrong] keeps r∘(U·h) instead of U·h
# -         n = np.tanh(a[t, :, 2 * H :] + r * u[:, 2 * H :])
# -         kept.append(u[:, 2 * H :])
# +         kept.append(r * u[:, 2 * H :])
# +         n = np.tanh(a[t, :, 2 * H :] + kept[-1])

# %% [wrong] resets the state before the product
# -         u = product(h, weight_hh) + bias_hh
# +         u = product(h, weight_hh[: 2 * H]) + bias_hh[: 2 * H]
# -         n = np.tanh(a[t, :, 2 * H :] + r * u[:, 2 * H :])
# -         kept.append(u[:, 2 * H :])
# +         un = (r * h) @ weight_hh[2 * H :].T + bias_hh[2 * H :]
# +         kept.append(un)
# +         n = np.tanh(a[t, :, 2 * H :] + un)

# %% [wrong] takes the gates in the order z, r, n
# -         r, z = (1 / (1 + np.exp(-(a[t, :, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
# +         z, r = (1 / (1 + np.exp(-(a[t, :, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))

# %% [wrong] always starts from h0
# -     states, kept, h = [], [], h0
# +     states, kept = [], []
# -         u = product(h, weight_hh) + bias_hh
# +         u = product(h0, weight_hh) + bias_hh
# -         h = (1 - z) * n + z * h
# -         states.append(h)
# +         states.append((1 - z) * n + z * h0)

# %% [wrong] gives h0 back in front of the states
# -     states, kept, h = [], [], h0
# +     states, kept, h = [h0], [], h0

# %% [wrong] makes a product of x at every step
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    H = h0.shape[1]
    states, kept, h = [], [], h0
    for x_t in x:
        a = product(x_t, weight_ih) + bias_ih
        u = product(h, weight_hh) + bias_hh
        r, z = (1 / (1 + np.exp(-(a[:, k * H : (k + 1) * H] + u[:, k * H : (k + 1) * H]))) for k in (0, 1))
        n = np.tanh(a[:, 2 * H :] + r * u[:, 2 * H :])
        kept.append(u[:, 2 * H :])
        h = (1 - z) * n + z * h
        states.append(h)
    return np.array(states), np.array(kept)

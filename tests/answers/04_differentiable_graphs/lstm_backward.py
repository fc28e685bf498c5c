# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    tanh_c = np.tanh(c_next)
    dc_total = dc_next + dh_next * o * (1 - tanh_c**2)
    da = np.concatenate(
        [
            dc_total * g * i * (1 - i),
            dc_total * c * f * (1 - f),
            dc_total * i * (1 - g * g),
            dh_next * tanh_c * o * (1 - o),
        ],
        axis=1,
    )
    return da @ weight_ih, da @ weight_hh, dc_total * f, da.T @ x, da.T @ h, da.sum(axis=0)

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    def sigmoid_rule(d, s):
        return d * s * (1 - s)

    def tanh_rule(d, s):
        return d * (1 - s * s)

    q = np.tanh(c_next)
    dc = dc_next + tanh_rule(dh_next * o, q)
    parts = (
        sigmoid_rule(dc * g, i),
        sigmoid_rule(dc * c, f),
        tanh_rule(dc * i, g),
        sigmoid_rule(dh_next * q, o),
    )
    W, U = np.split(weight_ih, 4), np.split(weight_hh, 4)
    dx = sum(part @ w for part, w in zip(parts, W))
    dh = sum(part @ u for part, u in zip(parts, U))
    dW = np.vstack([part.T @ x for part in parts])
    dU = np.vstack([part.T @ h for part in parts])
    return dx, dh, dc * f, dW, dU, np.concatenate([part.sum(0) for part in parts])

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    B, H = h.shape
    d = np.empty((B, 4, H))
    q = np.tanh(c_next)
    back = dc_next + o * dh_next * (1 - q) * (1 + q)
    d[:, 0], d[:, 1], d[:, 2], d[:, 3] = back * g, back * c, back * i, dh_next * q
    for k, s in enumerate((i, f, None, o)):
        d[:, k] *= (1 - g**2) if s is None else s - s**2
    d = d.reshape(B, 4 * H)
    outer = np.einsum("bm,bi->mi", d, x), np.einsum("bm,bh->mh", d, h)
    return d.dot(weight_ih), d.dot(weight_hh), back * f, *outer, np.ones(B) @ d

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    H = h.shape[1]
    t = np.tanh(c_next)
    dcell = dc_next + dh_next * o * (1 - t * t)
    pre = {0: dcell * g * i * (1 - i), 1: dcell * c * f * (1 - f), 2: dcell * i * (1 - g * g), 3: dh_next * t * o * (1 - o)}
    dx, dh = np.zeros_like(x), np.zeros_like(h)
    dW, dU, db = np.zeros_like(weight_ih), np.zeros_like(weight_hh), np.zeros(4 * H, h.dtype)
    for k, a in pre.items():
        rows = slice(k * H, k * H + H)
        dx += a @ weight_ih[rows]
        dh += a @ weight_hh[rows]
        dW[rows], dU[rows], db[rows] = a.T @ x, a.T @ h, a.sum(0)
    return dx, dh, dcell * f, dW, dU, db

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    q = np.tanh(c_next)
    dc = dc_next + dh_next * o * (1 - q * q)
    da = np.hstack(
        [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]
    )
    return da @ weight_ih, da @ weight_hh, dc * f, da.T @ x, da.T @ h, da.sum(0)

# %% [wrong] forgets what arrives at c_next from the next step
# -     dc = dc_next + dh_next * o * (1 - q * q)
# +     dc = dh_next * o * (1 - q * q)

# %% [wrong] takes c_next for its tanh
# -     q = np.tanh(c_next)
# +     q = c_next

# %% [wrong] forgets the forget gate on the way to c
# -     return da @ weight_ih, da @ weight_hh, dc * f, da.T @ x, da.T @ h, da.sum(0)
# +     return da @ weight_ih, da @ weight_hh, dc, da.T @ x, da.T @ h, da.sum(0)

# %% [wrong] multiplies the forget gate's gradient by c_next instead of c
# -         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]
# +         [dc * g * i * (1 - i), dc * c_next * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]

# %% [wrong] puts the gates in the order i, f, o, g
# -         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]
# +         [dc * g * i * (1 - i), dc * c * f * (1 - f), dh_next * q * o * (1 - o), dc * i * (1 - g * g)]

# %% [wrong] gives the candidate a sigmoid's slope
# -         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]
# +         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * g * (1 - g), dh_next * q * o * (1 - o)]

# %% [wrong] averages the bias gradient over the minibatch
# -     return da @ weight_ih, da @ weight_hh, dc * f, da.T @ x, da.T @ h, da.sum(0)
# +     return da @ weight_ih, da @ weight_hh, dc * f, da.T @ x, da.T @ h, da.mean(0)

# %% [wrong] lets the gradient of h pass the output gate twice
# -         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * q * o * (1 - o)]
# +         [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh_next * o * q * o * (1 - o)]

# %% [wrong] swaps x and h in the weights' gradients
# -     return da @ weight_ih, da @ weight_hh, dc * f, da.T @ x, da.T @ h, da.sum(0)
# +     return da @ weight_ih, da @ weight_hh, dc * f, da.T @ h, da.T @ x, da.sum(0)

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    dn = dh_next * (1 - z) * (1 - n * n)
    dz = dh_next * (h - n) * z * (1 - z)
    dr = dn * product * r * (1 - r)
    to_input = np.concatenate([dr, dz, dn], axis=1)
    to_state = np.concatenate([dr, dz, dn * r], axis=1)
    return (
        to_input @ weight_ih,
        dh_next * z + to_state @ weight_hh,
        to_input.T @ x,
        to_state.T @ h,
        to_input.sum(axis=0),
        to_state.sum(axis=0),
    )

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    B, H = h.shape
    d = np.zeros((B, 3, H))
    d[:, 2] = dh_next * (1 - z) * (1 - n**2)
    d[:, 1] = (dh_next * h - dh_next * n) * z * (1 - z)
    d[:, 0] = d[:, 2] * product * (r - r**2)
    e = d.copy()
    e[:, 2] *= r
    d, e = d.reshape(B, -1), e.reshape(B, -1)
    dh = z * dh_next + e.dot(weight_hh)
    return d.dot(weight_ih), dh, d.T.dot(x), e.T.dot(h), d.sum(0), e.sum(0)

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    W_r, W_z, W_n = np.split(weight_ih, 3)
    U_r, U_z, U_n = np.split(weight_hh, 3)
    before_n = (1 - n) * (1 + n) * (1 - z) * dh_next
    before_z = z * (1 - z) * (h - n) * dh_next
    before_r = r * (1 - r) * product * before_n
    at_product = r * before_n
    dx = before_r @ W_r + before_z @ W_z + before_n @ W_n
    dh = before_r @ U_r + before_z @ U_z + at_product @ U_n + z * dh_next
    dW = np.vstack([d.T @ x for d in (before_r, before_z, before_n)])
    dU = np.vstack([d.T @ h for d in (before_r, before_z, at_product)])
    db = np.hstack([d.sum(0) for d in (before_r, before_z, before_n)])
    dc = np.hstack([d.sum(0) for d in (before_r, before_z, at_product)])
    return dx, dh, dW, dU, db, dc

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    B, H = h.shape
    gates = np.empty((B, 3 * H), h.dtype)
    gates[:, 2 * H :] = dh_next * (1 - z) * (1 - n * n)
    gates[:, H : 2 * H] = dh_next * (h - n) * (z - z * z)
    gates[:, :H] = gates[:, 2 * H :] * product * (r - r * r)
    dx, dW, db = gates @ weight_ih, gates.T @ x, gates.sum(axis=0)
    gates[:, 2 * H :] *= r
    return dx, gates @ weight_hh + z * dh_next, dW, gates.T @ h, db, gates.sum(axis=0)

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    dn = dh_next * (1 - z) * (1 - n * n)
    dz = dh_next * (h - n) * z * (1 - z)
    dr = dn * product * r * (1 - r)
    a, u = np.hstack([dr, dz, dn]), np.hstack([dr, dz, dn * r])
    return a @ weight_ih, dh_next * z + u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), u.sum(0)

# %% [wrong] gives both biases the same gradient
# -     return a @ weight_ih, dh_next * z + u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), u.sum(0)
# +     return a @ weight_ih, dh_next * z + u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), a.sum(0)

# %% [wrong] forgets the wire from h past all gates, z∘h
# -     return a @ weight_ih, dh_next * z + u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), u.sum(0)
# +     return a @ weight_ih, u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), u.sum(0)

# %% [wrong] takes the wrong sign for z
# -     dz = dh_next * (h - n) * z * (1 - z)
# +     dz = dh_next * (n - h) * z * (1 - z)

# %% [wrong] multiplies by r on the input's side, too
# -     a, u = np.hstack([dr, dz, dn]), np.hstack([dr, dz, dn * r])
# -     return a @ weight_ih, dh_next * z + u @ weight_hh, a.T @ x, u.T @ h, a.sum(0), u.sum(0)
# +     u = np.hstack([dr, dz, dn * r])
# +     return u @ weight_ih, dh_next * z + u @ weight_hh, u.T @ x, u.T @ h, u.sum(0), u.sum(0)

# %% [wrong] multiplies the reset gate's gradient by h instead of the product
# -     dr = dn * product * r * (1 - r)
# +     dr = dn * h * r * (1 - r)

# %% [wrong] forgets tanh's slope
# -     dn = dh_next * (1 - z) * (1 - n * n)
# +     dn = dh_next * (1 - z)

# %% [wrong] forgets that z also weighs the old state
# -     dz = dh_next * (h - n) * z * (1 - z)
# +     dz = -dh_next * n * z * (1 - z)

# %% [wrong] takes the gradient of a GRU that resets before
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    H = h.shape[1]
    dn = dh_next * (1 - z) * (1 - n * n)
    dz = dh_next * (h - n) * z * (1 - z)
    drh = dn @ weight_hh[2 * H :]
    dr = drh * h * r * (1 - r)
    a = np.hstack([dr, dz, dn])
    dh = dh_next * z + a[:, : 2 * H] @ weight_hh[: 2 * H] + drh * r
    dU = np.vstack([a[:, : 2 * H].T @ h, dn.T @ (r * h)])
    return a @ weight_ih, dh, a.T @ x, dU, a.sum(0), a.sum(0)

# %% [right]
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    a = np.concatenate([np.tile(np.eye(n), (1, B, 1, 1)), np.transpose(jacobians[1:][::-1], (0, 1, 3, 2))])
    g = scan(a, dy[::-1].copy())
    dh = g[::-1]
    return dh, np.matmul(dh[0][:, None, :], jacobians[0])[:, 0]

# %% [right]
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    matrices = [np.stack([np.eye(n)] * B)]
    for t in range(T - 1, -1, -1):
        matrices.append(np.stack([jacobians[t, b].T for b in range(B)]))
    vectors = [dy[t] for t in range(T - 1, -1, -1)] + [np.zeros((B, n))]
    g = scan(np.array(matrices), np.array(vectors))
    return np.array(g[:-1][::-1]), g[-1]

# %% [wrong] transposes for dh0 alone
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    a = np.concatenate([np.tile(np.eye(n), (1, B, 1, 1)), jacobians[1:][::-1]])
    dh = scan(a, dy[::-1])[::-1]
    return dh, np.einsum("bji,bj->bi", jacobians[0], dh[0])

# %% [wrong] multiplies by the Jacobian of the same step
def backward_by_scan(scan, jacobians, dy):
    dh = scan(jacobians[::-1].swapaxes(2, 3), dy[::-1])[::-1]
    return dh, np.einsum("bji,bj->bi", jacobians[0], dh[0])

# %% [wrong] loops over time itself
def backward_by_scan(scan, jacobians, dy):
    dh, out = np.zeros_like(dy[0]), []
    for t in reversed(range(len(dy))):
        g = dy[t] + dh
        out.insert(0, g)
        dh = np.einsum("bji,bj->bi", jacobians[t], g)
    return np.stack(out), dh

# %% [wrong] scans each sequence by itself
def backward_by_scan(scan, jacobians, dy):
    dh = np.zeros_like(dy)
    for b in range(dy.shape[1]):
        a = np.concatenate([np.eye(dy.shape[2])[None], jacobians[1:, b].swapaxes(1, 2)[::-1]])
        dh[:, b] = scan(a[:, None], dy[::-1, b : b + 1])[::-1, 0]
    return dh, np.einsum("bji,bj->bi", jacobians[0], dh[0])

# %% [wrong] returns the whole gradient without dh0
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    a = np.concatenate([np.tile(np.eye(n), (1, B, 1, 1)), jacobians[1:][::-1].swapaxes(2, 3)])
    return scan(a, dy[::-1])[::-1]

# %% [wrong] counts dy twice
# -     return scan(a, dy[::-1])[::-1]
# +     dh = scan(a, 2 * dy[::-1])[::-1]
# +     return dh, np.einsum("bji,bj->bi", jacobians[0], dh[0])

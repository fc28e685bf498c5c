# %% [wrong] σ as eᵃ/(1 + eᵃ)
# -         r = 1 / (1 + np.exp(-(g[j] + u[j])))
# -         z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# -         n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# +         reset, update = np.exp(g[j] + u[j]), np.exp(g[j + H] + u[j + H])
# +         r, z = reset / (1 + reset), update / (1 + update)
# +         n = np.tanh(g[j + 2 * H] + r * u[j + 2 * H])

# %% [right]
def fused_gates(g, u, h):
    H = len(h)
    out = np.empty_like(h)
    for j in range(H):
        r = 1 / (1 + np.exp(-(g[j] + u[j])))
        z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
        out[j] = (1 - z) * n + z * h[j]
    return out

# %% [right]
# -     H = len(h)
# -     out = np.empty_like(h)
# +     H, out = len(h), np.empty_like(h)

# %% [wrong] swaps z and 1 − z
# -     H = len(h)
# -     out = np.empty_like(h)
# +     H, out = len(h), np.empty_like(h)
# -         out[j] = (1 - z) * n + z * h[j]
# +         out[j] = z * n + (1 - z) * h[j]

# %% [wrong] resets the input's part too
# -     H = len(h)
# -     out = np.empty_like(h)
# +     H, out = len(h), np.empty_like(h)
# -         n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# +         n = np.tanh(r * (g[2 * H + j] + u[2 * H + j]))

# %% [wrong] writes a unit after it has read the next
# -     for j in range(H):
# +     before = None
# +     for j in range(H):
# -         out[j] = (1 - z) * n + z * h[j]
# +         if before is not None:
# +             out[j - 1] = before
# +         before = (1 - z) * n + z * h[j]
# +     out[H - 1] = before

# %% [wrong] tanh by exponentials
# -         n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# +         a = g[2 * H + j] + r * u[2 * H + j]
# +         n = (np.exp(2 * a) - 1) / (np.exp(2 * a) + 1)

# %% [right]
def fused_gates(g, u, h):
    def sigma(a):
        return 1.0 / (1.0 + np.exp(-a))

    h_next, size = np.empty_like(h), h.shape[0]
    j = 0
    while j < size:
        update = sigma(g[j + size] + u[j + size])
        candidate = np.tanh(sigma(g[j] + u[j]) * u[j + 2 * size] + g[j + 2 * size])
        h_next[j] = candidate + update * (h[j] - candidate)
        j += 1
    return h_next

# %% [right]
def fused_gates(g, u, h):
    h_next = np.empty_like(h)
    H = h.size
    for unit in reversed(range(H)):
        reset = 0.5 * (1 + np.tanh(0.5 * (g[unit] + u[unit])))
        keep = 0.5 * (1 + np.tanh(0.5 * (g[unit + H] + u[unit + H])))
        new = np.tanh(g[unit - H] + reset * u[unit - H])
        h_next[unit] = new - keep * new + keep * h[unit]
    return h_next

# %% [right]
def sigma(a):
    return 1.0 / (1.0 + np.exp(-a))


def fused_gates(g, u, h):
    h_next = np.empty_like(h)
    units = h.shape[0]
    for j, (jz, jn) in enumerate(zip(range(units, 2 * units), range(2 * units, 3 * units))):
        n = np.tanh(g[jn] + sigma(g[j] + u[j]) * u[jn])
        h_next[j] = n + sigma(g[jz] + u[jz]) * (h[j] - n)
    return h_next

# %% [wrong] resets the state instead of the product
def fused_gates(g, u, h):
    H, out = len(h), np.empty_like(h)
    for j in range(H):
        r = 1 / (1 + np.exp(-(g[j] + u[j])))
        z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + u[2 * H + j])
        out[j] = (1 - z) * n + z * r * h[j]
    return out

# %% [wrong] goes over the units more than once
# -         z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# -         n = np.tanh(g[2 * H + j] + u[2 * H + j])
# -         out[j] = (1 - z) * n + z * r * h[j]
# +         out[j] = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# +     for j in range(H):
# +         z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# +         out[j] = (1 - z) * out[j] + z * h[j]

# %% [wrong] takes the gates in the order z, r, n
def fused_gates(g, u, h):
    H, out = len(h), np.empty_like(h)
    for j in range(H):
        z = 1 / (1 + np.exp(-(g[j] + u[j])))
        r = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
        out[j] = (1 - z) * n + z * h[j]
    return out

# %% [wrong] forgets the state's part in n
# -         z = 1 / (1 + np.exp(-(g[j] + u[j])))
# -         r = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# -         n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# +         z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# +         n = np.tanh(g[2 * H + j])

# %% [wrong] forgets the minus of the sigmoid
# -         z = 1 / (1 + np.exp(-(g[j] + u[j])))
# -         r = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# +         r = 1 / (1 + np.exp(g[j] + u[j]))
# +         z = 1 / (1 + np.exp(g[H + j] + u[H + j]))

# %% [wrong] works on whole arrays
def fused_gates(g, u, h):
    H = len(h)
    r, z = 1 / (1 + np.exp(-(g[: 2 * H] + u[: 2 * H]))).reshape(2, H)
    n = np.tanh(g[2 * H :] + r * u[2 * H :])
    return (1 - z) * n + z * h

# %% [wrong] takes the gates of a unit for neighbours
def fused_gates(g, u, h):
    out = np.empty_like(h)
    for j in range(len(h)):
        r = 1 / (1 + np.exp(-(g[3 * j] + u[3 * j])))
        z = 1 / (1 + np.exp(-(g[3 * j + 1] + u[3 * j + 1])))
        n = np.tanh(g[3 * j + 2] + r * u[3 * j + 2])
        out[j] = (1 - z) * n + z * h[j]
    return out

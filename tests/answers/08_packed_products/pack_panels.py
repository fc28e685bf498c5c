# %% [right]
def pack_panels(weight, gates, columns):
    H, K = len(weight) // gates, weight.shape[1]
    P = (H + columns - 1) // columns
    out = np.empty((P, K, gates, columns), weight.dtype)
    for p in range(P):
        for k in range(K):
            for g in range(gates):
                for j in range(columns):
                    unit = p * columns + j
                    out[p, k, g, j] = weight[g * H + unit, k] if unit < H else 0
    return out

# %% [right]
def pack_panels(weight, gates, columns):
    H = weight.shape[0] // gates
    P = -(-H // columns)
    units = np.arange(P * columns)
    rows = np.minimum(units, H - 1)[:, None] + H * np.arange(gates)
    taken = weight[rows] * (units < H)[:, None, None].astype(weight.dtype)
    return np.ascontiguousarray(taken.reshape(P, columns, gates, -1).transpose(0, 3, 2, 1))

# %% [right]
def pack_panels(weight, gates, columns):
    rows, K = weight.shape
    H = rows // gates
    P = -(-H // columns)
    panels = np.zeros((P, K, gates, columns), weight.dtype)
    for g in range(gates):
        for u in range(H):
            panels[u // columns, :, g, u % columns] = weight[g * H + u]
    return panels

# %% [wrong] reads the gates as if they alternated
# -             panels[u // columns, :, g, u % columns] = weight[g * H + u]
# +             panels[u // columns, :, g, u % columns] = weight[u * gates + g]

# %% [wrong] leaves out the units of the incomplete panel
# -     P = -(-H // columns)
# +     P = H // columns
# -         for u in range(H):
# +         for u in range(P * columns):

# %% [wrong] adds a panel where none is needed
# -     P = -(-H // columns)
# +     P = H // columns + 1

# %% [wrong] moves the gates behind the units
# -     return panels
# +     return panels.transpose(0, 1, 3, 2).copy()

# %% [wrong] makes float64
# -     panels = np.zeros((P, K, gates, columns), weight.dtype)
# +     panels = np.zeros((P, K, gates, columns))

# %% [wrong] distributes units over panels in turn
# -             panels[u // columns, :, g, u % columns] = weight[g * H + u]
# +             panels[u % P, :, g, u // P] = weight[g * H + u]

# %% [right]
def pack_panels(weight, gates, columns):
    K = weight.shape[1]
    cube = weight.reshape(gates, -1, K)
    missing = -cube.shape[1] % columns
    cube = np.pad(cube, ((0, 0), (0, missing), (0, 0)))
    return np.ascontiguousarray(cube.reshape(gates, -1, columns, K).transpose(1, 3, 0, 2))

# %% [right]
def pack_panels(weight, gates, columns):
    H, K = len(weight) // gates, weight.shape[1]
    P = (H + columns - 1) // columns
    panels = np.zeros((P, K, gates, columns), dtype=weight.dtype)
    for p in range(P):
        units = range(p * columns, min(H, (p + 1) * columns))
        for g in range(gates):
            panels[p, :, g, : len(units)] = weight[[g * H + u for u in units]].T
    return panels

# %% [wrong] leaves out the units of the incomplete panel
def pack_panels(weight, gates, columns):
    H = len(weight) // gates
    P = H // columns
    K = weight.shape[1]
    kept = weight.reshape(gates, H, K)[:, : P * columns]
    return kept.reshape(gates, P, columns, K).transpose(1, 3, 0, 2)

# %% [wrong] reads the gates as if they alternated
def pack_panels(weight, gates, columns):
    H = len(weight) // gates
    P = -(-H // columns)
    out = np.zeros((P, weight.shape[1], gates, columns), weight.dtype)
    for r, row in enumerate(weight):
        j, g = divmod(r, gates)
        out[j // columns, :, g, j % columns] = row
    return out

# %% [wrong] fills the last panel with the last unit again
def pack_panels(weight, gates, columns):
    H = len(weight) // gates
    P = -(-H // columns)
    units = np.minimum(np.arange(P * columns), H - 1)
    return weight.reshape(gates, H, -1)[:, units].reshape(gates, P, columns, -1).transpose(1, 3, 0, 2)

# %% [wrong] pads all gates together
def pack_panels(weight, gates, columns):
    rows, K = weight.shape
    P = -(-rows // gates // columns)
    padded = np.zeros((P * columns * gates, K), weight.dtype)
    padded[:rows] = weight
    return padded.reshape(gates, P, columns, K).transpose(1, 3, 0, 2)

# %% [wrong] leaves the terms innermost, as they are stored
def pack_panels(weight, gates, columns):
    H = len(weight) // gates
    P = -(-H // columns)
    out = np.zeros((P, gates, columns, weight.shape[1]), weight.dtype)
    for j in range(H):
        out[j // columns, :, j % columns] = weight[j::H]
    return out

# %% [wrong] returns a view of zeros
def pack_panels(weight, gates, columns):
    return np.zeros((-(-(len(weight) // gates) // columns), weight.shape[1], gates, columns), weight.dtype)

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    fits = [
        ((r + v) / (r * v), r, v)
        for r in range(1, M + 1)
        for v in range(1, N // vector + 1)
        if r * v + v + 1 <= registers
    ]
    _, r, v = min(fits)
    return {
        "order": "mnk",
        "tile": {"m": r, "n": v * vector, "k": 1},
        "vectorise": vector,
        "parallel": threads > 1,
    }

# %% [wrong] fills all registers with sums
# -         if r * v + v + 1 <= registers
# +         if r * v <= registers

# %% [wrong] adds to the same sums from several threads
# -         "order": "mnk",
# +         "order": "kmn",

# %% [wrong] takes tiles larger than the matrix
# -         ((r + v) / (r * v), r, v)
# -         for r in range(1, M + 1)
# -         for v in range(1, N // vector + 1)
# -         if r * v + v + 1 <= registers
# +         ((r + v) / (r * v), r, v) for r in range(1, 40) for v in range(1, 40) if r * v + v + 1 <= registers

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    best = None
    for v in range(1, N // vector + 1):
        r = min(M, (registers - 1 - v) // v)
        if r < 1:
            break
        loads = 1 / r + 1 / v
        if best is None or loads < best[0]:
            best = loads, r, v
    tile = dict(m=best[1], n=best[2] * vector, k=1)
    return dict(order="nmk", tile=tile, vectorise=vector, parallel=threads > 1)

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    def loads(tile):
        r, v = tile
        return 1 / r + 1 / v if r * v + v + 1 <= registers else float("inf")

    tiles = (
        (r, v) for r in range(1, min(M, registers) + 1) for v in range(1, min(N // vector, registers) + 1)
    )
    rows, vectors = min(tiles, key=loads)
    return {
        "tile": {"k": 1, "m": int(rows), "n": int(vectors * vector)},
        "vectorise": int(vector),
        "order": "mnk",
        "parallel": True if threads > 1 else False,
    }

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    r, v = np.meshgrid(np.arange(1, M + 1), np.arange(1, N // vector + 1), indexing="ij")
    loads = np.where(r * v + v + 1 <= registers, 1 / r + 1 / v, np.inf)
    i, j = np.unravel_index(loads.argmin(), loads.shape)
    tile = {"m": int(r[i, j]), "n": int(v[i, j]) * vector, "k": 1}
    return {"order": "mnk", "tile": tile, "vectorise": vector, "parallel": bool(threads > 1)}

# %% [wrong] one row of as many vectors as fit
def choose_schedule(M, N, K, vector, registers, threads):
    v = min(N // vector, (registers - 1) // 2)
    return {
        "order": "mnk",
        "tile": {"m": 1, "n": v * vector, "k": 1},
        "vectorise": vector,
        "parallel": threads > 1,
    }

# %% [wrong] forgets how wide a vector is
def choose_schedule(M, N, K, vector, registers, threads):
    fits = [
        ((r + v) / (r * v), r, v)
        for r in range(1, M + 1)
        for v in range(1, N // vector + 1)
        if r * v + v + 1 <= registers
    ]
    _, r, v = min(fits)
    return {"order": "mnk", "tile": {"m": r, "n": v, "k": 1}, "vectorise": vector, "parallel": threads > 1}

# %% [wrong] leaves threads idle
def choose_schedule(M, N, K, vector, registers, threads):
    fits = [
        ((r + v) / (r * v), r, v)
        for r in range(1, M + 1)
        for v in range(1, N // vector + 1)
        if r * v + v + 1 <= registers
    ]
    _, r, v = min(fits)
    return {"order": "mnk", "tile": {"m": r, "n": v * vector, "k": 1}, "vectorise": vector, "parallel": False}

# %% [wrong] computes number by number
def choose_schedule(M, N, K, vector, registers, threads):
    return {"order": "mnk", "tile": {"m": 4, "n": 8, "k": 1}, "vectorise": 1, "parallel": threads > 1}

# %% [wrong] a tile that divides the matrix only
def choose_schedule(M, N, K, vector, registers, threads):
    fits = [
        (r, v)
        for v in range(1, N // vector + 1)
        for r in range(1, M + 1)
        if r * v + v + 1 <= registers and M % r == 0 and N % (v * vector) == 0
    ] or [(1, 1)]
    r, v = min(fits, key=lambda t: 1 / t[0] + 1 / t[1])
    return {"order": "mnk", "tile": {"m": r, "n": v * vector, "k": 1}, "vectorise": vector, "parallel": threads > 1}

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    warp, lane = divmod(thread, 32)
    first = (block * warps + warp) * units
    weights = []
    for u in range(first, first + units):
        if u < H:
            for g in range(gates):
                for c in range(lane, H, 32):
                    weights.append((g * H + u, c))
    return weights

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    start = units * (thread // 32 + warps * block)
    rows = [u + H * g for u in range(H)[start : start + units] for g in range(gates)]
    return [[r, c] for r in rows for c in range(H) if c % 32 == thread % 32]

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    w = thread // 32 + warps * block
    return tuple((r, c) for r in range(gates * H) for c in range(H) if (r % H) // units == w and (c - thread) % 32 == 0)

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    warp, lane = block * warps + thread // 32, thread % 32
    first = warp * units
    mine = range(first, min(first + units, H))
    return [(g * H + u, column) for u in mine for g in range(gates) for column in range(lane, H, 32)]

# %% [wrong] counts warps inside the block only
# -     warp, lane = block * warps + thread // 32, thread % 32
# +     warp, lane = thread // 32, thread % 32

# %% [wrong] has units beyond H − 1
# -     mine = range(first, min(first + units, H))
# +     mine = range(first, first + units)

# %% [wrong] gives a lane neighbouring columns
# -     return [(g * H + u, column) for u in mine for g in range(gates) for column in range(lane, H, 32)]
# +     return [(g * H + u, column) for u in mine for g in range(gates) for column in range(lane * -(-H // 32), min(H, (lane + 1) * -(-H // 32)))]

# %% [wrong] puts a unit's gates side by side in the rows
# -     return [(g * H + u, column) for u in mine for g in range(gates) for column in range(lane, H, 32)]
# +     return [(u * gates + g, column) for u in mine for g in range(gates) for column in range(lane, H, 32)]

# %% [wrong] stores one gate only
# -     return [(g * H + u, column) for u in mine for g in range(gates) for column in range(lane, H, 32)]
# +     return [(g * H + u, column) for u in mine for g in range(1) for column in range(lane, H, 32)]

# %% [wrong] deals units to warps in turn
# -     mine = range(first, min(first + units, H))
# +     mine = range(warp, min(H, warp + units * warps), warps)

# %% [wrong] starts a block at its own units, whatever its warps
# -     first = warp * units
# +     first = (block + thread // 32) * units

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    result = []
    for row in range(gates * H):
        unit = row % H
        owner = unit // units
        if owner // warps != block or owner % warps != thread // 32:
            continue
        for column in range(H):
            if column % 32 == thread % 32:
                result.append((row, column))
    return result

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    warp, lane = divmod(thread, 32)
    rows = [g * H + u for g in range(gates) for u in np.arange(units) + (block * warps + warp) * units if u < H]
    return [(int(r), int(c)) for r in rows for c in np.arange(H)[lane::32]]

# %% [wrong] gives a lane neighbouring columns
def tile_for_thread(block, thread, H, gates, units, warps):
    n = -(-H // 32)
    lane, first = thread % 32, (block * warps + thread // 32) * units
    return [(g * H + u, c) for u in range(first, min(first + units, H)) for g in range(gates) for c in range(lane * n, min(lane * n + n, H))]

# %% [wrong] has units beyond H − 1
def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    return [(g * H + u, c) for u in range(first, first + units) for g in range(gates) for c in range(thread % 32, H, 32)]

# %% [wrong] strides by the threads of the block
def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    return [(g * H + u, c) for u in range(first, min(first + units, H)) for g in range(gates) for c in range(thread % 32, H, 32 * warps)]

# %% [wrong] returns the rows only
def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    return [g * H + u for u in range(first, min(first + units, H)) for g in range(gates)]

# %% [wrong] distributes units over warps in turn
def tile_for_thread(block, thread, H, gates, units, warps):
    w = block * warps + thread // 32
    return [(g * H + u, c) for u in range(w, H, warps) for g in range(gates) for c in range(thread % 32, H, 32)]

# %% [wrong] gives the rest to the last full warp, too
def tile_for_thread(block, thread, H, gates, units, warps):
    warp, lane = block * warps + thread // 32, thread % 32
    first = warp * units
    last = first + units
    if H - last < units:
        last = H
    return [(g * H + u, c) for g in range(gates) for u in range(first, last) for c in range(lane, H, 32)]

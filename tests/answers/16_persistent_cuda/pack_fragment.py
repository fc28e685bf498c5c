# %% [right]
def pack_fragment(tile):
    result = np.zeros((32, 4), np.uint32)
    for g in range(8):
        for t in range(4):
            result[4 * g + t] = [tile[g][t], tile[g + 8][t], tile[g][t + 4], tile[g + 8][t + 4]]
    return result

# %% [right]
def pack_fragment(tile):
    parts = [tile[:8, :4], tile[8:, :4], tile[:8, 4:], tile[8:, 4:]]
    return np.stack([part.reshape(32) for part in parts], axis=1)

# %% [right]
def pack_fragment(tile):
    lanes = np.arange(32)
    g, t = lanes // 4, lanes % 4
    return np.column_stack([tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]])

# %% [wrong] swaps g and t in the lane's number
# -     g, t = lanes // 4, lanes % 4
# +     g, t = lanes % 8, lanes // 8

# %% [wrong] swaps the second word and the third
def pack_fragment(tile):
    parts = [tile[:8, :4], tile[:8, 4:], tile[8:, :4], tile[8:, 4:]]
    return np.stack([part.reshape(32) for part in parts], axis=1)

# %% [wrong] distributes the words in the order of memory
def pack_fragment(tile):
    return np.ascontiguousarray(tile).reshape(32, 4)

# %% [wrong] returns registers by lanes
def pack_fragment(tile):
    parts = [tile[:8, :4], tile[8:, :4], tile[:8, 4:], tile[8:, 4:]]
    return np.stack([part.reshape(32) for part in parts])

# %% [wrong] returns floats
def pack_fragment(tile):
    parts = [tile[:8, :4], tile[8:, :4], tile[:8, 4:], tile[8:, 4:]]
    return np.stack([part.reshape(32) for part in parts], axis=1).astype("float32")

# %% [wrong] passes the words through float32, which holds 24 bits
def pack_fragment(tile):
    fragment = np.zeros((32, 4), np.float32)
    for lane in range(32):
        g, t = divmod(lane, 4)
        fragment[lane] = tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
    return fragment.astype(np.uint32)

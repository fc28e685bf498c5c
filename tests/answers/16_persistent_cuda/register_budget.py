# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    import math
    pairs = math.ceil(gates * H / 16) * math.ceil(H * itemsize / 4 / 16)
    words = math.ceil(pairs / (blocks * warps)) * 8
    most = min(65536 // (warps * 32), 255)
    return words, most, most - words >= beside


# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    rows = (gates * H + 15) // 16
    columns = (H * itemsize + 63) // 64
    all_warps = blocks * warps
    words = 8 * ((rows * columns + all_warps - 1) // all_warps)
    most = 255 if 65536 // 32 // warps > 255 else 65536 // 32 // warps
    return words, most, not words + beside > most


# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    ceil = lambda a, b: -(a // -b)
    words = 8 * ceil(ceil(gates * H, 16) * ceil(H * itemsize, 64), blocks * warps)
    most = min(255, 2048 // warps)
    return (words, most, words + beside in range(most + 1))


# %% [wrong] refuses what fits exactly
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
    most = min(255, 2048 // warps)
    return words, most, words + beside < most


# %% [wrong] gives a thread more than 255
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
    most = 2048 // warps
    return words, most, words + beside <= most


# %% [wrong] rounds each gate up by itself
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = 8 * -(-(gates * -(-H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
    most = min(255, 2048 // warps)
    return words, most, words + beside <= most


# %% [wrong] does no rounding of words
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = 8 * -(-(-(-gates * H // 16) * (H * itemsize // 64)) // (blocks * warps))
    most = min(255, 2048 // warps)
    return words, most, words + beside <= most


# %% [wrong] counts pairs, not words
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
    most = min(255, 2048 // warps)
    return words, most, words + beside <= most

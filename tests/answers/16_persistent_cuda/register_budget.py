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

# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = -(-H * itemsize // 4)
    pairs = -(-gates * H // 16) * -(-words // 16)
    stored = 8 * -(-pairs // (blocks * warps))
    most = min(255, 65536 // (32 * warps))
    return stored, most, stored + beside <= most

# %% [wrong] leaves the last pairs without a warp
# -     stored = 8 * -(-pairs // (blocks * warps))
# +     stored = 8 * (pairs // (blocks * warps))

# %% [wrong] takes every number for a word of 32 bits
# -     words = -(-H * itemsize // 4)
# +     words = H

# %% [wrong] forgets the gates
# -     pairs = -(-gates * H // 16) * -(-words // 16)
# +     pairs = -(-H // 16) * -(-words // 16)

# %% [wrong] lets a thread have 256
# -     most = min(255, 65536 // (32 * warps))
# +     most = min(256, 65536 // (32 * warps))

# %% [wrong] leaves no registers for anything but weights
# -     return stored, most, stored + beside <= most
# +     return stored, most, stored <= most

# %% [wrong] refuses what fits exactly
# -     return stored, most, stored + beside <= most
# +     return stored, most, stored + beside < most

# %% [wrong] rounds the whole matrix, not rows and words
# -     pairs = -(-gates * H // 16) * -(-words // 16)
# +     pairs = -(-gates * H * words // 256)

# %% [wrong] spreads the pairs over the blocks only
# -     stored = 8 * -(-pairs // (blocks * warps))
# +     stored = 8 * -(-pairs // blocks)

# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    import math

    across = math.ceil(H / (16 * 4 / itemsize))
    down = math.ceil(gates * H / 16)
    per_warp = math.ceil(across * down / blocks / warps)
    limit = 65_536 // (warps * 32)
    limit = limit if limit < 255 else 255
    return 8 * per_warp, limit, bool(8 * per_warp + beside <= limit)

# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    columns = 64 // itemsize
    rows = (gates * H + 15) // 16
    tiles = rows * ((H + columns - 1) // columns)
    n = blocks * warps
    words = (tiles + n - 1) // n * 8
    available = min(65536 // 32 // warps, 255)
    return words, available, not words + beside > available

# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
    most = min(255, 2048 // warps)
    return words, most, words + beside <= most

# %% [wrong] refuses what fits exactly
# -     return words, most, words + beside <= most
# +     return words, most, words + beside < most

# %% [wrong] gives a thread more than 255
# -     most = min(255, 2048 // warps)
# +     most = 2048 // warps

# %% [wrong] rounds each gate up by itself
# -     words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
# +     words = 8 * -(-(gates * -(-H // 16) * -(-H * itemsize // 64)) // (blocks * warps))

# %% [wrong] does no rounding of words
# -     words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
# +     words = 8 * -(-(-(-gates * H // 16) * (H * itemsize // 64)) // (blocks * warps))

# %% [wrong] counts pairs, not words
# -     words = 8 * -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))
# +     words = -(-(-(-gates * H // 16) * -(-H * itemsize // 64)) // (blocks * warps))

# %% [wrong] drops half a word at the end of a row
def register_budget(gates, H, itemsize, blocks, warps, beside):
    in_row = H * itemsize // 4
    pairs = -(-gates * H // 16) * -(-in_row // 16)
    words = 8 * -(-pairs // (blocks * warps))
    most = min(255, 65536 // (32 * warps))
    return words, most, words + beside <= most

# %% [wrong] compares with 255 whatever the threads share
def register_budget(gates, H, itemsize, blocks, warps, beside):
    pairs = -(-gates * H // 16) * -(-H * itemsize // 64)
    words = 8 * -(-pairs // (blocks * warps))
    most = min(255, 65536 // (32 * warps))
    return words, most, words + beside <= 255

# %% [right]
import math

def product_time(sequences, rows, inner, multiprocessors, peak):
    tiles = math.ceil(sequences / 64) * math.ceil(rows / 64)
    flops = 2 * sequences * rows * inner
    at_peak = flops / (peak * 1e12) * 1e6
    empty = max(1, multiprocessors / tiles)
    c = max(1, tiles / multiprocessors)
    alone = (c + 1.5) / c
    return at_peak * empty * alone / 0.85 * 1.12

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = ((sequences + 63) // 64) * ((rows + 63) // 64)
    if blocks < multiprocessors:
        reached = blocks / multiprocessors * (1 / 2.5)
    else:
        reached = blocks / (blocks + 1.5 * multiprocessors)
    tflops = peak * reached * 0.85
    return 1.12 * 2e-6 * sequences * rows * inner / tflops

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = 0
    for top in range(0, rows, 64):
        for left in range(0, sequences, 64):
            blocks += 1
    waves = np.maximum(1.0, blocks / multiprocessors)
    rate = peak * 1e6 * 0.85 * min(1, blocks / multiprocessors) * waves / (waves + 1.5)
    print(blocks, waves)
    return float(sequences * rows * inner * 2 * 1.12 / rate)

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    B, H, K = (np.float64(n) for n in (sequences, rows, inner))
    blocks = np.ceil(B / 64) * np.ceil(H / 64)
    each = blocks / multiprocessors
    share = each / (1 + 1.5) if each < 1 else each / (each + 1.5)
    return 2 * B * H * K * 1.12 / (0.85 * share * peak * 1e6)

# %% [wrong] lets four blocks in a row stand for one
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = -(-sequences // 64) * -(-rows // 64) / 4
    c = max(1, blocks / multiprocessors)
    rate = peak * 1e6 * min(1, blocks / multiprocessors) * 0.85 * c / (c + 1.5)
    return 2 * sequences * rows * inner * 1.12 / rate

# %% [wrong] rounds the number of tiles down
# -     blocks = -(-sequences // 64) * -(-rows // 64) / 4
# +     blocks = max(1, sequences // 64) * max(1, rows // 64)

# %% [wrong] cuts the inner size into tiles, too
# -     blocks = -(-sequences // 64) * -(-rows // 64) / 4
# +     blocks = -(-sequences // 64) * -(-rows // 64) * -(-inner // 64)

# %% [wrong] counts a multiply-add as one FLOP
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = -(-sequences // 64) * -(-rows // 64)
    c = max(1, blocks / multiprocessors)
    rate = peak * 1e6 * min(1, blocks / multiprocessors) * 0.85 * c / (c + 1.5)
    return sequences * rows * inner * 1.12 / rate

# %% [wrong] divides by 1.12
# -     return sequences * rows * inner * 1.12 / rate
# +     return 2 * sequences * rows * inner / 1.12 / rate

# %% [wrong] returns milliseconds
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = -(-sequences // 64) * -(-rows // 64)
    c = max(1, blocks / multiprocessors)
    rate = peak * 1e9 * min(1, blocks / multiprocessors) * 0.85 * c / (c + 1.5)
    return 2 * sequences * rows * inner * 1.12 / rate

# %% [wrong] takes the blocks of the whole chip for c
def product_time(sequences, rows, inner, multiprocessors, peak):
    c = -(-sequences // 64) * -(-rows // 64)
    rate = peak * 1e6 * min(1, c / multiprocessors) * 0.85 * c / (c + 1.5)
    return 2 * sequences * rows * inner * 1.12 / rate

# %% [wrong] returns the time at the peak
def product_time(sequences, rows, inner, multiprocessors, peak):
    return 2 * sequences * rows * inner / peak / 1e6

# %% [wrong] prints and returns nothing
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = -(-sequences // 64) * -(-rows // 64)
    print(blocks)

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    import math
    blocks = math.ceil(sequences / 64) * math.ceil(rows / 64)
    c = max(1.0, blocks / multiprocessors)
    busy = min(blocks, multiprocessors)
    speed = 1e12 * peak * busy / multiprocessors * 0.85 * c / (c + 1.5)
    return 1e6 * 1.12 * 2 * sequences * rows * inner / speed

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = -(-sequences // 64) * -(-rows // 64)
    flops = 2 * inner * sequences * rows
    if blocks <= multiprocessors:
        efficiency = blocks / multiprocessors / 2.5
    else:
        efficiency = blocks / (blocks + 1.5 * multiprocessors)
    return flops * 1.12 / (0.85 * efficiency * peak * 10**6)

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = ((sequences + 63) // 64) * ((rows + 63) // 64)
    used = blocks if blocks < multiprocessors else multiprocessors
    c = blocks / used
    of_one = peak / multiprocessors * 0.85 * c / (c + 1.5)
    return float(np.float64(2.0) * sequences * rows * inner / (of_one * used) * 1.12 / 1e6)

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = len(range(0, sequences, 64)) * len(range(0, rows, 64))
    ideal = sequences * rows * inner * 2e-6 / peak
    empty = max(1, multiprocessors / blocks)
    c = max(blocks, multiprocessors) / multiprocessors
    return ideal * empty * (1 + 1.5 / c) / 0.85 * 1.12

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    import math
    blocks = math.ceil(sequences / 64) * math.ceil(rows / 64)
    c = max(1, blocks / multiprocessors)
    share = min(1, blocks / multiprocessors)
    return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * share * 0.85 * c / (c + 1.5))

# %% [wrong] cuts the whole result into pieces of 64 * 64 numbers, edges not counted
# -     blocks = math.ceil(sequences / 64) * math.ceil(rows / 64)
# +     blocks = math.ceil(sequences * rows / 4096)

# %% [wrong] divides by 1.12
# -     return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * share * 0.85 * c / (c + 1.5))
# +     return 2 * sequences * rows * inner / (1.12 * 1e6 * peak * share * 0.85 * c / (c + 1.5))

# %% [wrong] counts the work of whole tiles, empty places included
# -     return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * share * 0.85 * c / (c + 1.5))
# +     return 1.12 * 2 * blocks * 4096 * inner / (1e6 * peak * share * 0.85 * c / (c + 1.5))

# %% [wrong] rounds c up to whole blocks
# -     c = max(1, blocks / multiprocessors)
# +     c = math.ceil(blocks / multiprocessors)

# %% [wrong] takes a c below 1 for few blocks
# -     c = max(1, blocks / multiprocessors)
# -     share = min(1, blocks / multiprocessors)
# +     c = blocks / multiprocessors
# +     share = min(1, c)

# %% [wrong] forgets that few blocks leave multiprocessors empty
def product_time(sequences, rows, inner, multiprocessors, peak):
    import math
    blocks = math.ceil(sequences / 64) * math.ceil(rows / 64)
    c = max(1, blocks / multiprocessors)
    return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * 0.85 * c / (c + 1.5))

# %% [wrong] counts a multiply-add as one FLOP
# -     return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * 0.85 * c / (c + 1.5))
# +     share = min(1, blocks / multiprocessors)
# +     return 1.12 * sequences * rows * inner / (1e6 * peak * share * 0.85 * c / (c + 1.5))

# %% [wrong] takes the peak for that of a single multiprocessor
# -     return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * 0.85 * c / (c + 1.5))
# +     busy = min(multiprocessors, blocks)
# +     return 1.12 * 2 * sequences * rows * inner / (1e6 * peak * busy * 0.85 * c / (c + 1.5))

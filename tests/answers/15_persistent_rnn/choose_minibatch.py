# %% [right]
def choose_minibatch(T, H, layers, device):
    B = 0
    while layers * (24 * H * H + 8 * T * H * (B + 1)) <= device["memory"]:
        B += 1
    compute = 2 * B * H**2 / device["peak"] / 1e6
    ways = {False: device["launch"] + max(compute, H * H * 4 / device["bandwidth"] / 1e3)}
    if H * H * 4 <= device["registers"]:
        ways[True] = device["barrier"] + compute
    stays = min(ways, key=ways.get)
    return B, stays, ways[stays]

# %% [right]
def choose_minibatch(T, H, layers, device):
    B = int((device["memory"] / layers - 24 * H**2) / (8 * T * H) + 1e-9)
    flops, size = 2 * B * H * H, 4 * H * H
    work, read = flops / (device["peak"] * 1e12), size / (device["bandwidth"] * 1e9)
    by_launch = device["launch"] / 1e6 + (work if work > read else read)
    by_barrier = device["barrier"] / 1e6 + work
    if size > device["registers"] or by_barrier >= by_launch:
        return B, False, by_launch * 1e6
    return B, True, by_barrier * 1e6

# %% [wrong] adds reading and operations
# -     by_launch = device["launch"] / 1e6 + (work if work > read else read)
# +     by_launch = device["launch"] / 1e6 + work + read

# %% [wrong] forgets the barrier
# -     by_barrier = device["barrier"] / 1e6 + work
# +     by_barrier = work

# %% [wrong] keeps weights that do not fit
# -     if size > device["registers"] or
# +     if size > device["registers"] * 1024 or

# %% [wrong] chooses the slower way
# -  or by_barrier >= by_launch:
# +  or by_barrier < by_launch:

# %% [wrong] gives all of the memory to each layer
# -     B = int((device["memory"] / layers - 24 * H**2)
# +     B = int((device["memory"] - 24 * H**2)

# %% [wrong] rounds the minibatch to the nearest
# -     B = int((device["memory"] / layers - 24 * H**2) / (8 * T * H) + 1e-9)
# +     B = round((device["memory"] / layers - 24 * H**2) / (8 * T * H))

# %% [wrong] keeps weights wherever they fit
# -  or by_barrier >= by_launch:
# + :

# %% [wrong] returns the time of a whole sequence
# -         return B, False, by_launch * 1e6
# -     return B, True, by_barrier * 1e6
# +         return B, False, by_launch * 1e6 * T
# +     return B, True, by_barrier * 1e6 * T

# %% [wrong] asks whether W and U together fit into the registers
# -     if size > device["registers"]
# +     if 2 * size > device["registers"]

# %% [wrong] takes 1 GB/s for a million bytes a microsecond
def choose_minibatch(T, H, layers, device):
    weights = 4 * 3 * 2 * H * H
    B = int((device["memory"] // layers - weights) // (4 * 2 * T * H))
    read = 4 * H * H / (device["bandwidth"] * 1e6)
    compute = 2 * B * H * H / (device["peak"] * 1e6)
    launched = device["launch"] + max(read, compute)
    persistent = device["barrier"] + compute
    if 4 * H * H <= device["registers"] and persistent < launched:
        return B, True, persistent
    return B, False, launched

# %% [wrong] leaves the reading of U out of the choice
def choose_minibatch(T, H, layers, device):
    free = device["memory"] - layers * 24 * H**2
    B = int(free // (layers * 8 * T * H))
    compute = 2 * B * H**2 / (device["peak"] * 1e6)
    stays = 4 * H**2 <= device["registers"] and device["barrier"] < device["launch"]
    if stays:
        return B, True, device["barrier"] + compute
    read = 4 * H**2 / (device["bandwidth"] * 1e3)
    return B, False, device["launch"] + max(read, compute)

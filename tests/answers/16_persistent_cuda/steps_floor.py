# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    B = -(-B // 8) * 8

    def product(rows, n):
        return 2 * gates * H * H * rows / (gpu["tflops"] * 1e6 * n / gpu["multiprocessors"])

    reads = blocks * B * H * 2 / (gpu["l2_bandwidth"] * 1e3)
    grid = gpu["exchange"] + max(0, reads - gpu["l2"]) + product(B, blocks)
    state = 8 * H * 2
    shared = warps * state / (128 * gpu["clock"] * 1e3)
    one = gpu["push"] + max(state / (gpu["push_bandwidth"] * 1e3), product(8, cluster), shared)
    at_once = gpu["multiprocessors"] // cluster
    return grid, one * -(-(B // 8) // at_once)

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    groups = (B + 7) // 8
    h_bytes = 16 * H
    rate = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    operations = 2 * gates * H**2 * 8

    l2 = groups * h_bytes * blocks / gpu["l2_bandwidth"] / 1000 - gpu["l2"]
    grid = gpu["exchange"] + (l2 if l2 > 0 else 0) + groups * operations / (rate * blocks)

    arithmetic = operations / (rate * cluster)
    reading = warps * h_bytes / 128 / gpu["clock"] / 1000
    step = gpu["push"] + max(h_bytes / gpu["push_bandwidth"] / 1000, arithmetic, reading)
    together = gpu["multiprocessors"] // cluster
    rounds = (groups + together - 1) // together
    return grid, rounds * step

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    SMs = gpu["multiprocessors"]
    clusters = int(np.ceil(B / 8))
    padded = 8 * clusters
    flop = lambda rows: 2.0 * gates * H * H * rows
    per_sm = 1e6 * gpu["tflops"] / SMs
    parts = [gpu["exchange"], max(0.0, 2.0 * padded * H * blocks / (1e3 * gpu["l2_bandwidth"]) - gpu["l2"])]
    parts.append(flop(padded) / per_sm / blocks)
    time, left = 0.0, clusters
    while left > 0:
        reads = 2.0 * 8 * H * warps / 128 / (gpu["clock"] * 1e3)
        time += (
            gpu["push"] + max(16.0 * H / (1e3 * gpu["push_bandwidth"]), flop(8) / per_sm / cluster, reads)
        )
        left -= SMs // cluster
    return sum(parts), time

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    B = (B + 7) // 8 * 8
    one = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    l2 = blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"]
    grid = gpu["exchange"] + np.maximum(l2, 0) + 2 * gates * H**2 * B / one / blocks
    parts = np.array([
        16 * H / gpu["push_bandwidth"] / 1e3,
        16 * gates * H**2 / one / cluster,
        warps * 16 * H / 128 / gpu["clock"] / 1e3,
    ])
    rounds = np.ceil(B / 8 / (gpu["multiprocessors"] // cluster))
    return np.array([grid, rounds * (gpu["push"] + parts.max())])

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    B = -(-B // 8) * 8
    rate = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    grid = gpu["exchange"] + max(0, blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"])
    grid += 2 * gates * H * H * B / (rate * blocks)
    step = gpu["push"]
    step += max(
        16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (rate * cluster), warps * 16 * H / 128 / gpu["clock"] / 1e3)
    return grid, step * -(-(B // 8) // (gpu["multiprocessors"] // cluster))

# %% [wrong] does not round the minibatch up
# -     B = -(-B // 8) * 8
# -     rate = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
# +     rate = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
# -     return grid, step * -(-(B // 8) // (gpu["multiprocessors"] // cluster))
# +     return grid, step * -(-(-(-B // 8)) // (gpu["multiprocessors"] // cluster))

# %% [wrong] adds what runs at the same time
# -     step = gpu["push"]
# -     step += max(
# -         16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (rate * cluster), warps * 16 * H / 128 / gpu["clock"] / 1e3)
# +     step = gpu["push"] + 16 * H / gpu["push_bandwidth"] / 1e3
# +     step += 16 * gates * H * H / (rate * cluster) + warps * 16 * H / 128 / gpu["clock"] / 1e3

# %% [wrong] takes the larger of bytes' time and latency
# -     grid = gpu["exchange"] + max(0, blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"])
# +     grid = gpu["exchange"] + max(gpu["l2"], blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3)

# %% [wrong] lets one block read h for all
# -     grid = gpu["exchange"] + max(0, blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"])
# +     grid = gpu["exchange"] + max(0, B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"])

# %% [wrong] runs all clusters at once
# -     return grid, step * -(-(B // 8) // (gpu["multiprocessors"] // cluster))
# +     return grid, step

# %% [wrong] counts rounds as a fraction
# -     return grid, step * -(-(B // 8) // (gpu["multiprocessors"] // cluster))
# +     return grid, step * max(1, B / 8 / (gpu["multiprocessors"] / cluster))

# %% [wrong] multiplies with all multiprocessors in a cluster
# -         16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (rate * cluster), warps * 16 * H / 128 / gpu["clock"] / 1e3)
# +         16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (gpu["tflops"] * 1e6), warps * 16 * H / 128 / gpu["clock"] / 1e3)

# %% [wrong] takes the latency off even where it is longer than the bytes' time
# -     grid = gpu["exchange"] + max(0, blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"])
# +     grid = gpu["exchange"] + blocks * B * H * 2 / gpu["l2_bandwidth"] / 1e3 - gpu["l2"]

# %% [wrong] lets a warp read its own share only
# -         16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (rate * cluster), warps * 16 * H / 128 / gpu["clock"] / 1e3)
# +         16 * H / gpu["push_bandwidth"] / 1e3, 16 * gates * H * H / (rate * cluster), 16 * H / 128 / gpu["clock"] / 1e3)

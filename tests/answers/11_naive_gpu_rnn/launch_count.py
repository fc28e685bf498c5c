# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    G = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[cell]
    kernels = {"rnn_tanh": 5, "gru": 21, "lstm": 25}[cell] * T * L
    flops = 2 * B * T * G * H * (I + H + (L - 1) * 2 * H)
    return kernels, flops, kernels * launch

# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    sizes = [(I, H)] + [(H, H)] * (L - 1)
    G, n = {"rnn_tanh": (1, 5), "gru": (3, 21), "lstm": (4, 25)}[cell]
    flops = sum(2 * T * B * G * H * (a + b) for a, b in sizes)
    return n * T * len(sizes), flops, n * T * len(sizes) * launch

# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    count = flops = 0
    for layer in range(L):
        width = H if layer else I
        G = 1 + 2 * (cell == "gru") + 3 * (cell == "lstm")
        others = {1: 3, 3: 15, 4: 17}[G]
        count += T * (2 * G + others)
        flops += 2 * T * B * (G * H) * width + 2 * T * B * (G * H) * H
    return count, flops, launch * count

# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    match cell:
        case "rnn_tanh":
            per, g = 5, 1
        case "gru":
            per, g = 21, 3
        case "lstm":
            per, g = 25, 4
    widths = [I] + [H] * (L - 1)
    flops = sum(2.0 * T * B * g * H * (w + H) for w in widths)
    print("kernels a cell", per)
    return [float(per * T * L), flops, launch * per * T * L]

# %% [wrong] counts products only
def launch_count(cell, T, B, I, H, L, launch):
    G = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[cell]
    flops = 2 * B * T * G * H * (I + H + (L - 1) * 2 * H)
    return 2 * G * T * L, flops, 2 * G * T * L * launch

# %% [wrong] counts a multiply-add as one FLOP
def launch_count(cell, T, B, I, H, L, launch):
    G = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[cell]
    n = {1: 5, 3: 21, 4: 25}[G] * T * L
    return n, B * T * G * H * (I + H + (L - 1) * 2 * H), n * launch

# %% [wrong] counts grouped gates: two products a step
def launch_count(cell, T, B, I, H, L, launch):
    G, n = {"rnn_tanh": (1, 5), "gru": (3, 17), "lstm": (4, 19)}[cell]
    flops = 2 * B * T * G * H * (I + H + (L - 1) * 2 * H)
    return n * T * L, flops, n * T * L * launch

# %% [wrong] returns milliseconds
def launch_count(cell, T, B, I, H, L, launch):
    G, n = {"rnn_tanh": (1, 5), "gru": (3, 21), "lstm": (4, 25)}[cell]
    flops = 2 * B * T * G * H * (I + H + (L - 1) * 2 * H)
    return n * T * L, flops, n * T * L * launch / 1000

# %% [wrong] gives every layer inputs as wide as x
def launch_count(cell, T, B, I, H, L, launch):
    G, n = {"rnn_tanh": (1, 5), "gru": (3, 21), "lstm": (4, 25)}[cell]
    flops = 2 * B * T * G * H * (I + H) * L
    return n * T * L, flops, n * T * L * launch

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    one = T * B * H * itemsize
    return one + one, memory // (one + one + 6 * H * H * itemsize)


# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    saved = itemsize * 2 * T * B * H
    layer = saved + 2 * H**2 * itemsize * (1 + 1 + 1)
    return saved, (memory - memory % layer) // layer


# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    numbers = 2 * T * B * H, 3 * (H * H + H * H)
    return numbers[0] * itemsize, memory // (sum(numbers) * itemsize)


# %% [wrong] forgets the weights
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H * itemsize
    return saved, memory // saved


# %% [wrong] counts numbers, not bytes
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H
    return saved, memory // (saved + 6 * H * H * itemsize)


# %% [wrong] saves a state more, the initial one
def activation_memory(T, B, H, itemsize, memory):
    saved = (2 * T + 1) * B * H * itemsize
    return saved, memory // (saved + 6 * H * H * itemsize)


# %% [wrong] forgets the momentum
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H * itemsize
    return saved, memory // (saved + 4 * H * H * itemsize)


# %% [wrong] returns a fraction of layers
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H * itemsize
    return saved, memory / (saved + 6 * H * H * itemsize)

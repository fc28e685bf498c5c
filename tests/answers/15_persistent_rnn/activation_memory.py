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

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H * itemsize
    parameters = 3 * 2 * H * H * itemsize
    return saved, memory // (saved + parameters)

# %% [wrong] saves h and forgets the inputs
# -     saved = 2 * T * B * H * itemsize
# +     saved = T * B * H * itemsize

# %% [wrong] forgets the momenta
# -     parameters = 3 * 2 * H * H * itemsize
# +     parameters = 2 * 2 * H * H * itemsize

# %% [wrong] forgets the input weights
# -     parameters = 3 * 2 * H * H * itemsize
# +     parameters = 3 * H * H * itemsize

# %% [wrong] forgets the weights
# -     return saved, memory // (saved + parameters)
# +     return saved, memory // saved

# %% [wrong] rounds up to a layer that has no room
# -     return saved, memory // (saved + parameters)
# +     return saved, -(-memory // (saved + parameters))

# %% [wrong] counts the bytes of the weights as numbers
# -     parameters = 3 * 2 * H * H * itemsize
# +     parameters = 3 * 2 * H * H

# %% [wrong] leaves a layer out where memory is just full
# -     return saved, memory // (saved + parameters)
# +     return saved, (memory - 1) // (saved + parameters)

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    inputs = states = T * B * H
    weights = [H * H, H * H]
    numbers = inputs + states + sum(weights) * 3
    return (inputs + states) * itemsize, int(memory / itemsize / numbers)

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    kept = T * B * H * itemsize * 2
    layers = 0
    while (layers + 1) * (kept + 6 * H**2 * itemsize) <= memory:
        layers += 1
    return kept, layers

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

# %% [wrong] finds room for one layer always
def activation_memory(T, B, H, itemsize, memory):
    saved = 2 * T * B * H * itemsize
    return saved, max(1, memory // (saved + 6 * H * H * itemsize))

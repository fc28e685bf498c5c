# %% [right]
def wavefront_order(layers, steps):
    rounds = {}
    for layer in range(layers):
        for step in range(steps):
            rounds.setdefault(layer + step, []).append((layer, step))
    return [cell for key in sorted(rounds) for cell in rounds[key]]

# %% [right]
def wavefront_order(layers, steps):
    cells = [(l, t) for l in reversed(range(layers)) for t in range(steps)]
    cells.sort(key=lambda cell: cell[0] + cell[1])
    return cells

# %% [right]
def wavefront_order(layers, steps):
    order = []
    for d in range(layers + steps - 1):
        l, t = max(0, d - steps + 1), min(d, steps - 1)
        while l < layers and t >= 0:
            order.append([l, t])
            l, t = l + 1, t - 1
    return order

# %% [right]
def wavefront_order(layers, steps):
    return [(layer, d - layer) for d in range(layers + steps - 1) for layer in range(layers) if 0 <= d - layer < steps]

# %% [right]
def wavefront_order(layers, steps):
    cells = [(layer, step) for step in range(steps) for layer in range(layers)]
    return sorted(cells, key=sum)

# %% [right]
def wavefront_order(layers, steps):
    done, order = set(), []
    while len(order) < layers * steps:
        ready = [
            (l, t)
            for l in range(layers)
            for t in range(steps)
            if (l, t) not in done and (l == 0 or (l - 1, t) in done) and (t == 0 or (l, t - 1) in done)
        ]
        order += ready
        done.update(ready)
    return order

# %% [wrong] goes step by step
def wavefront_order(layers, steps):
    return [(l, t) for t in range(steps) for l in range(layers)]

# %% [wrong] swaps layers and steps
def wavefront_order(layers, steps):
    return [(t, l) for l, t in sorted(((l, t) for l in range(layers) for t in range(steps)), key=sum)]

# %% [wrong] leaves out cell (0, 0)
def wavefront_order(layers, steps):
    return sorted(((l, t) for l in range(layers) for t in range(steps) if l + t), key=sum)

# %% [wrong] has each cell of the first layer twice
def wavefront_order(layers, steps):
    cells = [(l, t) for l in range(layers) for t in range(steps)] + [(0, t) for t in range(steps)]
    return sorted(cells, key=sum)

# %% [wrong] returns a list of diagonals
def wavefront_order(layers, steps):
    return [[(l, d - l) for l in range(layers) if 0 <= d - l < steps] for d in range(layers + steps - 1)]

# %% [wrong] begins with the last diagonal
def wavefront_order(layers, steps):
    return sorted(((l, t) for l in range(layers) for t in range(steps)), key=sum)[::-1]

# %% [wrong] goes layer by layer
def wavefront_order(layers, steps):
    return [(layer, step) for layer in range(layers) for step in range(steps)]

# %% [wrong] goes step by step
def wavefront_order(layers, steps):
    return [(layer, step) for step in range(steps) for layer in range(layers)]

# %% [wrong] leaves out the last diagonal
def wavefront_order(layers, steps):
    return [(layer, d - layer) for d in range(layers + steps - 2) for layer in range(layers) if 0 <= d - layer < steps]

# %% [wrong] swaps layers and steps
def wavefront_order(layers, steps):
    return [(d - layer, layer) for d in range(layers + steps - 1) for layer in range(layers) if 0 <= d - layer < steps]

# %% [wrong] forgets that the diagonals are cut off
def wavefront_order(layers, steps):
    return [(layer, d - layer) for d in range(layers + steps - 1) for layer in range(layers)]

# %% [wrong] stops when the first layer has ended
def wavefront_order(layers, steps):
    return [(layer, d - layer) for d in range(steps) for layer in range(layers) if 0 <= d - layer < steps]

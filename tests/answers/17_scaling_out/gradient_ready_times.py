# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    times, clock, product_free = [0.0] * layers, 0.0, 0.0
    for layer in range(layers - 1, -1, -1):
        if order == "layers":
            clock = clock + steps * cell + product
            times[layer] = clock
        else:
            sweep = cell * (layers - 1 - layer + steps)
            product_free = max(product_free, sweep) + product
            times[layer] = product_free
    return times

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    first = steps * cell + product
    gap = first if order == "layers" else max(cell, product)
    return [first + gap * (layers - 1 - layer) for layer in range(layers)]

# %% [wrong] gives the lowest layer the time of the top one
# -     return [first + gap * (layers - 1 - layer) for layer in range(layers)]
# +     return [first + gap * k for k in range(layers)]

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    end = {}
    if order == "layers":
        now = 0.0
        for l in reversed(range(layers)):
            for _ in range(steps):
                now += cell
            now += product
            end[l] = now
        return [end[l] for l in range(layers)]
    done = {}
    for l in reversed(range(layers)):
        for t in reversed(range(steps)):
            done[l, t] = max(done.get((l + 1, t), 0.0), done.get((l, t + 1), 0.0)) + cell
    free = 0.0
    for l in reversed(range(layers)):
        free = max(free, done[l, 0]) + product
        end[l] = free
    return [end[l] for l in range(layers)]

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    times, free = [0.0] * layers, 0.0
    for k in range(layers):
        if order == "layers":
            free += steps * cell + product
        else:
            free = max(free, (k + steps) * cell) + product
        times[layers - 1 - k] = free
    return times

# %% [wrong] gives the lowest layer the time of the top one
# -         times[layers - 1 - k] = free
# +         times[k] = free

# %% [wrong] lets products overlap on the wavefront
# -             free = max(free, (k + steps) * cell) + product
# +             free = (k + steps) * cell + product

# %% [wrong] lets all layers of the wavefront end with the last diagonal
# -             free = max(free, (k + steps) * cell) + product
# +             free = max(free, (layers - 1 + steps) * cell) + product

# %% [wrong] counts the diagonal from one
# -             free = max(free, (k + steps) * cell) + product
# +             free = max(free, (k + 1 + steps) * cell) + product

# %% [wrong] runs products beside the sweeps of the layers below
# -             free += steps * cell + product
# +             free = max(free, (k + 1) * steps * cell) + product

# %% [wrong] gives the end of the sweep
# -             free += steps * cell + product
# +             free += steps * cell + product * (k > 0)

# %% [wrong] makes the product of each step at once
# -             free = max(free, (k + steps) * cell) + product
# +             free = max(free, (k + steps) * (cell + product))

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    if order == "layers":
        one = steps * cell + product
        return [one * (layers - layer) for layer in range(layers)]
    result, last = {}, 0
    for layer in reversed(range(layers)):
        sweep = (layers - layer - 1 + steps) * cell
        last = result[layer] = max(sweep, last) + product
    return [result[layer] for layer in range(layers)]

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    sweeps = np.cumsum(np.full(layers, steps * cell)) if order == "layers" else (np.arange(layers) + steps) * cell
    ready = []
    for k, end in enumerate(sweeps):
        begin = end + k * product if order == "layers" else max([end, *ready[-1:]])
        ready.append(float(begin + product))
    return ready[::-1]

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    above = np.arange(layers)[::-1]
    if order == "layers":
        return (above + 1.0) * (steps * cell + product)
    return steps * cell + product + above * float(max(cell, product))

# %% [wrong] lets products overlap on the wavefront
def gradient_ready_times(layers, steps, cell, product, order):
    first = steps * cell + product
    gap = first if order == "layers" else cell
    return [first + gap * (layers - 1 - l) for l in range(layers)]

# %% [wrong] returns one time for the whole network
def gradient_ready_times(layers, steps, cell, product, order):
    return float(layers * (steps * cell + product))

# %% [wrong] runs the wavefront layer by layer
def gradient_ready_times(layers, steps, cell, product, order):
    return [(layers - l) * (steps * cell + product) for l in range(layers)]

# %% [wrong] makes a product in every step
def gradient_ready_times(layers, steps, cell, product, order):
    first = steps * (cell + product)
    gap = first if order == "layers" else cell + product
    return [first + gap * (layers - 1 - l) for l in range(layers)]

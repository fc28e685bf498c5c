# %% [markdown]
# ## Exercise: gradient_ready_times
#
# <!-- exercise: gradient_ready_times -->
#
# The backward pass of a network with `layers` layers runs over `steps` time steps, the top layer first. One cell takes the time `cell`. When the sweep of a layer has ended, its weight gradient is made by one product over all steps, which takes the time `product`; the layer's gradient is complete when that product ends. Products never overlap each other.
#
# - `order="layers"`: the device does one thing at a time: the sweep of the top layer, its product, the sweep of the next layer, its product, and so on.
# - `order="wavefront"`: cell (layer, step) of the backward pass runs as soon as the cell above it at the same step, and the cell of its own layer at the step after it, have ended; any number of cells run at once. Products run beside the cells, one after another.
#
# Return the times at which the gradients are complete, a list with layer 0, the lowest one, first.


# %%
def gradient_ready_times(layers, steps, cell, product, order):
    """Times at which each layer's gradient is complete, layer 0 first."""
    ### BEGIN SOLUTION
    free, ready = 0, []
    for above in range(layers):
        if order == "layers":
            start = free + steps * cell
        else:
            start = max(free, (above + steps) * cell)
        free = start + product
        ready.append(free)
    return ready[::-1]
    ### END SOLUTION


# %%
check(gradient_ready_times)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 9

# %% [hint]
# A layer's gradient is a sum over all its steps. Draw the sweeps of three layers and four steps as boxes: first one
# below the other in time, then along diagonals. When does the last cell of each layer end?

# %% [hint]
# Layer by layer, layer k from the top has k other sweeps and k products before its own. On the wavefront its last cell
# ends after (k + steps) cells; then its product waits until the product of the layer above has ended.

# %% [hint]
# Go from the top layer down and remember when the last product ended: `start = free + steps * cell`, or on the
# wavefront `start = max(free, (k + steps) * cell)`; then `free = start + product`. Reverse the list at the end.

# %% [mistake] gives the lowest layer the time of the top one
# - return ready[::-1]
# + return ready

# %% [mistake] sends a gradient before its product has been made
# - ready.append(free)
# + ready.append(start)

# %% [mistake] sends a gradient after the first step of its sweep
# - start = free + steps * cell
# + start = free + cell

# %% [mistake] lets products overlap on the wavefront
# - max(free, (above + steps) * cell)
# + (above + steps) * cell

# %% [mistake] lets a product wait that could run at once
# - max(free, (above + steps) * cell)
# + free + (above + steps) * cell

# %% [mistake] counts one diagonal too few
# - (above + steps) * cell
# + (above + steps - 1) * cell

# %% [mistake] lets all layers of the wavefront end with the last diagonal
# - (above + steps) * cell
# + (layers + steps - 1) * cell

# %% [mistake] runs the wavefront layer by layer
# - max(free, (above + steps) * cell)
# + free + steps * cell

# %% [mistake] makes all products after the last sweep
# - start = free + steps * cell
# + start = max(free, layers * steps * cell)

# %% [mistake] runs products beside the sweeps of the layers below
# - start = free + steps * cell
# + start = max(free, (above + 1) * steps * cell)

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    if order == "layers":
        return [(layers - layer) * (steps * cell + product) for layer in range(layers)]
    ready = [0.0] * layers
    ready[-1] = steps * cell + product
    for layer in range(layers - 2, -1, -1):
        swept = (steps + layers - 1 - layer) * cell
        ready[layer] = product + (swept if swept > ready[layer + 1] else ready[layer + 1])
    return ready

# %% [right]
def gradient_ready_times(layers, steps, cell, product, order):
    k = np.arange(layers)
    if order == "layers":
        times = (k + 1) * (steps * cell + product)
    else:
        times = steps * cell + product + k * max(cell, product)
    return [float(t) for t in times[::-1]]

# %% [variant] products=2..9
# - When the sweep of a layer has ended, its weight gradient is made by one product over all steps, which takes the time `product`; the layer's gradient is complete when that product ends.
# + When the sweep of a layer has ended, its weight gradients are made by {products} products over all steps, which take the time `product` each; the layer's gradient is complete when the last one ends.
# - the sweep of the top layer, its product, the sweep of the next layer, its product, and so on.
# + the sweep of the top layer, its products, the sweep of the next layer, its products, and so on.
# - k products before its own
# + {products}·k products before its own
# - then its product waits until the product of the layer above has ended
# + then its products wait until those of the layer above have ended
# - start + product
# + start + {products} * product
# - steps * cell + product
# + steps * cell + {products} * product
# - ready[layer] = product + (
# + ready[layer] = {products} * product + (
# - max(cell, product)
# + max(cell, {products} * product)

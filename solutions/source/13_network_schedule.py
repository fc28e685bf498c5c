# %% [markdown]
# # 13 · Layers side by side: exercises
#
# An order along diagonals, streams with their events, and how many inputs to multiply at once.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(wavefront_order)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: wavefront_order
#
# <!-- exercise: wavefront_order -->
#
# Cell (layer, step) reads what cell (layer, step − 1) and cell (layer − 1, step) have made. Return all cells in an order in which each comes after those it reads, and no cell comes before one that could have run earlier: the cells that can run first, then those that can run next, and so on. Cells that can run at the same time may stand in any order.


# %%
def wavefront_order(layers, steps):
    """A list of pairs (layer, step), each cell once."""
    ### BEGIN SOLUTION
    diagonals = range(layers + steps - 1)
    return [(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]
    ### END SOLUTION


# %%
check(wavefront_order)

# %% [markdown]
# ## Exercise: assign_streams
#
# <!-- exercise: assign_streams -->
#
# `operations` is a list of (layer, step, kind) in the order in which they will be issued; the kinds are `"inputs"`, `"recurrent"` and `"cell"`. `waits[k]` are the places of the operations that operation k reads from.
#
# Return a stream number for each operation, and a list of events (earlier, later): the stream of `later` is held until `earlier` is done. No more than two streams a layer, no operation before what it reads, and no queueing that could be avoided.


# %%
def assign_streams(operations, waits):
    """(streams: a number for each operation, events: a list of (earlier, later))"""
    ### BEGIN SOLUTION
    streams = [2 * layer + (kind == "inputs") for layer, step, kind in operations]
    events = [(w, k) for k in range(len(operations)) for w in waits[k] if streams[w] != streams[k]]
    return streams, events
    ### END SOLUTION


# %%
check(assign_streams)

# %% [markdown]
# ## Exercise: choose_input_batch
#
# <!-- exercise: choose_input_batch -->
#
# A layer takes its inputs in chunks of k steps. A chunk's product takes `launch` + k·`work`, then each of its steps takes `step`; chunks of a layer run one after the other, and a chunk of the next layer begins when the same chunk of the layer below has ended. The last chunk counts as a whole one.
#
# Return the k from 1 to T with the shortest time until all layers have ended, of equals the smallest, and that time.


# %%
def choose_input_batch(T, layers, launch, work, step):
    """(steps at a time, time until the last layer ends)"""
    ### BEGIN SOLUTION
    time = lambda k: (-(-T // k) + layers - 1) * (launch + k * (work + step))
    best = min(range(1, T + 1), key=time)
    return best, time(best)
    ### END SOLUTION


# %%
check(choose_input_batch)

# %% [markdown]
# What it chooses for 100 steps, with a launch that takes as long as two steps:

# %%
for layers in (1, 2, 4, 8):
    k, time = use(choose_input_batch)(100, layers, 6.0, 1.0, 2.0)
    print(f"{layers} layers: {k} steps at a time, {time:.0f} µs")

# %%
progress("network_schedule")

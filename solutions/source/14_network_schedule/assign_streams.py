# %% [markdown]
# ## Exercise: assign_streams
#
# <!-- exercise: assign_streams -->
#
# `operations` is a list of (layer, step, kind) in the order in which they will be issued; the kinds are `"inputs"`, `"recurrent"` and `"cell"`. `waits[k]` lists the operations, as indices into `operations`, whose results operation k reads, in any order.
#
# Return a stream number for each operation, and a list of events (earlier, later), two indices: before operation `later`, its stream waits until operation `earlier` has finished. Three rules:
#
# - There are at most two streams a layer.
# - No operation starts before the operations whose results it reads have finished.
# - No operation waits for anything else for long: the pass ends as early as two streams a layer allow.


# %%
def assign_streams(operations, waits):
    """(streams: a number for each operation, events: a list of (earlier,
    later))"""
    ### BEGIN SOLUTION
    streams = [2 * layer + (kind == "inputs") for layer, step, kind in operations]
    events = [(w, k) for k in range(len(operations)) for w in waits[k] if streams[w] != streams[k]]
    return streams, events
    ### END SOLUTION


# %%
check(assign_streams)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 4

# %% [hint]
# A stream is a queue: its operations run in the order in which they were issued. Which operations of a layer have to
# run one after the other anyway?

# %% [hint]
# A layer's recurrence, recurrent product and cell in turn, is one queue. Its input products need not be in it: they
# wait for the layer below only. So use two streams a layer, and an event wherever an operation reads the result of
# another stream.

# %% [hint]
# `2 * layer + (kind == "inputs")` for each operation; events are the pairs (w, k) for every w of waits[k] whose
# stream is another.

# %% [mistake] puts everything into one stream
# - 2 * layer + (kind == "inputs")
# + 0

# %% [mistake] gives each layer one stream
# - 2 * layer + (kind == "inputs")
# + layer

# %% [mistake] gives each kind a stream
# - 2 * layer + (kind == "inputs")
# + ["inputs", "recurrent", "cell"].index(kind)

# %% [mistake] gives each step a stream
# - 2 * layer + (kind == "inputs")
# + step

# %% [mistake] has no events
# - [(w, k) for k in range(len(operations)) for w in waits[k] if streams[w] != streams[k]]
# + []

# %% [mistake] swaps earlier and later in the events
# - (w, k) for k
# + (k, w) for k

# %% [mistake] orders operations of the same stream only
# - streams[w] != streams[k]
# + streams[w] == streams[k]

# %% [mistake] waits for the last of several
# - for w in waits[k]
# + for w in waits[k][-1:]

# %% [mistake] waits for the first of several
# - for w in waits[k]
# + for w in waits[k][:1]

# %% [mistake] waits for every operation issued before
# - for w in waits[k] if
# + for w in range(k) if

# %% [mistake] waits for the operation issued just before
# - for w in waits[k] if streams[w] != streams[k]
# + for w in {*waits[k], max(k - 1, 0)} if streams[w] != streams[k]

# %% [mistake] puts a layer's cells beside its products
# - 2 * layer + (kind == "inputs")
# + 2 * layer + (kind == "cell")

# %% [right]
def assign_streams(operations, waits):
    names = sorted({(layer, kind == "inputs") for layer, _, kind in operations})
    streams = [names.index((layer, kind == "inputs")) for layer, _, kind in operations]
    return streams, [(w, k) for k, sources in enumerate(waits) for w in sources]

# %% [right]
def assign_streams(operations, waits):
    layers = 1 + max(layer for layer, _, _ in operations)
    streams, events = [], []
    for k, (layer, _, kind) in enumerate(operations):
        streams.append(layer + layers if kind == "inputs" else layer)
        events.extend((w, k) for w in waits[k] if streams[w] != streams[k])
    return tuple(streams), tuple(events)

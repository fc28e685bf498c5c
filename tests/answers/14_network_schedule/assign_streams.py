# %% [right]
def assign_streams(operations, waits):
    streams = []
    for layer, _, kind in operations:
        streams.append(layer if kind != "inputs" else -1 - layer)
    events = []
    for later, sources in enumerate(waits):
        events += [(earlier, later) for earlier in sources if streams[earlier] != streams[later]]
    return streams, events

# %% [right]
def assign_streams(operations, waits):
    names = {}
    streams = [names.setdefault((layer, kind == "inputs"), len(names)) for layer, _, kind in operations]
    return streams, [(a, b) for b in range(len(waits)) for a in sorted(waits[b])]

# %% [right]
def assign_streams(operations, waits):
    streams = [100 + 2 * layer if kind == "inputs" else 101 + 2 * layer for layer, step, kind in operations]
    events = {(w, k) for k in range(len(waits)) for w in waits[k] if streams[w] != streams[k]}
    return streams, sorted(events, reverse=True)

# %% [right]
def assign_streams(operations, waits):
    streams = [2 * layer + (kind == "inputs") for layer, _, kind in operations]
    events = [(k, later) for later, earlier in enumerate(waits) for k in earlier if streams[k] != streams[later]]
    return streams, events

# %% [wrong] gives each layer one stream
# -     streams = [2 * layer + (kind == "inputs") for layer, _, kind in operations]
# +     streams = [layer for layer, _, kind in operations]

# %% [wrong] puts everything into one stream
# -     streams = [2 * layer + (kind == "inputs") for layer, _, kind in operations]
# +     streams = [0 for layer, _, kind in operations]

# %% [wrong] has no events
# -     return streams, events
# +     return streams, []

# %% [wrong] swaps earlier and later in the events
# -     events = [(k, later) for later, earlier in enumerate(waits) for k in earlier if streams[k] != streams[later]]
# +     events = [(later, k) for later, earlier in enumerate(waits) for k in earlier if streams[k] != streams[later]]

# %% [wrong] a stream for each operation
# -     streams = [2 * layer + (kind == "inputs") for layer, _, kind in operations]
# +     streams = list(range(len(operations)))

# %% [wrong] makes an event from every earlier operation of the layer below
# -     return streams, events
# +     more = [(a, b) for b in range(len(operations)) for a in range(b) if operations[a][0] == operations[b][0] - 1]
# +     return streams, sorted(set(events + more))

# %% [wrong] waits for the first of several
# -     events = [(k, later) for later, earlier in enumerate(waits) for k in earlier if streams[k] != streams[later]]
# +     events = [(k, later) for later, earlier in enumerate(waits) for k in list(earlier)[:1] if streams[k] != streams[later]]

# %% [right]
def assign_streams(operations, waits):
    number = {}
    streams, events = [], []
    for layer, step, kind in operations:
        streams.append(number.setdefault((layer, kind == "inputs"), len(number)))
    for k in range(len(operations)):
        for earlier in sorted(waits[k]):
            if streams[earlier] != streams[k]:
                events.append((earlier, k))
    return streams, events

# %% [right]
def assign_streams(operations, waits):
    streams = []
    for layer, step, kind in operations:
        streams.append(layer if kind != "inputs" else -1 - layer)
    offset = -min(streams)
    streams = [s + offset for s in streams]
    return streams, [(a, b) for b in range(len(waits)) for a in waits[b] if streams[a] != streams[b]]

# %% [wrong] has no events
def assign_streams(operations, waits):
    return [2 * l + (kind == "inputs") for l, _, kind in operations], []

# %% [wrong] gives each layer one stream
def assign_streams(operations, waits):
    s = [l for l, _, _ in operations]
    return s, [(a, b) for b, w in enumerate(waits) for a in w if s[a] != s[b]]

# %% [wrong] gives each operation a stream
def assign_streams(operations, waits):
    return list(range(len(operations))), [(a, b) for b, w in enumerate(waits) for a in w]

# %% [wrong] waits for every operation issued before
def assign_streams(operations, waits):
    s = [2 * l + (kind == "inputs") for l, _, kind in operations]
    return s, [(a, b) for b in range(len(s)) for a in range(b) if s[a] != s[b]]

# %% [wrong] waits for the first of several
def assign_streams(operations, waits):
    s = [2 * l + (kind == "inputs") for l, _, kind in operations]
    return s, [(w[0], b) for b, w in enumerate(waits) if w and s[w[0]] != s[b]]

# %% [wrong] returns events only
def assign_streams(operations, waits):
    s = [2 * l + (kind == "inputs") for l, _, kind in operations]
    return [(a, b) for b, w in enumerate(waits) for a in w if s[a] != s[b]]

# %% [wrong] puts the cell behind the input products
def assign_streams(operations, waits):
    streams = [2 * layer + (kind == "recurrent") for layer, step, kind in operations]
    events = [(e, k) for k, w in enumerate(waits) for e in w if streams[e] != streams[k]]
    return streams, events

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

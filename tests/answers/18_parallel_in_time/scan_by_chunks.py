# %% [right]
def scan_by_chunks(compose, maps):
    C, T = 8, len(maps)
    prefixes = np.array(maps)
    for k in range(1, C):
        places = np.arange(k, T, C)
        if len(places):
            prefixes[places] = compose(maps[places], prefixes[places - 1])
    ends = prefixes[[min(start + C, T) - 1 for start in range(0, T, C)]]
    for c in range(1, len(ends)):
        ends[[c]] = compose(ends[[c]], ends[[c - 1]])
    later = np.arange(C, T)
    if len(later):
        prefixes[later] = compose(prefixes[later], ends[later // C - 1])
    return prefixes, ends

# %% [right]
def scan_by_chunks(compose, maps):
    C, T = 8, len(maps)
    level = maps[0::C]
    prefixes = np.zeros_like(maps)
    prefixes[0::C] = level
    for k in range(1, min(C, T)):
        step = maps[k::C]
        level = compose(step, level[: len(step)])
        prefixes[k::C] = level
    chunks = (T + C - 1) // C
    ends = np.stack([prefixes[min((c + 1) * C, T) - 1] for c in range(chunks)])
    for c in range(1, chunks):
        both = compose(ends[c : c + 1], ends[c - 1 : c])
        ends[c] = both[0]
    if chunks > 1:
        index = np.arange(C, T) // C - 1
        prefixes[C:] = compose(prefixes[C:], ends[index])
    return prefixes, ends

# %% [right]
def scan_by_chunks(compose, maps):
    C = 8
    T = len(maps)

    def blelloch(part):
        if len(part) == 1:
            return part
        even, odd = part[0::2], part[1::2]
        pairs = blelloch(compose(odd, even[: len(odd)]))
        whole = part.copy()
        whole[1::2] = pairs
        if len(part) > 2:
            whole[2::2] = compose(even[1:], pairs[: len(even) - 1])
        return whole

    if T <= C:
        prefixes = maps.copy()
        for t in range(1, T):
            prefixes[t : t + 1] = compose(maps[t : t + 1], prefixes[t - 1 : t])
    else:
        prefixes = blelloch(maps)
    last = [min(c + C, T) - 1 for c in range(0, T, C)]
    return prefixes, prefixes[last]

# %% [wrong] goes through all steps one after the other
def scan_by_chunks(compose, maps):
    done = [maps[:1]]
    for t in range(1, len(maps)):
        done.append(compose(maps[t : t + 1], done[-1]))
    prefixes = np.concatenate(done)
    return prefixes, prefixes[[min(s + 8, len(maps)) - 1 for s in range(0, len(maps), 8)]]

# %% [wrong] composes everything by itself as if maps were numbers
def scan_by_chunks(compose, maps):
    C = 8
    prefixes = np.cumsum(maps, axis=0)
    return prefixes, prefixes[[min(s + C, len(maps)) - 1 for s in range(0, len(maps), C)]]

# %% [wrong] works as a tree with too much work
def scan_by_chunks(compose, maps):
    C, T = 8, len(maps)
    prefixes, distance = maps.copy(), 1
    while distance < T:
        prefixes[distance:] = compose(prefixes[distance:], prefixes[:-distance])
        distance *= 2
    return prefixes, prefixes[[min(s + C, T) - 1 for s in range(0, T, C)]]

# %% [wrong] does not complete the chunks
def scan_by_chunks(compose, maps):
    C, T = 8, len(maps)
    prefixes = maps.copy()
    for k in range(1, min(C, T)):
        now = maps[k::C]
        prefixes[k::C] = compose(now, prefixes[k - 1 :: C][: len(now)])
    ends = prefixes[[min(s + C, T) - 1 for s in range(0, T, C)]]
    for c in range(1, len(ends)):
        ends[c : c + 1] = compose(ends[c : c + 1], ends[c - 1 : c])
    return prefixes, ends

# %% [wrong] returns the prefixes alone
# -     return prefixes, ends
# +     if T > C:
# +         prefixes[C:] = compose(prefixes[C:], np.repeat(ends[:-1], C, axis=0)[: T - C])
# +     return prefixes

# %% [wrong] completes chunk by chunk
# -     ends = prefixes[[min(s + C, T) - 1 for s in range(0, T, C)]]
# -     for c in range(1, len(ends)):
# -         ends[c : c + 1] = compose(ends[c : c + 1], ends[c - 1 : c])
# -     return prefixes, ends
# +     for start in range(C, T, C):
# +         part = prefixes[start : start + C]
# +         for t in range(len(part)):
# +             part[t : t + 1] = compose(part[t : t + 1], prefixes[start - 1 : start])
# +     return prefixes, prefixes[[min(s + C, T) - 1 for s in range(0, T, C)]]

# %% [wrong] begins a chunk where the last one is too short
def scan_by_chunks(compose, maps):
    C, T = 8, len(maps)
    first = T % C or C
    prefixes = maps.copy()
    for t in range(1, first):
        prefixes[t : t + 1] = compose(maps[t : t + 1], prefixes[t - 1 : t])
    for k in range(1, C):
        now = maps[first + k :: C]
        if len(now):
            prefixes[first + k :: C] = compose(now, prefixes[first + k - 1 :: C][: len(now)])
    ends = prefixes[first - 1 :: C]
    for c in range(1, len(ends)):
        ends[c : c + 1] = compose(ends[c : c + 1], ends[c - 1 : c])
    return prefixes, ends

# %% [right]
def scan_by_chunks(compose, maps):
    """A call completes a chunk, its end included: the chunks wait for each other, with all of their steps."""
    prefixes = maps.copy()
    for k in range(1, min(8, len(maps))):
        later = prefixes[k::8]
        prefixes[k::8] = compose(later, prefixes[k - 1 :: 8][: len(later)])
    for first in range(8, len(maps), 8):
        part = prefixes[first : first + 8]
        part[:] = compose(part, np.repeat(prefixes[first - 1 : first], len(part), axis=0))
    return prefixes, prefixes[[*range(7, len(maps) - 1, 8), len(maps) - 1]]

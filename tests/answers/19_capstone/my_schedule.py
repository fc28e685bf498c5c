# %% [right]
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    F, Bw, W = 0, 1, 2
    k = 1 if layers > 2 else max(1, steps // 3)
    nb = (steps + k - 1) // k
    fits = memory >= 3 * layers * steps
    n = layers if fits else max(2, round(layers**0.5 * 0.7))
    out = []

    def cells(lo, hi):
        # sweep over (layer, block) pairs ordered by their sum
        pairs = [(l, j) for l in range(lo, hi) for j in range(nb)]
        pairs.sort(key=lambda p: (p[0] + p[1], p[0]))
        return pairs

    for l, j in cells(0, layers):
        out.append([F, l, j, l % 16])
    hi = layers
    while hi > 0:
        lo = max(0, hi - n)
        if hi < layers:
            for l, j in cells(lo, hi):
                out.append([F, l, j, l % 16])
        for l, j in cells(lo, hi)[::-1]:
            out.append([Bw, l, j, l % 16])
            out.append([W, l, j, 16 + l % 16])
        hi = lo
    return k, np.array(out, dtype=np.int32)

# %% [wrong] has eight streams, too few for the hundred layers of the board
# -         out.append([F, l, j, l % 16])
# -     hi = layers
# +         out.append([F, l, j, l % 8])
# +     hi = layers
# -                 out.append([F, l, j, l % 16])
# +                 out.append([F, l, j, l % 8])
# -             out.append([Bw, l, j, l % 16])
# -             out.append([W, l, j, 16 + l % 16])
# +             out.append([Bw, l, j, l % 8])
# +             out.append([W, l, j, 8 + l % 8])

# %% [wrong] takes segments of two layers, whose inputs do not fit beside each other in the deepest network
# - n = layers if fits else max(2, round(layers**0.5 * 0.7))
# + n = layers if fits else 2

# %% [right]
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    small = min(2, steps) if layers > 1 else min(6, steps)
    parts = range(-(-steps // small))
    group = layers if memory >= 3 * layers * steps else max(1, int((layers / 2) ** 0.5))
    run = lambda kind, ls, js, first: [(kind, l, j, first + l % 15) for l in ls for j in js]
    launches = run(0, range(layers), parts, 0)
    for low in range((layers - 1) // group * group, -1, -group):
        members = range(low, min(layers, low + group))
        if members.stop < layers:
            launches += run(0, members, parts, 0)
        for l in members[::-1]:
            launches += run(1, [l], parts[::-1], 0) + run(2, [l], parts[::-1], 15)
    return small, np.array(launches)

# %% [right]
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = []

    def go(kinds, members, backwards):
        for layer in sorted(members, reverse=backwards):
            for j in sorted(range(steps), reverse=backwards):
                rows.extend([kind, layer, j, layer % 16 + 16 * (kind == 2)] for kind in kinds)

    length = layers if memory >= 3 * layers * steps else int((layers / 2) ** 0.5)
    go([0], range(layers), False)
    for low in range(0, layers, length)[::-1]:
        members = range(low, min(low + length, layers))
        if members.stop < layers:
            go([0], members, False)
        go([1, 2], members, True)
    return 1, rows

# %% [wrong] takes segments of ten layers whatever the size
# -         for layer in sorted(members, reverse=backwards):
# -             for j in sorted(range(steps), reverse=backwards):
# -                 rows.extend([kind, layer, j, layer % 16 + 16 * (kind == 2)] for kind in kinds)
# +         cells = sorted(((l, j) for l in members for j in range(steps)), key=sum, reverse=backwards)
# +         rows.extend((kind, l, j, l % 16 + 16 * (kind == 2)) for l, j in cells for kind in kinds)
# -     length = layers if memory >= 3 * layers * steps else int((layers / 2) ** 0.5)
# +     length = layers if memory >= 3 * layers * steps else 10
# -     return 1, rows
# +     return 1, np.array(rows)

# %% [wrong] leaves out the weight gradients
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = [(0, l, j, l % 8) for l in range(layers) for j in range(steps)]
    rows += [(1, l, j, l % 8) for l in range(layers)[::-1] for j in range(steps)[::-1]]
    return 1, np.array(rows)

# %% [wrong] saves everything and recomputes nothing
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = [(0, l, j, l % 16) for l in range(layers) for j in range(steps)]
    for l in range(layers)[::-1]:
        for j in range(steps)[::-1]:
            rows += [(1, l, j, l % 16), (2, l, j, 16 + l % 16)]
    return 1, np.array(rows)

# %% [wrong] runs backward before forward
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = []
    for l in range(layers)[::-1]:
        rows += [(1, l, 0, l % 16), (0, l, 0, l % 16), (2, l, 0, l % 16)]
    return steps, np.array(rows)

# %% [wrong] goes backward from the bottom up
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    forward = [(0, l, j, 0) for l in range(layers) for j in range(steps)]
    return 1, np.array(forward + [(1, l, j, 0) for _, l, j, _ in forward] + [(2, l, j, 0) for _, l, j, _ in forward])

# %% [wrong] returns the number of launches
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    return 1, 3 * layers * steps

# %% [wrong] names the kinds by words
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    return steps, [("FORWARD", l, 0, 0) for l in range(layers)]

# %% [wrong] gives each layer a stream, also beyond 31
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    block = max(1, -(-steps // 8))
    blocks = -(-steps // block)
    everything = memory >= 3 * layers * steps
    size = layers if everything else max(1, int(layers**0.5))
    segments = [range(s, min(s + size, layers)) for s in range(0, layers, size)]
    rows = []

    def wave(kinds, chosen, backwards=False):
        cells = sorted(((l, b) for l in chosen for b in range(blocks)), key=sum, reverse=backwards)
        for l, b in cells:
            for kind in kinds:
                rows.append((kind, l, b, l))

    wave([FORWARD], range(layers))
    for n, segment in enumerate(reversed(segments)):
        if n > 0:
            wave([FORWARD], segment)
        wave([BACKWARD, WEIGHTS], segment, True)
    return block, np.array(rows)

# %% [wrong] cuts other blocks than it returns
# -     blocks = -(-steps // block)
# +     blocks = -(-steps // (block + 1))
# -                 rows.append((kind, l, b, l))
# +                 rows.append((kind, l, b, l % 16 + 16 * (kind == WEIGHTS)))

# %% [wrong] counts live arrays where the memory has places, of which a block takes several
def touched(kind, layer, block, layers, blocks):
    """Arrays that a launch reads, and those that it writes."""
    h, y, dg = ("h", layer, block), ("y", layer, block), ("dg", layer, block)
    y_below, h_before = ("y", layer - 1, block), ("h", layer, block - 1)
    if kind == FORWARD:
        reads, writes = [y_below, h_before], [h, y]
    elif kind == BACKWARD:
        reads = [h, ("dg", layer + 1, block), ("dg", layer, block + 1)]
        writes = [dg]
    else:
        reads, writes = [dg, h, y_below, h_before], []
    reads = [a for a in reads if 0 <= a[1] < layers and 0 <= a[2] < blocks]
    return reads, writes


def most_live(rows, layers, blocks):
    """How many arrays are live at most: from the last launch to the first."""
    needed, most = set(), 0
    for kind, layer, block, _ in reversed(rows):
        reads, writes = touched(kind, layer, block, layers, blocks)
        needed.update(reads, writes)
        most = max(most, len(needed))
        needed.difference_update(writes)
    return most


def rows_in_time(layers, blocks, segments):
    """Launches, each at a time of its own on diagonals, sorted by it."""
    edges = [layers * j // segments for j in range(segments + 1)]
    lane = (lambda layer, block: block) if blocks <= layers else (
        lambda layer, block: layer)
    back, weights = (20, 12) if segments == 1 else (12, 8)
    timed = []
    for l in range(layers):
        for b in range(blocks):
            timed.append((l + b, 2, FORWARD, l, b, lane(l, b) % 32))
    start = layers + blocks
    for j in reversed(range(segments)):
        low, high = edges[j], edges[j + 1]
        for l in range(low, high):
            for b in range(blocks):
                time = start + (high - 1 - l) + (blocks - 1 - b)
                timed.append((time, 0, BACKWARD, l, b, lane(l, b) % back))
                timed.append((time, 1, WEIGHTS, l, b,
                              32 - weights + l % weights))
        if j == 0:
            break
        # beside it, the segment below runs forward again
        again, below = start + 1, edges[j - 1]
        for l in range(below, low):
            for b in range(blocks):
                timed.append((again + (l - below) + b, 2, FORWARD, l, b,
                              back + lane(l, b) % back))
        start = max(start + high - low, again + low - below + blocks - 1)
    return [list(row[2:]) for row in sorted(timed)]


def estimate(layers, blocks, block, segments):
    """Time of all waves: 2 operations for each step and 1 for each block."""
    longest, back = -(-layers // segments), 20 if segments == 1 else 12
    return (2 * block + 1) * (
        max(layers + blocks - 1, layers * blocks / 32)
        + segments * max(longest + blocks - 1, longest * blocks / back))


def my_schedule(layers, steps, minibatch, hidden_size, memory):
    """(steps per block, launches [n,4]): rows of kind, layer, block, stream."""
    choices = []
    for block in {-(-steps // n) for n in range(1, min(steps, 64) + 1)}:
        blocks = -(-steps // block)
        for segments in range(1, layers + 1):
            at_least = 2 * -(-layers // segments) + segments - 2
            if at_least * blocks <= memory:
                choices.append((estimate(layers, blocks, block, segments),
                                block, segments))
    for spare in (1, 0):  # with room for one more diagonal if possible
        for _, block, segments in sorted(choices):
            blocks = -(-steps // block)
            rows = rows_in_time(layers, blocks, segments)
            arrays = most_live(rows, layers, blocks)
            arrays += spare * min(layers, blocks)
            if arrays <= memory:
                return block, np.array(rows)
    raise ValueError("nothing fits")

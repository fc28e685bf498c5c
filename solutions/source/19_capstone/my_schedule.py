# %% [markdown]
# ## Exercise: my_schedule
#
# <!-- exercise: my_schedule -->
#
# The schedule of a training pass, as data. Cut the steps into blocks of `block` steps each (the last one may be shorter; block 0 has the first steps). Return `(block, launches)`. `launches` is an array, or a list of rows, of whole numbers: a row for each launch, in the order of issue, with kind, layer, block, stream.
#
# - `FORWARD` reads y of the layer below and h of the block before; it saves h and y of its own block.
# - `BACKWARD` reads h; it needs `BACKWARD` of the layer above and of the next block before it; it saves dg.
# - `WEIGHTS` reads dg, h, y of the layer below and h of the block before, and adds to the weight gradients.
#
# Every block of every layer needs one `BACKWARD` and one `WEIGHTS`; `FORWARD` may be repeated. An array is live from the launch that writes it to the last launch that reads it before it is written again; each takes `block` arrays [minibatch, hidden_size] of `memory`. The output of the top layer lies elsewhere. Streams are 0 to 31; the events between them are derived. All is launched as one graph on an H200.
#
# Judged are legality, then the predicted time: **full marks at 3 times the lower bound or less**, in every problem, and no points above that. In some problems `memory` is at least 3 · layers · steps, so everything fits with ease. In all others it is less than half of that, but at least 4 · steps · (√layers + 1). The problems of the board keep to the same rule. Call `try_schedule(my_schedule, problem)` as often as you like.


# %%
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    """(steps per block, launches [n,4]): rows of kind, layer, block, stream."""
    ### BEGIN SOLUTION
    block = 1 if layers > 1 else min(steps, 8)
    blocks = -(-steps // block)
    launches = []

    def forward(segment):
        for diagonal in range(len(segment) + blocks - 1):
            for place, layer in enumerate(segment):
                if 0 <= diagonal - place < blocks:
                    launches.append((FORWARD, layer, diagonal - place, layer % 16))

    def backward(segment):
        for diagonal in range(len(segment) + blocks - 1):
            for place, layer in enumerate(segment[::-1]):
                if 0 <= diagonal - place < blocks:
                    later = diagonal - place
                    launches.append((BACKWARD, layer, blocks - 1 - later, layer % 16))
                    launches.append((WEIGHTS, layer, blocks - 1 - later, 16 + layer % 16))

    length = layers if memory >= 3 * layers * steps else max(1, round((layers / 2) ** 0.5))
    forward(range(layers))
    for lowest in reversed(range(0, layers, length)):
        segment = range(lowest, min(lowest + length, layers))
        if segment[-1] < layers - 1:
            forward(segment)
        backward(segment)
    return block, np.array(launches)
    ### END SOLUTION


# %%
check(my_schedule)

# %% [properties]
# points: 6
# difficulty: 5
# minutes: 70
# lines: 27

# %% [hint]
# Begin with a legal schedule, however slow: block = steps, all FORWARD from the bottom up, then BACKWARD and WEIGHTS from
# the top down, one stream. Then ask what waits: which launches could run at the same time, if only they were in other
# streams and issued earlier?

# %% [hint]
# Short blocks let a layer begin early; along diagonals (lesson 14) all layers work at the same time, each in a stream of
# its own. No launch waits for WEIGHTS, so put it into another stream. Where memory is short, cut the layers into
# segments: repeat FORWARD for a segment just before its BACKWARD. Arrays that no later launch reads take no memory;
# you need not free them.

# %% [hint]
# Write `forward(segment)` and `backward(segment)`, which append the launches of some layers along diagonals. Call
# `forward(range(layers))`, then for each segment from the top `forward(segment)` (not for the topmost) and
# `backward(segment)`. About √(layers / 2) layers a segment need the least memory; blocks of 1 or 2 steps, 16 streams for
# the layers and 16 for WEIGHTS.

# %% [mistake] puts all layers into one stream
# - layer % 16
# + 0

# %% [mistake] waits for the whole sequence before the next layer begins
# - block = 1 if layers > 1 else min(steps, 8)
# + block = steps

# %% [mistake] saves everything and recomputes nothing
# - length = layers if memory >= 3 * layers * steps else max(1, round((layers / 2) ** 0.5))
# + length = layers

# %% [mistake] recomputes all layers below for each segment
# -             forward(segment)
# +             forward(range(segment.stop))

# %% [mistake] leaves out the weight gradients
# - launches.append((WEIGHTS, layer, blocks - 1 - later, 16 + layer % 16))
# + pass

# %% [mistake] adds a weight gradient twice
# - 16 + layer % 16))
# + 16 + layer % 16)); launches.append((WEIGHTS, layer, blocks - 1 - later, 16 + layer % 16))

# %% [mistake] goes backward from the bottom up
# - enumerate(segment[::-1])
# + enumerate(segment)

# %% [mistake] goes backward from the first step on
# - blocks - 1 - later
# + later

# %% [mistake] runs a layer before the layer below it
# - forward(range(layers))
# + forward(range(layers)[::-1])

# %% [mistake] runs backward before forward
# - np.array(launches)
# + np.array(sorted(launches, key=lambda launch: launch[0] == FORWARD))

# %% [mistake] forgets the last block, which is shorter
# - -(-steps // block)
# + steps // block

# %% [mistake] adds a weight gradient before its backward block
# - launches.append((BACKWARD, layer, blocks - 1 - later, layer % 16))
# + launches.append((WEIGHTS, layer, blocks - 1 - later, 16)); launches.append((BACKWARD, layer, blocks - 1 - later, layer % 16)); continue

# %% [right]
FORWARD, BACKWARD, WEIGHTS = range(3)


def my_schedule(layers, steps, minibatch, hidden_size, memory):
    # layer by layer: the streams find the diagonals, because all is issued at once
    block = 2 if steps > 1 else 1
    count = (steps + block - 1) // block
    rows = []

    def up(first, last):
        rows.extend([FORWARD, l, j, l % 14] for l in range(first, last) for j in range(count))

    def down(first, last):
        for l in range(last - 1, first - 1, -1):
            for j in range(count - 1, -1, -1):
                rows.append([BACKWARD, l, j, l % 14])
                rows.append([WEIGHTS, l, j, 14 + l % 14])

    if memory >= 3 * layers * steps:
        up(0, layers)
        down(0, layers)
        return block, np.array(rows)
    length = int(layers**0.5 / 2 + 1)
    cuts = [*range(0, layers, length), layers]
    up(0, layers)
    for k in range(len(cuts) - 2, -1, -1):
        if k < len(cuts) - 2:
            up(cuts[k], cuts[k + 1])
        down(cuts[k], cuts[k + 1])
    return block, rows

# %% [right]
FORWARD, BACKWARD, WEIGHTS = range(3)


def arrays_at_once(rows, layers):
    """Most blocks that are live at once: each from its writer to its last reader."""
    writer, last, born = {}, {}, [0] * len(rows)
    for number, (kind, l, j, _) in enumerate(rows):
        below, own, before = [("y", l - 1, j)] * (l > 0), [("h", l, j)], [("h", l, j - 1)] * (j > 0)
        new = own + [("y", l, j)] * (l < layers - 1) if kind == FORWARD else [("dg", l, j)] * (kind == BACKWARD)
        for array in (below + before, own, [("dg", l, j)] + own + below + before)[kind]:
            last[array, writer[array]] = number
        for array in new:
            writer[array] = number
            last[array, number] = number
        born[number] = len(new)
    ends = [0] * len(rows)
    for number in last.values():
        ends[number] += 1
    live = most = 0
    for number, count in enumerate(born):
        live += count
        most = max(most, live)
        live -= ends[number]
    return most


def stream_of(j, l=None):
    """A stream for each block of steps, whatever its layer; weight gradients have twelve of their own."""
    return j % 20 if l is None else 20 + (l + j) % 12


def issued(layers, blocks, lengths, wait):
    """Rows in the order of a time that counts diagonals; each segment is ready just before its gradient."""
    timed = [(l + j, (FORWARD, l, j, stream_of(j))) for l in range(layers) for j in range(blocks)]
    start, above = layers + blocks - 1, layers
    for length in reversed(lengths):
        segment = range(above - length, above)
        if above < layers:
            start += wait
            ready = max(above - length + 1, start - (length + blocks - 1))
            timed += [
                (ready + p + j + 0.5, (FORWARD, l, j, stream_of(j))) for p, l in enumerate(segment) for j in range(blocks)
            ]
        for p, l in enumerate(segment[::-1]):
            for j in reversed(range(blocks)):
                when = start + p + blocks - 1 - j
                timed.append((when + 0.6, (BACKWARD, l, j, stream_of(j))))
                timed.append((when + 0.7, (WEIGHTS, l, j, stream_of(j, l))))
        start, above = start + length, above - length
    return [row for _, row in sorted(timed, key=lambda pair: pair[0])]


def my_schedule(layers, steps, minibatch, hidden_size, memory):
    # many cuts of the layers, the one with the fewest diagonals and repeated blocks that fits
    block = min(steps, 8) if layers == 1 else 1
    blocks = -(-steps // block)
    if memory >= 3 * layers * steps:
        return block, np.array(issued(layers, blocks, [layers], 0))
    repeated = 1 / 6 if minibatch * hidden_size < 1 << 17 else 1  # diagonals that a repeated block costs
    candidates = []
    for top in sorted({max(1, layers * k // 24) for k in range(1, 22)}):
        below = layers - top
        for parts in {1, 2, 3, 5, 8, 12, 20, 30}:
            length = -(-below // parts)
            lengths = [below % length or length, *[length] * ((below - 1) // length), top]
            if (2 * max(top, length) + len(lengths) - 3) * blocks > memory:
                continue  # the segment and the inputs of those below cannot fit
            for wait in (0, 4, steps // 2, steps, steps + length):
                cost = wait * (len(lengths) - 1) + repeated * below * blocks
                candidates.append((cost, len(candidates), lengths, wait))
    for *_, lengths, wait in sorted(candidates):
        rows = issued(layers, blocks, lengths, wait)
        if arrays_at_once(rows, layers) * block <= memory:
            return block, np.array(rows)

# %% [right]
def segment_lengths(layers, memory):
    best = None
    for count in range(1, layers + 1):
        top = min((memory - count + 1) // 2, layers - count + 1)
        if top < 1:
            break
        rest = layers - top
        lower = []
        for i in range(count - 1):
            n = min((memory - i) // 2, rest - (count - 2 - i))
            lower.append(n)
            rest -= n
        if rest == 0 and all(n > 0 for n in lower) and (best is None or top > best[-1]):
            best = lower + [top]
    return best

# %% [right]
def segment_lengths(layers, memory):
    full = [(memory - i) // 2 for i in range(memory)]
    k = next(k for k in range(1, memory + 1) if sum(full[:k]) >= layers)
    lengths, extra = full[:k], sum(full[:k]) - layers
    if k > 2:  # take it from the second segment
        cut = min(extra, lengths[1] - 1)
        lengths[1] -= cut
        extra -= cut
    lengths[0] -= extra
    return lengths

# %% [wrong] leaves the top segment what remains
def segment_lengths(layers, memory):
    lengths, left = [], layers
    while left:
        n = min(left, (memory - len(lengths)) // 2)
        lengths.append(n)
        left -= n
    return lengths

# %% [wrong] saves everything in one segment
def segment_lengths(layers, memory):
    return [layers]

# %% [wrong] takes equal segments of the square root
def segment_lengths(layers, memory):
    n = max(1, int((layers / 2) ** 0.5))
    lengths = [n] * (layers // n)
    return lengths + ([layers % n] if layers % n else [])

# %% [wrong] returns how many segments there are
def segment_lengths(layers, memory):
    return -(-layers // (memory // 2))

# %% [wrong] keeps the inputs of all segments throughout
def segment_lengths(layers, memory):
    for n in range(1, layers + 1):
        room = [(memory - n + 1) // 2 for k in range(n)]
        if min(room) > 0 and sum(room) >= layers:
            break
    lengths = [0] * n
    left = layers
    lengths[-1] = min(left, room[-1])
    left -= lengths[-1]
    for k in range(n - 1):
        lengths[k] = min(room[k], left - (n - 2 - k))
        left -= lengths[k]
    return lengths

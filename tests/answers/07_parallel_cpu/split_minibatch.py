# %% [right]
def split_minibatch(B, threads):
    n = min(B, threads)
    return [(k * B // n, (k + 1) * B // n) for k in range(n)]

# %% [right]
def split_minibatch(B, threads):
    shares, first = [], 0
    for left in range(threads, 0, -1):
        size = -(-(B - first) // left)
        if size:
            shares.append((first, first + size))
        first += size
    return shares

# %% [right]
def split_minibatch(B, threads):
    parts = [part for part in np.array_split(np.arange(B), threads) if part.size]
    return [(int(part[0]), int(part[-1]) + 1) for part in parts]

# %% [right]
def split_minibatch(B, threads, start=0):
    if B == 0:
        return []
    n = min(B, threads)
    own = B // n
    return [(start, start + own)] + split_minibatch(B - own, n - 1, start + own) if n > 1 else [(start, start + B)]

# %% [wrong] gives the whole rest to one thread
def split_minibatch(B, threads):
    size = max(1, B // threads)
    n = min(threads, B)
    return [(k * size, B if k == n - 1 else (k + 1) * size) for k in range(n)]

# %% [wrong] rounds shares up, so that the last one is short
def split_minibatch(B, threads):
    size = -(-B // threads)
    return [(first, min(first + size, B)) for first in range(0, B, size)]

# %% [wrong] leaves the rest out
def split_minibatch(B, threads):
    size = max(1, B // threads)
    return [(k * size, (k + 1) * size) for k in range(min(threads, B))]

# %% [wrong] makes empty shares
def split_minibatch(B, threads):
    return [(k * B // threads, (k + 1) * B // threads) for k in range(threads)]

# %% [wrong] gives the last sequence as the end, not one past it
def split_minibatch(B, threads):
    n = min(B, threads)
    return [(k * B // n, (k + 1) * B // n - 1) for k in range(n)]

# %% [wrong] gives sizes in place of ends
def split_minibatch(B, threads):
    n = min(B, threads)
    return [(k * B // n, (k + 1) * B // n - k * B // n) for k in range(n)]

# %% [wrong] uses one thread too few
def split_minibatch(B, threads):
    n = max(1, min(B, threads) - 1)
    return [(k * B // n, (k + 1) * B // n) for k in range(n)]

# %% [wrong] deals the sequences out in turn
def split_minibatch(B, threads):
    n = min(B, threads)
    return [tuple(range(k, B, n)) for k in range(n)]

# %% [wrong] rounded borders
def split_minibatch(B, threads):
    n = min(B, threads)
    size = round(B / n)
    cuts = [min(B, k * size) for k in range(n)] + [B]
    return list(zip(cuts, cuts[1:]))

# %% [wrong] cuts rounded multiples of a quotient down
def split_minibatch(B, threads):
    n = min(B, threads)
    if n == 0:
        return []
    step = B / n
    bounds = [int(k * step) for k in range(n + 1)]
    return list(zip(bounds[:-1], bounds[1:]))

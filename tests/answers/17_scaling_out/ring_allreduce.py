# %% [right]
def ring_allreduce(p):
    result = []
    for chunk in range(p):
        at = (chunk + 1) % p  # a chunk starts one to the right of its owner
        for step in range(2 * (p - 1)):
            result.append((step, at, (at + 1) % p, chunk))
            at = (at + 1) % p
    return result


# %% [right]
def ring_allreduce(p):
    steps, ranks = np.meshgrid(np.arange(2 * p - 2), np.arange(p))
    columns = steps, ranks, (ranks + 1) % p, (ranks - steps - 1) % p
    return [tuple(row) for row in np.stack([column.ravel() for column in columns], axis=1).tolist()]


# %% [right]
def ring_allreduce(p):
    transfers = []
    for k in range(p - 1):
        for owner in range(p):
            sender = (owner + 1 + k) % p
            transfers.append((k, sender, (sender + 1) % p, owner))
    for k in range(p - 1):
        for owner in range(p):
            sender = (owner + k) % p
            transfers.append((p - 1 + k, sender, (sender + 1) % p, owner))
    return transfers


# %% [wrong] starts with the rank's own chunk, so whole sums end one rank too far
def ring_allreduce(p):
    return [(s, r, (r + 1) % p, (r - s) % p) for s in range(2 * p - 2) for r in range(p)]


# %% [wrong] sends to the left
def ring_allreduce(p):
    return [(s, r, (r + p - 1) % p, (r - s - 1) % p) for s in range(2 * p - 2) for r in range(p)]


# %% [wrong] stops when each rank has one whole sum
def ring_allreduce(p):
    return [(s, r, (r + 1) % p, (r - s - 1) % p) for s in range(p - 1) for r in range(p)]


# %% [wrong] sends all chunks to rank 0 and back
def ring_allreduce(p):
    up = [(r - 1, r, 0, c) for r in range(1, p) for c in range(p)]
    return up + [(p - 2 + r, 0, r, c) for r in range(1, p) for c in range(p)]


# %% [wrong] has three numbers in a transfer
def ring_allreduce(p):
    return [(s, r, (r - s - 1) % p) for s in range(2 * p - 2) for r in range(p)]


# %% [wrong] counts steps from 1
def ring_allreduce(p):
    return [(s + 1, r, (r + 1) % p, (r - s - 1) % p) for s in range(2 * p - 2) for r in range(p)]


# %% [wrong] lets the second half start with chunk r + 1
def ring_allreduce(p):
    first = [(s, r, (r + 1) % p, (r - s - 1) % p) for s in range(p - 1) for r in range(p)]
    return first + [(p - 1 + s, r, (r + 1) % p, (r - s + 1) % p) for s in range(p - 1) for r in range(p)]

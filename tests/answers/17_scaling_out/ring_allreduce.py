# %% [right]
def ring_allreduce(ring):
    p, result = len(ring), []
    for owner in range(p):
        at = (owner + 1) % p  # a chunk starts one to the right of its owner
        for step in range(2 * (p - 1)):
            result.append((step, ring[at], ring[(at + 1) % p], ring[owner]))
            at = (at + 1) % p
    return result

# %% [right]
def ring_allreduce(ring):
    p, ring = len(ring), np.array(ring)
    steps, places = np.meshgrid(np.arange(2 * p - 2), np.arange(p))
    columns = steps, ring[places], ring[(places + 1) % p], ring[(places - steps - 1) % p]
    return [tuple(row) for row in np.stack([column.ravel() for column in columns], axis=1).tolist()]

# %% [right]
def ring_allreduce(ring):
    p, transfers, turned = len(ring), [], list(ring)
    for step in range(2 * p - 2):
        turned = [turned[-1]] + turned[:-1]
        transfers += [(step, ring[k], ring[k + 1 - p], turned[k]) for k in range(p)]
    return transfers

# %% [wrong] starts with the rank's own chunk, so whole sums end one rank too far
def ring_allreduce(ring):
    p = len(ring)
    return [(s, ring[r], ring[(r + 1) % p], ring[(r - s) % p]) for s in range(2 * p - 2) for r in range(p)]

# %% [wrong] sends to the left
def ring_allreduce(ring):
    p = len(ring)
    return [(s, ring[r], ring[r - 1], ring[(r - s - 1) % p]) for s in range(2 * p - 2) for r in range(p)]

# %% [wrong] stops when each rank has one whole sum
def ring_allreduce(ring):
    p = len(ring)
    return [(s, ring[r], ring[(r + 1) % p], ring[(r - s - 1) % p]) for s in range(p - 1) for r in range(p)]

# %% [wrong] forgets the order of the ring
def ring_allreduce(ring):
    p = len(ring)
    return [(s, r, (r + 1) % p, (r - s - 1) % p) for s in range(2 * p - 2) for r in range(p)]

# %% [wrong] sends all chunks to the first rank and back
def ring_allreduce(ring):
    p = len(ring)
    up = [(k - 1, ring[k], ring[0], c) for k in range(1, p) for c in range(p)]
    return up + [(p - 2 + k, ring[0], ring[k], c) for k in range(1, p) for c in range(p)]

# %% [wrong] has three numbers in a transfer
def ring_allreduce(ring):
    p = len(ring)
    return [(s, ring[r], ring[(r - s - 1) % p]) for s in range(2 * p - 2) for r in range(p)]

# %% [wrong] counts steps from 1
def ring_allreduce(ring):
    p = len(ring)
    return [(s + 1, ring[r], ring[(r + 1) % p], ring[(r - s - 1) % p]) for s in range(2 * p - 2) for r in range(p)]

# %% [wrong] lets the second half start with the left neighbour's chunk
def ring_allreduce(ring):
    p, result = len(ring), []
    for s in range(2 * p - 2):
        shift = s + 1 if s < p - 1 else s + 2
        result += [(s, ring[r], ring[(r + 1) % p], ring[(r - shift) % p]) for r in range(p)]
    return result

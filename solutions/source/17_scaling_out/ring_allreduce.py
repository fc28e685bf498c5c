# %% [markdown]
# ## Exercise: ring_allreduce
#
# <!-- exercise: ring_allreduce -->
#
# p ranks each hold an array of p chunks, chunk 0 to p − 1. Cables join the ranks to a ring; `ring` lists them in its order, for instance [0, 2, 1, 3]: the right neighbour of `ring[k]` is `ring[k + 1]`, that of the last one is `ring[0]`. Write the all-reduce as data: a list of transfers (step, from, to, chunk). Each rank sends to its right neighbour only, one chunk in every step. Steps are numbered from 0; all transfers of a step happen at the same time.
#
# In the first p − 1 steps the receiver **adds** the chunk to its own. After them, rank r must hold the whole sum of **chunk r**. In the next p − 1 steps, whole sums are **copied**: the receiver replaces its chunk. At the end every rank holds the whole sum of every chunk. One rank alone sends nothing.


# %%
def ring_allreduce(ring):
    """Transfers (step, from, to, chunk) that sum an array of p chunks over the
    p ranks of a ring."""
    ### BEGIN SOLUTION
    p, transfers = len(ring), []
    for step in range(2 * (p - 1)):
        for place in range(p):
            chunk = ring[(place - step - 1) % p]
            transfers.append((step, ring[place], ring[(place + 1) % p], chunk))
    return transfers
    ### END SOLUTION


# %%
check(ring_allreduce)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 6

# %% [hint]
# Take the ring 0, 1, 2, 3 first, and follow one chunk. In step 0 some rank sends it with its own numbers only; the
# receiver adds its own and sends the chunk on in step 1. After p − 1 steps it has passed every rank. At which rank must
# it have started to end at rank r?

# %% [hint]
# Chunk r ends at rank r, so it starts at r's right neighbour in step 0: each rank first sends the chunk with its left
# neighbour's number. One step later it sends the chunk that it has just received, which is named after the rank one
# more place to the left. Does the rule change after p − 1 steps?

# %% [hint]
# In step s, the rank at place k, ring[k], sends chunk ring[(k - s - 1) % p] to ring[(k + 1) % p], for s from 0 to
# 2(p − 1) − 1.

# %% [mistake] starts with the rank's own chunk, so whole sums end one rank too far
# - place - step - 1
# + place - step

# %% [mistake] sends the same chunk in every step
# - place - step - 1
# + place - 1

# %% [mistake] goes through the chunks in the opposite order
# - place - step - 1
# + place + step - 1

# %% [mistake] sends to the left
# - ring[(place + 1) % p]
# + ring[(place - 1) % p]

# %% [mistake] takes the next number for the next rank of the ring
# - ring[(place + 1) % p]
# + (ring[place] + 1) % p

# %% [mistake] numbers chunks by places in the ring
# - ring[(place - step - 1) % p]
# + (place - step - 1) % p

# %% [mistake] stops when each rank has one whole sum
# - range(2 * (p - 1))
# + range(p - 1)

# %% [mistake] runs one step too few
# - range(2 * (p - 1))
# + range(2 * (p - 1) - 1)

# %% [mistake] runs one step too many
# - range(2 * (p - 1))
# + range(2 * (p - 1) + 1)

# %% [mistake] runs p steps in each half
# - range(2 * (p - 1))
# + range(2 * p)

# %% [mistake] counts the steps of the second half from 0 again
# - transfers.append((step, ring
# + transfers.append((step % (p - 1), ring

# %% [mistake] leaves out the last rank
# - for place in range(p)
# + for place in range(p - 1)

# %% [mistake] does not close the ring
# - ring[(place + 1) % p]
# + ring[min(place + 1, p - 1)]

# %% [mistake] swaps sender and receiver
# - ring[place], ring[(place + 1) % p], chunk
# + ring[(place + 1) % p], ring[place], chunk

# %% [right]
def ring_allreduce(ring):
    p, left, right = len(ring), {}, {}
    for a, b in zip(ring, [*ring[1:], ring[0]]):
        left[b], right[a] = a, b
    transfers, chunk = [], {rank: left[rank] for rank in ring}
    for step in range(2 * (p - 1)):
        transfers += [[step, rank, right[rank], chunk[rank]] for rank in sorted(ring)]
        chunk = {rank: left[chunk[rank]] for rank in ring}
    return tuple(map(tuple, transfers))

# %% [right]
def ring_allreduce(ring):
    p = len(ring)
    first = [(s, ring[r], ring[(r + 1) % p], ring[(r - 1 - s) % p]) for s in range(p - 1) for r in range(p)]
    second = [(p - 1 + s, ring[r], ring[(r + 1) % p], ring[(r - s) % p]) for s in range(p - 1) for r in range(p)]
    return first + second

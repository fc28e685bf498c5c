# %% [markdown]
# ## Exercise: ring_allreduce
#
# <!-- exercise: ring_allreduce -->
#
# p ranks, numbered from 0, each hold an array of p chunks. Write the all-reduce around a ring as data: a list of transfers (step, from, to, chunk). Each rank sends to its right neighbour only, rank (from + 1) % p, and sends one chunk in every step. Steps are numbered from 0; all transfers of a step happen at the same time.
#
# In the first p − 1 steps the receiver **adds** the chunk to its own. After them, rank r must hold the whole sum of **chunk r**. In the next p − 1 steps, whole sums are **copied**: the receiver replaces its chunk. At the end every rank holds the whole sum of every chunk. One rank alone sends nothing.


# %%
def ring_allreduce(p):
    """Transfers (step, from, to, chunk) that sum an array of p chunks over p ranks."""
    ### BEGIN SOLUTION
    transfers = []
    for step in range(2 * (p - 1)):
        for rank in range(p):
            transfers.append((step, rank, (rank + 1) % p, (rank - step - 1) % p))
    return transfers
    ### END SOLUTION


# %%
check(ring_allreduce)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 5

# %% [hint]
# Follow one chunk. In step 0 some rank sends it with its own numbers only; the receiver adds its own and sends the
# chunk on in step 1. After p − 1 steps it has passed every rank. At which rank must it have started to end at rank r?

# %% [hint]
# Chunk r ends at rank r, so it starts at rank r + 1 in step 0: rank `rank` first sends chunk rank − 1. One step later
# each rank sends the chunk that it has just received, which is one less. Does the rule change after p − 1 steps?

# %% [hint]
# In step s, rank r sends chunk (r − 1 − s) % p to rank (r + 1) % p, for s from 0 to 2(p − 1) − 1. In step p − 1 that is
# chunk r, whose sum has just become whole.

# %% [mistake] starts with the rank's own chunk, so whole sums end one rank too far
# - (rank - step - 1) % p
# + (rank - step) % p

# %% [mistake] sends the same chunk in every step
# - (rank - step - 1) % p
# + (rank - 1) % p

# %% [mistake] counts chunks up instead of down
# - (rank - step - 1) % p
# + (rank + step - 1) % p

# %% [mistake] sends to the left
# - (rank + 1) % p
# + (rank - 1) % p

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

# %% [mistake] leaves out the last rank
# - for rank in range(p)
# + for rank in range(p - 1)

# %% [mistake] does not close the ring
# - (rank + 1) % p
# + min(rank + 1, p - 1)

# %% [mistake] swaps sender and receiver
# - rank, (rank + 1) % p, (rank - step - 1)
# + (rank + 1) % p, rank, (rank - step - 1)

# %% [right]
def ring_allreduce(p):
    first = [(s, r, (r + 1) % p, (r - 1 - s) % p) for s in range(p - 1) for r in range(p)]
    second = [(p - 1 + s, r, (r + 1) % p, (r - s) % p) for s in range(p - 1) for r in range(p)]
    return first + second

# %% [right]
def ring_allreduce(p):
    if p == 1:
        return []
    transfers, holding = [], [(rank - 1) % p for rank in range(p)]
    for step in range(2 * p - 2):
        transfers += [[step, rank, (rank + 1) % p, holding[rank]] for rank in reversed(range(p))]
        holding = [holding[rank - 1] for rank in range(p)]
    return tuple(map(tuple, transfers))

# %% [markdown]
# ## Exercise: split_minibatch
#
# <!-- exercise: split_minibatch -->
#
# `B` sequences go to `threads` threads, each share a pair (first sequence, one past the last), in order. Every sequence is in one share, no share is empty, and no two shares differ by more than one sequence.


# %%
def split_minibatch(B, threads):
    """A list of pairs (first, one past the last), one for each thread that gets
    work."""
    ### BEGIN SOLUTION
    parts = min(threads, B)
    edges = [B * k // parts for k in range(parts + 1)]
    return [(edges[k], edges[k + 1]) for k in range(parts)]
    ### END SOLUTION


# %%
check(split_minibatch)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 3

# %% [hint]
# All threads wait for the one with the largest share, so sizes may differ by one sequence at most. Try 11 sequences
# and 4 threads by hand, then 2 sequences and 4 threads.

# %% [hint]
# Think of the edges between shares. With as many shares as threads, but no more than sequences, edge k of n lies at
# k/n of the minibatch, rounded to a whole sequence.

# %% [hint]
# `edges = [B * k // parts for k in range(parts + 1)]` with `parts = min(threads, B)`; a share is two neighbouring
# edges.

# %% [mistake] makes empty shares
# - min(threads, B)
# + threads

# %% [mistake] gives everything to one thread
# - min(threads, B)
# + 1

# %% [mistake] leaves the rest out
# - B * k // parts
# + B // parts * k

# %% [mistake] runs past the last sequence
# - B * k // parts
# + -(-B // parts) * k

# %% [mistake] lets shares overlap by one
# - edges[k + 1])
# + edges[k + 1] + 1)

# %% [mistake] gives the last sequence as the end, not one past it
# - edges[k + 1])
# + edges[k + 1] - 1)

# %% [mistake] gives sizes in place of ends
# - edges[k + 1])
# + edges[k + 1] - edges[k])

# %% [mistake] gives the whole rest to one thread
# - B * k // parts
# + min(k * (B // parts), B) if k < parts else B

# %% [right]
def split_minibatch(B, threads):
    small, more = divmod(B, min(threads, B))
    shares, first = [], 0
    for k in range(min(threads, B)):
        size = small + (k < more)
        shares.append((first, first + size))
        first += size
    return shares

# %% [right]
def split_minibatch(B, threads):
    parts = np.array_split(np.arange(B), min(threads, B))
    return tuple((int(part[0]), int(part[-1]) + 1) for part in parts)

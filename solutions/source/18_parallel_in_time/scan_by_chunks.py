# %% [markdown]
# ## Exercise: scan_by_chunks
#
# <!-- exercise: scan_by_chunks -->
#
# All prefixes of T maps, in chunks of 8 steps; the last chunk may be shorter. Prefix t does the steps 0 to t. Return all prefixes, and beside them the `ends`: the prefixes at the last step of each chunk, in order.
#
# `maps` has time as its first axis. `compose(later, earlier)` takes two arrays of as many maps and returns as many: see compose_affine. The check brings a `compose` of its own, and its `maps` hold names: only its `compose` knows what they stand for.
#
# It also counts. A call is a level that waits for the one before. For C steps in a chunk and N chunks, C + N − 1 calls are enough: step k of **all** chunks in one call, then the ends of chunks one after the other, then one call that completes all chunks but the first. The calls together compose at most 2·C·N pairs. So a loop over time does not pass.


# %%
def scan_by_chunks(compose, maps):
    """(prefixes [T,...], ends [chunks,...]) of maps [T,...], in chunks of 8
    steps."""
    ### BEGIN SOLUTION
    chunk = 8
    prefixes, T = maps.copy(), len(maps)
    for k in range(1, min(chunk, T)):
        later = maps[k::chunk]
        earlier = prefixes[k - 1 :: chunk][: len(later)]
        prefixes[k::chunk] = compose(later, earlier)
    last = np.minimum(np.arange(chunk - 1, T + chunk - 1, chunk), T - 1)
    ends = prefixes[last]
    for c in range(1, len(ends)):
        ends[c : c + 1] = compose(ends[c : c + 1], ends[c - 1 : c])
    if T > chunk:
        before = np.repeat(ends[:-1], chunk, axis=0)[: T - chunk]
        prefixes[chunk:] = compose(prefixes[chunk:], before)
    return prefixes, ends
    ### END SOLUTION


# %%
check(scan_by_chunks)

# %% [properties]
# points: 4
# difficulty: 4
# minutes: 30
# lines: 13

# %% [hint]
# There are three parts, and each has a loop of its own or none. Within chunks: which maps may be composed in the same call,
# because they do not wait for each other?

# %% [hint]
# `maps[k::chunk]` holds step k of every chunk: compose it with the results for step k − 1. A shorter last chunk may lack a step
# k: cut the other array to the same length. Then the last results of the chunks are maps of whole chunks, and a loop over chunks
# composes them. What comes before chunk c is the end of chunk c − 1.

# %% [hint]
# `prefixes[k::chunk] = compose(maps[k::chunk], prefixes[k - 1 :: chunk][:len(maps[k::chunk])])` for k from 1; ends are
# `prefixes[last]`, where last is `chunk - 1`, `2 * chunk - 1`, …, and `T - 1` for the last chunk. After their loop,
# `compose(prefixes[chunk:], np.repeat(ends[:-1], chunk, axis=0)[: T - chunk])` completes.

# %% [mistake] composes the steps of a chunk in the wrong order
# - compose(later, earlier)
# + compose(earlier, later)

# %% [mistake] composes the ends in the wrong order
# - compose(ends[c : c + 1], ends[c - 1 : c])
# + compose(ends[c - 1 : c], ends[c : c + 1])

# %% [mistake] completes the chunks in the wrong order
# - compose(prefixes[chunk:], before)
# + compose(before, prefixes[chunk:])

# %% [mistake] does not complete the chunks
# - if T > chunk:
# + if T < 0:

# %% [mistake] completes each chunk by the one before alone
# -     for c in range(1, len(ends)):
# -         ends[c : c + 1] = compose(ends[c : c + 1], ends[c - 1 : c])
# -
# +

# %% [mistake] completes each chunk by its own end
# - ends[:-1], chunk
# + ends[1:], chunk

# %% [mistake] composes the maps of neighbours, not their results
# - prefixes[k - 1 :: chunk][
# + maps[k - 1 :: chunk][

# %% [mistake] makes chunks of one step more
# - chunk = 8
# + chunk = 8 + 1

# %% [mistake] leaves out the end of a shorter last chunk
# - prefixes, ends
# -
# + prefixes, ends[: T // chunk]
# +

# %% [mistake] goes through all steps one after the other
# -     for k in range(1, min(chunk, T)):
# -         later = maps[k::chunk]
# -         earlier = prefixes[k - 1 :: chunk][: len(later)]
# -         prefixes[k::chunk] = compose(later, earlier)
# -
# +     for t in range(1, T):
# +         prefixes[t : t + 1] = compose(maps[t : t + 1], prefixes[t - 1 : t])
# +     last = np.minimum(np.arange(chunk - 1, T + chunk - 1, chunk), T - 1)
# +     return prefixes, prefixes[last]
# +

# %% [mistake] goes through the chunks one after the other
# -         prefixes[k::chunk] = compose(later, earlier)
# -
# +         for c in range(len(later)):
# +             t = k + c * chunk
# +             prefixes[t : t + 1] = compose(later[c : c + 1], earlier[c : c + 1])
# +

# %% [right]
def scan_by_chunks(compose, maps):
    chunk = 8
    parts = [maps[k::chunk] for k in range(min(chunk, len(maps)))]
    for k in range(1, len(parts)):
        parts[k] = compose(parts[k], parts[k - 1][: len(parts[k])])
    prefixes = np.empty_like(maps)
    for k, part in enumerate(parts):
        prefixes[k::chunk] = part
    starts = range(0, len(maps), chunk)
    ends = [prefixes[: chunk][-1:]]
    for start in starts[1:]:
        ends.append(compose(prefixes[start : start + chunk][-1:], ends[-1]))
    if len(ends) > 1:
        before = [ends[t // chunk - 1] for t in range(chunk, len(maps))]
        prefixes[chunk:] = compose(prefixes[chunk:], np.concatenate(before))
    return prefixes, np.concatenate(ends)

# %% [right]
def scan_by_chunks(compose, maps):
    chunk = 8
    T = len(maps)
    chunks = -(-T // chunk)
    padded = np.concatenate([maps, np.repeat(maps[-1:], chunks * chunk - T, axis=0)])
    table = padded.reshape(chunks, chunk, *maps.shape[1:])
    inside = [table[:, 0]]
    for k in range(1, min(chunk, T)):
        inside.append(compose(table[:, k], inside[-1]))
    inside += [inside[-1]] * (chunk - len(inside))
    within = np.stack(inside, axis=1)
    carry = [within[0:1, -1]]
    for c in range(1, chunks - 1):
        carry.append(compose(within[c : c + 1, -1], carry[-1]))
    flat = within.reshape(padded.shape)
    if chunks > 1:
        flat[chunk:] = compose(flat[chunk:], np.repeat(np.concatenate(carry), chunk, axis=0))
    flat = flat[:T]
    return flat, np.concatenate([flat[chunk - 1 : T - 1 : chunk], flat[-1:]])

# %% [variant] chunk=3
# - chunks of 8 steps
# + chunks of 3 steps
# - chunk = 8
# + chunk = 3

# %% [variant] chunk=4
# - chunks of 8 steps
# + chunks of 4 steps
# - chunk = 8
# + chunk = 4

# %% [variant] chunk=5
# - chunks of 8 steps
# + chunks of 5 steps
# - chunk = 8
# + chunk = 5

# %% [variant] chunk=6
# - chunks of 8 steps
# + chunks of 6 steps
# - chunk = 8
# + chunk = 6

# %% [variant] chunk=7
# - chunks of 8 steps
# + chunks of 7 steps
# - chunk = 8
# + chunk = 7

# %% [variant] chunk=9
# - chunks of 8 steps
# + chunks of 9 steps
# - chunk = 8
# + chunk = 9

# %% [variant] chunk=10
# - chunks of 8 steps
# + chunks of 10 steps
# - chunk = 8
# + chunk = 10

# %% [variant] chunk=12
# - chunks of 8 steps
# + chunks of 12 steps
# - chunk = 8
# + chunk = 12

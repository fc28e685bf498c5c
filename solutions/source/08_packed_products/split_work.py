# %% [markdown]
# ## Exercise: split_work
#
# <!-- exercise: split_work -->
#
# A step multiplies the states [B,H] with weights [H, gates·H], 4 bytes a number. `cores` cores can share it in two ways:
#
# - `"minibatch"`: a core gets some of the sequences, ⌈B/cores⌉ at most, and needs all weights. No core waits for another.
# - `"units"`: a core gets some of the units, ⌈H/cores⌉ at most, with all gates and all H terms of their weights, and computes them for all sequences. A barrier at the end of the step takes `barrier` µs.
#
# A core does `rate` multiply-adds in a µs. Its weights stay in its own cache if they fit into `cache` bytes. If not, it reads all of them again in every step, at `bandwidth` bytes in a µs, and multiplies meanwhile: the longer of the two counts. The core with the largest share counts.
#
# Return the way that takes less time, `"minibatch"` if both take the same, and the µs of a step.


# %%
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    """(the better way, µs of a step)"""
    ### BEGIN SOLUTION
    def share(sequences, units):
        weights = 4 * H * gates * units
        reading = weights / bandwidth if weights > cache else 0.0
        return max(sequences * gates * units * H / rate, reading)

    by_minibatch = share(-(-B // cores), H)
    by_units = share(B, -(-H // cores)) + barrier
    return ("minibatch", by_minibatch) if by_minibatch <= by_units else ("units", by_units)
    ### END SOLUTION


# %%
check(split_work)

# %% [facts]
# points: 2
# difficulty: 3
# minutes: 20
# lines: 8

# %% [hint]
# Both ways are the same question: what does a core need for so many sequences and so many units? Write that as a
# function, and use it twice. Only one of the two ways has a barrier.

# %% [hint]
# For s sequences and u units a core does s·gates·u·H multiply-adds and needs 4·H·gates·u bytes of weights. It reads them
# only if they are more than `cache`. The longer of both times counts; add the barrier for the units.

# %% [hint]
# `share(s, u)` returns `max(s * gates * u * H / rate, weights / bandwidth if weights > cache else 0)`. Compare
# `share(-(-B // cores), H)` with `share(B, -(-H // cores)) + barrier`; `<=` keeps the minibatch where both are equal.

# %% [mistake] forgets the barrier
# -  + barrier
# +

# %% [mistake] counts a barrier for the minibatch too
# - share(-(-B // cores), H)
# + share(-(-B // cores), H) + barrier

# %% [mistake] rounds the shares down
# -     by_minibatch = share(-(-B // cores), H)
# -     by_units = share(B, -(-H // cores)) + barrier
# +     by_minibatch = share(B // cores, H)
# +     by_units = share(B, H // cores) + barrier

# %% [mistake] cuts shares into fractions
# -     by_minibatch = share(-(-B // cores), H)
# -     by_units = share(B, -(-H // cores)) + barrier
# +     by_minibatch = share(B / cores, H)
# +     by_units = share(B, H / cores) + barrier

# %% [mistake] forgets the gates
# - weights = 4 * H * gates * units
# + weights = 4 * H * units

# %% [mistake] counts numbers, not bytes
# - weights = 4 * H * gates * units
# + weights = H * gates * units

# %% [mistake] adds the two times
# - max(sequences * gates * units * H / rate, reading)
# + sequences * gates * units * H / rate + reading

# %% [mistake] reads only what does not fit
# - weights / bandwidth if weights > cache else 0.0
# + max(0, weights - cache) / bandwidth

# %% [mistake] reads what fits, too
# - weights / bandwidth if weights > cache else 0.0
# + weights / bandwidth

# %% [mistake] reads weights that fit exactly
# - weights > cache
# + weights >= cache

# %% [mistake] shares one cache between the cores
# - weights > cache
# + weights > cache / cores

# %% [mistake] never reads
# - weights / bandwidth if weights > cache else 0.0
# + 0.0

# %% [mistake] takes units where both are equal
# - by_minibatch <= by_units
# + by_minibatch < by_units

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    times = {}
    for way, s, u, wait in (
        ("minibatch", int(np.ceil(B / cores)), H, 0),
        ("units", B, int(np.ceil(H / cores)), barrier),
    ):
        size = gates * u * H
        computing = s * size / rate
        fits = 4 * size <= cache
        times[way] = wait + (computing if fits else max(computing, 4 * size / bandwidth))
    return min(times.items(), key=lambda item: item[1])

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    whole = 4 * gates * H * H
    part = 4 * gates * H * ((H + cores - 1) // cores)
    sequences = (B + cores - 1) // cores
    per_byte = lambda n, size: n / (4 * rate) if size <= cache else max(n / (4 * rate), 1 / bandwidth)
    first, second = whole * per_byte(sequences, whole), part * per_byte(B, part) + barrier
    if second < first:
        return "units", second
    return "minibatch", first

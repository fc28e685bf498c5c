# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(s, u):
        n = gates * u * H
        us = s * n / rate
        if n * 4 > cache:
            us = max(us, n * 4 / bandwidth)
        return us

    a = step((B + cores - 1) // cores, H)
    b = step(B, (H + cores - 1) // cores) + barrier
    if a > b:
        return "units", b
    return "minibatch", a

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    sequences, units = np.array([-(-B // cores), B]), np.array([H, -(-H // cores)])
    weights = gates * H * units
    compute = sequences * weights / rate
    read = np.where(4 * weights > cache, 4 * weights / bandwidth, 0)
    us = np.maximum(compute, read) + [0, barrier]
    best = int(us.argmin())
    return ["minibatch", "units"][best], us[best]

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def time(sequences, units):
        work = sequences * units * gates * H / rate
        weights = 4 * units * gates * H
        return work if weights <= cache else max(work, weights / bandwidth)

    minibatch = time(-(-B // cores), H)
    shared = time(B, -(-H // cores)) + barrier
    return ("minibatch", minibatch) if minibatch <= shared else ("units", shared)

# %% [wrong] takes the mean share of the minibatch
# -     minibatch = time(-(-B // cores), H)
# +     minibatch = time(B / cores, H)

# %% [wrong] forgets the barrier
# -     shared = time(B, -(-H // cores)) + barrier
# +     shared = time(B, -(-H // cores))

# %% [wrong] adds the two times
# -         return work if weights <= cache else max(work, weights / bandwidth)
# +         return work if weights <= cache else work + weights / bandwidth

# %% [wrong] counts numbers, not bytes
# -         weights = 4 * units * gates * H
# +         weights = units * gates * H

# %% [wrong] reads weights that fit exactly
# -         return work if weights <= cache else max(work, weights / bandwidth)
# +         return work if weights < cache else max(work, weights / bandwidth)

# %% [wrong] takes units where both are equal
# -     return ("minibatch", minibatch) if minibatch <= shared else ("units", shared)
# +     return ("minibatch", minibatch) if minibatch < shared else ("units", shared)

# %% [wrong] reads what fits, too
# -         return work if weights <= cache else max(work, weights / bandwidth)
# +         return max(work, weights / bandwidth)

# %% [wrong] lets cores share all the weights when they split the minibatch
# -     minibatch = time(-(-B // cores), H)
# +     minibatch = time(-(-B // cores), -(-H // cores))

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    ceil = lambda a: (a + cores - 1) // cores
    result = []
    for name, b, u, extra in (("minibatch", ceil(B), H, 0), ("units", B, ceil(H), barrier)):
        numbers = u * gates * H
        reading = 0 if 4 * numbers <= cache else 4 * numbers / bandwidth
        result.append((max(b * numbers / rate, reading) + extra, name))
    (a, _), (b, _) = result
    return ("units", b) if b < a else ("minibatch", a)

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    import math

    rows, columns = math.ceil(B / cores), math.ceil(H / cores)
    all_weights = gates * H * H
    t1 = rows * all_weights / rate
    if all_weights * 4 > cache:
        t1 = max(t1, all_weights * 4 / bandwidth)
    some = gates * H * columns
    t2 = B * some / rate
    if some * 4 > cache:
        t2 = max(t2, some * 4 / bandwidth)
    t2 += barrier
    return ["minibatch", "units"][int(t2 < t1)], min(t1, t2)

# %% [right]
import math


def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    shares = {"minibatch": (math.ceil(B / cores), H, 0), "units": (B, math.ceil(H / cores), barrier)}
    times = {}
    for way, (b, h, wait) in shares.items():
        weights = 4 * h * gates * H
        read = 0 if weights <= cache else weights / bandwidth
        times[way] = max(b * h * gates * H / rate, read) + wait
    way = min(times, key=times.get)
    return way, times[way]

# %% [right]
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(s, u):
        n = gates * u * H
        return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)

    a, b = step(-(-B // cores), H), step(B, -(-H // cores)) + barrier
    return ("minibatch", a) if a <= b else ("units", b)

# %% [wrong] forgets the barrier
# -     a, b = step(-(-B // cores), H), step(B, -(-H // cores)) + barrier
# -     return ("minibatch", a) if a <= b else ("units", b)
# +     ways = {"minibatch": step(-(-B // cores), H), "units": step(B, -(-H // cores))}
# +     best = min(ways, key=ways.get)
# +     return best, ways[best]

# %% [wrong] rounds the shares down
# -     a, b = step(-(-B // cores), H), step(B, -(-H // cores)) + barrier
# +     a, b = step(B // cores, H), step(B, H // cores) + barrier

# %% [wrong] shares one cache between the cores
# -         return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)
# +         return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache / cores else 0)

# %% [wrong] always shares the minibatch
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    n = gates * H * H
    return "minibatch", max(-(-B // cores) * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)

# %% [wrong] returns the way only
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    return "minibatch"

# %% [wrong] compares the ways without the barrier
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(b, h):
        w = H * gates * h
        return b * w / rate if 4 * w <= cache else max(b * w / rate, 4 * w / bandwidth)

    m, u = step(-(-B // cores), H), step(B, -(-H // cores))
    return ("minibatch", m) if m <= u else ("units", u + barrier)

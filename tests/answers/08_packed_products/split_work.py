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


# %% [wrong] forgets the barrier
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(s, u):
        n = gates * u * H
        return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)

    ways = {"minibatch": step(-(-B // cores), H), "units": step(B, -(-H // cores))}
    best = min(ways, key=ways.get)
    return best, ways[best]


# %% [wrong] rounds the shares down
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(s, u):
        n = gates * u * H
        return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)

    a, b = step(B // cores, H), step(B, H // cores) + barrier
    return ("minibatch", a) if a <= b else ("units", b)


# %% [wrong] always shares the minibatch
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    n = gates * H * H
    return "minibatch", max(-(-B // cores) * n / rate, 4 * n / bandwidth if 4 * n > cache else 0)


# %% [wrong] shares one cache between the cores
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    def step(s, u):
        n = gates * u * H
        return max(s * n / rate, 4 * n / bandwidth if 4 * n > cache / cores else 0)

    a, b = step(-(-B // cores), H), step(B, -(-H // cores)) + barrier
    return ("minibatch", a) if a <= b else ("units", b)


# %% [wrong] returns the way only
def split_work(B, H, gates, cores, cache, rate, bandwidth, barrier):
    return "minibatch"

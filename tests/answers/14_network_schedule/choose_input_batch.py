# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    import math
    best = None
    for k in range(1, T + 1):
        time = (math.ceil(T / k) + layers - 1) * (launch + k * work + k * step)
        if best is None or time < best[1]:
            best = k, time
    return best


# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    def finish(k):
        ends = [0.0] * layers
        for _ in range(0, T, k):
            start = 0.0
            for layer in range(layers):
                start = ends[layer] = max(start, ends[layer]) + launch + k * (work + step)
        return ends[-1]
    times = {k: finish(k) for k in range(1, T + 1)}
    k = min(times, key=lambda k: (round(times[k], 9), k))
    return k, times[k]


# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    options = [((T + k - 1) // k + layers - 1, k) for k in range(1, T + 1)]
    time, k = min(((n * (launch + k * (work + step))), k) for n, k in options)
    return k, time


# %% [wrong] returns the largest of equals
def choose_input_batch(T, layers, launch, work, step):
    times = [((T + k - 1) // k + layers - 1) * (launch + k * (work + step)) for k in range(1, T + 1)]
    best = max(k for k, time in enumerate(times, 1) if time == min(times))
    return best, min(times)


# %% [wrong] forgets the launch
def choose_input_batch(T, layers, launch, work, step):
    times = [((T + k - 1) // k + layers - 1) * k * (work + step) for k in range(1, T + 1)]
    return times.index(min(times)) + 1, min(times)


# %% [wrong] returns the time first
def choose_input_batch(T, layers, launch, work, step):
    times = [((T + k - 1) // k + layers - 1) * (launch + k * (work + step)) for k in range(1, T + 1)]
    return min(times), times.index(min(times)) + 1


# %% [wrong] counts k from 0
def choose_input_batch(T, layers, launch, work, step):
    times = [((T + k - 1) // k + layers - 1) * (launch + k * (work + step)) for k in range(1, T + 1)]
    return times.index(min(times)), min(times)


# %% [wrong] takes the shorter time of a last chunk that is not full
def choose_input_batch(T, layers, launch, work, step):
    times = []
    for k in range(1, T + 1):
        full, rest = divmod(T, k)
        times.append((full + layers - 1) * (launch + k * (work + step)) + (launch + rest * (work + step)) * (rest > 0))
    return times.index(min(times)) + 1, min(times)


# %% [wrong] takes all steps at once
def choose_input_batch(T, layers, launch, work, step):
    return T, layers * (launch + T * (work + step))

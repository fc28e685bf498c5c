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

# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    def end(k):
        chunks = -(-T // k)
        return (chunks + layers - 1) * (launch + k * work + k * step)

    best = min(range(1, T + 1), key=end)
    return best, end(best)

# %% [wrong] leaves out the last, shorter chunk
# -         chunks = -(-T // k)
# +         chunks = T // k

# %% [wrong] runs one layer after the other
# -         return (chunks + layers - 1) * (launch + k * work + k * step)
# +         return chunks * layers * (launch + k * work + k * step)

# %% [wrong] forgets that the layers above wait
# -         return (chunks + layers - 1) * (launch + k * work + k * step)
# +         return chunks * (launch + k * work + k * step)

# %% [wrong] counts one chunk too many
# -         return (chunks + layers - 1) * (launch + k * work + k * step)
# +         return (chunks + layers) * (launch + k * work + k * step)

# %% [wrong] pays for a launch in every step
# -         return (chunks + layers - 1) * (launch + k * work + k * step)
# +         return (chunks + layers - 1) * k * (launch + work + step)

# %% [wrong] returns the largest of equals
# -     best = min(range(1, T + 1), key=end)
# +     best = min(range(T, 0, -1), key=end)

# %% [wrong] tries powers of two only
# -     best = min(range(1, T + 1), key=end)
# +     best = min((2**n for n in range(T.bit_length()) if 2**n <= T), key=end)

# %% [wrong] lets product and steps overlap
# -         return (chunks + layers - 1) * (launch + k * work + k * step)
# +         return (chunks + layers - 1) * max(launch + k * work, k * step)

# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    best, least = 0, float("inf")
    for k in range(1, T + 1):
        chunks, one = (T + k - 1) // k, launch + k * (work + step)
        ends = [0.0] * chunks
        for layer in range(layers):
            free = 0.0
            for c in range(chunks):
                free = max(free, ends[c]) + one
                ends[c] = free
        if ends[-1] < least * (1 - 1e-12):
            best, least = k, ends[-1]
    return best, least

# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    k = np.arange(1, T + 1)
    total = (np.ceil(T / k) + layers - 1) * (launch + k * (work + step))
    place = int(total.argmin())
    return place + 1, float(total[place])

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

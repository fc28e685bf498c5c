# %% [wrong] gives the limit of the threads there are
# - (serial + shared) / serial
# + (serial + shared) / (serial + shared / threads)

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    def seconds(n):
        return serial + shared / n + (n - 1) * barrier

    best = min(range(1, threads + 1), key=seconds)
    return best, seconds(1) / seconds(best), (serial + shared) / serial if serial else float("inf")

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    n = np.arange(1, threads + 1)
    times = serial + shared / n + barrier * (n - 1)
    k = int(np.argmin(times))
    return int(n[k]), float(times[0] / times[k]), 1 + shared / serial

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    one = serial + shared
    best, fastest = 1, one
    for n in range(2, threads + 1):
        time = serial + shared / n + barrier * (n - 1)
        if time < fastest:
            best, fastest = n, time
    part = serial / one
    return best, one / fastest, 1 / part

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
    best = min(times, key=times.get)
    return best, (serial + shared) / times[best], (serial + shared) / serial

# %% [wrong] counts a barrier for the first thread, too
# -     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
# +     times = {n: serial + shared / n + barrier * n for n in range(1, threads + 1)}

# %% [wrong] pays one barrier however many threads there are
# -     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
# +     times = {n: serial + shared / n + barrier * (n > 1) for n in range(1, threads + 1)}

# %% [wrong] shares the serial part too
# -     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
# +     times = {n: (serial + shared) / n + barrier * (n - 1) for n in range(1, threads + 1)}

# %% [wrong] never tries the last thread
# -     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
# +     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, max(threads, 2))}

# %% [wrong] takes the limit to be shared over serial
# -     return best, (serial + shared) / times[best], (serial + shared) / serial
# +     return best, (serial + shared) / times[best], shared / serial

# %% [wrong] of equals, the most threads
# -     times = {n: serial + shared / n + barrier * (n - 1) for n in range(1, threads + 1)}
# +     times = {n: serial + shared / n + barrier * (n - 1) for n in range(threads, 0, -1)}

# %% [wrong] takes all threads there are
def amdahl_limit(serial, shared, barrier, threads):
    one = serial + shared
    return threads, one / (serial + shared / threads + barrier * (threads - 1)), one / serial

# %% [wrong] takes √(shared / barrier) threads and forgets how many there are
def amdahl_limit(serial, shared, barrier, threads):
    best = max(1, round((shared / barrier) ** 0.5)) if barrier else threads
    return (
        best,
        (serial + shared) / (serial + shared / best + barrier * (best - 1)),
        (serial + shared) / serial,
    )

# %% [right]
def median_interval(times, confidence):
    from math import comb

    x, n = sorted(times), len(times)
    for k in range(n // 2, 0, -1):
        if 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n >= confidence:
            return x[k - 1], x[n - k]
    return None

# %% [wrong] counts one end only
# -         if 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n >= confidence:
# +         if 1 - sum(comb(n, i) for i in range(k)) / 2**n >= confidence:

# %% [right]
def median_interval(times, confidence):
    x = sorted(times)
    row = [1]
    for _ in times:
        row = [a + b for a, b in zip([0, *row], [*row, 0])]
    total, cut, tail = sum(row), 0, 0
    while cut < len(row) and 2 * (tail + row[cut]) <= (1 - confidence) * total:
        tail += row[cut]
        cut += 1
    if cut == 0:
        return None
    return (x[cut - 1], x[-cut])

# %% [right]
def median_interval(times, confidence):
    t, n, best = sorted(times), len(times), None
    for k in range(1, n // 2 + 1):
        if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n >= confidence:
            best = t[k - 1], t[-k]
    return best

# %% [wrong] wants more than the confidence
# -         if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n >= confidence:
# +         if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n > confidence:

# %% [wrong] counts P(k) among those outside, so that k is one too small
# -         if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n >= confidence:
# +         if sum(comb(n, i) for i in range(k + 1, n - k)) / 2**n >= confidence:

# %% [wrong] leaves P(k - 1) out, so that k is one too large
# -         if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n >= confidence:
# +         if 1 - 2 * sum(comb(n, i) for i in range(k - 1)) / 2**n >= confidence:

# %% [wrong] leaves P(0) out
# -         if sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n >= confidence:
# +         if 1 - 2 * sum(comb(n, i) for i in range(1, k)) / 2**n >= confidence:

# %% [wrong] takes one measurement too few from each end
# -             best = t[k - 1], t[-k]
# +             best = t[k], t[-k - 1]

# %% [wrong] counts one measurement too many at the upper end
# -             best = t[k - 1], t[-k]
# +             best = t[k - 1], t[-max(1, k - 1)]

# %% [wrong] changes its input
# -     t, n, best = sorted(times), len(times), None
# +     times.sort()
# +     t, n, best = times, len(times), None

# %% [wrong] counts equal measurements once
# -     t, n, best = sorted(times), len(times), None
# +     t, best = sorted(set(times)), None
# +     n = len(t)

# %% [wrong] takes the smallest and the largest
def median_interval(times, confidence):
    if 1 - 2 / 2 ** len(times) < confidence:
        return None
    return min(times), max(times)

# %% [wrong] takes mean and standard deviation
def median_interval(times, confidence):
    m, s = float(np.mean(times)), float(np.std(times))
    return m - 2 * s, m + 2 * s

# %% [wrong] takes the quartiles
def median_interval(times, confidence):
    return float(np.quantile(times, 0.25)), float(np.quantile(times, 0.75))

# %% [wrong] never takes the two in the middle
def median_interval(times, confidence):
    s = sorted(times)
    n = len(s)
    best = None
    for k in range(1, n // 2):
        inside = sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n
        if inside >= confidence:
            best = k
    return None if best is None else (s[best - 1], s[n - best])

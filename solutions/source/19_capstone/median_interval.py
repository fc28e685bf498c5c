# %% [markdown]
# ## Exercise: median_interval
#
# <!-- exercise: median_interval -->
#
# You measured something `n` times, independently, and report the median. How far may it be from the true median? Each measurement lies below the true median with probability 1/2, whatever the distribution. So the number of measurements below it is that of heads in `n` throws of a coin:
#
#     P(exactly i of n below) = comb(n, i) / 2**n
#
# Return `(low, high)`, the k-th smallest and the k-th largest measurement, for the **largest** k with which the true median lies between them with probability `confidence` or more. Return `None` if even the smallest and the largest do not reach it.


# %%
def median_interval(times, confidence):
    """(low, high) that holds the true median with at least this probability;
    None with too few times."""
    ### BEGIN SOLUTION
    times, n = sorted(times), len(times)
    k, outside = 0, comb(n, 0) / 2**n
    while 2 * outside <= 1 - confidence:
        k += 1
        outside += comb(n, k) / 2**n
    return (times[k - 1], times[n - k]) if k else None
    ### END SOLUTION


# %%
check(median_interval)

# %% [properties]
# points: 2
# difficulty: 3
# minutes: 20
# lines: 6

# %% [hint]
# When is the true median below the smallest of n measurements? When all of them are above it. When is it below the
# second smallest? When at most one of them is below it.

# %% [hint]
# The true median is below the k-th smallest with probability P(0) + P(1) + … + P(k − 1), and by symmetry above the
# k-th largest with the same. Both together may be at most 1 − confidence.

# %% [hint]
# Sort. Add `comb(n, i) / 2**n` for i = 0, 1, … as long as twice the sum stays within `1 - confidence`; k is the number of
# terms. Return `times[k - 1], times[n - k]`, or None if k is 0.

# %% [mistake] counts one end only
# - while 2 * outside <= 1 - confidence
# + while outside <= 1 - confidence

# %% [mistake] takes one measurement too few from each end
# - (times[k - 1], times[n - k])
# + (times[k], times[n - k - 1])

# %% [mistake] goes one measurement too far out
# - (times[k - 1], times[n - k]) if k
# + (times[max(0, k - 2)], times[min(n - 1, n - k + 1)]) if k

# %% [mistake] counts P(k) among those outside, so that k is one too small
# - while 2 * outside <= 1 - confidence
# + while k < n and 2 * (outside + comb(n, k + 1) / 2**n) <= 1 - confidence

# %% [mistake] leaves P(k - 1) out, so that k is one too large
# -     k, outside = 0, comb(n, 0) / 2**n
# -     while 2 * outside <= 1 - confidence:
# -         k += 1
# -         outside += comb(n, k) / 2**n
# +     k, outside = 0, 0
# +     while k < n // 2 and 2 * outside <= 1 - confidence:
# +         outside += comb(n, k) / 2**n
# +         k += 1

# %% [mistake] leaves P(0) out
# -     k, outside = 0, comb(n, 0) / 2**n
# -     while 2 * outside <= 1 - confidence:
# -
# +     k, outside = 0, 0
# +     while k < n // 2 and 2 * outside <= 1 - confidence:
# +

# %% [mistake] wants more than the confidence
# - 2 * outside <= 1 - confidence
# + 2 * outside < 1 - confidence

# %% [mistake] never takes the two in the middle
# - 2 * outside <= 1 - confidence
# + k < (n - 1) // 2 and 2 * outside <= 1 - confidence

# %% [mistake] does not sort
# - sorted(times), len(times)
# + list(times), len(times)

# %% [mistake] takes the smallest and the largest
# - (times[k - 1], times[n - k]) if k
# + (times[0], times[-1]) if k

# %% [mistake] returns the smallest and the largest where there are too few
# - if k else None
# + if k else (times[0], times[-1])

# %% [mistake] takes the range that holds this share of the measurements
# - (times[k - 1], times[n - k]) if k
# + (times[int((1 - confidence) / 2 * n)], times[n - 1 - int((1 - confidence) / 2 * n)]) if k

# %% [mistake] shifts the upper end
# - times[n - k]
# + times[n - k - 1]

# %% [right]
from math import comb


def median_interval(times, confidence):
    ordered = np.sort(times)
    n = len(ordered)
    probability = np.array([comb(n, i) for i in range(n + 1)], float) / 2.0**n
    best = None
    for k in range(1, (n + 1) // 2 + 1):
        if probability[k : n - k + 1].sum() >= confidence:
            best = float(ordered[k - 1]), float(ordered[-k])
    return best

# %% [right]
from math import comb


def median_interval(times, confidence):
    ordered, n = sorted(map(float, times)), len(times)
    inside = lambda k: sum(comb(n, i) for i in range(k, n - k + 1)) / 2**n
    good = [k for k in range(1, n) if inside(k) >= confidence]
    return None if not good else (ordered[good[-1] - 1], ordered[-good[-1]])

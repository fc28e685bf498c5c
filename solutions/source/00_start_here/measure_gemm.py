# %% [markdown]
# ## Exercise: measure_gemm
#
# <!-- exercise: measure_gemm -->
#
# A rate means something only if you know how it was measured. Follow these steps:
#
# 1. call `multiply()` once and do not count this run (it also fills caches and starts threads);
# 2. then `repeats` times: read `clock()`, call `multiply()`, read `clock()` again;
# 3. take the **median** of the `repeats` durations, each the difference of the two readings around its run;
# 4. return the rate in **GFLOP/s** (10⁹ FLOP a second).
#
# One call of `multiply()` is a product of an [m,k] array with a [k,n] array. `clock()` gives **nanoseconds**, and
# `repeats` is odd. Your own code between two runs takes time, too; it must not be part of a duration.
# The check passes a clock of its own and knows each of its readings.

# %%
def measure_gemm(multiply, clock, m, n, k, repeats):
    """Median rate in GFLOP/s of multiply(), a product [m,k] x [k,n]; clock() is
    in nanoseconds, repeats odd."""
    ### BEGIN SOLUTION
    multiply()
    durations = []
    for _ in range(repeats):
        start = clock()
        multiply()
        durations.append(clock() - start)
    return 2 * m * n * k / float(np.median(durations))
    ### END SOLUTION


# %%
check(measure_gemm)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 15
# lines: 7

# %% [hint]
# Two questions: which durations do you collect, and how do you compute a rate from a duration? The four steps above
# the cell are the program; only the units are your task.

# %% [hint]
# FLOP of one product: 2·m·n·k. FLOP per nanosecond is the same number as GFLOP per second, because 10⁹ stands in
# numerator and denominator. The duration of a run is the difference of two clock readings around that run alone.

# %% [hint]
# `multiply()` once; then in a loop `start = clock()`, `multiply()`, `durations.append(clock() - start)`; finally `2 *
# m * n * k / np.median(durations)`, converted to a Python number by `float(...)`.

# %% [mistake] counts the first run
# -     multiply()
# -     durations = []
# +     durations = []

# %% [mistake] takes the mean
# - np.median
# + np.mean

# %% [mistake] takes the fastest run
# - np.median
# + np.min

# %% [mistake] takes the total time
# - np.median
# + np.sum

# %% [mistake] counts a multiply-add as one operation
# - 2 * m * n * k
# + m * n * k

# %% [mistake] leaves out the inner size k
# - 2 * m * n * k
# + 2 * m * n

# %% [mistake] returns FLOP/s
# - 2 * m * n * k
# + 1e9 * 2 * m * n * k

# %% [mistake] takes nanoseconds for seconds
# - 2 * m * n * k
# + 1e-9 * 2 * m * n * k

# %% [mistake] takes the middle of the durations without sorting them
# - float(np.median(durations))
# + durations[repeats // 2]

# %% [mistake] reads the clock once a run, so that the time between two runs counts
# -     for _ in range(repeats):
# -         start = clock()
# -         multiply()
# -         durations.append(clock() - start)
# -
# +     start = clock()
# +     for _ in range(repeats):
# +         multiply()
# +         end = clock()
# +         durations.append(end - start)
# +         start = end
# +

# %% [mistake] measures one run too many
# - range(repeats)
# + range(repeats + 1)

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    def seconds():
        start = clock()
        multiply()
        return (clock() - start) * 1e-9
    seconds()
    runs = sorted(seconds() for _ in range(repeats))
    return 2 * m * n * k / runs[repeats // 2] / 1e9

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    marks = []
    for _ in range(repeats):
        marks.append(clock())
        multiply()
        marks.append(clock())
    rates = 2 * m * n * k / np.diff(marks)[::2]
    return float(np.median(rates))

# %% [variant] warm=2..9
# - call `multiply()` once and do not count this run (it also fills caches and starts threads)
# + call `multiply()` {warm} times and do not count these runs (they also fill caches and start threads)
# -     multiply()
# -     durations = []
# +     for _ in range({warm}):
# +         multiply()
# +     durations = []
# - `multiply()` once; then
# + `multiply()` {warm} times; then
# -     seconds()
# -     runs
# +     for _ in range({warm}):
# +         multiply()
# +     runs
# -     multiply()
# -     marks = []
# +     for _ in range({warm}):
# +         multiply()
# +     marks = []
# - counts the first run
# + counts the first runs

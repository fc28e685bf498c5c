# %% [wrong] takes the first of the repeats for the run that does not count
# -     multiply()
# -     durations = []
# +     durations = []
# - np.median(durations)
# + np.median(durations[1:] or durations)

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    times = np.zeros(repeats)
    multiply()
    for i in range(repeats):
        t0 = clock()
        multiply()
        t1 = clock()
        times[i] = t1 - t0
    return np.median(2.0 * m * n * k / times)

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    runs = []
    for _ in range(repeats + 1):
        begin = clock()
        multiply()
        end = clock()
        runs.append(end - begin)
    middle = sorted(runs[1:])[len(runs[1:]) // 2]
    return 2 * m * n * k * 1e-9 / (middle * 1e-9)

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    def run():
        before = clock()
        multiply()
        return -before + clock()

    multiply()
    return (m * n * k + m * n * k) / float(np.median([run() for _ in range(repeats)]))

# %% [right]
import statistics


def measure_gemm(multiply, clock, m, n, k, repeats):
    def once():
        before = clock()
        multiply()
        return clock() - before

    multiply()
    return 2 * m * n * k / statistics.median([once() for _ in range(repeats)])

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    _ = multiply()
    t = sorted(-((a := clock()) - (multiply(), clock())[1]) for _ in range(repeats))
    return 2e-9 * m * n * k / (t[len(t) // 2] * 1e-9)

# %% [right]
def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    runs = []
    for _ in range(repeats):
        t = clock()
        multiply()
        runs.append(clock() - t)
    return 2 * m * n * k / float(np.median(runs))

# %% [wrong] takes the middle of the durations without sorting them
# -     return 2 * m * n * k / float(np.median(runs))
# +     return 2 * m * n * k / runs[len(runs) // 2]

# %% [wrong] takes the mean
# -     runs = []
# +     total = 0
# -         runs.append(clock() - t)
# -     return 2 * m * n * k / float(np.median(runs))
# +         total += clock() - t
# +     return 2 * m * n * k / (total / repeats)

# %% [wrong] averages the rates
# -     runs = []
# +     rates = []
# -         runs.append(clock() - t)
# -     return 2 * m * n * k / float(np.median(runs))
# +         rates.append(2 * m * n * k / (clock() - t))
# +     return float(np.mean(rates))

# %% [wrong] multiplies twice between two readings
# -         runs.append(clock() - t)
# +         multiply()
# +         runs.append(clock() - t)

# %% [wrong] reads the clock once a run, so that the time between two runs counts
def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    marks = [clock()]
    for _ in range(repeats):
        multiply()
        marks.append(clock())
    return float(np.median(2 * m * n * k / np.diff(marks)))

# %% [wrong] mean without the fastest and the slowest
def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    durations = []
    for _ in range(repeats):
        begin = clock()
        multiply()
        durations.append(clock() - begin)
    inner = sorted(durations)[1:-1] or durations
    return 2 * m * n * k / (sum(inner) / len(inner))

# %% [wrong] times the first run, too, and drops the slowest
def measure_gemm(multiply, clock, m, n, k, repeats):
    """Median rate in GFLOP/s of multiply(), a product [m,k] x [k,n]; clock() is
    in nanoseconds, repeats odd."""
    durations = []
    for _ in range(repeats + 1):
        start = clock()
        multiply()
        durations.append(clock() - start)
    durations = sorted(durations)[:-1]
    return 2 * m * n * k / durations[repeats // 2]

# %% [wrong] rounds the readings to float32
def measure_gemm(multiply, clock, m, n, k, repeats):
    """Median rate in GFLOP/s of multiply(), a product [m,k] x [k,n]; clock() is
    in nanoseconds, repeats odd."""
    multiply()
    readings = np.zeros((repeats, 2), np.float32)
    for run in range(repeats):
        readings[run, 0] = clock()
        multiply()
        readings[run, 1] = clock()
    durations = readings[:, 1] - readings[:, 0]
    return 2 * m * n * k / float(np.median(durations))

# %% [wrong] counts equal durations once
def measure_gemm(multiply, clock, m, n, k, repeats):
    """Median rate in GFLOP/s of multiply(), a product [m,k] x [k,n]; clock() is
    in nanoseconds, repeats odd."""
    multiply()
    durations = []
    for _ in range(repeats):
        start = clock()
        multiply()
        durations.append(clock() - start)
    in_order = np.unique(durations)
    return 2 * m * n * k / float(np.median(in_order))

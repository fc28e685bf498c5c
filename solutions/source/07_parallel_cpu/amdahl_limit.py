# %% [markdown]
# ## Exercise: amdahl_limit
#
# <!-- exercise: amdahl_limit -->
#
# One thread needs `serial` + `shared` seconds, and `serial` is more than 0. With n threads the serial part stays, the shared one takes an n-th of its time, and each thread beyond the first costs `barrier` seconds. At most `threads` threads are available.
#
# Return three things: how many threads make it fastest (of equals, the fewest), how many times as fast as one thread that is, and Amdahl's limit, the speed-up of infinitely many threads whose barriers cost nothing.


# %%
def amdahl_limit(serial, shared, barrier, threads):
    """(best number of threads, speed-up over one thread, Amdahl's limit)"""
    ### BEGIN SOLUTION
    time = lambda n: serial + shared / n + barrier * (n - 1)
    best = min(range(1, threads + 1), key=time)
    return best, time(1) / time(best), (serial + shared) / serial
    ### END SOLUTION


# %%
check(amdahl_limit)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 3

# %% [hint]
# Write down the time with n threads first. Which of the three parts shrinks with n, which stays, which grows?

# %% [hint]
# With n threads: the serial part, plus the n-th part of the shared one, plus n − 1 times the cost of a barrier.
# Compare the times of 1, 2, … threads; Amdahl's limit leaves barriers out and lets n go to infinity.

# %% [hint]
# `time = lambda n: ...`; `best = min(range(1, threads + 1), key=time)` takes the smallest of equals; the limit is
# (serial + shared) / serial.

# %% [mistake] forgets what barriers cost
# -  + barrier * (n - 1)
# +

# %% [mistake] makes one thread pay for a barrier
# - barrier * (n - 1)
# + barrier * n

# %% [mistake] shares the serial part too
# - serial + shared / n
# + (serial + shared) / n

# %% [mistake] forgets the serial part
# - serial + shared / n
# + shared / n

# %% [mistake] takes all threads there are
# - min(range(1, threads + 1), key=time)
# + threads

# %% [mistake] never tries the last thread
# - range(1, threads + 1)
# + range(1, max(2, threads))

# %% [mistake] compares with the shared part alone
# - time(1) / time(best)
# + shared / time(best)

# %% [mistake] gives the time in place of the speed-up
# - time(1) / time(best)
# + time(best)

# %% [mistake] gives the serial share as the limit
# - (serial + shared) / serial
# + serial / (serial + shared)

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    times = [serial + shared / n + (n - 1) * barrier for n in range(1, threads + 1)]
    best = times.index(min(times))
    return best + 1, times[0] / times[best], 1 + shared / serial

# %% [right]
def amdahl_limit(serial, shared, barrier, threads):
    n = np.arange(1, threads + 1)
    times = serial + shared / n + barrier * (n - 1)
    best = int(np.argmin(times))
    return int(n[best]), float(times[0] / times[best]), (serial + shared) / serial

# %% [variant] barriers=pairs
# - each thread beyond the first costs `barrier` seconds
# + each pair of threads costs `barrier` seconds
# - n − 1 times the cost of a barrier
# + n·(n − 1)/2 times the cost of a barrier
# - barrier * (n - 1)
# + barrier * n * (n - 1) / 2
# - barrier * n
# + barrier * n * (n + 1) / 2
# - (n - 1) * barrier
# + n * (n - 1) / 2 * barrier

# %% [variant] barriers=2..9
# - each thread beyond the first costs `barrier` seconds
# + each thread beyond the first costs {barriers} barriers of `barrier` seconds each
# - n − 1 times the cost of a barrier
# + {barriers}·(n − 1) times the cost of a barrier
# - barrier * (n - 1)
# + {barriers} * barrier * (n - 1)
# - barrier * n
# + {barriers} * barrier * n
# - (n - 1) * barrier
# + {barriers} * (n - 1) * barrier

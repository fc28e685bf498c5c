# %% [markdown]
# ## Exercise: choose_input_batch
#
# <!-- exercise: choose_input_batch -->
#
# A layer takes its inputs in chunks of k steps. A chunk's product takes `launch` + k·`work`, then each of its steps takes `step`; chunks of a layer run one after the other, and a chunk of the next layer begins when the same chunk of the layer below has ended. The last chunk counts as a whole one.
#
# Return the k from 1 to T with the shortest time until all layers have ended, of equals the smallest, and that time.


# %%
def choose_input_batch(T, layers, launch, work, step):
    """(steps at a time, time until the last layer ends)"""
    ### BEGIN SOLUTION
    time = lambda k: (-(-T // k) + layers - 1) * (launch + k * (work + step))
    best = min(range(1, T + 1), key=time)
    return best, time(best)
    ### END SOLUTION


# %%
check(choose_input_batch)

# %% [facts]
# points: 2
# difficulty: 3
# minutes: 15
# lines: 3

# %% [hint]
# Draw two layers and three chunks as boxes on a time axis. When can the second layer begin its first chunk, and when
# has it ended its last?

# %% [hint]
# A chunk of k steps takes launch + k·(work + step). There are ⌈T/k⌉ of them, and each layer above the first adds one
# more chunk's time at the end.

# %% [hint]
# `time = lambda k: (-(-T // k) + layers - 1) * (launch + k * (work + step))`; take the smallest k with the smallest
# time.

# %% [mistake] forgets that the layers above wait
# -  + layers - 1)
# + )

# %% [mistake] runs one layer after the other
# - (-(-T // k) + layers - 1)
# + (-(-T // k) * layers)

# %% [mistake] leaves out the last, shorter chunk
# - -(-T // k)
# + T // k

# %% [mistake] pays for a launch in every step
# - launch + k * (work + step)
# + k * (launch + work + step)

# %% [mistake] pays for one step a chunk
# - launch + k * (work + step)
# + launch + k * work + step

# %% [mistake] forgets the launch
# - launch + k * (work + step)
# + k * (work + step)

# %% [mistake] counts one chunk too many
# - + layers - 1)
# + + layers)

# %% [mistake] never takes more than two
# - range(1, T + 1)
# + range(1, min(T, 2) + 1)

# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    times = []
    for k in range(1, T + 1):
        chunks = T // k + (T % k > 0)
        times.append((chunks + layers - 1) * (launch + k * work + k * step))
    best = times.index(min(times))
    return best + 1, times[best]

# %% [right]
def choose_input_batch(T, layers, launch, work, step):
    k = np.arange(1, T + 1)
    times = (np.ceil(T / k) + layers - 1) * (launch + k * (work + step))
    return int(k[times.argmin()]), float(times.min())

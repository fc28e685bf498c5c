# %% [markdown]
# ## Exercise: choose_input_batch
#
# <!-- exercise: choose_input_batch -->
#
# A layer takes its inputs in chunks of k steps. The product of a chunk takes the time `launch` + k·`work`; then each of the chunk's k steps takes the time `step`. The chunks of a layer run one after the other. A chunk of the next layer begins when the same chunk of the layer below has ended and its own layer's previous chunk has ended. A last chunk with fewer than k steps takes as long as a full one.
#
# Return the k from 1 to T for which all layers end earliest, and that time. If several k give the same time, return the smallest.


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

# %% [properties]
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

# %% [mistake] returns the largest of equals
# - range(1, T + 1)
# + range(T, 0, -1)

# %% [mistake] tries divisors of T only
# - min(range(1, T + 1), key=time)
# + min([k for k in range(1, T + 1) if T % k == 0], key=time)

# %% [mistake] forgets that a chunk's product grows with k
# - launch + k * (work + step)
# + launch + work + k * step

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

# %% [variant] kernels=2..9
# - takes the time `launch` + k·`work`;
# + takes the time {kernels}·`launch` + k·`work`, because {kernels} kernels compute it;
# - takes launch + k·(work + step)
# + takes {kernels}·launch + k·(work + step)
# - launch + k * (work + step)
# + {kernels} * launch + k * (work + step)
# - k * (launch + work + step)
# + k * ({kernels} * launch + work + step)
# - launch + k * work + step
# + {kernels} * launch + k * work + step
# - launch + work + k * step
# + {kernels} * launch + work + k * step
# - launch + k * work + k * step
# + {kernels} * launch + k * work + k * step

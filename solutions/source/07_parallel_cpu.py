# %% [markdown]
# # 07 · Threads: exercises
#
# A minibatch in shares, the sum of their gradients, what more threads can gain, and an order of work that you choose yourself.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(split_minibatch)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: split_minibatch
#
# <!-- exercise: split_minibatch -->
#
# `B` sequences go to `threads` threads, each share a pair (first sequence, one past the last), in order. Every sequence is in one share, no share is empty, and no two shares differ by more than one sequence.


# %%
def split_minibatch(B, threads):
    """A list of pairs (first, one past the last), one for each thread that gets work."""
    ### BEGIN SOLUTION
    parts = min(threads, B)
    edges = [B * k // parts for k in range(parts + 1)]
    return [(edges[k], edges[k + 1]) for k in range(parts)]
    ### END SOLUTION


# %%
check(split_minibatch)

# %% [markdown]
# Your shares at work: each thread takes its sequences through a whole RNN, and nobody meets in between.

# %%
from rnnlab.ladder import one_big_gemm
from rnnlab.network import Network

network = Network.create("rnn_tanh", 8, 16, seed=0)
x = np.random.default_rng(0).normal(size=(5, 7, 8)).astype("float32")
whole, *_ = one_big_gemm.forward(network, x)
shares = use(split_minibatch)(7, 3)
parts = [one_big_gemm.forward(network, x[:, lo:hi])[0] for lo, hi in shares]
print(shares, "give what one thread gives:", np.allclose(np.concatenate(parts, axis=1), whole, atol=1e-6))

# %% [markdown]
# ## Exercise: sum_gradients
#
# <!-- exercise: sum_gradients -->
#
# `gradients` [n,H,I] holds one gradient for each of n threads, in the order in which they were ready; `threads` [n] says whose: `gradients[k]` is from thread `threads[k]`. Threads are numbered from 0, each is there once.
#
# Return the sum [H,I], in the gradients' dtype. It must have the same bits whichever thread was ready first.


# %%
def sum_gradients(threads, gradients):
    """The sum [H,I] of the threads' gradients [n,H,I], the same bits in every run."""
    ### BEGIN SOLUTION
    total = np.zeros_like(gradients[0])
    for k in np.argsort(threads):
        total += gradients[k]
    return total
    ### END SOLUTION


# %%
check(sum_gradients)

# %% [markdown]
# Your two answers together: the gradient of a whole minibatch, from shares that were ready in any order.

# %%
dy = np.random.default_rng(1).normal(size=(5, 7, 16)).astype("float32")


def gradient(lo, hi):
    """Of weight_hh [H,H], from the sequences of one share."""
    _, _, saved = one_big_gemm.forward(network, x[:, lo:hi])
    return one_big_gemm.backward(network, saved, dy[:, lo:hi])[2]["weight_hh_l0"]


whole = gradient(0, 7)
ready = np.array([2, 0, 1])
total = use(sum_gradients)(ready, np.array([gradient(*shares[thread]) for thread in ready]))
print("the shares' gradients add up to the whole one:", np.allclose(total, whole, rtol=1e-4, atol=1e-5))

# %% [markdown]
# ## Exercise: amdahl_limit
#
# <!-- exercise: amdahl_limit -->
#
# One thread needs `serial` + `shared` seconds. With n threads the serial part stays, the shared one takes an n-th of its time, and each thread beyond the first costs `meeting` seconds. Up to `threads` threads are there.
#
# Return three things: how many threads make it fastest (of equals, the fewest), how many times as fast as one thread that is, and Amdahl's limit, the speed-up of endless threads whose meetings cost nothing.


# %%
def amdahl_limit(serial, shared, meeting, threads):
    """(best number of threads, speed-up over one thread, Amdahl's limit)"""
    ### BEGIN SOLUTION
    time = lambda n: serial + shared / n + meeting * (n - 1)
    best = min(range(1, threads + 1), key=time)
    return best, time(1) / time(best), (serial + shared) / serial
    ### END SOLUTION


# %%
check(amdahl_limit)

# %% [markdown]
# ## Exercise: choose_schedule
#
# <!-- exercise: choose_schedule -->
#
# A product of [M,K] by [K,N] on a machine with `registers` vector registers of `vector` numbers each, and `threads` threads. Return the order of work as a dictionary:
#
# | key | means |
# |---|---|
# | `"order"` | the loops over tiles, outermost first, such as `"mnk"` |
# | `"tile"` | `{"m": rows, "n": columns, "k": 1}`, done at a time; n is a multiple of a vector |
# | `"vectorise"` | numbers in a vector |
# | `"parallel"` | share the outermost loop between threads, where there are several |
#
# A tile of r rows and v vectors keeps r·v registers of sums, and needs v for a row of b and one for a number of a. It loads (r + v)/(r·v) times for each multiply-add: be within a quarter of the fewest that fit. At the end your schedule races against the serial one on this machine, and has to be 4 times as fast.


# %%
def choose_schedule(M, N, K, vector, registers, threads):
    """A schedule as plain data, a dictionary."""
    ### BEGIN SOLUTION
    fits = lambda rows, vectors: rows * vectors + vectors + 1 <= registers
    loads = lambda rows, vectors: (rows + vectors) / (rows * vectors)
    counts = range(1, registers)
    tiles = [(r, v) for r in counts for v in counts if fits(r, v) and r <= M and v * vector <= N]
    rows, vectors = min(tiles, key=lambda tile: loads(*tile))
    tile = {"m": rows, "n": vectors * vector, "k": 1}
    return {"order": "mnk", "tile": tile, "vectorise": vector, "parallel": threads > 1}
    ### END SOLUTION


# %%
check(choose_schedule)

# %%
progress("parallel_cpu")

# %% [markdown]
# # 07 · Threads: exercises
#
# A minibatch in shares, the sum of their gradients, and what more threads can gain.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(split_minibatch)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] split_minibatch

# %% [markdown]
# Your shares at work: each thread takes its sequences through a whole RNN, without a barrier in between.

# %%
from rnnlab.ladder import one_big_gemm
from rnnlab.network import Network

network = Network.create("rnn_tanh", 8, 16, seed=0)
x = np.random.default_rng(0).normal(size=(5, 7, 8)).astype("float32")
whole, *_ = one_big_gemm.forward(network, x)
shares = use(split_minibatch)(7, 3)
parts = [one_big_gemm.forward(network, x[:, lo:hi])[0] for lo, hi in shares]
print(shares, "give what one thread gives:", np.allclose(np.concatenate(parts, axis=1), whole, atol=1e-6))

# %% [exercise] sum_gradients

# %% [markdown]
# Your two answers together: the gradient of a whole minibatch, from shares that were ready in any order.

# %%
dy = np.random.default_rng(1).normal(size=(5, 7, 16)).astype("float32")


def share_gradient(lo, hi):
    """Of weight_hh [H,H], from the sequences of one share."""
    _, _, saved = one_big_gemm.forward(network, x[:, lo:hi])
    return one_big_gemm.backward(network, saved, dy[:, lo:hi])[2]["weight_hh_l0"]


whole_gradient = share_gradient(0, 7)
ready = np.array([2, 0, 1])
total = use(sum_gradients)(ready, np.array([share_gradient(*shares[thread]) for thread in ready]))
print("the shares' gradients add up to the whole one:", np.allclose(total, whole_gradient, rtol=1e-4, atol=1e-5))

# %% [exercise] amdahl_limit

# %%
progress("07_parallel_cpu")

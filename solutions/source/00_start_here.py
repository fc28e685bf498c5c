# %% [markdown]
# # 00 · Start here: exercises
#
# Replace each `raise NotImplementedError` by your answer and run the cell, then run the `check` below it.
# A check draws new numbers every time, so an answer that passes is right for more than one example.
# Stuck? `hint(last_step)` opens one hint, and once more the next one. Nothing leaves this machine.

# %%
import time

import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: last_step
#
# <!-- exercise: last_step -->
#
# The outputs of a network for a whole minibatch are one array `y [T,B,H]`: `T` steps, `B` sequences, `H` units.
# Return the outputs of all sequences at the **last step**. In the lesson you mended a wrong answer; write it once more here.

# %%
def last_step(y):
    """The outputs [B,H] at the last step of y [T,B,H]."""
    ### BEGIN SOLUTION
    return y[-1]
    ### END SOLUTION


# %%
check(last_step)

# %% [markdown]
# ## Exercise: count_rnn_flops
#
# <!-- exercise: count_rnn_flops -->
#
# One layer computes, for each step and each sequence, two products: its weights `weight_ih [H,I]` times the input and
# `weight_hh [H,H]` times the state. A multiplication and an addition are **2 FLOP** (floating-point operations).
# Count the FLOP of all products in a forward pass through `L` layers. The first layer reads `I` inputs; every
# other layer reads the `H` outputs of the layer below. Biases and tanh are left out: they need no product.

# %%
def count_rnn_flops(T, B, I, H, L):
    """FLOP (an int) of the products in a forward pass: T steps, B sequences, I inputs, H units, L layers."""
    ### BEGIN SOLUTION
    first = H * (I + H)
    deeper = H * (H + H)
    return 2 * T * B * (first + (L - 1) * deeper)
    ### END SOLUTION


# %%
check(count_rnn_flops)

# %% [markdown]
# Used: how much work is one minibatch of the network that you meet in lesson 03?

# %%
work = use(count_rnn_flops)(T=100, B=32, I=64, H=256, L=2)
print(f"{work / 1e9:.2f} GFLOP")

# %% [markdown]
# ## Exercise: measure_gemm
#
# <!-- exercise: measure_gemm -->
#
# A rate is only worth something if you know how it was measured. Your recipe:
#
# 1. call `multiply()` once and forget that run (the first one also fills caches and starts threads);
# 2. then `repeats` times: read `clock()`, call `multiply()`, read `clock()` again;
# 3. take the **median** of the `repeats` durations;
# 4. return the rate in **GFLOP/s** (10⁹ FLOP a second).
#
# One call of `multiply()` is a product of an [m,k] array with a [k,n] array. `clock()` gives **nanoseconds**, and
# `repeats` is odd. The check brings a clock of its own, whose every reading it knows.

# %%
def measure_gemm(multiply, clock, m, n, k, repeats):
    """Median rate in GFLOP/s of multiply(), a product [m,k] x [k,n]; clock() is in nanoseconds, repeats odd."""
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

# %% [markdown]
# Used, with the real clock of this machine:

# %%
a = np.ones((512, 512), np.float32)
rate = use(measure_gemm)(lambda: a @ a, time.perf_counter_ns, m=512, n=512, k=512, repeats=9)
print(f"{rate:.1f} GFLOP/s in float32 for a product of two 512 x 512 arrays")

# %% [markdown]
# ## Where you stand

# %%
progress("start_here")

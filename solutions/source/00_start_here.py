# %% [markdown]
# # 00 · Start here: exercises
#
# Run the first cell. Then replace each `raise NotImplementedError` by your answer, run its cell, and run the `check` below it.
# A check draws new numbers every time, so an answer that passes is right for more than one example.
# Stuck? `hint(last_step)` shows the first hint, and the next one when you call it again. Nothing leaves this machine.

# %%
import time

import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] last_step

# %% [exercise] count_rnn_flops

# %% [markdown]
# Used: how much work is one minibatch of the network that you meet in lesson 03?

# %%
work = use(count_rnn_flops)(T=100, B=32, I=64, H=256, L=2)
print(f"{work / 1e9:.2f} GFLOP")

# %% [exercise] measure_gemm

# %% [markdown]
# Used, with the real clock of this machine:

# %%
a = np.ones((512, 512), np.float32)
rate = use(measure_gemm)(lambda: a @ a, time.perf_counter_ns, m=512, n=512, k=512, repeats=9)
print(f"{rate:.1f} GFLOP/s in float32 for a product of two 512 x 512 arrays")

# %% [markdown]
# ## Where you stand

# %%
progress("00_start_here")

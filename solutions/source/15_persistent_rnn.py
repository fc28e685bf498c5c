# %% [markdown]
# # 15 · Weights that stay: exercises
#
# What fits on a chip, which thread stores which weight, blocks that synchronise, a kernel that reads its weights once, and the memory that a small minibatch saves.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(fits_on_chip)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, use

# %% [exercise] fits_on_chip

# %% [exercise] tile_for_thread

# %% [exercise] flag_barrier

# %% [exercise] persistent_rnn_kernel

# %% [exercise] activation_memory

# %% [markdown]
# The claim that started it: a minibatch of 4 in place of 64 leaves room for many more layers. 700 steps, 1 152 units, 6 GB:

# %%
for B in (64, 16, 4):
    saved, layers = use(activation_memory)(700, B, 1152, 4, 6 * 10**9)
    print(f"minibatch {B:2}: {saved / 1e6:6.1f} MB a layer, {layers} layers")

# %%
progress("persistent_rnn")

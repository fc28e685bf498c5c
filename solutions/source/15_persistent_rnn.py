# %% [markdown]
# # 15 · Weights that stay: exercises
#
# Which thread stores which weight, blocks that synchronise, a kernel that reads its weights once, and the minibatch that lets a network be deep.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(tile_for_thread)` shows the first hint, and the next one when you call it again.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, replay, use

# %% [exercise] tile_for_thread

# %% [exercise] flag_barrier

# %% [exercise] persistent_rnn_kernel

# %% [exercise] choose_minibatch

# %% [markdown]
# What your choice is worth on the TitanX of the group, 700 steps of 1,152 units in 6 GB. `registers` are the 216 that a thread gave to weights. Nobody published the prices of a launch and a barrier there; those of lesson 16, on an H200, stand in for them.

# %%
from pocketgpu.devices import DEVICES
from rnnlab.kernels.persistence.floor import H200

titan = DEVICES["TitanX"]
device = {"memory": 6 * 10**9, "registers": 216 * 256 * 4 * 24, "bandwidth": titan.bandwidth, "peak": titan.peak,
          "launch": H200.launch, "barrier": H200.grid_barrier}
for layers in (7, 30, 60, 110):
    B, stays, step = use(choose_minibatch)(700, 1152, layers, device)
    _, _, launched = use(choose_minibatch)(700, 1152, layers, device | {"registers": 0})
    print(f"{layers:3} layers: minibatch {B:3}, {step:5.1f} µs a step {'with weights that stay' if stays else 'by launches'}; "
          f"by launches {launched:5.1f}, {launched / step:.1f} times as long")

# %%
progress("15_persistent_rnn")

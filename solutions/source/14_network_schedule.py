# %% [markdown]
# # 14 · Do four layers take four times as long? Exercises
#
# An order along diagonals, streams with their events, and how many inputs to multiply at once.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(wavefront_order)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] wavefront_order

# %% [exercise] assign_streams

# %% [exercise] choose_input_batch

# %% [markdown]
# What it chooses for 100 steps, with a launch that takes as long as the arithmetic of two steps:

# %%
for layers in (1, 2, 4, 8):
    k, time = use(choose_input_batch)(100, layers, 6.0, 1.0, 2.0)
    print(f"{layers} layers: {k} steps at a time, {time:.0f} µs")

# %%
progress("14_network_schedule")

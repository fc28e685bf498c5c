# %% [markdown]
# # 05 · Shapes of products: exercises
#
# Work for each byte, and products over several steps at once.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(arithmetic_intensity)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] arithmetic_intensity

# %% [markdown]
# What does your machine need? The roofs are measured now.

# %%
from rnncourse.lab import roofline

roof = roofline.measure()
for H in (64, 256, 1024, 4096):
    intensity, smallest = use(arithmetic_intensity)(32, H, 4, roof.peak, roof.bandwidth)
    print(f"H={H:5}: {intensity:5.1f} FLOP a byte at B = 32; arithmetic is the limit from B = {smallest or '–'}")

# %% [exercise] batch_input_gemm

# %% [markdown]
# Time it on your machine with 1, 2, 8 and all steps at a time:

# %%
from rnncourse.lab.turns import take_turns

rng = np.random.default_rng(0)
weights = rng.normal(size=(1024, 512)).astype("float32")
sequence = rng.normal(size=(64, 16, 512)).astype("float32")
multiply_rows = lambda rows: rows @ weights.T
multiply_rows.outputs = 1024
batched = use(batch_input_gemm)
times = take_turns({k: lambda k=k: batched(sequence, multiply_rows, k) for k in (1, 2, 8, 64)}, 7)
for k, timing in times.items():
    print(f"{k:3} steps at a time: {1e3 * timing.median:6.2f} ms")

# %%
progress("05_gemm_shapes")

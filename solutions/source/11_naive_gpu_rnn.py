# %% [markdown]
# # 11 · Is a busy GPU a full GPU? Exercises
#
# A GRU step as four small kernels, and the model of a product's time that lessons 11 to 14 use.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(step_kernels)` shows the first hint, and the next one when you call it again.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, replay, use

# %% [exercise] step_kernels

# %% [exercise] product_time

# %% [markdown]
# The lesson's product on an H200 (with the lesson's constants 30.8 µs), and on other GPUs. Where is it shortest?

# %%
from pocketgpu.devices import DEVICES

for name in ("M40", "V100", "A100", "H200"):
    sheet = DEVICES[name]
    one, four = (use(product_time)(64, rows, 512, sheet.multiprocessors, sheet.peak) for rows in (512, 2048))
    print(f"{name}: one gate {one:.1f} µs, four gates {four:.1f} µs, {four / one:.2f} times as long")

# %%
progress("11_naive_gpu_rnn")

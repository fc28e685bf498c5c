# %% [markdown]
# # 11 · A naive GPU RNN: exercises
#
# A GRU step as four small kernels, and a count of what a whole forward pass launches.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(step_kernels)` opens one hint, and once more the next one.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress

# %% [exercise] step_kernels

# %% [exercise] launch_count

# %%
progress("naive_gpu_rnn")

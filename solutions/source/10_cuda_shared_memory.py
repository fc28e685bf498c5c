# %% [markdown]
# # 10 · Shared memory: exercises
#
# A product from tiles, a sum within a block, a sum within a warp, and a tile whose columns do not queue for one bank.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(tiled_matmul_kernel)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, cuda, hint, progress, replay

# %% [exercise] tiled_matmul_kernel

# %% [exercise] block_sum_kernel

# %% [exercise] warp_sum_kernel

# %% [exercise] transpose_without_conflicts

# %%
progress("10_cuda_shared_memory")

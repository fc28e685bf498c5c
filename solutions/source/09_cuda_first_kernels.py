# %% [markdown]
# # 09 · First kernels: exercises
#
# Three kernels of your own, and one that somebody left with a race in it. Replace each `raise NotImplementedError` by your
# answer, run the cell, then the `check` below it. Without a GPU the kernels run in the simulator, thread by thread; with one,
# they run there. Stuck? `hint(saxpy_kernel)` shows the first hint, and the next one when you call it again.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, replay

# %% [exercise] saxpy_kernel

# %% [exercise] tanh_kernel

# %% [markdown]
# ## Given: a kernel with a race
#
# Each block smooths its own numbers, in a ring: `steps` times, every number becomes the mean of itself and its two neighbours.
# At most 32 threads a block. Launch it and read the finding.


# %%
@cuda.jit
def smooth_with_a_race(x, steps):
    """x, n numbers a block: `steps` times the mean of each number and its neighbours in the block's ring."""
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    for _ in range(steps):
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        part[i] = mean
    x[cuda.grid(1)] = part[i]


cuda.observe(smooth_with_a_race, 1, 8, np.arange(8, dtype="float32"), 2)

# %% [exercise] fix_the_race

# %% [exercise] transpose_coalesced

# %%
progress("09_cuda_first_kernels")

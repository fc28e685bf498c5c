# %% [markdown]
# # 13 · A layer in few kernels: exercises
#
# Weights transposed once, input products of several steps, and weight gradients after the loop.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(transpose_once)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] transpose_once

# %% [exercise] batch_inputs

# %% [exercise] weight_gradient_after_loop

# %% [markdown]
# On this machine: one product with all steps against one for each step.

# %%
from rnncourse.lab.turns import take_turns

rng = np.random.default_rng(0)
d, before = rng.normal(size=(50, 16, 512)).astype("float32"), rng.normal(size=(50, 16, 512)).astype("float32")


def step_by_step():
    total = np.zeros((512, 512), "float32")
    for d_t, h_t in zip(d, before, strict=True):
        total += d_t.T @ h_t
    return total


ways = {"a product a step": step_by_step, "one after the loop": lambda: d.reshape(800, 512).T @ before.reshape(800, 512)}
times = {name: timing.median for name, timing in take_turns(ways, 7).items()}
for name, seconds in times.items():
    print(f"{name:20} {1e3 * seconds:6.2f} ms")
print("shorter in this run:", min(times, key=times.get))

# %%
progress("fused_layer")

# %% [markdown]
# # 12 · A cell in few kernels: exercises
#
# All gates from two products, an LSTM's pointwise work in one kernel, and its backward pass.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(group_gates)` shows the first hint, and the next one when you call it again.

# %%
import math

import numpy as np

from rnnlab import check, cuda, hint, progress, replay, use

# %% [exercise] group_gates

# %% [exercise] lstm_pointwise_kernel

# %% [exercise] lstm_pointwise_backward_kernel

# %% [markdown]
# Is it the gradient? Change one number a little and compare with the difference of two forward launches.

# %%
rng = np.random.default_rng(0)
B, H = 2, 3
sums, c = (rng.normal(size=size).astype("float32") for size in ((B, 4 * H), (B, H)))


def forward(sums):
    """The sum of the new h that the forward kernel computes, and the arrays that it saves."""
    gates, c_next, h_next = np.zeros((B, 4 * H), "f4"), np.zeros((B, H), "f4"), np.zeros((B, H), "f4")
    lstm_pointwise_kernel[(1, 1), (4, 2)](sums, c, gates, c_next, h_next)
    return float(h_next.sum()), gates, c_next


try:
    _, gates, c_next = forward(sums)
    dsums, dc = np.zeros((B, 4 * H), "f4"), np.zeros((B, H), "f4")
    dc_next, dh_next = np.zeros((B, H), "f4"), np.ones((B, H), "f4")
    lstm_pointwise_backward_kernel[(1, 1), (4, 2)](gates, c, c_next, dh_next, dc_next, dsums, dc)
    nudge = np.zeros_like(sums)
    nudge[1, 4] = 0.01
    difference = (forward(sums + nudge)[0] - forward(sums - nudge)[0]) / 0.02
    print(f"from two forward launches {difference:.4f}, from the backward kernel {dsums[1, 4]:.4f}")
except NotImplementedError:
    print("write both kernels first")

# %%
progress("12_fused_cell")

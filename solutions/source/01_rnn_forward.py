# %% [markdown]
# # 01 · A recurrent network runs: exercises
#
# One step, then a sequence; weights that you set by hand, without any training; and last, a minibatch of sequences.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(rnn_step)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] rnn_step

# %% [exercise] rnn_forward

# %% [exercise] filter_weights

# %% [markdown]
# Used: the Sobel filter along a row that is dark, then bright, then dark again.

# %%
weight_ih, weight_hh, weight_out = use(filter_weights)(np.array([1.0, 0.0, -1.0]))
row, h, answer = [0, 0, 1, 1, 1, 1, 0, 0], np.zeros(len(weight_hh)), []
for pixel in row:
    h = weight_ih[:, 0] * pixel + weight_hh @ h
    answer.append(float(weight_out[0] @ h))
print(row)
print(answer)

# %% [exercise] rnn_forward_batched

# %% [markdown]
# Used: 200 steps of 64 sequences. Outside the check, `multiply` is simply NumPy's own product.

# %%
rng = np.random.default_rng(1)
x = rng.standard_normal((200, 64, 8))
weights = [0.3 * rng.standard_normal(shape) for shape in ((32, 8), (32, 32), 32, 32)]
states = use(rnn_forward_batched)(np.matmul, x, np.zeros((64, 32)), *weights)
print(states.shape, "mean |h|:", np.abs(states[1:]).mean().round(2))

# %% [markdown]
# ## Where you stand

# %%
progress("01_rnn_forward")

# %% [markdown]
# # 18 · Parallel in time: exercises
#
# Two maps as one, a scan by chunks, a block's scan on a GPU, a backward pass by one scan, and the states of a nonlinear network all at once.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(compose_affine)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, cuda, hint, progress, replay, use

# %% [exercise] compose_affine

# %% [exercise] scan_by_chunks

# %% [markdown]
# Both together, on maps of numbers: 60 steps from state 0. The last column of a prefix is the state after its step. The loop beside it has 59 levels, your scan 15.

# %%
rng = np.random.default_rng(0)
maps = rng.uniform(-0.9, 0.9, (60, 3, 4))
h, stepwise = np.zeros(3), []
for pair in maps:
    h = pair[:, :-1] @ h + pair[:, -1]
    stepwise.append(h)
prefixes, ends = use(scan_by_chunks)(use(compose_affine), maps)
print("largest difference:", np.abs(prefixes[..., -1] - stepwise).max())

# %% [exercise] block_scan_kernel

# %% [exercise] backward_by_scan

# %% [exercise] newton_states

# %% [markdown]
# Try it: a tanh network of 8 units, 100 steps, 2 sequences. Change `gain`: at which one are there more than 20 rounds?

# %%
gain, T, B, n = 1.0, 100, 2, 8
weights = gain * rng.standard_normal((n, n)) / np.sqrt(n)
inputs, slopes = rng.standard_normal((T, B, n)), []


def step(before):
    """States [T,B,n] after each step; the slopes stay for scan."""
    after = np.tanh(before @ weights.T + inputs)
    slopes[:] = 1 - after**2
    return after


def scan(residual):
    """e[t] = J[t] e[t-1] + residual[t], by a loop, because this is a CPU."""
    e = [residual[0]]
    for t in range(1, T):
        e.append(slopes[t] * (e[-1] @ weights.T) + residual[t])
    return np.stack(e)


states, rounds = use(newton_states)(step, scan, np.zeros((B, n)), T, 1e-9)
print(f"{rounds} rounds for {T} steps")

# %%
progress("18_parallel_in_time")

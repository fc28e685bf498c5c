# %% [markdown]
# # 16 · Tensor cores, registers, clusters: exercises
#
# A line of CUDA C++, the words of a tile that a lane holds, the weights that a thread can store, and the lower bound of a step.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(index_of_sums)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] index_of_sums

# %% [exercise] pack_fragment

# %% [markdown]
# Is every word in its place? Put each lane's words back where the manual has them: the tile must come back.

# %%
words_in_order = np.arange(128, dtype="uint32").reshape(16, 8)
fragment, rebuilt = use(pack_fragment)(words_in_order), np.zeros((16, 8), int)
for lane in range(32):
    g, t = divmod(lane, 4)
    for register, word in enumerate(fragment[lane]):
        rebuilt[g + 8 * (register % 2), t + 4 * (register // 2)] += int(word)
print("every word in its place:", np.array_equal(rebuilt, words_in_order))

# %% [exercise] register_budget

# %% [markdown]
# An LSTM of 1 024 units over 128 blocks, with 82 registers beside its weights. Do more warps help?

# %%
budget = use(register_budget)
for itemsize in (2, 4):
    for warps in (4, 8, 16):
        words, most, fits = budget(4, 1024, itemsize, 128, warps, 82)
        print(f"{itemsize} bytes, {warps:2} warps: {words:3} words, at most {most} registers: {'fits' if fits else 'does not fit'}")

# %% [exercise] steps_floor

# %% [markdown]
# What would faster pushes change, and what not? An LSTM of 512 units, 128 blocks, or clusters of 16 with 8 warps each. Predicted from the published and estimated latencies of lesson 16; 642.9 TFLOP/s are 65 % of the data sheet's 989, what `mma` reached on an H800.

# %%
gpu = {"multiprocessors": 132, "clock": 1.755, "tflops": 642.9, "exchange": 0.302, "push": 0.25, "l2": 0.151,
       "l2_bandwidth": 9800}
floors = use(steps_floor)
for bandwidth in (10, 23, 50):
    steps = [floors(4, 512, B, 128, 16, 8, gpu | {"push_bandwidth": bandwidth}) for B in (8, 64, 128)]
    print(f"pushes at {bandwidth} GB/s:", "; ".join(f"grid {grid:.2f}, cluster {cluster:.2f} µs" for grid, cluster in steps))

# %%
progress("persistent_cuda")

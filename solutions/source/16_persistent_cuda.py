# %% [markdown]
# # 16 · Tensor cores, registers, clusters: exercises
#
# Rounding to 16 bits, a line of CUDA C++, the words of a tile that a lane holds, and the weights that a thread can store.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(index_of_sums)` shows the first hint, and the next one when you call it again.

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
# An LSTM of 1,024 units over 128 blocks, with 82 registers beside its weights. Do more warps help?

# %%
budget = use(register_budget)
for itemsize in (2, 4):
    for warps in (4, 8, 16):
        words, most, fits = budget(4, 1024, itemsize, 128, warps, 82)
        print(f"{itemsize} bytes, {warps:2} warps: {words:3} words, at most {most} registers: {'fits' if fits else 'does not fit'}")

# %%
progress("16_persistent_cuda")

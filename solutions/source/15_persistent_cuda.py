# %% [markdown]
# # 15 · Tensor cores, registers, clusters: exercises
#
# What a lane holds of a tile, what a thread can keep, and what a step cannot be faster than.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(pack_fragment)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: pack_fragment
#
# <!-- exercise: pack_fragment -->
#
# `tile` is [16,8] of uint32: 16 rows of 8 words, the first factor of `mma`. Lane 4g + t of the warp, g from 0 to 7 and t from 0 to 3, holds four of its words, in this order: word t of row g, word t of row g + 8, word t + 4 of row g, word t + 4 of row g + 8.
#
# Return [32,4] of uint32: what each lane holds.


# %%
def pack_fragment(tile):
    """[32,4] uint32 of tile [16,8] uint32."""
    ### BEGIN SOLUTION
    held = np.empty((32, 4), "uint32")
    for lane in range(32):
        g, t = lane // 4, lane % 4
        held[lane] = tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
    return held
    ### END SOLUTION


# %%
check(pack_fragment)

# %% [markdown]
# A product with the words where the manual wants them: lane by lane, words taken for whole numbers, and the tile comes back.

# %%
tile = np.arange(128, dtype="uint32").reshape(16, 8)
held, product = use(pack_fragment)(tile), np.zeros((16, 8), int)
for lane in range(32):
    g, t = divmod(lane, 4)
    for register, word in enumerate(held[lane]):
        product[g + 8 * (register % 2), t + 4 * (register // 2)] += int(word)
print("every word in its place:", np.array_equal(product, tile))

# %% [markdown]
# ## Exercise: register_budget
#
# <!-- exercise: register_budget -->
#
# A layer has recurrent weights [gates·H, H] of `itemsize` bytes, 2 or 4. They are cut into pairs of tiles: 16 rows by 16 words of 4 bytes each; where rows or words do not fill the last pair, zeros do. Pairs are dealt out to `blocks` blocks of `warps` warps, all equally, and what is left over rounds up. A pair takes 8 words in each of a warp's 32 lanes.
#
# A block runs alone on its multiprocessor. Its threads share 65 536 registers of one word, and none may have more than 255. Beside its weights a thread needs `beside` registers.
#
# Return three things: the words of weights a thread keeps, the most registers it may have, and whether weights and the rest fit, True or False.


# %%
def register_budget(gates, H, itemsize, blocks, warps, beside):
    """(words of weights a thread, most registers a thread, do they fit?)"""
    ### BEGIN SOLUTION
    pairs = -(-gates * H // 16) * -(-H * itemsize // 64)
    words = 8 * -(-pairs // (blocks * warps))
    most = min(255, 65536 // (32 * warps))
    return words, most, words + beside <= most
    ### END SOLUTION


# %%
check(register_budget)

# %% [markdown]
# An LSTM of 1 024 units over 128 blocks, with 82 registers beside its weights. Do more warps help?

# %%
budget = use(register_budget)
for itemsize in (2, 4):
    for warps in (4, 8, 16):
        words, most, fits = budget(4, 1024, itemsize, 128, warps, 82)
        print(f"{itemsize} bytes, {warps:2} warps: {words:3} words, at most {most} registers: {'fits' if fits else 'does not fit'}")

# %% [markdown]
# ## Exercise: steps_floor
#
# <!-- exercise: steps_floor -->
#
# Numbers of 2 bytes; the minibatch B is filled up to a multiple of 8. A product of B sequences takes 2·gates·H²·B operations, shared out equally over the multiprocessors that have a block. `gpu` is a dict:
#
# - `multiprocessors`, `clock` in GHz, `tflops` of all tensor cores together (1 TFLOP/s is 10⁶ operations a microsecond)
# - `exchange`, `push`, `l2`: microseconds; `l2_bandwidth`, `push_bandwidth`: GB/s (1 GB/s is 10³ bytes a microsecond)
#
# **Grid:** an exchange, until every block has polled what the last one published; then each of `blocks` blocks reads all of h, B·H numbers, through the second-level cache: what that takes beyond `l2`, since the exchange has that in it; then the product, by `blocks` multiprocessors.
#
# **Cluster:** each has `cluster` blocks, one a multiprocessor, and 8 sequences. A push; then all h of the 8 sequences into each block at `push_bandwidth`; then the longer of two things that run side by side: the product of 8 sequences by `cluster` multiprocessors, and each of a block's `warps` warps reading all h of 8 sequences from shared memory, 128 bytes a clock in all. A cluster starts when there is room for all its blocks. Where not all clusters find room at once, they take turns, each turn with as many as there is room for.
#
# Return both, microseconds a step.


# %%
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    """(µs of the grid kernel's step, µs of the cluster kernel's)"""
    ### BEGIN SOLUTION
    B = -(-B // 8) * 8
    speed = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    moved = blocks * B * H * 2 / (gpu["l2_bandwidth"] * 1e3)
    grid = gpu["exchange"] + max(0, moved - gpu["l2"]) + 2 * gates * H * H * B / (speed * blocks)
    turns = -(-(B // 8) // (gpu["multiprocessors"] // cluster))
    product = 2 * gates * H * H * 8 / (speed * cluster)
    read = warps * 8 * H * 2 / 128 / (gpu["clock"] * 1e3)
    pushed = 8 * H * 2 / (gpu["push_bandwidth"] * 1e3)
    return grid, turns * (gpu["push"] + pushed + max(product, read))
    ### END SOLUTION


# %%
check(steps_floor)

# %% [markdown]
# What faster pushes would change, and what it would not: an LSTM of 512 units, 128 blocks, or clusters of 16 with 8 warps each. Predicted, from the figures on paper of lesson 15.

# %%
gpu = {"multiprocessors": 132, "clock": 1.755, "tflops": 593.4, "exchange": 0.302, "push": 0.25, "l2": 0.151,
       "l2_bandwidth": 9800}
floors = use(steps_floor)
for bandwidth in (10, 20, 40):
    steps = [floors(4, 512, B, 128, 16, 8, gpu | {"push_bandwidth": bandwidth}) for B in (8, 64, 128)]
    print(f"pushes at {bandwidth} GB/s:", "; ".join(f"grid {grid:.2f}, cluster {cluster:.2f} µs" for grid, cluster in steps))

# %%
progress("persistent_cuda")

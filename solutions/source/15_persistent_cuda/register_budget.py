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

# %% [facts]
# points: 2
# difficulty: 3
# minutes: 15
# lines: 4

# %% [hint]
# Count pairs of tiles first: how many stand below one another, how many side by side? Then deal them out to all warps
# of all blocks; a pair is not cut.

# %% [hint]
# A pair has 16 rows by 16 words of 4 bytes, so a row of H numbers needs ⌈H·itemsize / 64⌉ of them. A warp that keeps
# n pairs has 8·n words in each lane. A block's threads, 32 a warp, share 65 536 registers, and none has more than
# 255.

# %% [hint]
# `pairs = -(-gates * H // 16) * -(-H * itemsize // 64)`; `words = 8 * ` the pairs of a warp, rounded up; `most =
# min(255, 65536 // (32 * warps))`; it fits if `words + beside <= most`.

# %% [mistake] takes every number for a word of 32 bits
# - -H * itemsize
# + -H * 4

# %% [mistake] forgets the gates
# - -gates * H
# + -H

# %% [mistake] deals out single words, not whole pairs of tiles
# - 8 * -(-pairs // (blocks * warps))
# + -(-gates * H * H * itemsize // (128 * blocks * warps))

# %% [mistake] leaves the last pairs without a warp
# - 8 * -(-pairs // (blocks
# + 8 * (pairs // (blocks

# %% [mistake] counts one tile of the pair
# - words = 8 *
# + words = 4 *

# %% [mistake] keeps the whole matrix in each block
# - (blocks * warps)
# + warps

# %% [mistake] leaves no registers for anything but weights
# - words + beside <=
# + words <=

# %% [mistake] forgets that a block's threads share the registers
# - min(255, 65536 // (32 * warps))
# + 255

# %% [mistake] gives a thread more than 255
# - min(255, 65536 // (32 * warps))
# + 65536 // (32 * warps)

# %% [mistake] refuses what fits exactly
# - words + beside <=
# + words + beside <

# %% [right]
import math
def register_budget(gates, H, itemsize, blocks, warps, beside):
    down, across = math.ceil(gates * H / 16), math.ceil(H * itemsize / 64)
    of_a_warp = math.ceil(down * across / (blocks * warps))
    most = 65536 // (warps * 32)
    if most > 255:
        most = 255
    return of_a_warp * 8, most, not of_a_warp * 8 + beside > most

# %% [right]
def register_budget(gates, H, itemsize, blocks, warps, beside):
    down, across = (gates * H + 15) // 16, (H * itemsize + 63) // 64
    tiles, everybody = down * across * 2, blocks * warps
    words = 0
    while words // 8 * everybody * 2 < tiles:
        words += 8
    room = np.minimum(255, 65536 // (32 * warps))
    return words, int(room), bool(room - beside >= words)

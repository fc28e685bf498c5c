# %% [markdown]
# ## Exercise: register_budget
#
# <!-- exercise: register_budget -->
#
# A layer has recurrent weights [gates·H, H] of `itemsize` bytes, 2 or 4. The matrix is cut into pairs of tiles. A pair has 16 rows by 16 words of 4 bytes; the last pairs are filled with zeros. Pairs are distributed over the warps of `blocks` blocks with `warps` warps each: every warp reserves room for the same number of whole pairs, rounded up. A pair takes 8 words in each of a warp's 32 lanes.
#
# A block runs alone on its multiprocessor. Its threads share 65,536 registers of one word, and a thread may have at most 255. (Hardware hands out registers in groups of 8; leave that out here.) Beside its weights a thread needs `beside` registers.
#
# Return three things: how many words of weights a thread stores, how many registers it may have at most, and whether weights and the others fit into them, True or False.


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

# %% [properties]
# points: 2
# difficulty: 3
# minutes: 15
# lines: 4

# %% [hint]
# Count pairs of tiles first: how many rows of pairs, how many columns? Then distribute them over all warps of all
# blocks; a pair is never cut.

# %% [hint]
# A pair has 16 rows by 16 words of 4 bytes, so a row of H numbers needs ⌈H·itemsize / 64⌉ of them. A warp that stores
# n pairs has 8·n words in each lane. A block's threads, 32 a warp, share 65,536 registers, and none has more than
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

# %% [mistake] distributes single words, not whole pairs of tiles
# - 8 * -(-pairs // (blocks * warps))
# + -(-gates * H * H * itemsize // (128 * blocks * warps))

# %% [mistake] leaves the last pairs without a warp
# - 8 * -(-pairs // (blocks
# + 8 * (pairs // (blocks

# %% [mistake] counts one tile of the pair
# - words = 8 *
# + words = 4 *

# %% [mistake] stores the whole matrix in each block
# - (blocks * warps)
# + warps

# %% [mistake] leaves no registers for anything but weights
# - words + beside <=
# + words <=

# %% [mistake] does not divide the registers by the threads of a block
# - min(255, 65536 // (32 * warps))
# + 255

# %% [mistake] gives a thread more than 255
# - min(255, 65536 // (32 * warps))
# + 65536 // (32 * warps)

# %% [mistake] refuses what fits exactly
# - words + beside <=
# + words + beside <

# %% [mistake] does not round rows up to whole tiles
# - -(-gates * H // 16) * -(-H * itemsize // 64)
# + -(-(gates * H / 16 * -(-H * itemsize // 64)) // 1)

# %% [mistake] rounds each gate up by itself
# - -(-gates * H // 16)
# + gates * -(-H // 16)

# %% [mistake] forgets that 32 lanes share a pair
# - words = 8 *
# + words = 256 *

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

# %% [variant] registers=20480..61440:4096
# - 65,536 registers
# + {registers} registers
# - 65536
# + {registers}

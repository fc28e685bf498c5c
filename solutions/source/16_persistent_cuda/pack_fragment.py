# %% [markdown]
# ## Exercise: pack_fragment
#
# <!-- exercise: pack_fragment -->
#
# `tile` [16,8] of uint32 has 16 rows of 8 words; it is the first factor of `mma`. Lane 4g + t of the warp, g from 0 to 7 and t from 0 to 3, holds four of its words, in this order: word t of row g, word t of row g + 8, word t + 4 of row g, word t + 4 of row g + 8.
#
# Return the four words of each lane, [32,4] of uint32.


# %%
def pack_fragment(tile):
    """[32,4] uint32 of tile [16,8] uint32."""
    ### BEGIN SOLUTION
    fragment = np.empty((32, 4), "uint32")
    for lane in range(32):
        g, t = lane // 4, lane % 4
        fragment[lane] = tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
    return fragment
    ### END SOLUTION


# %%
check(pack_fragment)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 5

# %% [hint]
# The tile has 16·8 words, the warp 32 lanes: four words each. A lane's number has two parts, g and t. How do you compute
# them?

# %% [hint]
# Lane 4g + t has g = lane // 4 and t = lane % 4. Its rows are g and g + 8, its words t and t + 4; both rows of word t
# come first, then both rows of word t + 4.

# %% [hint]
# `fragment[lane] = tile[g, t], tile[g + 8, t], …` for each of 32 lanes, in an array [32,4] of uint32; or reshape the tile
# to [2, 8, 2, 4] (row half, g, word half, t) and transpose.

# %% [mistake] distributes the words in the order of memory
# - tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
# + tile.reshape(32, 4)[lane]

# %% [mistake] takes rows for words
# - tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
# + tile[t, g], tile[t + 8, g], tile[t + 4, g], tile[t + 12, g]

# %% [mistake] swaps g and t in the lane's number
# - lane // 4, lane % 4
# + lane % 8, lane // 8

# %% [mistake] swaps the second word and the third
# - tile[g + 8, t], tile[g, t + 4]
# + tile[g, t + 4], tile[g + 8, t]

# %% [mistake] takes two rows side by side
# - tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
# + tile[2 * g, t], tile[2 * g + 1, t], tile[2 * g, t + 4], tile[2 * g + 1, t + 4]

# %% [mistake] takes two words side by side
# - tile[g, t], tile[g + 8, t], tile[g, t + 4], tile[g + 8, t + 4]
# + tile[g, 2 * t], tile[g + 8, 2 * t], tile[g, 2 * t + 1], tile[g + 8, 2 * t + 1]

# %% [mistake] takes one row twice
# - tile[g + 8, t]
# + tile[g, t]

# %% [mistake] forgets words 4 to 7
# - tile[g, t + 4], tile[g + 8, t + 4]
# + tile[g, t], tile[g + 8, t]

# %% [mistake] returns int64
# - np.empty((32, 4), "uint32")
# + np.empty((32, 4), "int64")

# %% [mistake] passes the words through float32, which holds 24 bits
# - return fragment
# + return fragment.astype("float32").astype("uint32")

# %% [right]
def pack_fragment(tile):
    parts = np.ascontiguousarray(tile).reshape(2, 8, 2, 4)
    return parts.transpose(1, 3, 2, 0).reshape(32, 4)

# %% [right]
def pack_fragment(tile):
    lane, register = np.arange(32)[:, None], np.arange(4)[None]
    return tile[lane // 4 + 8 * (register % 2), lane % 4 + 4 * (register // 2)]

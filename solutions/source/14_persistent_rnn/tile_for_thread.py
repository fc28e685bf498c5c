# %% [markdown]
# ## Exercise: tile_for_thread
#
# <!-- exercise: tile_for_thread -->
#
# A block has `warps` warps of 32 threads; a warp has `units` units, all their gates, and counts on from block to block. The lanes of a warp share the H columns out: lane 0 has columns 0, 32, 64, … Gate g of unit u is row g·H + u of the weights.
#
# Return the weights of one thread, a list of pairs (row, column), in any order.


# %%
def tile_for_thread(block, thread, H, gates, units, warps):
    """The weights [gates·H, H] that this thread keeps, as (row, column)."""
    ### BEGIN SOLUTION
    warp, lane = block * warps + thread // 32, thread % 32
    mine = range(warp * units, min((warp + 1) * units, H))
    return [(gate * H + unit, column) for unit in mine for gate in range(gates) for column in range(lane, H, 32)]
    ### END SOLUTION


# %%
check(tile_for_thread)

# %% [facts]
# points: 2
# difficulty: 3
# minutes: 15
# lines: 4

# %% [hint]
# Find the warp first, counted through the whole grid, and the thread's lane in it. Which units does that warp have,
# and which columns has the lane?

# %% [hint]
# Warp w has units w·units … (w+1)·units, as far as there are H. Gate g of unit u is row g·H + u. A lane has columns
# lane, lane + 32, lane + 64, …

# %% [hint]
# `warp = block * warps + thread // 32`, `lane = thread % 32`; then three loops: units of the warp, gates,
# `range(lane, H, 32)`.

# %% [mistake] counts warps inside the block only
# - block * warps + thread // 32
# + thread // 32

# %% [mistake] takes the thread's number for the lane
# - thread % 32
# + thread

# %% [mistake] gives every thread the warp's whole rows
# - range(lane, H, 32)
# + range(H)

# %% [mistake] gives a lane one column only
# - range(lane, H, 32)
# + range(lane, min(lane + 1, H))

# %% [mistake] keeps one gate only
# - for gate in range(gates)
# + for gate in range(1)

# %% [mistake] puts a unit's gates side by side in the rows
# - gate * H + unit
# + unit * gates + gate

# %% [mistake] has units that are not there
# - min((warp + 1) * units, H)
# + (warp + 1) * units

# %% [mistake] gives each warp one unit
# - range(warp * units, min((warp + 1) * units, H))
# + range(warp, min(warp + 1, H))

# %% [mistake] turns rows and columns round
# - (gate * H + unit, column)
# + (column, gate * H + unit)

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    found = []
    for row in range(gates * H):
        for column in range(H):
            warp = row % H // units
            if warp // warps == block and warp % warps * 32 + column % 32 == thread:
                found.append((row, column))
    return found

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    rows = [u + g * H for g in range(gates) for u in range(first, first + units) if u < H]
    columns = np.arange(thread % 32, H, 32)
    return [(row, int(column)) for column in columns for row in rows]

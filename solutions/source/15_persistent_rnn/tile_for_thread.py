# %% [markdown]
# ## Exercise: tile_for_thread
#
# <!-- exercise: tile_for_thread -->
#
# A block has `warps` warps of 32 threads. Each warp has `units` consecutive units with all their gates; warps are numbered from block to block, so the first warp of block 1 follows the last warp of block 0. If H is not divisible, the last warps have fewer units or none. The columns are distributed over the lanes: lane 0 has columns 0, 32, 64, …, lane 1 has columns 1, 33, 65, … Gate g of unit u is row g·H + u of the weights.
#
# Return the weights of one thread, a list of pairs (row, column), in any order.


# %%
def tile_for_thread(block, thread, H, gates, units, warps):
    """The elements of the weights [gates·H, H] that this thread stores, as
    (row, column)."""
    ### BEGIN SOLUTION
    warp, lane = block * warps + thread // 32, thread % 32
    mine = range(warp * units, min((warp + 1) * units, H))
    return [(gate * H + unit, column) for unit in mine for gate in range(gates) for column in range(lane, H, 32)]
    ### END SOLUTION


# %%
check(tile_for_thread)

# %% [properties]
# points: 2
# difficulty: 3
# minutes: 15
# lines: 4

# %% [hint]
# Find the warp first, counted through the whole grid, and the thread's lane in it. Which units does that warp have,
# and which columns has the lane?

# %% [hint]
# Warp w has units w·units … (w+1)·units, but none beyond H − 1. Gate g of unit u is row g·H + u. A lane has columns
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

# %% [mistake] stores one gate only
# - for gate in range(gates)
# + for gate in range(1)

# %% [mistake] puts a unit's gates side by side in the rows
# - gate * H + unit
# + unit * gates + gate

# %% [mistake] has units beyond H − 1
# - min((warp + 1) * units, H)
# + (warp + 1) * units

# %% [mistake] gives each warp one unit
# - range(warp * units, min((warp + 1) * units, H))
# + range(warp, min(warp + 1, H))

# %% [mistake] swaps rows and columns
# - (gate * H + unit, column)
# + (column, gate * H + unit)

# %% [mistake] gives a lane neighbouring columns
# - range(lane, H, 32)
# + range(lane * -(-H // 32), min((lane + 1) * -(-H // 32), H))

# %% [mistake] swaps lane and warp
# - warp, lane = block * warps + thread // 32, thread % 32
# + warp, lane = block * warps + thread % warps, thread // warps

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    weights = []
    for row in range(gates * H):
        for column in range(H):
            warp = row % H // units
            if warp // warps == block and warp % warps * 32 + column % 32 == thread:
                weights.append((row, column))
    return weights

# %% [right]
def tile_for_thread(block, thread, H, gates, units, warps):
    first = (block * warps + thread // 32) * units
    rows = [u + g * H for g in range(gates) for u in range(first, first + units) if u < H]
    columns = np.arange(thread % 32, H, 32)
    return [(row, int(column)) for column in columns for row in rows]

# %% [variant] first=2..9
# - Each warp has `units` consecutive units with all their gates;
# + Another grid has the units before unit {first}; of the others, from unit {first} on, each warp has `units` consecutive units with all their gates;
# - range(warp * units, min((warp + 1) * units, H))
# + range({first} + warp * units, min({first} + (warp + 1) * units, H))
# - min((warp + 1) * units, H)
# + min({first} + (warp + 1) * units, H)
# - (warp + 1) * units
# + {first} + (warp + 1) * units
# - range(warp, min(warp + 1, H))
# + range({first} + warp, min({first} + warp + 1, H))
# - warp = row % H // units
# + warp = (row % H - {first}) // units
# - first = (block * warps + thread // 32) * units
# + first = {first} + (block * warps + thread // 32) * units
# - Warp w has units w·units … (w+1)·units, but none
# + Warp w has units {first} + w·units … {first} + (w+1)·units, but none

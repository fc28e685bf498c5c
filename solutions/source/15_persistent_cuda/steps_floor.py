# %% [markdown]
# ## Exercise: steps_floor
#
# <!-- exercise: steps_floor -->
#
# Numbers of 2 bytes; the minibatch B is filled up to a multiple of 8. A product of B sequences takes 2·gates·H²·B operations, shared out equally over the multiprocessors that have a block. `gpu` is a dict:
#
# - `multiprocessors`, `clock` in GHz, `tflops` of all tensor cores together (1 TFLOP/s is 10⁶ operations a microsecond)
# - `barrier`, `push`, `l2`: microseconds; `l2_bandwidth`: GB/s (1 GB/s is 10³ bytes a microsecond)
#
# **Grid:** a barrier; then each of `blocks` blocks reads all of h, B·H numbers, through the second-level cache: what that takes beyond `l2`, since the barrier has that in it; then the product, by `blocks` multiprocessors.
#
# **Cluster:** each has `cluster` blocks, one a multiprocessor, and 8 sequences. A push; then the longer of two things that run side by side: the product of 8 sequences by `cluster` multiprocessors, and each of a block's `warps` warps reading all h of 8 sequences from shared memory, 128 bytes a clock in all. A cluster starts when there is room for all its blocks. Where not all clusters find room at once, they take turns, each turn with as many as there is room for.
#
# Return both, microseconds a step.


# %%
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    """(µs of the grid kernel's step, µs of the cluster kernel's)"""
    ### BEGIN SOLUTION
    B = -(-B // 8) * 8
    speed = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    moved = blocks * B * H * 2 / (gpu["l2_bandwidth"] * 1e3)
    grid = gpu["barrier"] + max(0, moved - gpu["l2"]) + 2 * gates * H * H * B / (speed * blocks)
    turns = -(-(B // 8) // (gpu["multiprocessors"] // cluster))
    product = 2 * gates * H * H * 8 / (speed * cluster)
    read = warps * 8 * H * 2 / 128 / (gpu["clock"] * 1e3)
    return grid, turns * (gpu["push"] + max(product, read))
    ### END SOLUTION


# %%
check(steps_floor)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 8

# %% [hint]
# A step is a sum of parts that wait for one another. For each kernel ask: how long until the others' h is there, what
# must be moved, what must be multiplied, and by how many multiprocessors?

# %% [hint]
# Grid: barrier, then blocks·B·H·2 bytes at l2_bandwidth as far as that takes longer than l2, then 2·gates·H²·B
# operations by `blocks` multiprocessors. Cluster: push, then the longer of its 8 sequences' operations and its warps'
# reading, for each turn. Fill B up to eights first.

# %% [hint]
# `B = -(-B // 8) * 8`; `speed = tflops * 1e6 / multiprocessors`; grid = barrier + max(0, moved - l2) + 2·gates·H²·B /
# (speed·blocks); turns = ⌈B/8 / (multiprocessors // cluster)⌉; read = warps·8·H·2 / 128 / (clock·1e3); cluster's =
# turns · (push + max(product, read)).

# %% [mistake] forgets that blocks read h
# - max(0, moved - gpu["l2"]) + 2
# + 2

# %% [mistake] lets one block read h for all
# - moved = blocks * B
# + moved = B

# %% [mistake] counts the latency of the second-level cache twice
# - max(0, moved - gpu["l2"])
# + moved

# %% [mistake] multiplies with all multiprocessors in a cluster
# - (speed * cluster)
# + (speed * gpu["multiprocessors"])

# %% [mistake] does not fill up the minibatch
# - B = -(-B // 8) * 8
# + B = B

# %% [mistake] takes GB/s for bytes a microsecond
# - gpu["l2_bandwidth"] * 1e3
# + gpu["l2_bandwidth"]

# %% [mistake] runs all clusters at once
# - turns * (
# + (

# %% [mistake] forgets that warps read h from shared memory
# - max(product, read)
# + product

# %% [mistake] adds what runs at the same time
# - max(product, read)
# + product + read

# %% [mistake] begins with a cluster that has not all its blocks
# - // (gpu["multiprocessors"] // cluster)
# + * cluster // gpu["multiprocessors"]

# %% [right]
import math
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    tiles = math.ceil(B / 8)
    of_a_tile = 2 * gates * H**2 * 8
    one = gpu["tflops"] * 1e12 / gpu["multiprocessors"] / 1e6
    row = 8 * H * 2
    broadcast = tiles * row * blocks / gpu["l2_bandwidth"] / 1000 - gpu["l2"]
    grid = gpu["barrier"] + tiles * of_a_tile / one / blocks
    if broadcast > 0:
        grid += broadcast
    work = max(of_a_tile / one / cluster, warps * row / 128 / gpu["clock"] / 1000)
    return grid, math.ceil(tiles / (gpu["multiprocessors"] // cluster)) * (gpu["push"] + work)

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    sequences = int(8 * np.ceil(B / 8))
    seconds = lambda flops, many: flops * gpu["multiprocessors"] / many / (gpu["tflops"] * 1e12)
    waited = np.clip(blocks * sequences * H * 2e-9 / gpu["l2_bandwidth"] - gpu["l2"] * 1e-6, 0, None)
    grid = gpu["barrier"] * 1e-6 + waited + seconds(2 * gates * H * H * sequences, blocks)
    turns = np.ceil(sequences / 8 / (gpu["multiprocessors"] // cluster))
    inside = max(seconds(16 * gates * H * H, cluster), warps * H / (8e9 * gpu["clock"]))
    return float(grid * 1e6), float(turns * (gpu["push"] + inside * 1e6))

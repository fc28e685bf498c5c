# %% [markdown]
# ## Exercise: steps_floor
#
# <!-- exercise: steps_floor -->
#
# Numbers have 2 bytes. First round the minibatch B up to a multiple of 8. A product of B sequences takes 2·gates·H²·B operations, distributed equally over the multiprocessors that run a block. `gpu` is a dict:
#
# - `multiprocessors`, `clock` in GHz, `tflops` of all multiprocessors together (1 TFLOP/s is 10⁶ operations a microsecond)
# - `exchange`, `push`, `l2`: microseconds; `l2_bandwidth`, `push_bandwidth`: GB/s (1 GB/s is 10³ bytes a microsecond)
#
# For instance, with n multiprocessors the product takes 2·gates·H²·B / (tflops·10⁶·n / multiprocessors) microseconds.
#
# **Grid.** Three parts, one after the other. (1) An `exchange`. (2) Each of `blocks` blocks reads all of h, B·H numbers, through the second-level cache, which delivers `l2_bandwidth` to all blocks together: take the time of these bytes, subtract `l2`, and take 0 if that is negative. (The exchange contains one latency of the cache already.) (3) The product, by `blocks` multiprocessors.
#
# **Cluster.** A cluster has `cluster` blocks, one on each multiprocessor, and computes 8 sequences. Two parts, one after the other. (1) A `push`. (2) The longest of three parts that run at the same time: all of h of the 8 sequences goes into each block, and each block receives at `push_bandwidth`; the product of 8 sequences by `cluster` multiprocessors; and the reads from shared memory, in which each of a block's `warps` warps reads all of h of the 8 sequences, 128 bytes a clock for the whole block. A cluster starts when there is room for all of its blocks; assume that any multiprocessors can form a cluster. If not all clusters have room at the same time, they run in rounds, as many clusters in a round as have room, and the rounds' times add up.
#
# Return both times, microseconds a step.


# %%
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    """(µs of the grid kernel's step, µs of the cluster kernel's)"""
    ### BEGIN SOLUTION
    B = -(-B // 8) * 8
    speed = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    moved = blocks * B * H * 2 / (gpu["l2_bandwidth"] * 1e3)
    grid = gpu["exchange"] + max(0, moved - gpu["l2"]) + 2 * gates * H * H * B / (speed * blocks)
    rounds = -(-(B // 8) // (gpu["multiprocessors"] // cluster))
    product = 2 * gates * H * H * 8 / (speed * cluster)
    read = warps * 8 * H * 2 / 128 / (gpu["clock"] * 1e3)
    pushed = 8 * H * 2 / (gpu["push_bandwidth"] * 1e3)
    return grid, rounds * (gpu["push"] + max(pushed, product, read))
    ### END SOLUTION


# %%
check(steps_floor)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 8

# %% [hint]
# A step is a sum of parts that wait for one another. For each kernel write down: the latency until the others' h has arrived,
# the bytes that are moved, the operations, and the number of multiprocessors.

# %% [hint]
# Grid: exchange, then the time of blocks·B·H·2 bytes at l2_bandwidth minus l2 (at least 0), then 2·gates·H²·B
# operations by `blocks` multiprocessors. Cluster: push, then the longest of 8·H·2 bytes at push_bandwidth, its 8
# sequences' operations and its warps' reads, for each round. Round B up to a multiple of 8 first.

# %% [hint]
# `B = -(-B // 8) * 8`; `speed = tflops * 1e6 / multiprocessors`; grid = exchange + max(0, moved - l2) + 2·gates·H²·B
# / (speed·blocks); rounds = ⌈B/8 / (multiprocessors // cluster)⌉; read = warps·8·H·2 / 128 / (clock·1e3); pushed =
# 8·H·2 / (push_bandwidth·1e3); cluster's = rounds · (push + max(pushed, product, read)).

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

# %% [mistake] does not round the minibatch up to 8
# - B = -(-B // 8) * 8
# + B = B

# %% [mistake] runs all clusters at once
# - rounds * (
# + (

# %% [mistake] forgets the bytes of the pushes
# - max(pushed, product, read)
# + max(product, read)

# %% [mistake] forgets that warps read h from shared memory
# - max(pushed, product, read)
# + max(pushed, product)

# %% [mistake] adds what runs at the same time
# - max(pushed, product, read)
# + (pushed + product + read)

# %% [mistake] lets h arrive before anything else begins
# - max(pushed, product, read)
# + pushed + max(product, read)

# %% [mistake] starts clusters without room for all of their blocks
# - // (gpu["multiprocessors"] // cluster)
# + * cluster // gpu["multiprocessors"]

# %% [mistake] takes the longest part in place of the sum
# - gpu["exchange"] + max(0, moved - gpu["l2"]) + 2 * gates * H * H * B / (speed * blocks)
# + max(gpu["exchange"], moved - gpu["l2"], 2 * gates * H * H * B / (speed * blocks))

# %% [mistake] forgets the exchange
# - gpu["exchange"] + max
# + max

# %% [mistake] counts a multiply-add as one operation
# -     speed = gpu["tflops"] * 1e6
# +     speed = 2 * gpu["tflops"] * 1e6

# %% [right]
import math
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    tiles = math.ceil(B / 8)
    of_a_tile = 2 * gates * H**2 * 8
    one = gpu["tflops"] * 1e12 / gpu["multiprocessors"] / 1e6
    row = 8 * H * 2
    broadcast = tiles * row * blocks / gpu["l2_bandwidth"] / 1000 - gpu["l2"]
    grid = gpu["exchange"] + tiles * of_a_tile / one / blocks
    if broadcast > 0:
        grid += broadcast
    work = max(of_a_tile / one / cluster, warps * row / 128 / gpu["clock"] / 1000)
    arrives = row / gpu["push_bandwidth"] / 1000
    return grid, math.ceil(tiles / (gpu["multiprocessors"] // cluster)) * (gpu["push"] + max(work, arrives))

# %% [right]
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    sequences = int(8 * np.ceil(B / 8))
    seconds = lambda flops, many: flops * gpu["multiprocessors"] / many / (gpu["tflops"] * 1e12)
    waited = np.clip(blocks * sequences * H * 2e-9 / gpu["l2_bandwidth"] - gpu["l2"] * 1e-6, 0, None)
    grid = gpu["exchange"] * 1e-6 + waited + seconds(2 * gates * H * H * sequences, blocks)
    rounds = np.ceil(sequences / 8 / (gpu["multiprocessors"] // cluster))
    inside = max(seconds(16 * gates * H * H, cluster), warps * H / (8e9 * gpu["clock"]))
    inside = max(inside * 1e6, 16e-3 * H / gpu["push_bandwidth"])
    return float(grid * 1e6), float(rounds * (gpu["push"] + inside))

"""A linear recurrence h[t] = a[t] h[t−1] + b[t] scanned by a grid in one pass: decoupled look-back.

The idea is Merrill and Garland's (2016), in NVIDIA's CUB.  A warp scans 32 steps by shuffles and publishes
the map of all 32.  Then one lane goes back over the blocks before it: where a block has published its map
alone, it composes and continues; where a block knows its last state, it stops.  Every step is read once and
written once: 2 words read, 1 written, beside 3 words and a flag a block.

grid: T/32 blocks of one warp; a flag is 0 (nothing yet), MAP (the block's map) or STATE (its last state).
A loop that waits for a block before it must know that this block has started.  CUDA starts blocks in any
order, so each block takes a ticket from an atomic counter: the ticket, not blockIdx, is its place in time.
"""

import numpy as np

from pocketgpu import cuda

LANES = 32
ALL = 0xFFFFFFFF
MAP = 1
STATE = 2


@cuda.jit(device=True)
def scan_of_warp(a, b, lane):
    """(a, b) of steps 0 … lane of the warp, as one map: five levels of Hillis and Steele."""
    distance = 1
    while distance < LANES:
        a_before = cuda.shfl_up_sync(ALL, a, distance)
        b_before = cuda.shfl_up_sync(ALL, b, distance)
        if lane >= distance:
            b = a * b_before + b
            a = a * a_before
        distance *= 2
    return a, b


@cuda.jit(device=True)
def look_back(block, flags, maps, ends):
    """The state before this block: maps of blocks before it are composed back to one whose state is known."""
    a = np.float32(1)
    b = np.float32(0)
    before = block - 1
    flag = 0
    while before >= 0 and flag != STATE:
        flag = cuda.atomic.add(flags, before, 0)
        if flag != 0:
            cuda.threadfence()  # what was published before the flag is read after it
        if flag == MAP:
            b = a * maps[before, 1] + b
            a = a * maps[before, 0]
            before -= 1
    if before < 0:
        return b
    return a * ends[before] + b


@cuda.jit(device=True)
def scan_of_block(a, b, h, block, flags, maps, ends):
    """States of the 32 steps of one block; `block` counts in the order of time."""
    lane = cuda.threadIdx.x
    t = block * LANES + lane
    last = lane == LANES - 1
    a_all, b_all = scan_of_warp(a[t], b[t], lane)
    before = np.float32(0)
    if last:
        maps[block, 0] = a_all
        maps[block, 1] = b_all
        cuda.threadfence()
        cuda.atomic.exch(flags, block, MAP)
        before = look_back(block, flags, maps, ends)
        ends[block] = a_all * before + b_all
        cuda.threadfence()
        cuda.atomic.exch(flags, block, STATE)
    h[t] = a_all * cuda.shfl_sync(ALL, before, LANES - 1) + b_all


@cuda.jit
def scan_with_tickets(a, b, h, ticket, flags, maps, ends):
    """h [T] from a, b [T] and state 0; zeros: ticket [1], flags [T/32], maps [T/32,2], ends [T/32]."""
    block = 0
    if cuda.threadIdx.x == 0:
        block = cuda.atomic.add(ticket, 0, 1)
    scan_of_block(a, b, h, cuda.shfl_sync(ALL, block, 0), flags, maps, ends)


@cuda.jit
def scan_without_tickets(a, b, h, ticket, flags, maps, ends):
    """The same by blockIdx: right only where blocks start in the order of their numbers."""
    scan_of_block(a, b, h, cuda.blockIdx.x, flags, maps, ends)


def arguments(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arguments of both kernels for a, b [T] in float32; h is the third.  T is a multiple of 32."""
    blocks = len(a) // LANES
    h = np.zeros_like(a)
    ticket = np.zeros(1, "int32")
    flags = np.zeros(blocks, "int32")
    maps = np.zeros((blocks, 2), "float32")
    ends = np.zeros(blocks, "float32")
    return a, b, h, ticket, flags, maps, ends

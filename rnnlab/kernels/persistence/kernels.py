"""The loop over time as one kernel: weights are read once, into registers, and stay there to the end.

At each step every block needs all of h, and gives its own units' part.  h goes through the history that the
backward pass wants anyway: each place is written once, so no block can read an old value where a new one is
due, or overwrite what another still reads.  Between the steps all blocks synchronise: each sets a flag
when its part is written, and waits for the flags of all others.  There is no atomic addition, and every sum
has one order: two runs give the same bits.  A block that waits for too long gives up and sets `failed`, so
that the device does not hang.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from pocketgpu import cuda
from pocketgpu.device_functions import load_acquire, load_relaxed, nanoseconds
from rnnlab.kernels.persistence.pointwise import pointwise
from rnnlab.kernels.persistence.tiles import LANES, Tiles

PATIENCE = 200_000_000  # nanoseconds that a block waits for another; then something is wrong
LOOKS = 64  # at a flag between two looks at the clock
ALL_LANES = 0xFFFFFFFF


@cuda.jit(device=True)
def grid_barrier(flags, failed, step):
    """Barrier of all blocks, after which their stores are visible; not 0 if a block is missing at `step`."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.exch(flags, cuda.blockIdx.x, step)
    late = 0  # 1: a flag that this thread reads did not come; to read `failed` too would take a step's time
    start = nanoseconds()
    for block in range(cuda.threadIdx.x, cuda.gridDim.x, cuda.blockDim.x):
        looks = 0
        while late == 0 and load_acquire(flags, block) < step:
            looks += 1
            if looks % LOOKS == 0 and nanoseconds() - start > PATIENCE:
                late = 1
    if late:
        cuda.atomic.max(failed, 0, step)
    return cuda.syncthreads_or(late)


@cuda.jit(device=True)
def warp_sum(value):
    """The sum over the warp's lanes, in every lane, always in the same order."""
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(ALL_LANES, value, distance)
    return value


@cache
def weight_loader(G: int, U: int, C: int, H: int, dtype: str, by_rows: bool) -> tuple[Callable, Callable]:
    """load(mine [U,G·C], weights [G·H,H], first, lane), a lane's part of its units' rows, or columns; and
    dot(mine, u, g, row, lane), the lane's part of the product of unit u's gate g with a row [32·C].
    """
    zero = np.dtype(dtype).type(0)

    @cuda.jit(device=True)
    def load(mine, weights, first, lane):
        for u in range(U):
            unit = first + u
            for g in range(G):
                for c in range(C):
                    other = c * LANES + lane
                    row, column = (unit, other) if by_rows else (other, unit)
                    inside = unit < H and other < H
                    mine[u, g * C + c] = weights[g * H + row, column] if inside else zero

    @cuda.jit(device=True)
    def dot(mine, u, g, row, lane):
        total = zero
        for c in range(C):
            total += mine[u, g * C + c] * row[c * LANES + lane]
        return total

    return load, dot


@cache
def row_gatherer(G: int, U: int, C: int, H: int, dtype: str, dot: Callable) -> Callable:
    """gather(mine, sums, row, history, start, lane), with dot as weight_loader makes it by rows.

    Leaves in sums [G] the products of all gates with history[start:start + H], for the unit with the lane's
    number, of its warp's.  row [32·C] is where the block shares it.
    """
    WIDE = C * LANES
    zero = np.dtype(dtype).type(0)

    @cuda.jit(device=True)
    def gather(mine, sums, row, history, start, lane):
        for k in range(cuda.threadIdx.x, WIDE, cuda.blockDim.x):
            row[k] = load_relaxed(history, start + k) if k < H else zero
        cuda.syncthreads()
        for u in range(U):
            for g in range(G):
                part = dot(mine, u, g, row, lane)
                total = warp_sum(part)
                if lane == u:
                    sums[g] = total

    return gather


@cache
def forward_kernel(cell: str, tiles: Tiles, dtype: str) -> Callable:
    """kernel[tiles.blocks, tiles.threads](weights [G·H,H], vectors, gates, h, reserve, …).

    The last four are flags [blocks] and failed [1], 0 before, T and B.  The others: see pointwise.py.
    """
    G, U, C, H = tiles.sizes
    WARPS = tiles.warps
    WIDE = C * LANES
    PLACES = G * C
    point = pointwise(cell, dtype).forward
    scalar_type = np.dtype(dtype).type
    load, dot = weight_loader(*tiles.sizes, dtype, by_rows=True)
    gather = row_gatherer(*tiles.sizes, dtype, dot)

    @cuda.jit(device=True)
    def step(mine, sums, row, gates, vectors, h, reserve, t, b, B, first, lane):
        sequence = t * B + b  # its row in [T·B,.]
        gather(mine, sums, row, h, sequence * H, lane)
        unit = first + lane
        if lane < U and unit < H:
            before = sequence * H + unit
            after = before + B * H
            gate = sequence * G * H + unit
            point(sums, gates, gate, H, vectors, unit, h, before, after, reserve)
        cuda.syncthreads()

    @cuda.jit
    def persistent_forward(weights, vectors, gates, h, reserve, flags, failed, T, B):
        row = cuda.shared.array(WIDE, scalar_type)
        mine = cuda.local.array((U, PLACES), scalar_type)
        sums = cuda.local.array(G, scalar_type)
        lane = cuda.threadIdx.x % LANES
        warp = cuda.blockIdx.x * WARPS + cuda.threadIdx.x // LANES
        first = warp * U
        load(mine, weights, first, lane)
        for t in range(T):
            for b in range(B):
                step(mine, sums, row, gates, vectors, h, reserve, t, b, B, first, lane)
            if t + 1 < T and grid_barrier(flags, failed, t + 1):
                break

    return persistent_forward


@cache
def gradient_gatherer(G: int, U: int, C: int, H: int, dtype: str, dot: Callable) -> Callable:
    """gather_gradient(mine, row, dgates_h, t, b, B, is_nothing, lane), with dot of weight_loader by columns.

    Returns what the gates of step t send to the unit with the lane's number, of its warp's; 0 if it is
    nothing.  row [G, 32·C] is where the block shares it.
    """
    WIDE = C * LANES
    WIDTH = G * WIDE
    zero = np.dtype(dtype).type(0)

    @cuda.jit(device=True)
    def gather_gradient(mine, row, dgates_h, t, b, B, is_nothing, lane):
        for k in range(cuda.threadIdx.x, WIDTH, cuda.blockDim.x):
            g = k // WIDE
            column = k % WIDE
            inside = column < H and not is_nothing
            gate = (t * B + b) * G + g
            place = gate * H + column
            row[g, column] = load_relaxed(dgates_h, place) if inside else zero
        cuda.syncthreads()
        arrived = zero
        for u in range(U):
            total = zero
            for g in range(G):
                total += dot(mine, u, g, row[g], lane)
            total = warp_sum(total)
            if lane == u:
                arrived = total
        return arrived

    return gather_gradient


@cache
def backward_kernel(cell: str, tiles: Tiles, dtype: str) -> Callable:
    """kernel[…](weights, vectors, gates, h, reserve, dy, dh, carry, dgates, dgates_h, …): as forward.

    dy [T,B,H] and dh [B,H], the gradient of the last state, are flat like the rest; see pointwise.py.
    """
    G, U, C, H = tiles.sizes
    WARPS = tiles.warps
    WIDE = C * LANES
    point = pointwise(cell, dtype).backward
    scalar_type = np.dtype(dtype).type
    PLACES = G * C
    load, dot = weight_loader(*tiles.sizes, dtype, by_rows=False)
    gather_gradient = gradient_gatherer(*tiles.sizes, dtype, dot)

    @cuda.jit(device=True)
    def step(arrived, vectors, gates, h, reserve, dy, dh, carry, dgates, dgates_h, t, b, B, is_last, unit):
        sequence = t * B + b  # its row in [T·B,.]
        before = sequence * H + unit
        place = b * H + unit
        gate = sequence * G * H + unit
        arrived += dy[before]
        if is_last:
            arrived += dh[place]
        after = before + B * H
        point(
            arrived, gates, gate, H, vectors, unit, h, before, after, reserve, carry, place, dgates, dgates_h
        )

    @cuda.jit
    def persistent_backward(
        weights, vectors, gates, h, reserve, dy, dh, carry, dgates, dgates_h, flags, failed, T, B
    ):
        row = cuda.shared.array((G, WIDE), scalar_type)
        mine = cuda.local.array((U, PLACES), scalar_type)
        lane = cuda.threadIdx.x % LANES
        warp = cuda.blockIdx.x * WARPS + cuda.threadIdx.x // LANES
        first = warp * U
        load(mine, weights, first, lane)
        for back in range(T):
            t = T - 1 - back
            for b in range(B):
                is_last = back == 0
                unit = first + lane
                arrived = gather_gradient(mine, row, dgates_h, t + 1, b, B, is_last, lane)
                if lane < U and unit < H:
                    step(
                        arrived, vectors, gates, h, reserve, dy, dh, carry, dgates, dgates_h, t, b, B,
                        is_last, unit,
                    )  # fmt: skip
                cuda.syncthreads()
            if t > 0 and grid_barrier(flags, failed, back + 1):
                break

    return persistent_backward

"""The loop over time of a GRU that resets before its product: as in kernels.py, with two exchanges a step.

The candidate's product is with r∘h, so it waits for every unit's r.  r∘h goes through a history of its own,
which the weight gradient wants anyway.  Backward, d(r∘h) waits for every unit's dn, and dr for d(r∘h).  The
flags count barriers, not steps: two a step, without one after the last.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from pocketgpu import cuda
from rnnlab.kernels.persistence import pointwise
from rnnlab.kernels.persistence.kernels import gradient_gatherer, grid_barrier, row_gatherer, weight_loader
from rnnlab.kernels.persistence.tiles import LANES, Tiles

EARLY, LATE, GATES = (0, 2), (2, 3), 3  # r and z; n, whose product waits for r


@cache
def forward_halves(tiles: Tiles, dtype: str, dot: Callable) -> tuple[Callable, Callable]:
    """early(mine, sums, row, gates, h, reserve, at, first, lane), r, z and r∘h; late(…, at, B, first, lane),
    n and the next h.  at is t·B + b; dot is as weight_loader makes it by rows.
    """
    U, H, point = tiles.units, tiles.hidden, pointwise.reset_before(dtype)
    gather_early, gather_late = (row_gatherer(tiles, dtype, dot, gates) for gates in (EARLY, LATE))
    reset, finish = point.reset, point.forward

    @cuda.jit(device=True)
    def early(mine, sums, row, gates, h, reserve, at, first, lane):
        gather_early(mine, sums, row, h, at * H, lane)
        unit = first + lane
        if lane < U and unit < H:
            reset(sums, gates, at * GATES * H + unit, H, h, at * H + unit, reserve)
        cuda.syncthreads()

    @cuda.jit(device=True)
    def late(mine, sums, row, gates, h, reserve, at, B, first, lane):
        gather_late(mine, sums, row, reserve, at * H, lane)
        unit = first + lane
        if lane < U and unit < H:
            finish(sums, gates, at * GATES * H + unit, H, h, at * H + unit, (at + B) * H + unit)
        cuda.syncthreads()

    return early, late


@cache
def forward_kernel(tiles: Tiles, dtype: str) -> Callable:
    """kernel[…](weights, inner_bias, gates, h, reserve, …), as kernels.forward_kernel.

    reserve is r∘h [T,B,H].  inner_bias is not read: no bias stands apart from the input products here.
    """
    U, WARPS, WIDE, PLACES = tiles.units, tiles.warps, tiles.columns * LANES, GATES * tiles.columns
    scalar_type, (load, dot) = np.dtype(dtype).type, weight_loader(tiles, dtype, by_rows=True)
    early, late = forward_halves(tiles, dtype, dot)

    @cuda.jit
    def reset_before_forward(weights, inner_bias, gates, h, reserve, flags, failed, T, B):
        row = cuda.shared.array(WIDE, scalar_type)
        mine = cuda.local.array((U, PLACES), scalar_type)
        sums = cuda.local.array(GATES, scalar_type)
        lane = cuda.threadIdx.x % LANES
        first = (cuda.blockIdx.x * WARPS + cuda.threadIdx.x // LANES) * U
        load(mine, weights, first, lane)
        for t in range(T):
            for b in range(B):
                early(mine, sums, row, gates, h, reserve, t * B + b, first, lane)
            if grid_barrier(flags, failed, 2 * t + 1):
                break
            for b in range(B):
                late(mine, sums, row, gates, h, reserve, t * B + b, B, first, lane)
            if t + 1 < T and grid_barrier(flags, failed, 2 * t + 2):
                break

    return reset_before_forward


@cache
def backward_halves(tiles: Tiles, dtype: str, dot: Callable) -> tuple[Callable, Callable]:
    """late(mine, row, gates, h, dy, dh, carry, dgates, dgates_u, t, b, B, is_last, unit, lane), dz and dn,
    from what r and z of the step after send; early(mine, row, gates, h, carry, dgates, dgates_u, t, b, B,
    unit, lane), dr, from what n of the same step sends.  dot is as weight_loader makes it by columns.
    """
    U, H, point = tiles.units, tiles.hidden, pointwise.reset_before(dtype)
    arrive_early, arrive_late = (gradient_gatherer(tiles, dtype, dot, gates) for gates in (EARLY, LATE))
    start, reset = point.backward, point.reset_backward

    @cuda.jit(device=True)
    def late(mine, row, gates, h, dy, dh, carry, dgates, dgates_u, t, b, B, is_last, unit, lane):
        arrived = arrive_early(mine, row, dgates_u, t + 1, b, B, is_last, lane)
        if lane < U and unit < H:
            at, place = t * B + b, b * H + unit
            arrived += dy[at * H + unit] + (dh[place] if is_last else carry[place])
            start(arrived, gates, at * GATES * H + unit, H, h, at * H + unit, carry, place, dgates)
        cuda.syncthreads()

    @cuda.jit(device=True)
    def early(mine, row, gates, h, carry, dgates, dgates_u, t, b, B, unit, lane):
        arrived = arrive_late(mine, row, dgates_u, t, b, B, False, lane)
        if lane < U and unit < H:
            at = t * B + b
            reset(arrived, gates, at * GATES * H + unit, h, at * H + unit, carry, b * H + unit, dgates)
        cuda.syncthreads()

    return late, early


@cache
def backward_kernel(tiles: Tiles, dtype: str) -> Callable:
    """kernel[…](weights, gates, h, reserve, dy, dh, carry, dgates, dgates_u, …), as kernels.backward_kernel.

    dgates_u is dgates.  reserve is not read: dr needs d(r∘h) and h, not r∘h.
    """
    U, WARPS, WIDE, PLACES = tiles.units, tiles.warps, tiles.columns * LANES, GATES * tiles.columns
    scalar_type, (load, dot) = np.dtype(dtype).type, weight_loader(tiles, dtype, by_rows=False)
    late, early = backward_halves(tiles, dtype, dot)

    @cuda.jit
    def reset_before_backward(
        weights, gates, h, reserve, dy, dh, carry, dgates, dgates_u, flags, failed, T, B
    ):
        row = cuda.shared.array((2, WIDE), scalar_type)
        mine = cuda.local.array((U, PLACES), scalar_type)
        lane = cuda.threadIdx.x % LANES
        first = (cuda.blockIdx.x * WARPS + cuda.threadIdx.x // LANES) * U
        load(mine, weights, first, lane)
        for back in range(T):
            t = T - 1 - back
            for b in range(B):
                unit = first + lane
                late(mine, row, gates, h, dy, dh, carry, dgates, dgates_u, t, b, B, back == 0, unit, lane)
            if grid_barrier(flags, failed, 2 * back + 1):
                break
            for b in range(B):
                early(mine, row, gates, h, carry, dgates, dgates_u, t, b, B, first + lane, lane)
            if t > 0 and grid_barrier(flags, failed, 2 * back + 2):
                break

    return reset_before_backward

"""The backward pass of one layer, as one member of a team computes it.

Time steps run in chunks, last first.  In a chunk the recurrence leaves the gradients before the
nonlinearities, dg; then each member adds the chunk's part to its rows of the weight gradients, and computes
its rows of dx.  So dg has room for one chunk, not for all time steps, and is in the cache when it is used.
"""

from typing import NamedTuple

from numba import njit

from rnnlab.kernels.packed import steps
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.forward import ROWS_AT_ONCE
from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import OPTIONS, pack_panels
from rnnlab.kernels.packed.products import multiply_rows, multiply_transposed, multiply_unpacked
from rnnlab.kernels.packed.vectors import lanes, load, store

GRU, LSTM, RELU = steps.GRU, steps.LSTM, steps.RELU


class Gradients(NamedTuple):
    """Flat arrays of a layer's backward pass; D = G columns of dg a unit, a GRU's D = 4."""

    dy: object  # [T,B,H']
    carry: object  # [P,B,width]: dh after the last step comes in, dh before the first goes out
    memory: object  # [P,B,width]: an LSTM's dc; a GRU's part of dh that passes the products by; else no size
    dg: object  # room for [chunk+1,B,row_of_dg]: D·H' and a gap
    panels: object  # room for weight_hh as [P,G·H',width]
    dx: object  # [T,B,dx_row], of which I are inputs
    dx_row: int
    dw_ih: object  # [G·H,I]
    dw_hh: object  # [G·H,H]
    db: object  # [D,H], zeros come in


class Room(NamedTuple):
    """Flat arrays that a member alone writes to."""

    strips: object  # strip_room(K_BLOCK, M_BLOCK)
    block: object  # K_BLOCK steps of some panels
    spare: object  # a tile


@njit(**OPTIONS)
def run_backward(sizes, share, layer, gradients, room, counter):
    """Compute a share of all gradients."""
    dg_row = row_of_dg(sizes, lanes(layer.h))
    _pack(sizes, share, layer, gradients)
    if not share.waits:
        wait(counter, share.members)
    last = sizes.T - (sizes.T - 1) % sizes.chunk - 1
    for start in range(last, -1, -sizes.chunk):
        stop = min(sizes.T, start + sizes.chunk)
        for t in range(stop - 1, start - 1, -1):
            _step(sizes, share, layer, gradients, t, t - start)
            if share.waits:
                wait(counter, share.members)
        if not share.waits:
            wait(counter, share.members)
        _weight_gradients(sizes, share, layer, gradients, room, start, stop)
        _input_gradient(sizes, share, layer, gradients, room, start, stop)
        wait(counter, share.members)  # dg is about to be written again
        if start > 0:
            _keep_first_step(sizes, share, gradients, dg_row)
            wait(counter, share.members)
    for p in range(share.first, share.last):
        _carry(sizes, gradients, 0, p, share.low, share.high - share.low)


@njit(**OPTIONS)
def _step(sizes, share, layer, gradients, t, slot):
    """A share of time step t, whose dg goes into a slot of the chunk."""
    for p in range(share.first, share.last):
        for low in range(share.low, share.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, share.high - low)
            if t < sizes.T - 1:
                _carry(sizes, gradients, slot + 1, p, low, rows)
            _pointwise(sizes, layer, gradients, t, slot, p, low, rows)


@njit(**OPTIONS)
def _columns(sizes):
    """Columns of dg a unit."""
    return 4 if sizes.kind == GRU else sizes.G


@njit(**OPTIONS)
def row_of_dg(sizes, vector):
    """Distance of two rows of dg.

    One vector more than is needed: rows a multiple of 4 KB apart would share few places of the first cache.
    """
    return _columns(sizes) * sizes.P * VECTORS * vector + vector


@njit(**OPTIONS)
def _gate_of_input(sizes, d):
    """The gate whose input weights column d of dg belongs to, for d < G."""
    return (d + 2) % 3 if sizes.kind == GRU else d


@njit(**OPTIONS)
def _first_recurrent(sizes):
    """The first of the G columns of dg that belong to the recurrent weights, in the order of the gates."""
    return 1 if sizes.kind == GRU else 0


@njit(**OPTIONS)
def _pack(sizes, share, layer, gradients):
    """Pack this member's panels of the recurrent weights; rows past the H of a gate are 0."""
    H, P = sizes.H, sizes.P
    width = VECTORS * lanes(layer.h)
    for p in range(P * share.member // share.members, P * (share.member + 1) // share.members):
        panel, columns = p * sizes.G * P * width * width, min(width, H - p * width)
        for g in range(sizes.G):
            first = panel + g * P * width * width
            pack_panels(layer.weight_hh, g * H * H + p * width, H, H, columns, gradients.panels, first)
            for place in range(first + H * width, first + P * width * width):
                gradients.panels[place] = 0


@njit(**OPTIONS)
def _carry(sizes, gradients, slot, p, low, rows):
    """What the gates of a step send to the h before it: carry = dg U, one panel."""
    width = VECTORS * lanes(gradients.dg)
    units = sizes.P * width
    dg_row = row_of_dg(sizes, lanes(gradients.dg))
    at = (slot * sizes.B + low) * dg_row + _first_recurrent(sizes) * units
    K = sizes.G * units
    multiply_rows(
        rows, gradients.dg, at, dg_row, gradients.panels, p * K * width, K,
        gradients.carry, (p * sizes.B + low) * width, width, False,
    )  # fmt: skip


@njit(**OPTIONS)
def _pointwise(sizes, layer, gradients, t, slot, p, low, rows):
    """dg of a step, one panel."""
    P, B = sizes.P, sizes.B
    width = VECTORS * lanes(layer.h)
    units, at = P * width, (p * B + low) * width
    dg_row = row_of_dg(sizes, lanes(layer.h))
    dg, dy = (slot * B + low) * dg_row + p * width, (t * B + low) * units + p * width
    now = ((t * P + p) * B + low) * width
    if sizes.kind == LSTM:
        steps.lstm_backward(
            rows, layer.gates, now * 4, layer.extra, now, now + P * B * width,
            gradients.carry, gradients.memory, at, gradients.dy, dy, units, gradients.dg, dg, dg_row, units,
        )  # fmt: skip
    elif sizes.kind == GRU:
        steps.gru_backward(
            rows, layer.gates, now * 3, layer.extra, now, layer.h, dy, units,
            gradients.carry, gradients.memory, at, gradients.dy, dy, units, gradients.dg, dg, dg_row, units,
        )  # fmt: skip
    else:
        steps.rnn_backward(
            sizes.kind == RELU, rows, layer.h, dy + B * units, units, gradients.carry, at,
            gradients.dy, dy, units, gradients.dg, dg, dg_row,
        )  # fmt: skip


@njit(**OPTIONS)
def _keep_first_step(sizes, share, gradients, dg_row):
    """Move dg of the chunk's first step to behind the chunk, where the chunk before it will look."""
    rows = sizes.B * dg_row
    begin, end = rows * share.member // share.members, rows * (share.member + 1) // share.members
    for place in range(begin, end):
        gradients.dg[sizes.chunk * rows + place] = gradients.dg[place]


@njit(**OPTIONS)
def _weight_gradients(sizes, share, layer, gradients, room, start, stop):
    """Add the chunk's part to this member's rows of dw_ih, dw_hh and db."""
    I, H, B = sizes.I, sizes.H, sizes.B
    units = sizes.P * VECTORS * lanes(layer.h)
    dg_row, K, is_sum = row_of_dg(sizes, lanes(layer.h)), (stop - start) * B, stop < sizes.T
    low, high = H * share.member // share.members, H * (share.member + 1) // share.members
    for d in range(_columns(sizes)):
        _add_columns(K, gradients.dg, d * units + low, dg_row, gradients.db, d * H + low, high - low)
        if d < sizes.G:
            g = _gate_of_input(sizes, d)
            multiply_transposed(
                high - low, gradients.dg, d * units + low, dg_row, K,
                layer.x, start * B * layer.x_row, layer.x_row, I,
                gradients.dw_ih, (g * H + low) * I, I, is_sum, room.strips, room.block, room.spare,
            )  # fmt: skip
        g = d - _first_recurrent(sizes)
        if g >= 0:
            multiply_transposed(
                high - low, gradients.dg, d * units + low, dg_row, K, layer.h, start * B * units, units, H,
                gradients.dw_hh, (g * H + low) * H, H, is_sum, room.strips, room.block, room.spare,
            )  # fmt: skip


@njit(**OPTIONS)
def _add_columns(K, source, at, row, total, total_at, columns):
    """total [columns] += the sum of the K rows of source."""
    vector = lanes(source)
    whole = columns - columns % vector
    for j in range(0, whole, vector):
        result = load(total, total_at + j)
        for k in range(K):
            result = result + load(source, at + k * row + j)
        store(total, total_at + j, result)
    for k in range(K):
        for j in range(whole, columns):
            total[total_at + j] += source[at + k * row + j]


@njit(**OPTIONS)
def _input_gradient(sizes, share, layer, gradients, room, start, stop):
    """This member's rows of the chunk's dx = dg W."""
    I, H = sizes.I, sizes.H
    units = sizes.P * VECTORS * lanes(layer.h)
    dg_row, rows = row_of_dg(sizes, lanes(layer.h)), (stop - start) * sizes.B
    low, high = rows * share.member // share.members, rows * (share.member + 1) // share.members
    place = (start * sizes.B + low) * gradients.dx_row
    for d in range(sizes.G):
        g = _gate_of_input(sizes, d)
        multiply_unpacked(
            high - low, gradients.dg, low * dg_row + d * units, dg_row, H, layer.weight_ih, g * H * I, I, I,
            gradients.dx, place, gradients.dx_row, d > 0, room.block, room.spare,
        )  # fmt: skip

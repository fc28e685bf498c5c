"""The backward pass of one layer, as one member of a team computes it.

Time steps run in chunks, last first.  In a chunk the recurrence leaves the gradients before the
nonlinearities, dg; then each member adds the chunk's part to its rows of the weight gradients, and computes
its rows of dx.  So dg has room for one chunk, not for all time steps, and is in the cache when it is used.
"""

from typing import NamedTuple

from numba import njit

from rnnlab.kernels.packed import steps
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.forward import ROWS_AT_ONCE, part
from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_panels, pack_strips
from rnnlab.kernels.packed.products import K_BLOCK, M_BLOCK, multiply_rows, multiply_strips, multiply_unpacked
from rnnlab.kernels.packed.vectors import lanes, load, store

GRU, LSTM, RELU = steps.GRU, steps.LSTM, steps.RELU
FEW_PANELS = 4  # of a member: more of them are shared out evenly enough


class Gradients(NamedTuple):
    """Flat arrays of a layer's backward pass; D = G columns of dg a unit, a GRU's D = 4."""

    dy: object  # [T,B,H']
    carry: object  # [P,B,width]: dh after the last step comes in, dh before the first goes out
    memory: object  # [P,B,width]: an LSTM's dc; a GRU's part of dh that passes the products by; else no size
    dg: object  # room for [chunk,B,row_of_dg]: D·H' and a gap
    panels: object  # room for weight_hh as [P,G·H',width]
    operands: object  # room for a chunk's x and h, packed: [panels of I, then P, chunk·B, width]
    dx: object  # [T,B,dx_row], of which I are inputs
    dx_row: int
    dw_ih: object  # [G·H,I]
    dw_hh: object  # [G·H,H]
    db: object  # [D,H], zeros come in


class Room(NamedTuple):
    """Flat arrays that a member alone writes to."""

    packed: object  # strip_room(K_BLOCK, M_BLOCK) for dg, then K_BLOCK steps of some panels of weight_ih
    spare: object  # a tile


@njit(**OPTIONS)
def run_backward(sizes, share, layer, gradients, room, counter):
    """Compute a share of all gradients."""
    _pack(sizes, share, layer, gradients)
    if not share.waits:
        wait(counter, share.members)
    rows = share.high - share.low
    last = sizes.T - (sizes.T - 1) % sizes.chunk - 1
    for start in range(last, -1, -sizes.chunk):
        stop = min(sizes.T, start + sizes.chunk)
        _pack_operands(sizes, share, layer, gradients, start, stop)
        for t in range(stop - 1, start - 1, -1):
            _step(sizes, share, layer, gradients, t, start, stop)
            if share.waits:
                wait(counter, share.members)
        for p in range(share.first, share.last):
            _carry(sizes, gradients, 0, p, share.low, rows)
        if not share.waits:
            wait(counter, share.members)
        _weight_gradients(sizes, share, layer, gradients, room, start, stop)
        _input_gradient(sizes, share, layer, gradients, room, start, stop)
        wait(counter, share.members)  # dg and operands are about to be written again


@njit(**INNER)
def _step(sizes, share, layer, gradients, t, start, stop):
    """A share of time step t of the chunk start … stop; the chunk after it left carry for its last step."""
    for p in range(share.first, share.last):
        for low in range(share.low, share.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, share.high - low)
            if t < stop - 1:
                _carry(sizes, gradients, t + 1 - start, p, low, rows)
            _pointwise(sizes, layer, gradients, t, t - start, p, low, rows)


@njit(**INNER)
def _columns(sizes):
    """Columns of dg a unit."""
    return 4 if sizes.kind == GRU else sizes.G


@njit(**OPTIONS)
def row_of_dg(sizes, vector):
    """Distance of two rows of dg.

    One vector more than is needed: rows a multiple of 4 KB apart would share few places of the first cache.
    """
    return _columns(sizes) * sizes.P * VECTORS * vector + vector


@njit(**INNER)
def _gate_of_input(sizes, d):
    """The gate whose input weights column d of dg belongs to, for d < G."""
    return (d + 2) % 3 if sizes.kind == GRU else d


@njit(**INNER)
def _first_recurrent(sizes):
    """The first of the G columns of dg that belong to the recurrent weights, in the order of the gates."""
    return 1 if sizes.kind == GRU else 0


@njit(**INNER)
def _pack(sizes, share, layer, gradients):
    """Pack this member's panels of the recurrent weights; rows past the H of a gate are 0."""
    H, P = sizes.H, sizes.P
    width = VECTORS * lanes(layer.h)
    first, last = part(P, share)
    for p in range(first, last):
        panel, columns = p * sizes.G * P * width * width, min(width, H - p * width)
        for g in range(sizes.G):
            begin = panel + g * P * width * width
            pack_panels(layer.weight_hh, g * H * H + p * width, H, H, columns, gradients.panels, begin, H)
            for place in range(begin + H * width, begin + P * width * width):
                gradients.panels[place] = 0


@njit(**INNER)
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


@njit(**INNER)
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


@njit(**INNER)
def _pack_operands(sizes, share, layer, gradients, start, stop):
    """Pack this member's rows of what the chunk's dg is multiplied with: x, then h."""
    K = (stop - start) * sizes.B
    width = VECTORS * lanes(layer.h)
    units, of_x = sizes.P * width, (sizes.I + width - 1) // width * width
    low, high = part(K, share)
    first, place = start * sizes.B + low, low * width
    x, h = first * layer.x_row, first * units
    pack_panels(layer.x, x, layer.x_row, high - low, sizes.I, gradients.operands, place, K)
    pack_panels(layer.h, h, units, high - low, units, gradients.operands, of_x * K + place, K)


@njit(**INNER)
def _weight_gradients(sizes, share, layer, gradients, room, start, stop):
    """Add the chunk's part to this member's rows of dw_ih, dw_hh and db."""
    units, dg_row = sizes.P * VECTORS * lanes(layer.h), row_of_dg(sizes, lanes(layer.h))
    K = (stop - start) * sizes.B
    low, high = part(sizes.H, share)
    blocks = (high - low + M_BLOCK - 1) // M_BLOCK
    for d in range(_columns(sizes)):
        first, total = d * units + low, d * sizes.H + low
        _add_columns(K, gradients.dg, first, dg_row, gradients.db, total, high - low)
        for m in range(blocks):
            begin, end = (high - low) * m // blocks, (high - low) * (m + 1) // blocks
            for k in range(0, K, K_BLOCK):
                _add_block(sizes, gradients, room, d, low + begin, low + end, k, K, stop < sizes.T or k > 0)


@njit(**INNER)
def _add_block(sizes, gradients, room, d, low, high, k, K, is_sum):
    """Units low … high and K_BLOCK steps of column d of dg, packed once, times x and times h."""
    I, H, rows = sizes.I, sizes.H, high - low
    width = VECTORS * lanes(gradients.dg)
    steps, dg_row = min(K_BLOCK, K - k), row_of_dg(sizes, lanes(gradients.dg))
    pack_strips(gradients.dg, k * dg_row + d * sizes.P * width + low, dg_row, steps, rows, room.packed)
    x, h = k * width, (I + width - 1) // width * K * width + k * width
    if d < sizes.G:
        place = (_gate_of_input(sizes, d) * H + low) * I
        multiply_strips(
            rows, room.packed, steps, gradients.operands, x, K * width,
            I, gradients.dw_ih, place, I, is_sum, room.spare,
        )  # fmt: skip
    gate = d - _first_recurrent(sizes)
    if gate >= 0:
        multiply_strips(
            rows, room.packed, steps, gradients.operands, h, K * width,
            H, gradients.dw_hh, (gate * H + low) * H, H, is_sum, room.spare,
        )  # fmt: skip


@njit(**INNER)
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


@njit(**INNER)
def _input_gradient(sizes, share, layer, gradients, room, start, stop):
    """This member's part of the chunk's dx = dg W: panels of inputs, or rows where inputs are few.

    Whoever computes rows packs all of W, whoever computes panels those alone.
    """
    I, H = sizes.I, sizes.H
    width = VECTORS * lanes(layer.h)
    units, dg_row = sizes.P * width, row_of_dg(sizes, lanes(layer.h))
    panels, rows = (I + width - 1) // width, (stop - start) * sizes.B
    low, high, first, last = 0, rows, 0, I
    if panels % share.members == 0 or panels > FEW_PANELS * share.members:
        first, last = part(panels, share)
        first, last = first * width, min(I, last * width)
    else:
        low, high = part(rows, share)
    place = (start * sizes.B + low) * gradients.dx_row + first
    for d in range(sizes.G):
        weights = _gate_of_input(sizes, d) * H * I + first
        multiply_unpacked(
            high - low, gradients.dg, low * dg_row + d * units, dg_row, H, layer.weight_ih, weights, I,
            last - first, gradients.dx, place, gradients.dx_row, d > 0, room.packed, room.spare,
        )  # fmt: skip

"""The backward pass of one layer, as one member of a team computes it.

Time steps run in chunks, last first.  In a chunk the recurrence leaves the gradients before the
nonlinearities, dg; then weight gradients and dx follow from the chunk's dg, which is in the cache.

A member with sequences of its own sums its own weight gradients and waits for nobody until the end, when all
add theirs up.  Members that share sequences (`waits`) have one dg: each computes its rows of the weight
gradients, and its part of dx.  A plain RNN's dg of all steps then is one chunk, in the place of dx: dx
replaces it block by block, and the packed weights lie where weight gradients are going to be.  In bfloat16 it
does so too where each member has sequences of its own, which all share after the recurrence.
"""

from typing import NamedTuple

from numba import njit

from rnnlab.kernels.packed import steps
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.forward import ROWS_AT_ONCE, Share, part
from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_panels, pack_strips
from rnnlab.kernels.packed.products import (
    K_BLOCK,
    PANELS_AT_ONCE,
    STRIP_COLUMNS,
    STRIP_NUMBERS,
    STRIP_STEPS,
    multiply_block,
    multiply_rows,
    multiply_strips,
    multiply_unpacked,
)
from rnnlab.kernels.packed.vectors import lanes, load, number, store

FEW_PANELS = 4  # of a member: more of them are shared out evenly enough


class Gradients(NamedTuple):
    """Flat arrays of a layer's backward pass; D columns of dg a unit, see `_columns`."""

    dy: object  # [T,B,H']
    carry: object  # [P,B,width]: dh after the last step comes in, dh before the first goes out
    dc: object  # [P,B,width], as carry; of no size for a cell without c
    past: object  # [P,B,width]: the part of dh that passes the products by; of no size if there is none
    dg: object  # room for a chunk: [B,row_of_dg] of each step, by member
    panels_hh: object  # room for weight_hh as [P,G·H',width]
    panels_ih: object  # room for weight_ih as [panels of I,G·H',width]; of no size where members share dx
    in_place: bool  # dg of all steps starts where dx does, and all members share both after the recurrence
    from_last: bool  # a row of dx is longer than one of dg, whose last block it replaces first
    block: int  # time steps whose weight gradients are added at once; the chunk, unless in_place
    dx: object  # [T,B,I]
    dw: object  # weight gradients [G·H,I], then [G·H,H], then those of the biases [D,H]
    others: object  # room for dw of each member but the first; of no size where members wait


class Room(NamedTuple):
    """Flat arrays that a member packs into; members that share sequences share operands, too."""

    operands: object  # x or h of a block [panels,rows of the block,width]; in_place also a block of dg
    packed: object  # strips of dg, then K_BLOCK steps of some panels of weight_ih
    spare: object  # a tile


@njit(**OPTIONS)
def run_backward(sizes, share, layer, gradients, room, counter):
    """Compute a share of all gradients."""
    _pack(sizes, share, layer, gradients)
    if not share.waits:
        wait(counter, share.members)
    last = sizes.T - (sizes.T - 1) % sizes.chunk - 1
    for start in range(last, -1, -sizes.chunk):
        stop = min(sizes.T, start + sizes.chunk)
        for t in range(stop - 1, start - 1, -1):
            _step(sizes, share, layer, gradients, t, start, stop)
            _synchronise(share, counter)
        for p in range(share.first, share.last):
            _carry(sizes, share, gradients, 0, p, share.low, share.high - share.low)
        if gradients.in_place:
            share = Share(share.member, share.members, 0, sizes.B, share.first, share.last, True)
            wait(counter, share.members)
        blocks = (stop - start + gradients.block - 1) // gradients.block
        for k in range(blocks):
            begin = start + k * gradients.block
            end = min(stop, begin + gradients.block)
            is_first = stop == sizes.T and begin == start
            _weight_gradients(sizes, share, layer, gradients, room, counter, start, begin, end, is_first)
        for k in range(blocks):
            begin = start + (blocks - 1 - k if gradients.from_last else k) * gradients.block
            end = min(stop, begin + gradients.block)
            _input_gradient(sizes, share, layer, gradients, room, counter, begin, end)
            _synchronise(share, counter)  # what was read is about to be written
    if not share.waits:
        wait(counter, share.members)
        _add_others(sizes, share, gradients)


@njit(**INNER)
def _synchronise(share, counter):
    """Wait for members that share sequences with this one."""
    if share.waits:
        wait(counter, share.members)


@njit(**INNER)
def _own_part(count, share):
    """This member's part of `count` rows or panels of its sequences: first, last; all, if it shares none."""
    return part(count, share) if share.waits else (0, count)


@njit(**INNER)
def _step(sizes, share, layer, gradients, t, start, stop):
    """A share of time step t of the chunk start … stop; the chunk after it left carry for its last step."""
    for p in range(share.first, share.last):
        for low in range(share.low, share.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, share.high - low)
            if t < stop - 1:
                _carry(sizes, share, gradients, t + 1 - start, p, low, rows)
            _pointwise(sizes, share, layer, gradients, t, t - start, p, low, rows)


@njit(**INNER)
def _columns(sizes):
    """Columns of dg a unit: the gates', and one more where a gate multiplies another one's recurrent product.

    Then the first column belongs to that gate's input weights, the last to its recurrent weights, and the
    other gates lie between them in their order.
    """
    return sizes.G + (sizes.cell.inner >= 0)


@njit(**OPTIONS)
def row_of_dg(sizes, vector):
    """Distance of two rows of dg, in numbers, for vectors of so many.

    One vector more than is needed: rows a multiple of 4 KB apart would share few places of the first cache.
    """
    return _columns(sizes) * sizes.P * VECTORS * vector + vector


@njit(**INNER)
def _place(sizes, share, gradients, slot, low):
    """Where the row of sequence `low` in step `slot` of the chunk starts in dg."""
    row = sizes.chunk * share.low + slot * (share.high - share.low) + low - share.low
    if gradients.in_place:
        row = slot * sizes.B + low
    return row * row_of_dg(sizes, lanes(gradients.dg))


@njit(**INNER)
def _gate(sizes, d):
    """The gate to whose weights column d of dg belongs."""
    inner = sizes.cell.inner
    if inner < 0:
        return d
    if d == 0 or d == sizes.G:
        return inner
    return d - (d <= inner)


@njit(**INNER)
def _first_recurrent(sizes):
    """The first of the G columns of dg that belong to the recurrent weights."""
    return _columns(sizes) - sizes.G


@njit(**INNER)
def _pack(sizes, share, layer, gradients):
    """Pack this member's panels of the weights."""
    width = VECTORS * lanes(layer.h)
    for g in range(sizes.G):
        first, last = part(sizes.P, share)
        gate = _gate(sizes, g + _first_recurrent(sizes))
        _pack_gate(sizes, layer.weight_hh, gate, sizes.H, gradients.panels_hh, g, first, last)
        if gradients.panels_ih.size:
            first, last = part((sizes.I + width - 1) // width, share)
            _pack_gate(sizes, layer.weight_ih, _gate(sizes, g), sizes.I, gradients.panels_ih, g, first, last)


@njit(**INNER)
def _pack_gate(sizes, weights, gate, columns, panels, g, first, last):
    """The gate's rows of weights [G·H,columns] as the g-th of G in some panels; rows past H are 0."""
    H = sizes.H
    width = VECTORS * lanes(panels)
    units = sizes.P * width
    for p in range(first, last):
        begin = (p * sizes.G + g) * units * width
        used = min(width, columns - p * width)
        pack_panels(weights, gate * H * columns + p * width, columns, H, used, panels, begin, H)
        for place in range(begin + H * width, begin + units * width):
            panels[place] = 0


@njit(**INNER)
def _carry(sizes, share, gradients, slot, p, low, rows):
    """The gradient that the gates of a step send to the h before it: carry = dg U, one panel."""
    width = VECTORS * lanes(gradients.dg)
    units = sizes.P * width
    at = _place(sizes, share, gradients, slot, low) + _first_recurrent(sizes) * units
    K = sizes.G * units
    multiply_rows(
        rows, gradients.dg, at, row_of_dg(sizes, lanes(gradients.dg)), gradients.panels_hh, p * K * width, K,
        gradients.carry, (p * sizes.B + low) * width, width, False,
    )  # fmt: skip


@njit(**INNER)
def _pointwise(sizes, share, layer, gradients, t, slot, p, low, rows):
    """dg of a step, one panel."""
    P = sizes.P
    B = sizes.B
    width = VECTORS * lanes(layer.h)
    units = P * width
    at = (p * B + low) * width
    dg_row = row_of_dg(sizes, lanes(layer.h))
    dg = _place(sizes, share, gradients, slot, low) + p * width
    dy = (t * B + low) * units + p * width
    now = ((t * P + p) * B + low) * width
    steps.backward(
        sizes.cell.number, rows, layer.gates, now * sizes.G, layer.c, now, now + P * B * width, layer.saved,
        now, layer.h, dy, dy + B * units, units, gradients.carry, gradients.dc, gradients.past, at,
        gradients.dy, dy, units, gradients.dg, dg, dg_row, units,
    )  # fmt: skip


@njit(**INNER)
def _weight_gradients(sizes, share, layer, gradients, room, counter, start, begin, end, is_first):
    """Add the part of time steps begin … end of the chunk from start to dw_ih, then dw_hh, and to db."""
    I = sizes.I
    H = sizes.H
    G = sizes.G
    K = (end - begin) * (share.high - share.low)
    units = sizes.P * VECTORS * lanes(layer.h)
    dg_row = row_of_dg(sizes, lanes(layer.h))
    dg = _place(sizes, share, gradients, begin - start, share.low)
    dw = gradients.dw
    place = 0
    if share.member > 0 and not share.waits:
        dw = gradients.others
        place = (share.member - 1) * _numbers(sizes)
    low, high = _own_part(H, share)
    _pack_operands(sizes, share, layer.x, layer.x_row, I, room, begin, end)
    _synchronise(share, counter)
    for d in range(G):
        at = place + (_gate(sizes, d) * H + low) * I
        _add_products(
            high - low, gradients.dg, dg + d * units + low, dg_row, K, room, I, dw, at, not is_first
        )
    _synchronise(share, counter)
    _pack_operands(sizes, share, layer.h, units, H, room, begin, end)
    _synchronise(share, counter)
    for g in range(G):
        d = g + _first_recurrent(sizes)
        at = place + G * H * I + (_gate(sizes, d) * H + low) * H
        _add_products(
            high - low, gradients.dg, dg + d * units + low, dg_row, K, room, H, dw, at, not is_first
        )
    for d in range(_columns(sizes)):
        at = place + G * H * (I + H) + d * H + low
        _add_columns(K, gradients.dg, dg + d * units + low, dg_row, dw, at, high - low, not is_first)
    _synchronise(share, counter)


@njit(**INNER)
def _numbers(sizes):
    """Numbers of all gradients of a layer's parameters."""
    return sizes.G * sizes.H * (sizes.I + sizes.H) + _columns(sizes) * sizes.H


@njit(**INNER)
def _pack_operands(sizes, share, source, row, columns, room, begin, end):
    """Pack this member's panels of x or h [T,B,row] at time steps begin … end, of `columns` columns."""
    rows = share.high - share.low
    width = VECTORS * lanes(source)
    K = (end - begin) * rows
    first, last = _own_part((columns + width - 1) // width, share)
    if first == last:
        return
    used = min(columns, last * width) - first * width
    for t in range(begin, end):
        at = (t * sizes.B + share.low) * row + first * width
        place = (first * K + (t - begin) * rows) * width
        pack_panels(source, at, row, rows, used, room.operands, place, K)


@njit(**INNER)
def _add_products(rows, dg, dg_at, dg_row, K, room, columns, dw, at, is_sum):
    """dw [rows,columns] = dg [K,rows] transposed times the packed operand [K,columns], plus dw where is_sum.

    STRIP_STEPS of some columns of dg at a time, packed as strips.
    """
    width = VECTORS * lanes(dw)
    for k in range(0, K, STRIP_STEPS):
        steps = min(STRIP_STEPS, K - k)
        at_once = min(STRIP_COLUMNS, STRIP_NUMBERS // steps)
        blocks = (rows + at_once - 1) // at_once
        for m in range(blocks):
            low = rows * m // blocks
            high = rows * (m + 1) // blocks
            pack_strips(dg, dg_at + k * dg_row + low, dg_row, steps, high - low, room.packed)
            multiply_strips(
                high - low, room.packed, steps, room.operands, k * width, K * width,
                columns, dw, at + low * columns, columns, is_sum or k > 0, room.spare,
            )  # fmt: skip


@njit(**INNER)
def _add_columns(K, source, at, row, total, total_at, columns, is_sum):
    """total [columns] = the sum of the K rows of source, plus total where is_sum."""
    vector = lanes(source)
    whole = columns - columns % vector
    for j in range(0, whole, vector):
        result = load(source, at + j)
        for k in range(1, K):
            result = result + load(source, at + k * row + j)
        store(total, total_at + j, result + load(total, total_at + j) if is_sum else result)
    for j in range(whole, columns):
        result = number(source, at + j)
        for k in range(1, K):
            result += number(source, at + k * row + j)
        total[total_at + j] = result + total[total_at + j] if is_sum else result


@njit(**INNER)
def _add_others(sizes, share, gradients):
    """Add the other members' gradients of parameters to the first one's, a part of the numbers."""
    numbers = _numbers(sizes)
    vector = lanes(gradients.dw)
    first, last = part(numbers, share)
    for member in range(share.members - 1):
        at = member * numbers
        for j in range(first, last - vector + 1, vector):
            store(gradients.dw, j, load(gradients.dw, j) + load(gradients.others, at + j))
        for j in range(last - (last - first) % vector, last):
            gradients.dw[j] += gradients.others[at + j]


@njit(**INNER)
def _input_gradient(sizes, share, layer, gradients, room, counter, begin, end):
    """This member's part of dx = dg W at time steps begin … end."""
    if not share.waits:
        _input_gradient_of_sequences(sizes, share, gradients, room, begin, end)
    elif gradients.in_place:
        row = row_of_dg(sizes, lanes(gradients.dg))
        K = (end - begin) * sizes.B
        first, last = part(K, share)
        for j in range(first * row, last * row, lanes(gradients.dg)):
            store(room.operands, j, load(gradients.dg, begin * sizes.B * row + j))
        wait(counter, share.members)
        _input_gradient_in_parts(sizes, share, layer, gradients, room, room.operands, begin, end)
    else:
        _input_gradient_in_parts(sizes, share, layer, gradients, room, gradients.dg, begin, end)


@njit(**INNER)
def _input_gradient_of_sequences(sizes, share, gradients, room, begin, end):
    """dx of this member's sequences, from weights that are packed."""
    I = sizes.I
    rows = share.high - share.low
    width = VECTORS * lanes(gradients.dg)
    K = sizes.G * sizes.P * width
    dg_row = row_of_dg(sizes, lanes(gradients.dg))
    for n in range(0, I, PANELS_AT_ONCE * width):
        columns = min(PANELS_AT_ONCE * width, I - n)
        for k in range(0, K, K_BLOCK):
            steps = min(K_BLOCK, K - k)
            panels = n * K + k * width
            for t in range(begin, end):
                at = _place(sizes, share, gradients, t - begin, share.low) + k
                place = (t * sizes.B + share.low) * I + n
                multiply_block(
                    False, rows, gradients.dg, at, dg_row, gradients.panels_ih, panels, K * width, steps,
                    columns, gradients.dx, place, I, k > 0, room.spare,
                )  # fmt: skip


@njit(**INNER)
def _input_gradient_in_parts(sizes, share, layer, gradients, room, dg, begin, end):
    """Panels of inputs, or rows where inputs are few, from the first rows of dg.

    A member with rows of dx packs all of W; one with panels of dx packs those panels of W only.
    """
    I = sizes.I
    width = VECTORS * lanes(layer.h)
    units = sizes.P * width
    dg_row = row_of_dg(sizes, lanes(layer.h))
    panels = (I + width - 1) // width
    rows = (end - begin) * sizes.B
    low = 0
    high = rows
    first = 0
    last = I
    if panels % share.members == 0 or panels > FEW_PANELS * share.members:
        first, last = part(panels, share)
        first = first * width
        last = min(I, last * width)
    else:
        low, high = part(rows, share)
    place = (begin * sizes.B + low) * I + first
    for d in range(sizes.G):
        weights = _gate(sizes, d) * sizes.H * I + first
        multiply_unpacked(
            high - low, dg, low * dg_row + d * units, dg_row, sizes.H, layer.weight_ih, weights, I,
            last - first, gradients.dx, place, I, d > 0, room.packed, room.spare,
        )  # fmt: skip

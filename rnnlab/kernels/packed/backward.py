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
from rnnlab.kernels.packed.forward import ROWS_AT_ONCE, own_part, part, row_at, synchronise
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_panels, pack_strips, width_of
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
    """Flat arrays of a layer's backward pass; D columns of dg a unit.

    Those are the gates', and one more where a gate multiplies another one's recurrent product: then the first
    column belongs to that gate's input weights, the last to its recurrent weights, and the other gates lie
    between them in their order.
    """

    dy: object  # [T,B,H']
    carry: object  # [P,B,width]: dh after the last step comes in, dh before the first goes out
    dc: object  # [P,B,width], as carry; of no size for a cell without c
    past: object  # [P,B,width]: the part of dh that passes the products by; of no size if there is none
    dg: object  # room for a chunk: [B,dg_row] of each step, by member
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
    dvectors: object  # the member's part of the gradients of the cell's own vectors [.,H']


@njit(**OPTIONS)
def run_backward(work, after, layer, gradients, room, counter):
    """Compute a share of all gradients; `after` is the work after the recurrence."""
    _pack(work, layer, gradients)
    if not work.waits:
        wait(counter, work.members)
    last = work.T - (work.T - 1) % work.chunk - 1
    for start in range(last, -1, -work.chunk):
        stop = min(work.T, start + work.chunk)
        for t in range(stop - 1, start - 1, -1):
            _step(work, layer, gradients, room, t, start, stop)
            synchronise(work, counter)
        for p in range(work.first, work.last):
            _carry(work, gradients, 0, p, work.low, work.high - work.low)
        if gradients.in_place:
            wait(counter, work.members)
        blocks = (stop - start + gradients.block - 1) // gradients.block
        for k in range(blocks):
            begin = start + k * gradients.block
            end = min(stop, begin + gradients.block)
            is_first = stop == work.T and begin == start
            _weight_gradients(after, layer, gradients, room, counter, start, begin, end, is_first)
        for k in range(blocks):
            begin = start + (blocks - 1 - k if gradients.from_last else k) * gradients.block
            end = min(stop, begin + gradients.block)
            _input_gradient(after, layer, gradients, room, counter, begin, end)
            synchronise(after, counter)  # what was read is about to be written
    if not after.waits:
        wait(counter, after.members)
        _add_others(after, gradients)


@njit(**INNER)
def _step(work, layer, gradients, room, t, start, stop):
    """A share of time step t of the chunk start … stop; the chunk after it left carry for its last step."""
    for p in range(work.first, work.last):
        for low in range(work.low, work.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, work.high - low)
            if t < stop - 1:
                _carry(work, gradients, t + 1 - start, p, low, rows)
            _pointwise(work, layer, gradients, room, t, t - start, p, low, rows)


@njit(**INNER)
def _place(work, gradients, slot, low):
    """Where the row of sequence `low` in step `slot` of the chunk starts in dg."""
    row = work.chunk * work.low + slot * (work.high - work.low) + low - work.low
    if gradients.in_place:
        row = slot * work.B + low
    return row * work.dg_row


@njit(**INNER)
def _gate(work, d):
    """The gate to whose weights column d of dg belongs."""
    inner = work.cell.inner
    if inner < 0:
        return d
    if d == 0 or d == work.G:
        return inner
    return d - (d <= inner)


@njit(**INNER)
def _pack(work, layer, gradients):
    """Pack this member's panels of the weights."""
    width = width_of(layer.h)
    for g in range(work.G):
        first, last = part(work.P, work)
        gate = _gate(work, g + work.extra)
        _pack_gate(work, layer.weight_hh, gate, work.H, gradients.panels_hh, g, first, last)
        if gradients.panels_ih.size:
            first, last = part((work.I + width - 1) // width, work)
            _pack_gate(work, layer.weight_ih, _gate(work, g), work.I, gradients.panels_ih, g, first, last)


@njit(**INNER)
def _pack_gate(work, weights, gate, columns, panels, g, first, last):
    """The gate's rows of weights [G·H,columns] as the g-th of G in some panels; rows past H are 0."""
    H = work.H
    width = width_of(panels)
    for p in range(first, last):
        begin = (p * work.G + g) * work.units * width
        used = min(width, columns - p * width)
        pack_panels(weights, gate * H * columns + p * width, columns, H, used, panels, begin, H)
        for place in range(begin + H * width, begin + work.units * width):
            panels[place] = 0


@njit(**INNER)
def _carry(work, gradients, slot, p, low, rows):
    """The gradient that the gates of a step send to the h before it: carry = dg U, one panel."""
    width = width_of(gradients.dg)
    K = work.G * work.units
    dg = _place(work, gradients, slot, low) + work.extra * work.units
    multiply_rows(
        rows, gradients.dg, dg, work.dg_row, gradients.panels_hh, p * K * width, K,
        gradients.carry, row_at(work, 0, p, low) * width, width, False,
    )  # fmt: skip


@njit(**INNER)
def _pointwise(work, layer, gradients, room, t, slot, p, low, rows):
    """dg of a step, one panel."""
    width = width_of(layer.h)
    units = work.units
    at = row_at(work, 0, p, low) * width
    dg = _place(work, gradients, slot, low) + p * width
    dy = (t * work.B + low) * units + p * width
    now = row_at(work, t, p, low) * width
    c_next = now + work.P * work.B * width
    steps.backward(
        work.cell.number, rows, layer.gates, now * work.G, layer.bias, p * width, units, layer.c, now, c_next,
        layer.saved, now, layer.h, dy, dy + work.B * units, units, gradients.carry, gradients.dc,
        gradients.past, at, gradients.dy, dy, units, gradients.dg, dg, work.dg_row, units, room.dvectors,
    )  # fmt: skip


@njit(**INNER)
def _weight_gradients(work, layer, gradients, room, counter, start, begin, end, is_first):
    """Add the part of time steps begin … end of the chunk from start to dw_ih, then dw_hh, and to db."""
    I = work.I
    H = work.H
    K = (end - begin) * (work.high - work.low)
    dg = _place(work, gradients, begin - start, work.low)
    dw = gradients.dw
    place = 0
    if work.member > 0 and not work.waits:
        dw = gradients.others
        place = (work.member - 1) * work.numbers
    low, high = own_part(H, work)
    rows = high - low
    _pack_operands(work, layer.x, layer.x_row, I, room, begin, end)
    synchronise(work, counter)
    for d in range(work.G):
        at = place + (_gate(work, d) * H + low) * I
        _add_products(work, gradients, dg + d * work.units + low, rows, K, room, I, dw, at, not is_first)
    synchronise(work, counter)
    _pack_operands(work, layer.h, work.units, H, room, begin, end)
    synchronise(work, counter)
    place += work.G * H * I
    for d in range(work.extra, work.G + work.extra):
        at = place + (_gate(work, d) * H + low) * H
        _add_products(work, gradients, dg + d * work.units + low, rows, K, room, H, dw, at, not is_first)
    place += work.G * H * H + low
    for d in range(work.G + work.extra):
        column = dg + d * work.units + low
        _add_columns(K, gradients.dg, column, work.dg_row, dw, place + d * H, rows, not is_first)
    synchronise(work, counter)


@njit(**INNER)
def _pack_operands(work, source, row, columns, room, begin, end):
    """Pack this member's panels of x or h [T,B,row] at time steps begin … end, of `columns` columns."""
    rows = work.high - work.low
    width = width_of(source)
    K = (end - begin) * rows
    first, last = own_part((columns + width - 1) // width, work)
    if first == last:
        return
    used = min(columns, last * width) - first * width
    for t in range(begin, end):
        at = (t * work.B + work.low) * row + first * width
        place = (first * K + (t - begin) * rows) * width
        pack_panels(source, at, row, rows, used, room.operands, place, K)


@njit(**INNER)
def _add_products(work, gradients, dg, rows, K, room, columns, dw, at, is_sum):
    """dw [rows,columns] = dg [K,rows] transposed times the packed operand [K,columns], plus dw where is_sum.

    STRIP_STEPS of some columns of dg at a time, packed as strips.
    """
    width = width_of(gradients.dg)
    for k in range(0, K, STRIP_STEPS):
        steps = min(STRIP_STEPS, K - k)
        at_once = min(STRIP_COLUMNS, STRIP_NUMBERS // steps)
        blocks = (rows + at_once - 1) // at_once
        for m in range(blocks):
            low = rows * m // blocks
            high = rows * (m + 1) // blocks
            pack_strips(gradients.dg, dg + k * work.dg_row + low, work.dg_row, steps, high - low, room.packed)
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
def _add_others(work, gradients):
    """Add the other members' gradients of parameters to the first one's, a part of the numbers."""
    vector = lanes(gradients.dw)
    first, last = part(work.numbers, work)
    for member in range(work.members - 1):
        at = member * work.numbers
        for j in range(first, last - vector + 1, vector):
            store(gradients.dw, j, load(gradients.dw, j) + load(gradients.others, at + j))
        for j in range(last - (last - first) % vector, last):
            gradients.dw[j] += gradients.others[at + j]


@njit(**INNER)
def _input_gradient(work, layer, gradients, room, counter, begin, end):
    """This member's part of dx = dg W at time steps begin … end."""
    if not work.waits:
        _input_gradient_of_sequences(work, gradients, room, begin, end)
    elif gradients.in_place:
        first, last = part((end - begin) * work.B, work)
        for j in range(first * work.dg_row, last * work.dg_row, lanes(gradients.dg)):
            store(room.operands, j, load(gradients.dg, begin * work.B * work.dg_row + j))
        wait(counter, work.members)
        _input_gradient_in_parts(work, layer, gradients, room, room.operands, begin, end)
    else:
        _input_gradient_in_parts(work, layer, gradients, room, gradients.dg, begin, end)


@njit(**INNER)
def _input_gradient_of_sequences(work, gradients, room, begin, end):
    """dx of this member's sequences, from weights that are packed."""
    I = work.I
    width = width_of(gradients.dg)
    K = work.G * work.units
    for n in range(0, I, PANELS_AT_ONCE * width):
        columns = min(PANELS_AT_ONCE * width, I - n)
        for k in range(0, K, K_BLOCK):
            steps = min(K_BLOCK, K - k)
            panels = n * K + k * width
            for t in range(begin, end):
                at = _place(work, gradients, t - begin, work.low) + k
                place = (t * work.B + work.low) * I + n
                multiply_block(
                    False, work.high - work.low, gradients.dg, at, work.dg_row, gradients.panels_ih, panels,
                    K * width, steps, columns, gradients.dx, place, I, k > 0, room.spare,
                )  # fmt: skip


@njit(**INNER)
def _input_gradient_in_parts(work, layer, gradients, room, dg, begin, end):
    """Panels of inputs, or rows where inputs are few, from the first rows of dg.

    A member with rows of dx packs all of W; one with panels of dx packs those panels of W only.
    """
    I = work.I
    width = width_of(layer.h)
    panels = (I + width - 1) // width
    low = 0
    high = (end - begin) * work.B
    first = 0
    last = I
    if panels % work.members == 0 or panels > FEW_PANELS * work.members:
        first, last = part(panels, work)
        first = first * width
        last = min(I, last * width)
    else:
        low, high = part(high, work)
    place = (begin * work.B + low) * I + first
    for d in range(work.G):
        weights = _gate(work, d) * work.H * I + first
        multiply_unpacked(
            high - low, dg, low * work.dg_row + d * work.units, work.dg_row, work.H, layer.weight_ih, weights,
            I, last - first, gradients.dx, place, I, d > 0, room.packed, room.spare,
        )  # fmt: skip

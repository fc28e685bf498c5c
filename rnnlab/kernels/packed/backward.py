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
    STRIP_STEPS,
    multiply_block,
    multiply_rows,
    multiply_strips,
    multiply_unpacked,
    strip_columns,
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
    T = work.T
    chunk = work.chunk
    block = gradients.block
    last = T - (T - 1) % chunk - 1
    for start in range(last, -1, -chunk):
        stop = min(T, start + chunk)
        for t in range(stop - 1, start - 1, -1):
            _step(work, layer, gradients, room, t, start, stop)
            synchronise(work, counter)
        rows = work.high - work.low
        for p in range(work.first, work.last):
            _carry(work, gradients, 0, p, work.low, rows)
        if gradients.in_place:
            wait(counter, work.members)
        blocks = (stop - start + block - 1) // block
        for k in range(blocks):
            begin = start + k * block
            end = min(stop, begin + block)
            is_sum = stop < T or begin > start
            _weight_gradients(after, layer, gradients, room, counter, start, begin, end, is_sum)
        for k in range(blocks):
            place = blocks - 1 - k if gradients.from_last else k
            begin = start + place * block
            end = min(stop, begin + block)
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
    if gradients.in_place:
        row = slot * work.B + low
    else:
        rows = work.high - work.low
        own = work.chunk * work.low  # the first row of this member
        row = own + slot * rows + low - work.low
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
    input_panels = (work.I + width - 1) // width
    for g in range(work.G):
        first, last = part(work.P, work)
        gate = _gate(work, g + work.extra)
        _pack_gate(work, layer.weight_hh, gate, work.H, gradients.panels_hh, g, first, last)
        if gradients.panels_ih.size:
            first, last = part(input_panels, work)
            gate = _gate(work, g)
            _pack_gate(work, layer.weight_ih, gate, work.I, gradients.panels_ih, g, first, last)


@njit(**INNER)
def _pack_gate(work, weights, gate, columns, panels, g, first, last):
    """The gate's rows of weights [G·H,columns] as the g-th of G in some panels; rows past H are 0."""
    H = work.H
    width = width_of(panels)
    for p in range(first, last):
        column = p * width
        used = min(width, columns - column)
        source = gate * H * columns + column
        begin = (p * work.G + g) * work.units * width
        pack_panels(weights, source, columns, H, used, panels, begin, H)
        end = begin + work.units * width
        for place in range(begin + H * width, end):
            panels[place] = 0


@njit(**INNER)
def _carry(work, gradients, slot, p, low, rows):
    """The gradient that the gates of a step send to the h before it: carry = dg U, one panel."""
    width = width_of(gradients.dg)
    K = work.G * work.units
    dg = _place(work, gradients, slot, low) + work.extra * work.units
    panel = p * K * width
    carry = row_at(work, 0, p, low) * width
    multiply_rows(
        rows, gradients.dg, dg, work.dg_row, gradients.panels_hh, panel, K, gradients.carry, carry, width,
        False,
    )  # fmt: skip


@njit(**INNER)
def _pointwise(work, layer, gradients, room, t, slot, p, low, rows):
    """dg of a step, one panel."""
    width = width_of(layer.h)
    units = work.units
    unit = p * width
    at = row_at(work, 0, p, low) * width
    dg = _place(work, gradients, slot, low) + unit
    dy = (t * work.B + low) * units + unit  # h before the step, too, has this place
    after = dy + work.B * units
    now = row_at(work, t, p, low) * width
    gates = now * work.G
    c_next = now + work.P * work.B * width
    steps.backward(
        work.cell.number, rows, layer.gates, gates, layer.bias, unit, units, layer.c, now, c_next,
        layer.saved, now, layer.h, dy, after, units, gradients.carry, gradients.dc, gradients.past, at,
        gradients.dy, dy, units, gradients.dg, dg, work.dg_row, units, room.dvectors,
    )  # fmt: skip


@njit(**INNER)
def _weight_gradients(work, layer, gradients, room, counter, start, begin, end, is_sum):
    """The part of time steps begin … end of the chunk from start: dw_ih, then dw_hh, and db.

    It is added to what they hold where is_sum.
    """
    I = work.I
    H = work.H
    G = work.G
    sequences = work.high - work.low
    K = (end - begin) * sequences
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
    for d in range(G):
        column = dg + d * work.units + low
        row = _gate(work, d) * H + low
        _add_products(work, gradients, column, rows, K, room, I, dw, place + row * I, is_sum)
    synchronise(work, counter)
    _pack_operands(work, layer.h, work.units, H, room, begin, end)
    synchronise(work, counter)
    place += G * H * I
    columns = G + work.extra
    for d in range(work.extra, columns):
        column = dg + d * work.units + low
        row = _gate(work, d) * H + low
        _add_products(work, gradients, column, rows, K, room, H, dw, place + row * H, is_sum)
    place += G * H * H + low
    for d in range(columns):
        column = dg + d * work.units + low
        _add_columns(K, gradients.dg, column, work.dg_row, dw, place + d * H, rows, is_sum)
    synchronise(work, counter)


@njit(**INNER)
def _pack_operands(work, source, row, columns, room, begin, end):
    """Pack this member's panels of x or h [T,B,row] at time steps begin … end, of `columns` columns."""
    rows = work.high - work.low
    width = width_of(source)
    K = (end - begin) * rows
    panels = (columns + width - 1) // width
    first, last = own_part(panels, work)
    if first == last:
        return
    column = first * width
    used = min(columns, last * width) - column
    for t in range(begin, end):
        at = (t * work.B + work.low) * row + column
        step = (t - begin) * rows
        place = (first * K + step) * width
        pack_panels(source, at, row, rows, used, room.operands, place, K)


@njit(**INNER)
def _add_products(work, gradients, dg, rows, K, room, columns, dw, at, is_sum):
    """dw [rows,columns] = dg [K,rows] transposed times the packed operand [K,columns], plus dw where is_sum.

    STRIP_STEPS of some columns of dg at a time, packed as strips.
    """
    width = width_of(gradients.dg)
    for k in range(0, K, STRIP_STEPS):
        steps = min(STRIP_STEPS, K - k)
        at_once = strip_columns(steps)
        blocks = (rows + at_once - 1) // at_once
        adds = is_sum or k > 0
        for m in range(blocks):
            low = rows * m // blocks
            high = rows * (m + 1) // blocks
            count = high - low
            source = dg + k * work.dg_row + low
            place = at + low * columns
            pack_strips(gradients.dg, source, work.dg_row, steps, count, room.packed)
            multiply_strips(
                count, room.packed, steps, room.operands, k * width, K * width, columns, dw, place, columns,
                adds, room.spare,
            )  # fmt: skip


@njit(**INNER)
def _add_columns(K, source, at, row, total, total_at, columns, is_sum):
    """total [columns] = the sum of the K rows of source, plus total where is_sum."""
    vector = lanes(source)
    whole = columns - columns % vector
    for j in range(0, whole, vector):
        place = total_at + j
        result = load(source, at + j)
        for k in range(1, K):
            result = result + load(source, at + k * row + j)
        store(total, place, result + load(total, place) if is_sum else result)
    for j in range(whole, columns):
        place = total_at + j
        result = number(source, at + j)
        for k in range(1, K):
            result += number(source, at + k * row + j)
        total[place] = result + total[place] if is_sum else result


@njit(**INNER)
def _add_others(work, gradients):
    """Add the other members' gradients of parameters to the first one's, a part of the numbers."""
    dw = gradients.dw
    others = gradients.others
    vector = lanes(dw)
    first, last = part(work.numbers, work)
    whole = last - (last - first) % vector
    for member in range(work.members - 1):
        at = member * work.numbers
        for j in range(first, whole, vector):
            store(dw, j, load(dw, j) + load(others, at + j))
        for j in range(whole, last):
            dw[j] += others[at + j]


@njit(**INNER)
def _input_gradient(work, layer, gradients, room, counter, begin, end):
    """This member's part of dx = dg W at time steps begin … end."""
    if not work.waits:
        _input_gradient_of_sequences(work, gradients, room, begin, end)
    elif gradients.in_place:
        dg = gradients.dg
        row = work.dg_row
        first, last = part((end - begin) * work.B, work)
        source = begin * work.B * row
        for j in range(first * row, last * row, lanes(dg)):
            store(room.operands, j, load(dg, source + j))
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
    rows = work.high - work.low
    at_once = PANELS_AT_ONCE * width
    for n in range(0, I, at_once):
        columns = min(at_once, I - n)
        for k in range(0, K, K_BLOCK):
            steps = min(K_BLOCK, K - k)
            panels = n * K + k * width
            for t in range(begin, end):
                at = _place(work, gradients, t - begin, work.low) + k
                place = (t * work.B + work.low) * I + n
                multiply_block(
                    False, rows, gradients.dg, at, work.dg_row, gradients.panels_ih, panels, K * width, steps,
                    columns, gradients.dx, place, I, k > 0, room.spare,
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
    is_even = panels % work.members == 0
    if is_even or panels > FEW_PANELS * work.members:
        first, last = part(panels, work)
        first = first * width
        last = min(I, last * width)
    else:
        low, high = part(high, work)
    H = work.H
    rows = high - low
    columns = last - first
    place = (begin * work.B + low) * I + first
    for d in range(work.G):
        at = low * work.dg_row + d * work.units
        weights = _gate(work, d) * H * I + first
        multiply_unpacked(
            rows, dg, at, work.dg_row, H, layer.weight_ih, weights, I, columns, gradients.dx, place, I, d > 0,
            room.packed, room.spare,
        )  # fmt: skip

"""The forward pass of one layer, as one member of a team computes it.

A share is a part of the sequences (rows) or a part of the units (panels).  With a part of the sequences, a
member needs nothing of the others once the weights are packed.  With a part of the units it reads its own
weights only, which may stay in its core's cache, and waits for the others after every step.
"""

from collections import namedtuple
from typing import NamedTuple

from numba import njit

from rnnlab.kernels.cells import KernelProperties
from rnnlab.kernels.packed import steps
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_transposed, width_of
from rnnlab.kernels.packed.products import K_BLOCK, PANELS_AT_ONCE, multiply_block, multiply_rows
from rnnlab.kernels.packed.vectors import depth, lanes, load, number, put, store

ROWS_AT_ONCE = 64  # sequences whose tile of gates is computed before its pointwise work: up to 32 KB


# Numba's cache on disk refers to the classes of arguments by name: if one of these (or of backward.py's) is
# renamed, reading the cache of an older version raises AttributeError.


class Sizes(NamedTuple):
    """Sizes of a layer."""

    cell: KernelProperties
    T: int
    B: int
    I: int
    H: int
    G: int  # gates
    P: int  # panels that cover H
    chunk: int  # time steps whose input product is computed before their recurrence
    together: int  # sequences that no two members share: 2 of bfloat16, whose products take pairs
    slots: int  # time steps for which gates, c, saved, factors have room; step t is in slot t % slots


class Share(NamedTuple):
    """What one member of a team computes: sequences low … high, panels first … last."""

    member: int
    members: int
    low: int
    high: int
    first: int
    last: int
    waits: bool  # at a barrier after every step, because others compute other units of its sequences


# A member's share with the sizes of its layer, and what follows from them:
Work = namedtuple("Work", (*Sizes._fields, *Share._fields, "width", "units", "extra", "dg_row", "numbers"))
# width    units of a panel
# units    those of all panels, H'
# extra    columns of dg beside those of the gates, see backward.Gradients: 0 or 1
# dg_row   distance of two rows of dg, in numbers
# numbers  those of all gradients of the layer's parameters


def works_of(sizes: Sizes, shares: tuple[Share, ...], vector: int) -> tuple[Work, ...]:
    """The work of each member, for vectors of so many numbers."""
    width = VECTORS * vector
    units = sizes.P * width
    extra = int(sizes.cell.inner >= 0)
    columns = sizes.G + extra
    # one vector more than is needed: rows a multiple of 4 KB apart would share few places of the first cache
    dg_row = columns * units + vector
    weights = sizes.G * sizes.H * (sizes.I + sizes.H)
    numbers = weights + columns * sizes.H
    return tuple(Work(*sizes, *share, width, units, extra, dg_row, numbers) for share in shares)


class History(NamedTuple):
    """Flat arrays of all steps, for the gradient.

    They are the layer's own gates, c and saved, or arrays of bfloat16, into which each step is rounded.
    """

    gates: object  # [T,P,B,G,width]
    c: object  # [T+1,P,B,width]
    saved: object  # [T,P,B,width]


class Layer(NamedTuple):
    """Flat arrays of a layer's forward pass; width is a panel's, H' = P·width."""

    x: object  # [T,B,x_row], of which I are inputs
    x_row: int
    weight_ih: object  # [G·H,I]
    weight_hh: object  # [G·H,H]
    bias: object  # [G+V,H'], vectors of a step last; of no size backward for a cell without any of its own
    h: object  # [T+1,B,H'], h[0] given
    gates: object  # [slots,P,B,G,width]; of no size where the gate is h, in which products are computed then
    c: object  # [slots,P,B,width], c[0] given; of no size for a cell without it
    saved: object  # [slots,P,B,width]: what a gradient needs beside them; of no size if it needs nothing
    history: History
    factor_x: object  # what products read: x, or room for it in bfloat16, [slots,B,x_row]
    factor_h: object  # h, or room for it in bfloat16, [slots,B,H']
    panels_ih: object  # room for [P,G,I,width]
    panels_hh: object  # room for [P,G,H,width]: in the order in which a step reads them


@njit(**OPTIONS)
def copy_numbers(source, begin, target, first, numbers):
    """Copy a number of numbers from `begin` to `first`; from or to bfloat16 they are widened or rounded."""
    vector = lanes(source)
    whole = numbers - numbers % vector
    for j in range(0, whole, vector):
        store(target, first + j, load(source, begin + j))
    for j in range(whole, numbers):
        put(target, first + j, number(source, begin + j))


@njit(**OPTIONS)
def part(count, work):
    """This member's part of a number of things: first, last."""
    first = count * work.member // work.members
    last = count * (work.member + 1) // work.members
    return first, last


@njit(**INNER)
def own_part(count, work):
    """This member's part of `count` rows or panels of its sequences: first, last; all, if it shares none."""
    if work.waits:
        return part(count, work)
    return 0, count


@njit(**INNER)
def synchronise(work, counter):
    """Wait for members that share sequences with this one."""
    if work.waits:
        wait(counter, work.members)


@njit(**INNER)
def slot_of(work, t):
    """The slot of time step t; a division takes longer than to see that none is needed."""
    return t if t < work.slots else t % work.slots


@njit(**INNER)
def row_at(work, step, p, b):
    """The row of an array [steps,P,B] that has this step, panel and sequence."""
    return (step * work.P + p) * work.B + b


@njit(**OPTIONS)
def run_forward(work, layer, counter):
    """Compute a share of h, c, gates and what is saved."""
    _pack(work, layer)
    if not work.waits:
        wait(counter, work.members)
    for start in range(0, work.T, work.chunk):
        stop = min(work.T, start + work.chunk)
        if depth(layer.factor_x) > 1:
            _round_inputs(work, layer, counter, start, stop)
        _input_product(work, layer, start, stop)
        for t in range(start, stop):
            _step(work, layer, t)
            synchronise(work, counter)


@njit(**INNER)
def _step(work, layer, t):
    """A share of time step t: its pointwise work follows the product panel by panel."""
    for p in range(work.first, work.last):
        for low in range(work.low, work.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, work.high - low)
            _recurrent_product(work, layer, t, p, low, rows)
            _pointwise(work, layer, t, p, low, rows)
            if depth(layer.factor_h) > 1:
                _keep(work, layer, t, p, low, rows)


@njit(**INNER)
def _round_inputs(work, layer, counter, start, stop):
    """Round x of some time steps, for this member's sequences; members that share these round a part each."""
    first, last = own_part(work.high - work.low, work)
    low = work.low + first
    row = layer.x_row
    numbers = (last - first) * row
    for t in range(start, stop):
        slot = slot_of(work, t)
        source = (t * work.B + low) * row
        place = (slot * work.B + low) * row
        copy_numbers(layer.x, source, layer.factor_x, place, numbers)
    synchronise(work, counter)


@njit(**INNER)
def _keep(work, layer, t, p, low, rows):
    """Round the step's states for the products, and what the gradient needs into the history."""
    B = work.B
    width = width_of(layer.h)
    unit = p * width
    slot = slot_of(work, t)
    following = slot_of(work, t + 1)
    for b in range(low, low + rows):
        source = ((t + 1) * B + b) * work.units + unit
        place = (following * B + b) * work.units + unit
        copy_numbers(layer.h, source, layer.factor_h, place, width)
    now = row_at(work, slot, p, low)
    then = row_at(work, t, p, low)
    after = row_at(work, following, p, low)
    then_after = row_at(work, t + 1, p, low)
    history = layer.history
    _keep_rows(layer.gates, now, history.gates, then, rows, work.G * width)
    _keep_rows(layer.saved, now, history.saved, then, rows, width)
    _keep_rows(layer.c, after, history.c, then_after, rows, width)


@njit(**INNER)
def _keep_rows(source, begin, target, first, rows, row):
    """Round rows of so many numbers from row `begin` to row `first`, if the cell has them."""
    if source.size:
        copy_numbers(source, begin * row, target, first * row, rows * row)


@njit(**INNER)
def _pack(work, layer):
    """Pack the weights of this member's panels."""
    I = work.I
    H = work.H
    width = width_of(layer.h)
    first, last = part(work.P, work)
    for g in range(work.G):
        for p in range(first, last):
            unit = g * H + p * width
            columns = min(width, H - p * width)
            panel = (p * work.G + g) * width
            pack_transposed(layer.weight_ih, unit * I, I, I, columns, layer.panels_ih, panel * I)
            pack_transposed(layer.weight_hh, unit * H, H, H, columns, layer.panels_hh, panel * H)


@njit(**INNER)
def _place(work, layer, t, p, low, g):
    """Where the product of gate g, step t, panel p, sequence low starts: in gates, or in h if h is it."""
    width = width_of(layer.h)
    if work.cell.gate_is_h:
        row = (t + 1) * work.B + low
        return row * work.units + p * width
    slot = slot_of(work, t)
    row = row_at(work, slot, p, low)
    return (row * work.G + g) * width


@njit(**INNER)
def _row(work, layer):
    """Distance of two rows of products, in numbers."""
    return work.units if work.cell.gate_is_h else work.G * width_of(layer.h)


@njit(**INNER)
def _input_product(work, layer, start, stop):
    """The input product of some time steps, for panels that lie together in the result.

    Their blocks stay in the second cache for all rows of these steps.
    """
    I = work.I
    width = width_of(layer.h)
    in_h = work.cell.gate_is_h
    products = layer.h if in_h else layer.gates
    row = _row(work, layer)
    at_once = PANELS_AT_ONCE if in_h else 1
    low = work.low
    rows = work.high - low
    for p in range(work.first, work.last, at_once):
        count = min(at_once, work.last - p)
        columns = work.G * count * width
        for k in range(0, I, K_BLOCK):
            steps = min(K_BLOCK, I - k)
            panels = (p * work.G * I + k) * width
            for t in range(start, stop):
                slot = slot_of(work, t)
                source = (slot * work.B + low) * layer.x_row + k
                place = _place(work, layer, t, p, low, 0)
                multiply_block(
                    False, rows, layer.factor_x, source, layer.x_row, layer.panels_ih, panels, I * width,
                    steps, columns, products, place, row, k > 0, products,
                )  # fmt: skip


@njit(**INNER)
def _recurrent_product(work, layer, t, p, low, rows):
    """Add h U, except to the gate whose part another gate multiplies: this part goes into `saved`."""
    H = work.H
    width = width_of(layer.h)
    slot = slot_of(work, t)
    units = work.units
    h = (slot * work.B + low) * units
    for g in range(work.G):
        panel = (p * work.G + g) * H * width
        if g == work.cell.inner:
            place = row_at(work, slot, p, low) * width
            multiply_rows(
                rows, layer.factor_h, h, units, layer.panels_hh, panel, H, layer.saved, place, width, False
            )
        else:
            products = layer.h if work.cell.gate_is_h else layer.gates
            place = _place(work, layer, t, p, low, g)
            row = _row(work, layer)
            multiply_rows(
                rows, layer.factor_h, h, units, layer.panels_hh, panel, H, products, place, row, True
            )


@njit(**INNER)
def _pointwise(work, layer, t, p, low, rows):
    """From products to gates and states."""
    width = width_of(layer.h)
    units = work.units
    unit = p * width
    slot = slot_of(work, t)
    following = slot_of(work, t + 1)
    gates = _place(work, layer, t, p, low, 0)
    before = (t * work.B + low) * units + unit
    after = before + work.B * units
    now = row_at(work, slot, p, low) * width
    c_next = row_at(work, following, p, low) * width
    steps.forward(
        work.cell.number, rows, layer.gates, gates, layer.bias, unit, units, layer.c, now, c_next,
        layer.saved, now, layer.h, before, after, units,
    )  # fmt: skip

"""The forward pass of one layer, as one member of a team computes it.

A share is a part of the sequences (rows) or a part of the units (panels).  With a part of the sequences, a
member needs nothing of the others once the weights are packed.  With a part of the units it reads its own
weights only, which may stay in its core's cache, and waits for the others after every step.
"""

from typing import NamedTuple

from numba import njit

from rnnlab.kernels.cells import KernelProperties
from rnnlab.kernels.packed import steps
from rnnlab.kernels.packed.barrier import wait
from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import INNER, OPTIONS, pack_transposed
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
    bias: object  # [G,H'], and one more with the recurrent product that a gate multiplies
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
    whole = numbers - numbers % lanes(source)
    for j in range(0, whole, lanes(source)):
        store(target, first + j, load(source, begin + j))
    for j in range(whole, numbers):
        put(target, first + j, number(source, begin + j))


@njit(**OPTIONS)
def part(count, share):
    """This member's part of a number of things: first, last."""
    return count * share.member // share.members, count * (share.member + 1) // share.members


@njit(**INNER)
def slot_of(sizes, t):
    """The slot of time step t; a division takes longer than to see that none is needed."""
    return t if t < sizes.slots else t % sizes.slots


@njit(**OPTIONS)
def run_forward(sizes, share, layer, counter):
    """Compute a share of h, c, gates and what is saved."""
    _pack(sizes, share, layer)
    if not share.waits:
        wait(counter, share.members)
    for start in range(0, sizes.T, sizes.chunk):
        stop = min(sizes.T, start + sizes.chunk)
        if depth(layer.factor_x) > 1:
            _round_inputs(sizes, share, layer, counter, start, stop)
        _input_product(sizes, share, layer, start, stop)
        for t in range(start, stop):
            _step(sizes, share, layer, t)
            if share.waits:
                wait(counter, share.members)


@njit(**INNER)
def _step(sizes, share, layer, t):
    """A share of time step t: its pointwise work follows the product panel by panel."""
    for p in range(share.first, share.last):
        for low in range(share.low, share.high, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, share.high - low)
            _recurrent_product(sizes, layer, t, p, low, rows)
            _pointwise(sizes, layer, t, p, low, rows)
            if depth(layer.factor_h) > 1:
                _keep(sizes, layer, t, p, low, rows)


@njit(**INNER)
def _round_inputs(sizes, share, layer, counter, start, stop):
    """Round x of some time steps, for this member's sequences; members that share these round a part each."""
    rows = share.high - share.low
    first, last = part(rows, share) if share.waits else (0, rows)
    for t in range(start, stop):
        source = (t * sizes.B + share.low + first) * layer.x_row
        place = (slot_of(sizes, t) * sizes.B + share.low + first) * layer.x_row
        copy_numbers(layer.x, source, layer.factor_x, place, (last - first) * layer.x_row)
    if share.waits:
        wait(counter, share.members)


@njit(**INNER)
def _keep(sizes, layer, t, p, low, rows):
    """Round the step's states for the products, and what the gradient needs into the history."""
    width = VECTORS * lanes(layer.h)
    row = sizes.P * width
    following = slot_of(sizes, t + 1)
    for b in range(low, low + rows):
        source = ((t + 1) * sizes.B + b) * row + p * width
        copy_numbers(layer.h, source, layer.factor_h, (following * sizes.B + b) * row + p * width, width)
    source = (slot_of(sizes, t) * sizes.P + p) * sizes.B + low
    place = (t * sizes.P + p) * sizes.B + low
    if layer.gates.size:
        gates = sizes.G * width
        copy_numbers(layer.gates, source * gates, layer.history.gates, place * gates, rows * gates)
    if layer.saved.size:
        copy_numbers(layer.saved, source * width, layer.history.saved, place * width, rows * width)
    if layer.c.size:
        after = (following * sizes.P + p) * sizes.B + low
        place += sizes.P * sizes.B
        copy_numbers(layer.c, after * width, layer.history.c, place * width, rows * width)


@njit(**INNER)
def _pack(sizes, share, layer):
    """Pack the weights of this member's panels."""
    I = sizes.I
    H = sizes.H
    width = VECTORS * lanes(layer.h)
    first, last = part(sizes.P, share)
    for g in range(sizes.G):
        for p in range(first, last):
            unit = g * H + p * width
            columns = min(width, H - p * width)
            panel = (p * sizes.G + g) * width
            pack_transposed(layer.weight_ih, unit * I, I, I, columns, layer.panels_ih, panel * I)
            pack_transposed(layer.weight_hh, unit * H, H, H, columns, layer.panels_hh, panel * H)


@njit(**INNER)
def _place(sizes, layer, t, p, low, g):
    """Where the product of gate g, step t, panel p, sequence low starts: in gates, or in h if h is it."""
    width = VECTORS * lanes(layer.h)
    if sizes.cell.gate_is_h:
        return ((t + 1) * sizes.B + low) * sizes.P * width + p * width
    return (((slot_of(sizes, t) * sizes.P + p) * sizes.B + low) * sizes.G + g) * width


@njit(**INNER)
def _input_product(sizes, share, layer, start, stop):
    """The input product of some time steps, for panels that lie together in the result.

    Their blocks stay in the second cache for all rows of these steps.
    """
    I = sizes.I
    rows = share.high - share.low
    width = VECTORS * lanes(layer.h)
    in_h = sizes.cell.gate_is_h
    products = layer.h if in_h else layer.gates
    row = sizes.P * width if in_h else sizes.G * width
    at_once = PANELS_AT_ONCE if in_h else 1
    for p in range(share.first, share.last, at_once):
        columns = sizes.G * min(at_once, share.last - p) * width
        for k in range(0, I, K_BLOCK):
            steps = min(K_BLOCK, I - k)
            panels = (p * sizes.G * I + k) * width
            for t in range(start, stop):
                source = (slot_of(sizes, t) * sizes.B + share.low) * layer.x_row + k
                multiply_block(
                    False, rows, layer.factor_x, source, layer.x_row, layer.panels_ih, panels, I * width,
                    steps, columns, products, _place(sizes, layer, t, p, share.low, 0), row, k > 0, products,
                )  # fmt: skip


@njit(**INNER)
def _recurrent_product(sizes, layer, t, p, low, rows):
    """Add h U, except to the gate whose part another gate multiplies: this part goes into `saved`."""
    H = sizes.H
    width = VECTORS * lanes(layer.h)
    h = (slot_of(sizes, t) * sizes.B + low) * sizes.P * width
    h_row = sizes.P * width
    for g in range(sizes.G):
        panel = (p * sizes.G + g) * H * width
        if g == sizes.cell.inner:
            place = ((slot_of(sizes, t) * sizes.P + p) * sizes.B + low) * width
            multiply_rows(
                rows, layer.factor_h, h, h_row, layer.panels_hh, panel, H, layer.saved, place, width, False
            )
        else:
            in_h = sizes.cell.gate_is_h
            products = layer.h if in_h else layer.gates
            multiply_rows(
                rows, layer.factor_h, h, h_row, layer.panels_hh, panel, H,
                products, _place(sizes, layer, t, p, low, g), h_row if in_h else sizes.G * width, True,
            )  # fmt: skip


@njit(**INNER)
def _pointwise(sizes, layer, t, p, low, rows):
    """From products to gates and states."""
    B = sizes.B
    width = VECTORS * lanes(layer.h)
    h_row = sizes.P * width
    b = p * width
    following = slot_of(sizes, t + 1)
    before = (t * B + low) * h_row + b
    after = before + B * h_row
    gates = _place(sizes, layer, t, p, low, 0)
    now = ((slot_of(sizes, t) * sizes.P + p) * B + low) * width
    c_next = ((following * sizes.P + p) * B + low) * width
    steps.forward(
        sizes.cell.number, rows, layer.gates, gates, layer.bias, b, h_row, layer.c, now, c_next,
        layer.saved, now, layer.h, before, after, h_row,
    )  # fmt: skip

"""A network on packed products, layer by layer: forward and backward of packed_weights and packed_bfloat16.

Arrays of a layer are laid out for panels and filled up to whole ones; y, dx and the gradients leave in the
shapes of rnnlab.ladder.  In bfloat16 all sizes are even, and what products read has room for a chunk of time
steps only, like gates in float32: what is kept of them for all steps is rounded.  x and h stay as they are.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.packed import team
from rnnlab.kernels.packed.backward import Gradients, Room, row_of_dg, run_backward
from rnnlab.kernels.packed.forward import (
    History,
    Layer,
    Share,
    Sizes,
    run_forward,
)
from rnnlab.kernels.packed.host import ROWS, VECTORS
from rnnlab.kernels.packed.kernel import add_pair_tiles
from rnnlab.kernels.packed.memory import aligned, keep_freed
from rnnlab.kernels.packed.panels import panel_count, panel_width
from rnnlab.kernels.packed.products import K_BLOCK, PANELS_AT_ONCE, STRIP_ROOM, STRIP_STEPS
from rnnlab.kernels.packed.split import split
from rnnlab.layers import backward_through_layers, forward_through_layers
from rnnlab.narrow import to_bfloat16
from rnnlab.network import Layer as Parameters
from rnnlab.network import Network, check_cell, inner_bias, merged_bias
from rnnlab.resources import caches

# Sequences times time steps of a chunk: enough that packing is a small part of a product, few enough for a
# second-level cache of 1 MB: with 256 an LSTM of 100×16, 64×128 took 6 % longer on a Zen 4, AVX-512 masked.
CHUNK_ROWS = 192
MANY_WEIGHTS = 4  # times as many as that must be more than the numbers of x
BFLOAT16 = "uint16"  # dtype of arrays of bfloat16 numbers; see vectors.py


class PackedSaved(NamedTuple):
    """What a layer saves for its gradient; see forward.Layer."""

    x: np.ndarray  # [T,B,x_row]
    inputs: int
    h: np.ndarray  # [T+1,B,H']
    gates: np.ndarray
    c: np.ndarray
    saved: np.ndarray


def forward(network: Network, x: np.ndarray, state: State | None, members: int, storage: str = ""):
    """y [T,B,H] (read-only), the final state, and what each layer saved, by a team of so many.

    storage: BFLOAT16, for even sizes; nothing for the network's own dtype.
    """
    keep_freed()
    storage = storage or network.dtype
    check_cell(network, KERNEL_PROPERTIES)
    H = network.hidden_size

    def run(index, x, state):
        x = x[1:] if index > 0 else _plain(x)  # [T,B,H'] of the layer below, of which H are inputs
        saved, last = _layer_forward(network, index, x, state, members, storage)
        return saved.h, last, saved

    y, state, saved = forward_through_layers(network, x, state, run)
    y = y[1:, :, :H]
    y = y if y.flags.c_contiguous else y.copy()
    y.flags.writeable = False  # y may be a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(network: Network, saved: list[PackedSaved], dy: np.ndarray, dstate: State | None, members: int):
    """dx [T,B,I], dstate, gradients, by a team of so many."""

    def run(index, saved, dy, dstate):
        return _layer_backward(network, index, saved, dy, dstate, members)

    return backward_through_layers(network, saved, saved[0].x.shape[:2], dy, dstate, run)


def _layer_forward(
    network: Network, index: int, x: np.ndarray, state: State, members: int, storage: str | np.dtype
):
    """What the layer saves, and its state after the last step."""
    inputs = network.input_size if index == 0 else network.hidden_size
    sizes, shares = _plan(network, *x.shape[:2], inputs, members, storage)
    width = panel_width(storage)
    H = sizes.H
    units = sizes.P * width
    h = aligned((sizes.T + 1, sizes.B, units), network.dtype)
    h[0, :, :H] = state[0]
    h[0, :, H:] = 0
    own = _make_history(sizes, min(sizes.T, sizes.slots), network.dtype)
    if sizes.cell.has_c:
        own.c[0] = _panels(state[1], sizes.P, width)
    history = own
    factors = (x, h)
    if storage != network.dtype:
        history = _make_history(sizes, sizes.T, storage)
        history.c[:1] = to_bfloat16(own.c[:1])
        rows = sizes.slots, sizes.B
        factors = tuple(aligned((*rows, row), storage) for row in (x.shape[2], units))
        factors[1][0] = to_bfloat16(h[0])
    saved = PackedSaved(x, inputs, h, *history)
    room = (aligned(sizes.G * units * columns, storage) for columns in (inputs, H))
    layer = _arrays(network, index, saved, own, _bias(network, index, units), *factors, *room)
    _run_team(shares, lambda share, counter: run_forward(sizes, share, layer, counter))
    last = (h[-1, :, :H],)
    if sizes.cell.has_c:
        last += (_rows(own.c[sizes.T % sizes.slots], H),)
    return saved, last


def _make_history(sizes: Sizes, steps: int, dtype: str | np.dtype) -> History:
    """Room for gates, c and what is saved of so many steps."""
    width = panel_width(dtype)
    panels = sizes.P, sizes.B
    gates = aligned(0 if sizes.cell.gate_is_h else (steps, *panels, sizes.G, width), dtype)
    c = aligned((steps + 1, *panels, width) if sizes.cell.has_c else 0, dtype)
    saved = aligned((steps, *panels, width) if sizes.cell.saves else 0, dtype)
    return History(gates, c, saved)


def _arrays(
    network: Network, index: int, saved: PackedSaved, own: tuple, bias: np.ndarray, *room: np.ndarray
) -> Layer:
    """The flat arrays of a layer's forward pass; own, like the last of saved: gates, c, saved."""
    parameters = network.layer(index)
    weights = (_flat(_plain(weight)) for weight in (parameters.weight_ih, parameters.weight_hh))
    own, history = (History(*map(_flat, arrays)) for arrays in (own, saved[-3:]))
    h = _flat(saved.h)
    return Layer(_flat(saved.x), saved.x.shape[2], *weights, bias, h, *own, history, *map(_flat, room))


def _layer_backward(
    network: Network, index: int, saved: PackedSaved, dy: np.ndarray, dstate: State, members: int
):
    """dx, the initial state's gradient and the layer's gradients."""
    storage = saved.gates.dtype
    dtype = saved.h.dtype
    sizes, shares = _plan(network, *saved.x.shape[:2], saved.inputs, members, storage)
    width = panel_width(storage)
    H = sizes.H
    units = sizes.P * width
    if storage == dtype:
        in_place = sizes.G == 1 and shares[0].waits and sizes.I <= units < 2 * sizes.I
    else:
        # 2 to 4 % slower than chunks, and worth it where another member's gradients of weights would be large
        is_large = MANY_WEIGHTS * H * (sizes.I + H) > saved.x.size
        in_place = sizes.G == 1 and units <= 2 * sizes.I and is_large
    block = min(sizes.T, max(1, STRIP_STEPS // sizes.B)) if in_place else sizes.chunk
    sizes = sizes._replace(chunk=sizes.T) if in_place else sizes
    layer = _arrays(network, index, saved, saved[-3:], aligned(0, dtype), *[aligned(0, storage)] * 4)
    carry = _panels(dstate[0], sizes.P, width)
    dc = past = aligned(0, dtype)
    if sizes.cell.has_c:
        dc = _panels(dstate[1], sizes.P, width)
    if sizes.cell.passes_h:
        past = _panels(np.zeros_like(dstate[0]), sizes.P, width)
    inputs = _padded(dy, units), carry, dc, past
    gradients = _gradient_arrays(sizes, shares, (dtype, storage), inputs, block, in_place)
    rooms = _rooms(sizes, shares, (dtype, storage), block, in_place)
    _run_team(
        shares,
        lambda share, counter: run_backward(sizes, share, layer, gradients, rooms[share.member], counter),
    )
    dh = _rows(carry, H)
    if sizes.cell.passes_h:
        dh = dh + _rows(past, H)
    first = (dh, _rows(dc, H)) if sizes.cell.has_c else (dh,)
    dx = gradients.dx[: sizes.T * sizes.B * sizes.I]
    return dx.reshape(sizes.T, sizes.B, sizes.I), first, _parameters(sizes, gradients.dw)


def _gradient_arrays(sizes: Sizes, shares, dtypes, inputs: tuple, block: int, in_place: bool) -> Gradients:
    """The flat arrays of a layer's backward pass, from dy, carry, dc and past.

    dtypes: of gradients, and of what products read.
    """
    I = sizes.I
    G = sizes.G
    dtype, storage = dtypes
    width = panel_width(dtype)
    room = lambda size: aligned(size, dtype)
    units = sizes.P * width
    columns = G + (sizes.cell.inner >= 0)
    rows_of_dg = sizes.chunk * sizes.B * row_of_dg(sizes, width // VECTORS)
    packed = G * units * units
    numbers = G * sizes.H * (I + sizes.H) + columns * sizes.H
    in_one = dtype.itemsize // storage.itemsize
    if in_place:
        dx = room(max(sizes.T * sizes.B * I, rows_of_dg // in_one))
        dw = room(max(numbers, packed // in_one))
        dg = dx.view(storage)
        panels = dw.view(storage)
    else:
        dx, dw = map(room, (sizes.T * sizes.B * I, numbers))
        dg, panels = (aligned(size, storage) for size in (rows_of_dg, packed))
    alone = not (shares[0].waits or in_place)
    from_last = row_of_dg(sizes, width // VECTORS) < in_one * I
    panels_ih = aligned(alone * panel_count(I, dtype) * width * G * units, storage)
    others = room(alone * (len(shares) - 1) * numbers)
    flat = map(_flat, inputs)
    return Gradients(*flat, dg, panels, panels_ih, in_place, from_last, block, dx, dw, others)


def _rooms(sizes: Sizes, shares: tuple[Share, ...], dtypes, block: int, in_place: bool) -> list[Room]:
    """Room for each member to pack into: with operands of its own, unless members share sequences."""
    dtype, storage = dtypes
    width = panel_width(dtype)
    row = max(panel_count(sizes.I, dtype), sizes.P) * width
    if in_place:
        row = max(row, row_of_dg(sizes, width // VECTORS))
    packed = max(STRIP_ROOM, K_BLOCK * PANELS_AT_ONCE * width)
    if shares[0].waits or in_place:
        operands = [aligned(block * sizes.B * row, storage)] * len(shares)
    else:
        operands = [aligned(block * (share.high - share.low) * row, storage) for share in shares]
    return [Room(own, aligned(packed, storage), aligned(ROWS * width, dtype)) for own in operands]


def _parameters(sizes: Sizes, dw: np.ndarray) -> Parameters:
    """The layer's gradients in the shapes and the order of its parameters."""
    H = sizes.H
    rows = sizes.G * sizes.H
    dw_ih, dw_hh, db = np.split(dw, (rows * sizes.I, rows * (sizes.I + H)))
    columns = sizes.G + (sizes.cell.inner >= 0)
    db_ih = db[: columns * H].reshape(columns, H)
    db_hh = db_ih.copy()
    if sizes.cell.inner >= 0:
        others = [gate for gate in range(sizes.G) if gate != sizes.cell.inner]
        order = np.argsort([sizes.cell.inner, *others])
        db_hh = np.roll(db_ih[1:], 1, 0)[order]
        db_ih = db_ih[:-1][order]
    return Parameters(
        dw_ih.reshape(rows, sizes.I), dw_hh.reshape(rows, H), db_ih.reshape(rows), db_hh.reshape(rows)
    )


def _plan(
    network: Network, T: int, B: int, inputs: int, members: int, storage: str | np.dtype
) -> tuple[Sizes, tuple[Share, ...]]:
    """Sizes of a layer, and the shares of a team of at most so many."""
    H = network.hidden_size
    P = panel_count(network.hidden_size, storage)
    is_narrow = storage == BFLOAT16
    if is_narrow:  # here, because what another process saved may come to backward without a forward
        add_pair_tiles()
    sizes = Sizes(KERNEL_PROPERTIES[network.cell], T, B, inputs, H, network.gates, P, T, 1 + is_narrow, T + 1)
    shares = split(sizes, members, np.dtype(storage).itemsize, _cache_bytes())
    chunk = min(T, max(1, CHUNK_ROWS // max(share.high - share.low for share in shares)))
    return sizes._replace(chunk=chunk, slots=chunk + 1 if is_narrow else T + 1), shares


def _run_team(shares: tuple[Share, ...], work: Callable[[Share, np.ndarray], None]) -> None:
    """Run work(share, counter) on a team, a member for each share; they share the barrier's counter."""
    counter = np.zeros(1, "int64")
    team.run(lambda member: work(shares[member], counter), len(shares), counter)


@cache
def _cache_bytes() -> int:
    """Bytes of one core's second-level cache; where the system does not say, 1 MB."""
    return caches().get("L2", 2**20)


def _plain(array: np.ndarray) -> np.ndarray:
    """The array, or a copy where its numbers do not lie one after the other, aligned and free to write.

    Numba would compile everything once more for an array that is read-only.
    """
    return np.require(array, requirements=("C", "A", "W"))


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1)


def _padded(array: np.ndarray, units: int) -> np.ndarray:
    """[T,B,n] as [T,B,units], with zeros behind."""
    if array.shape[2] == units:
        return _plain(array)
    wide = aligned((*array.shape[:2], units), array.dtype)
    wide[:, :, : array.shape[2]] = array
    wide[:, :, array.shape[2] :] = 0
    return wide


def _bias(network: Network, index: int, units: int) -> np.ndarray:
    """The biases of all gates [G,units], flat, and the one within the product that a gate multiplies."""
    parameters = network.layer(index)
    H = network.hidden_size
    G = network.gates
    bias = aligned((G + bool(network.properties.inner_bias), units), network.dtype)
    bias[:G, :H] = merged_bias(network, parameters).reshape(G, H)
    bias[:, H:] = 0
    if network.properties.inner_bias:
        bias[G, :H] = inner_bias(network, parameters)
    return bias.reshape(-1)


def _panels(rows: np.ndarray, P: int, width: int) -> np.ndarray:
    """A copy of rows [B,H] as [P,B,width], with zeros behind."""
    B, H = rows.shape
    wide = np.zeros((B, P * width), rows.dtype)
    panels = aligned((P, B, width), rows.dtype)
    wide[:, :H] = rows
    panels[:] = wide.reshape(B, P, width).transpose(1, 0, 2)
    return panels


def _rows(panels: np.ndarray, H: int) -> np.ndarray:
    """[P,B,width] as [B,H]."""
    P, B, width = panels.shape
    return np.ascontiguousarray(panels.transpose(1, 0, 2)).reshape(B, P * width)[:, :H]

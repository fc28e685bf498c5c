"""A network on packed products, layer by layer: forward and backward of packed_weights and packed_bfloat16.

Arrays of a layer are laid out for panels and filled up to whole ones; y, dx and the gradients leave in the
shapes of rnnlab.ladder.  In bfloat16 all sizes are even, and what products read has room for a chunk of time
steps only, like gates in float32: what is kept of them for all steps is rounded.  x and h stay as they are.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.packed import team
from rnnlab.kernels.packed.backward import Gradients, Room, run_backward
from rnnlab.kernels.packed.forward import History, Layer, Sizes, Work, run_forward, works_of
from rnnlab.kernels.packed.host import ROWS, VECTORS
from rnnlab.kernels.packed.kernel import add_pair_tiles
from rnnlab.kernels.packed.memory import aligned, keep_freed
from rnnlab.kernels.packed.panels import panel_count, panel_width
from rnnlab.kernels.packed.products import K_BLOCK, PANELS_AT_ONCE, STRIP_ROOM, STRIP_STEPS
from rnnlab.kernels.packed.split import split
from rnnlab.layers import backward_through_layers, forward_through_layers
from rnnlab.narrow import to_bfloat16
from rnnlab.network import Network, check_cell, check_network, merged_bias, step_vectors
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
    check_cell(check_network(network), KERNEL_PROPERTIES)
    storage = storage or network.dtype
    run = partial(_layer_forward, network, members, storage)
    y, state, saved = forward_through_layers(network, x, state, run)
    y = y[:, :, : network.hidden_size]
    if not y.flags.c_contiguous:
        y = y.copy()
    y.flags.writeable = False  # y may be a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(network: Network, saved: list[PackedSaved], dy: np.ndarray, dstate: State | None, members: int):
    """dx [T,B,I], dstate, gradients, by a team of so many."""
    run = partial(_layer_backward, network, members)
    sizes = saved[0].x.shape[:2]  # T, B
    return backward_through_layers(network, saved, sizes, dy, dstate, run)


def _layer_forward(
    network: Network, members: int, storage: str | np.dtype, index: int, x: np.ndarray, state: State
):
    """h [T,B,H'] of which H are outputs, the state after the last step, and what is saved, of one layer."""
    inputs = network.hidden_size
    if index == 0:
        inputs = network.input_size
        x = _plain(x)
    T, B, x_row = x.shape
    works = _plan(network, T, B, inputs, members, storage)
    work = works[0]
    H = work.H
    units = work.units
    slots = work.slots
    dtype = network.dtype
    h = aligned((T + 1, B, units), dtype)
    h[0, :, :H] = state[0]
    h[0, :, H:] = 0
    own = _make_history(work, min(T, slots), dtype)
    if work.cell.has_c:
        own.c[0] = _panels(state[1], work)
    history = own
    factor_x = x
    factor_h = h
    if storage != dtype:
        history = _make_history(work, T, storage)
        history.c[:1] = to_bfloat16(own.c[:1])
        factor_x = aligned((slots, B, x_row), storage)
        factor_h = aligned((slots, B, units), storage)
        factor_h[0] = to_bfloat16(h[0])
    saved = PackedSaved(x, inputs, h, *history)
    rows = work.G * units
    panels_ih = aligned(rows * inputs, storage)
    panels_hh = aligned(rows * H, storage)
    bias = _bias(network, index, units)
    layer = _arrays(network, index, saved, own, bias, factor_x, factor_h, panels_ih, panels_hh)
    _run_team(works, lambda work, counter: run_forward(work, layer, counter))
    last = (h[-1, :, :H],)
    if work.cell.has_c:
        c = own.c[T % slots]
        last += (_rows(c, H),)
    return h[1:], last, saved


def _make_history(work: Work, steps: int, dtype: str | np.dtype) -> History:
    """Room for gates, c and what is saved of so many steps."""

    def room(exists, steps, *columns):
        shape = (steps, work.P, work.B, *columns, work.width)
        return aligned(shape if exists else 0, dtype)

    cell = work.cell
    gates = room(not cell.gate_is_h, steps, work.G)
    c = room(cell.has_c, steps + 1)
    return History(gates, c, room(cell.saves, steps))


def _arrays(
    network: Network, index: int, saved: PackedSaved, own: tuple, bias: np.ndarray, *room: np.ndarray
) -> Layer:
    """The flat arrays of a layer's forward pass; own, like the last of saved: gates, c, saved."""
    parameters = network.layer(index)
    weight_ih = _flat(_plain(parameters.weight_ih))
    weight_hh = _flat(_plain(parameters.weight_hh))
    x_row = saved.x.shape[2]
    x = _flat(saved.x)
    h = _flat(saved.h)
    own = map(_flat, own)
    history = History(*map(_flat, saved[-3:]))
    return Layer(x, x_row, weight_ih, weight_hh, bias, h, *own, history, *map(_flat, room))


def _layer_backward(
    network: Network, members: int, index: int, saved: PackedSaved, dy: np.ndarray, dstate: State
):
    """dx, the initial state's gradient and the layer's gradients."""
    storage = saved.gates.dtype
    dtype = saved.h.dtype
    T, B, _ = saved.x.shape
    works = _plan(network, T, B, saved.inputs, members, storage)
    work = works[0]
    cell = work.cell
    H = work.H
    units = work.units
    in_place = _is_in_place(work, storage != dtype, saved.x.size)
    block = work.chunk
    after = works
    if in_place:
        block = min(T, max(1, STRIP_STEPS // B))
        works = [work._replace(chunk=T) for work in works]
        after = [work._replace(low=0, high=B, waits=True) for work in works]
        work = works[0]
    bias = _bias(network, index, units) if cell.own_vectors else aligned(0, dtype)
    empty = aligned(0, storage)
    layer = _arrays(network, index, saved, saved[-3:], bias, empty, empty, empty, empty)
    carry = _panels(dstate[0], work)
    dc = past = aligned(0, dtype)
    if cell.has_c:
        dc = _panels(dstate[1], work)
    if cell.passes_h:
        past = _panels(np.zeros_like(dstate[0]), work)
    inputs = _padded(dy, units), carry, dc, past
    dtypes = dtype, storage
    gradients = _gradient_arrays(works, dtypes, inputs, block, in_place)
    rooms = _rooms(after, dtypes, block, in_place)

    def task(work, counter):
        member = work.member
        run_backward(work, after[member], layer, gradients, rooms[member], counter)

    _run_team(works, task)
    dh = _rows(carry, H)
    if cell.passes_h:
        dh = dh + _rows(past, H)
    first = (dh, _rows(dc, H)) if cell.has_c else (dh,)
    dx = gradients.dx[: T * B * work.I].reshape(T, B, work.I)
    dvectors = sum(room.dvectors for room in rooms).reshape(-1, units)
    return dx, first, (*_parameters(work, gradients.dw), *dvectors[:, :H])


def _is_in_place(work: Work, is_narrow: bool, inputs: int) -> bool:
    """Whether a plain RNN's dg of all steps is one chunk, in the place of dx; see backward.py.

    inputs: numbers of x in all steps.
    """
    if work.G > 1:
        return False
    if not is_narrow:
        return work.waits and work.I <= work.units < 2 * work.I
    # 2 to 4 % slower than chunks, and worth it where another member's gradients of weights would be large
    weights = work.H * (work.I + work.H)
    return work.units <= 2 * work.I and MANY_WEIGHTS * weights > inputs


def _gradient_arrays(works, dtypes, inputs: tuple, block: int, in_place: bool) -> Gradients:
    """The flat arrays of a layer's backward pass, from dy, carry, dc and past.

    dtypes: of gradients, and of what products read.
    """
    work = works[0]
    I = work.I
    dtype, storage = dtypes
    dg_numbers = work.chunk * work.B * work.dg_row
    packed_numbers = work.G * work.units**2
    in_one = dtype.itemsize // storage.itemsize
    dx_numbers = work.T * work.B * I
    if in_place:
        dx_numbers = max(dx_numbers, dg_numbers // in_one)
        dw_numbers = max(work.numbers, packed_numbers // in_one)
        dx = aligned(dx_numbers, dtype)
        dw = aligned(dw_numbers, dtype)
        dg = dx.view(storage)
        panels = dw.view(storage)
    else:
        dx = aligned(dx_numbers, dtype)
        dw = aligned(work.numbers, dtype)
        dg = aligned(dg_numbers, storage)
        panels = aligned(packed_numbers, storage)
    panels_ih = aligned(0, storage)
    others = aligned(0, dtype)
    if not (work.waits or in_place):
        columns = panel_count(I, dtype) * work.width
        panels_ih = aligned(columns * work.G * work.units, storage)
        others = aligned((len(works) - 1) * work.numbers, dtype)
    from_last = work.dg_row < in_one * I
    return Gradients(*map(_flat, inputs), dg, panels, panels_ih, in_place, from_last, block, dx, dw, others)


def _rooms(works: Sequence[Work], dtypes, block: int, in_place: bool) -> list[Room]:
    """Room for each member to pack into: with operands of its own, unless members share sequences."""
    dtype, storage = dtypes
    work = works[0]
    width = work.width
    row = max(panel_count(work.I, dtype) * width, work.units)
    if in_place:
        row = max(row, work.dg_row)
    packed_numbers = max(STRIP_ROOM, K_BLOCK * PANELS_AT_ONCE * width)
    members = len(works)
    dvectors = np.zeros((members, work.cell.own_vectors * work.units), dtype)
    rooms = []
    operands = None
    for own, of_vectors in zip(works, dvectors, strict=True):
        if operands is None or not work.waits:
            sequences = own.high - own.low
            operands = aligned(block * sequences * row, storage)
        packed = aligned(packed_numbers, storage)
        spare = aligned(ROWS * width, dtype)
        rooms.append(Room(operands, packed, spare, of_vectors))
    return rooms


def _parameters(work: Work, dw: np.ndarray) -> tuple[np.ndarray, ...]:
    """The gradients of the layer's weights and biases, in their shapes and their order."""
    H = work.H
    rows = work.G * H
    input_weights = rows * work.I
    weights = input_weights + rows * H
    dw_ih = dw[:input_weights].reshape(rows, work.I)
    dw_hh = dw[input_weights:weights].reshape(rows, H)
    db = dw[weights : work.numbers].reshape(-1, H)
    db_ih = db[: work.G]
    db_hh = db[-work.G :].copy()
    inner = work.cell.inner
    if inner >= 0:
        others = [gate for gate in range(work.G) if gate != inner]
        db_ih = db_ih[np.argsort([inner, *others])]
        db_hh = db_hh[np.argsort([*others, inner])]
    return dw_ih, dw_hh, db_ih.ravel(), db_hh.ravel()


def _plan(
    network: Network, T: int, B: int, inputs: int, members: int, storage: str | np.dtype
) -> tuple[Work, ...]:
    """The work of each member on a layer, of a team of at most so many."""
    H = network.hidden_size
    P = panel_count(H, storage)
    cell = KERNEL_PROPERTIES[network.cell]
    is_narrow = storage == BFLOAT16
    if is_narrow:  # here, because what another process saved may come to backward without a forward
        add_pair_tiles()
    together = 2 if is_narrow else 1
    sizes = Sizes(cell, T, B, inputs, H, network.gates, P, T, together, T + 1)
    itemsize = np.dtype(storage).itemsize
    shares = split(sizes, members, itemsize, _cache_bytes())
    rows = max(share.high - share.low for share in shares)
    chunk = min(T, max(1, CHUNK_ROWS // rows))
    slots = chunk + 1 if is_narrow else T + 1
    sizes = sizes._replace(chunk=chunk, slots=slots)
    return works_of(sizes, shares, panel_width(storage) // VECTORS)


def _run_team(works: Sequence[Work], task: Callable[[Work, np.ndarray], None]) -> None:
    """Run task(work, counter) on a team, a member for each work; they share the barrier's counter."""
    counter = np.zeros(1, "int64")
    team.run(lambda member: task(works[member], counter), len(works), counter)


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
    T, B, columns = array.shape
    if columns == units:
        return _plain(array)
    wide = aligned((T, B, units), array.dtype)
    wide[:, :, :columns] = array
    wide[:, :, columns:] = 0
    return wide


def _bias(network: Network, index: int, units: int) -> np.ndarray:
    """The biases of all gates, then the vectors of a step [G+V,units], flat."""
    layer = network.layer(index)
    H = network.hidden_size
    vectors = step_vectors(network, layer)
    G = network.gates
    rows = G + len(vectors)
    bias = aligned((rows, units), network.dtype)
    bias[:G, :H] = merged_bias(network, layer).reshape(G, H)
    bias[G:, :H] = vectors
    bias[:, H:] = 0
    return bias.reshape(-1)


def _panels(rows: np.ndarray, work: Work) -> np.ndarray:
    """A copy of rows [B,H] as [P,B,width], with zeros behind."""
    P = work.P
    B = work.B
    width = work.width
    wide = np.zeros((B, work.units), rows.dtype)
    wide[:, : work.H] = rows
    panels = aligned((P, B, width), rows.dtype)
    panels[:] = wide.reshape(B, P, width).transpose(1, 0, 2)
    return panels


def _rows(panels: np.ndarray, H: int) -> np.ndarray:
    """[P,B,width] as [B,H]."""
    P, B, width = panels.shape
    rows = np.ascontiguousarray(panels.transpose(1, 0, 2)).reshape(B, P * width)
    return rows[:, :H]

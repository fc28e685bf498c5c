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
    y = y if y.flags.c_contiguous else y.copy()
    y.flags.writeable = False  # y may be a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(network: Network, saved: list[PackedSaved], dy: np.ndarray, dstate: State | None, members: int):
    """dx [T,B,I], dstate, gradients, by a team of so many."""
    run = partial(_layer_backward, network, members)
    return backward_through_layers(network, saved, saved[0].x.shape[:2], dy, dstate, run)


def _layer_forward(
    network: Network, members: int, storage: str | np.dtype, index: int, x: np.ndarray, state: State
):
    """h [T,B,H'] of which H are outputs, the state after the last step, and what is saved, of one layer."""
    inputs = network.hidden_size
    if index == 0:
        inputs = network.input_size
        x = _plain(x)
    works = _plan(network, *x.shape[:2], inputs, members, storage)
    work = works[0]
    H = work.H
    h = aligned((work.T + 1, work.B, work.units), network.dtype)
    h[0, :, :H] = state[0]
    h[0, :, H:] = 0
    own = _make_history(work, min(work.T, work.slots), network.dtype)
    if work.cell.has_c:
        own.c[0] = _panels(state[1], work)
    history = own
    factors = (x, h)
    if storage != network.dtype:
        history = _make_history(work, work.T, storage)
        history.c[:1] = to_bfloat16(own.c[:1])
        factors = tuple(aligned((work.slots, work.B, row), storage) for row in (x.shape[2], work.units))
        factors[1][0] = to_bfloat16(h[0])
    saved = PackedSaved(x, inputs, h, *history)
    room = (aligned(work.G * work.units * columns, storage) for columns in (inputs, H))
    layer = _arrays(network, index, saved, own, _bias(network, index, work.units), *factors, *room)
    _run_team(works, lambda work, counter: run_forward(work, layer, counter))
    last = (h[-1, :, :H],)
    if work.cell.has_c:
        last += (_rows(own.c[work.T % work.slots], H),)
    return h[1:], last, saved


def _make_history(work: Work, steps: int, dtype: str | np.dtype) -> History:
    """Room for gates, c and what is saved of so many steps."""

    def room(exists, steps, *columns):
        return aligned((steps, work.P, work.B, *columns, work.width) if exists else 0, dtype)

    cell = work.cell
    gates = room(not cell.gate_is_h, steps, work.G)
    return History(gates, room(cell.has_c, steps + 1), room(cell.saves, steps))


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
    network: Network, members: int, index: int, saved: PackedSaved, dy: np.ndarray, dstate: State
):
    """dx, the initial state's gradient and the layer's gradients."""
    storage = saved.gates.dtype
    dtype = saved.h.dtype
    works = _plan(network, *saved.x.shape[:2], saved.inputs, members, storage)
    work = works[0]
    in_place = _is_in_place(work, storage != dtype, saved.x.size)
    block = work.chunk
    after = works
    if in_place:
        block = min(work.T, max(1, STRIP_STEPS // work.B))
        works = [work._replace(chunk=work.T) for work in works]
        after = [work._replace(low=0, high=work.B, waits=True) for work in works]
        work = works[0]
    bias = _bias(network, index, work.units) if work.cell.own_vectors else aligned(0, dtype)
    layer = _arrays(network, index, saved, saved[-3:], bias, *[aligned(0, storage)] * 4)
    carry = _panels(dstate[0], work)
    dc = past = aligned(0, dtype)
    if work.cell.has_c:
        dc = _panels(dstate[1], work)
    if work.cell.passes_h:
        past = _panels(np.zeros_like(dstate[0]), work)
    inputs = _padded(dy, work.units), carry, dc, past
    gradients = _gradient_arrays(works, (dtype, storage), inputs, block, in_place)
    rooms = _rooms(after, (dtype, storage), block, in_place)

    def task(work, counter):
        run_backward(work, after[work.member], layer, gradients, rooms[work.member], counter)

    _run_team(works, task)
    dh = _rows(carry, work.H)
    if work.cell.passes_h:
        dh = dh + _rows(past, work.H)
    first = (dh, _rows(dc, work.H)) if work.cell.has_c else (dh,)
    dx = gradients.dx[: work.T * work.B * work.I].reshape(work.T, work.B, work.I)
    parameters = _parameters(work, gradients.dw)
    if work.cell.own_vectors:
        parameters += (*sum(room.dvectors for room in rooms).reshape(-1, work.units)[:, : work.H],)
    return dx, first, parameters


def _is_in_place(work: Work, is_narrow: bool, inputs: int) -> bool:
    """Whether a plain RNN's dg of all steps is one chunk, in the place of dx; see backward.py.

    inputs: numbers of x in all steps.
    """
    if work.G > 1:
        return False
    if not is_narrow:
        return work.waits and work.I <= work.units < 2 * work.I
    # 2 to 4 % slower than chunks, and worth it where another member's gradients of weights would be large
    is_large = MANY_WEIGHTS * work.H * (work.I + work.H) > inputs
    return work.units <= 2 * work.I and is_large


def _gradient_arrays(works, dtypes, inputs: tuple, block: int, in_place: bool) -> Gradients:
    """The flat arrays of a layer's backward pass, from dy, carry, dc and past.

    dtypes: of gradients, and of what products read.
    """
    work = works[0]
    I = work.I
    dtype, storage = dtypes
    rows_of_dg = work.chunk * work.B * work.dg_row
    packed = work.G * work.units**2
    in_one = dtype.itemsize // storage.itemsize
    numbers = work.T * work.B * I, work.numbers
    if in_place:
        dx, dw = (
            aligned(max(own, others // in_one), dtype)
            for own, others in zip(numbers, (rows_of_dg, packed), strict=True)
        )
        dg = dx.view(storage)
        panels = dw.view(storage)
    else:
        dx, dw = (aligned(size, dtype) for size in numbers)
        dg, panels = (aligned(size, storage) for size in (rows_of_dg, packed))
    alone = not (work.waits or in_place)
    columns = panel_count(I, dtype) * work.width
    panels_ih = aligned(alone * columns * work.G * work.units, storage)
    others = aligned(alone * (len(works) - 1) * work.numbers, dtype)
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
    packed = max(STRIP_ROOM, K_BLOCK * PANELS_AT_ONCE * width)
    owners = works[:1] if work.waits else works
    operands = [aligned(block * (work.high - work.low) * row, storage) for work in owners]
    operands *= len(works) // len(owners)
    dvectors = np.zeros((len(works), work.cell.own_vectors * work.units), dtype)
    return [
        Room(own, aligned(packed, storage), aligned(ROWS * width, dtype), part)
        for own, part in zip(operands, dvectors, strict=True)
    ]


def _parameters(work: Work, dw: np.ndarray) -> tuple[np.ndarray, ...]:
    """The gradients of the layer's weights and biases, in their shapes and their order."""
    H = work.H
    rows = work.G * H
    dw_ih, dw_hh, db = np.split(dw[: work.numbers], (rows * work.I, rows * (work.I + H)))
    db = db.reshape(-1, H)
    db_ih = db[: work.G]
    db_hh = db[-work.G :].copy()
    inner = work.cell.inner
    if inner >= 0:
        others = [gate for gate in range(work.G) if gate != inner]
        db_ih = db_ih[np.argsort([inner, *others])]
        db_hh = db_hh[np.argsort([*others, inner])]
    return dw_ih.reshape(rows, work.I), dw_hh.reshape(rows, H), db_ih.ravel(), db_hh.ravel()


def _plan(
    network: Network, T: int, B: int, inputs: int, members: int, storage: str | np.dtype
) -> tuple[Work, ...]:
    """The work of each member on a layer, of a team of at most so many."""
    P = panel_count(network.hidden_size, storage)
    cell = KERNEL_PROPERTIES[network.cell]
    is_narrow = storage == BFLOAT16
    if is_narrow:  # here, because what another process saved may come to backward without a forward
        add_pair_tiles()
    sizes = Sizes(cell, T, B, inputs, network.hidden_size, network.gates, P, T, 1 + is_narrow, T + 1)
    shares = split(sizes, members, np.dtype(storage).itemsize, _cache_bytes())
    chunk = min(T, max(1, CHUNK_ROWS // max(share.high - share.low for share in shares)))
    slots = chunk + 1 if is_narrow else T + 1
    return works_of(sizes._replace(chunk=chunk, slots=slots), shares, panel_width(storage) // VECTORS)


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
    if array.shape[2] == units:
        return _plain(array)
    wide = aligned((*array.shape[:2], units), array.dtype)
    wide[:, :, : array.shape[2]] = array
    wide[:, :, array.shape[2] :] = 0
    return wide


def _bias(network: Network, index: int, units: int) -> np.ndarray:
    """The biases of all gates, then the vectors of a step [G+V,units], flat."""
    layer = network.layer(index)
    H = network.hidden_size
    vectors = step_vectors(network, layer)
    G = network.gates
    bias = aligned((G + len(vectors), units), network.dtype)
    bias[:G, :H] = merged_bias(network, layer).reshape(G, H)
    bias[G:, :H] = vectors
    bias[:, H:] = 0
    return bias.reshape(-1)


def _panels(rows: np.ndarray, work: Work) -> np.ndarray:
    """A copy of rows [B,H] as [P,B,width], with zeros behind."""
    wide = np.zeros((work.B, work.units), rows.dtype)
    panels = aligned((work.P, work.B, work.width), rows.dtype)
    wide[:, : work.H] = rows
    panels[:] = wide.reshape(work.B, work.P, work.width).transpose(1, 0, 2)
    return panels


def _rows(panels: np.ndarray, H: int) -> np.ndarray:
    """[P,B,width] as [B,H]."""
    P, B, width = panels.shape
    return np.ascontiguousarray(panels.transpose(1, 0, 2)).reshape(B, P * width)[:, :H]

"""No step waits for the one before: a cell that is linear in its state, all steps by one scan.

Products per layer, of T steps: 1 + T forward → 1 (W_ih times all x), T + 3 backward → 2 (dx, dW_ih).
Dependent calls: T → C + T/C both ways, for chunks of C steps (rnnlab.scan.chunked).  Where there is Numba, no
step is a call: one thread runs short sequences step by step, threads share the chunks of long ones
(rnnlab.kernels.compiled.scan).  The step of such a cell is an affine map of h, read off the cell itself: its
value at h = 0, and its slope.  Gates that read h make a step nonlinear: see rnnlab.newton.
"""

import math
from functools import cache, partial
from importlib.util import find_spec

import numpy as np

from rnnlab import scan
from rnnlab.cells import CELLS, SavedStep
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.layers import (
    backward_through_layers,
    forward_through_layers,
    input_products,
    parameter_gradients,
    product,
)
from rnnlab.network import check_cell

PROPERTIES = RungProperties(
    idea="a state that no gate reads: all steps by one scan",
    lesson="18_parallel_in_time",
    cells=tuple(cell.mode for cell in CELLS.values() if not cell.reads_state),
    ledger=Ledger("products", lambda n: 1, lambda n: 2),
)


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""

    def run(index, x, state):
        check_cell(network, PROPERTIES.cells)
        layer = network.layer(index)
        _, _, _, _, *vectors = layer
        zeros = np.zeros((*x.shape[:2], network.hidden_size), x.dtype)
        gates_x = input_products(layer, x)
        (constant,), saved = network.properties.pointwise(gates_x, None, (zeros,), *vectors)
        h = _states()(scan.Maps(_slope(network, saved, vectors), constant), state[0])
        return h[1:], (h[-1],), (x, h, saved.gates)

    y, state, saved = forward_through_layers(network, x, state, run)
    y.flags.writeable = False  # y is a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""

    def run(index, saved, dy, dstate):
        (x, h, gates) = saved
        weight_ih, _, _, _, *vectors = network.layer(index)
        step = SavedStep((h[:-1],), gates, None)
        later = np.concatenate([_slope(network, step, vectors)[1:], np.ones_like(h[:1])])
        dh = _states()(scan.Maps(later, dy), dstate[0], is_reversed=True)[:-1]
        dgates, dgates_h, first, *dvectors = network.properties.pointwise_backward((dh,), step, *vectors)
        gradients = parameter_gradients(dgates, x, dgates_h, h[:-1], *dvectors)
        return product(dgates, weight_ih), (first[0][0],), gradients

    return backward_through_layers(network, saved, saved[0][0].shape[:2], dy, dstate, run)


def _slope(network, saved: SavedStep, vectors: list[np.ndarray]) -> np.ndarray:
    """dh after / dh before [T,B,H] of every step, which does not depend on h."""
    ones = np.ones_like(saved.state[0])
    (slope,) = network.properties.pointwise_backward((ones,), saved, *vectors)[2]
    return slope


@cache
def _states():
    """states(maps, first, is_reversed) -> h [T+1,B,H] with the state before the first step, or the last."""
    if find_spec("numba"):
        from rnnlab.kernels.compiled.scan import states

        return states
    return _by_numpy


def _by_numpy(maps, first, is_reversed=False):
    """States by chunks of √T steps: as many levels within a chunk as chunks."""
    by = partial(scan.chunked, chunk=max(1, math.isqrt(len(maps.b))))
    if is_reversed:
        return np.concatenate([scan.reversed_states(maps, first, by), first[None]])
    return np.concatenate([first[None], scan.states(maps, first, by)])

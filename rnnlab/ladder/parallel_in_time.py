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
        T, B, _ = x.shape
        zeros = np.zeros((T, B, network.hidden_size), x.dtype)
        gates_x = input_products(layer, x)
        (constant,), saved = network.properties.pointwise(gates_x, None, (zeros,), *vectors)
        steps = scan.Maps(_slope(network, saved, vectors), constant)
        states = _states()
        h = states(steps, state[0])
        return h[1:], (h[-1],), (x, h, saved.gates)

    y, state, saved = forward_through_layers(network, x, state, run)
    y.flags.writeable = False  # y is a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""

    def run(index, saved, dy, dstate):
        (x, h, gates) = saved
        weight_ih, _, _, _, *vectors = network.layer(index)
        h_before = h[:-1]
        step = SavedStep((h_before,), gates, None)
        slope = _slope(network, step, vectors)
        # dh of a step is dy and the next step's dh times its slope; after the last step comes dstate
        next_slope = np.concatenate([slope[1:], np.ones_like(h[:1])])
        states = _states()
        dh = states(scan.Maps(next_slope, dy), dstate[0], is_reversed=True)[:-1]
        pointwise_backward = network.properties.pointwise_backward
        dgates, dgates_h, (dh_before,), *dvectors = pointwise_backward((dh,), step, *vectors)
        gradients = parameter_gradients(dgates, x, dgates_h, h_before, *dvectors)
        return product(dgates, weight_ih), (dh_before[0],), gradients

    (x, _, _) = saved[0]
    return backward_through_layers(network, saved, x.shape[:2], dy, dstate, run)


def _slope(network, saved: SavedStep, vectors: list[np.ndarray]) -> np.ndarray:
    """dh after / dh before [T,B,H] of every step, which does not depend on h."""
    ones = np.ones_like(saved.state[0])
    _, _, (slope,), *_ = network.properties.pointwise_backward((ones,), saved, *vectors)
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
    T = len(maps.b)
    chunk = max(1, math.isqrt(T))
    by = partial(scan.chunked, chunk=chunk)
    if is_reversed:
        h = scan.reversed_states(maps, first, by)
        return np.concatenate([h, first[None]])
    h = scan.states(maps, first, by)
    return np.concatenate([first[None], h])

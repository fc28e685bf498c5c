"""The equations as they are first written: at every step, a product for every gate.

Products per layer, of T steps and G gates:
    forward   T·2G           x_t and h_t times each gate's own weights
    backward  T·(3G+1)       dx and both weight gradients gate by gate; the gradient of h, all gates at once
A GRU that resets before its product has one product more in its backward pass.
Each product is H rows high, so small that its overhead and the reading of its weights dominate.
"""

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.layers import backward_through_layers, forward_through_layers
from rnnlab.network import Layer, Network

PROPERTIES = RungProperties(
    idea="the equations as they are first written: a product per step and gate",
    lesson="01_rnn_forward",
    cells=None,
    ledger=Ledger("products", lambda n: n.T * 2 * n.G, lambda n: n.T * (3 * n.G + 1)),
)

Saved = list[tuple[np.ndarray, list[cells.SavedStep]]]  # of each layer: its input [T,B,I], its steps


def forward(network: Network, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State, Saved]:
    """y [T,B,H], final state, saved; see rnnlab.ladder."""

    def run(index, x, state):
        layer = network.layer(index)
        h = []
        steps = []
        for x_t in x:
            state, step = _step(network, layer, x_t, state)
            h.append(state[0])
            steps.append(step)
        return np.stack(h), state, (x, steps)

    return forward_through_layers(network, x, state, run)


def backward(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""

    def run(index, saved, dy, dstate):
        (x, steps) = saved
        layer = network.layer(index)
        gradients = layer._make(map(np.zeros_like, layer))
        dx = np.empty_like(x)
        for t in reversed(range(len(x))):
            dh, *others = dstate
            dstate = (dh + dy[t], *others)
            dx[t], dstate = _step_backward(network, layer, gradients, x[t], steps[t], dstate)
        return dx, dstate, gradients

    (x, _) = saved[0]
    return backward_through_layers(network, saved, x.shape[:2], dy, dstate, run)


def _step(network: Network, layer: Layer, x_t: np.ndarray, state: State) -> tuple[State, cells.SavedStep]:
    H = network.hidden_size
    gates_x = _gate_by_gate(x_t, layer.weight_ih, H) + layer.bias_ih
    if network.properties.resets_before:
        return cells.gru_before(gates_x, state, lambda h, rows: _recurrent(network, layer, h, rows))
    _, weight_hh, _, bias_hh, *vectors = layer
    gates_h = _gate_by_gate(state[0], weight_hh, H) + bias_hh
    return network.properties.pointwise(gates_x, gates_h, state, *vectors)


def _step_backward(network, layer, gradients, x_t, saved, dstate):
    """dx_t [B,I] and dstate before the step; adds the step's part to `gradients` in place."""
    weight_ih, weight_hh, _, _, *vectors = layer
    H = network.hidden_size
    recurrent = weight_hh, network.reset, *vectors
    dgates_x, dgates_h, dstate, *dvectors = cells.backward(network.cell, dstate, saved, *recurrent)
    dx_t = 0
    for gate in _rows(weight_ih, H):
        dgate = dgates_x[:, gate]
        dx_t += dgate @ weight_ih[gate]
        gradients.weight_ih[gate] += dgate.T @ x_t
    h_factors = cells.recurrent_inputs(network.cell, saved, network.reset)
    for gate, h in zip(_rows(weight_hh, H), h_factors, strict=True):
        dgate = dgates_h[:, gate]
        gradients.weight_hh[gate] += dgate.T @ h
    summands = dgates_x, dgates_h, *dvectors
    for gradient, part in zip(gradients[2:], summands, strict=True):
        gradient[:] += part.sum(0)
    return dx_t, dstate


def _recurrent(network: Network, layer: Layer, h: np.ndarray, rows: slice) -> np.ndarray:
    """gates_h of the gates in these rows, one product for each."""
    weight = layer.weight_hh[rows]
    return _gate_by_gate(h, weight, network.hidden_size) + layer.bias_hh[rows]


def _gate_by_gate(values: np.ndarray, weight: np.ndarray, H: int) -> np.ndarray:
    products = [values @ weight[gate].T for gate in _rows(weight, H)]
    no_columns = values[:, :0]  # of a cell whose gates do not read h
    return np.concatenate([no_columns, *products], axis=1)


def _rows(weight: np.ndarray, H: int) -> list[slice]:
    """Rows of a weight matrix, gate by gate."""
    first_rows = range(0, len(weight), H)
    return [slice(first, first + H) for first in first_rows]

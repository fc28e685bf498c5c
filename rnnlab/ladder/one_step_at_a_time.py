"""The equations as they are first written: at every step, a product for every gate.

Products per layer, of T steps and G gates:
    forward   T·2G           x_t and h_t times each gate's own weights
    backward  T·(3G+1)       dx and both weight gradients gate by gate; the way back to h, all gates at once
A GRU that resets before its product has one product more on the way back.
Each product is H rows high, so small that its overhead and the reading of its weights dominate.
"""

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.ladder.facts import Facts, Ledger
from rnnlab.network import Layer, Network, check_gradients, check_input

FACTS = Facts(
    idea="the equations as they are first written: a product per step and gate",
    lesson="rnn_forward",
    ledger=Ledger("products", lambda n: n.T * 2 * n.G, lambda n: n.T * (3 * n.G + 1)),
)

Saved = list[tuple[np.ndarray, list[cells.Kept]]]  # of each layer: its input [T,B,I], and what each step kept


def forward(network: Network, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State, Saved]:
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    state = check_input(network, x, state)
    saved, final = [], []
    for index in range(network.layers):
        layer, now, kept = network.layer(index), tuple(part[index] for part in state), []
        for x_t in x:
            now, step = _step(network, layer, x_t, now)
            kept.append(step)
        saved.append((x, kept))
        final.append(now)
        x = np.stack([step.state[0] for step in kept[1:]] + [now[0]])
    return x, tuple(np.stack(parts) for parts in zip(*final, strict=True)), saved


def backward(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    dstate = check_gradients(network, *saved[0][0].shape[:2], dy, dstate)
    gradients, initial = {name: np.zeros_like(p) for name, p in network.parameters.items()}, []
    for index in reversed(range(network.layers)):
        layer, (x, kept) = network.layer(index), saved[index]
        of_layer = Layer(*(gradients[f"{name}_l{index}"] for name in Layer._fields))
        carried, dx = tuple(part[index] for part in dstate), np.empty_like(x)
        for t in reversed(range(len(x))):
            arriving = (carried[0] + dy[t], *carried[1:])
            dx[t], carried = _step_backward(network, layer, of_layer, x[t], kept[t], arriving)
        initial.insert(0, carried)
        dy = dx
    return dy, tuple(np.stack(parts) for parts in zip(*initial, strict=True)), gradients


def _step(network: Network, layer: Layer, x_t: np.ndarray, state: State) -> tuple[State, cells.Kept]:
    gates_x = _gate_by_gate(network, x_t, layer.weight_ih) + layer.bias_ih
    if cells.resets_before(network.cell, network.reset):
        return cells.gru_before(gates_x, state, lambda h, rows: _recurrent(network, layer, h, rows))
    gates_h = _gate_by_gate(network, state[0], layer.weight_hh) + layer.bias_hh
    return cells.pointwise(network.cell, gates_x, gates_h, state)


def _step_backward(network, layer, gradients, x_t, kept, arriving):
    """dx_t and the state's gradient before the step; adds the step's share to `gradients` in place."""
    dgates_x, dgates_h, carried = cells.backward(network.cell, arriving, kept, layer.weight_hh, network.reset)
    dx_t, h_factors = 0, cells.recurrent_inputs(network.cell, kept, network.reset)
    for gate, h in zip(_rows(network), h_factors, strict=True):
        dx_t += dgates_x[:, gate] @ layer.weight_ih[gate]
        gradients.weight_ih[gate] += dgates_x[:, gate].T @ x_t
        gradients.weight_hh[gate] += dgates_h[:, gate].T @ h
    gradients.bias_ih[:] += dgates_x.sum(0)
    gradients.bias_hh[:] += dgates_h.sum(0)
    return dx_t, carried


def _recurrent(network: Network, layer: Layer, h: np.ndarray, rows: slice) -> np.ndarray:
    """gates_h of some gates, one product for each."""
    wanted = [gate for gate in _rows(network) if rows.start <= gate.start < rows.stop]
    return np.concatenate([h @ layer.weight_hh[gate].T for gate in wanted], axis=1) + layer.bias_hh[rows]


def _gate_by_gate(network: Network, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.concatenate([values @ weight[gate].T for gate in _rows(network)], axis=1)


def _rows(network: Network) -> list[slice]:
    """The rows of a weight matrix that belong to each gate."""
    H = network.hidden_size
    return [slice(k * H, (k + 1) * H) for k in range(network.gates)]

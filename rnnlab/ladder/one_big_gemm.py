"""What does not wait for h leaves the time loop, and gates that read the same thing share a product.

Products per layer, of T steps and G gates:
                          before    after
    forward               T·2G      1 + T      W_ih times all x at once; the recurrent product, gates stacked
    backward              T·(3G+1)  T + 3      the recurrent product; dx, dW_ih and dW_hh once, at the end
A GRU that resets before its product has one recurrent product more a step, both ways, and one dW_hh more.
"""

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.network import Network, check_input

Saved = list[tuple[np.ndarray, list[cells.Kept]]]  # of each layer: its input [T,B,I], and what each step kept


def forward(network: Network, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State, Saved]:
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    state = check_input(network, x, state)
    saved, final = [], []
    for index in range(network.layers):
        layer, now = network.layer(index), tuple(part[index] for part in state)
        gates_x = (_rows(x) @ layer.weight_ih.T + layer.bias_ih).reshape(*x.shape[:2], -1)
        kept, y = [], np.empty((*x.shape[:2], network.hidden_size), x.dtype)
        for t in range(len(x)):
            now, step = cells.forward(
                network.cell, gates_x[t], now, layer.weight_hh, layer.bias_hh, network.reset
            )
            y[t] = now[0]
            kept.append(step)
        saved.append((x, kept))
        final.append(now)
        x = y
    return x, tuple(np.stack(parts) for parts in zip(*final, strict=True)), saved


def backward(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    dstate = network.zero_state(dy.shape[1]) if dstate is None else dstate
    gradients, initial = {}, []
    for index in reversed(range(network.layers)):
        layer, (x, kept) = network.layer(index), saved[index]
        carried, steps = tuple(part[index] for part in dstate), []
        for t in reversed(range(len(x))):
            arriving = (carried[0] + dy[t], *carried[1:])
            *dgates, carried = cells.backward(network.cell, arriving, kept[t], layer.weight_hh, network.reset)
            steps.append(dgates)
        dgates_x, dgates_h = _stack_steps(steps[::-1])
        gradients |= {
            f"weight_ih_l{index}": dgates_x.T @ _rows(x),
            f"weight_hh_l{index}": _recurrent_gradient(network, dgates_h, kept),
            f"bias_ih_l{index}": dgates_x.sum(0),
            f"bias_hh_l{index}": dgates_h.sum(0),
        }
        dy = (dgates_x @ layer.weight_ih).reshape(x.shape)
        initial.insert(0, carried)
    ordered = {name: gradients[name] for name in network.parameters}
    return dy, tuple(np.stack(parts) for parts in zip(*initial, strict=True)), ordered


def _rows(array: np.ndarray) -> np.ndarray:
    """[T,B,n] as [T·B,n]: for a product, steps are just more sequences."""
    return array.reshape(-1, array.shape[-1])


def _stack_steps(steps: list) -> tuple[np.ndarray, np.ndarray]:
    """dgates_x and dgates_h of all steps, each [T·B,G·H]; one array where they are the same."""
    dgates_x = np.concatenate([step[0] for step in steps])
    is_shared = steps[0][0] is steps[0][1]
    return dgates_x, dgates_x if is_shared else np.concatenate([step[1] for step in steps])


def _recurrent_gradient(network: Network, dgates_h: np.ndarray, kept: list[cells.Kept]) -> np.ndarray:
    """dW_hh [G·H,H]: one product over all steps, against the h each step started from."""
    h = np.concatenate([step.state[0] for step in kept])
    if not cells.resets_before(network.cell, network.reset):
        return dgates_h.T @ h
    reset_h, rz = np.concatenate([step.inner for step in kept]), 2 * network.hidden_size
    return np.concatenate([dgates_h[:, :rz].T @ h, dgates_h[:, rz:].T @ reset_h])

"""What does not wait for h leaves the time loop, and gates that read the same thing share a product.

Products per layer, of T steps and G gates:
                          before    after
    forward               T·2G      1 + T      W_ih times all x at once; the recurrent product, gates stacked
    backward              T·(3G+1)  T + 3      the recurrent product; dx, dW_ih and dW_hh once, at the end
A GRU that resets before its product has one recurrent product more a step, both ways, and one dW_hh more.

`run` and `sweep` are the two loops; a rung that keeps less and makes it again on the way back says only what.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.ladder.facts import Facts, Ledger
from rnnlab.network import Layer, Network, check_gradients, check_input

FACTS = Facts(
    idea="what does not wait for h leaves the time loop; the gates share a product",
    lesson="bptt",
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: n.T + 3),
)

Steps = list[cells.Kept]
Saved = list[tuple[np.ndarray, Any]]  # of each layer: its input [T,B,I], and what `save` made of its steps
Save = Callable[[np.ndarray, Steps], Any]  # gates_x [T,B,G·H], what each step kept -> what the layer keeps
Restore = Callable[[Layer, Any], Callable[[int], cells.Kept]]  # what it kept -> (step -> what the step kept)


def forward(network: Network, x: np.ndarray, state: State | None = None) -> tuple[np.ndarray, State, Saved]:
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return run(network, x, state, save=lambda gates_x, steps: steps)


def backward(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return sweep(network, saved, dy, dstate, restore=lambda layer, steps: steps.__getitem__)


def run(network: Network, x: np.ndarray, state: State | None, save: Save) -> tuple[np.ndarray, State, Saved]:
    """Forward through all layers; of each layer's steps, `save` decides what is kept."""
    state = check_input(network, x, state)
    saved, final = [], []
    for index in range(network.layers):
        layer, now, steps = network.layer(index), tuple(part[index] for part in state), []
        gates_x = (_rows(x) @ layer.weight_ih.T + layer.bias_ih).reshape(*x.shape[:2], -1)
        y = np.empty((*x.shape[:2], network.hidden_size), x.dtype)
        for t in range(len(x)):
            now, step = cells.forward(
                network.cell, gates_x[t], now, layer.weight_hh, layer.bias_hh, network.reset
            )
            y[t] = now[0]
            steps.append(step)
        saved.append((x, save(gates_x, steps)))
        final.append(now)
        x = y
    return x, tuple(np.stack(parts) for parts in zip(*final, strict=True)), saved


def sweep(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None, restore: Restore):
    """Backward through all layers; `restore` gives back, step by step, what the cell's gradient needs."""
    dstate = check_gradients(network, *saved[0][0].shape[:2], dy, dstate)
    gradients, initial = {}, []
    for index in reversed(range(network.layers)):
        layer, (x, kept) = network.layer(index), saved[index]
        step_of, carried, done = restore(layer, kept), tuple(part[index] for part in dstate), []
        for t in reversed(range(len(x))):
            step, arriving = step_of(t), (carried[0] + dy[t], *carried[1:])
            *dgates, carried = cells.backward(network.cell, arriving, step, layer.weight_hh, network.reset)
            done.append((*dgates, step))
        dgates_x, dgates_h, steps = _in_order(done)
        gradients |= {
            f"weight_ih_l{index}": dgates_x.T @ _rows(x),
            f"weight_hh_l{index}": _recurrent_gradient(network, dgates_h, steps),
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


def _in_order(done: list) -> tuple[np.ndarray, np.ndarray, Steps]:
    """dgates_x and dgates_h of all steps, each [T·B,G·H], one array if they are the same; and the steps."""
    dgates_x, dgates_h, steps = zip(*reversed(done), strict=True)
    stacked_x = np.concatenate(dgates_x)
    is_shared = dgates_h[0] is dgates_x[0]
    return stacked_x, stacked_x if is_shared else np.concatenate(dgates_h), list(steps)


def _recurrent_gradient(network: Network, dgates_h: np.ndarray, steps: Steps) -> np.ndarray:
    """dW_hh [G·H,H]: one product over all steps, against the h each step started from."""
    h = np.concatenate([step.state[0] for step in steps])
    if not cells.resets_before(network.cell, network.reset):
        return dgates_h.T @ h
    reset_h, rz = np.concatenate([step.inner for step in steps]), 2 * network.hidden_size
    return np.concatenate([dgates_h[:, :rz].T @ h, dgates_h[:, rz:].T @ reset_h])

"""What does not wait for h leaves the time loop, and gates that read the same thing share a product.

Products per layer, of T steps and G gates:
                          before    after
    forward               T·2G      1 + T      W_ih times all x at once; the recurrent product, gates stacked
    backward              T·(3G+1)  T + 3      the recurrent product; dx, dW_ih and dW_hh once, at the end
A GRU that resets before its product has one recurrent product more a step, both ways, and one dW_hh more.

`run` and `sweep` are the two loops.  A rung that saves less, and computes the rest again in its backward
pass, says only what: `forward, backward = saving(save, restore)`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.layers import backward_through_layers, forward_through_layers, input_products, rows
from rnnlab.network import Layer, Network

PROPERTIES = RungProperties(
    idea="what does not wait for h leaves the time loop; the gates share a product",
    lesson="02_bptt",
    cells=None,
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: n.T + 3),
)

Steps = list[cells.SavedStep]
Saved = list[tuple[np.ndarray, Any]]  # of each layer: its input [T,B,I], and what `save` made of its steps
Save = Callable[[np.ndarray, Steps], Any]  # gates_x [T,B,G·H], what each step saved -> what the layer saves
Restore = Callable[
    [Layer, Any], Callable[[int], cells.SavedStep]
]  # what the layer saved -> (step -> what it saved)


def saving(save: Save, restore: Restore) -> tuple[Callable, Callable]:
    """The forward and backward of a rung that saves what `save` makes of the steps; see rnnlab.ladder.

    restore gives, step by step, what the cell's gradient needs.
    """

    def forward(network: Network, x: np.ndarray, state: State | None = None):
        """y [T,B,H], final state, saved; see rnnlab.ladder."""
        return run(network, x, state, save)

    def backward(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None = None):
        """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
        return sweep(network, saved, dy, dstate, restore)

    return forward, backward


forward, backward = saving(lambda gates_x, steps: steps, lambda layer, steps: steps.__getitem__)


def run(network: Network, x: np.ndarray, state: State | None, save: Save) -> tuple[np.ndarray, State, Saved]:
    """y [T,B,H], the final state, and what each layer saved."""

    def layer_forward(index, x, state):
        layer = network.layer(index)
        _, weight_hh, _, bias_hh, *vectors = layer
        recurrent = weight_hh, bias_hh, network.reset, *vectors
        steps = []
        gates_x = input_products(layer, x)
        T, B, _ = x.shape
        y = np.empty((T, B, network.hidden_size), x.dtype)
        for t in range(T):
            state, step = cells.forward(network.cell, gates_x[t], state, *recurrent)
            y[t] = state[0]
            steps.append(step)
        return y, state, (x, save(gates_x, steps))

    return forward_through_layers(network, x, state, layer_forward)


def sweep(network: Network, saved: Saved, dy: np.ndarray, dstate: State | None, restore: Restore):
    """dx [T,B,I], dstate and gradients, from dy [T,B,H] and dstate after the last step."""

    def layer_backward(index, saved, dy, dstate):
        layer = network.layer(index)
        weight_ih, weight_hh, _, _, *vectors = layer
        recurrent = weight_hh, network.reset, *vectors
        (x, of_layer) = saved
        results = []
        step_of = restore(layer, of_layer)
        for t in reversed(range(len(x))):
            step = step_of(t)
            dh, *others = dstate
            dstate = (dh + dy[t], *others)
            dgates_x, dgates_h, dstate, *dvectors = cells.backward(network.cell, dstate, step, *recurrent)
            results.append((dgates_x, dgates_h, step, *dvectors))
        dgates_x, dgates_h, steps, *dvectors = _in_order(results)
        dx = (dgates_x @ weight_ih).reshape(x.shape)
        dweight_ih = dgates_x.T @ rows(x)
        dweight_hh = _recurrent_gradient(network, dgates_h, steps)
        sums = (part.sum(0) for part in (dgates_x, dgates_h, *dvectors))
        return dx, dstate, (dweight_ih, dweight_hh, *sums)

    (x, _) = saved[0]
    return backward_through_layers(network, saved, x.shape[:2], dy, dstate, layer_backward)


def _in_order(results: list) -> tuple:
    """dgates_x and dgates_h of all steps [T·B,G·H], one array if they are the same; the steps; dvectors."""
    results.reverse()
    dgates_x, dgates_h, steps, *dvectors = zip(*results, strict=True)
    stacked_x = np.concatenate(dgates_x)
    is_same = dgates_h[0] is dgates_x[0]
    stacked_h = stacked_x if is_same else np.concatenate(dgates_h)
    return stacked_x, stacked_h, list(steps), *map(np.concatenate, dvectors)


def _recurrent_gradient(network: Network, dgates_h: np.ndarray, steps: Steps) -> np.ndarray:
    """dW_hh [G·H,H]: one product over all steps, with the h that each step started from."""
    h = np.concatenate([step.state[0] for step in steps])
    if not network.properties.resets_before:
        return dgates_h.T @ h
    reset_h = np.concatenate([step.auxiliary for step in steps])
    first_of_n = 2 * network.hidden_size
    drz, dn = np.split(dgates_h, [first_of_n], axis=1)
    return np.concatenate([drz.T @ h, dn.T @ reset_h])

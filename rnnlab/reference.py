"""Reference implementation, slow and exact: a network as its equations, step after step.

Every rung must agree with it.  x [T,B,I] is time-major; y [T,B,H] is the top layer's h after each step; a
state or its gradient is a tuple of arrays [L,B,H] (see network.py); d<name> is dLoss/d<name>.  With a float64
network it is the oracle of the tests.  It shares no loop with the rungs, so that no mistake can stand on both
sides of a comparison.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from rnnlab import cells
from rnnlab.cells import State
from rnnlab.network import Network, check_gradients, check_input


class SavedLayers(NamedTuple):
    """What forward saves for backward."""

    inputs: list[np.ndarray]  # of each layer, [T,B,I] or [T,B,H]
    steps: list[list[cells.SavedStep]]  # of each layer, of each step


class Bptt(NamedTuple):
    """Gradients by back-propagation through time, and how many cell gradients it took to get them."""

    dx: np.ndarray  # [T,B,I]
    dstate: State
    gradients: dict[str, np.ndarray]
    cell_backwards: int  # of one step of one layer each


def forward(
    network: Network, x: np.ndarray, state: State | None = None
) -> tuple[np.ndarray, State, SavedLayers]:
    """y [T,B,H], the state after the last step, and saved.  Raises ValueError for bad input."""
    state = check_input(network, x, state)
    saved = SavedLayers([], [])
    final = []
    for index in range(network.layers):
        saved.inputs.append(x)
        x, last, steps = _layer_forward(network, index, x, tuple(part[index] for part in state))
        saved.steps.append(steps)
        final.append(last)
    return x, tuple(np.stack(parts) for parts in zip(*final, strict=True)), saved


def backward(
    network: Network, saved: SavedLayers, dy: np.ndarray, dstate: State | None = None
) -> tuple[np.ndarray, State, dict[str, np.ndarray]]:
    """dx [T,B,I], dstate of the initial state, and the gradient of every parameter, in one backward pass.

    dy [T,B,H] is the loss gradient at every output, dstate (default zeros) at the final state.
    """
    dstate = check_gradients(network, *saved.inputs[0].shape[:2], dy, dstate)
    return _sweep(network, saved, dy, dstate)[:3]


def bptt_linear(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray) -> Bptt:
    """One backward pass that adds dy[t] of dy [T,B,H] at every step: T cell gradients a layer."""
    return _sweep(network, _run(network, x, state, dy), dy, None)


def bptt_quadratic(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray) -> Bptt:
    """Back-propagation of every loss term dy[t] of dy [T,B,H] on its own: T(T+1)/2 cell gradients a layer."""
    return bptt_window(network, x, state, dy, window=len(x))


def bptt_window(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, window: int) -> Bptt:
    """Truncation per loss term: the loss at step t is followed back `window` steps at most (WildML)."""
    _check_length("window", window)

    def terms():
        for t in range(len(x)):
            start = max(0, t + 1 - window)
            term = np.zeros_like(dy[start : t + 1])
            term[-1] = dy[t]
            yield start, term

    return _sum_of_sweeps(network, x, state, dy, terms())


def bptt_chunked(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, chunk: int) -> Bptt:
    """Chunked truncation: x [T,B,I] is cut every `chunk` steps, and no gradient crosses a cut (detach)."""
    _check_length("chunk", chunk)
    parts = ((start, dy[start : start + chunk]) for start in range(0, len(x), chunk))
    return _sum_of_sweeps(network, x, state, dy, parts)


def numerical_gradient(
    loss: Callable[[np.ndarray], float], array: np.ndarray, eps: float = 1e-6
) -> np.ndarray:
    """Slope of loss(array) along every entry, of array's shape (m, n, …), by central differences."""
    if array.dtype.kind != "f":
        array = array.astype("float64")  # a step of eps would be lost in whole numbers
    slope = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        up = array.copy()
        down = array.copy()
        up[index] += eps
        down[index] -= eps
        slope[index] = (loss(up) - loss(down)) / (2 * eps)
    return slope


def _layer_forward(network: Network, index: int, x: np.ndarray, state: State):
    weight_ih, weight_hh, bias_ih, bias_hh, *vectors = network.layer(index)
    outputs = []
    steps = []
    for x_t in x:
        gates_x = x_t @ weight_ih.T + bias_ih
        state, step = cells.forward(network.cell, gates_x, state, weight_hh, bias_hh, network.reset, *vectors)
        outputs.append(state[0])
        steps.append(step)
    return np.stack(outputs), state, steps


def _sweep(network: Network, saved: SavedLayers, dy: np.ndarray, dstate: State | None) -> Bptt:
    """One reverse sweep through all layers, top layer first."""
    dstate = network.zero_state(dy.shape[1]) if dstate is None else dstate
    gradients = {}
    initial = []
    count = 0
    for index in reversed(range(network.layers)):
        last = tuple(part[index] for part in dstate)
        dy, first, layer_gradients = _layer_backward(network, index, saved, dy, last)
        gradients |= {f"{name}_l{index}": g for name, g in layer_gradients.items()}
        initial.insert(0, first)
        count += len(dy)
    ordered = {name: gradients[name] for name in network.parameters}
    return Bptt(dy, tuple(np.stack(parts) for parts in zip(*initial, strict=True)), ordered, count)


def _layer_backward(network: Network, index: int, saved: SavedLayers, dy: np.ndarray, dstate: State):
    """Gradients at the layer's input [T,B,I], at its initial state, and of its parameters, by name."""
    layer = network.layer(index)
    weight_ih, weight_hh, _, _, *vectors = layer
    x = saved.inputs[index]
    gradients = [np.zeros_like(parameter) for parameter in layer]
    dx = np.empty_like(x)
    for t in reversed(range(len(x))):
        step = saved.steps[index][t]
        dstate_t = (dstate[0] + dy[t], *dstate[1:])  # gradient from step t+1 plus this step's dy[t]
        dgates_x, dgates_h, dstate, *dvectors = cells.backward(
            network.cell, dstate_t, step, weight_hh, network.reset, *vectors
        )
        dx[t] = dgates_x @ weight_ih
        of_weights = dgates_x.T @ x[t], _recurrent_gradient(network, step, dgates_h)
        of_others = (part.sum(0) for part in (dgates_x, dgates_h, *dvectors))
        gradients = [total + part for total, part in zip(gradients, (*of_weights, *of_others), strict=True)]
    return dx, dstate, dict(zip(layer._fields, gradients, strict=True))


def _recurrent_gradient(network: Network, step: cells.SavedStep, dgates_h: np.ndarray) -> np.ndarray:
    """dW_hh [G·H,H] of one step: each gate's part against what its weights multiplied."""
    factors = cells.recurrent_inputs(network.cell, step, network.reset)
    parts = np.split(dgates_h, max(len(factors), 1), axis=1)
    pairs = zip(parts, factors or step.state, strict=True)
    return np.concatenate([part.T @ factor for part, factor in pairs])


def _sum_of_sweeps(
    network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, terms: Iterable
) -> Bptt:
    """The sum of sweeps over parts of the sequence, each of (its first step, its dy); dstate of the first."""
    saved = _run(network, x, state, dy)
    dx = np.zeros_like(x)
    dstate = network.zero_state(x.shape[1])
    gradients = {name: np.zeros_like(parameter) for name, parameter in network.parameters.items()}
    count = 0
    for start, term in terms:
        steps = slice(start, start + len(term))
        own = SavedLayers([part[steps] for part in saved.inputs], [part[steps] for part in saved.steps])
        sweep = _sweep(network, own, term, None)
        dx[steps] += sweep.dx
        if start == 0:
            dstate = tuple(map(np.add, dstate, sweep.dstate))
        for name, gradient in sweep.gradients.items():
            gradients[name] += gradient
        count += sweep.cell_backwards
    return Bptt(dx, dstate, gradients, count)


def _run(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray) -> SavedLayers:
    """What a forward pass saves.  Raises ValueError if x, the state or dy does not fit the network."""
    _, _, saved = forward(network, x, state)
    check_gradients(network, *x.shape[:2], dy)
    return saved


def _check_length(what: str, steps: int) -> None:
    if not isinstance(steps, int | np.integer) or steps < 1:
        raise ValueError(f"{what} is {steps}, expected at least 1 step")

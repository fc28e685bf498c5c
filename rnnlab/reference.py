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
        first = _layer_of(state, index)
        x, last, steps = _layer_forward(network, index, x, first)
        saved.steps.append(steps)
        final.append(last)
    return x, _stacked(final), saved


def backward(
    network: Network, saved: SavedLayers, dy: np.ndarray, dstate: State | None = None
) -> tuple[np.ndarray, State, dict[str, np.ndarray]]:
    """dx [T,B,I], dstate of the initial state, and the gradient of every parameter, in one backward pass.

    dy [T,B,H] is the loss gradient at every output, dstate (default zeros) at the final state.
    """
    T, B, _ = saved.inputs[0].shape
    dstate = check_gradients(network, T, B, dy, dstate)
    dx, dstate, gradients, _ = _sweep(network, saved, dy, dstate)
    return dx, dstate, gradients


def bptt_linear(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray) -> Bptt:
    """One backward pass that adds dy[t] of dy [T,B,H] at every step: T cell gradients a layer."""
    saved = _run(network, x, state, dy)
    return _sweep(network, saved, dy, None)


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
            yield start, term  # the loss at step t alone

    return _sum_of_sweeps(network, x, state, dy, terms())


def bptt_chunked(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, chunk: int) -> Bptt:
    """Chunked truncation: x [T,B,I] is cut every `chunk` steps, and no gradient crosses a cut (detach)."""
    _check_length("chunk", chunk)

    def terms():
        for start in range(0, len(x), chunk):
            yield start, dy[start : start + chunk]

    return _sum_of_sweeps(network, x, state, dy, terms())


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
        rise = loss(up) - loss(down)
        slope[index] = rise / (2 * eps)
    return slope


def _layer_forward(network: Network, index: int, x: np.ndarray, state: State):
    weight_ih, weight_hh, bias_ih, bias_hh, *vectors = network.layer(index)
    outputs = []
    steps = []
    recurrent = (weight_hh, bias_hh, network.reset, *vectors)
    for x_t in x:
        gates_x = x_t @ weight_ih.T + bias_ih
        state, step = cells.forward(network.cell, gates_x, state, *recurrent)
        h, *_ = state
        outputs.append(h)
        steps.append(step)
    return np.stack(outputs), state, steps


def _sweep(network: Network, saved: SavedLayers, dy: np.ndarray, dstate: State | None) -> Bptt:
    """One reverse sweep through all layers, top layer first."""
    T, B, _ = dy.shape
    if dstate is None:
        dstate = network.zero_state(B)
    gradients = {}
    initial = []
    for index in reversed(range(network.layers)):
        last = _layer_of(dstate, index)
        dy, first, layer_gradients = _layer_backward(network, index, saved, dy, last)
        for name, gradient in layer_gradients.items():
            gradients[f"{name}_l{index}"] = gradient
        initial.insert(0, first)
    ordered = {name: gradients[name] for name in network.parameters}
    cell_backwards = network.layers * T
    return Bptt(dy, _stacked(initial), ordered, cell_backwards)


def _layer_of(state: State, index: int) -> State:
    return tuple(part[index] for part in state)


def _stacked(states: list[State]) -> State:
    """A state [L,B,H] from the states of the layers [B,H]."""
    return tuple(np.stack(parts) for parts in zip(*states, strict=True))


def _layer_backward(network: Network, index: int, saved: SavedLayers, dy: np.ndarray, dstate: State):
    """Gradients at the layer's input [T,B,I], at its initial state, and of its parameters, by name."""
    layer = network.layer(index)
    weight_ih, weight_hh, _, _, *vectors = layer
    x = saved.inputs[index]
    gradients = [np.zeros_like(parameter) for parameter in layer]
    dx = np.empty_like(x)
    recurrent = (weight_hh, network.reset, *vectors)
    for t in reversed(range(len(x))):
        step = saved.steps[index][t]
        dh, *others = dstate
        dh = dh + dy[t]  # gradient from step t+1 plus this step's dy[t]
        gradients_of_step = cells.backward(network.cell, (dh, *others), step, *recurrent)
        dgates_x, dgates_h, dstate, *dvectors = gradients_of_step
        dx[t] = dgates_x @ weight_ih
        dweight_ih = dgates_x.T @ x[t]
        dweight_hh = _recurrent_gradient(network, step, dgates_h)
        sums = [part.sum(0) for part in (dgates_x, dgates_h, *dvectors)]  # over the sequences
        of_step = (dweight_ih, dweight_hh, *sums)
        gradients = [total + part for total, part in zip(gradients, of_step, strict=True)]
    return dx, dstate, dict(zip(layer._fields, gradients, strict=True))


def _recurrent_gradient(network: Network, step: cells.SavedStep, dgates_h: np.ndarray) -> np.ndarray:
    """dW_hh [G·H,H] of one step: each gate's part against what its weights multiplied."""
    factors = cells.recurrent_inputs(network.cell, step, network.reset)
    if not factors:  # no gate reads h: dgates_h has no columns, and dW_hh no rows
        return dgates_h.T @ step.state[0]
    parts = np.split(dgates_h, len(factors), axis=1)
    pairs = zip(parts, factors, strict=True)
    return np.concatenate([part.T @ factor for part, factor in pairs])


def _sum_of_sweeps(
    network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, terms: Iterable
) -> Bptt:
    """The sum of sweeps over parts of the sequence, each of (its first step, its dy); dstate of the first."""
    saved = _run(network, x, state, dy)
    _, B, _ = x.shape
    dx = np.zeros_like(x)
    dstate = network.zero_state(B)
    gradients = {name: np.zeros_like(parameter) for name, parameter in network.parameters.items()}
    cell_backwards = 0
    for start, term in terms:
        part = slice(start, start + len(term))
        inputs = [layer_inputs[part] for layer_inputs in saved.inputs]
        steps = [layer_steps[part] for layer_steps in saved.steps]
        sweep = _sweep(network, SavedLayers(inputs, steps), term, None)
        dx[part] += sweep.dx
        if start == 0:
            dstate = tuple(map(np.add, dstate, sweep.dstate))
        for name, gradient in sweep.gradients.items():
            gradients[name] += gradient
        cell_backwards += sweep.cell_backwards
    return Bptt(dx, dstate, gradients, cell_backwards)


def _run(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray) -> SavedLayers:
    """What a forward pass saves.  Raises ValueError if x, the state or dy does not fit the network."""
    _, _, saved = forward(network, x, state)
    T, B, _ = x.shape
    check_gradients(network, T, B, dy)
    return saved


def _check_length(what: str, steps: int) -> None:
    if not isinstance(steps, int | np.integer) or steps < 1:
        raise ValueError(f"{what} is {steps}, expected at least 1 step")

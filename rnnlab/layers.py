"""Loop over the layers of a network, once for all rungs: a rung says only what one layer does.

`rnnlab.reference` has a loop of its own: it is what rungs are compared with, so it shares no code with them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rnnlab.cells import State
from rnnlab.network import Layer, Network, check_gradients, check_input, parameter_names

Gradients = dict[str, np.ndarray]
# (layer number, x [T,B,I], state of the layer, each [B,H]) -> (y [T,B,H], state after it, saved)
LayerForward = Callable[[int, np.ndarray, State], tuple[np.ndarray, State, Any]]
# (layer number, saved, dy [T,B,H], dstate, each [B,H]) -> (dx [T,B,I], dstate before it, gradients of the
# parameters, in the order of network.Layer)
LayerBackward = Callable[[int, Any, np.ndarray, State], tuple[np.ndarray, State, Sequence[np.ndarray]]]


def forward_through_layers(
    network: Network, x: np.ndarray, state: State | None, run: LayerForward
) -> tuple[np.ndarray, State, list]:
    """y [T,B,H], the final state (each [L,B,H]) and what each layer saved, from x [T,B,I] and state.

    Raises ValueError for an x or a state that does not fit the network.
    """
    state = check_input(network, x, state)
    saved = []
    final = []
    for index in range(network.layers):
        first = _layer_of(state, index)
        x, last, layer_saved = run(index, x, first)
        saved.append(layer_saved)
        final.append(last)
    return x, _stacked(final), saved


def backward_through_layers(
    network: Network,
    saved: list,
    shape: tuple[int, int],
    dy: np.ndarray,
    dstate: State | None,
    run: LayerBackward,
) -> tuple[np.ndarray, State, Gradients]:
    """dx [T,B,I], dstate (each [L,B,H]) and the gradients, from dy [T,B,H] and dstate after the last step.

    shape: T and B of the forward pass.  Raises ValueError for a dy or a dstate that does not fit them.
    """
    dstate = check_gradients(network, *shape, dy, dstate)
    gradients = {}
    initial = []
    for index in reversed(range(network.layers)):
        last = _layer_of(dstate, index)
        dy, first, of_layer = run(index, saved[index], dy, last)
        gradients |= zip(parameter_names(network.cell, index), of_layer, strict=True)
        initial.insert(0, first)
    ordered = {name: gradients[name] for name in network.parameters}
    return dy, _stacked(initial), ordered


def history(T: int, first: np.ndarray) -> np.ndarray:
    """Room for the states of all steps [T+1,B,H], which starts with the first state [B,H]."""
    shape = (T + 1, *first.shape)
    states = np.empty(shape, first.dtype)
    states[0] = first
    return states


def rows(array: np.ndarray) -> np.ndarray:
    """[T,B,n] as [T·B,n]: for a product, steps are just more sequences."""
    *steps, n = array.shape
    return array.reshape(math.prod(steps), n)  # -1 would not do: n may be 0


def product(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """x matrix [T,B,N] from x [T,B,K] and a matrix [K,N], in one call of the BLAS.

    NumPy's `x @ matrix` calls it once for each of the T steps.
    """
    *steps, _ = x.shape
    _, N = matrix.shape
    products = rows(x) @ matrix
    return products.reshape(*steps, N)


def input_products(layer: Layer, x: np.ndarray) -> np.ndarray:
    """x W_ihᵀ + b_ih [T,B,G·H] of all steps x [T,B,I]."""
    return product(x, layer.weight_ih.T) + layer.bias_ih


def parameter_gradients(
    dgates_x: np.ndarray, x: np.ndarray, dgates_h: np.ndarray, h: np.ndarray, *dvectors: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Gradients of a layer's parameters, summed over all steps, in the order of network.Layer.

    dgates_x and dgates_h [T,B,G·H] are the gradients of the products with x [T,B,I] and with h [T,B,H] before
    each step; dvectors [...,H] are those of the cell's vectors.
    """
    dgates_x = rows(dgates_x)
    dgates_h = rows(dgates_h)
    dweight_ih = dgates_x.T @ rows(x)
    dweight_hh = dgates_h.T @ rows(h)
    vector_sums = [rows(part).sum(0) for part in dvectors]
    return dweight_ih, dweight_hh, dgates_x.sum(0), dgates_h.sum(0), *vector_sums


def _layer_of(state: State, index: int) -> State:
    return tuple(part[index] for part in state)


def _stacked(states: list[State]) -> State:
    """A state [L,B,H] from the states of the layers [B,H]."""
    return tuple(np.stack(parts) for parts in zip(*states, strict=True))

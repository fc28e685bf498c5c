"""A network's parameters, input and state as a plan's buffers; a plan's results as a rung returns them."""

import numpy as np

from rnnlab.cells import State
from rnnlab.network import Network, merged_bias, parameter_names, step_vectors

Arrays = dict[str, np.ndarray]


def parameters(network: Network) -> Arrays:
    """Buffers of the parameters: weights [G*H,I], [G*H,H], merged bias [1,G*H], vectors [1,V*H]."""
    arrays = {}
    for l in range(network.layers):
        layer = network.layer(l)
        arrays |= {f"weight_ih_l{l}": layer.weight_ih, f"weight_hh_l{l}": layer.weight_hh}
        arrays[f"bias_l{l}"] = merged_bias(network, layer)[None]
        arrays[f"vectors_l{l}"] = step_vectors(network, layer).reshape(1, -1)
    return arrays


def forward_arrays(network: Network, x: np.ndarray, state: State) -> Arrays:
    """Buffers that the forward plan reads, from x [T,B,I] and the state, parts [L,B,H]."""
    T, B, I = x.shape
    arrays = parameters(network) | {"x": np.ascontiguousarray(x).reshape(T * B, I)}
    for name, part in zip(network.properties.states, state, strict=True):
        for l in range(network.layers):
            history = np.full(((T + 1) * B, network.hidden_size), np.nan, x.dtype)
            history[:B] = part[l]
            arrays[f"{name}_l{l}"] = history
    return arrays


def forward_results(network: Network, arrays: Arrays, T: int, B: int) -> tuple[np.ndarray, State]:
    """y [T,B,H] and the state after the last step."""
    top = arrays[f"h_l{network.layers - 1}"]

    def ends(name):
        return np.stack([arrays[f"{name}_l{l}"][T * B :] for l in range(network.layers)])

    return top[B:].reshape(T, B, -1), tuple(ends(name) for name in network.properties.states)


def backward_arrays(network: Network, dy: np.ndarray, dstate: State) -> Arrays:
    """Buffers that the backward plan reads beside the forward pass's, from dy [T,B,H] and dstate [L,B,H]."""
    T, B, H = dy.shape
    arrays = {"dy": np.ascontiguousarray(dy).reshape(T * B, H)}
    for name, part in zip(network.properties.states, dstate, strict=True):
        for l in range(network.layers):
            both = np.full((2 * B, H), np.nan, dy.dtype)
            both[T % 2 * B :][:B] = part[l]
            arrays[f"d{name}_l{l}"] = both
    return arrays


def backward_results(
    network: Network, arrays: Arrays, T: int, B: int
) -> tuple[np.ndarray, State, dict[str, np.ndarray]]:
    """dx [T,B,I], dstate (parts [L,B,H]), gradients under PyTorch's names."""
    H = network.hidden_size
    gradients = {}
    for l in range(network.layers):
        weights = (arrays[f"dweight_{k}_l{l}"] for k in ("ih", "hh"))
        bias = arrays[f"dbias_l{l}"][0]
        bias_hh = bias.copy()
        vectors = arrays.get(f"dvectors_l{l}", bias[:0]).reshape(-1, H)
        if network.properties.inner_bias:
            bias_hh[network.properties.inner_bias_rows(H)], *vectors = vectors
        gradients |= zip(parameter_names(network.cell, l), (*weights, bias, bias_hh, *vectors), strict=True)
    dx = arrays["dx_l0"].reshape(T, B, -1)

    def first(name):
        return np.stack([arrays[f"d{name}_l{l}"][:B] for l in range(network.layers)])

    return dx, tuple(first(n) for n in network.properties.states), gradients

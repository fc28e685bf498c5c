"""A network's parameters, input and state as a plan's buffers; a plan's results as a rung returns them."""

import numpy as np

from rnnlab.cells import State
from rnnlab.network import Network, merged_bias
from rnnlab.schedule.plan import Sizes

Arrays = dict[str, np.ndarray]


def sizes_of(network: Network, x: np.ndarray) -> Sizes:
    """Sizes of a pass over x [T,B,I]."""
    T, B, I = x.shape
    return Sizes(T, B, I, network.hidden_size, network.layers)


def parameters(network: Network) -> Arrays:
    """Buffers of the parameters: weights [G*H,I], [G*H,H], merged bias [1,G*H], a GRU's inner bias [1,H]."""
    properties = network.properties
    arrays = {}
    for l in range(network.layers):
        layer = network.layer(l)
        arrays |= {f"weight_ih_l{l}": layer.weight_ih, f"weight_hh_l{l}": layer.weight_hh}
        arrays[f"bias_l{l}"] = merged_bias(network, layer)[None]
        if properties.inner_bias:
            arrays[f"inner_bias_l{l}"] = layer.bias_hh[None, properties.inner_bias_rows(network.hidden_size)]
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
    gradients = {}
    for l in range(network.layers):
        bias = arrays[f"dbias_l{l}"][0]
        bias_hh = bias.copy()
        if network.properties.inner_bias:
            bias_hh[network.properties.inner_bias_rows(network.hidden_size)] = arrays[f"dinner_bias_l{l}"][0]
        gradients |= {f"weight_{k}_l{l}": arrays[f"dweight_{k}_l{l}"] for k in ("ih", "hh")}
        gradients |= {f"bias_ih_l{l}": bias, f"bias_hh_l{l}": bias_hh}
    dx = arrays["dx_l0"].reshape(T, B, -1)

    def first(name):
        return np.stack([arrays[f"d{name}_l{l}"][:B] for l in range(network.layers)])

    return dx, tuple(first(n) for n in network.properties.states), gradients

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
        arrays[f"weight_ih_l{l}"] = layer.weight_ih
        arrays[f"weight_hh_l{l}"] = layer.weight_hh
        arrays[f"bias_l{l}"] = merged_bias(network, layer)[None]
        arrays[f"vectors_l{l}"] = step_vectors(network, layer).reshape(1, -1)
    return arrays


def forward_arrays(network: Network, x: np.ndarray, state: State) -> Arrays:
    """Buffers that the forward plan reads, from x [T,B,I] and the state, parts [L,B,H]."""
    T, B, I = x.shape
    arrays = parameters(network)
    arrays["x"] = np.ascontiguousarray(x).reshape(T * B, I)
    shape = ((T + 1) * B, network.hidden_size)
    for name, part in zip(network.properties.states, state, strict=True):
        for l in range(network.layers):
            history = np.full(shape, np.nan, x.dtype)
            history[:B] = part[l]
            arrays[f"{name}_l{l}"] = history
    return arrays


def forward_results(network: Network, arrays: Arrays, T: int, B: int) -> tuple[np.ndarray, State]:
    """y [T,B,H] and the state after the last step."""
    layers = range(network.layers)
    top = arrays[f"h_l{layers[-1]}"]
    y = top[B:].reshape(T, B, -1)
    final = []
    for name in network.properties.states:
        histories = [arrays[f"{name}_l{l}"] for l in layers]
        final.append(np.stack([history[T * B :] for history in histories]))
    return y, tuple(final)


def backward_arrays(network: Network, dy: np.ndarray, dstate: State) -> Arrays:
    """Buffers that the backward plan reads beside the forward pass's, from dy [T,B,H] and dstate [L,B,H]."""
    T, B, H = dy.shape
    arrays = {"dy": np.ascontiguousarray(dy).reshape(T * B, H)}
    first_row = T % 2 * B  # of the block that the last step reads
    for name, part in zip(network.properties.states, dstate, strict=True):
        for l in range(network.layers):
            both_blocks = np.full((2 * B, H), np.nan, dy.dtype)
            both_blocks[first_row : first_row + B] = part[l]
            arrays[f"d{name}_l{l}"] = both_blocks
    return arrays


def backward_results(
    network: Network, arrays: Arrays, T: int, B: int
) -> tuple[np.ndarray, State, dict[str, np.ndarray]]:
    """dx [T,B,I], dstate (parts [L,B,H]), gradients under PyTorch's names."""
    H = network.hidden_size
    properties = network.properties
    layers = range(network.layers)
    gradients = {}
    for l in layers:
        weight_ih = arrays[f"dweight_ih_l{l}"]
        weight_hh = arrays[f"dweight_hh_l{l}"]
        bias_ih = arrays[f"dbias_l{l}"][0]
        bias_hh = bias_ih.copy()
        no_vectors = bias_ih[:0]
        vectors = arrays.get(f"dvectors_l{l}", no_vectors).reshape(-1, H)
        if properties.inner_bias:
            bias_hh[properties.inner_bias_rows(H)], *vectors = vectors
        of_layer = (weight_ih, weight_hh, bias_ih, bias_hh, *vectors)
        gradients |= zip(parameter_names(network.cell, l), of_layer, strict=True)
    dx = arrays["dx_l0"].reshape(T, B, -1)
    dstate = []
    for name in properties.states:
        both_blocks = [arrays[f"d{name}_l{l}"] for l in layers]
        dstate.append(np.stack([blocks[:B] for blocks in both_blocks]))
    return dx, tuple(dstate), gradients

"""packed_weights in 16 bits: products of pairs of bfloat16 numbers, half the bytes kept for the gradient.

What is multiplied, weights, x, h and the gradients of gates, is rounded to bfloat16 first, to nearest, ties
to even; so are gates, c and whatever else is saved.  Sums, states, y, gradients, and the network's own
weights stay float32.  Bytes kept beside y for a step of an LSTM: 20 B·H → 10 B·H.  A product of K numbers
takes K → K/2 vector instructions where the processor multiplies pairs.

All sizes are even: an odd number of sequences, inputs or units gets one of zeros, which stays zero.
"""

import numpy as np

from rnnlab.ladder import packed_weights
from rnnlab.ladder.properties import WITH_KERNELS, RungProperties
from rnnlab.network import Network, check_gradients, check_input

PROPERTIES = RungProperties(
    idea="weights, states and saved values in 16 bits, multiplied by pairs",
    lesson="16_persistent_cuda",
    cells=WITH_KERNELS,
    package="numba",
    ledger=packed_weights.PROPERTIES.ledger,
    precision="bfloat16",
)


def why_not(network: Network, T: int, B: int) -> str | None:
    """The reason if this processor does not multiply pairs, or if the network is not float32."""
    from rnnlab.kernels.packed import host

    if network.dtype != "float32":
        return f"it rounds float32 numbers, and the network is {network.dtype}: use network.astype('float32')"
    if not host.HAS_PAIR_PRODUCTS:
        return (
            f"this processor does not multiply pairs of bfloat16 ({', '.join(sorted(host.PAIR_FEATURES))}): "
            "its forward and backward run here by widening, slower than packed_weights"
        )
    return packed_weights.why_not(network, T, max(B, packed_weights.FEWEST))


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    from rnnlab.kernels.packed import propagation, team

    state = check_input(network, x, state)
    if network.dtype != "float32":
        raise ValueError(why_not(network, *x.shape[:2]))
    T, B, _ = x.shape
    H = network.hidden_size
    even_state = tuple(map(_even_rows, state))
    y, final, layers = propagation.forward(
        _even(network), _even_rows(x), even_state, team.count(), propagation.BFLOAT16
    )
    final = tuple(_first(part, B, H) for part in final)
    return _first(y, B, H), final, ((T, B), layers)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    from rnnlab.kernels.packed import propagation, team

    (T, B), layers = saved
    dstate = check_gradients(network, T, B, dy, dstate)
    even_dstate = tuple(map(_even_rows, dstate))
    dx, first, gradients = propagation.backward(
        _even(network), layers, _even_rows(dy), even_dstate, team.count()
    )
    dx = _first(dx, B, network.input_size)
    dfirst = tuple(_first(part, B, network.hidden_size) for part in first)
    return dx, dfirst, _own_sizes(network, gradients)


def _even_rows(array: np.ndarray) -> np.ndarray:
    """The array [.,m,n], with zeros behind where m or n is odd."""
    *_, m, n = array.shape
    if m % 2 == n % 2 == 0:
        return array
    unpadded = [(0, 0)] * (array.ndim - 2)
    return np.pad(array, [*unpadded, (0, m % 2), (0, n % 2)])


def _first(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The first rows and columns of an array [.,m,n], without gaps; the array itself if it has no others."""
    part = np.ascontiguousarray(array[..., :rows, :columns])
    part.flags.writeable = array.flags.writeable
    return part


def _even(network: Network) -> Network:
    """The network with an even number of inputs and units, the last of which may be one of zeros."""
    I = network.input_size
    H = network.hidden_size
    if I % 2 == H % 2 == 0:
        return network
    even_I = I + I % 2
    even_H = H + H % 2
    parameters = {name: _even_parameter(array, H) for name, array in network.parameters.items()}
    return Network(network.cell, even_I, even_H, parameters, network.layers, network.reset)


def _even_parameter(array: np.ndarray, H: int) -> np.ndarray:
    """A parameter [G·H,n] or [G·H], with zeros behind the rows of each gate and behind the columns."""
    G = len(array) // H
    _, *columns = array.shape
    gates = array.reshape(G, H, *columns)
    padding = [(0, size % 2) for size in (H, *columns)]
    even = np.pad(gates, [(0, 0), *padding])
    return even.reshape(-1, *even.shape[2:])


def _own_sizes(network: Network, gradients: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The gradients in the shapes of the network's own parameters."""
    H = network.hidden_size
    even_H = H + H % 2
    own = {}
    for name, array in network.parameters.items():
        G = len(array) // H
        columns = array[0].size
        gates = gradients[name].reshape(G, even_H, -1)
        own[name] = _first(gates, H, columns).reshape(array.shape)
    return own

"""Residual RNN: skips through depth, y[l] = y[l-1] + h[l], and layers that are recomputed to save memory.

A layer adds to what passes it, so the gradient has a way past all layers that multiplies it by nothing.  The
skips go through depth.  Those of the kernel that SVAIL released with Persistent RNNs (2016) go through time:
h = f(x + U h_before + s h_before).  A layer whose input is not as wide as its output has no skip.

A Residual is a rung (rnnlab.ladder): models train on it.  It changes where sums are made and what is saved;
what a layer computes is one_big_gemm's.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.ladder import one_big_gemm
from rnnlab.network import Network, check_gradients, check_input, layer_network
from rnnlab.training.task import whole


class SavedSegments(NamedTuple):
    """What forward saves: the input x [T,B,I] of the first layer of each segment; all of the top segment."""

    inputs: dict[int, np.ndarray]
    state: State
    layers: dict[int, Any]  # what one_big_gemm saves


@dataclass(frozen=True)
class Residual:
    """Passes through a residual RNN; segment: layers between two saved inputs, None: save every layer."""

    skips: bool = True
    segment: int | None = None

    def __post_init__(self):
        if self.segment is not None:
            whole("segment", self.segment, at_least=1)

    def forward(self, network: Network, x: np.ndarray, state: State | None = None):
        """y [T,B,H], final state, saved."""
        state = check_input(network, x, state)
        length = self.segment or network.layers
        inputs = {}
        layers = {}
        final = []
        for l in range(network.layers):
            if l % length == 0:
                inputs[l] = x
                layers.clear()  # the segment below is recomputed when the gradient comes to it
            x, last, layers[l] = self._layer_forward(network, l, x, state)
            final.append(last)
        saved = SavedSegments(inputs, state, layers)
        return x, _joined(final), saved

    def backward(self, network: Network, saved: SavedSegments, dy: np.ndarray, dstate: State | None = None):
        """dx [T,B,I], dstate of the initial state, gradients.

        Takes the layers out of `saved` one by one, so that they leave memory; a second call recomputes them.
        """
        T, B, _ = saved.inputs[0].shape
        dstate = check_gradients(network, T, B, dy, dstate)
        gradients = {}
        first = [None] * network.layers
        layers = saved.layers
        for l in reversed(range(network.layers)):
            if l not in layers:
                layers = self._recompute(network, saved, l)
            one = layer_network(network, l)
            dlast = _of_layer(dstate, l)
            dx, first[l], layer_gradients = one_big_gemm.backward(one, layers.pop(l), dy, dlast)
            dy = dx + dy if self._has_skip(network, l) else dx
            for name, gradient in layer_gradients.items():
                stem = name.removesuffix("0")  # "weight_hh_l" of "weight_hh_l0"
                gradients[f"{stem}{l}"] = gradient
        in_order = {name: gradients[name] for name in network.parameters}
        return dy, _joined(first), in_order

    def _recompute(self, network: Network, saved: SavedSegments, top: int) -> dict[int, Any]:
        """What one_big_gemm saves of the segment whose top layer this is."""
        start = max(l for l in saved.inputs if l <= top)
        x = saved.inputs[start]
        layers = {}
        for l in range(start, top + 1):
            x, _, layers[l] = self._layer_forward(network, l, x, saved.state)
        return layers

    def _layer_forward(self, network: Network, l: int, x: np.ndarray, state: State):
        one = layer_network(network, l)
        h, last, saved = one_big_gemm.forward(one, x, _of_layer(state, l))
        y = x + h if self._has_skip(network, l) else h
        return y, last, saved

    def _has_skip(self, network: Network, l: int) -> bool:
        return self.skips and (l > 0 or network.input_size == network.hidden_size)


def _of_layer(state: State, l: int) -> State:
    """A layer's part of a state [L,B,H], as [1,B,H]."""
    return tuple(part[l : l + 1] for part in state)


def _joined(states: list[State]) -> State:
    """The state whose layers these are."""
    return tuple(np.concatenate(part) for part in zip(*states, strict=True))


def gradient_norms(network: Network, gradients: dict[str, np.ndarray]) -> np.ndarray:
    """Norm of the gradient of weight_hh of every layer [L].

    A norm is the root of a sum of squares, and float32 holds no square of a number below 1e-23: float64.
    """
    norms = []
    for l in range(network.layers):
        gradient = gradients[f"weight_hh_l{l}"]
        norms.append(np.linalg.norm(gradient.astype("float64")))
    return np.array(norms)


def saved_bytes(network: Network, T: int, B: int, segment: int | None = None) -> int:
    """Bytes of a plain RNN's activations that are live at once, at most, when its gradient is computed.

    For each layer of a segment its input and its states, T·B·H each; for every other segment its input.
    """
    length = segment or network.layers
    itemsize = np.dtype(network.dtype).itemsize
    segments = -(-network.layers // length)
    arrays = 2 * length + segments - 1
    return itemsize * T * B * network.hidden_size * arrays

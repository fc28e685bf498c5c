"""One layer, forward and backward, as calls of kernels: which product when, and what is saved for later.

What is saved has the steps side by side: h [T+1,B,H], gates [T,B,G,H].  Gradients of gates lie as the product
that follows reads them, [B,G·H] for each step.

A cell is a class with its number of gates and three functions:
    empty   arrays for what a layer saves
    step    computes time step t: from saved h[t] and gates_x[t] to h[t+1], and what else is saved
    back    writes the gradients of the gates of step t, dgates.x[t] and dgates.h[t].  later [B,G·H] are those
            of step t+1, whose product with w is their part of dh; dy [B,H] is the other part.  carried: what
            passes the products, after the step and before it (an LSTM's dc, a GRU's dh∘z), both [B,H].
"""

from typing import NamedTuple

import numpy as np

from bench.halide.kernels import Kernels
from rnnlab.cells import State
from rnnlab.network import Layer, Network, merged_bias

BLOCK = 1024  # rows of a weight gradient's block: a panel of 48 columns is 0.2 MB, a tenth of a cache of 2 MB


class Rnn:
    """An rnn_tanh or rnn_relu."""

    gates = 1

    @staticmethod
    def step(kernels: Kernels, w, gates_x, bias_n, saved, t) -> None:
        kernels.multiply("step", saved["h"][t], w, gates_x[t, :, 0], saved["h"][t + 1])

    @staticmethod
    def empty(T: int, B: int, H: int, dtype) -> dict[str, np.ndarray]:
        """Room for what a layer saves: h [T+1,B,H], and the rest [T,B,H] by name."""
        return {"h": np.empty((T + 1, B, H), dtype)}

    @staticmethod
    def back(kernels: Kernels, w, later, dy, saved, t, carried, dgates) -> None:
        kernels.multiply("back", later, w, dy, saved["h"][t + 1], dgates.x[t, :, 0])


class Lstm:
    gates = 4

    @staticmethod
    def empty(T: int, B: int, H: int, dtype) -> dict[str, np.ndarray]:
        """Room for what a layer saves: h [T+1,B,H], and the rest [T,B,H] by name."""
        states = {name: np.empty((T + 1, B, H), dtype) for name in "hc"}
        return states | {"gates": np.empty((T, B, 4, H), dtype), "tanh_c": np.empty((T, B, H), dtype)}

    @staticmethod
    def step(kernels: Kernels, w, gates_x, bias_n, saved, t) -> None:
        h = saved["h"]
        c = saved["c"]
        gates = saved["gates"]
        written = h[t + 1], c[t + 1], *_by_gate(gates[t]), saved["tanh_c"][t]
        kernels.multiply("step", h[t], w, *_by_gate(gates_x[t]), c[t], *written)

    @staticmethod
    def back(kernels: Kernels, w, later, dy, saved, t, carried, dgates) -> None:
        read = dy, *_by_gate(saved["gates"][t]), saved["c"][t], saved["tanh_c"][t], carried[0]
        kernels.multiply("back", later, w, *read, *_by_gate(dgates.x[t]), carried[1])


class Gru:
    gates = 3

    @staticmethod
    def empty(T: int, B: int, H: int, dtype) -> dict[str, np.ndarray]:
        """Room for what a layer saves: h [T+1,B,H], and the rest [T,B,H] by name."""
        saved = {"h": np.empty((T + 1, B, H), dtype), "h_n": np.empty((T, B, H), dtype)}
        return saved | {"gates": np.empty((T, B, 3, H), dtype)}

    @staticmethod
    def step(kernels: Kernels, w, gates_x, bias_n, saved, t) -> None:
        h = saved["h"]
        written = h[t + 1], *_by_gate(saved["gates"][t]), saved["h_n"][t]
        kernels.multiply("step", h[t], w, *_by_gate(gates_x[t]), bias_n, h[t], *written)

    @staticmethod
    def back(kernels: Kernels, w, later, dy, saved, t, carried, dgates) -> None:
        read = dy, carried[0], saved["h"][t], *_by_gate(saved["gates"][t]), saved["h_n"][t]
        dn_h = dgates.h[t, :, 2]
        kernels.multiply("back", later, w, *read, *_by_gate(dgates.x[t]), dn_h, carried[1])
        dgates.h[t, :, :2] = dgates.x[t, :, :2]


CELLS = {"rnn_tanh": Rnn, "rnn_relu": Rnn, "lstm": Lstm, "gru": Gru}


class Gradients(NamedTuple):
    """Gradients of the gates before their nonlinearity [T,B,G,H]: for x's weights and for h's weights."""

    x: np.ndarray
    h: np.ndarray


def forward(kernels: Kernels, network: Network, layer: Layer, x: np.ndarray, state: State):
    """y [T,B,H], the last state [B,H], and what is saved, of one layer, from x [T,B,I] and state [B,H]."""
    (T, B, I) = x.shape
    (GH, H) = layer.weight_hh.shape
    steps = CELLS[network.cell]
    bias = merged_bias(network, layer)
    bias_n = np.ascontiguousarray(layer.bias_hh[-H:])
    gates_x = np.empty((T * B, GH), x.dtype)
    kernels.multiply("input", x.reshape(T * B, I), kernels.operand(layer.weight_ih.T), bias, gates_x)
    gates_x = gates_x.reshape(T, B, steps.gates, H)
    saved = steps.empty(T, B, H, x.dtype)
    saved["h"][0] = state[0]
    if network.cell == "lstm":
        saved["c"][0] = state[1]
    w = kernels.operand(layer.weight_hh.T, steps.gates)
    for t in range(T):
        steps.step(kernels, w, gates_x, bias_n, saved, t)
    return saved["h"][1:], tuple(saved[name][T] for name in ("h", "c") if name in saved), saved


def backward(kernels: Kernels, cell: str, layer: Layer, x: np.ndarray, saved: dict, dy, dstate: State):
    """dx [T,B,I], the gradient of the first state [B,H], and those of the layer's parameters."""
    (T, B, _) = x.shape
    (GH, H) = layer.weight_hh.shape
    steps = CELLS[cell]
    dgates_x = np.empty((T, B, steps.gates, H), x.dtype)
    dgates = Gradients(dgates_x, np.empty_like(dgates_x) if cell == "gru" else dgates_x)
    w = kernels.operand(layer.weight_hh)
    later = np.empty((B, 0), x.dtype)  # no step follows the last one
    arriving = dy[T - 1] + dstate[0]
    carried = [dstate[1].copy() if cell == "lstm" else np.zeros((B, H), x.dtype), np.empty((B, H), x.dtype)]
    for t in reversed(range(T)):
        steps.back(kernels, w, later, arriving, saved, t, carried, dgates)
        later = dgates.h[t].reshape(B, GH)
        arriving = dy[t - 1]
        carried = carried[::-1]
    dh = np.empty((B, H), x.dtype)
    kernels.multiply("plain", later, w, dh)
    if cell == "gru":
        dh += carried[0]
    first = (dh, carried[0]) if cell == "lstm" else (dh,)
    dx = np.empty(x.shape, x.dtype)
    of_x, of_h = (part.reshape(T * B, GH) for part in dgates)
    kernels.multiply("plain", of_x, kernels.operand(layer.weight_ih), dx.reshape(T * B, -1))
    return dx, first, _parameter_gradients(kernels, of_x, of_h, x.reshape(T * B, -1), saved["h"])


def _parameter_gradients(kernels: Kernels, of_x, of_h, x, h) -> Layer:
    """dW = dgatesᵀ · what the weights multiplied, over all steps; biases multiplied 1."""
    shared = of_h is of_x or np.shares_memory(of_h, of_x)
    h = h[:-1].reshape(len(x), -1)
    d_ih, d_hh = (np.zeros((of_x.shape[1], inputs.shape[1]), x.dtype) for inputs in (x, h))
    spare_ih = np.empty_like(d_ih)
    spare_hh = np.empty_like(d_hh)
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        rows_x = kernels.rows(of_x[block].T)
        rows_h = rows_x if shared else kernels.rows(of_h[block].T)
        kernels.multiply("more", rows_x, kernels.operand(x[block]), d_ih, spare_ih)
        kernels.multiply("more", rows_h, kernels.operand(h[block]), d_hh, spare_hh)
        d_ih, spare_ih, d_hh, spare_hh = spare_ih, d_ih, spare_hh, d_hh
    return Layer(d_ih, d_hh, of_x.sum(0), of_h.sum(0))


def _by_gate(gates: np.ndarray) -> list[np.ndarray]:
    """[B,G,H] as G views [B,H]."""
    return [gates[:, gate] for gate in range(gates.shape[1])]

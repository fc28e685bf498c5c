"""A cell's work for one unit of one sequence, forward and backward, as functions of every kernel.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_device: change it there, then `make course`.

All arrays are flat.  `gate` is the place of the unit's first gate in [T,B,G·H], the others lie H further on;
`before` is its place in [T,B,H], which in [T+1,B,H] is that of the state before the step; `after` is that
of the state after it; `row` is its place in [B,H].

a_r is the sum that gate r is a function of, da_r its gradient.

Forward: sums [G] are the recurrent products; vectors [V·H] are numbers of each unit beside the biases; gates
hold the input products with the biases, and are left holding the gates; reserve has what else is stored of a
step, a second state c [T+1,B,H] or what a gradient needs beside states and gates [T,B,H], such as the
recurrent sum that a GRU's reset gate multiplies.

Backward: dh is what dy, the products and the final state's gradient send to h after the step.  carry [B,H]
goes past the products to the step before: dc, or what h sends to the next h past them.  dgates and dgates_h
[T,B,G·H] get the gradients of the gates, for the inputs and for the recurrent product; they differ where a
gate multiplies that product, as in a GRU, and are one array elsewhere.

A cell that has both has pairs of numbers in reserve, or in carry: those of c come first.  The last ones in
carry are the gradients of the cell's own vectors, added up over the steps of each sequence.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from pocketgpu import cuda


class Pointwise(NamedTuple):
    """The two device functions of a cell."""

    forward: Callable  # (sums, gates, gate, H, vectors, unit, h, before, after, reserve)
    # (dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h)
    backward: Callable


@cache
def pointwise(cell: str, dtype: str) -> Pointwise:
    """A cell's functions; every constant has the arithmetic's dtype, so that nothing creeps into float64."""
    if cell not in MAKERS:
        raise ValueError(f"cell is {cell!r}, expected one of {', '.join(MAKERS)}: others have no kernel here")
    return MAKERS[cell](np.dtype(dtype).type)


def _rnn_tanh(scalar_type: type) -> Pointwise:
    one = scalar_type(1)

    @cuda.jit(device=True)
    def forward(sums, gates, gate, H, vectors, unit, h, before, after, reserve):
        h[after] = math.tanh(gates[gate] + sums[0])

    @cuda.jit(device=True)
    def backward(dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h):
        h_next_j = h[after]
        dgates[gate] = dh * (one - h_next_j * h_next_j)

    return Pointwise(forward, backward)


def _rnn_relu(scalar_type: type) -> Pointwise:
    zero = scalar_type(0)

    @cuda.jit(device=True)
    def forward(sums, gates, gate, H, vectors, unit, h, before, after, reserve):
        h[after] = max(gates[gate] + sums[0], zero)

    @cuda.jit(device=True)
    def backward(dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h):
        dgates[gate] = dh if h[after] > zero else zero

    return Pointwise(forward, backward)


def _gru(scalar_type: type) -> Pointwise:
    half = scalar_type(0.5)
    one = scalar_type(1)

    @cuda.jit(device=True)
    def forward(sums, gates, gate, H, vectors, unit, h, before, after, reserve):
        a_r = gates[gate] + sums[0]
        r = half * math.tanh(half * a_r) + half
        a_z = gates[gate + H] + sums[1]
        z = half * math.tanh(half * a_z) + half
        inner = sums[2] + vectors[unit]
        a_n = gates[gate + 2 * H] + r * inner
        n = math.tanh(a_n)
        reserve[before] = inner
        h[after] = (one - z) * n + z * h[before]
        gates[gate] = r
        gates[gate + H] = z
        gates[gate + 2 * H] = n

    @cuda.jit(device=True)
    def backward(dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h):
        dh += carry[row]
        z = gates[gate + H]
        n = gates[gate + 2 * H]
        da_n = dh * (one - z) * (one - n * n)
        r = gates[gate]
        da_r = da_n * reserve[before] * r * (one - r)
        da_z = dh * (h[before] - n) * z * (one - z)
        dgates[gate] = da_r
        dgates[gate + H] = da_z
        dgates[gate + 2 * H] = da_n
        dgates_h[gate] = da_r
        dgates_h[gate + H] = da_z
        dgates_h[gate + 2 * H] = da_n * r
        carry[row] = dh * z

    return Pointwise(forward, backward)


def _lstm(scalar_type: type) -> Pointwise:
    half = scalar_type(0.5)
    one = scalar_type(1)

    @cuda.jit(device=True)
    def forward(sums, gates, gate, H, vectors, unit, h, before, after, reserve):
        a_i = gates[gate] + sums[0]
        i = half * math.tanh(half * a_i) + half
        a_f = gates[gate + H] + sums[1]
        f = half * math.tanh(half * a_f) + half
        a_g = gates[gate + 2 * H] + sums[2]
        g = math.tanh(a_g)
        a_o = gates[gate + 3 * H] + sums[3]
        o = half * math.tanh(half * a_o) + half
        next_c = f * reserve[before] + i * g
        reserve[after] = next_c
        h[after] = o * math.tanh(next_c)
        gates[gate] = i
        gates[gate + H] = f
        gates[gate + 2 * H] = g
        gates[gate + 3 * H] = o

    @cuda.jit(device=True)
    def backward(dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h):
        o = gates[gate + 3 * H]
        tanh_c = math.tanh(reserve[after])
        dc_total = carry[row] + dh * o * (one - tanh_c * tanh_c)
        g = gates[gate + 2 * H]
        i = gates[gate]
        f = gates[gate + H]
        da_i = dc_total * g * i * (one - i)
        dgates[gate] = da_i
        da_f = dc_total * reserve[before] * f * (one - f)
        dgates[gate + H] = da_f
        da_g = dc_total * i * (one - g * g)
        dgates[gate + 2 * H] = da_g
        da_o = dh * tanh_c * o * (one - o)
        dgates[gate + 3 * H] = da_o
        carry[row] = dc_total * f

    return Pointwise(forward, backward)


MAKERS = {
    "rnn_tanh": _rnn_tanh,
    "rnn_relu": _rnn_relu,
    "gru": _gru,
    "lstm": _lstm,
}

"""Equations of the kernels: what follows the sums of a product, in Halide; the formulas of `rnnlab.cells`.

A kernel multiplies a [M,K] with b [K,N] of each of its gates and finishes every element (n, m) from the sums
and from its extras, arrays [M,N] but for a bias [N].  It returns one expression for each array it writes.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SMALL = 0.6  # where 1 − 2/(1 + e²ˣ) loses digits to cancellation, a polynomial in x² takes over
DEGREE = 5


@dataclass(frozen=True)
class Kernel:
    """One product and what follows it.  finish(functions, sums, extras) -> the expressions written."""

    finish: Callable
    extras: tuple[str, ...] = ()
    gates: int = 1
    outputs: int = 1


class Functions:
    """tanh, sigmoid and relu of an expression; for float32 without a call out of the vector if in_vectors."""

    def __init__(self, hl, dtype: str, in_vectors: bool):
        self.hl = hl
        self.by_polynomials = in_vectors and dtype == "float32"

    def relu(self, a):
        return self.hl.max(a, 0)

    def tanh(self, a):
        if not self.by_polynomials:
            return self.hl.tanh(a)
        hl = self.hl
        square = a * a
        near = hl.f32(0)
        for coefficient in reversed(_tanh_coefficients()):
            near = near * square + hl.f32(coefficient)
        far = 1 - 2 / (1 + hl.exp(2 * hl.clamp(a, -10, 10)))  # tanh 10 is 1 in float32
        return hl.select(hl.abs(a) < hl.f32(SMALL), a + a * square * near, far)

    def sigmoid(self, a):
        if not self.by_polynomials:
            return 0.5 * self.hl.tanh(0.5 * a) + 0.5
        return 1 / (1 + self.hl.exp(self.hl.clamp(-a, -80, 80)))  # e⁸⁰ is the end of float32


@functools.cache
def _tanh_coefficients() -> list[float]:
    """Coefficients of p in tanh x = x + x³ p(x²) on |x| < SMALL, by interpolation between Chebyshev nodes."""
    p = lambda z: (np.tanh(np.sqrt(z)) / np.sqrt(z) - 1) / z
    fitted = np.polynomial.Chebyshev.interpolate(p, DEGREE, domain=[1e-3, SMALL**2])
    return [float(c) for c in fitted.convert(kind=np.polynomial.Polynomial).coef]


def _lstm_step(functions, sums, extras):
    i, f, g, o = (s + extras[f"x_{gate}"] for s, gate in zip(sums, "ifgo", strict=True))
    i, f, o, g = *(functions.sigmoid(a) for a in (i, f, o)), functions.tanh(g)
    c = f * extras["c"] + i * g
    tanh_c = functions.tanh(c)
    return [o * tanh_c, c, i, f, g, o, tanh_c]


def _lstm_back(functions, sums, extras):
    i, f, g, o, c, tanh_c = (extras[name] for name in ("i", "f", "g", "o", "c", "tanh_c"))
    dh = sums[0] + extras["dy"]
    dc = extras["dc"] + dh * o * (1 - tanh_c * tanh_c)
    di = dc * g * i * (1 - i)
    df = dc * c * f * (1 - f)
    return [di, df, dc * i * (1 - g * g), dh * tanh_c * o * (1 - o), dc * f]


def _gru_step(functions, sums, extras):
    r = functions.sigmoid(sums[0] + extras["x_r"])
    z = functions.sigmoid(sums[1] + extras["x_z"])
    h_n = sums[2] + extras["bias_n"]
    n = functions.tanh(extras["x_n"] + r * h_n)
    return [(1 - z) * n + z * extras["h"], r, z, n, h_n]


def _gru_back(functions, sums, extras):
    h, r, z, n, h_n = (extras[name] for name in ("h", "r", "z", "n", "h_n"))
    dh = sums[0] + extras["dy"] + extras["carried"]
    dn = dh * (1 - z) * (1 - n * n)
    dr = dn * h_n * r * (1 - r)
    dz = dh * (h - n) * z * (1 - z)
    return [dr, dz, dn, dn * r, dh * z]


SHARED = {
    "input": Kernel(lambda f, sums, x: [sums[0] + x["bias"]], ("bias",)),  # for all steps at once
    "plain": Kernel(lambda f, sums, x: [sums[0]]),
    "more": Kernel(lambda f, sums, x: [sums[0] + x["before"]], ("before",)),  # a weight gradient, by blocks
}
CELLS = {
    "rnn_tanh": {
        "step": Kernel(lambda f, sums, x: [f.tanh(sums[0] + x["gates_x"])], ("gates_x",)),
        "back": Kernel(lambda f, sums, x: [(sums[0] + x["dy"]) * (1 - x["h"] * x["h"])], ("dy", "h")),
    },
    "rnn_relu": {
        "step": Kernel(lambda f, sums, x: [f.relu(sums[0] + x["gates_x"])], ("gates_x",)),
        "back": Kernel(lambda f, sums, x: [f.hl.select(x["h"] > 0, sums[0] + x["dy"], 0)], ("dy", "h")),
    },
    "lstm": {
        "step": Kernel(_lstm_step, ("x_i", "x_f", "x_g", "x_o", "c"), gates=4, outputs=7),
        "back": Kernel(_lstm_back, ("dy", "i", "f", "g", "o", "c", "tanh_c", "dc"), outputs=5),
    },
    "gru": {
        "step": Kernel(_gru_step, ("x_r", "x_z", "x_n", "bias_n", "h"), gates=3, outputs=5),
        "back": Kernel(_gru_back, ("dy", "carried", "h", "r", "z", "n", "h_n"), outputs=5),
    },
}

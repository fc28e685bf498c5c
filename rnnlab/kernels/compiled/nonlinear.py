"""tanh and the sigmoid in a form that the compiler turns into vector instructions.

math.tanh is a function call for every number.  In float32 tanh is here a quotient of two polynomials, a
minimax fit, odd of degree 13 over even of degree 6, whose coefficients are Eigen's (generic_fast_tanh_float),
and ±1 beyond ±EDGE.  The sigmoid is 1/(1 + e⁻ᵃ): not (1 + tanh(a/2))/2, which loses all digits where it is
small.  e⁻ᵃ is 2ⁿ·eʳ with |r| ≤ ln 2/2, a polynomial of Cephes (expf), and 2ⁿ an integer moved into a float's
exponent.  NaN stays NaN.  float64 keeps math.tanh, right to the last digits and not fast.

Largest errors over every 7th float32, in units in the last place: tanh 5.0, without a fused multiply-add 6.3;
sigmoid 3.2 down to −88, below −88.4 it is 0, where the exact value is under 4.3e-39.
"""

import math

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

# Sums may be reordered and fused; NaN and infinity are what they are ("nnan" and "ninf" would deny them).
# error_model: Python's test for a division by zero would stop vectors.
FAST = {"fastmath": {"reassoc", "contract", "nsz", "arcp", "afn"}, "error_model": "numpy"}
IN_ORDER = {"fastmath": {"contract", "nsz"}, "error_model": "numpy"}  # the two parts of ln 2 stay apart
EDGE = np.float32(8.0)  # where the quotient may exceed 1; tanh(8) is 3.8 units in the last place below 1
A0, A1, A2, A3, A4, A5, A6 = map(
    np.float32,
    (
        4.89352455891786e-03,
        6.37261928875436e-04,
        1.48572235717979e-05,
        5.12229709037114e-08,
        -8.60467152213735e-11,
        2.00018790482477e-13,
        -2.76076847742355e-16,
    ),
)
B0, B1, B2, B3 = map(
    np.float32, (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06)
)
ONE = np.float32(1)
HALF = np.float32(0.5)
LOG2_E = np.float32(1.44269504088896341)
LN2_HIGH = np.float32(0.693359375)
LN2_LOW = np.float32(-2.12194440e-4)  # n·LN2_HIGH is exact
LOW, HIGH = np.float32(-87.0), np.float32(89.0)  # e⁻⁸⁷ is a normal float32; 2ⁿ of e⁸⁹ is infinite
E2, E3, E4, E5, E6, E7 = map(
    np.float32,
    (
        5.0000001201e-1,
        1.6666665459e-1,
        4.1665795894e-2,
        8.3334519073e-3,
        1.3981999507e-3,
        1.9875691500e-4,
    ),
)
BIAS = np.int32(127)  # of a float32's exponent
MANTISSA = np.int32(23)  # bits below it


def tanh(a: float) -> float:
    """tanh(a); compiled, it is one of the two below."""
    return math.tanh(a)


def sigmoid(a: float) -> float:
    """1/(1+e⁻ᵃ) = (1 + tanh(a/2))/2."""
    return 0.5 * math.tanh(0.5 * a) + 0.5


@overload(tanh, jit_options=IN_ORDER)
def _tanh(a):
    return _tanh32 if a == types.float32 else _exact


@overload(sigmoid, jit_options=IN_ORDER)
def _sigmoid(a):
    return _sigmoid32 if a == types.float32 else _sigmoid64


@register_jitable(**IN_ORDER)
def rational(a):
    """tanh(a) of a float32 within ±EDGE, or of a vector of them."""
    z = a * a
    odd = A0 + z * (A1 + z * (A2 + z * (A3 + z * (A4 + z * (A5 + z * A6)))))
    even = B0 + z * (B1 + z * (B2 + z * B3))
    return a * (odd / even)  # of the smallest a a·odd would lose digits


@register_jitable(**IN_ORDER)
def exponential(r):
    """eʳ of a float32 within ±ln 2/2, or of a vector of them."""
    return ONE + r + r * r * (E2 + r * (E3 + r * (E4 + r * (E5 + r * (E6 + r * E7)))))


def _tanh32(a):
    inner = rational(a)
    below = -ONE if a < -EDGE else inner
    return ONE if a > EDGE else below


def _exact(a):
    return math.tanh(a)


def _sigmoid32(a):
    x = HIGH if -a > HIGH else -a  # comparisons that leave a NaN, not min(), which tests for it
    x = LOW if x < LOW else x
    n = np.floor(x * LOG2_E + HALF)
    exponent = np.int32(n) + BIAS
    power = np.int32(exponent << MANTISSA).view(np.float32)
    r = x - n * LN2_HIGH - n * LN2_LOW
    return ONE / (ONE + exponential(r) * power)


def _sigmoid64(a):
    return 0.5 * math.tanh(0.5 * a) + 0.5

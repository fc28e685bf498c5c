"""tanh as a continued fraction, cut and written as a quotient of two polynomials.

tanh a = a / (1 + a² / (3 + a² / (5 + …))), Lambert 1768.  Cut after n levels it is a·P(a²) / Q(a²), with
whole positive coefficients, and the more levels the further out it is right.
"""

from itertools import zip_longest


def lambert(levels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(odd, even): coefficients of P and Q for rising powers of a², scaled so that both begin with 1."""
    return _coefficients([0], levels), _coefficients([1], levels)


def _coefficients(before: list[int], levels: int) -> tuple[float, ...]:
    """P or Q for that many levels, from what it is before the first level."""
    now = [1]
    for n in range(2, levels + 1):
        after = _next(now, before, 2 * n - 1)
        before = now
        now = after
    constant = now[0]
    return tuple(coefficient / constant for coefficient in now)


def _next(now: list[int], before: list[int], factor: int) -> list[int]:
    """factor · now + a² · before, without a last coefficient of 0."""
    shifted = [0, *before]  # times a²
    result = [factor * a + b for a, b in zip_longest(now, shifted, fillvalue=0)]
    if not result[-1]:
        result.pop()
    return result

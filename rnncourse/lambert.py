"""tanh as a continued fraction, cut and written as a quotient of two polynomials.

tanh a = a / (1 + a² / (3 + a² / (5 + …))), Lambert 1768.  Cut after n levels it is a·P(a²) / Q(a²), with
whole positive coefficients, and the more levels the further out it is right.
"""

from itertools import zip_longest


def lambert(levels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(odd, even): coefficients of P and Q for rising powers of a², scaled so that both begin with 1."""
    before_p = [0]
    p = [1]
    before_q = [1]
    q = [1]
    for n in range(2, levels + 1):
        factor = 2 * n - 1
        before_p, p = p, _next(p, before_p, factor)
        before_q, q = q, _next(q, before_q, factor)
    return tuple(c / p[0] for c in p), tuple(c / q[0] for c in q)


def _next(now: list[int], before: list[int], factor: int) -> list[int]:
    """factor · now + a² · before, without a last coefficient of 0."""
    both = [factor * a + b for a, b in zip_longest(now, [0, *before], fillvalue=0)]
    return both if both[-1] else both[:-1]

"""Checks of lesson 06: a tanh of two polynomials, gates in one loop, a product in tiles."""

from rnncourse.checks.answers import answers
from rnncourse.checks.numba_cpu import blocked_matmul, fast_tanh, fused_gates

ANSWERS = answers("numba_cpu")

EXERCISES = (
    ANSWERS["fused_gates"].exercise(fused_gates.check, fused_gates.draw_cases),
    ANSWERS["fast_tanh"].exercise(fast_tanh.check, fast_tanh.CASES),
    ANSWERS["blocked_matmul"].exercise(blocked_matmul.check, blocked_matmul.CASES),
)

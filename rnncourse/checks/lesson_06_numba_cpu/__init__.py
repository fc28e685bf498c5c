"""Checks of lesson 06: a tanh of two polynomials, gates in one loop."""

from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_06_numba_cpu import fast_tanh, fused_gates

ANSWERS = answers("06_numba_cpu")

EXERCISES = (
    ANSWERS["fused_gates"].exercise(fused_gates.check, fused_gates.draw_cases, late=lambda n: (n, 1)),
    ANSWERS["fast_tanh"].exercise(fast_tanh.check, fast_tanh.CASES),
)

"""Checks of lesson 06: a tanh of two polynomials, gates in one loop."""

from rnncourse.checks.lesson_06_numba_cpu.fast_tanh import check_fast_tanh
from rnncourse.checks.lesson_06_numba_cpu.fused_gates import check_fused_gates

__all__ = "check_fast_tanh", "check_fused_gates"

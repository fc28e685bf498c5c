"""Checks of unit 06: gates in one walk, a tanh of multiplications, a product in tiles."""

from rnnlab.checks.numba_cpu.blocked_matmul import BLOCKED_MATMUL
from rnnlab.checks.numba_cpu.fast_tanh import FAST_TANH
from rnnlab.checks.numba_cpu.fused_gates import FUSED_GATES

EXERCISES = (FUSED_GATES, FAST_TANH, BLOCKED_MATMUL)

"""Checks of lesson 18: maps composed, a scan by chunks, a block's scan, a backward pass, Newton's method.

What an answer could do by a loop over time lies with the judge: maps by name, a gradient from outside, the
weights of a network.  Its functions are called, and each call is a level that waits for the one before.
"""

from rnncourse.checks.lesson_18_parallel_in_time.affine_maps import (
    check_block_scan_kernel,
    check_compose_affine,
    check_scan_by_chunks,
)
from rnncourse.checks.lesson_18_parallel_in_time.backward import check_backward_by_scan
from rnncourse.checks.lesson_18_parallel_in_time.newton import check_newton_states

__all__ = (
    "check_backward_by_scan",
    "check_block_scan_kernel",
    "check_compose_affine",
    "check_newton_states",
    "check_scan_by_chunks",
)

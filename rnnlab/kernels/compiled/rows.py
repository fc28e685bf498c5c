"""A cell's loops over the rows of [n, …] arrays, which gates.py has for each cell, and what they add up.

Their arguments are the same for every cell; one that it does not use may be any array with as many rows.
"""

from collections.abc import Callable
from typing import NamedTuple

from numba import njit

from rnnlab.kernels.compiled.nonlinear import FAST

OPTIONS = {**FAST, "nogil": True, "cache": True}


class Rows(NamedTuple):
    """The work of one step on n sequences beside its product; inner_bias and arrays as in gates.py."""

    forward: Callable  # (gates, recurrent, bias, inner_bias, h, c, saved, c_next, h_next)
    # (gates, saved, h, c, c_next, h_next, dy, carry, dh, dc, dgates, dgates_h, db, db_h): carry + dy arrives
    # at h after the step; what of it reaches the h before past the products, if anything does, is left in dh
    # [n,H]; the sums of dgates and dgates_h over the rows are added to db and db_h [G·H]
    backward: Callable


@njit(**OPTIONS)
def add_gradients(dh, carry, dy):
    for j in range(dh.size):
        dh[j] = carry[j] + dy[j]


@njit(**OPTIONS)
def add_up(total, row):
    for j in range(total.size):
        total[j] += row[j]

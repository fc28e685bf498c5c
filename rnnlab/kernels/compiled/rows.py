"""A cell's loops over the sequences of a step, which gates.py has for each cell, and what they add up.

Their arguments are the same for every cell; one that it does not use may be any array of as many axes.
"""

from collections.abc import Callable
from typing import NamedTuple

from numba import njit

from rnnlab.kernels.compiled.nonlinear import FAST

OPTIONS = {**FAST, "nogil": True, "cache": True}


class Rows(NamedTuple):
    """The work of step t beside its product, for n sequences from lo on."""

    # (t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next): from gates [.,.,G·H]
    # and h, c [.,.,H] at t and recurrent [n,G·H] to c_next, h_next [.,.,H] at `after`, and gates, saved at t
    forward: Callable
    # (t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, dvectors, db, db_h): carry
    # [n,H] + dy arrives at h[t + 1]; what of it reaches h[t] past the products, if anything does, is left in
    # past [n,H]; sums over the sequences are added to dvectors, and those of dgates and dgates_h to db and
    # db_h [G·H]
    backward: Callable


@njit(**OPTIONS)
def add_gradients(dh, carry, dy):
    for j in range(dh.size):
        dh[j] = carry[j] + dy[j]


@njit(**OPTIONS)
def add_up(total, row):
    for j in range(total.size):
        total[j] += row[j]

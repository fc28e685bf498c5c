"""Accesses that a GPU refuses: a number must stand at a multiple of its size."""

import numpy as np

from rnnlab.simulator.accesses import Accesses


def misaligned(found: Accesses) -> np.ndarray:
    """Places of accesses whose address is no multiple of their size; one a site, the first.

    It takes a view of bytes to make one: a slice of dynamic shared memory, read as wider numbers.
    """
    plain = np.array([False] + [each.data.dtype.kind in "iuf" for each in found.arrays[1:]])
    places = np.flatnonzero(plain[found.array] & (found.address % np.maximum(found.bytes, 1) != 0))
    _, first = np.unique(found.site[places], return_index=True)
    return places[np.sort(first)]

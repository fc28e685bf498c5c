"""Reads of memory that nobody has written."""

import numpy as np

from rnnlab.simulator.accesses import Accesses
from rnnlab.simulator.events import STORE, VOLATILE_STORE


def first_reads(found: Accesses) -> np.ndarray:
    """Places of accesses that read an address before anybody stored to it."""
    unsure = np.array([False] + [each.root.written is not True for each in found.arrays[1:]])
    places = np.flatnonzero(unsure[found.array])
    if not len(places):
        return places
    _, first = np.unique(found.address[places], return_index=True)
    first = places[first]
    reads = first[~np.isin(found.kind[first], (STORE, VOLATILE_STORE))]
    return np.array([k for k in np.sort(reads) if not _was_written(found, k)], np.int64)


def _was_written(found: Accesses, place: int) -> bool:
    """Had that element a value before the launch?"""
    root, number = found.arrays[found.array[place]].root, found.array[place]
    if not isinstance(root.written, np.ndarray):
        return bool(root.written)
    element = (int(found.address[place]) - int(found.base[number])) // root.data.itemsize
    return bool(root.written.reshape(-1)[element]) if root.data.flags.c_contiguous else True

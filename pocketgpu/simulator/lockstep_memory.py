"""Arrays of a launch in lockstep: accesses of many threads at once, each within its array and to what was
written.
"""

import functools

import numpy as np

from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.lockstep_values import (
    AS_INDEX,
    INTEGERS,
    MANY,
    Fallback,
    Mixed,
    Varying,
    apart,
    as_varying,
    converted,
    data_of,
    kind_in,
    kind_of,
)

ADDING = {np.add, np.subtract}


class Memory:
    """An array as threads in lockstep see it; of a shared or local one `data` has all blocks' or threads'."""

    def __init__(
        self,
        data: np.ndarray,
        space: str,
        written: np.ndarray | None,
        copy_of: np.ndarray | None = None,
        site: int = 0,
    ):
        if data.dtype.kind not in "fiubc" or not data.flags.c_contiguous:
            raise Fallback(f"an array of {data.dtype}, or one with gaps")
        self.space = space
        self.number = 0  # in the trace; 0 where it has none yet
        self.site = site  # where it was made
        self.copy_of = copy_of  # [places] which of its copies is a thread's; None if there is one
        self.data = data
        self.one = data if copy_of is None else data[0]  # what a single thread sees
        self.flat = data.reshape(-1)
        self.written = written  # [cells] where a value is; None: everywhere
        self.region: object = None  # see lockstep_events.Region; local arrays have none
        self.first = 0  # cell of the region that its first one is
        self.ufuncs: set[np.ufunc] = set()  # by which atomics change it

    def locate(self, index: object, threads: np.ndarray) -> np.ndarray:
        """[n] The cells of threads at these places, without steps between them if all have the same."""
        indices = index if type(index) is tuple else (index,)
        cell, *others = [_within(axis, size) for axis, size in zip(indices, self.one.shape, strict=True)]
        for place, size in zip(others, self.one.shape[1:], strict=True):
            cell = cell * size + place
        if self.copy_of is not None:
            cell = cell + self.copy_of.take(threads) * self.one.size
        return cell if isinstance(cell, np.ndarray) else np.broadcast_to(np.int64(cell), len(threads))

    def load(self, cells: np.ndarray) -> object:
        """The elements of these cells [n]."""
        self.check_written(cells)
        if cells.strides == (0,):
            return as_register(self.flat[cells[0]])
        return Varying(self.flat.take(cells), kind_of(self.flat.dtype))

    def store(self, cells: np.ndarray, value: object) -> None:
        """Store a number of each thread into these cells [n]."""
        self.flat[cells] = self._as_element(value)
        if self.written is not None:
            self.written[cells] = True

    def change(self, ufunc: np.ufunc, cells: np.ndarray, value: object, in_loop: bool) -> None:
        """An atomic of each thread on these cells [n], one after another."""
        self.check_written(cells)
        self.ufuncs.add(ufunc)
        if len(self.ufuncs) > 1 and not self.ufuncs <= ADDING:
            raise Fallback("atomics whose order matters")
        element = self._as_element(value)
        if in_loop and (ufunc not in ADDING or not element.all()):
            raise Fallback("an atomic in a loop that may wait for a change")
        if ufunc in (np.maximum, np.minimum):
            is_same = element == data_of(value)
            if not np.all(is_same) or np.isnan(self.flat[cells]).any():
                raise Fallback("an atomic on NaN, or with a number that the array cannot hold")
        ufunc.at(self.flat, cells, element)

    def check_written(self, cells: np.ndarray) -> None:
        """Raise Fallback if one of the cells [n] may have no value."""
        if self.written is not None and not self.written.take(cells).all():
            raise Fallback("a read of memory that nobody may have written")

    def _as_element(self, value: object) -> np.ndarray:
        """[n] The numbers as elements of this array."""
        numbers = value if type(value) in MANY else as_varying(value, 1)
        return apart(functools.partial(converted, kind_of(self.flat.dtype)), numbers).data


def _within(index: object, size: int) -> np.ndarray | int:
    """An index, or those of all threads, counted from the first element."""
    if type(index) is Mixed:
        index = AS_INDEX(index)
    if kind_in(index) not in INTEGERS:
        raise Fallback("an index that is not an integer")
    if type(index) is Varying:
        places = index.data.astype(np.int64, copy=False)
        low, high = index.extremes
    else:
        low = high = places = int(index)
    if low < -size or high >= size:
        raise Fallback("an index that may lie beyond its array")
    return places if low >= 0 else places % size

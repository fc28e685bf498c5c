"""Shared and local arrays in lists, and bare arrays behind watched ones: what rewritten accesses use.

A list finds an element five times as fast as NumPy, and keeps it as the kernel computed it: a float32 stays
one, an int32 is widened.  So an array that a kernel only indexes lies in nested lists; its array of NumPy
says no more than where it would lie.
"""

from dataclasses import dataclass
from sys import _getframe

import numpy as np

from pocketgpu.simulator.arithmetic import Unset, as_bare, as_register
from pocketgpu.simulator.memory import Local, Shared, Watched, row_for_element
from pocketgpu.simulator.threads import INSIDE, machine
from pocketgpu.simulator.trace import EVENT, KINDS, LOAD, STORE, opens_event

NOTE = 256  # entries of a record, more than the accesses of an expression have
LARGEST = 100_000  # elements of an array that is kept in lists
ALLOCATIONS = {id(word): INSIDE[id(word)] for word in (Shared.array, Local.array)}


@dataclass(eq=False)
class Rows:
    """A place in the program that makes a shared or a local array, which is kept in lists."""

    allocate: object
    shape: tuple[int, ...]
    dtype: np.dtype

    def __post_init__(self):
        self.is_shared = self.allocate is ALLOCATIONS[id(Shared.array)]
        self.cell = as_bare(np.zeros(1, self.dtype))
        self.kind = type(as_register(self.cell[0]))  # of an element

    def make(self, site: int) -> tuple[list, int]:
        """Nested lists, and the number of the array in the trace; of a shared array the block's."""
        block = machine.now.block
        place = site, self.shape
        if self.is_shared and place in block.shared:
            return block.shared[place]
        array = self.allocate(site, self.shape, self.dtype)
        watched = isinstance(array, Watched)
        first = (array.data if watched else array)[(0,) * len(self.shape)]
        rows = _nested(as_register(first), self.shape), array.number if watched else 0
        if self.is_shared:
            block.shared[place] = rows
        return rows

    def converted(self, value: object) -> object:
        """The value as an element keeps it; of a name that is not set, what a thread finds there later."""
        if isinstance(value, Unset):
            return value
        if isinstance(value, Watched | np.ndarray):
            raise row_for_element(_getframe(1).f_lineno, value.shape)
        self.cell[0] = value
        return as_register(self.cell[0])


def _nested(element: object, shape: tuple[int, ...]) -> list:
    if len(shape) == 1:
        return [element] * shape[0]
    return [_nested(element, shape[1:]) for _ in range(shape[0])]


class Unfit:
    """What stands in the place of a bare array where a name is not an array of so many dimensions.

    The access has been written down already, as one to array 0, and behind it those of the same expression
    that are still to come; here it is taken back.
    """

    __slots__ = ("entries", "value")

    def __init__(self, value: object, dimensions: int):
        self.value = value
        self.entries = 2 + dimensions

    def __getitem__(self, index):
        site = self._site()
        return self.value.load(index, site) if isinstance(self.value, Watched) else self.value[index]

    def __setitem__(self, index, value):
        site = self._site()
        if isinstance(self.value, Watched):
            self.value.store(index, value, site)
        else:
            self.value[index] = value

    def _site(self) -> int:
        entries = machine.trace.entries
        latest = range(max(0, len(entries) - NOTE), len(entries) - 1)
        place = next(place for place in latest if is_of_array_0(*entries[place : place + 2]))
        mark = entries[place]
        del entries[place : place + self.entries]
        return (mark - EVENT) // KINDS


def is_of_array_0(mark: object, number: object) -> bool:
    """Do these two entries of a record open an access to array 0?"""
    return opens_event(mark) and (mark - EVENT) % KINDS in (LOAD, STORE) and number == 0


def bare(value: object, dimensions: int) -> tuple[object, int]:
    """The array behind a watched one of so many dimensions, and its number in the trace."""
    if type(value) is Watched and value.data.ndim == dimensions:
        return value.data, value.number
    return Unfit(value, dimensions), 0

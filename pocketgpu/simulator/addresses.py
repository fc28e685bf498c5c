"""Addresses of a launch's accesses to memory, from the events of its trace.

Global arrays stand at multiples of 256 bytes; a block's shared arrays one after another, in the order of
their creation, from a multiple of 128, so that an address gives its bank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pocketgpu.simulator.grouping import repeated
from pocketgpu.simulator.trace import (
    CONSTANT,
    GLOBAL,
    KINDS,
    LOCAL,
    SHARED,
    WARP,
    Columns,
    address_of,
    together_in,
)

SPACES = (GLOBAL, SHARED, LOCAL, CONSTANT)
BLOCK_OF_SHARED = 1 << 20  # bytes of address space for a block's shared memory
SHARED_BASE = 1 << 50
LOCAL_BASE = 1 << 55


@dataclass(frozen=True)
class Accesses:
    """n accesses to memory, in the order in which they happened."""

    kind: np.ndarray  # [n] a load, a store or an atomic
    thread: np.ndarray  # [n] counted through the grid
    site: np.ndarray  # [n] place in `sites`
    address: np.ndarray  # [n] of the first byte
    bytes: np.ndarray  # [n]
    space: np.ndarray  # [n] place in SPACES
    array: np.ndarray  # [n] place in `arrays`
    when: np.ndarray  # [n] place in the trace
    arrays: list
    base: np.ndarray  # [arrays] address of each array's root
    threads_per_block: int
    cell: np.ndarray | None  # [n] number of the element, through all memory; None where elements overlap
    whole: np.ndarray  # places in the trace of accesses to more than one element, which are not among the n

    @cached_property
    def block(self) -> np.ndarray:
        """[n] counted through the grid."""
        return self.thread // self.threads_per_block

    def warp_of(self, thread: np.ndarray) -> np.ndarray:
        """[n] The warps of these threads, counted through the grid."""
        block, local = np.divmod(thread, self.threads_per_block)
        warps_per_block = -(-self.threads_per_block // WARP)
        return block * warps_per_block + local // WARP

    @cached_property
    def touched(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of an access and number of a cell that it touches [m].

        A cell is an element.  Where elements of several sizes overlap, all of them begin and end at cells,
        and a wide access touches several.
        """
        places = np.arange(len(self.address))
        if self.cell is not None:
            return places, self.cell
        divisor = int(np.gcd.reduce(np.concatenate([self.address, self.bytes])))
        cell_bytes = max(1, divisor)
        number = self.bytes // cell_bytes  # [n] of cells
        begins = np.cumsum(number) - number
        step = np.arange(int(number.sum())) - repeated(begins, number)
        first_cell = repeated(self.address // cell_bytes, number)
        _, cell = np.unique(first_cell + step, return_inverse=True)
        return repeated(places, number), cell

    def of_arrays(self, value: Callable) -> np.ndarray:
        """[n] The value of each access's array."""
        values = [*map(value, self.arrays[1:])] or [0]
        return np.array(values)[self.array - 1]

    def is_in(self, space: str) -> np.ndarray:
        """[n] Which of them are to memory of that space?"""
        return self.space == SPACES.index(space)

    def is_one_of(self, *kinds: int) -> np.ndarray:
        """[n] Which of them are of these kinds?"""
        is_chosen = np.isin(np.arange(KINDS), kinds)
        return is_chosen[self.kind]

    @property
    def lane(self) -> np.ndarray:
        """[n] place in the warp."""
        return self.thread % self.threads_per_block % WARP


def accesses(columns: Columns, threads_per_block: int) -> Accesses:
    """The memory events of a trace, with their addresses."""
    is_access = columns.array > 0
    is_access[columns.whole] = False
    when = np.flatnonzero(is_access)
    arrays = columns.arrays
    array = columns.array[when]
    thread = columns.thread[when]
    offset = columns.offset[when]
    first_block = np.zeros(len(arrays), np.int64)  # of each array; a shared one has no other
    first_block[array[::-1]] = thread[::-1] // threads_per_block
    root_base, start, number, cells = _places(arrays, first_block)
    space = np.array([0, *(SPACES.index(member.space) for member in arrays[1:])])
    itemsize = np.array([1, *(member.data.itemsize for member in arrays[1:])])
    size = itemsize[array]
    cell = None
    if number is not None:
        cell = number[array] + offset // size
        is_inside = 0 <= cell.min(initial=0) <= cell.max(initial=0) < max(1, cells)
        if not is_inside:
            cell = None  # beyond the end, or a copy that NumPy made
    return Accesses(
        kind=columns.kind[when],
        thread=thread,
        site=columns.site[when],
        address=start[array] + offset,
        bytes=size,
        space=space[array],
        array=array,
        when=when,
        arrays=arrays,
        base=root_base,
        threads_per_block=threads_per_block,
        cell=cell,
        whole=columns.whole,
    )


def _places(arrays: list, first_block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """[arrays] Address of each array's root, of its own first element, and that element's number through all
    memory, None if elements overlap; and how many elements there are."""
    base, start, number = np.zeros((3, len(arrays)), np.int64)
    ends = {}
    of_memory = {}
    together = together_in(arrays)
    elements = 0
    are_apart = True
    for place, array in enumerate(arrays[1:], 1):
        data = array.data
        root = array.root
        itemsize = data.itemsize
        pointer = address_of(root.data)
        own = address_of(data)
        low, high = together.get(id(root), (pointer, pointer + root.data.nbytes))
        nbytes = high - low
        block = int(first_block[place])
        key = array.space, low, block if array.space == SHARED else 0
        if key not in of_memory:
            region, origin, alignment = _region(array.space, block)
            free = ends.get(region, origin)
            address = -(-free // alignment) * alignment
            ends[region] = address + nbytes
            of_memory[key] = address, elements, itemsize
            elements += -(-nbytes // max(1, itemsize))
        address, first, size = of_memory[key]
        strides = (own - low, *data.strides)
        has_one_size = size == itemsize > 0
        are_apart &= has_one_size and not any(stride % itemsize for stride in strides)
        base[place] = address + pointer - low
        start[place] = address + own - low
        number[place] = first + (own - low) // max(1, itemsize)
    are_apart &= elements < 1 << 24  # else a table of them would be large
    return base, start, number if are_apart else None, elements


def _region(space: str, block: int) -> tuple[object, int, int]:
    """A name, a first address and an alignment for arrays of that space."""
    if space == SHARED:
        return (SHARED, block), SHARED_BASE + block * BLOCK_OF_SHARED, 16
    if space == LOCAL:
        return LOCAL, LOCAL_BASE, 16
    return GLOBAL, 256, 256

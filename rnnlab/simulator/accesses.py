"""A trace's memory events as columns: which bytes, in which warp and lane, of which block.

Every array gets a place in an address space of its own making: global arrays stand at multiples of 256 bytes;
a block's shared arrays one after another, as they were asked for, from a multiple of 128, so that an address
tells its bank.
"""

from dataclasses import dataclass
from itertools import chain, compress
from types import CodeType

import numpy as np

from rnnlab.simulator.events import GLOBAL, LOCAL, SHARED, Columns
from rnnlab.simulator.threads import WARP

SPACES = (GLOBAL, SHARED, LOCAL, "constant")
BLOCK_OF_SHARED = 1 << 20  # bytes of address space for a block's shared memory
SHARED_BASE, LOCAL_BASE = 1 << 50, 1 << 55


@dataclass(frozen=True)
class Accesses:
    """n accesses to memory, in the order in which they happened."""

    kind: np.ndarray  # [n] events.LOAD …
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

    @property
    def block(self) -> np.ndarray:
        return self.thread // self.threads_per_block

    @property
    def warp(self) -> np.ndarray:
        """[n] counted through the grid."""
        per_block = -(-self.threads_per_block // WARP)
        return self.block * per_block + self.thread % self.threads_per_block // WARP

    @property
    def lane(self) -> np.ndarray:
        return self.thread % self.threads_per_block % WARP

    def where(self, mask: np.ndarray) -> "Accesses":
        """Those accesses only."""
        pick = lambda column: column[mask]
        return Accesses(
            pick(self.kind), pick(self.thread), pick(self.site), pick(self.address), pick(self.bytes),
            pick(self.space), pick(self.array), pick(self.when),
            self.arrays, self.base, self.threads_per_block,
        )  # fmt: skip


def accesses(columns: Columns, threads_per_block: int) -> Accesses:
    """The memory events of a trace, with their addresses."""
    memory = columns.array > 0
    when = np.flatnonzero(memory)
    array, thread = columns.array[when], columns.thread[when]
    first_block = _first_blocks(array, thread // threads_per_block, len(columns.arrays))
    root_base, start = _places(columns.arrays, first_block)
    site = _same_places(columns.sites)[columns.site[when]]
    details = columns.detail if memory.all() else list(compress(columns.detail, memory))
    address = start[array] + _offsets(columns.arrays, array, details)
    itemsize = np.array([0] + [each.data.itemsize for each in columns.arrays[1:]])
    space = np.array([0] + [SPACES.index(each.space) for each in columns.arrays[1:]])
    return Accesses(
        columns.kind[when], thread, site, address, itemsize[array], space[array], array, when,
        columns.arrays, root_base, threads_per_block,
    )  # fmt: skip


def _same_places(sites: list[tuple[CodeType, int]]) -> np.ndarray:
    """[sites] For each site the first that stands at the same place in the source.

    When Python has seen an instruction a few times it runs a faster one, and f_lasti moves by a few bytes.
    """
    positions = {code: list(code.co_positions()) for code, _ in sites}
    places = [(id(code), positions[code][instruction // 2]) for code, instruction in sites]
    return np.array([places.index(place) for place in places], np.int64)


def _first_blocks(array: np.ndarray, block: np.ndarray, arrays: int) -> np.ndarray:
    """[arrays] The block that touched each array first; a shared array has no other."""
    found = np.zeros(arrays, np.int64)
    found[array[::-1]] = block[::-1]
    return found


def _places(arrays: list, first_block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[arrays] Address of each array's root, and of its own first element."""
    base, ends, of_memory = np.zeros(len(arrays), np.int64), {}, {}
    start = base.copy()
    for number, each in enumerate(arrays[1:], 1):
        memory = each.root.data
        pointer = memory.__array_interface__["data"][0]
        key = (each.space, pointer, first_block[number] if each.space == SHARED else 0)
        if key not in of_memory:
            region, origin, alignment = _region(each.space, int(first_block[number]))
            at = -(-ends.get(region, origin) // alignment) * alignment
            of_memory[key], ends[region] = at, at + memory.nbytes
        base[number] = of_memory[key]
        start[number] = base[number] + each.data.__array_interface__["data"][0] - pointer
    return base, start


def _region(space: str, block: int) -> tuple[object, int, int]:
    """A name, a first address and an alignment for arrays of that space."""
    if space == SHARED:
        return (SHARED, block), SHARED_BASE + block * BLOCK_OF_SHARED, 16
    return (LOCAL, LOCAL_BASE, 16) if space == LOCAL else (GLOBAL, 256, 256)


def _offsets(arrays: list, array: np.ndarray, details: list) -> np.ndarray:
    """[n] Bytes from an array's first element to the one that each detail indexes."""
    ndim = np.array([0] + [each.data.ndim for each in arrays[1:]])
    offsets = np.zeros(len(array), np.int64)
    for dimensions in np.unique(ndim[array]):
        mine = ndim[array] == dimensions
        indices = _indices(details if mine.all() else list(compress(details, mine)), int(dimensions))
        of = array[mine]
        for axis in range(dimensions):
            size, stride = (
                np.array(
                    [0]
                    + [
                        getattr(each.data, name)[axis] if each.data.ndim == dimensions else 0
                        for each in arrays[1:]
                    ]
                )[of]
                for name in ("shape", "strides")
            )
            index = indices[:, axis]
            offsets[mine] += (index + (index < 0) * size) * stride
    return offsets


def _indices(details: list, dimensions: int) -> np.ndarray:
    """[n,dimensions] Indices as the kernel wrote them: numbers, or tuples of as many."""
    if dimensions == 1 and not any(type(each) is tuple for each in details):
        return np.fromiter(details, np.int64, len(details))[:, None]
    if dimensions == 0:
        return np.zeros((len(details), 0), np.int64)
    return np.fromiter(chain.from_iterable(details), np.int64, len(details) * dimensions).reshape(
        -1, dimensions
    )

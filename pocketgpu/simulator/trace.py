"""What a watched launch writes down while it runs, and the same as columns when it has ended.

An event is four entries of the flat list `events`, because accesses are too many for an object each:

    array's tag + kind, detail, instruction, code

The tag leads to the array (`arrays`; 0 is none), code and instruction (f_lasti) to the source line.  The
detail of a load, a store or an atomic is the index as the kernel wrote it; of a fence its scope; of a barrier
how often it has opened before; for warps the mask.  Which thread it was is noted where it changes.

`accesses` gives every memory event its address.  Global arrays stand at multiples of 256 bytes; a block's
shared arrays one after another, in the order of their creation, from a multiple of 128, so that an address
gives its bank.

A place in the program is a code object and one of its instructions.  Where a frame stands (f_lasti) may be
the instruction or somewhere in the room that Python keeps behind it, because Python calls more directly what
it has called several times.  Places are compared by start_of.
"""

import dis
import linecache
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain, compress
from types import CodeType, FrameType

import numpy as np

_starts: dict[int, tuple[CodeType, list[int]]] = {}  # by id: a code object's hash looks at all of its text


def start_of(code: CodeType, position: int) -> int:
    """The instruction that a frame stands at."""
    if id(code) not in _starts:
        _starts[id(code)] = code, [instruction.offset for instruction in dis.get_instructions(code)]
    starts = _starts[id(code)][1]
    return starts[bisect_right(starts, position) - 1]


def line_of(code: CodeType, position: int) -> int:
    """The source line of an instruction."""
    for start, end, line in code.co_lines():
        if start <= position < end and line is not None:
            return line
    return code.co_firstlineno


def label_of(label: object) -> str:
    """A parameter's name, or the name to which the place (code, instruction) assigns."""
    if not isinstance(label, tuple):
        return label
    text = linecache.getline(label[0].co_filename, line_of(*label))
    assigned = re.match(r"\s*(\w+)\s*=[^=]", text)
    return assigned[1] if assigned else ""


LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE = range(5)
FENCE, BARRIER, WARP_SYNC, GRID_SYNC = range(5, 9)
STRONG_LOAD = 9  # ld.relaxed, ld.acquire: as VOLATILE_LOAD, but no compiler takes it out of a loop
EXCHANGE = 10  # a shuffle, a vote or a match: lanes wait for one another, and no memory is ordered
KINDS = 16  # room for kinds in a tag
LOADS = (LOAD, VOLATILE_LOAD, STRONG_LOAD)
PAST_FIRST_LEVEL = (VOLATILE_LOAD, STRONG_LOAD)  # they do not read the multiprocessor's own cache

GLOBAL, SHARED, LOCAL, CONSTANT = "global", "shared", "local", "constant"
BLOCK, DEVICE, SYSTEM = "block", "device", "system"  # how far a fence reaches
WARP = 32  # lanes
FIELDS = 4  # entries of an event


@dataclass(frozen=True)
class Columns:
    """n events in the order in which they happened, which keeps the order of every thread's own program."""

    kind: np.ndarray  # [n] one of the kinds above
    thread: np.ndarray  # [n] counted through the grid, block after block
    array: np.ndarray  # [n] place in `arrays`, 0 where there is none
    site: np.ndarray  # [n] place in `sites`
    detail: list  # n indices, masks, scopes, as the kernel wrote them
    arrays: list  # None, then every memory.Watched that was touched
    sites: list[tuple[CodeType, int]]  # where in the program: code, instruction


class Trace:
    """The growing record of one launch."""

    # turns: entries so far, and whose turn began; ends: entries so far, and which thread returned
    __slots__ = ("arrays", "ends", "events", "remarks", "turns")

    def __init__(self):
        self.arrays, self.events, self.turns, self.ends = [None], [], [], []
        self.remarks = {}  # (kind, line) -> the first finding that did not end the launch

    def __len__(self) -> int:
        return len(self.events) // FIELDS

    def tag(self, array: object) -> int:
        """A number for this array, which leaves room for a kind."""
        self.arrays.append(array)
        return (len(self.arrays) - 1) * KINDS

    def note(self, kind: int, detail: object, frame: FrameType) -> None:
        """Append an event of the code that the frame runs."""
        self.events += kind, detail, frame.f_lasti, frame.f_code

    def columns(self) -> Columns:
        """The events so far as columns."""
        events = self.events
        tags = _integers(events[::FIELDS])
        sites, site = _numbered(events[3::FIELDS], _integers(events[2::FIELDS]))
        return Columns(
            tags % KINDS, self._threads(), tags // KINDS, site, events[1::FIELDS], self.arrays, sites
        )

    def _threads(self) -> np.ndarray:
        starts = _integers([*self.turns[::2], len(self.events)]) // FIELDS
        return np.repeat(_integers(self.turns[1::2]), np.diff(starts))


@dataclass(frozen=True)
class Watch:
    """A launch with its trace, from which report.py makes counts and findings."""

    kernel: object
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    trace: "Trace | None"  # None without checks
    stopped: tuple = ()  # findings that ended the launch
    arguments: tuple = ()  # as they were passed


def _integers(values: list[int]) -> np.ndarray:
    return np.fromiter(values, np.int64, len(values))


def _numbered(codes: list[CodeType], instructions: np.ndarray) -> tuple[list, np.ndarray]:
    """Every place in the program once, and which of them each event has [n]."""
    known, combined = codes[:1], instructions
    width = int(instructions.max(initial=0)) + 1
    if codes.count(codes[0] if codes else None) < len(codes):
        by_id = {id(code): code for code in codes}  # a code object's own hash looks at all of its text
        known, order = [*by_id.values()], {key: place for place, key in enumerate(by_id)}
        combined = _integers([order[id(code)] for code in codes]) * width + instructions
    places = np.flatnonzero(np.bincount(combined, minlength=1))
    exact = [(known[place // width], place % width) for place in places]
    exact = [(code, start_of(code, int(position))) for code, position in exact]
    sites = {(id(code), start): (code, start) for code, start in exact}
    order = {key: place for place, key in enumerate(sites)}
    number = np.zeros(places.max(initial=0) + 1, np.int64)
    number[places] = [order[id(code), start] for code, start in exact]
    return [*sites.values()], number[combined]


SPACES = (GLOBAL, SHARED, LOCAL, CONSTANT)
BLOCK_OF_SHARED = 1 << 20  # bytes of address space for a block's shared memory
SHARED_BASE, LOCAL_BASE = 1 << 50, 1 << 55


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
    whole: np.ndarray  # places in the trace of accesses to more than one element, which are not among the n

    @property
    def block(self) -> np.ndarray:
        """[n] counted through the grid."""
        return self.thread // self.threads_per_block

    @property
    def warp(self) -> np.ndarray:
        """[n] counted through the grid."""
        per_block = -(-self.threads_per_block // WARP)
        return self.block * per_block + self.thread % self.threads_per_block // WARP

    @property
    def lane(self) -> np.ndarray:
        """[n] place in the warp."""
        return self.thread % self.threads_per_block % WARP


def accesses(columns: Columns, threads_per_block: int) -> Accesses:
    """The memory events of a trace, with their addresses."""
    try:
        return _located(columns, threads_per_block, columns.array > 0, np.zeros(0, np.int64))
    except (TypeError, ValueError):  # NumPy takes only whole numbers: some index names several elements
        return _located(columns, threads_per_block, *_elements(columns))


def _located(columns: Columns, threads_per_block: int, memory: np.ndarray, whole: np.ndarray) -> Accesses:
    """Those events with their addresses; memory [events], whole: places in the trace that are left out."""
    when = np.flatnonzero(memory)
    array, thread = columns.array[when], columns.thread[when]
    first_block = _first_blocks(array, thread // threads_per_block, len(columns.arrays))
    root_base, start = _places(columns.arrays, first_block)
    site = _same_places(columns.sites)[columns.site[when]]
    details = columns.detail if memory.all() else list(compress(columns.detail, memory))
    address = start[array] + _offsets(columns.arrays, array, details)
    itemsize = np.array([0] + [member.data.itemsize for member in columns.arrays[1:]])
    space = np.array([0] + [SPACES.index(member.space) for member in columns.arrays[1:]])
    return Accesses(
        columns.kind[when], thread, site, address, itemsize[array], space[array], array, when,
        columns.arrays, root_base, threads_per_block, whole,
    )  # fmt: skip


def _elements(columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """[events] Is it an access to one element?  And the places of accesses to several, a[2:4] = 0."""
    memory = columns.array > 0
    dimensions = [0] + [array.data.ndim for array in columns.arrays[1:]]
    sizes = [dimensions[number] for number in columns.array.tolist()]
    whole = [k for k in np.flatnonzero(memory).tolist() if not _is_element(columns.detail[k], sizes[k])]
    memory[whole] = False
    return memory, np.array(whole, np.int64)


def _is_element(index: object, dimensions: int) -> bool:
    """Does the index name one element of an array of so many dimensions?"""
    if dimensions == 0:
        return True
    if type(index) is int:
        return dimensions == 1
    indices = index if type(index) is tuple else (index,)
    return len(indices) == dimensions and all(isinstance(axis, int | np.integer) for axis in indices)


def _same_places(sites: list[tuple[CodeType, int]]) -> np.ndarray:
    """[sites] For each site the first that stands at the same place in the source.

    When Python has seen an instruction a few times it runs a faster one, and f_lasti moves by a few bytes.
    """
    positions = {code: list(code.co_positions()) for code, _ in sites}
    places = [(id(code), positions[code][instruction // 2]) for code, instruction in sites]
    return np.array([places.index(place) for place in places], np.int64)


def _first_blocks(array: np.ndarray, block: np.ndarray, arrays: int) -> np.ndarray:
    """[arrays] The block that touched each array first; a shared array has no other."""
    blocks = np.zeros(arrays, np.int64)
    blocks[array[::-1]] = block[::-1]
    return blocks


def _places(arrays: list, first_block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[arrays] Address of each array's root, and of its own first element."""
    base, ends, of_memory = np.zeros(len(arrays), np.int64), {}, {}
    start, together = base.copy(), _together(arrays)
    for number, array in enumerate(arrays[1:], 1):
        pointer = _address(array.root.data)
        low, high = together.get(id(array.root), (pointer, pointer + array.root.data.nbytes))
        key = (array.space, low, first_block[number] if array.space == SHARED else 0)
        if key not in of_memory:
            region, origin, alignment = _region(array.space, int(first_block[number]))
            address = -(-ends.get(region, origin) // alignment) * alignment
            of_memory[key], ends[region] = address, address + high - low
        base[number] = of_memory[key] + pointer - low
        start[number] = base[number] + _address(array.data) - pointer
    return base, start


def _together(arrays: list) -> dict[int, tuple[int, int]]:
    """{id of a global root: first address and end of the memory that it shares with overlapping ones}."""
    roots = {id(array.root): array.root for array in arrays[1:] if array.space == GLOBAL}
    bounds = {key: np.lib.array_utils.byte_bounds(root.data) for key, root in roots.items()}
    extents = {key: (min(low, roots[key].owner), high) for key, (low, high) in bounds.items()}
    ordered = sorted(extents, key=extents.get)
    groups: list[list] = []  # of overlapping extents: first address, end, roots
    for key in ordered:
        low, high = extents[key]
        if groups and low < groups[-1][1]:
            groups[-1][1] = max(groups[-1][1], high)
            groups[-1][2].append(key)
        else:
            groups.append([low, high, [key]])
    return {key: (low, high) for low, high, keys in groups for key in keys}


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _region(space: str, block: int) -> tuple[object, int, int]:
    """A name, a first address and an alignment for arrays of that space."""
    if space == SHARED:
        return (SHARED, block), SHARED_BASE + block * BLOCK_OF_SHARED, 16
    return (LOCAL, LOCAL_BASE, 16) if space == LOCAL else (GLOBAL, 256, 256)


def _offsets(arrays: list, array: np.ndarray, details: list) -> np.ndarray:
    """[n] Bytes from an array's first element to the one that each detail indexes."""
    ndim = np.array([0] + [member.data.ndim for member in arrays[1:]])
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
                        getattr(member.data, name)[axis] if member.data.ndim == dimensions else 0
                        for member in arrays[1:]
                    ]
                )[of]
                for name in ("shape", "strides")
            )
            index = indices[:, axis]
            offsets[mine] += (index + (index < 0) * size) * stride
    return offsets


def _indices(details: list, dimensions: int) -> np.ndarray:
    """[n,dimensions] Indices as the kernel wrote them: numbers, or tuples of as many."""
    if dimensions == 1 and not any(type(index) is tuple for index in details):
        return np.fromiter(details, np.int64, len(details))[:, None]
    if dimensions == 0:
        return np.zeros((len(details), 0), np.int64)
    return np.fromiter(chain.from_iterable(details), np.int64, len(details) * dimensions).reshape(
        -1, dimensions
    )


def cells(log: Accesses) -> tuple[np.ndarray, np.ndarray]:
    """Place of an access and address of a cell that it touches [m].

    A cell is an address, where every element begins at its own.  Where elements of several sizes overlap, it
    is as wide as the smallest, and a wide access touches several.
    """
    places = np.arange(len(log.address))
    if not len(places) or (log.bytes.min() == log.bytes.max() and not (log.address % log.bytes).any()):
        return places, log.address
    order = np.lexsort((-log.bytes, log.address))
    address = log.address[order]
    end = np.maximum.accumulate(address + log.bytes[order])
    if not ((address[1:] < end[:-1]) & (address[1:] != address[:-1])).any():
        return places, log.address
    unit = int(log.bytes[log.bytes > 0].min())
    first = log.address // unit
    number = (log.address + log.bytes - 1) // unit - first + 1
    steps = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    return np.repeat(places, number), (np.repeat(first, number) + steps) * unit

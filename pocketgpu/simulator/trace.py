"""What a watched launch writes down while it runs, and the same as columns when it has ended.

The record is one flat list of integers, because accesses are too many for an object each.  A large number
opens an entry and says what it is; smaller ones behind it belong to it:

    EVENT + 16 · site + kind, array, index, …   an access to memory, an index for each dimension
    EVENT + 16 · site + kind, detail            a fence and its scope, a warp's mask, a grid barrier's number
    EVENT + 16 · site + BARRIER                 an arrival at the block's barrier
    TURN + thread, END + thread                 the thread continues, it has returned

A site is a place in the program: the code of a function and the position of an expression in its text.

`accesses` gives every memory event its address.  Global arrays stand at multiples of 256 bytes; a block's
shared arrays one after another, in the order of their creation, from a multiple of 128, so that an address
gives its bank.
"""

import linecache
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from math import prod
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.grouping import repeated, tallied, turn_in_group

LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE = range(5)
FENCE, BARRIER, WARP_SYNC, GRID_SYNC = range(5, 9)
STRONG_LOAD = 9  # ld.relaxed, ld.acquire: as VOLATILE_LOAD, but no compiler takes it out of a loop
EXCHANGE = 10  # a shuffle, a vote or a match: lanes wait for one another, and no memory is ordered
KINDS = 16  # room for kinds beside a site
LOADS = (LOAD, VOLATILE_LOAD, STRONG_LOAD)
PAST_FIRST_LEVEL = (VOLATILE_LOAD, STRONG_LOAD)  # they do not read the multiprocessor's own cache
OF_MEMORY = np.isin(np.arange(KINDS), (LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE, STRONG_LOAD))

GLOBAL = "global"
SHARED = "shared"
LOCAL = "local"
CONSTANT = "constant"
BLOCK, DEVICE, SYSTEM = range(3)  # how far a fence reaches
WARP = 32  # lanes
EVENT = 1 << 62
END = 1 << 61
TURN = 1 << 60  # no index of an array is as large
CHUNK = 1_000_000  # entries that become an array together

if sys.platform == "linux":
    # the C library keeps as much as was ever freed at once: else each launch's columns are 2,000 new pages
    np.empty(31 << 20, np.uint8)

Triple = tuple[int, int, int]  # x, y and z of an index or a size
Position = tuple[int, int, int, int]  # line, last line, column, column behind


class Line(int):
    """The number of a source line, and the file in which it stands."""

    def __new__(cls, number: int, file: str = ""):
        line = super().__new__(cls, number)
        line.file = file
        return line


class SourcePlace(NamedTuple):
    """A place in the program."""

    code: CodeType  # of the function as it was written
    position: Position
    copy: int = 0  # the condition of a while stands before the loop, and again at its end

    @property
    def line(self) -> Line:
        return Line(self.position[0], self.code.co_filename)


SITES: list[SourcePlace] = []
WRITTEN: dict[int, CodeType] = {}  # by id of a function's code as it runs: the code as it was written
_numbers: dict[tuple, int] = {}  # by id of the code, position and copy
_instructions: dict[tuple[int, int], tuple[CodeType, int]] = {}  # by id of the code and instruction


def site_at(code: CodeType, position: Position, copy: int = 0) -> int:
    """The number of that place."""
    number = _numbers.setdefault((id(code), position, copy), len(SITES))
    if number == len(SITES):
        SITES.append(SourcePlace(code, position, copy))
    return number


def site_of(frame: FrameType) -> int:
    """The number of the place where the frame stands."""
    code = frame.f_code
    instruction = frame.f_lasti
    known = _instructions.get((id(code), instruction))
    if known is None:
        position = [*code.co_positions()][instruction // 2]
        if None in position:
            position = frame.f_lineno, frame.f_lineno, instruction, instruction
        known = code, site_at(WRITTEN.get(id(code), code), position)
        _instructions[id(code), instruction] = known
    return known[1]


def label_of(label: object) -> str:
    """A parameter's name, or the name to which the line of a site assigns."""
    if not isinstance(label, SourcePlace):
        return label
    text = linecache.getline(label.code.co_filename, label.line)
    assigned = re.match(r"\s*(\w+)\s*=[^=]", text)
    return assigned[1] if assigned else ""


@dataclass(frozen=True)
class Columns:
    """n events in the order in which they happened, which keeps the order of every thread's own program."""

    kind: np.ndarray  # [n] one of the kinds above
    thread: np.ndarray  # [n] counted through the grid, block after block
    array: np.ndarray  # [n] place in `arrays`, 0 where there is none
    site: np.ndarray  # [n] place in `sites`
    offset: np.ndarray  # [n] bytes from the array's first element to the one that is accessed
    detail: np.ndarray  # [n] scope of a fence, mask of a warp, how often a barrier has opened before
    whole: np.ndarray  # places of accesses to more than one element
    turns: np.ndarray  # [turns,2] events so far, and whose turn begins
    ends: np.ndarray  # [ends,2] events so far, and which thread returned
    arrays: list  # None, then every memory.Watched that was touched
    sites: list[SourcePlace]


class Trace:
    """The growing record of one launch."""

    __slots__ = ("append", "arrays", "chunks", "entries", "events_in_chunks", "note", "remarks")

    def __init__(self):
        self.arrays = [None]
        self.entries = []
        self.chunks = []
        self.events_in_chunks = 0
        self.note = self.entries.extend
        self.append = self.entries.append
        self.remarks = {}  # (kind, line) -> the first finding that did not end the launch

    def number(self, array: object) -> int:
        """A number for this array."""
        self.arrays.append(array)
        return len(self.arrays) - 1

    def events(self) -> int:
        """Events so far; the record becomes arrays, which take a fifth of its memory."""
        chunk = _integers(self.entries)
        self.events_in_chunks += int((chunk >= EVENT).sum())
        self.chunks.append(chunk)
        self.entries.clear()
        return self.events_in_chunks

    def last_site(self) -> SourcePlace:
        """The place of the last event."""
        entries = [*self.entries] or self.chunks[-1].tolist()
        return SITES[(next(filter(opens_event, reversed(entries))) - EVENT) // KINDS]

    def drop_store_within_block(self) -> bool:
        """Take the last event back if it stores into shared or local memory; was it such a store?"""
        last = len(self.entries) - 1
        while last > 0 and self.entries[last] < EVENT:
            last -= 1
        if last < 0 or (self.entries[last] - EVENT) & KINDS - 1 != STORE:
            return False
        array = self.arrays[self.entries[last + 1]]
        if array is None or array.space not in (SHARED, LOCAL):
            return False
        del self.entries[last:]
        return True

    def columns(self) -> Columns:
        """The events so far as columns."""
        entries = np.concatenate([*self.chunks, _integers(self.entries)])
        marks = np.flatnonzero(entries >= TURN)
        values = entries[marks]
        events = np.flatnonzero(values >= EVENT)
        at = marks[events]
        indices = np.diff(marks, append=len(entries))[events] - 2
        places = values[events] - EVENT
        kind = places & KINDS - 1
        first = entries[np.minimum(at + 1, len(entries) - 1)]
        memory = OF_MEMORY[kind]
        array = np.where(memory, first, 0)
        detail = np.where(memory | (indices < 0), 0, first)
        turns, ends = _turns(values, events)
        thread = repeated(turns[:, 1], np.diff(turns[:, 0], append=len(events)))
        sites, site = sites_of(places // KINDS)
        offset, whole = _offsets(self.arrays, array, indices, entries, at + 2)
        arrived = np.flatnonzero(kind == BARRIER)
        detail[arrived] = turn_in_group(thread[arrived])
        return Columns(kind, thread, array, site, offset, detail, whole, turns, ends, self.arrays, sites)


def opens_event(entry: object) -> bool:
    """Does this entry open an event?"""
    return type(entry) is int and entry >= EVENT


def _turns(values: np.ndarray, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[turns,2] and [ends,2] as Columns has them, for the large numbers of a record and places of events."""
    other = np.flatnonzero(values < EVENT)
    steps = other - np.arange(len(other))
    value = values[other]
    ended = value >= END
    turns = np.stack([steps[~ended], value[~ended] - TURN], 1)
    return turns, np.stack([steps[ended], value[ended] - END], 1)


def sites_of(number: np.ndarray) -> tuple[list[SourcePlace], np.ndarray]:
    """Every place once, function after function and in the order of the text, and each event's [n]."""
    present = np.flatnonzero(tallied(number)).tolist()
    codes = {}
    for place in present:
        codes.setdefault(id(SITES[place].code), len(codes))
    keys = {place: (codes[id(SITES[place].code)], SITES[place].position) for place in present}
    order = {key: k for k, key in enumerate(sorted({*keys.values()}))}
    table = np.zeros(int(number.max(initial=0)) + 1, np.int64)
    table[present] = [order[keys[place]] for place in present]
    sites = {order[keys[place]]: SITES[place] for place in present}
    return [sites[k] for k in range(len(sites))], table[number]


def _offsets(arrays: list, array: np.ndarray, indices: np.ndarray, entries: np.ndarray, at: np.ndarray):
    """[n] Bytes from an array's first element to the indexed one, and places of accesses to several.

    indices: how many each event has, and at: where the first one stands in `entries`.
    """
    ndim = np.array([0, *(member.data.ndim for member in arrays[1:])])
    fits = (array > 0) & (indices == ndim[array])
    offset = np.zeros(len(array), np.int64)
    sizes, strides = (
        zip_longest((), *(getattr(member.data, name) for member in arrays[1:]), fillvalue=0)
        for name in ("shape", "strides")
    )
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        mine = np.flatnonzero(fits & (axis < ndim[array]))
        of = array[mine]
        index = entries[at[mine] + axis]
        if index.min(initial=0) < 0:
            index += (index < 0) * np.array(size)[of]
        offset[mine] += index * np.array(stride)[of]
    return offset, np.flatnonzero((array > 0) & ~fits)


@dataclass(frozen=True)
class Watch:
    """A launch with its trace, from which report.py makes counts and findings."""

    kernel: object
    grid: Triple
    block: Triple
    trace: "Trace | None"  # None without checks
    stopped: tuple = ()  # findings that ended the launch
    arguments: tuple = ()  # as they were passed
    ignored_poll: str = ""  # a thread that waits, and continues whatever it reads
    sectors: int | None = None  # that a launch in lockstep moved; None where each thread ran by itself
    why_not_in_lockstep: str = ""

    @property
    def threads(self) -> dict[int, int]:
        """How many threads come to a barrier of a block, and to one of the grid."""
        threads = prod(self.block)
        return {BARRIER: threads, GRID_SYNC: threads * prod(self.grid)}


def _integers(entries: list) -> np.ndarray:
    try:
        return np.fromiter(entries, np.int64, len(entries))
    except (TypeError, ValueError):  # an index that was a tuple, or none of one element
        return np.array([number for entry in entries for number in as_indices(entry)], np.int64)


def indices_of(index: object) -> tuple:
    """The index of each dimension."""
    return index if type(index) is tuple else (index,)


def as_indices(index: object) -> tuple[int, ...]:
    """The index of an element, a number for each dimension; empty for what names several elements."""
    indices = indices_of(index)
    return indices if all(isinstance(axis, int | np.integer) for axis in indices) else ()


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
        return block * -(-self.threads_per_block // WARP) + local // WARP

    @cached_property
    def touched(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of an access and number of a cell that it touches [m].

        A cell is an element.  Where elements of several sizes overlap, all of them begin and end at cells,
        and a wide access touches several.
        """
        places = np.arange(len(self.address))
        if self.cell is not None:
            return places, self.cell
        unit = max(1, int(np.gcd.reduce(np.concatenate([self.address, self.bytes]))))
        number = self.bytes // unit
        steps = np.arange(int(number.sum())) - repeated(np.cumsum(number) - number, number)
        _, cell = np.unique(repeated(self.address // unit, number) + steps, return_inverse=True)
        return repeated(places, number), cell

    def of_arrays(self, value: Callable) -> np.ndarray:
        """[n] The value of each access's array."""
        return np.array([*map(value, self.arrays[1:])] or [0])[self.array - 1]

    def is_in(self, space: str) -> np.ndarray:
        """[n] Which of them are to memory of that space?"""
        return self.space == SPACES.index(space)

    def is_one_of(self, *kinds: int) -> np.ndarray:
        """[n] Which of them are of these kinds?"""
        return np.isin(np.arange(KINDS), kinds)[self.kind]

    @property
    def lane(self) -> np.ndarray:
        """[n] place in the warp."""
        return self.thread % self.threads_per_block % WARP


def accesses(columns: Columns, threads_per_block: int) -> Accesses:
    """The memory events of a trace, with their addresses."""
    memory = columns.array > 0
    memory[columns.whole] = False
    when = np.flatnonzero(memory)
    array = columns.array[when]
    thread = columns.thread[when]
    offset = columns.offset[when]
    first_block = np.zeros(len(columns.arrays), np.int64)  # of each array; a shared one has no other
    first_block[array[::-1]] = thread[::-1] // threads_per_block
    root_base, start, number, cells = _places(columns.arrays, first_block)
    space = np.array([0] + [SPACES.index(member.space) for member in columns.arrays[1:]])
    size = np.array([member.data.itemsize for member in columns.arrays[1:]] or [1])[array - 1]
    cell = None if number is None else number[array] + offset // size
    if cell is not None and not 0 <= cell.min(initial=0) <= cell.max(initial=0) < max(1, cells):
        cell = None  # beyond the end, or a copy that NumPy made
    return Accesses(
        columns.kind[when], thread, columns.site[when], start[array] + offset, size, space[array],
        array, when, columns.arrays, root_base, threads_per_block, cell, columns.whole,
    )  # fmt: skip


def _places(arrays: list, first_block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """[arrays] Address of each array's root, of its own first element, and that element's number through all
    memory, None if elements overlap; and how many elements there are."""
    base = np.zeros(len(arrays), np.int64)
    ends = {}
    of_memory = {}
    start = base.copy()
    number = base.copy()
    together = together_in(arrays)
    elements = 0
    are_apart = True
    for place, array in enumerate(arrays[1:], 1):
        pointer = address_of(array.root.data)
        own = address_of(array.data)
        low, high = together.get(id(array.root), (pointer, pointer + array.root.data.nbytes))
        block = first_block[place] if array.space == SHARED else 0
        itemsize = array.data.itemsize
        key = array.space, low, block
        if key not in of_memory:
            region, origin, alignment = _region(array.space, int(first_block[place]))
            address = -(-ends.get(region, origin) // alignment) * alignment
            ends[region] = address + high - low
            of_memory[key] = address, elements, itemsize
            elements += -(-(high - low) // max(1, itemsize))
        address, first, size = of_memory[key]
        strides = (own - low, *array.data.strides)
        are_apart &= size == itemsize > 0 and not any(stride % itemsize for stride in strides)
        base[place] = address + pointer - low
        start[place] = base[place] + own - pointer
        number[place] = first + (own - low) // max(1, itemsize)
    are_apart &= elements < 1 << 24  # else a table of them would be large
    return base, start, number if are_apart else None, elements


def together_in(arrays: list) -> dict[int, tuple[int, int]]:
    """{id of a global root: first address and end of the memory that it shares with overlapping ones}."""
    roots = {id(array.root): array.root for array in arrays[1:] if array.space == GLOBAL}
    bounds = {key: np.lib.array_utils.byte_bounds(root.data) for key, root in roots.items()}
    extents = {key: (min(low, roots[key].owner), high) for key, (low, high) in bounds.items()}
    ordered = sorted(extents, key=extents.get)
    groups = []  # of overlapping extents: first address, end, roots
    for key in ordered:
        low, high = extents[key]
        if groups and low < groups[-1][1]:
            groups[-1][1] = max(groups[-1][1], high)
            groups[-1][2].append(key)
        else:
            groups.append([low, high, [key]])
    return {key: (low, high) for low, high, keys in groups for key in keys}


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _region(space: str, block: int) -> tuple[object, int, int]:
    """A name, a first address and an alignment for arrays of that space."""
    if space == SHARED:
        return (SHARED, block), SHARED_BASE + block * BLOCK_OF_SHARED, 16
    return (LOCAL, LOCAL_BASE, 16) if space == LOCAL else (GLOBAL, 256, 256)

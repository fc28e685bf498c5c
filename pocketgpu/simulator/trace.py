"""What a watched launch writes down while it runs, and the same as columns when it has ended.

The record is one flat list of integers, because accesses are too many for an object each.  A large number
opens an entry and says what it is; smaller ones behind it belong to it:

    EVENT + 16 · site + kind, array, index, …   an access to memory, an index for each dimension
    EVENT + 16 · site + kind, detail            a fence and its scope, a warp's mask, a grid barrier's number
    EVENT + 16 · site + BARRIER                 an arrival at the block's barrier
    TURN + thread, END + thread                 the thread continues, it has returned

A site is a place in the program: the code of a function and the position of an expression in its text.
"""

import linecache
import re
import sys
from dataclasses import dataclass
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
            line = frame.f_lineno
            position = line, line, instruction, instruction
        written = WRITTEN.get(id(code), code)
        known = code, site_at(written, position)
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
        latest = next(filter(opens_event, reversed(entries)))
        return SITES[(latest - EVENT) // KINDS]

    def drop_store_within_block(self) -> bool:
        """Take the last event back if it stores into shared or local memory; was it such a store?"""
        last = len(self.entries) - 1
        while last > 0 and self.entries[last] < EVENT:
            last -= 1
        if last < 0:
            return False
        kind = (self.entries[last] - EVENT) & KINDS - 1
        if kind != STORE:
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
        lengths = np.diff(marks, append=len(entries))
        events = np.flatnonzero(values >= EVENT)
        at = marks[events]
        indices = lengths[events] - 2
        site_and_kind = values[events] - EVENT
        kind = site_and_kind & KINDS - 1
        next_place = np.minimum(at + 1, len(entries) - 1)
        first = entries[next_place]
        is_access = OF_MEMORY[kind]
        array = np.where(is_access, first, 0)
        detail = np.where(is_access | (indices < 0), 0, first)
        turns, ends = _turns(values)
        begins, threads = turns.T
        thread = repeated(threads, np.diff(begins, append=len(events)))
        sites, site = sites_of(site_and_kind // KINDS)
        offset, whole = _offsets(self.arrays, array, indices, entries, at + 2)
        arrived = np.flatnonzero(kind == BARRIER)
        detail[arrived] = turn_in_group(thread[arrived])
        return Columns(kind, thread, array, site, offset, detail, whole, turns, ends, self.arrays, sites)


def opens_event(entry: object) -> bool:
    """Does this entry open an event?"""
    return type(entry) is int and entry >= EVENT


def _turns(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[turns,2] and [ends,2] as Columns has them, for the large numbers of a record."""
    other = np.flatnonzero(values < EVENT)
    steps = other - np.arange(len(other))
    value = values[other]
    is_end = value >= END
    threads = value - np.where(is_end, END, TURN)
    turns_and_ends = np.stack([steps, threads], 1)
    return turns_and_ends[~is_end], turns_and_ends[is_end]


def sites_of(number: np.ndarray) -> tuple[list[SourcePlace], np.ndarray]:
    """Every place once, function after function and in the order of the text, and each event's [n]."""
    present = np.flatnonzero(tallied(number)).tolist()
    codes = {}
    keys = {}  # place in SITES -> number of the function, and position
    for place in present:
        site = SITES[place]
        function = codes.setdefault(id(site.code), len(codes))
        keys[place] = function, site.position
    order = {key: rank for rank, key in enumerate(sorted({*keys.values()}))}
    sites = [None] * len(order)
    table = np.zeros(int(number.max(initial=0)) + 1, np.int64)
    for place, key in keys.items():
        table[place] = order[key]
        sites[order[key]] = SITES[place]
    return sites, table[number]


def _offsets(arrays: list, array: np.ndarray, indices: np.ndarray, entries: np.ndarray, at: np.ndarray):
    """[n] Bytes from an array's first element to the indexed one, and places of accesses to several.

    indices: how many each event has, and at: where the first one stands in `entries`.
    """
    members = [member.data for member in arrays[1:]]
    dimensions = np.array([0, *(member.ndim for member in members)])
    is_access = array > 0
    fits = is_access & (indices == dimensions[array])
    offset = np.zeros(len(array), np.int64)
    sizes = zip_longest((), *(member.shape for member in members), fillvalue=0)
    strides = zip_longest((), *(member.strides for member in members), fillvalue=0)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        has_axis = np.flatnonzero(fits & (axis < dimensions[array]))
        number = array[has_axis]
        index = entries[at[has_axis] + axis]
        if index.min(initial=0) < 0:
            index += (index < 0) * np.array(size)[number]
        offset[has_axis] += index * np.array(stride)[number]
    return offset, np.flatnonzero(is_access & ~fits)


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
    has_numbers = all(isinstance(axis, int | np.integer) for axis in indices)
    return indices if has_numbers else ()


def together_in(arrays: list) -> dict[int, tuple[int, int]]:
    """{id of a global root: first address and end of the memory that it shares with overlapping ones}."""
    roots = {id(array.root): array.root for array in arrays[1:] if array.space == GLOBAL}
    extents = {}
    for key, root in roots.items():
        low, high = np.lib.array_utils.byte_bounds(root.data)
        extents[key] = min(low, root.owner), high
    together = {}
    group = []  # ids of roots whose extents overlap
    first = end = 0
    for key in sorted(extents, key=extents.get):
        low, high = extents[key]
        if low >= end:
            group = []
            first = low
            end = high
        end = max(end, high)
        group.append(key)
        together |= dict.fromkeys(group, (first, end))
    return together


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]

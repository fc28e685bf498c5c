"""Findings of a watched launch in the learner's terms: thread, line, the other thread, and the remedy.

Faults that end a launch are described where they happen (threads.py); these are seen only in the whole trace.
"""

import ast
import math
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.memory import Watched, whole_array
from pocketgpu.simulator.races import Race, races
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding, remedy_of_weak_poll, thread_name
from pocketgpu.simulator.trace import Columns, Line, Triple, Watch, address_of, label_of
from pocketgpu.simulator.translation import is_library, look
from pocketgpu.simulator.waiting import is_weak_poll, waiting_sites

FENCES = {  # what is missing, by whose fence it is
    "writer": "a flag announces the first to the second, but without a cuda.threadfence() between the write "
    "and the flag (by the writer, or after a barrier by the thread that sets the flag) the flag may arrive "
    "first",
    "reader": "the second has waited for the flag, but without a cuda.threadfence() between the wait and the "
    "read it may get an old value from its cache",
}


@dataclass
class Diagnosis:
    """The findings of one launch."""

    columns: Columns
    log: Accesses
    watch: Watch

    def __post_init__(self):
        self.waiting = waiting_sites(self.columns.sites)

    def findings(self) -> tuple[Finding, ...]:
        """Races, reads of what no thread has written, misaligned accesses, and work on whole arrays."""
        racing = self._races()
        known = {race.line for race in racing} | {race.other_line for race in racing}
        # a read that races with its write comes too early: it needs no second finding
        unwritten = tuple(finding for finding in self._unwritten() if finding.line not in known)
        return racing + unwritten + self._misaligned() + self._whole()

    def _races(self) -> tuple[Finding, ...]:
        by_lines = {}
        for race in races(self.columns, self.log, self.waiting):
            finding = self._race(race)
            if _is_of_random_numbers(finding):
                finding = self._shared_state(race, finding)
            lines = sorted((finding.line, finding.other_line))
            by_lines.setdefault((finding.kind, *lines), finding)
        return tuple(by_lines.values())

    def _race(self, race: Race) -> Finding:
        first = race.first
        second = race.second
        line = self._line(first)
        other_line = self._line(second)
        element = self._element(first)
        other_element = self._element(second)
        kind, remedy = self._remedy(race)
        one_array = self._array(first) is self._array(second)
        if kind == "race" and element != other_element and not one_array:
            remedy = "the two arrays share memory: pass arrays that do not overlap"
        else:
            other_element = "it"
        access = f"{self._subject(first)} {element} on line {line}"
        other_access = f"{self._subject(second)} {other_element} on line {other_line}"
        message = f"{access} and {other_access}; {remedy}"
        events = self._events(first, second)
        return Finding(
            kind, message, line, *self._where(first), other_line, *self._where(second), events=events
        )

    def _shared_state(self, race: Race, finding: Finding) -> Finding:
        """The finding of two threads that draw random numbers from one state, at the kernel's own line."""
        code = self.watch.kernel.__code__
        first_line = Line(code.co_firstlineno, code.co_filename)
        line = _first_draw(self.watch.kernel) or first_line
        first = self._name(*self._where(race.first))
        second = self._name(*self._where(race.second))
        _, index = self._name_and_index(race.first)
        message = (
            f"{first} and {second} draw random numbers from the same state, {index}, on line {line}: give "
            "each thread a state of its own, by its index in the whole grid"
        )
        return replace(finding, kind="race", message=message, line=line, other_line=line)

    def _remedy(self, race: Race) -> tuple[str, str]:
        """The kind of finding, and what to do."""
        log = self.log
        pair = np.array([race.first, race.second])
        if race.fence:
            return "missing_fence", FENCES[race.fence]
        weak = [place for place in pair if is_weak_poll(log, self.waiting, place)]
        if weak:
            return "weak_poll", self._poll_with_atomic(weak[0])
        remedies = [self._remedy_of_race(race)]
        if not self._same_block(race) or trace.ATOMIC in log.kind[pair]:
            is_load = log.kind[pair] == trace.LOAD
            is_polled = self.waiting.polls[log.site[pair]] & is_load
            remedies += [self._poll_with_atomic(place) for place in pair[is_polled]]
        return "race", "; ".join(remedies)

    def _remedy_of_race(self, race: Race) -> str:
        """What to do about two accesses that nothing orders."""
        log = self.log
        pair = [race.first, race.second]
        same_block = self._same_block(race)
        same_line = self._line(race.first) == self._line(race.second)
        barrier = "a cuda.syncthreads()" if same_block else "a grid barrier"
        kinds = {*log.kind[pair].tolist()}
        both_change = all(self._changes(place, race.first) for place in pair)
        if trace.ATOMIC in kinds and kinds & {trace.LOAD, trace.STORE}:
            return (
                f"an atomic and a plain access are not ordered: put {barrier} between them, or use an atomic "
                "for both"
            )
        if same_line and both_change:
            between_rounds = self._between_rounds(race, same_block)
            return (
                "two threads run this line for the same element: let only one of them do so, or use an "
                f"atomic{between_rounds}"
            )
        if same_line:
            barrier = self._barrier_within(race, barrier)
            return (
                "one thread reads on this line what another one writes: write the results into another "
                f"array, or put {barrier} between reading and writing"
            )
        if not same_block:
            return (
                "blocks run in any order: let one block do both, or use an atomic, a flag with a fence, or a "
                "grid barrier"
            )
        atomic = ", or use an atomic if both change it" if both_change else ""
        first_warp, second_warp = log.warp_of(log.thread[pair])
        within_warp = ""
        if first_warp == second_warp:
            within_warp = "; these two are in one warp: a cuda.syncwarp() is enough for them"
        return f"nothing orders the two: put a cuda.syncthreads() between them{atomic}{within_warp}"

    def _same_block(self, race: Race) -> bool:
        block = self.log.block
        return block[race.first] == block[race.second]

    def _barrier_within(self, race: Race, barrier: str) -> str:
        """The barrier for a line that both threads run: of the warp, where all who run it are of one warp."""
        log = self.log
        if not self._same_block(race):
            return barrier
        in_block = log.block == log.block[race.first]
        on_line = np.isin(log.site, log.site[[race.first, race.second]])
        threads = np.unique(log.thread[on_line & in_block])
        warps = np.unique(log.warp_of(threads))
        if len(warps) == 1:
            return "a cuda.syncwarp() (or, if all threads of the block reach it, a cuda.syncthreads())"
        if len(threads) < log.threads_per_block:
            return "a cuda.syncthreads(), outside the condition, so that all threads of the block reach it,"
        return barrier

    def _poll_with_atomic(self, place: int) -> str:
        name, index = self._name_and_index(place)
        if "," in index:
            index = f"({index})"
        return remedy_of_weak_poll(name or "a", index)

    def _between_rounds(self, race: Race, same_block: bool) -> str:
        """Another remedy, where the line stands in a loop whose rounds may read what others wrote."""
        log = self.log
        first = race.first
        by_thread = log.thread == log.thread[first]
        at_site = log.site == log.site[first]
        rounds = (by_thread & at_site).sum()
        has_load = trace.LOAD in log.kind[[first, race.second]]
        if rounds < 2 or not same_block or not has_load:
            return ""
        return "; if an iteration needs what the one before wrote, put a cuda.syncthreads() between them"

    def _changes(self, place: int, of: int) -> bool:
        """Does the thread of that access write the element that the other one accesses?"""
        log = self.log
        by_thread = log.thread == log.thread[place]
        at_element = log.address == log.address[of]
        writes = ~log.is_one_of(*trace.LOADS)
        return bool((by_thread & at_element & writes).any())

    def _array(self, place: int) -> object:
        """The array of the kernel to which the element belongs."""
        number = self.log.array[place]
        return self.log.arrays[number].root

    def _unwritten(self) -> tuple[Finding, ...]:
        by_line = {}
        for place in first_reads(self.log):
            line = self._line(place)
            message = (
                f"reads {self._element(place)} on line {line}, which no thread has written: on a GPU it "
                "holds whatever was there before; write it first"
            )
            finding = self._of("uninitialised", self.log.thread[place], message, line)
            by_line.setdefault(line, replace(finding, events=self._events(place)))
        return tuple(by_line.values())

    def _misaligned(self) -> tuple[Finding, ...]:
        findings = []
        for place in misaligned(self.log):
            line = self._line(place)
            size = int(self.log.bytes[place])
            root = self._array(place)
            if root.data.dtype.names:
                remedy = "give the records' np.dtype align=True"
            else:
                remedy = f"begin the view at a multiple of {size} bytes"
            message = (
                f"accesses {size} bytes of {root.space} memory on line {line} at an address that is not a "
                f"multiple of {size}: a GPU stops there; {remedy}"
            )
            findings.append(self._of("misaligned", self.log.thread[place], message, line))
        return tuple(findings)

    def _whole(self) -> tuple[Finding, ...]:
        by_line = {}
        for event in self.log.whole.tolist():
            site = self.columns.site[event]
            line = self.columns.sites[site].line
            thread = self.columns.thread[event]
            message = whole_array("an index that is not a single element", line)
            by_line.setdefault(line, self._of("whole_array", thread, message, line))
        return tuple(by_line.values())

    def _of(self, kind: str, thread: int, message: str, line: int) -> Finding:
        """A finding that begins with the name of the thread of that number."""
        where = self._place_of(thread)
        name = self._name(*where)
        return Finding(kind, f"{name} {message}", line, *where)

    def _events(self, *places: int) -> tuple[int, ...]:
        """Places in the trace of accesses."""
        return tuple(self.log.when[[*places]].tolist())

    def _line(self, place: int) -> Line:
        site = self.log.site[place]
        return self.columns.sites[site].line

    def _where(self, place: int) -> tuple[Triple, Triple]:
        return self._place_of(self.log.thread[place])

    def _place_of(self, thread: int) -> tuple[Triple, Triple]:
        """Block and thread index of a thread's number."""
        grid_size = self.watch.grid
        block_size = self.watch.block
        block, local = divmod(int(thread), math.prod(block_size))
        return index_in(grid_size, block), index_in(block_size, local)

    def _name(self, block: Triple, thread: Triple) -> str:
        return thread_name(block, thread, self.watch.grid, self.watch.block)

    def _subject(self, place: int) -> str:
        """The thread of an access, and whether it reads or writes."""
        name = self._name(*self._where(place))
        return f"{name} {_verb(self.log.kind[place])}"

    def _element(self, place: int) -> str:
        """The array's name in the kernel, its index, and its space where that is not global memory."""
        name, index = self._name_and_index(place)
        space = self._array(place).space
        if not name:
            return f"{space}[{index}]"
        return f"{name}[{index}]" if space == "global" else f"{name}[{index}] ({space})"

    def _name_and_index(self, place: int) -> tuple[str, str]:
        """The array's name in the kernel, empty if it has none, and the element's index."""
        log = self.log
        root = self._array(place)
        data = root.data
        base = log.base[log.array[place]]
        offset = int(log.address[place] - base)
        element = max(0, offset // data.itemsize) % max(1, data.size)
        index = np.unravel_index(element, data.shape)
        return label_of(root.label), ", ".join(map(str, index))


def _is_of_random_numbers(finding: Finding) -> bool:
    """Are the two accesses those of numba.cuda.random?"""
    lines = (finding.line, finding.other_line)
    paths = [Path(getattr(line, "file", "")) for line in lines]
    return all(path.parts[-2:] == ("cuda", "random.py") for path in paths)


def _first_draw(function: FunctionType, callers: tuple = ()) -> Line | None:
    """The first line of a kernel, or of its device functions, that calls a function of numba.cuda.random."""
    tree = definition_of(function)
    if not tree:
        return None
    callers = (*callers, function)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda call: call.lineno):
        path = ast.unparse(node.func).split(".")
        is_name = all(map(str.isidentifier, path))
        called = look(function, tuple(path)) if is_name else None
        if not isinstance(called, FunctionType):
            continue
        if called.__module__ == "numba.cuda.random":
            return Line(node.lineno, function.__code__.co_filename)
        if called not in callers and not is_library(called):
            if line := _first_draw(called, callers):
                return line
    return None


def first_reads(log: Accesses) -> np.ndarray:
    """Places [n] of accesses that read an address to which no thread has stored before."""
    unsure = log.of_arrays(lambda array: array.root.written is not True)
    if not unsure.any():
        return np.zeros(0, np.int64)
    place, cell = log.touched
    is_unsure = unsure[place]
    place = place[is_unsure]
    cell = cell[is_unsure]
    touches = np.arange(len(cell))
    first_touch = np.zeros(int(cell.max()) + 1, np.int64)  # by cell
    first_touch[cell[::-1]] = touches[::-1]  # of several, the last stays: the first
    is_first = first_touch[cell] == touches
    first_places = np.unique(place[is_first])
    is_store = log.is_one_of(trace.STORE, trace.VOLATILE_STORE)[first_places]
    reads = first_places[~is_store]
    unwritten = [place for place in reads if not _was_written(log, place)]
    return np.array(unwritten, np.int64)


def _was_written(log: Accesses, place: int) -> bool:
    """Had that element a value before the launch?"""
    number = log.array[place]
    root = log.arrays[number].root
    if not isinstance(root.written, np.ndarray):
        return bool(root.written)
    if not root.data.flags.c_contiguous:
        return True
    offset = int(log.address[place] - log.base[number])
    element = offset // root.data.itemsize
    return bool(root.written.reshape(-1)[element])


def misaligned(log: Accesses) -> np.ndarray:
    """Places [n] of accesses whose address is not a multiple of their size; one a site, the first.

    It takes a view that starts between two elements: of bytes in dynamic shared memory, of a buffer.
    """
    if log.cell is not None:  # all begin at multiples of their elements' size
        return np.zeros(0, np.int64)
    is_number = log.of_arrays(lambda array: array.data.dtype.kind in "iuf")
    is_atomic = log.is_one_of(trace.ATOMIC)
    in_bytes = log.of_arrays(_is_packed) & ~is_atomic
    remainder = log.address % np.maximum(log.bytes, 1)
    places = np.flatnonzero(is_number & ~in_bytes & (remainder != 0))
    _, first = np.unique(log.site[places], return_index=True)
    return places[np.sort(first)]


def _is_packed(array: Watched) -> bool:
    """Is it a field of records without gaps, which compiled code reads and writes byte by byte?

    Of a single record only if its place in the record would suit it: else that code is refused.  An element
    of an array within a record is accessed as a whole.
    """
    records = array.root.data
    field = array.data
    if array.is_nested or not records.dtype.names or records.dtype.isalignedstruct:
        return False
    if field.ndim > 0:
        return True
    offset = address_of(field) - address_of(records)
    place = offset % records.itemsize
    return place % field.itemsize == 0


def _verb(kind: int) -> str:
    if kind in trace.LOADS:
        return "reads"
    return "changes" if kind == trace.ATOMIC else "writes"


def index_in(size: Triple, number: int) -> Triple:
    """Index of the number-th block of a grid, or thread of a block, of that size."""
    width, height, _ = size
    row, x = divmod(number, width)
    z, y = divmod(row, height)
    return x, y, z

"""Findings of a watched launch in the learner's terms: thread, line, the other thread, and the remedy.

Faults that end a launch are described where they happen (threads.py); these are seen only in the whole trace.
"""

import ast
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.memory import Watched, whole_array
from pocketgpu.simulator.races import Race, WaitingSites, is_weak_poll, races
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding, remedy_of_weak_poll, thread_name
from pocketgpu.simulator.trace import (
    Accesses,
    Columns,
    Line,
    SourcePlace,
    Triple,
    Watch,
    address_of,
    label_of,
)
from pocketgpu.simulator.translation import is_library, look

FENCES = {  # what is missing, by whose fence it is
    "writer": "a flag announces the first to the second, but without a cuda.threadfence() between the write "
    "and the flag (by the writer, or after a barrier by the thread that sets the flag) the flag may arrive "
    "first",
    "reader": "the second has waited for the flag, but without a cuda.threadfence() between the wait and the "
    "read it may get an old value from its cache",
}
_loops: dict[int, tuple[CodeType, tuple]] = {}  # by id: a code object, and what _while_lines says of it


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
        known = {line for race in racing for line in (race.line, race.other_line)}
        # a read that races with its write comes too early: it needs no second finding
        unwritten = tuple(finding for finding in self._unwritten() if finding.line not in known)
        return racing + unwritten + self._misaligned() + self._whole()

    def _races(self) -> tuple[Finding, ...]:
        by_lines = {}
        for race in races(self.columns, self.log, self.waiting):
            finding = self._race(race)
            if _is_of_random_numbers(finding):
                finding = self._shared_state(race, finding)
            by_lines.setdefault((finding.kind, *sorted((finding.line, finding.other_line))), finding)
        return tuple(by_lines.values())

    def _race(self, race: Race) -> Finding:
        pair = race.first, race.second
        places = [self._where(place) for place in pair]
        lines = [self._line(place) for place in pair]
        verbs = [_verb(int(self.log.kind[place])) for place in pair]
        names = [self._name(*where) for where in places]
        first, second = (self._element(place) for place in pair)
        kind, remedy = self._remedy(race, places, lines)
        if kind == "race" and first != second and self._array(race.first) is not self._array(race.second):
            remedy = "the two arrays share memory: pass arrays that do not overlap"
        else:
            second = "it"
        message = (
            f"{names[0]} {verbs[0]} {first} on line {lines[0]} and {names[1]} {verbs[1]} {second} on "
            f"line {lines[1]}; {remedy}"
        )
        events = self._events(*pair)
        return Finding(kind, message, lines[0], *places[0], lines[1], *places[1], events=events)

    def _shared_state(self, race: Race, finding: Finding) -> Finding:
        """The finding of two threads that draw random numbers from one state, at the kernel's own line."""
        code = self.watch.kernel.__code__
        line = _first_draw(self.watch.kernel) or Line(code.co_firstlineno, code.co_filename)
        first, second = (self._name(*self._where(place)) for place in (race.first, race.second))
        index = self._name_and_index(race.first)[1]
        message = (
            f"{first} and {second} draw random numbers from the same state, {index}, on line {line}: give "
            "each thread a state of its own, by its index in the whole grid"
        )
        return replace(finding, kind="race", message=message, line=line, other_line=line)

    def _remedy(self, race: Race, places: list, lines: list[int]) -> tuple[str, str]:
        """The kind of finding, and what to do."""
        if race.fence:
            return "missing_fence", FENCES[race.fence]
        same_block = places[0][0] == places[1][0]
        barrier = "a cuda.syncthreads()" if same_block else "a grid barrier"
        pair = [race.first, race.second]
        kinds = {int(self.log.kind[place]) for place in pair}
        weak = [place for place in pair if is_weak_poll(self.log, self.waiting, place)]
        if weak:
            return "weak_poll", self._poll_with_atomic(weak[0])
        both_change = all(self._changes(place, race.first) for place in pair)
        if trace.ATOMIC in kinds and kinds & {trace.LOAD, trace.STORE}:
            remedy = (
                f"an atomic and a plain access are not ordered: put {barrier} between them, or use an atomic "
                "for both"
            )
        elif lines[0] == lines[1] and both_change:
            remedy = (
                "two threads run this line for the same element: let only one of them do so, or use an atomic"
                + self._between_rounds(race, same_block)
            )
        elif lines[0] == lines[1]:
            remedy = (
                "one thread reads on this line what another one writes: write the results into another "
                f"array, or put {self._barrier_within(race, barrier)} between reading and writing"
            )
        elif same_block:
            atomic = ", or use an atomic if both change it" if both_change else ""
            remedy = f"nothing orders the two: put a cuda.syncthreads() between them{atomic}"
            warps = {*self.log.warp_of(self.log.thread[pair]).tolist()}
            if len(warps) == 1:
                remedy += "; these two are in one warp: a cuda.syncwarp() is enough for them"
        else:
            remedy = (
                "blocks run in any order: let one block do both, or use an atomic, a flag with a fence, or a "
                "grid barrier"
            )
        if not same_block or trace.ATOMIC in kinds:
            polls = self.waiting.polls[self.log.site[pair]] & (self.log.kind[pair] == trace.LOAD)
            remedy = "; ".join([remedy, *(self._poll_with_atomic(pair[k]) for k in np.flatnonzero(polls))])
        return "race", remedy

    def _barrier_within(self, race: Race, barrier: str) -> str:
        """The barrier for a line that both threads run: of the warp, where all who run it are of one warp."""
        log = self.log
        block = log.block[race.first]
        if block != log.block[race.second]:
            return barrier
        beside = (log.site == log.site[race.first]) | (log.site == log.site[race.second])
        threads = np.unique(log.thread[beside & (log.block == block)])
        if len(np.unique(log.warp_of(threads))) == 1:
            return "a cuda.syncwarp() (or, if all threads of the block reach it, a cuda.syncthreads())"
        if len(threads) < log.threads_per_block:
            return "a cuda.syncthreads(), outside the condition, so that all threads of the block reach it,"
        return barrier

    def _poll_with_atomic(self, place: int) -> str:
        name, index = self._name_and_index(place)
        return remedy_of_weak_poll(name or "a", f"({index})" if "," in index else index)

    def _between_rounds(self, race: Race, same_block: bool) -> str:
        """Another remedy, where the line stands in a loop whose rounds may read what others wrote."""
        log = self.log
        first = race.first
        rounds = ((log.thread == log.thread[first]) & (log.site == log.site[first])).sum()
        if rounds < 2 or not same_block or trace.LOAD not in log.kind[[first, race.second]]:
            return ""
        return "; if an iteration needs what the one before wrote, put a cuda.syncthreads() between them"

    def _changes(self, place: int, of: int) -> bool:
        """Does the thread of that access write the element that the other one accesses?"""
        log = self.log
        same = (log.thread == log.thread[place]) & (log.address == log.address[of])
        return bool((same & ~log.is_one_of(*trace.LOADS)).any())

    def _array(self, place: int) -> object:
        """The array of the kernel to which the element belongs."""
        return self.log.arrays[self.log.array[place]].root

    def _unwritten(self) -> tuple[Finding, ...]:
        by_line = {}
        for place in first_reads(self.log):
            line = self._line(place)
            message = (
                f"reads {self._element(place)} on line {line}, which no thread has written: on a GPU it "
                "holds whatever was there before; write it first"
            )
            finding = self._of("uninitialised", int(self.log.thread[place]), message, line)
            by_line.setdefault(line, replace(finding, events=self._events(place)))
        return tuple(by_line.values())

    def _misaligned(self) -> tuple[Finding, ...]:
        findings = []
        for place in misaligned(self.log):
            line = self._line(place)
            size = int(self.log.bytes[place])
            array = self.log.arrays[self.log.array[place]]
            remedy = (
                "give the records' np.dtype align=True"
                if array.root.data.dtype.names
                else f"begin the view at a multiple of {size} bytes"
            )
            message = (
                f"accesses {size} bytes of {array.space} memory on line {line} at an address that is not a "
                f"multiple of {size}: a GPU stops there; {remedy}"
            )
            findings.append(self._of("misaligned", int(self.log.thread[place]), message, line))
        return tuple(findings)

    def _whole(self) -> tuple[Finding, ...]:
        by_line = {}
        for event in self.log.whole.tolist():
            line = self.columns.sites[int(self.columns.site[event])].line
            thread = int(self.columns.thread[event])
            message = whole_array("an index that is not a single element", line)
            by_line.setdefault(line, self._of("whole_array", thread, message, line))
        return tuple(by_line.values())

    def _of(self, kind: str, thread: int, message: str, line: int) -> Finding:
        """A finding that begins with the name of the thread of that number."""
        where = self._place_of(thread)
        return Finding(kind, f"{self._name(*where)} {message}", line, *where)

    def _events(self, *places: int) -> tuple[int, ...]:
        """Places in the trace of accesses."""
        return tuple(int(self.log.when[place]) for place in places)

    def _line(self, place: int) -> Line:
        return self.columns.sites[int(self.log.site[place])].line

    def _where(self, place: int) -> tuple[Triple, Triple]:
        return self._place_of(int(self.log.thread[place]))

    def _place_of(self, thread: int) -> tuple[Triple, Triple]:
        """Block and thread index of a thread's number."""
        wide, high, deep = self.watch.block
        block, local = divmod(thread, wide * high * deep)
        return index_in(self.watch.grid, block), index_in(self.watch.block, local)

    def _name(self, block: Triple, thread: Triple) -> str:
        return thread_name(block, thread, self.watch.grid, self.watch.block)

    def _element(self, place: int) -> str:
        """The array's name in the kernel, its index, and its space where that is not global memory."""
        name, index = self._name_and_index(place)
        root = self._array(place)
        space = "" if root.space == "global" else f" ({root.space})"
        return f"{name or root.space}[{index}]{space if name else ''}"

    def _name_and_index(self, place: int) -> tuple[str, str]:
        """The array's name in the kernel, empty if it has none, and the element's index."""
        root = self._array(place)
        offset = int(self.log.address[place]) - int(self.log.base[self.log.array[place]])
        element = max(0, offset // root.data.itemsize) % max(1, root.data.size)
        index = np.unravel_index(element, root.data.shape)
        return label_of(root.label), ", ".join(map(str, index))


def _is_of_random_numbers(finding: Finding) -> bool:
    """Are the two accesses those of numba.cuda.random?"""
    places = (getattr(line, "file", "") for line in (finding.line, finding.other_line))
    return all(Path(place).parts[-2:] == ("cuda", "random.py") for place in places)


def _first_draw(function: FunctionType, callers: tuple = ()) -> Line | None:
    """The first line of a kernel, or of its device functions, that calls a function of numba.cuda.random."""
    tree = definition_of(function)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    for node in sorted(calls, key=lambda call: call.lineno):
        path = ast.unparse(node.func).split(".")
        called = look(function, tuple(path)) if all(map(str.isidentifier, path)) else None
        if not isinstance(called, FunctionType):
            continue
        if called.__module__ == "numba.cuda.random":
            return Line(node.lineno, function.__code__.co_filename)
        if called not in (*callers, function) and not is_library(called):
            if line := _first_draw(called, (*callers, function)):
                return line
    return None


def first_reads(log: Accesses) -> np.ndarray:
    """Places [n] of accesses that read an address to which no thread has stored before."""
    unsure = log.of_arrays(lambda array: array.root.written is not True)
    if not unsure.any():
        return np.zeros(0, np.int64)
    place, cell = log.touched
    chosen = np.flatnonzero(unsure[place])
    last = np.zeros(int(cell.max()) + 1, np.int64)
    last[cell[chosen[::-1]]] = chosen[::-1]  # of several, the last stays: the first
    first = np.unique(place[chosen[last[cell[chosen]] == chosen]])
    reads = first[~log.is_one_of(trace.STORE, trace.VOLATILE_STORE)[first]]
    return np.array([place for place in reads if not _was_written(log, place)], np.int64)


def _was_written(log: Accesses, place: int) -> bool:
    """Had that element a value before the launch?"""
    root = log.arrays[log.array[place]].root
    number = log.array[place]
    if not isinstance(root.written, np.ndarray):
        return bool(root.written)
    element = (int(log.address[place]) - int(log.base[number])) // root.data.itemsize
    return bool(root.written.reshape(-1)[element]) if root.data.flags.c_contiguous else True


def misaligned(log: Accesses) -> np.ndarray:
    """Places [n] of accesses whose address is not a multiple of their size; one a site, the first.

    It takes a view that starts between two elements: of bytes in dynamic shared memory, of a buffer.
    """
    if log.cell is not None:  # all begin at multiples of their elements' size
        return np.zeros(0, np.int64)
    is_number = log.of_arrays(lambda array: array.data.dtype.kind in "iuf")
    in_bytes = log.of_arrays(_is_packed) & ~log.is_one_of(trace.ATOMIC)
    places = np.flatnonzero(is_number & ~in_bytes & (log.address % np.maximum(log.bytes, 1) != 0))
    _, first = np.unique(log.site[places], return_index=True)
    return places[np.sort(first)]


def _is_packed(array: Watched) -> bool:
    """Is it a field of records without gaps, which compiled code reads and writes byte by byte?

    Of a single record only if its place in the record would suit it: else that code is refused.  An element
    of an array within a record is accessed as a whole.
    """
    records = array.root.data
    if array.is_nested or not records.dtype.names or records.dtype.isalignedstruct:
        return False
    place = (address_of(array.data) - address_of(records)) % records.itemsize
    return array.data.ndim > 0 or place % array.data.itemsize == 0


def waiting_sites(sites: list[SourcePlace]) -> WaitingSites:
    """Which places of the program are in a loop that waits."""
    result = WaitingSites(*np.zeros((3, max(1, len(sites))), bool))
    for number, site in enumerate(sites):
        code = site.code
        if id(code) not in _loops:
            _loops[id(code)] = code, _while_lines(code)
        for mask, lines in zip(result, _loops[id(code)][1], strict=True):
            mask[number] = site.line in lines
    return result


def _while_lines(code: CodeType) -> tuple[set[int], set[int], set[int]]:
    """Lines of conditions of while; these, and the bodies of loops that a break leaves; what loops test."""
    tree = definition_of(code)
    conditions = set()
    polls = set()
    tested = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.While):
            conditions |= _lines_of(node.test)
            polls |= _lines_of(node if _holds(node, ast.Break) else node.test)
            tested |= _tested_lines(node)
    return conditions, polls, tested


def _tested_lines(loop: ast.While) -> set[int]:
    """Lines that say whether the loop ends: its condition, an if around break or return, and assignments to
    what these test, as in `while seen == 0: seen = cuda.ldcv(flag, 0)`."""
    branches = (node for node in ast.walk(loop) if isinstance(node, ast.If))
    tests = [loop.test, *(node.test for node in branches if _holds(node, ast.Break, ast.Return))]
    names = set().union(*map(_names, tests))
    assigned = [node for node in ast.walk(loop) if isinstance(node, ast.Assign)]

    def bases(node):
        # `seen` of seen[0]
        return [getattr(target, "value", target) for target in node.targets]

    tests += [node for node in assigned if names & set().union(*map(_names, bases(node)))]
    return set().union(*map(_lines_of, tests))


def _lines_of(node: ast.AST) -> set[int]:
    return {*range(node.lineno, node.end_lineno + 1)}


def _names(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _holds(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(inner, kinds) for inner in ast.walk(node))


def _verb(kind: int) -> str:
    if kind in trace.LOADS:
        return "reads"
    return "changes" if kind == trace.ATOMIC else "writes"


def index_in(size: Triple, number: int) -> Triple:
    """Index of the number-th block of a grid, or thread of a block, of that size."""
    return number % size[0], number // size[0] % size[1], number // (size[0] * size[1])

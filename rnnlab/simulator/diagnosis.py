"""What a watched launch did wrong, as findings in the learner's terms: who, where, with whom, and the remedy.

Faults that end a launch are described where they happen (threads.py); these are seen only in the whole trace.
"""

import linecache
import re

import numpy as np

from rnnlab.simulator.findings import Finding
from rnnlab.simulator.races import Race, races
from rnnlab.simulator.trace import (
    ATOMIC,
    LOAD,
    STORE,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    Accesses,
    Columns,
    Watch,
)


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


def misaligned(found: Accesses) -> np.ndarray:
    """Places of accesses whose address is no multiple of their size; one a site, the first.

    It takes a view of bytes to make one: a slice of dynamic shared memory, read as wider numbers.
    """
    plain = np.array([False] + [each.data.dtype.kind in "iuf" for each in found.arrays[1:]])
    places = np.flatnonzero(plain[found.array] & (found.address % np.maximum(found.bytes, 1) != 0))
    _, first = np.unique(found.site[places], return_index=True)
    return places[np.sort(first)]


def diagnosis(columns: Columns, found: Accesses, lines: np.ndarray, watch: Watch) -> tuple[Finding, ...]:
    """Races, reads of what nobody has written, and misaligned accesses; lines [sites] is the line of each."""
    racing = _races(columns, found, lines, watch)
    known = {line for each in racing for line in (each.line, each.other_line)}  # who races reads too early
    unwritten = tuple(each for each in _unwritten(found, lines, watch) if each.line not in known)
    return racing + unwritten + _misaligned(found, lines, watch)


def _unwritten(found: Accesses, lines: np.ndarray, watch: Watch) -> tuple[Finding, ...]:
    told = {}
    for place in first_reads(found):
        line, where = int(lines[found.site[place]]), _where(watch, int(found.thread[place]))
        name = f"{found.arrays[found.array[place]].space} memory"
        message = (
            f"{_name(*where)} reads {name} on line {line} that nobody has written: on a GPU it "
            "holds whatever was there before; write it first"
        )
        told.setdefault(line, Finding("uninitialised", message, line, *where))
    return tuple(told.values())


def _misaligned(found: Accesses, lines: np.ndarray, watch: Watch) -> tuple[Finding, ...]:
    told = []
    for place in misaligned(found):
        line, where = int(lines[found.site[place]]), _where(watch, int(found.thread[place]))
        space, size = found.arrays[found.array[place]].space, int(found.bytes[place])
        message = (
            f"{_name(*where)} asks for {size} bytes of {space} memory on line {line} at an offset that is no "
            f"multiple of {size}: a GPU stops there; begin the view at a multiple of {size} bytes"
        )
        told.append(Finding("misaligned", message, line, *where))
    return tuple(told)


def _races(columns: Columns, found: Accesses, lines: np.ndarray, watch: Watch) -> tuple[Finding, ...]:
    text = [
        linecache.getline(code.co_filename, int(line))
        for (code, _), line in zip(columns.sites, lines, strict=False)
    ]
    waits = np.array([bool(re.match(r"\s*while\b", line)) for line in text] or [False])
    told = {}
    for race in races(columns, found, waits):
        finding = _race(race, found, lines, watch)
        told.setdefault((finding.kind, *sorted((finding.line, finding.other_line))), finding)
    return tuple(told.values())


def _race(race: Race, found: Accesses, lines: np.ndarray, watch: Watch) -> Finding:
    who = [_where(watch, int(found.thread[place])) for place in (race.first, race.second)]
    line = [int(lines[found.site[place]]) for place in (race.first, race.second)]
    does = [_verb(int(found.kind[place])) for place in (race.first, race.second)]
    root = found.arrays[found.array[race.first]].root
    element = (
        int(found.address[race.first]) - int(found.base[found.array[race.first]])
    ) // root.data.itemsize
    what = f"{root.space}[{', '.join(map(str, np.unravel_index(element, root.data.shape)))}]"
    kind, remedy = _judge(race, who[0][0] == who[1][0])
    message = (
        f"{_name(*who[0])} {does[0]} {what} on line {line[0]} and {_name(*who[1])} {does[1]} it on line "
        f"{line[1]}; {remedy}"
    )
    return Finding(kind, message, line[0], *who[0], line[1], *who[1])


def _judge(race: Race, same_block: bool) -> tuple[str, str]:
    """The kind of finding, and what to do."""
    if race.fence:
        return "missing_fence", (
            "a flag tells the second that the first is done, but without a cuda.threadfence() between the "
            "write and the flag the flag may arrive first"
        )
    if same_block:
        return "race", "nothing orders the two: a cuda.syncthreads() belongs between"
    return "race", "blocks run in any order: they need an atomic, a flag with a fence, or a grid barrier"


def _verb(kind: int) -> str:
    return {LOAD: "reads", VOLATILE_LOAD: "reads", STORE: "writes", ATOMIC: "changes"}.get(kind, "writes")


def _where(watch: Watch, thread: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Block and thread index of a thread's number."""
    wide, high, deep = watch.block
    block, local = divmod(thread, wide * high * deep)
    unravel = lambda number, size: (
        number % size[0],
        number // size[0] % size[1],
        number // (size[0] * size[1]),
    )
    return unravel(block, watch.grid), unravel(local, watch.block)


def _name(block: tuple[int, int, int], thread: tuple[int, int, int]) -> str:
    short = lambda index: index[0] if index[1:] == (0, 0) else index
    return f"thread {short(thread)} of block {short(block)}"

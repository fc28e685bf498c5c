"""Data races: two threads touch the same bytes, one of them writes, and nothing orders the two.

Almost all pairs are cleared by counting barriers: within a block, accesses with a different number of
barriers behind them are ordered; between blocks, those with a different number of grid barriers.  Only what
is left is looked at closely (happens_before.py): warps that synchronise, fences and flags.
"""

from dataclasses import dataclass

import numpy as np

from rnnlab.simulator.accesses import SPACES, Accesses
from rnnlab.simulator.events import (
    ATOMIC,
    BARRIER,
    GRID_SYNC,
    LOAD,
    LOCAL,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    Columns,
)
from rnnlab.simulator.happens_before import Clocks

READING = (LOAD, VOLATILE_LOAD)
PAIRS_PER_ADDRESS = 64  # looked at closely, of the pairs that one address may have


@dataclass(frozen=True)
class Race:
    """Two accesses, by their places; `fence`: a fence before the flag would order them."""

    first: int
    second: int
    fence: bool = False


def races(columns: Columns, found: Accesses, waits: np.ndarray) -> list[Race]:
    """One race for each pair of program places; waits [sites] says where a while looks at something."""
    flags = flag_addresses(found, waits)
    candidates = _candidates(columns, found, flags)
    if not candidates:
        return []
    threads = {int(found.thread[first]) for first, _ in candidates}
    strict, lenient = (
        Clocks(columns, found, flags, waits, sorted(threads), candidates, needs) for needs in (True, False)
    )
    told, result = set(), []
    for first, second in candidates:
        place = (int(found.site[first]), int(found.site[second]))
        if place not in told and not strict.ordered(first, second):
            told.add(place)
            result.append(Race(first, second, fence=lenient.ordered(first, second)))
    return result


def flag_addresses(found: Accesses, waits: np.ndarray) -> np.ndarray:
    """Addresses through which threads synchronise: touched atomically, or polled past all caches."""
    polled = (found.kind == VOLATILE_LOAD) & waits[found.site]
    return np.unique(found.address[(found.kind == ATOMIC) | polled])


def barriers_behind(columns: Columns, kind: int) -> np.ndarray:
    """[events] How many events of that kind each event's thread has behind it."""
    if not (columns.kind == kind).any():
        return np.zeros(len(columns.kind), np.int64)
    order = np.argsort(columns.thread, kind="stable")
    is_one = (columns.kind == kind)[order].astype(np.int64)
    running = np.cumsum(is_one) - is_one
    thread = columns.thread[order]
    starts = np.flatnonzero(np.r_[True, thread[1:] != thread[:-1]])
    behind = np.empty(len(order), np.int64)
    behind[order] = running - np.repeat(running[starts], np.diff(np.r_[starts, len(order)]))
    return behind


def _candidates(columns: Columns, found: Accesses, flags: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of accesses that barriers leave open, earlier first."""
    shared_by_many = found.space != SPACES.index(LOCAL)
    grid = barriers_behind(columns, GRID_SYNC)[found.when]
    block = barriers_behind(columns, BARRIER)[found.when]
    block = block * (int(grid.max(initial=0)) + 1) + grid  # in a block both kinds order
    pairs = _open_pairs(found, shared_by_many, found.block, block)  # within a block
    if len(np.unique(found.block)) > 1:
        pairs |= _open_pairs(found, shared_by_many, np.zeros_like(grid), grid, across=True)
    return sorted(pair for pair in pairs if not _both_synchronise(found, flags, *pair))


def _open_pairs(
    found: Accesses, mask: np.ndarray, scope: np.ndarray, epoch: np.ndarray, across: bool = False
):
    """Pairs in one scope, one epoch, at one address, of which one writes, by two threads (two blocks)."""
    writes = np.logical_and.reduce([found.kind != kind for kind in READING])
    written = np.unique(found.address[mask & writes])
    if not len(written):
        return set()
    nearest = np.minimum(np.searchsorted(written, found.address), len(written) - 1)
    places = np.flatnonzero(mask & (written[nearest] == found.address))
    order = places[np.lexsort((found.when[places], epoch[places], scope[places], found.address[places]))]
    key = np.stack([found.address[order], scope[order], epoch[order]])
    starts = (
        np.flatnonzero(np.r_[True, (key[:, 1:] != key[:, :-1]).any(0)]) if len(order) else np.zeros(0, int)
    )
    if not len(starts):
        return set()
    owner = (found.block if across else found.thread)[order]
    several = np.minimum.reduceat(owner, starts) != np.maximum.reduceat(owner, starts)
    some_write = np.logical_or.reduceat(writes[order], starts)
    all_atomic = np.logical_and.reduceat(found.kind[order] == ATOMIC, starts)
    pairs = set()
    for group in np.flatnonzero(several & some_write & ~all_atomic):
        stop = starts[group + 1] if group + 1 < len(starts) else len(order)
        pairs |= _pairs_of(found, order[starts[group] : stop], writes, across)
    return pairs


def _pairs_of(found: Accesses, group: np.ndarray, writes: np.ndarray, across: bool) -> set[tuple[int, int]]:
    """Each access with the latest write before it, and each write with the reads since the last one."""
    owner, pairs, last_write, reads = found.block if across else found.thread, set(), None, []
    for place in map(int, group):
        if last_write is not None and owner[last_write] != owner[place]:
            pairs.add((last_write, place))
        if writes[place]:
            pairs |= {(read, place) for read in reads[-PAIRS_PER_ADDRESS:] if owner[read] != owner[place]}
            last_write, reads = place, []
        else:
            reads.append(place)
    return pairs


def _both_synchronise(found: Accesses, flags: np.ndarray, first: int, second: int) -> bool:
    """Is that how a flag is meant to be used: one of the two is atomic, or may not be cached?"""
    special = (ATOMIC, VOLATILE_LOAD, VOLATILE_STORE)
    kinds = {int(found.kind[first]), int(found.kind[second])}
    both = kinds <= set(special)
    one = bool(kinds & set(special)) and found.address[first] in flags and LOAD not in kinds
    return (both and bool(kinds & {ATOMIC, VOLATILE_STORE}) and found.address[first] in flags) or one

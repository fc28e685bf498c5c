"""Data races: two threads touch the same bytes, one of them writes, and nothing orders the two.

Almost all pairs are cleared by counting barriers: within a block, accesses with a different number of
barriers behind them are ordered; between blocks, those with a different number of grid barriers.  Only for
the pairs that are left is the order decided in detail: did one access certainly happen before the other?
clocks.py answers that.
"""

from dataclasses import dataclass

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.clocks import POLLING, READER, WRITER, ClockReplay, Flags
from pocketgpu.simulator.grouping import (
    contested,
    ones_before,
    paired,
    repeated,
    starts_of,
    table_keys,
    turn_in_group,
)
from pocketgpu.simulator.trace import Columns
from pocketgpu.simulator.waiting import WaitingSites

SYNCHRONISING = {trace.ATOMIC, *trace.PAST_FIRST_LEVEL, trace.VOLATILE_STORE}
WRITER_AND_READER = frozenset({WRITER, READER})
WRITER_ONLY = frozenset({WRITER})  # whose fences are needed
PAIRS_PER_ADDRESS = 64  # most pairs of one address whose order is decided in detail
THREADS_AT_ONCE = 512  # whose clocks are replayed together; it bounds memory and changes no result


@dataclass(frozen=True)
class Race:
    """Two accesses, by their places; `fence`: whose fence would order them, "writer", "reader" or ""."""

    first: int
    second: int
    fence: str = ""


def races(columns: Columns, log: Accesses, waiting: WaitingSites) -> list[Race]:
    """One race for each pair of program places."""
    flags = _flags(columns, log, waiting)
    candidates = _candidates(columns, log, flags)
    racing = _racing(columns, log, flags, candidates)
    by_writer = ordered_pairs(columns, log, flags, racing, WRITER_ONLY)
    in_time = ordered_pairs(columns, log, flags, racing, frozenset())
    result = []
    for (first, second), needs_reader, needs_writer in zip(racing.tolist(), by_writer, in_time, strict=True):
        if needs_reader and log.kind[second] in trace.PAST_FIRST_LEVEL:
            continue  # it does not trust the first-level cache, which is all that the fence would empty
        if int(log.address[first]) in flags.addresses:
            fence = ""  # these two access the flag itself
        elif needs_reader:
            fence = READER
        elif needs_writer:
            fence = WRITER
        else:
            fence = ""
        result.append(Race(first, second, fence))
    return result


def _flags(columns: Columns, log: Accesses, waiting: WaitingSites) -> Flags:
    """Addresses through which threads synchronise: touched atomically, or polled past all caches."""
    polled = log.is_one_of(*POLLING) & waiting.polls[log.site]
    atomic_or_polled = log.is_one_of(trace.ATOMIC) | polled
    addresses = {*log.address[atomic_or_polled].tolist()}
    waited = {*log.address[polled].tolist()}
    fences_before = counted_before(columns, trace.FENCE)[log.when]
    return Flags(addresses, waited, waiting, fenced=fences_before > 0)


def _racing(columns: Columns, log: Accesses, flags: Flags, candidates: np.ndarray) -> np.ndarray:
    """[races,2] The first unordered pair of each two program places, of two blocks where there is one."""
    racing = {}
    sites = _sites(log, candidates)
    while len(candidates):
        threads = log.thread[candidates[:, 0]]
        _, begins, number = np.unique(threads, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(begins))  # [threads] in the order of their first candidates
        is_soon = rank[number] < THREADS_AT_ONCE
        pairs = candidates[is_soon]
        is_open = ~ordered_pairs(columns, log, flags, pairs, WRITER_AND_READER)
        block = log.block[pairs]  # [pairs,2]
        crosses = block[:, 0] != block[:, 1]
        for chosen in (np.flatnonzero(is_open), np.flatnonzero(is_open & crosses)):
            of_sites, first = np.unique(sites[is_soon][chosen], return_index=True)
            first_pairs = pairs[chosen[first]]
            racing |= zip(of_sites.tolist(), first_pairs.tolist(), strict=True)
        has_race = np.isin(sites, [*racing])
        is_left = ~is_soon & ~has_race
        candidates = candidates[is_left]
        sites = sites[is_left]
    return np.array(sorted(racing.values()), int).reshape(-1, 2)


def counted_before(columns: Columns, kind: int) -> np.ndarray:
    """[events] How many events of that kind each event's thread has behind it."""
    return ones_before(columns.kind == kind, *columns.turns.T)


def _candidates(columns: Columns, log: Accesses, flags: Flags) -> np.ndarray:
    """[pairs,2] Accesses that barriers leave open, earlier first: of each two program places the first pair,
    then of each the second, and so on.
    """
    atomic = log.is_one_of(trace.ATOMIC)
    writes = ~log.is_one_of(*trace.LOADS)
    place, cell = _written_by_many(log, writes)
    grid_epoch = counted_before(columns, trace.GRID_SYNC)[log.when]
    barriers = counted_before(columns, trace.BARRIER)[log.when]
    grid_epochs = int(grid_epoch.max(initial=0)) + 1
    block_epoch = barriers * grid_epochs + grid_epoch  # in a block both kinds order
    whole_grid = np.zeros_like(grid_epoch)
    within_block = unordered_pairs(place, cell, log.block, block_epoch, log.thread, writes, atomic)
    is_global = ~log.is_in(trace.SHARED)[place]  # no other block sees shared memory
    place = place[is_global]
    cell = cell[is_global]
    between_blocks = unordered_pairs(place, cell, whole_grid, grid_epoch, log.block, writes, atomic)
    pairs = _distinct_pairs(np.concatenate([within_block, between_blocks]), len(atomic))
    pairs = pairs[~_use_flags(log, flags, *pairs.T)]
    turn = turn_in_group(_sites(log, pairs))
    return pairs[np.argsort(turn, kind="stable")]


def _distinct_pairs(pairs: np.ndarray, accesses: int) -> np.ndarray:
    """[distinct pairs,2] Each pair once, in order; np.unique takes ten times as long."""
    key = np.sort(pairs @ (accesses, 1))
    distinct_keys = key[starts_of(key)]
    return np.stack(np.divmod(distinct_keys, max(1, accesses)), 1)


def _sites(log: Accesses, pairs: np.ndarray) -> np.ndarray:
    """[pairs] A number for each two program places."""
    sites = int(log.site.max(initial=0)) + 1
    return log.site[pairs] @ (sites, 1)


def _written_by_many(log: Accesses, writes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accesses to cells that a thread writes, and these, as log.touched; local memory is left out."""
    place, cell = log.touched
    cells = int(cell.max(initial=-1)) + 1
    is_written = np.zeros(cells, bool)
    is_written[cell[writes[place]]] = True
    is_local = log.is_in(trace.LOCAL)[place]
    chosen = is_written[cell] & ~is_local
    return place[chosen], cell[chosen]


def unordered_pairs(
    place: np.ndarray,
    cell: np.ndarray,
    scope: np.ndarray,
    epoch: np.ndarray,
    owner: np.ndarray,
    writes: np.ndarray,
    atomic: np.ndarray,
) -> np.ndarray:
    """[pairs,2] In one scope, one epoch, in one cell of memory, not all of them atomic, by two owners: each
    access with the latest plain and the latest atomic write before it, and each write with the reads since
    the last one.

    place, cell: as log.touched gives them.  The other arrays have a value for every access.
    """
    scope_and_epoch = paired(scope[place], epoch[place])
    key = paired(cell, scope_and_epoch)
    doubtful = _of_several_owners(key, owner[place], writes[place], ~atomic[place])
    order = doubtful[np.argsort(key[doubtful], kind="stable")]
    place = place[order]
    owner = owner[place]
    writes = writes[place]
    plain = ~atomic[place]
    starts = starts_of(key[order])
    lengths = np.diff(starts, append=len(place))
    begins = repeated(starts, lengths)  # place of the group's first access
    has_plain = np.logical_or.reduceat(plain, starts)
    after_atomic_writes = _after_writes(begins, owner, writes & ~plain)
    after_plain_writes = _after_writes(begins, owner, writes & plain)
    before_writes = _before_writes(begins, owner, writes)
    pairs = np.concatenate([after_atomic_writes, after_plain_writes, before_writes])
    not_all_atomic = repeated(has_plain, lengths)[pairs[:, 1]]
    return place[pairs[not_all_atomic]]


def _of_several_owners(
    key: np.ndarray, owner: np.ndarray, writes: np.ndarray, plain: np.ndarray
) -> np.ndarray:
    """Places of those with such a key that stand in a pair, and of some more where the table is full."""
    largest = int(key.max(initial=0))
    key, keys = table_keys(key, largest + 1)
    is_contested = contested(key, keys, owner, writes, plain)
    return np.flatnonzero(is_contested[key])


def _after_writes(begins: np.ndarray, owner: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """[pairs,2] Each access with the latest of the chosen writes before it that is another owner's."""
    writes = np.r_[-1, np.flatnonzero(chosen)]  # the first stands for none
    group_and_owner = np.stack([np.r_[begins, -1], np.r_[owner, -1]])
    runs = group_and_owner[:, writes]  # [2,writes]
    changes = np.ones(len(writes), bool)
    changes[1:] = (runs[:, 1:] != runs[:, :-1]).any(0)
    run_starts = np.where(changes, np.arange(len(writes)), 0)
    before_run = np.maximum.accumulate(run_starts) - 1
    number = np.cumsum(chosen) - chosen
    is_own = runs[1][number] == owner
    latest = writes[np.where(is_own, before_run[number], number)]
    pairs = np.stack([latest, np.arange(len(owner))], 1)
    return pairs[latest >= begins]


def _before_writes(begins: np.ndarray, owner: np.ndarray, writes: np.ndarray) -> np.ndarray:
    """[pairs,2] Each write with the other owners' among the reads since the last write."""
    write = np.flatnonzero(writes)
    behind_last = np.r_[0, write + 1][:-1]
    first_read = np.maximum(behind_last, begins[write])
    first_read = np.maximum(first_read, write - PAIRS_PER_ADDRESS)
    number = write - first_read  # [writes] of reads
    offset = write - np.cumsum(number)
    read = np.arange(int(number.sum())) + repeated(offset, number)
    pairs = np.stack([read, repeated(write, number)], 1)
    reader, writer = owner[pairs].T
    return pairs[reader != writer]


def _use_flags(log: Accesses, flags: Flags, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[pairs] Is that how a flag is meant to be used?

    Both accesses are atomic, or may not be cached; or one is a plain store behind a fence, to a flag that a
    loop waits for: a lock is given back so.
    """
    at_flag = np.isin(log.address[first], [*flags.addresses])
    if not at_flag.any():
        return at_flag
    waited = np.isin(log.address[first], [*flags.waited])
    atomic = log.is_one_of(trace.ATOMIC)
    stores = log.is_one_of(trace.STORE)
    changes = log.is_one_of(trace.ATOMIC, trace.VOLATILE_STORE)
    synchronises = log.is_one_of(*SYNCHRONISING)
    weak = log.is_one_of(trace.VOLATILE_LOAD) & flags.waiting.tested[log.site]
    fenced = flags.fenced
    first_stores = stores[first]
    second_stores = stores[second]
    first_is_fenced = fenced[first]
    second_is_fenced = fenced[second]
    both_synchronise = synchronises[first] & synchronises[second]
    only_first_stores = first_stores & synchronises[second]
    only_second_stores = synchronises[first] & second_stores
    one_stores = only_first_stores | only_second_stores
    one_changes = changes[first] | changes[second]
    store_is_fenced = np.where(first_stores, first_is_fenced, second_is_fenced)
    uses = both_synchronise & one_changes
    uses |= one_stores & waited & store_is_fenced
    # two owners of a lock gave it back, one after the other
    both_store = first_stores & second_stores
    unsure = both_store & waited & first_is_fenced & second_is_fenced
    unsure |= only_second_stores & atomic[first]
    for pair in np.flatnonzero(at_flag & unsure & ~uses):
        uses[pair] = _has_own_atomic_between(log, first[pair], second[pair])
    is_weak = weak[first] | weak[second]
    return at_flag & uses & ~is_weak


def _has_own_atomic_between(log: Accesses, first: int, second: int) -> bool:
    """Has the second access's thread had an atomic at the address since the first?  Then they are ordered."""
    between = slice(first + 1, second)
    is_own = log.thread[between] == log.thread[second]
    is_atomic = log.kind[between] == trace.ATOMIC
    is_there = log.address[between] == log.address[first]
    return bool((is_own & is_atomic & is_there).any())


def ordered_pairs(
    columns: Columns, log: Accesses, flags: Flags, pairs: np.ndarray, fences: frozenset
) -> np.ndarray:
    """[pairs] Which of the candidates are certainly ordered if only these fences are needed."""
    has_warp_barriers = (columns.kind == trace.WARP_SYNC).any()
    has_order = flags.addresses or has_warp_barriers
    if not len(pairs) or not has_order:
        return np.zeros(len(pairs), bool)  # nothing orders accesses that barriers leave open
    pairs = [*map(tuple, pairs.tolist())]
    ordered = ClockReplay(columns, log, flags, pairs, fences).ordered
    return np.array([pair in ordered for pair in pairs])

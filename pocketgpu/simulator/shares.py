"""How the work of a launch is shared, for limits on kernels: which thread does most, what blocks exchange.

An atomic reads and writes: here it counts as a load and as a store, with the sectors, requests and turns of
both.  A thread that polls one element again and again counts once for each row of polls.
"""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.counts import Counts, count_memory
from pocketgpu.simulator.diagnosis import index_in
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.names import parameters
from pocketgpu.simulator.report import Report
from pocketgpu.simulator.threads import thread_name
from pocketgpu.simulator.trace import (
    ATOMIC,
    EXCHANGE,
    GLOBAL,
    GRID_SYNC,
    LOADS,
    LOCAL,
    SHARED,
    STORE,
    STRONG_LOAD,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    WARP_SYNC,
)

STORES = STORE, VOLATILE_STORE


def judged_counts(result: Report) -> dict:
    """The launch's counts with atomics as loads and stores, and how its work is shared:

    accesses                 of all threads, to memory; a local array is registers, as variables are
    longest, longest_thread  those of the thread that makes most, and its name
    idlest                   accesses and exchanges of the thread that makes fewest
    shared_loads_of_thread   the most loads from shared memory that one thread makes
    exchanged                [blocks] elements that a block loads and another block has stored
    loads_of_parameter       [parameters] loads from each one's array
    stored_by_thread         [parameters] the most elements of each one's array that one thread stores
    exchanges                shuffles, votes and syncwarps, each lane's
    without_atomics          the counts of the launch in which atomics are no loads and stores
    ignored_poll             a thread that polls and continues whatever it reads, with the line; or empty
    """
    log = result.accesses
    one_line = np.zeros(len(result.trace.sites) + 1, np.int64)  # for all sites
    memory = count_memory(log, one_line, with_atomics=True).get(0, {})
    memory.pop("barriers", None)
    counts = asdict(result.counts + Counts())
    is_exchange = np.isin(result.trace.kind, (EXCHANGE, WARP_SYNC))
    threads = np.concatenate([log.thread[~log.is_in(LOCAL)], result.trace.thread[is_exchange]])
    work_of_thread = tallied(threads, result.watch.threads[GRID_SYNC])
    in_shared = log.is_one_of(*LOADS) & log.is_in(SHARED)
    shared_loads = tallied(log.thread[in_shared])

    def most_stored(places: np.ndarray) -> int:
        """The most elements that one thread stores."""
        elements = np.stack([log.thread[places], log.address[places]])
        thread, _ = np.unique(elements, axis=1)
        return int(tallied(thread).max(initial=0))

    shares = {
        "without_atomics": counts,
        "exchanged": _exchanged(result, log),
        "exchanges": int(is_exchange.sum()),
        "loads_of_parameter": _of_parameters(result, log, (*LOADS, ATOMIC), len),
        "stored_by_thread": _of_parameters(result, log, (*STORES, ATOMIC), most_stored),
        "idlest": int(work_of_thread.min()),
        "ignored_poll": result.watch.ignored_poll,
        "shared_loads_of_thread": int(shared_loads.max(initial=0)),
    }
    return counts | memory | _longest(result, log) | shares


def _longest(result: Report, log: Accesses) -> dict:
    """The thread that makes most accesses, a row of polls as one."""
    order = np.argsort(log.thread, kind="stable")
    is_repeated = np.ones(len(order), bool)
    is_repeated[:1] = False
    for column in (log.thread, log.site, log.address):
        ordered = column[order]
        is_repeated[1:] &= ordered[1:] == ordered[:-1]
    may_poll = log.is_one_of(ATOMIC, VOLATILE_LOAD, STRONG_LOAD)[order]
    is_local = log.is_in(LOCAL)[order]
    is_left_out = is_local | (is_repeated & may_poll)
    threads = log.thread[order]
    counts = tallied(threads[~is_left_out])
    if not len(counts):
        return {"accesses": 0, "longest": 0, "longest_thread": ""}
    most = int(counts.argmax())
    block, local = divmod(most, log.threads_per_block)
    grid = result.watch.grid
    size = result.watch.block
    name = thread_name(index_in(grid, block), index_in(size, local), grid, size)
    return {"accesses": int(counts.sum()), "longest": int(counts[most]), "longest_thread": name}


def _exchanged(result: Report, log: Accesses) -> list[int]:
    """[blocks] Addresses that each block loads and another one stores; without flags read by atomics."""
    blocks = int(np.prod(result.watch.grid))

    def pairs(kinds: tuple[int, ...]) -> np.ndarray:
        """One number for each address and block, ascending."""
        chosen = log.is_in(GLOBAL) & log.is_one_of(*kinds)
        return np.unique(log.address[chosen] * blocks + log.block[chosen])

    stored = pairs(STORES)
    loaded = pairs(LOADS)
    of_address = loaded - loaded % blocks  # the pair with block 0
    writers = np.searchsorted(stored, of_address + blocks) - np.searchsorted(stored, of_address)
    others = writers - np.isin(loaded, stored)
    return tallied(loaded[others > 0] % blocks, blocks).tolist()


def _of_parameters(result: Report, log: Accesses, kinds: tuple, count: Callable) -> list[int]:
    """[parameters] count(places of these accesses to each one's array); of a number, there are none."""
    chosen = log.is_one_of(*kinds) & log.is_in(GLOBAL)
    labels = log.of_arrays(lambda array: str(array.root.label))
    counts = []
    for name in parameters(result.watch.kernel):
        places = np.flatnonzero(chosen & (labels == name))
        counts.append(count(places))
    return counts

"""What a launch moved, counted as the hardware does: by warp, by 32-byte sector, by bank.

Threads of a warp that execute the same place in the program for the n-th time make one request.  A request to
global memory moves every 32-byte sector that it touches, once; one to shared memory is served a word of each
of 32 banks at a time, and every further word of a bank costs another turn.  Lanes that want the same word
share it.  Words wider than a bank are served half a warp, or a quarter, at a time, which is no conflict.
"""

from dataclasses import dataclass, field, fields

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.trace import Accesses

SECTOR, BANKS, WORD = 32, 32, 4  # bytes; banks; bytes of a bank's word


@dataclass
class Counts:
    """Counts of one launch, or of one line of it; they add."""

    global_loads: int = 0  # by threads
    global_stores: int = 0
    global_load_requests: int = 0  # by warps
    global_store_requests: int = 0
    global_load_sectors: int = 0  # 32 bytes each
    global_store_sectors: int = 0
    global_bytes_loaded: int = 0  # that threads requested
    global_bytes_stored: int = 0
    shared_loads: int = 0
    shared_stores: int = 0
    shared_requests: int = 0
    bank_conflicts: int = 0  # turns beyond the first
    shared_bytes: int = 0  # loaded and stored
    atomics: int = 0  # by threads, wherever the memory is
    barriers: int = 0  # by blocks; the grid's count once
    flops: dict[str, int] = field(default_factory=dict)  # dtype -> operations, where that is known
    launches: int = 0

    @property
    def sectors(self) -> int:
        """Sectors of global memory, read and written."""
        return self.global_load_sectors + self.global_store_sectors

    def __add__(self, other: "Counts") -> "Counts":
        flops = {k: self.flops.get(k, 0) + other.flops.get(k, 0) for k in {*self.flops, *other.flops}}
        numbers = {
            f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "flops"
        }
        return Counts(**numbers, flops=flops)


NAMES = tuple(f.name for f in fields(Counts) if f.name not in ("flops", "launches"))


def count_memory(log: Accesses, lines: np.ndarray, with_atomics: bool = False) -> dict[int, dict[str, int]]:
    """Counts of memory by source line; lines [sites] is the line of each site.

    with_atomics: each atomic also counts as a load and as a store.
    """
    table = {name: np.zeros(int(lines.max(initial=0)) + 1, np.int64) for name in NAMES}
    line = lines[log.site]
    add = lambda name, where, amount=None: table.__setitem__(
        name, table[name] + np.bincount(where, amount, len(table[name])).astype(np.int64)
    )
    atomics = (log.kind == trace.ATOMIC) & with_atomics
    loads = np.isin(log.kind, trace.LOADS) | atomics
    stores = np.isin(log.kind, (trace.STORE, trace.VOLATILE_STORE)) | atomics
    add("atomics", line[log.kind == trace.ATOMIC])
    request = requests(log)
    for word, mask in (("load", loads), ("store", stores)):
        mine = mask & (log.space == trace.SPACES.index(trace.GLOBAL))
        add(f"global_{word}s", line[mine])
        add(f"global_bytes_{word.rstrip('e')}ed", line[mine], log.bytes[mine])
        add(f"global_{word}_sectors", lines[log.site[sector_places(log, mine, request)]])
        first = np.unique(request[mine], return_index=True)[1]
        add(f"global_{word}_requests", line[mine][first])
        mine = mask & (log.space == trace.SPACES.index(trace.SHARED))
        add(f"shared_{word}s", line[mine])
        add("shared_bytes", line[mine], log.bytes[mine])
        first, turns = bank_turns(log, mine, request)
        add("shared_requests", line[first])
        add("bank_conflicts", line[first], turns)
    return {int(n): {k: int(v[n]) for k, v in table.items()} for n in np.flatnonzero(sum(table.values()))}


def requests(log: Accesses) -> np.ndarray:
    """[n] Number of the warp's request that each access is part of."""
    sites = int(log.site.max(initial=0)) + 1
    own = log.thread * sites + log.site
    order = np.argsort(own, kind="stable")
    sorted_own = own[order]
    starts = np.flatnonzero(np.r_[True, sorted_own[1:] != sorted_own[:-1]]) if len(own) else np.zeros(0, int)
    turn = np.empty(len(own), np.int64)
    turn[order] = np.arange(len(own)) - np.repeat(starts, np.diff(np.r_[starts, len(own)]))
    return (log.warp * sites + log.site) * (int(turn.max(initial=0)) + 1) + turn


def sector_places(log: Accesses, mask: np.ndarray, request: np.ndarray) -> np.ndarray:
    """Place of one access to every sector that the masked accesses touch, once for each request."""
    first, last = log.address[mask] // SECTOR, (log.address[mask] + log.bytes[mask] - 1) // SECTOR
    wide = last > first
    sector = np.concatenate([first, last[wide]])
    places = np.flatnonzero(mask)
    places = np.concatenate([places, places[wide]])
    return places[distinct(request[places], sector)]


def bank_turns(log: Accesses, mask: np.ndarray, request: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each request to shared memory: place of one of its accesses, and its turns beyond the first [n]."""
    places = np.flatnonzero(mask)
    if not len(places):
        return places, places
    words = np.maximum(log.bytes[places] // WORD, 1)
    part = log.lane[places] * words // trace.WARP  # of the warp that is served at once
    serving = request[places] * int(words.max()) + np.minimum(part, words - 1)
    word = log.address[places] // WORD
    repeats = np.repeat(np.arange(len(places)), words)
    word = word[repeats] + np.concatenate([np.arange(w) for w in words]) if words.max() > 1 else word
    chosen = distinct(serving[repeats], word)
    numbers, group = np.unique(serving[repeats][chosen], return_inverse=True)
    in_bank = np.bincount(group * BANKS + word[chosen] % BANKS, minlength=len(numbers) * BANKS)
    turns = in_bank.reshape(-1, BANKS).max(1) - 1
    _, first, whole = np.unique(request[places], return_index=True, return_inverse=True)
    of_serving = np.zeros(len(numbers), np.int64)
    of_serving[np.searchsorted(numbers, serving)] = whole
    return places[first], np.bincount(of_serving, turns, len(first)).astype(np.int64)


def distinct(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Places of one of each pair (first, second), for two columns [n]."""
    if not len(first):
        return np.zeros(0, np.int64)
    low = second - second.min()
    span = int(low.max()) + 1
    if int(first.max()) >= (1 << 62) // span:  # a pair as one number would not fit into 64 bits
        _, first = np.unique(first, return_inverse=True)
    return np.unique(first * span + low, return_index=True)[1]

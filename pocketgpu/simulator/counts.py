"""What a launch moved, counted as the hardware does: by warp, by 32-byte sector, by bank.

Threads of a warp that execute the same place in the program for the n-th time make one request.  A request to
global memory moves every 32-byte sector that it touches, once; one to shared memory is served a word of each
of 32 banks at a time, and every further word of a bank costs another turn.  Lanes that want the same word
share it.  Words wider than a bank are served half a warp, or a quarter, at a time, which is not a conflict.
"""

from dataclasses import dataclass, field, fields

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.grouping import distinct, paired, repeated, starts_of, tallied, turn_in_group

SECTOR = 32  # bytes
BANKS = 32  # banks
WORD = 4  # bytes of a bank's word


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
        flops = {**self.flops}
        for kind, operations in other.flops.items():
            flops[kind] = flops.get(kind, 0) + operations
        numbers = {}
        for name in (*NAMES, "launches"):
            numbers[name] = getattr(self, name) + getattr(other, name)
        return Counts(**numbers, flops=flops)


WORDS = {"load": trace.LOADS, "store": (trace.STORE, trace.VOLATILE_STORE)}
PAST = {"load": "loaded", "store": "stored"}
NAMES = tuple(f.name for f in fields(Counts) if f.name not in ("flops", "launches"))


def count_memory(log: Accesses, lines: np.ndarray, with_atomics: bool = False) -> dict[int, dict[str, int]]:
    """Counts of memory by source line; lines [sites] is the line of each site.

    with_atomics: each atomic also counts as a load and as a store.
    """
    line = lines[log.site]
    size = int(lines.max(initial=0)) + 1
    table = {name: np.zeros(size, np.int64) for name in NAMES}

    def add(name: str, places: np.ndarray, amount: np.ndarray | None = None) -> None:
        """Add one, or the amount, to the count of each access's line."""
        table[name] += tallied(line[places], size, amount)

    add("atomics", log.is_one_of(trace.ATOMIC))
    request = requests(log)
    for word, kinds in WORDS.items():
        if with_atomics:
            kinds = (*kinds, trace.ATOMIC)
        of_kind = log.is_one_of(*kinds)
        in_global = np.flatnonzero(of_kind & log.is_in(trace.GLOBAL))
        one_a_request = distinct(request[in_global])
        add(f"global_{word}s", in_global)
        add(f"global_bytes_{PAST[word]}", in_global, log.bytes[in_global])
        add(f"global_{word}_sectors", sector_places(log, in_global, request))
        add(f"global_{word}_requests", in_global[one_a_request])
        in_shared = np.flatnonzero(of_kind & log.is_in(trace.SHARED))
        first, turns = bank_turns(log, in_shared, request)
        add(f"shared_{word}s", in_shared)
        add("shared_bytes", in_shared, log.bytes[in_shared])
        add("shared_requests", first)
        add("bank_conflicts", first, turns)
    used = np.flatnonzero(sum(table.values()))
    return {line: {name: int(counts[line]) for name, counts in table.items()} for line in used.tolist()}


def count_sectors(log: Accesses) -> int:
    """Sectors of global memory, read and written: what count_memory counts, without all the rest."""
    is_global = log.is_in(trace.GLOBAL)
    sites = int(log.site.max(initial=0)) + 1
    has_global = np.zeros(sites, bool)
    has_global[log.site[is_global]] = True
    places = np.flatnonzero(has_global[log.site])
    request = np.zeros(len(log.site), np.int64)
    request[places] = requests(log, places)
    sectors = 0
    for kinds in WORDS.values():
        chosen = np.flatnonzero(is_global & log.is_one_of(*kinds))
        sectors += len(sector_places(log, chosen, request))
    return sectors


def requests(log: Accesses, places: np.ndarray | slice = slice(None)) -> np.ndarray:
    """[places] Number of the warp's request that each access is part of; places: all of some sites."""
    thread = log.thread[places]
    site = log.site[places]
    sites = int(site.max(initial=0)) + 1
    turn = turn_in_group(thread * sites + site)
    turns = int(turn.max(initial=0)) + 1
    warp_and_site = log.warp_of(thread) * sites + site
    return warp_and_site * turns + turn


def sector_places(log: Accesses, places: np.ndarray, request: np.ndarray) -> np.ndarray:
    """Place of one access to every sector that these accesses touch, once for each request."""
    address = log.address[places]
    first = address // SECTOR
    last = (address + log.bytes[places] - 1) // SECTOR
    wide = np.flatnonzero(last > first)
    sector = np.concatenate([first, last[wide]])
    places = np.concatenate([places, places[wide]])
    request_and_sector = paired(request[places], sector)
    return places[distinct(request_and_sector)]


def bank_turns(log: Accesses, places: np.ndarray, request: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each request to shared memory: place of one of its accesses, and its turns beyond the first [n]."""
    if not len(places):
        return places, places
    words = np.maximum(log.bytes[places] // WORD, 1)
    most = int(words.max())
    word = log.address[places] // WORD
    serving = request[places]
    if most > 1:
        part = log.lane[places] * words // trace.WARP  # of the warp that is served at once
        serving = serving * most + np.minimum(part, words - 1)
        number = repeated(np.arange(len(words)), words)
        places = places[number]
        serving = serving[number]
        word = word[number] + turn_in_group(number)
    chosen = distinct(paired(serving, word))  # in the order of `serving`
    serving = serving[chosen]
    bank = word[chosen] % BANKS
    starts = starts_of(serving)
    lengths = np.diff(starts, append=len(chosen))
    group = repeated(np.arange(len(starts)), lengths)
    in_bank = tallied(group * BANKS + bank, len(starts) * BANKS)
    turns = in_bank.reshape(-1, BANKS).max(1) - 1
    first = places[chosen[starts]]
    begins = starts_of(serving[starts] // most)  # parts of one request follow one another
    return first[begins], np.add.reduceat(turns, begins)

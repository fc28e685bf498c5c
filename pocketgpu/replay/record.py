"""A launch's events as plain data, which view.js shows: what happened, in which order, and who waited.

A step of a replay is an event: an access, an arrival at a barrier, a fence.  `starts` and `ends` say at which
step a thread began and returned; the lists of `events` have an entry for each step:

    kind     as in simulator.trace
    thread   counted through the grid
    site     place in `sites`, which are [place in `sources`, line]
    array    place in `arrays`, -1 where no memory is touched
    element  of that array, counted row by row; -1 where several are touched at once
    request  place in `requests`, which are [sectors, turns of banks]: what the thread's warp requests; or -1
    until    the step at which the thread's wait behind the event ends; 0 where it continues at once
"""

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.addresses import Accesses
from pocketgpu.simulator.counts import bank_turns, requests, sector_places
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.memory import Watched
from pocketgpu.simulator.races import counted_before
from pocketgpu.simulator.report import Report
from pocketgpu.simulator.source import source_of
from pocketgpu.simulator.threads import Finding, thread_name
from pocketgpu.simulator.trace import Columns, Watch, label_of

EVENTS = 10_000  # of a replay; what a launch does after them is left out
BANK_ROW = 128  # bytes of all banks
VERBS = ("read", "write", "atomic", "read", "write", *["wait"] * 4, "read", "wait")  # by kind


def record(result: Report, events: int = EVENTS) -> dict:
    """The data of a replay: at most that many events of a watched launch, and its findings."""
    columns = result.trace
    log = result.accesses
    watch = result.watch
    array, element, arrays = _elements(columns, log)
    request, moved = _requests(len(columns.kind), log, events)
    lists = {
        "kind": columns.kind, "thread": columns.thread, "site": columns.site, "array": array,
        "element": element, "request": request, "until": _waits(columns, watch),
    }  # fmt: skip
    findings = [_finding(finding, columns, watch, events) for finding in result.findings]

    def cost(number: int) -> tuple[int, int]:
        """Turns of banks, and where no bank has two, sectors."""
        sectors, turns = moved[number]
        return max(turns, 1), sectors

    dearest = max(range(len(moved)), key=cost, default=-1)
    data = {
        "kernel": result.kernel,
        "grid": [*watch.grid],
        "block": [*watch.block],
        "summary": result.sentence(),
        "total": len(columns.kind),
    }
    data["events"] = {name: values[:events].tolist() for name, values in lists.items()}
    data |= _sources(columns, watch)
    data |= {"arrays": arrays, "requests": moved, "findings": findings, "dearest": dearest}
    data["starts"] = _first_steps(columns.turns, events)
    data["ends"] = _first_steps(columns.ends, events)
    data["opens"] = _opens_at(findings, request[:events], dearest)
    return data


def _sources(columns: Columns, watch: Watch) -> dict:
    """`sites` and `sources`: the places of the program, and the text of each function, the kernel's first."""
    codes = [watch.kernel.__code__, *(site.code for site in columns.sites)]
    distinct_codes = {id(code): code for code in codes}
    source_places = {code: place for place, code in enumerate(distinct_codes)}
    sites = [[source_places[id(site.code)], site.line] for site in columns.sites]
    sources = []
    for code in distinct_codes.values():
        lines, first = source_of(code)
        sources.append({"first": first, "lines": [line.rstrip() for line in lines]})
    return {"sites": sites, "sources": sources}


def _opens_at(findings: list[dict], request: np.ndarray, dearest: int) -> int:
    """The step that a replay shows first: behind a finding's accesses, else behind the dearest request."""
    for finding in findings:
        latest = max(access["step"] for access in finding["accesses"])
        if latest >= 0:
            return latest + 1
    if findings or dearest < 0:
        return len(request)
    latest = np.flatnonzero(request == dearest)[-1]
    return int(latest) + 1


def _first_steps(turns: np.ndarray, events: int) -> list[list[int]]:
    """[thread, step] of every thread in a table of steps and threads; those beyond the cut are left out."""
    steps = {}
    is_shown = turns[:, 0] <= events
    for step, thread in turns[is_shown].tolist():
        steps.setdefault(thread, step)
    return [[thread, step] for thread, step in steps.items()]


def _elements(columns: Columns, log: Accesses) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """Array and element of each event [events], and what the view needs to know of the arrays.

    A view of an array counts as that array; local arrays of one name count as one.
    """
    number = np.full(len(log.arrays), -1)
    arrays = []
    known = {}
    used, first = np.unique(log.array, return_index=True)
    for place, block in zip(used.tolist(), log.block[first].tolist(), strict=True):
        root = log.arrays[place].root
        key = label_of(root.label) if root.space == trace.LOCAL else id(root)
        if key not in known:
            known[key] = len(arrays)
            base = int(log.base[place]) % BANK_ROW
            arrays.append(_array(root, base, block))
        number[place] = known[key]
    element = np.full(len(columns.kind), -1)
    itemsize = log.of_arrays(lambda array: array.root.data.itemsize)
    offset = log.address - log.base[log.array]
    element[log.when] = offset // itemsize
    return number[columns.array], element, arrays


def _array(root: Watched, base: int, block: int) -> dict:
    """What the view needs to know of an array, whose first element is at that place in a row of banks."""
    data = root.data
    return {
        "name": label_of(root.label) or root.space,
        "space": root.space,
        "base": base,
        "block": block if root.space == trace.SHARED else -1,
        "itemsize": data.itemsize,
        "shape": [*data.shape],
        "type": "record" if data.dtype.names else str(data.dtype),
        "written": root.written is not False,
    }


def _requests(total: int, log: Accesses, events: int) -> tuple[np.ndarray, list[list[int]]]:
    """The warp's request of each event [events], -1 without one; [sectors, turns] of those that are shown."""
    in_memory = ~log.is_in(trace.LOCAL)
    in_global = np.flatnonzero(log.is_in(trace.GLOBAL))
    in_shared = np.flatnonzero(log.is_in(trace.SHARED))
    requests_of_memory = requests(log)[in_memory]
    _, first, place = np.unique(requests_of_memory, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # counted as they begin
    request = np.full(len(log.when), -1)
    request[in_memory] = rank[place]
    number = np.full(total, -1)
    number[log.when] = request
    in_sectors = sector_places(log, in_global, request)
    sectors = tallied(request[in_sectors], len(first))
    turns = np.zeros(len(first), np.int64)
    in_turns, further_turns = bank_turns(log, in_shared, request)
    turns[request[in_turns]] = further_turns + 1
    shown = int(number[:events].max(initial=-1)) + 1
    moved = np.stack([sectors, turns], 1)
    return number, moved[:shown].tolist()


def _waits(columns: Columns, watch: Watch) -> np.ndarray:
    """[events] The step at which a wait behind each event ends, one beyond the last if never; 0 without one.

    A barrier ends the wait of all when the last one arrives.  Any other wait is seen by the turn that ends
    behind the event: it lasts until the thread's next turn.
    """
    thread = columns.thread
    events = len(columns.kind)
    begins = columns.turns[:, 0]
    until = np.zeros(events, np.int64)
    continues = dict(_first_steps(columns.ends, events))  # thread -> where its next turn begins, or its end
    changes = np.ones(events, bool)
    changes[1:] = thread[1:] != thread[:-1]
    starts = np.flatnonzero(changes)
    turn = np.searchsorted(begins, starts, side="right") - 1
    stops = [*starts[1:].tolist(), events]
    spans = [*zip(thread[starts].tolist(), stops, begins[turn].tolist(), strict=False)]
    for runner, stop, begin in reversed(spans):
        end = continues.get(runner, events + 1)
        if end > stop:
            until[stop - 1] = end
        continues[runner] = begin
    for kind, size in watch.threads.items():
        arrivals = np.flatnonzero(columns.kind == kind).tolist()
        arrived = {}
        for event in arrivals:
            barrier = int(thread[event]) // size, int(columns.detail[event])
            arrived.setdefault(barrier, []).append(event)
        for group in arrived.values():
            is_open = len(group) == size
            opens = group[-1] + 1 if is_open else events + 1
            until[group] = [opens if event + 1 < opens else 0 for event in group]
    return until


def _finding(finding: Finding, columns: Columns, watch: Watch, events: int) -> dict:
    """A finding and its accesses: step, thread, line, and how many barriers the thread has behind each."""
    message, _, remedy = finding.message.partition("; ")
    places = [(finding.block, finding.thread, finding.line)]
    if finding.other_line is not None:
        places.append((finding.other_block, finding.other_thread, finding.other_line))
    steps = finding.events or [-1] * len(places)
    block_barriers = counted_before(columns, trace.BARRIER)
    grid_barriers = counted_before(columns, trace.GRID_SYNC)
    accesses = []
    for (block, thread, line), step in zip(places, steps, strict=False):
        access = {"step": -1, "name": "a thread", "line": line, "site": -1, "verb": "", "barriers": -1}
        if thread:
            access["name"] = thread_name(block, thread, watch.grid, watch.block)
        if step >= 0:
            access["site"] = int(columns.site[step])
            access["verb"] = VERBS[columns.kind[step]]
            access["barriers"] = int(block_barriers[step] + grid_barriers[step])
        if step < events:
            access["step"] = step
        accesses.append(access)
    remedy = remedy.removeprefix("nothing orders the two: ")
    return {"kind": finding.kind, "message": message, "remedy": remedy, "accesses": accesses}

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
from pocketgpu.simulator.counts import bank_turns, requests, sector_places
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.races import counted_before
from pocketgpu.simulator.report import Report
from pocketgpu.simulator.source import source_of
from pocketgpu.simulator.threads import Finding, thread_name
from pocketgpu.simulator.trace import Accesses, Columns, Watch, label_of

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
    codes = {id(code): code for code in (watch.kernel.__code__, *(site.code for site in columns.sites))}
    sources = [source_of(code) for code in codes.values()]
    findings = [_finding(finding, columns, watch, events) for finding in result.findings]

    def cost(number: int) -> tuple[int, int]:
        """Turns of banks, and where no bank has two, sectors."""
        sectors, turns = moved[number]
        return max(turns, 1), sectors

    dearest = max(range(len(moved)), key=cost, default=-1)
    return {
        "kernel": result.kernel, "grid": [*watch.grid], "block": [*watch.block], "summary": result.sentence(),
        "total": len(columns.kind),
        "events": {name: values[:events].tolist() for name, values in lists.items()},
        "sites": [[[*codes].index(id(site.code)), site.line] for site in columns.sites],
        "sources": [{"first": first, "lines": [*map(str.rstrip, lines)]} for lines, first in sources],
        "arrays": arrays, "requests": moved, "findings": findings, "dearest": dearest,
        "starts": _first_steps(columns.turns, events), "ends": _first_steps(columns.ends, events),
        "opens": _opens_at(findings, request[:events], dearest),
    }  # fmt: skip


def _opens_at(findings: list[dict], request: np.ndarray, dearest: int) -> int:
    """The step that a replay shows first: behind a finding's accesses, else behind the dearest request."""
    if findings:
        behind = [max(access["step"] for access in finding["accesses"]) + 1 for finding in findings]
        return next(filter(None, behind), len(request))
    return int(np.flatnonzero(request == dearest)[-1]) + 1 if dearest >= 0 else len(request)


def _first_steps(turns: np.ndarray, events: int) -> list[list[int]]:
    """[thread, step] of every thread in a table of steps and threads; those beyond the cut are left out."""
    steps = {}
    for step, thread in turns[turns[:, 0] <= events].tolist():
        steps.setdefault(thread, step)
    return [[thread, step] for thread, step in steps.items()]


def _elements(columns: Columns, log: Accesses) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """Array and element of each event [events], and what the view needs to know of the arrays.

    A view of an array counts as that array; local arrays of one name count as one.
    """
    number = np.full(len(log.arrays), -1)
    arrays = []
    known = {}
    first_block = dict(zip(log.array[::-1].tolist(), log.block[::-1].tolist(), strict=True))
    for place in sorted(first_block):
        root = log.arrays[place].root
        key = label_of(root.label) if root.space == trace.LOCAL else id(root)
        if key not in known:
            known[key] = len(arrays)
            data = root.data
            base = int(log.base[place]) % BANK_ROW
            arrays.append({
                "name": label_of(root.label) or root.space, "space": root.space, "base": base,
                "block": first_block[place] if root.space == trace.SHARED else -1, "itemsize": data.itemsize,
                "shape": [*data.shape], "type": "record" if data.dtype.names else str(data.dtype),
                "written": root.written is not False,
            })  # fmt: skip
        number[place] = known[key]
    element = np.full(len(columns.kind), -1)
    size = log.of_arrays(lambda array: array.root.data.itemsize)
    element[log.when] = (log.address - log.base[log.array]) // size
    return number[columns.array], element, arrays


def _requests(total: int, log: Accesses, events: int) -> tuple[np.ndarray, list[list[int]]]:
    """The warp's request of each event [events], -1 without one; [sectors, turns] of those that are shown."""
    number = np.full(total, -1)
    in_memory = ~log.is_in(trace.LOCAL)
    _, first, of_kept = np.unique(requests(log)[in_memory], return_index=True, return_inverse=True)
    request = np.full(len(log.when), -1)
    request[in_memory] = np.argsort(np.argsort(first))[of_kept]  # counted as they begin
    number[log.when] = request
    of_global = sector_places(log, np.flatnonzero(log.is_in(trace.GLOBAL)), request)
    sectors = tallied(request[of_global], len(first))
    turns = np.zeros(len(first), np.int64)
    places, extra = bank_turns(log, np.flatnonzero(log.is_in(trace.SHARED)), request)
    turns[request[places]] = extra + 1
    return number, np.stack([sectors, turns], 1)[: int(number[:events].max(initial=-1)) + 1].tolist()


def _waits(columns: Columns, watch: Watch) -> np.ndarray:
    """[events] The step at which a wait behind each event ends, one beyond the last if never; 0 without one.

    A barrier ends the wait of all when the last one arrives.  Any other wait is seen by the turn that ends
    behind the event: it lasts until the thread's next turn.
    """
    thread = columns.thread
    events = len(columns.kind)
    begins = columns.turns[:, 0]
    until = np.zeros(events, np.int64)
    goes_on = dict(_first_steps(columns.ends, events))
    starts = np.flatnonzero(np.r_[events > 0, thread[1:] != thread[:-1]])
    turn = begins[np.searchsorted(begins, starts, side="right") - 1].tolist()
    stops = [*starts[1:].tolist(), events]
    spans = [*zip(starts.tolist(), stops, turn, strict=False)]
    for start, stop, begin in reversed(spans):
        end = goes_on.get(int(thread[start]), events + 1)  # its next turn begins, or it has returned
        until[stop - 1] = end if end > stop else 0
        goes_on[int(thread[start])] = begin
    for kind, size in watch.threads.items():
        arrived = {}
        for event in np.flatnonzero(columns.kind == kind).tolist():
            barrier = int(thread[event]) // size, int(columns.detail[event])
            arrived.setdefault(barrier, []).append(event)
        for group in arrived.values():
            opens = group[-1] + 1 if len(group) == size else events + 1
            until[group] = [opens if event + 1 < opens else 0 for event in group]
    return until


def _finding(finding: Finding, columns: Columns, watch: Watch, events: int) -> dict:
    """A finding and its accesses: step, thread, line, and how many barriers the thread has behind each."""
    message, _, remedy = finding.message.partition("; ")
    places = [(finding.block, finding.thread, finding.line)]
    if finding.other_line is not None:
        places.append((finding.other_block, finding.other_thread, finding.other_line))
    behind = counted_before(columns, trace.BARRIER) + counted_before(columns, trace.GRID_SYNC)
    accesses = []
    for (block, thread, line), event in zip(places, finding.events or [-1] * len(places), strict=False):
        name = thread_name(block, thread, watch.grid, watch.block) if thread else "a thread"
        site, kind, barriers = (
            int(c[event]) if event >= 0 else -1 for c in (columns.site, columns.kind, behind)
        )
        verb = VERBS[kind] if event >= 0 else ""
        step = event if event < events else -1
        accesses.append(dict(step=step, name=name, line=line, site=site, verb=verb, barriers=barriers))
    remedy = remedy.removeprefix("nothing orders the two: ")
    return {"kind": finding.kind, "message": message, "remedy": remedy, "accesses": accesses}

"""A launch's events as plain data, which view.js shows: what happened, in which order, and who waited.

A step of a replay is an event: an access, an arrival at a barrier, a fence.  The lists of `events` have an
entry for each:

    kind     as in simulator.trace
    thread   counted through the grid
    site     place in `sites`, which are [place in `sources`, line]
    array    place in `arrays`, -1 where no memory is touched
    element  of that array, counted row by row; -1 where several are touched at once
    request  place in `requests`, which are [sectors, turns of banks]: what the thread's warp asked for; or -1
    until    the step at which the thread's wait behind the event ends; 0 where it goes on at once

`starts` and `ends` say at which step a thread began and returned.
"""

import inspect
from types import CodeType

import numpy as np

from pocketgpu.simulator import trace
from pocketgpu.simulator.counts import bank_turns, requests, sector_places
from pocketgpu.simulator.races import counted_before
from pocketgpu.simulator.report import Report
from pocketgpu.simulator.threads import Finding
from pocketgpu.simulator.trace import SPACES, Columns, Watch, label_of, line_of

EVENTS = 10_000  # of a replay; what a launch does after them is left out
SOURCE_LINES = 400  # of a function
KINDS = (
    "read", "write", "atomic", "read", "write", "fence", "barrier", "syncwarp", "grid barrier", "atomic read",
    "exchange",
)  # fmt: skip
LOCAL = SPACES.index(trace.LOCAL)


def record(result: Report, events: int = EVENTS) -> dict:
    """The data of a replay: at most that many events of a watched launch, and its findings."""
    columns, watch = result.trace, result.watch
    total, shown = len(columns.kind), slice(events)
    sources = _sources(columns, watch)
    array, element, arrays = _elements(result)
    request, moved = _requests(result, events)
    until = _waits(columns, watch)
    lists = {
        "kind": columns.kind, "thread": columns.thread, "site": columns.site, "array": array,
        "element": element, "request": request, "until": until,
    }  # fmt: skip
    findings = [_finding(finding, columns, watch, events) for finding in result.findings]
    return {
        "kernel": result.kernel,
        "grid": [*watch.grid],
        "block": [*watch.block],
        "kinds": KINDS,
        "total": total,
        "events": {name: values[shown].tolist() for name, values in lists.items()},
        "sites": [[sources[id(code)], line_of(code, position)] for code, position in columns.sites],
        "sources": [_source(code) for code in _codes(columns, watch)],
        "arrays": arrays,
        "requests": moved,
        "starts": _first_steps(watch.trace.turns, events),
        "ends": _first_steps(watch.trace.ends, events),
        "findings": findings,
        "dearest": _dearest(moved),
        "opens": _opens_at(findings, request[shown], _dearest(moved)),
        "summary": result.sentence(),
    }


def _dearest(moved: list[list[int]]) -> int:
    """The request with most turns of banks; with most sectors where no bank has two; -1 without a request."""
    conflict = lambda number: (moved[number][1] > 1, moved[number][1] if moved[number][1] > 1 else 0)
    return max(range(len(moved)), key=lambda number: (*conflict(number), moved[number][0]), default=-1)


def _opens_at(findings: list[dict], request: np.ndarray, dearest: int) -> int:
    """The step that a replay shows first: behind a finding's accesses, else behind the dearest request."""
    of_findings = [max(access["step"] for access in found["accesses"]) + 1 for found in findings]
    if of_findings:
        return next((step for step in of_findings if step), len(request))
    return int(np.flatnonzero(request == dearest)[-1]) + 1 if dearest >= 0 else len(request)


def _first_steps(turns: list[int], events: int) -> list[list[int]]:
    """[thread, step] for every thread of a list of entries and threads; those beyond the cut are left out."""
    steps = {}
    for entries, thread in zip(turns[::2], turns[1::2], strict=True):
        if entries // trace.FIELDS <= events:
            steps.setdefault(thread, entries // trace.FIELDS)
    return [[thread, step] for thread, step in steps.items()]


def _codes(columns: Columns, watch: Watch) -> list[CodeType]:
    """The kernel and the functions whose lines the events stand on, each once."""
    return [*{id(code): code for code in (watch.kernel.__code__, *(code for code, _ in columns.sites))}.values()]


def _sources(columns: Columns, watch: Watch) -> dict[int, int]:
    return {id(code): place for place, code in enumerate(_codes(columns, watch))}


def _source(code: CodeType) -> dict:
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):  # made by exec
        lines, first = [], 0
    return {"name": code.co_name, "first": first, "lines": [line.rstrip() for line in lines[:SOURCE_LINES]]}


def _elements(result: Report) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """array and element of each event [events], and what the view needs to know of the arrays.

    A view of an array counts as that array; local arrays of one name count as one.
    """
    columns, log = result.trace, result.accesses
    number, arrays, known = np.full(len(log.arrays), -1), [], {}
    first_block = dict(zip(log.array[::-1].tolist(), log.block[::-1].tolist(), strict=True))
    for place, shell in enumerate(log.arrays[1:], 1):
        root, block = shell.root, first_block.get(place, 0)
        key = label_of(root.label) if root.space == trace.LOCAL else id(root)
        if place in first_block and key not in known:
            known[key] = len(arrays)
            arrays.append(_array(root, block, int(log.base[place])))
        number[place] = known.get(key, -1)
    array, element = number[columns.array], np.full(len(columns.kind), -1)
    itemsize = np.array([1] + [shell.root.data.itemsize for shell in log.arrays[1:]])
    element[log.when] = (log.address - log.base[log.array]) // itemsize[log.array]
    return array, element, arrays


def _array(root: object, block: int, base: int) -> dict:
    data, written = root.data, root.written
    return {
        "name": label_of(root.label) or root.space,
        "space": root.space,
        "block": block if root.space == trace.SHARED else -1,
        "shape": [*data.shape],
        "type": str(data.dtype) if data.dtype.names is None else "record",
        "itemsize": data.itemsize,
        "base": base % 128,  # bytes behind a multiple of a row of 32 banks
        "written": True if isinstance(written, np.ndarray) else bool(written),
    }


def _requests(result: Report, events: int) -> tuple[np.ndarray, list[list[int]]]:
    """The warp's request of each event [events], -1 without one; [sectors, turns] of those that are shown."""
    log = result.accesses
    number = np.full(len(result.trace.kind), -1)
    if not len(log.when):
        return number, []
    _, first, request = np.unique(requests(log), return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(log.when[first]))  # requests counted as they begin
    request = in_order[request]
    number[log.when[log.space != LOCAL]] = request[log.space != LOCAL]
    of_global = sector_places(log, log.space == SPACES.index(trace.GLOBAL), request)
    sectors = np.bincount(request[of_global], minlength=len(first))
    places, extra = bank_turns(log, log.space == SPACES.index(trace.SHARED), request)
    turns = np.zeros(len(first), np.int64)
    turns[request[places]] = extra + 1
    shown = int(number[:events].max(initial=-1)) + 1
    return number, np.stack([sectors, turns], 1)[:shown].tolist()


def _waits(columns: Columns, watch: Watch) -> np.ndarray:
    """[events] The step at which a wait behind each event ends, one beyond the last if never; 0 without a wait.

    A barrier ends the wait of all when the last one arrives.  Any other wait is seen by the turn that ends
    behind the event: it lasts until the thread's next turn.
    """
    events, turns = len(columns.kind), np.array(watch.trace.turns, np.int64).reshape(-1, 2)
    begins, ended = turns[:, 0] // trace.FIELDS, dict(_first_steps(watch.trace.ends, events))
    until = np.zeros(events, np.int64)
    order = np.argsort(columns.thread, kind="stable")
    following = np.full(events, -1)  # the next event of the same thread
    same = columns.thread[order][1:] == columns.thread[order][:-1]
    following[order[:-1][same]] = order[1:][same]
    turn = np.searchsorted(begins, np.arange(events), side="right") - 1
    never = events + 1
    for event in np.flatnonzero(np.r_[columns.thread[1:] != columns.thread[:-1], True] if events else []):
        last = following[event] < 0
        end = ended.get(int(columns.thread[event]), never) if last else begins[turn[following[event]]]
        until[event] = end if end > event + 1 else 0
    return _opened(columns, watch, until)


def _opened(columns: Columns, watch: Watch, until: np.ndarray) -> np.ndarray:
    """The same with barriers, at which all that arrived wait until the last one comes."""
    per_block = int(np.prod(watch.block))
    for kind, size in ((trace.BARRIER, per_block), (trace.GRID_SYNC, per_block * int(np.prod(watch.grid)))):
        arrived: dict[tuple, list[int]] = {}
        for event in np.flatnonzero(columns.kind == kind).tolist():
            block = int(columns.thread[event]) // per_block if kind == trace.BARRIER else 0
            arrived.setdefault((block, columns.detail[event]), []).append(event)
        for group in arrived.values():
            opens = group[-1] + 1 if len(group) == size else len(until) + 1
            until[group] = np.where(np.array(group) + 1 < opens, opens, 0)
    return until


def _finding(finding: Finding, columns: Columns, watch: Watch, events: int) -> dict:
    """A finding with its accesses: step, thread, line, element's name and barriers that the thread has behind it."""
    message, _, remedy = finding.message.partition("; ")
    pairs = ((finding.block, finding.thread, finding.line),)
    pairs += ((finding.other_block, finding.other_thread, finding.other_line),) * (finding.other_line is not None)
    behind = counted_before(columns, trace.BARRIER) + counted_before(columns, trace.GRID_SYNC)
    steps = [event if event < events else -1 for event in finding.events] or [-1] * len(pairs)
    return {
        "kind": finding.kind,
        "message": message,
        "remedy": remedy.removeprefix("nothing orders the two: "),
        "accesses": [
            {
                "step": step,
                "thread": -1 if thread is None else _number(block, watch.grid) * int(np.prod(watch.block))
                + _number(thread, watch.block),
                "line": line,
                "verb": KINDS[columns.kind[event]] if event >= 0 else "",
                "barriers": int(behind[event]) if event >= 0 else 0,
            }
            for (block, thread, line), step, event in zip(
                pairs, steps, finding.events or [-1] * len(pairs), strict=False
            )
        ],
    }


def _number(index: tuple[int, int, int], size: tuple[int, int, int]) -> int:
    return index[0] + size[0] * (index[1] + size[1] * index[2])

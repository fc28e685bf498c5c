"""Report of a watched launch: the kernel's source with counts beside it, and findings."""

import functools
import html
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import prod

import numpy as np

from pocketgpu.quantities import quantity
from pocketgpu.simulator.addresses import Accesses, accesses
from pocketgpu.simulator.counts import Counts, count_memory, count_sectors
from pocketgpu.simulator.diagnosis import Diagnosis
from pocketgpu.simulator.language import refused
from pocketgpu.simulator.settings import advance_clock, current
from pocketgpu.simulator.source import source_of
from pocketgpu.simulator.threads import Finding
from pocketgpu.simulator.trace import GRID_SYNC, Columns, Watch

SHOWN = {  # columns of a report: heading -> field of Counts
    "loads": "global_loads",
    "stores": "global_stores",
    "sectors": "sectors",
    "shared": "shared",
    "conflicts": "bank_conflicts",
    "atomics": "atomics",
    "barriers": "barriers",
    "FLOPs": "flops",
}


@dataclass(frozen=True, repr=False)
class Report:
    """Counts of a launch, in all and by source line; what is wrong with it; the trace behind both."""

    kernel: str
    counts: Counts
    lines: dict[int, Counts]
    findings: tuple[Finding, ...]
    source: tuple[str, ...]
    first_line: int
    watch: Watch
    seconds: float | None = None  # no clock here says anything about a GPU
    flops_unknown: str = ""  # why no FLOPs are counted

    @functools.cached_property
    def trace(self) -> Columns:
        return self.watch.trace.columns()

    @functools.cached_property
    def accesses(self) -> Accesses:
        """Every access to memory as columns: thread, address, bytes, line's site."""
        return accesses(self.trace, prod(self.watch.block))

    @property
    def engine(self) -> str:
        """How the threads ran: in lockstep, or one after another and why."""
        reason = self.watch.why_not_in_lockstep
        return f"thread by thread: {reason}" if reason else "lockstep"

    def table(self) -> list[tuple[int, str, dict[str, int]]]:
        """(line number, source, counts that are not zero) for every line of the kernel."""
        rows = []
        for number, text in enumerate(self.source, self.first_line):
            counts = self.lines.get(number, Counts())
            cells = {name: _count_shown(counts, field) for name, field in SHOWN.items()}
            cells_shown = {name: count for name, count in cells.items() if count}
            rows.append((number, text, cells_shown))
        return rows

    def headings(self) -> list[str]:
        """The columns in which some line has a count."""
        counted = {name for _, _, cells in self.table() for name in cells}
        return [name for name in SHOWN if name in counted]

    def counts_by_line(self) -> str:
        """The kernel's source with counts beside it, as text."""
        used = self.headings()
        headings = "".join(f"{name:>10}" for name in used)
        texts = [f"{self.kernel}: {self.sentence()}", " " * 76 + headings]
        for number, text, cells in self.table():
            code = text.rstrip()[:70]
            counts = "".join(f"{cells.get(name, ''):>10}" for name in used)
            texts.append(f"{number:>5} {code:<70}{counts}")
        return "\n".join(texts)

    def __str__(self) -> str:
        texts = [str(finding) for finding in self.findings] or ["no findings"]
        return "\n".join([self.counts_by_line(), *texts])

    __repr__ = __str__

    def sentence(self) -> str:
        """What the launch moved, in one sentence."""
        unknown = f"; FLOPs unknown: {self.flops_unknown}" if self.flops_unknown else ""
        return _sentence(self.counts) + unknown

    def _repr_html_(self) -> str:
        used = self.headings()
        cell = '<td style="text-align:right">{}</td>'.format
        headings = "".join(f'<th scope="col">{name}</th>' for name in used)
        rows = []
        for number, text, cells in self.table():
            code = html.escape(text.rstrip())
            counts = "".join(cell(cells.get(name, "")) for name in used)
            rows.append(
                f"<tr>{cell(number)}<td style='text-align:left;white-space:pre;font-family:monospace'>"
                f"{code}</td>{counts}</tr>"
            )
        findings = [html.escape(str(finding)) for finding in self.findings] or ["no findings"]
        items = "".join(f"<li>{finding}</li>" for finding in findings)
        kernel = html.escape(self.kernel)
        sentence = html.escape(self.sentence())
        return (
            f"<div><p>{kernel}: {sentence}</p><table><thead><tr>"
            f'<th scope="col">line</th><th scope="col">source</th>{headings}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table><ul>{items}</ul></div>"
        )


def observe(
    kernel: object, grid: object, block: object, arguments: tuple, shared: int = 0, with_flops: bool = True
) -> Report:
    """Launch once with checks on; nothing is raised but what Python raises in the kernel."""
    name = getattr(kernel, "__name__", str(kernel))
    if type(kernel).__module__.startswith("numba."):
        raise TypeError(f"{name} was made by numba.cuda, and no GPU is used: write `from rnnlab import cuda`")
    if not hasattr(kernel, "max_cooperative_grid_blocks"):
        raise TypeError(f"{name} is not a kernel: put @cuda.jit above its def")
    now = replace(current(), checks=True)
    launch = kernel[grid, block, 0, shared]
    result = report(launch.run(arguments, now), with_flops)
    advance_clock(now.sheet, result.counts.sectors)
    return result


def report(watch: Watch, with_flops: bool = True) -> Report:
    """Counts and findings from a launch's trace; FLOPs need the kernel's types, some 20 ms when it is new."""
    columns, log = _events(watch)
    lines = np.array([site.line for site in columns.sites] or [0], np.int64)
    by_line = {line: Counts(**numbers) for line, numbers in count_memory(log, lines).items()}
    for line, barriers in _barriers(columns, lines, watch).items():
        by_line[line] = by_line.get(line, Counts()) + Counts(barriers=barriers)
    operations, unknown = _flops(watch, columns) if with_flops else ({}, "")
    for line, flops in operations.items():
        by_line[line] = by_line.get(line, Counts()) + Counts(flops=flops)
    total = sum(by_line.values(), Counts(launches=1))
    source, first_line = source_of(watch.kernel)
    findings = _findings(watch, columns, log)
    name = watch.kernel.__name__
    return Report(name, total, by_line, findings, source, first_line, watch, flops_unknown=unknown)


def findings_and_sectors(watch: Watch) -> tuple[tuple[Finding, ...], int]:
    """What a launch needs that nobody observes: its findings, and the sectors that it moved."""
    if watch.sectors is not None:
        return refused(watch.kernel), watch.sectors
    columns, log = _events(watch)
    return _findings(watch, columns, log), count_sectors(log)


def _events(watch: Watch) -> tuple[Columns, Accesses]:
    """The events of a launch, and those of memory."""
    columns = watch.trace.columns()
    return columns, accesses(columns, prod(watch.block))


def _findings(watch: Watch, columns: Columns, log: Accesses) -> tuple[Finding, ...]:
    if watch.sectors is not None:  # lockstep has shown that there is nothing in its events
        return refused(watch.kernel)
    remarks = tuple(watch.trace.remarks.values())
    of_events = Diagnosis(columns, log, watch).findings()
    text = tuple(finding for finding in refused(watch.kernel) if finding not in watch.stopped)
    return watch.stopped + text + remarks + of_events


def _flops(watch: Watch, columns: Columns) -> tuple[dict[int, dict[str, int]], str]:
    """FLOPs by line, and why there are none where they cannot be counted."""
    if find_spec("numba") is None:
        return {}, "they need Numba, which is not installed"
    # this brings Numba's compiler, which takes a second to load
    from pocketgpu.simulator.flops import FlopsUnknown, flops

    threads = None if watch.stopped else watch.threads[GRID_SYNC]
    try:
        return flops(watch.kernel, watch.arguments, columns, threads), ""
    except FlopsUnknown as unknown:
        return {}, str(unknown)


def _barriers(columns: Columns, lines: np.ndarray, watch: Watch) -> dict[int, int]:
    """Barriers by line: each block's once, however many threads came."""
    per_line = {}
    for kind, size in watch.threads.items():
        site = columns.site[columns.kind == kind]
        lines_of_kind, arrivals = np.unique(lines[site], return_counts=True)
        for line, arrived in zip(lines_of_kind.tolist(), arrivals.tolist(), strict=True):
            per_line[line] = per_line.get(line, 0) + arrived // size
    return per_line


def _count_shown(counts: Counts, name: str) -> int:
    if name == "flops":
        return sum(counts.flops.values())
    if name == "shared":
        return counts.shared_loads + counts.shared_stores
    return getattr(counts, name)


def _sentence(counts: Counts) -> str:
    loads = quantity(counts.global_loads, "load")
    load_sectors = quantity(counts.global_load_sectors, "sector")
    stores = quantity(counts.global_stores, "store")
    store_sectors = quantity(counts.global_store_sectors, "sector")
    parts = [f"{loads} in {load_sectors}", f"{stores} in {store_sectors}"]
    if counts.shared_requests:
        shared = quantity(counts.shared_loads + counts.shared_stores, "shared access")
        conflicts = quantity(counts.bank_conflicts, "bank conflict")
        parts.append(f"{shared} with {conflicts}")
    if counts.atomics:
        parts.append(quantity(counts.atomics, "atomic"))
    if counts.barriers:
        parts.append(quantity(counts.barriers, "barrier"))
    for kind, number in sorted(counts.flops.items()):
        if kind.endswith("functions"):
            parts.append(quantity(number, kind.removesuffix("s")))
        else:
            operations = quantity(number, "FLOP")
            parts.append(f"{operations} in {kind}")
    return ", ".join(parts)

"""`rnnlab bench cpu`: choose what to measure, measure it with progress shown, print it, keep it."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench import cpu_record, performance_page, step_report, workload
from bench.cpu import Arena, CpuSettings
from bench.masked import MASKS
from bench.peers import LADDER, PEERS, STEPS, WEIGHTS, Candidate
from bench.peers.one_step import by_numpy
from bench.peers.process import find_peers_python
from bench.progress import show_progress
from rnncourse import records
from rnncourse.records import cpu_picture, cpu_report
from rnncourse.records.workload import CELLS, SHAPES, Workload
from rnnlab.cells import modes
from rnnlab.resources import usable_cores

QUICK_SHAPES = SHAPES[1:3]
STEP_WIDTHS = (64, 256, 512, 1024, 2048)  # inputs and hidden units of one step at B = 1
SCAN_LENGTHS = (100, 1_000, 10_000, 100_000)
SCAN_WIDTHS = (16, 64, 256)  # of min_gru at B = 1
SCANS = tuple(rung for rung in LADDER if rung.name in ("one_big_gemm", "parallel_in_time"))
TOO_SLOW_FOR_QUICK = {
    "one_step_at_a_time",
    "pytensor",
    "gru_reset_after",
    "gru_store_product",
    "gru_batched_recompute",
}


class BenchPlan(NamedTuple):
    """What is to be measured."""

    workloads: list[Workload]
    candidates: list[Candidate]
    settings: CpuSettings
    steps: list[Workload]  # of one step without gradients
    scans: list[Workload]  # of one long sequence, by a loop and by a scan


def run(chosen: argparse.Namespace) -> int:
    """The command; 0, or 2 for an unknown name."""
    try:
        selection = plan(chosen)
    except ValueError as error:
        print(f"rnnlab bench cpu: {error}", file=sys.stderr)
        return 2
    with Arena(selection.candidates, selection.settings, chosen.peers_python) as arena:
        _say_what_is_missing(arena, chosen.peers_python)
        record = cpu_record.begin(arena)
        for name, why in arena.left_out.items():
            print(f"{name} is left out: {why}")
        print(cpu_report.heading(record), end="\n\n", flush=True)
        if chosen.record and record["changed"] != []:
            print(f"{records.origin(record)}. Commit first: a record names its code")
        if chosen.record and not chosen.fresh:
            record = cpu_record.resumed(record)
        _measure(arena, selection.workloads, record, chosen.record and record)
    _measure_section("steps", selection.steps, STEPS, selection, chosen, record, WEIGHTS, by_numpy)
    _measure_section("scans", selection.scans, SCANS, selection, chosen, record)
    print(step_report.page(record))
    if chosen.picture:
        cpu_picture.draw(record).savefig(chosen.picture)
        print(cpu_picture.finding(record))
    if chosen.record:
        _keep(record)
    return 0


def _measure_section(
    name: str,
    workloads: list[Workload],
    candidates: Sequence[Candidate],
    selection: BenchPlan,
    chosen: argparse.Namespace,
    record: dict,
    limits: Sequence[Candidate] = (),
    exact: Callable = workload.by_numpy,
) -> None:
    """Workloads of another kind, by contestants of their own, into a section of the record."""
    if not workloads:
        return
    with Arena(candidates, selection.settings, chosen.peers_python, limits, exact) as arena:
        section = record.setdefault(name, cpu_record.section(arena))
        _measure(arena, workloads, section, chosen.record and record)


def _measure(arena: Arena, workloads: list[Workload], section: dict, record: dict | bool) -> None:
    """Every workload that a section has not; the record, if there is one to be kept, is, after each."""
    for number, task in enumerate(workloads, 1):
        if cpu_record.has(section, task):
            continue
        start = time.monotonic()

        def say(text, number=number):
            return show_progress(f"{number}/{len(workloads)} {text}")

        cpu_record.add(section, arena.measure(task, say))
        show_progress("")
        print(f"{task}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        if record:
            records.write(records.place(record), record)


def _keep(record: dict) -> None:
    """The complete record under its lasting name; what was kept on the way goes."""
    partial = records.place(record)
    complete = record | {"complete": True}
    records.write(records.place(complete), complete)
    partial.unlink(missing_ok=True)
    print(f"\nkept as {records.place(complete)}")
    if performance_page.PAGE.exists():
        performance_page.refresh()


def plan(chosen: argparse.Namespace) -> BenchPlan:
    """From the options.  Raises ValueError for an unknown name or size."""
    shapes = [_shape(text) for text in chosen.shapes or ()] or (QUICK_SHAPES if chosen.quick else SHAPES)
    cells = _known("cell", chosen.cells or CELLS, modes())
    rungs = _select("rung", LADDER, chosen.rungs, chosen.quick)
    peers = _select("peer", PEERS, chosen.peers, chosen.quick)
    rounds = (3 if chosen.quick else CpuSettings.rounds) if chosen.rounds is None else chosen.rounds
    if rounds < 2:
        raise ValueError(f"--rounds is {rounds}: a median needs at least 2")
    threads = usable_cores() if chosen.threads is None else chosen.threads
    if chosen.emulate is not None:
        _known("instruction set to emulate", [chosen.emulate], [*MASKS])
    if not 1 <= threads <= usable_cores():
        raise ValueError(f"--threads is {threads}: this machine lets a program use 1 to {usable_cores()}")
    is_part = chosen.shapes is not None or chosen.rungs is not None
    widths = (() if is_part else STEP_WIDTHS) if chosen.steps is None else [*map(_width, chosen.steps)]
    widths = widths[:2] if chosen.quick and chosen.steps is None else widths
    steps = [Workload(c, 1, 1, H, H) for c in cells for H in widths]
    lengths = (() if is_part else SCAN_LENGTHS) if chosen.scans is None else [*map(_length, chosen.scans)]
    lengths = lengths[:2] if chosen.quick and chosen.scans is None else lengths
    scans = [Workload("min_gru", T, 1, H, H) for H in SCAN_WIDTHS for T in lengths]
    workloads = [Workload(c, *s) for c in cells for s in shapes]
    return BenchPlan(workloads, [*rungs, *peers], CpuSettings(threads, rounds, chosen.emulate), steps, scans)


def _width(text: str) -> int:
    return _number("steps", text, "numbers of hidden units, as 64 256")


def _length(text: str) -> int:
    return _number("scans", text, "numbers of time steps, as 100 10000")


def _number(option: str, text: str, expected: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"--{option} has {text!r}: expected {expected}")
    return int(text)


def _shape(text: str) -> tuple[int, int, int, int]:
    sizes = [int(size) if size.isdigit() else 0 for size in text.split(",")]
    if len(sizes) != 4 or min(sizes) < 1:
        raise ValueError(f"--shapes has {text!r}: expected four sizes T,B,I,H, as 100,32,128,256")
    return tuple(sizes)


def _known(kind: str, names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in known:
            raise ValueError(f"no {kind} is called {name!r}; there are {', '.join(known)}")
    return names


def _select(
    kind: str, known: Sequence[Candidate], names: Sequence[str] | None, quick: bool
) -> list[Candidate]:
    by_name = {candidate.name: candidate for candidate in known}
    if names is None:
        return [candidate for candidate in known if not (quick and candidate.name in TOO_SLOW_FOR_QUICK)]
    return [by_name[name] for name in _known(kind, names, list(by_name))]


def _say_what_is_missing(arena: Arena, peers_python: str | None) -> None:
    python = find_peers_python(peers_python)
    for candidate in arena.missing:
        command = f"make peers, or {candidate.installation(python)}"
        print(f"{candidate.name} is left out: it needs {candidate.needs}. To install it: {command}")

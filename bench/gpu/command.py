"""`rnnlab bench gpu`: measure the suites' tasks, keep the record as it grows; without a GPU, a forecast.

This process never makes a CUDA context.  Each task runs in a child process with a time limit of its own.  A
contestant that hangs, is killed or breaks the context is left out, and the task is begun again without it.

Beside what every record has (see rnncourse.records):

    machine.gpu   name, memory, multiprocessors, driver, CUDA
    packages      versions
    cases         of each workload: suite, results (workload.Measurement), origin of the reference, seconds
    latencies, depth   what the tasks of that name measured
    left_out      tasks that have no case: name -> why
"""

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench.gpu.children import Limits, Outcome, run_task
from bench.gpu.floors import predicted_floors, predicted_stages
from bench.gpu.measure import TIME_WAS_OVER, MeasureSettings, first_line
from bench.gpu.record import RecordCopies, begin, resume
from bench.gpu.suites import APPLEYARD, Task, tasks_of
from bench.progress import show_progress
from pocketgpu.devices import find as find_device
from rnncourse import records
from rnncourse.records import gpu_report as report
from rnncourse.records.workload import Measurement
from rnnlab.gpu import card

MINUTES = 8.0  # after which no task is running any more
TASK_SECONDS = 120.0  # for all contestants of one workload
ENOUGH = 0.75  # part of a task's time after which it begins no other round and checks what it has
QUIET_SECONDS = 45.0  # without any message; the largest reference takes NumPy 31 s
LEAST_SECONDS = 10.0  # a task is not begun with less
REPEATS = 6  # how often a task is begun again, each time without the contestant that ended it


def run(chosen: argparse.Namespace) -> int:
    """The command; 0, 1 if something could not be kept, 2 for an option or a GPU that is missing."""
    try:
        tasks = tasks_of(chosen.suite, chosen.quick, chosen.only or (), chosen.skip or ())
    except ValueError as error:
        print(f"rnnlab bench gpu: {error}", file=sys.stderr)
        return 2
    if why := card.why_not():
        return _without_gpu(why, tasks, chosen)
    return _with_gpu(tasks, chosen)


def _without_gpu(why: str, tasks: list[Task], chosen: argparse.Namespace) -> int:
    print(f"Nothing can be measured: {why}.\n")
    try:
        device = find_device(chosen.device or "H200")
    except ValueError as error:
        print(f"rnnlab bench gpu: {error}", file=sys.stderr)
        return 2
    suites = {task.suite for task in tasks}
    for cell in ("lstm", "gru", "rnn_tanh") if suites != {"persistent"} else ():
        print(predicted_stages(APPLEYARD._replace(cell=cell), device), end="\n\n")
    if "persistent" in suites:
        layers = {task.workload for task in tasks if task.suite == "persistent" and task.workload}
        print(predicted_floors(sorted(layers), device))
    return 2 if chosen.record or chosen.out else 0


def _with_gpu(tasks: list[Task], chosen: argparse.Namespace) -> int:
    end = time.monotonic() + 60 * (chosen.minutes or MINUTES)
    settings = MeasureSettings(rounds=chosen.rounds or (3 if chosen.quick else MeasureSettings.rounds))
    described = run_task({"kind": "probe", "probe": "describe"}, Limits(QUIET_SECONDS))
    if described.reason:
        print(f"rnnlab bench gpu: the GPU cannot be described: {described.reason}", file=sys.stderr)
        print("\n".join(described.printed), file=sys.stderr)
        return 2
    record = begin(described.fields, asdict(settings))
    folders = [*([records.MEASURED] if chosen.record else []), *map(Path, filter(None, [chosen.out]))]
    store = RecordCopies(record, folders)
    if getattr(chosen, "continue") is not None:
        store.record = resume(record, getattr(chosen, "continue"), folders)
    print(report.heading(store.record), flush=True)
    for task in tasks:
        try:
            measure_task(task, settings, store, end)
            lines = findings(store.record, task)
        except Exception as error:  # what a task's process sent may be anything
            store.record["left_out"][task.name] = reason = first_line(error)
            lines = [f"{task.name}: {reason}"]
        for line in lines:
            print(f"WRONG: {line}", flush=True)
    store.finish()
    return 1 if store.failed else 0


def findings(record: dict, task: Task) -> list[str]:
    """What went wrong with a task: no measurement, or failed contestants; a refused shape is not counted."""
    if task.name in record["left_out"]:
        return [f"{task.name}: {record['left_out'][task.name]}"]
    if task.workload is None:
        return [f"{task.name}: {reason}"] if (reason := record[task.kind].get("left_out")) else []
    workload = task.workload._asdict()
    (case,) = (
        case for case in record["cases"] if (case["suite"], case["workload"]) == (task.suite, workload)
    )
    lines = [f"{task.name}: {case['left_out']}"] if case["left_out"] else []
    failed = [
        result
        for result in [Measurement(**fields) for fields in case["results"]]
        if result.left_out and not _refused(result)
    ]
    return lines + [f"{task.name}: {str_of(result)}: {result.left_out}" for result in failed]


def _refused(result: Measurement) -> bool:
    """Is it left out because this shape, dtype or size is not offered?"""
    return result.left_out.startswith("ValueError") or "has small_h up to" in result.left_out


def measure_task(task: Task, settings: MeasureSettings, store: RecordCopies, end: float) -> None:
    """Run one task, unless the record has it already; print and keep what comes back until then."""
    record = store.record
    if _has(record, task):
        print(f"{task.name}: measured before", flush=True)
        return
    record["left_out"].pop(task.name, None)
    if end - time.monotonic() < LEAST_SECONDS:
        record["left_out"][task.name] = TIME_WAS_OVER
        print(f"{task.name} is left out: {TIME_WAS_OVER}", flush=True)
        return store.write()
    start = time.monotonic()
    outcome, excluded = run_without_failures(task, settings, record, end)
    print(f"\n{task.name}, {time.monotonic() - start:.0f} s", flush=True)
    _add(record, task, outcome, excluded, time.monotonic() - start)
    store.write()


def run_without_failures(
    task: Task, settings: MeasureSettings, record: dict, end: float
) -> tuple[Outcome, list[Measurement]]:
    """The task's outcome, begun again without each contestant that ended its process; those, with reasons."""
    excluded: list[Measurement] = []
    while True:
        entries = [entry for entry in task.entries if str(entry) not in map(str_of, excluded)]
        message = {
            "kind": task.kind,
            "workload": task.workload,
            "entries": [[entry.name, entry.module, entry.dtype] for entry in entries],
            "settings": asdict(settings),
            "latencies": record.get("latencies"),
            "seconds": ENOUGH * (seconds := min(TASK_SECONDS, end - time.monotonic())),
        }
        outcome = run_task(
            message,
            Limits(seconds, min(QUIET_SECONDS, seconds)),
            lambda line: show_progress(f"{task.name}: {line}"),
        )
        broken = next((entry for entry in entries if str(entry) == outcome.at), None)
        if not outcome.reason or outcome.is_late or broken is None:
            return outcome, excluded
        excluded.append(Measurement(broken.name, broken.dtype, left_out=outcome.reason))
        again = len(excluded) <= REPEATS and end - time.monotonic() > LEAST_SECONDS
        if not again or len(entries) == 1:
            return outcome, excluded


def str_of(result: Measurement) -> str:
    """A result's contestant, as str(MeasuredEntry) has it."""
    return f"{result.name}, {result.dtype}"


def _has(record: dict, task: Task) -> bool:
    """Does the record have all of this task?"""
    if task.workload is None:
        return "left_out" not in record.get(task.kind, {"left_out": ""})
    return any(
        case["suite"] == task.suite and case["workload"] == task.workload._asdict() and not case["left_out"]
        for case in record["cases"]
    )


def _add(record: dict, task: Task, outcome: Outcome, excluded: list[Measurement], seconds: float) -> None:
    """Put what came back into the record, with the reason where it is not all."""
    if outcome.reason:
        print(*(f"  {line}" for line in outcome.printed), sep="\n", flush=True)
    if task.workload is None:
        record[task.kind] = outcome.fields.get(task.kind) or {"left_out": outcome.reason}
        describe = {"latencies": report.latencies, "depth": report.residual}[task.kind]
        print(describe(record[task.kind]), flush=True)
        return
    results = [Measurement(**fields) for fields in outcome.fields.get("results", ())]
    if outcome.reason:  # nobody looked at their numbers after the clock
        results = [_unchecked(result, outcome) for result in results]
    names = {str_of(result) for result in excluded}
    results = [result for result in results if str_of(result) not in names] + excluded
    case = {"workload": task.workload._asdict(), "suite": task.suite, "seconds": round(seconds, 1)}
    over = any(result.left_out.startswith(TIME_WAS_OVER) for result in results)
    reason = outcome.reason or TIME_WAS_OVER * over
    case |= {"left_out": reason, "reference": outcome.fields.get("reference", "")}
    others = [
        old for old in record["cases"] if (old["suite"], old["workload"]) != (task.suite, case["workload"])
    ]
    record["cases"] = [*others, case | {"results": [asdict(result) for result in results]}]
    print("\n".join(report.case(task.workload, results)), flush=True)


def _unchecked(result: Measurement, outcome: Outcome) -> Measurement:
    if not result.left_out:
        result.exclude(f"not checked after its turns: {outcome.reason}")
    return result

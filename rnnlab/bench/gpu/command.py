"""`rnnlab bench gpu`: measure what the suites ask for, keep it as it comes; without a GPU, what to expect.

Beside what every record has (see rnnlab.records): machine.gpu (name, memory, driver, CUDA), packages, and
cases: of each workload its results, as measure.Result says.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import metadata

from rnnlab import records
from rnnlab.bench.gpu import depth, report
from rnnlab.bench.gpu.floors import known_latencies, predicted_floors, with_floors
from rnnlab.bench.gpu.measure import CUDNN, LADDER, PERSISTENT, TENSOR, TORCH, Entry, Settings, measure
from rnnlab.bench.gpu.workload import Workload
from rnnlab.bench.provenance import provenance
from rnnlab.devices import find as find_device
from rnnlab.ladder import stage_passes
from rnnlab.schedule import card

KIND = "bench gpu"
MEASURED = (
    "rnnlab/schedule",
    "rnnlab/graphs",
    "rnnlab/ladder",
    "rnnlab/cells.py",
    "rnnlab/network.py",
    "rnnlab/bench/gpu",
)
TOLD = ("numpy", "cupy-cuda12x", "cupy-cuda13x", "torch", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
APPLEYARD = Workload("lstm", 100, 64, 512, 512, 4)  # the size of LSTM.cu and of the article's ladder
ALGORITHMS = ("standard", "persist_static", "persist_dynamic", "persist_static_small_h")
HALVES = ("float16", "bfloat16")
MINUTES = 8  # after which no other workload is begun, so that all ends within 9
OURS = [
    Entry("persistent", PERSISTENT),
    *(Entry("persistent_grid", TENSOR, each) for each in ("tf32", *HALVES)),
    *(Entry("persistent_cluster", TENSOR, each) for each in HALVES),
    *(Entry("graph_replay", LADDER, each) for each in ("float32", "tf32", "float16")),
]
THEIRS = [Entry("pytorch", TORCH, each) for each in ("float32", "tf32", *HALVES)]
THEIRS += [Entry(f"cudnn_{name}", CUDNN, "float16") for name in ALGORITHMS]
THEIRS += [Entry(f"cudnn_{name}", CUDNN, "bfloat16") for name in ALGORITHMS[:2]]
FLAT = [
    Entry("persistent", PERSISTENT),
    Entry("persistent_grid", TENSOR, "tf32"),
    Entry("graph_replay", LADDER, "tf32"),
    Entry("pytorch", TORCH, "tf32"),
]


def stages(quick: bool) -> Iterator[tuple[Workload, list[Entry]]]:
    """Every stage of the ladder, beside PyTorch."""
    ours = [Entry(name, LADDER) for name in stage_passes()]
    more = [Entry("graph_replay", LADDER, precision) for precision in ("tf32", "float16")]
    torch = [Entry("pytorch", TORCH, precision) for precision in ("float32", "tf32", "float16")]
    for cell in ("lstm",) if quick else ("lstm", "gru", "rnn_tanh"):
        yield APPLEYARD._replace(cell=cell), [*ours, *more, *torch]


def peers(quick: bool) -> Iterator[tuple[Workload, list[Entry]]]:
    """The last stage beside PyTorch and each of cuDNN's algorithms, in every precision, at several sizes."""
    precisions = ("float32", "tf32", *HALVES)
    entries = [Entry("graph_replay", LADDER, each) for each in ("float32", "tf32", "float16")]
    entries += [Entry("pytorch", TORCH, each) for each in precisions]
    entries += [Entry(f"cudnn_{name}", CUDNN, each) for name in ALGORITHMS for each in ("float32", "float16")]
    sizes = [(50, 16, 256, 1), (100, 64, 512, 1), (100, 64, 512, 4), (50, 32, 1024, 1), (25, 64, 1792, 1)]
    for cell in ("lstm",) if quick else ("lstm", "gru", "rnn_tanh"):
        for T, B, H, L in sizes[:2] if quick else sizes:
            yield Workload(cell, T, B, H, H, L), entries


def persistent(quick: bool) -> Iterator[tuple[Workload, list[Entry]]]:
    """Weights that stay beside weights that are read at every step."""
    lstm = [(1024, 8, 256), (1024, 8, 512), (256, 64, 256), (256, 64, 512), (256, 8, 1024), (256, 32, 1024)]
    sizes = [("lstm", *each) for each in lstm]
    sizes += [("gru", 256, 8, 512), ("gru", 256, 32, 1024), ("rnn_tanh", 256, 8, 1024)]
    for cell, T, B, H in sizes[:2] if quick else sizes:
        yield Workload(cell, T, B, H, H, 1), [*OURS, *THEIRS]
    if not quick:
        # PyTorch takes cuDNN's small-h algorithm by H alone; in 2021 somebody saw it five times slower here
        yield Workload("lstm", 256, 62, 168, 168, 1), THEIRS
        for B in (1, 2, 4, 8, 16, 32, 64):  # Diamos et al.'s layer: flat from 4 sequences on?
            yield Workload("rnn_tanh", 256, B, 1152, 1152, 1), FLAT


SUITES = {"stages": stages, "peers": peers, "persistent": persistent}


def run(chosen: argparse.Namespace) -> int:
    """The command; 0, or 2 where it was asked for what there is not."""
    suites = chosen.suite or list(SUITES)
    if unknown := [name for name in suites if name not in SUITES]:
        print(
            f"rnnlab bench gpu: no suite is called {unknown[0]!r}; there are {', '.join(SUITES)}",
            file=sys.stderr,
        )
        return 2
    if why := card.why_not():
        return _without_gpu(why, suites, chosen)
    return _with_gpu(suites, chosen)


def _without_gpu(why: str, suites: list[str], chosen: argparse.Namespace) -> int:
    print(f"Nothing can be measured: {why}.\n")
    try:
        device = find_device(chosen.device or "H200")
    except ValueError as error:
        print(f"rnnlab bench gpu: {error}", file=sys.stderr)
        return 2
    for cell in ("lstm", "gru", "rnn_tanh") if {*suites} != {"persistent"} else ():
        print(report.predicted(APPLEYARD._replace(cell=cell), device), end="\n\n")
    if "persistent" in suites:
        print(predicted_floors([workload for workload, _ in persistent(False)], device))
    return 2 if chosen.record else 0


def _with_gpu(suites: list[str], chosen: argparse.Namespace) -> int:
    settings = Settings(rounds=chosen.rounds or (3 if chosen.quick else Settings.rounds))
    record = provenance(KIND, MEASURED, asdict(settings) | {"suites": suites})
    record["machine"]["gpu"] = gpu()
    record |= {"packages": {name: _version(name) for name in TOLD if _version(name)}, "cases": []}
    print(report.heading(record), flush=True)
    begun = time.monotonic()
    for name in suites:
        known = known_latencies(record) if name == "persistent" else None
        for workload, entries in SUITES[name](chosen.quick):
            start = time.monotonic()
            if start - begun > 60 * MINUTES:
                record["left_out"] = [*record.get("left_out", []), f"{name}: {workload}"]
                print(f"{name}: {workload} is left out, {MINUTES} minutes are over", flush=True)
                continue
            results = with_floors(measure(workload, entries, settings, _say), workload, known)
            print(f"\n{name}: {workload}, {time.monotonic() - start:.0f} s")
            print("\n".join([report.table(workload, results), *report.left_out(results)]), flush=True)
            record["cases"].append(
                {"workload": workload._asdict(), "suite": name, "results": [asdict(each) for each in results]}
            )
            if chosen.record:
                records.write(records.place(record), record)
        if name == "persistent" and not chosen.quick and time.monotonic() - begun < 60 * MINUTES:
            record["depth"] = _depth()
    if chosen.record:
        _keep(record)
    return 0


def _keep(record: dict) -> None:
    partial, complete = records.place(record), record | {"complete": True}
    records.write(records.place(complete), complete)
    partial.unlink(missing_ok=True)
    print(f"\nkept as {records.place(complete)}")


def _depth() -> dict:
    """See depth.py; a failure is kept as its reason, since what was timed before is worth keeping."""
    try:
        found = depth.measured()
    except Exception as error:  # out of memory, blocks that do not meet, …
        found = {"left_out": f"{type(error).__name__}: {error}"}
    print(depth.told(found), flush=True)
    return found


def gpu() -> dict:
    """The current card."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return {
        "name": properties["name"].decode(),
        "memory": properties["totalGlobalMem"],
        "multiprocessors": properties["multiProcessorCount"],
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _say(said: str) -> None:
    """One line that is written over and over, where somebody looks at it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{said}", end="", file=sys.stderr, flush=True)

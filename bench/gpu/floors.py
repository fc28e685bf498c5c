"""Floors under the persistent kernels, from latencies of the same run or from paper; predicted stages."""

from itertools import product

from bench.gpu import latencies
from bench.gpu.tensor_layers import BULK, NAMES, shape_of
from pocketgpu.devices import Device
from rnncourse.records import gpu_report as report
from rnncourse.records.workload import Measurement, Workload
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence.floor import Latencies, floor, latencies_of
from rnnlab.ladder import stage_passes
from rnnlab.ladder.chooser import Abilities, abilities, choose
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict

HEAD = "workload", "kernel", "exchange", "broadcast", "product", "floor, µs a step", "chosen"


def known(measured: dict[str, float]) -> tuple[Device, Latencies]:
    """The GPU at hand, and its latencies as the floor takes them."""
    return abilities().sheet, latencies.as_latencies(measured)


def with_floors(
    results: list[Measurement], workload: Workload, known: tuple[Device, Latencies]
) -> list[Measurement]:
    """The results, with a floor where a persistent kernel in CUDA C++ was timed."""
    for result in results:
        if result.name in (*NAMES, BULK) and not result.left_out:
            shape = shape_of(result.name, workload, result.dtype, known[0])
            result.floor = floor(shape, workload.B, *known).step
    return results


def predicted_floors(workloads: list[Workload], device: Device) -> str:
    """A table that the first run on a GPU fills: floors on paper, and which way would be chosen."""
    rows = [HEAD]
    refused = {}
    for workload, dtype, name in product(workloads, ("tf32", "bfloat16"), NAMES):
        head = f"{workload.cell} H={workload.H} B={workload.B}", f"{dtype}, {name}"
        chosen = choose(workload.cell, workload.H, dtype, workload[1:3], Abilities(device)).name
        try:
            bound = floor(shape_of(name, workload, dtype, device), workload.B, device)
        except ValueError as error:
            refused.setdefault(str(error), []).append(f"{head[0]}, {dtype}")
            continue
        rows.append((*head, *(f"{part:.2f}" for part in (*bound, bound.step)), chosen))
    title = f"floors on paper for one {device.name}, not measured; measured ones need a GPU"
    reasons = [f"not there: {', '.join(dict.fromkeys(where))}: {why}" for why, where in refused.items()]
    return "\n".join([title, report.aligned(rows), *reasons, f"on paper: {latencies_of(device)}"])


def predicted_stages(workload: Workload, device: Device) -> str:
    """The stages by the timeline model: what a measurement is expected to show, and no measurement."""
    rows = [("stage", "", "forward ms", "backward ms", "step ms", "× naive", "launches")]
    first = None
    for name, passes in stage_passes().items():
        sizes = Sizes(*workload[1:])
        plans = [
            plan_for(way, find_cell(workload.cell).name, sizes, passes) for way in ("forward", "backward")
        ]
        times = [1e-3 * predict(plan, device).makespan for plan in plans]
        step = sum(times)
        first = first or step
        launches = sum(plan.count() for plan in plans)
        rows.append(
            (name, "", *(f"{time:.2f}" for time in (*times, step)), f"{first / step:.1f}", str(launches))
        )
    return (
        f"predicted by the timeline model for one {device.name}, float32: {workload}\n{report.aligned(rows)}"
    )

"""A GPU record, or the model's prediction of one, as tables."""

from rnnlab.bench.gpu import depth
from rnnlab.bench.gpu.measure import Result
from rnnlab.bench.gpu.workload import PARTS, Workload
from rnnlab.devices import Device
from rnnlab.ladder import stage_passes
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict

NAIVE, CUDNN = "kernel_per_operation", "pytorch"
HEAD = (
    *("contestant", "precision", "forward ms", "backward ms", "step ms", "× naive", "× pytorch"),
    *("µs a time step", "forward", "its floor", "TFLOP/s", "launches", "MB", "same bits"),
)


def page(record: dict) -> str:
    """Everything a record says, for a terminal."""
    told = [heading(record)]
    if "latencies" in record:
        told.append(latencies(record["latencies"]))
    for case in record["cases"]:
        workload = Workload(*case["workload"].values())
        results = [Result(**each) for each in case["results"]]
        told += [f"{workload}", table(workload, results), *left_out(results)]
    if "depth" in record:
        told.append(depth.told(record["depth"]))
    told += [f"left out, time was over: {each}" for each in record.get("left_out", [])]
    return "\n\n".join(told)


def latencies(found: dict[str, float | str]) -> str:
    """Exchanges, as measured before the suite `persistent`; or why they are not there."""
    each = (f"{name} {value if isinstance(value, str) else f'{value:.4g}'}" for name, value in found.items())
    return f"exchanges, µs, GB/s, or how many at once: {', '.join(each)}"


def heading(record: dict) -> str:
    """Where and when, on what."""
    device = record["machine"].get("gpu", {})
    versions = ", ".join(f"{name} {version}" for name, version in record.get("packages", {}).items())
    return f"{device.get('name', 'no GPU')}, driver {device.get('driver', '–')}; {record['date']}; {versions}"


def table(workload: Workload, results: list[Result]) -> str:
    """A line for each contestant that was timed."""
    naive = {r.precision: r for r in results if r.name == NAIVE}.get("float32")
    peers = {r.precision: r for r in results if r.name == CUDNN}
    rows = [_row(workload, each, naive, peers.get(each.precision)) for each in results if each.median("step")]
    return aligned([HEAD, *rows])


def aligned(rows: list[tuple[str, ...]]) -> str:
    """Rows as columns of equal width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    line = lambda row: "  ".join(f"{cell:{'<' if c < 2 else '>'}{widths[c]}}" for c, cell in enumerate(row))
    return "\n".join(line(row).rstrip() for row in rows)


def left_out(results: list[Result]) -> list[str]:
    """Who has no times, and why."""
    return [f"{each.name}, {each.precision}: {each.left_out}" for each in results if each.left_out]


def over(other: Result | None, one: Result, part: str = "step") -> float | None:
    """How many times as fast `one` is as the other."""
    theirs = other.median(part) if other else None
    return theirs / one.median(part) if theirs else None


def _row(workload: Workload, each: Result, naive: Result | None, peer: Result | None) -> tuple[str, ...]:
    step = each.median("step")
    ratio = lambda value: "" if value is None else f"{value:.2f}"
    return (
        each.name,
        each.precision,
        *(f"{1e3 * each.median(part):.3f}" for part in PARTS),
        ratio(over(naive, each)),
        ratio(over(peer, each)),
        *(f"{1e6 * seconds / workload.T:.2f}" for seconds in (step, each.median("forward"))),
        "" if each.floor is None else f"{each.floor:.2f}",
        f"{1e-12 * workload.flops('step') / step:.2f}",
        str(each.launches.get("step") or ""),
        f"{each.bytes / 1e6:.0f}",
        {True: "yes", False: "no", None: ""}[each.same_bits],
    )


def predicted(workload: Workload, device: Device) -> str:
    """The stages by the timeline model: what a measurement is expected to show, and no measurement."""
    rows, first = [("stage", "", "forward ms", "backward ms", "step ms", "× naive", "launches")], None
    for name, passes in stage_passes().items():
        sizes = Sizes(*workload[1:])
        plans = [plan_for(way, _plan_cell(workload.cell), sizes, passes) for way in ("forward", "backward")]
        times = [1e-3 * predict(plan, device).makespan for plan in plans]
        step = sum(times)
        first = first or step
        launches = sum(plan.count() for plan in plans)
        rows.append(
            (name, "", *(f"{each:.2f}" for each in (*times, step)), f"{first / step:.1f}", str(launches))
        )
    return f"predicted by the timeline model for one {device.name}, float32: {workload}\n{aligned(rows)}"


def _plan_cell(cell: str) -> str:
    return "gru_after" if cell == "gru" else cell

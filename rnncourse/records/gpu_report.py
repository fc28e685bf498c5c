"""A GPU record as tables."""

from collections.abc import Sequence

from rnncourse import records
from rnncourse.records.workload import PARTS, Measurement, Workload

NAIVE = "kernel_per_operation"
PYTORCH = "pytorch"
HALVES = ("float16", "bfloat16")
HEAD = (
    *("contestant", "dtype", "forward ms", "backward ms", "step ms", "× naive", "× pytorch"),
    *("µs a time step", "forward", "kernel", "its floor", "TFLOP/s", "launches", "host", "MB", "same bits"),
)
STANDARD = "cuDNN has no persistent kernels in bfloat16: for persist_static it takes its standard path"
HOST = (
    "host: part of the step in which Python issues launches; near 100 % the host sets the pace, not the GPU"
)
BUSY_HOST = 0.5  # of a step, above which × naive compares Python's launches


def page(record: dict) -> str:
    """Everything a record says, for a terminal."""
    lines = [heading(record)]
    if "latencies" in record:
        lines.append(latencies(record["latencies"]))
    for entry in record["cases"]:
        workload = Workload(**entry["workload"])
        results = [Measurement(**result) for result in entry["results"]]
        lines += [f"{workload} (T×B×I×H)", *case(workload, results)]
        if entry.get("left_out"):
            lines.append(f"not finished: {entry['left_out']}")
        if entry.get("reference"):
            lines.append(f"reference: {entry['reference']}")
    if "depth" in record:
        lines.append(residual(record["depth"]))
    left_out = record.get("left_out") or {}
    lines += [f"not measured: {name}: {reason}" for name, reason in left_out.items()]
    return "\n\n".join(lines)


def latencies(measured: dict[str, float | str]) -> str:
    """Exchanges, as measured before the suite `persistent`; or why they were not."""
    numbers = {name: v if isinstance(v, str) else f"{v:.4g}" for name, v in measured.items()}
    listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
    return f"exchanges, µs, GB/s, or how many at once: {listed}"


def residual(measured: dict[str, dict | str]) -> str:
    """The shallow and the deep residual network of depth.py in a sentence, or why they were not measured."""
    if "left_out" in measured:
        return f"residual RNN: {measured['left_out']}"

    def sentence(network):
        losses = network["losses"]
        size = f"{network['layers']} layers at minibatch {network['sequences']}"
        return f"{size} in {network['bytes'] / 1e9:.2f} GB, loss {losses[0]:.4g} → {losses[-1]:.4g}"

    return f"residual RNN: {sentence(measured['shallow'])}; {sentence(measured['deep'])}"


def heading(record: dict) -> str:
    """The GPU, the date, the code and the versions."""
    device = record["machine"].get("gpu", {})
    versions = ", ".join(f"{name} {version}" for name, version in record.get("packages", {}).items())
    code = f"; {records.origin(record)}" if "commit" in record else ""
    gpu = f"{device.get('name', 'no GPU')}, driver {device.get('driver', '–')}"
    return f"{gpu}; {record['date']}{code}; {versions}"


def case(workload: Workload, results: list[Measurement]) -> list[str]:
    """The table of one workload, what must be known to read it, and who has no times."""
    timed = [result for result in results if result.median("step")]
    notes = []
    if any(label(result) != result.name for result in timed):
        notes.append(f"* {STANDARD}")
    if any(share and share > BUSY_HOST for share in map(host_share, timed)):
        notes.append(HOST)
    left_out = [f"{one.name}, {one.dtype}: {one.left_out}" for one in results if one.left_out]
    return [table(workload, results), *notes, *against_halves(timed), *left_out]


def label(result: Measurement) -> str:
    """The contestant's name, with a star where cuDNN runs something else than its name says."""
    is_standard = result.name == "cudnn_persist_static" and result.dtype == "bfloat16"
    return f"{result.name}*" if is_standard else result.name


def host_share(result: Measurement) -> float | None:
    """Part of a step's time that the host needs to issue it; None where that is not known."""
    return None if result.host is None or not result.median("step") else result.host / result.median("step")


def against_halves(timed: list[Measurement]) -> list[str]:
    """Our 16-bit kernels beside the fastest peer in any 16-bit type; cuDNN's persistent ones are float16."""
    halves = [result for result in timed if result.dtype in HALVES]
    peers = [result for result in halves if result.name == PYTORCH or result.name.startswith("cudnn_")]
    lines = []
    for result in halves if peers else ():
        if result not in peers:
            parts = (_beside(result, peers, part) for part in ("forward", "step"))
            lines.append(f"{result.name}, {result.dtype}: {'; '.join(parts)}")
    return lines


def _beside(result: Measurement, peers: list[Measurement], part: str) -> str:
    best = min(peers, key=lambda peer: peer.median(part))
    return f"{part} {over(best, result, part):.2f} × the best 16-bit peer ({label(best)}, {best.dtype})"


def table(workload: Workload, results: list[Measurement]) -> str:
    """A line for each contestant that was timed."""
    naive = {r.dtype: r for r in results if r.name == NAIVE}.get("float32")
    peers = {r.dtype: r for r in results if r.name == PYTORCH}
    rows = [_row(workload, r, naive, peers.get(r.dtype)) for r in results if r.median("step")]
    return aligned([HEAD, *rows])


def aligned(rows: Sequence[Sequence[str]], texts: int = 2) -> str:
    """Rows as columns of equal width, the first `texts` of them aligned on the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def line(row):
        return "  ".join(f"{cell:{'<' if c < texts else '>'}{widths[c]}}" for c, cell in enumerate(row))

    return "\n".join(line(row).rstrip() for row in rows)


def over(other: Measurement | None, one: Measurement, part: str = "step") -> float | None:
    """How many times as fast `one` is as the other."""
    theirs = other.median(part) if other else None
    return theirs / one.median(part) if theirs else None


def _row(
    workload: Workload, result: Measurement, naive: Measurement | None, peer: Measurement | None
) -> tuple[str, ...]:
    ratio = lambda value: "" if value is None else f"{value:.2f}"
    of_step = lambda seconds: ratio(None if seconds is None else 1e6 * seconds / workload.T)
    step = result.median("step")
    share = host_share(result)
    return (
        label(result),
        result.dtype,
        *(f"{1e3 * result.median(part):.3f}" for part in PARTS),
        ratio(over(naive, result)),
        ratio(over(peer, result)),
        *(of_step(result.median(part)) for part in ("step", "forward", "kernel")),
        ratio(result.floor),
        f"{1e-12 * workload.flops('step') / step:.2f}",
        str(result.launches.get("step") or ""),
        "" if share is None else f"{min(1.0, share):.0%}",
        f"{result.bytes / 1e6:.0f}",
        {True: "yes", False: "no", None: ""}[result.same_bits],
    )

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
    numbers = []
    for name, value in measured.items():
        number = value if isinstance(value, str) else f"{value:.4g}"
        numbers.append(f"{name} {number}")
    listed = ", ".join(numbers)
    return f"exchanges, µs, GB/s, or how many at once: {listed}"


def residual(measured: dict[str, dict | str]) -> str:
    """The shallow and the deep residual network of depth.py in a sentence, or why they were not measured."""
    if "left_out" in measured:
        return f"residual RNN: {measured['left_out']}"

    def sentence(network):
        losses = network["losses"]
        size = f"{network['layers']} layers at minibatch {network['sequences']}"
        gigabytes = network["bytes"] / 1e9
        return f"{size} in {gigabytes:.2f} GB, loss {losses[0]:.4g} → {losses[-1]:.4g}"

    shallow = sentence(measured["shallow"])
    deep = sentence(measured["deep"])
    return f"residual RNN: {shallow}; {deep}"


def heading(record: dict) -> str:
    """The GPU, the date, the code and the versions."""
    device = record["machine"].get("gpu", {})
    name = device.get("name", "no GPU")
    driver = device.get("driver", "–")
    packages = record.get("packages", {})
    versions = ", ".join(f"{package} {version}" for package, version in packages.items())
    code = f"; {records.origin(record)}" if "commit" in record else ""
    return f"{name}, driver {driver}; {record['date']}{code}; {versions}"


def case(workload: Workload, results: list[Measurement]) -> list[str]:
    """The table of one workload, what must be known to read it, and who has no times."""
    timed = [result for result in results if result.median("step")]
    notes = []
    if any(label(result) != result.name for result in timed):
        notes.append(f"* {STANDARD}")
    shares = [host_share(result) or 0.0 for result in timed]
    if any(share > BUSY_HOST for share in shares):
        notes.append(HOST)
    left_out = [f"{one.name}, {one.dtype}: {one.left_out}" for one in results if one.left_out]
    return [table(workload, results), *notes, *against_halves(timed), *left_out]


def label(result: Measurement) -> str:
    """The contestant's name, with a star where cuDNN runs something else than its name says."""
    is_standard = result.name == "cudnn_persist_static" and result.dtype == "bfloat16"
    return f"{result.name}*" if is_standard else result.name


def host_share(result: Measurement) -> float | None:
    """Part of a step's time that the host needs to issue it; None where that is not known."""
    step = result.median("step")
    if result.host is None or not step:
        return None
    return result.host / step


def against_halves(timed: list[Measurement]) -> list[str]:
    """Our 16-bit kernels beside the fastest peer in any 16-bit type; cuDNN's persistent ones are float16."""
    halves = [result for result in timed if result.dtype in HALVES]
    peers = [result for result in halves if _is_peer(result.name)]
    if not peers:
        return []
    lines = []
    for result in halves:
        if not _is_peer(result.name):
            forward = _beside(result, peers, "forward")
            step = _beside(result, peers, "step")
            lines.append(f"{result.name}, {result.dtype}: {forward}; {step}")
    return lines


def _is_peer(name: str) -> bool:
    return name == PYTORCH or name.startswith("cudnn_")


def _beside(result: Measurement, peers: list[Measurement], part: str) -> str:
    best = min(peers, key=lambda peer: peer.median(part))
    ratio = over(best, result, part)
    return f"{part} {ratio:.2f} × the best 16-bit peer ({label(best)}, {best.dtype})"


def table(workload: Workload, results: list[Measurement]) -> str:
    """A line for each contestant that was timed."""
    naive = {result.dtype: result for result in results if result.name == NAIVE}.get("float32")
    peers = {result.dtype: result for result in results if result.name == PYTORCH}
    rows = [HEAD]
    for result in results:
        if result.median("step"):
            peer = peers.get(result.dtype)
            rows.append(_row(workload, result, naive, peer))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]], texts: int = 2) -> str:
    """Rows as columns of equal width, the first `texts` of them aligned on the left."""
    columns = []
    for number, cells in enumerate(zip(*rows, strict=True)):
        width = max(map(len, cells))
        side = "<" if number < texts else ">"
        columns.append([f"{cell:{side}{width}}" for cell in cells])
    lines = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    return "\n".join(line.rstrip() for line in lines)


def over(other: Measurement | None, one: Measurement, part: str = "step") -> float | None:
    """How many times as fast `one` is as the other."""
    theirs = other.median(part) if other else None
    return theirs / one.median(part) if theirs else None


def _row(
    workload: Workload, result: Measurement, naive: Measurement | None, peer: Measurement | None
) -> tuple[str, ...]:
    milliseconds = [1e3 * result.median(part) for part in PARTS]
    of_time_step = []  # µs
    for part in ("step", "forward", "kernel"):
        seconds = result.median(part)
        microseconds = None if seconds is None else 1e6 * seconds / workload.T
        of_time_step.append(_ratio(microseconds))
    teraflops = 1e-12 * workload.flops("step") / result.median("step")
    launches = result.launches.get("step") or ""
    share = host_share(result)
    host = "" if share is None else f"{min(1.0, share):.0%}"
    megabytes = result.bytes / 1e6
    return (
        label(result),
        result.dtype,
        *(f"{value:.3f}" for value in milliseconds),
        _ratio(over(naive, result)),
        _ratio(over(peer, result)),
        *of_time_step,
        _ratio(result.floor),
        f"{teraflops:.2f}",
        str(launches),
        host,
        f"{megabytes:.0f}",
        {True: "yes", False: "no", None: ""}[result.same_bits],
    )


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"

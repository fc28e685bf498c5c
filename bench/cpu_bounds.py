"""What bounds the targets that a record misses: counts of arithmetic and bytes, beside the record's rates."""

from bench import cpu_tables
from bench.cpu_targets import (
    GAIN_OF_16_BITS,
    GAINS_AT,
    GAINS_OF_WEIGHTS,
    INT8_OVER_PEERS,
    NARROW,
    NARROW_BYTES,
    NARROW_OVER_PYTORCH,
    OVER_PYTORCH,
    SMALL,
    SMALL_OVER_PYTORCH,
    STEP_OVER_PEERS,
    STEP_OVER_WEIGHTS,
    TARGETS,
    WHOLE,
    WIDE_STEPS,
    int8_over_peers,
    narrow_bytes,
    narrow_over_float32,
    narrow_over_torch,
    part_of_gemm,
    step_over_peers,
)
from bench.peers.blas_products import LARGE, LARGE_FLOPS
from bench.step_report import STEPS_OF_8_BITS, step_over_weights, step_speed
from rnncourse.records.cpu_report import NO_STEPS, PYTORCH, gflops, median, speed_over
from rnncourse.records.workload import Workload
from rnnlab.cells import find_cell

NUMBER_BYTES = 4
NONE_MISSED = "No target is missed."


def missed(record: dict) -> str:
    """A paragraph for each target that the record misses."""
    paragraphs = [*_slower(record), *_part_of_gemm(record), *_memory(record), *_steps(record)]
    paragraphs += [*_narrow_training(record), *_narrow_bytes(record), *_narrow_steps(record)]
    return "\n".join(f"- {paragraph}" for paragraph in paragraphs) or NONE_MISSED


def _slower(record: dict) -> list[str]:
    """Each size at which the best rung is slower than its target over PyTorch."""
    paragraphs = []
    for case in record["cases"]:
        workload = Workload(**case["workload"])
        is_small = (workload.cell, *shape(case)) == ("lstm", *SMALL)
        factor = SMALL_OVER_PYTORCH if is_small else OVER_PYTORCH.get(workload.cell)
        ratio = speed_over(record, case, PYTORCH)
        theirs = gflops(case, PYTORCH)
        if None in (factor, ratio) or ratio >= factor:
            continue
        large, bare = (gflops(case, name) for name in ("gemm_large", "gemm_step"))
        paragraphs.append(
            f"**{name(workload)}**, {ratio:.3f} times PyTorch's rate: {factor:g} times is "
            f"{factor * theirs:.0f} GFLOP/s, {factor * theirs / large:.0%} of the large product's "
            f"{large:.0f}; the step's products with nothing between them reach {bare:.0f} in NumPy's BLAS. "
            + _recurrence(workload, large, record["machine"].get("caches", {}).get("L2"))
        )
    return paragraphs


def _recurrence(workload: Workload, large: float, cache: int | None) -> str:
    """Counts of one time step's recurrent product."""
    cell, _, B, _, H, _ = workload
    gates = len(find_cell(cell).gates)
    weights = NUMBER_BYTES * gates * H**2
    flop = 2 * B * gates * H**2
    if cache and weights > cache:
        return (
            f"Each time step reads {_mb(weights)} of recurrent weights, {weights / cache:.1f} times a core's "
            f"second-level cache, and computes {flop / weights:.0f} FLOP with each byte."
        )
    return (
        f"A time step's recurrent product is {1e-6 * flop:.1f} MFLOP, {1e-3 * flop / large:.0f} µs at the "
        "large product's rate: too short for what precedes and follows each product to vanish beside it."
    )


def _part_of_gemm(record: dict) -> list[str]:
    """Steps that reach less of the large product's rate than they should."""
    (target,) = (target for target in TARGETS if target.value is part_of_gemm)
    wide = [case for case in record["cases"] if shape(case) in WIDE_STEPS]
    parts = {Workload(**case["workload"]): cpu_tables.part_of_gemm(record, case) for case in wide}
    bound = target.bound
    low = {workload: part for workload, part in parts.items() if part is not None and part < bound}
    if not low:
        return []
    reached = ", ".join(f"{part:.0%} for {name(workload)}" for workload, part in low.items())
    densities = [workload.flops() / bytes_passed(workload) for workload in low]
    products = [workload.flops() / (workload.T * workload.B * workload.H) for workload in low]
    large = LARGE_FLOPS / (3 * NUMBER_BYTES * LARGE**2)
    return [
        f"**Part of the large product's rate**: {reached}; the target is {bound:.0%}. The large product "
        f"computes {large:.0f} FLOP with each byte of its three matrices. In these steps x is read twice and "
        "dx written, h written and read twice, dy read and, but for a plain RNN, gates and one more number a "
        "unit written and read: "
        f"{_range(densities)} FLOP a byte. A unit's nonlinearities and their gradients stand beside "
        f"{_range(products)} FLOP of its products in a time step."
    ]


def bytes_passed(workload: Workload) -> int:
    """Bytes of a step's arrays over all time steps, as often as they must be read or written."""
    _, T, B, I, H, _ = workload
    gates = len(find_cell(workload.cell).gates)
    stored = 2 * (gates + 1) if gates > 1 else 0
    return NUMBER_BYTES * T * B * (3 * I + (4 + stored) * H)


def _memory(record: dict) -> list[str]:
    """The size whose step needs more memory than PyTorch's by the largest factor."""
    over = [(cpu_tables.memory_over_pytorch(record, case) or 0.0, case) for case in record["cases"]]
    ratio, case = max(over, key=lambda pair: pair[0], default=(0.0, None))
    if ratio <= 1:
        return []
    workload = Workload(**case["workload"])
    theirs = case["memory"][PYTORCH]
    _, T, B, I, H, _ = workload
    gates = len(find_cell(workload.cell).gates)
    states = (T + 1) * B * H
    dx = T * B * I
    weights = gates * H * (I + H)
    stored = T * B * H * (gates + 1) if gates > 1 else 0
    arrays = {"states": states, "gates and one more number a unit": stored, "dx": dx, "gradients": weights}
    counts = ", ".join(f"{what} {_mb(NUMBER_BYTES * size)}" for what, size in arrays.items() if size)
    total = NUMBER_BYTES * sum(arrays.values())
    return [
        f"**Memory of {name(workload)}**, {ratio:.2f} times PyTorch's {_mb(theirs)}: what must be stored or "
        f"returned is {_mb(total)} ({counts}); packed weights and a block's operands come on top."
    ]


def _steps(record: dict) -> list[str]:
    """Steps of one sequence that miss a target, beside what reading the weights takes."""
    cases = record.get("steps", NO_STEPS)["cases"]
    missed = [sentence for case in cases if (sentence := _slow_step(case))]
    if not missed:
        return []
    H = min(case["workload"]["H"] for case in cases)
    narrow = [case for case in cases if case["workload"]["H"] == H]
    reading = [1e6 * median(case, "weights") for case in narrow]
    beside = [1e6 * median(case, "inference") - time for case, time in zip(narrow, reading, strict=True)]
    left = [(STEP_OVER_WEIGHTS - 1) * time for time in reading]
    return [
        f"**One step of one sequence**: {'; '.join(missed)}. A step of {H} units takes {_range(beside, 1)} "
        "µs beside reading its weights: a call from Python with its checks, and the nonlinearities; "
        f"{STEP_OVER_WEIGHTS:g} times the reading leaves {_range(left, 1)} µs for them."
    ]


def _slow_step(case: dict) -> str:
    """What a step misses; empty if it meets its targets."""
    peers = step_over_peers(case)
    weights = step_over_weights(case)
    reading = median(case, "weights")
    figures = []
    if peers is not None and peers < STEP_OVER_PEERS:
        needed = peers * median(case, "inference") / STEP_OVER_PEERS
        figures.append(
            f"{peers:.2f} times the fastest peer ({STEP_OVER_PEERS:g} times is {1e6 * needed:.1f} µs, "
            f"{needed / reading:.2f} times reading the weights)"
        )
    if weights is not None and weights > STEP_OVER_WEIGHTS:
        figures.append(f"{weights:.2f} times reading the weights")
    return f"{case['workload']['cell']} H {case['workload']['H']}, {' and '.join(figures)}" if figures else ""


def _narrow_training(record: dict) -> list[str]:
    """Each size at which a training step in 16 bits gains less than it should."""
    paragraphs = []
    for case in record["cases"]:
        gain = narrow_over_float32(record, case)
        over_torch = narrow_over_torch(case)
        if shape(case) not in WIDE_STEPS or None in (gain, over_torch):
            continue
        if gain >= GAIN_OF_16_BITS and over_torch >= NARROW_OVER_PYTORCH:
            continue
        workload = Workload(**case["workload"])
        narrow = 1e3 * median(case, NARROW)
        whole = gain * narrow
        products = 1e-6 * workload.flops() / gflops(case, "gemm_large")
        paragraphs.append(
            f"**{name(workload)} in 16 bits**, {gain:.2f} times the best rung in float32 and "
            f"{over_torch:.2f} times PyTorch's fastest: its products take {products:.1f} ms at the large "
            f"product's rate in float32, and the best rung takes {whole:.1f} ms. An instruction multiplies "
            f"twice as many numbers of 16 bits; if nothing else were faster, the step would take "
            f"{whole - products / 2:.1f} ms ({whole / (whole - products / 2):.2f} times). "
            f"It takes {narrow:.1f} ms."
        )
    return paragraphs


def _narrow_bytes(record: dict) -> list[str]:
    """Each size at which a training step in 16 bits adds more bytes than it should, beside what it must."""
    paragraphs = []
    for case in record["cases"]:
        ratio = narrow_bytes(case)
        if shape(case) not in WIDE_STEPS or ratio is None or ratio <= NARROW_BYTES:
            continue
        workload = Workload(**case["workload"])
        whole = case["memory"][WHOLE]
        results, saved, weights = needed = bytes_needed(workload)
        paragraphs.append(
            f"**Bytes of {name(workload)} in 16 bits**, {ratio:.2f} times float32's {_mb(whole)}; "
            f"{NARROW_BYTES:g} times is {_mb(NARROW_BYTES * whole)}. Results are float32, as every rung's: "
            f"y, which is also the h that is saved, dx and gradients take {_mb(results)}, "
            f"{results / whole:.2f} times. In 16 bits are {_mb(saved)} of saved gates and cells and "
            f"{_mb(weights)} of recurrent weights: {sum(needed) / whole:.2f} times in all."
        )
    return paragraphs


def bytes_needed(workload: Workload) -> tuple[int, int, int]:
    """Bytes of a training step in 16 bits that exist at its end: results, saved values, recurrent weights.

    Results are float32, and y is the h that is saved; beside it gates and one more number a unit are.
    """
    cell, T, B, I, H, _ = workload
    gates = len(find_cell(cell).gates)
    saved = T * B * H * (gates + 1) if gates > 1 else 0
    results = T * B * (H + I) + gates * H * (I + H + 2)
    return NUMBER_BYTES * results, 2 * saved, 2 * gates * H**2


def _narrow_steps(record: dict) -> list[str]:
    """Steps of one sequence that gain less by narrow weights than they should, beside reading these."""
    missed = []
    for case in record.get("steps", NO_STEPS)["cases"]:
        H = case["workload"]["H"]
        goals = [("int8", INT8_OVER_PEERS, STEPS_OF_8_BITS)] if int8_over_peers(case) else []
        if H == GAINS_AT:
            goals += [(weights, factor, ("inference",)) for weights, factor in GAINS_OF_WEIGHTS.items()]
        missed += [sentence for goal in goals if (sentence := _slow_narrow_step(case, *goal))]
    return missed


def _slow_narrow_step(case: dict, weights: str, factor: float, others: tuple[str, ...]) -> str:
    """What a step with narrow weights misses; empty if it meets its target."""
    speed = step_speed(case, *others, ours=f"inference_{weights}")
    reading = median(case, f"weights_{weights}")
    if None in (speed, reading) or speed >= factor:
        return ""
    workload = Workload(**case["workload"])
    own = median(case, f"inference_{weights}")
    number_bytes = 1 if weights == "int8" else 2
    size = number_bytes * len(find_cell(workload.cell).gates) * workload.H * (workload.I + workload.H)
    against = "float32" if others == ("inference",) else "the fastest peer of 8 bits"
    return (
        f"**One step with {weights} weights, {workload.cell} H {workload.H}**, {speed:.2f} times {against}: "
        f"{factor:g} times is {1e6 * own * speed / factor:.1f} µs. Its products alone, without a call from "
        f"Python, take {1e6 * reading:.1f} µs: they read {_mb(size)} at {1e-9 * size / reading:.0f} GB/s. "
        f"{1e6 * (own - reading):.1f} µs remain for the call, the rounding of inputs and the nonlinearities."
    )


def shape(case: dict) -> tuple[int, ...]:
    """T, B, I, H of a case."""
    return tuple(case["workload"][letter] for letter in "TBIH")


def name(workload: Workload) -> str:
    """A workload in the words of the page."""
    cell, T, B, I, H, _ = workload
    return f"{cell} {T}×{B}, {I}×{H}"


def _mb(size: float) -> str:
    return f"{1e-6 * size:.1f} MB"


def _range(values: list[float], digits: int = 0) -> str:
    low = f"{min(values):.{digits}f}"
    high = f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"

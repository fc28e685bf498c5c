"""Tables of one sequence from a CPU record: of one step without gradients, and of long ones by a scan."""

from bench import cpu_tables
from bench.cpu_tables import Rows, digits, markdown_table, spread, times
from rnncourse.records.cpu_report import NO_STEPS, cells, median
from rnnlab.narrow import CONVERSIONS

TORCH_STEPS = "pytorch_module", "pytorch_cell"
STEPS_OF_8_BITS = "pytorch_int8", "onnxruntime_int8"


def page(record: dict) -> str:
    """Everything that a CPU record says, for a terminal: training steps, then those of one sequence."""
    return "\n\n".join([cpu_tables.page(record), *steps(record), *scans(record)])


def steps(record: dict) -> list[str]:
    """A table of one step of one sequence without gradients for each cell, with its title."""
    section = record.get("steps", NO_STEPS)
    title = "one step of one sequence without gradients, µs"
    table = lambda cell: markdown_table(_step_rows(section, cell))
    return [f"{cell}, {title}\n\n{table(cell)}" for cell in cells(section)]


def scans(record: dict) -> list[str]:
    """A table of one long sequence of min_gru for each number of units, with its title."""
    section = record.get("scans", NO_STEPS)
    widths = dict.fromkeys(case["workload"]["H"] for case in section["cases"])
    title = "min_gru, {} units, one training step of one sequence, ms"
    return [f"{title.format(H)}\n\n{markdown_table(_scan_rows(section, H))}" for H in widths]


def _scan_rows(section: dict, H: int) -> Rows:
    cases = [case for case in section["cases"] if case["workload"]["H"] == H]
    ratio = lambda case: times(speed_of_scan(case))
    return [
        ["T", *(f"{case['workload']['T']:,}" for case in cases)],
        *([name, *(_time(case, name, 1e3) for case in cases)] for name in section["contestants"]),
        ["scan over loop", *map(ratio, cases)],
    ]


def speed_of_scan(case: dict) -> float | None:
    """How many times as fast as the loop the scan is."""
    loop, scan = (median(case, name) for name in ("one_big_gemm", "parallel_in_time"))
    return loop / scan if loop and scan else None


def _time(case: dict, name: str, unit: float = 1e6) -> str:
    if name not in case["seconds"]:
        return "–"
    return f"{digits(unit * median(case, name))} ±{100 * spread(case, name):.0f} %"


def _step_rows(section: dict, cell: str) -> Rows:
    cases = [case for case in section["cases"] if case["workload"]["cell"] == cell]
    across = lambda show: [show(case) for case in cases]
    names = [name for name in section["contestants"] if any(name in case["seconds"] for case in cases)]
    return [
        ["I×H", *across(lambda case: "{I}×{H}".format(**case["workload"]))],
        *([name, *across(lambda case, name=name: _time(case, name))] for name in names),
        ["inference over the best of PyTorch",
         *across(lambda case: times(step_speed(case, *TORCH_STEPS)))],
        *(
            [f"inference_{weights} over inference", *across(lambda case, w=weights: times(gain(case, w)))]
            for weights in CONVERSIONS
            if any(gain(case, weights) for case in cases)
        ),
        ["inference_int8 over the best peer of 8 bits",
         *across(lambda case: times(step_speed(case, *STEPS_OF_8_BITS, ours="inference_int8")))],
        ["inference over JAX", *across(lambda case: times(step_speed(case, "jax")))],
        ["time over reading the weights once", *across(lambda case: times(step_over_weights(case)))],
    ]  # fmt: skip


def step_speed(case: dict, *peers: str, ours: str = "inference") -> float | None:
    """How many times as fast as the fastest of these peers a step of ours is."""
    theirs = [time for peer in peers if (time := median(case, peer))]
    own = median(case, ours)
    return min(theirs) / own if theirs and own else None


def gain(case: dict, weights: str) -> float | None:
    """How many times as fast as with the network's own weights a step with narrow ones is."""
    whole = median(case, "inference")
    narrow = median(case, f"inference_{weights}")
    return whole / narrow if whole and narrow else None


def step_over_weights(case: dict) -> float | None:
    """The time of a step over the time that reading its weights once takes."""
    ours = median(case, "inference")
    weights = median(case, "weights")
    return ours / weights if ours and weights else None

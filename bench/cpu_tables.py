"""Tables of a CPU record: ratios, rates and means, as rows of text that terminal and pages share."""

import math
import statistics
from collections import Counter

from rnncourse.records.cpu_report import (
    LIMITS,
    PYTORCH,
    best_rung,
    cells,
    geometric_mean,
    gflops,
    heading,
    is_rung,
    median,
    speed_over,
)

PEERS = ("pytensor", "jax")  # compared by geometric mean over all sizes
Rows = list[list[str]]


def spread(case: dict, name: str) -> float:
    """Half the distance between the quartiles of the rounds, as a part of their median."""
    rounds = case["seconds"][name]
    lower, middle, upper = statistics.quantiles(rounds, n=4) if len(rounds) > 1 else rounds * 3
    return (upper - lower) / 2 / middle


def contestants(record: dict) -> list[str]:
    """Names of all contestants but the limits: the rungs in the ladder's order, then the peers."""
    names = [name for name in record["contestants"] if name not in LIMITS]
    return sorted(names, key=lambda name: not is_rung(record, name))


def mean_speed_over(record: dict, peer: str, cell: str | None = None) -> float | None:
    """Geometric mean, over all sizes of one cell or of all, of best rung over a peer."""
    cases = [case for case in record["cases"] if cell in (None, case["workload"]["cell"])]
    return geometric_mean(speed_over(record, case, peer) for case in cases)


def part_of_gemm(record: dict, case: dict, limit: str = "gemm_large") -> float | None:
    """What part of a limit's rate the best rung reaches."""
    best = best_rung(record, case)
    ceiling = gflops(case, limit)
    return gflops(case, best) / ceiling if best and ceiling else None


def memory_over_pytorch(record: dict, case: dict) -> float | None:
    """Memory that a step of the best rung adds at its highest, over PyTorch's."""
    ours, theirs = (case["memory"].get(name) for name in (best_rung(record, case), PYTORCH))
    return ours / theirs if ours is not None and theirs else None


def rows(record: dict, cell: str) -> Rows:
    """The table of one cell: sizes across; contestants, then what follows from them, down."""
    cases = [case for case in record["cases"] if case["workload"]["cell"] == cell]
    names = [name for name in contestants(record) if any(name in case["seconds"] for case in cases)]
    across = lambda show: [show(case) for case in cases]

    def size(case, *letters):
        return "{}×{}".format(*(case["workload"][letter] for letter in letters))

    return [
        ["T×B", *across(lambda case: size(case, "T", "B"))],
        ["I×H", *across(lambda case: size(case, "I", "H"))],
        *([name, *across(lambda case, name=name: _time(record, case, name))] for name in names),
        ["best rung over PyTorch", *across(lambda case: times(speed_over(record, case, PYTORCH)))],
        *([f"best rung over {peer}", *across(lambda case, peer=peer: times(speed_over(record, case, peer)))]
          for peer in PEERS if peer in names),
        ["best rung, GFLOP/s", *across(lambda case: _rate(gflops(case, best_rung(record, case))))],
        ["large GEMM, GFLOP/s", *across(lambda case: _rate(gflops(case, "gemm_large")))],
        ["part of large GEMM", *across(lambda case: _percent(part_of_gemm(record, case)))],
        ["part of bare products", *across(lambda case: _percent(part_of_gemm(record, case, "gemm_step")))],
        ["memory over PyTorch's", *across(lambda case: times(memory_over_pytorch(record, case)))],
    ]  # fmt: skip


def text(record: dict, cell: str) -> str:
    """The table of one cell for a terminal."""
    table = rows(record, cell)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    unit = "milliseconds of one training step, median ± half the distance of its quartiles"
    threads = record["settings"]["threads"]
    title = f"{cell}, {threads} thread{('s' if threads > 1 else '')}: {unit}"
    lines = [
        "  ".join(f"{value:{'<' if k == 0 else '>'}{widths[k]}}" for k, value in enumerate(row))
        for row in table
    ]
    return "\n".join([title, *lines])


def markdown(record: dict, cell: str) -> str:
    """The table of one cell for a page."""
    first, second, *rest = rows(record, cell)
    head = ["T×B, I×H", *(f"{a}, {b}" for a, b in zip(first[1:], second[1:], strict=True))]
    return markdown_table([head, *rest])


def markdown_table(rows: Rows) -> str:
    """Rows of text as a table, for a page and a terminal alike."""
    first, *rest = rows
    rule = ["---", *["---:"] * (len(first) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [first, rule, *rest])


def page(record: dict) -> str:
    """Everything a record says, for a terminal."""
    tables = [text(record, cell) for cell in cells(record)]
    sentences = ["\n".join(means(record)), first_calls(record), *absent(record)]
    return "\n\n".join([heading(record), *tables, *sentences])


def means(record: dict) -> list[str]:
    """One sentence for each peer, over all sizes of all cells."""
    sentences = []
    for peer in (PYTORCH, *PEERS):
        by_cell = [(cell, mean_speed_over(record, peer, cell)) for cell in cells(record)]
        of_cells = ", ".join(f"{cell} {times(mean)}" for cell, mean in by_cell if mean)
        if of_cells:
            over_all = times(mean_speed_over(record, peer))
            sentences.append(f"best rung over {peer}, geometric mean of all sizes: {over_all} ({of_cells})")
    return sentences


def absent(record: dict) -> list[str]:
    """Contestants missing from the table of a cell that they run: one sentence for each and its reason."""
    sentences = [f"{name} is not measured: its package is not installed." for name in record["missing"]]
    reasons = Counter(
        (name, why)
        for case in record["cases"]
        for name, why in case["left_out"].items()
        if not why.startswith(f"{name} runs ")  # as Rung.refuses says it: a rung of another cell
    )
    return sentences + [
        f"{name} is left out {count} time{('s' if count > 1 else '')}: {why}."
        for (name, why), count in reasons.items()
    ]


def first_calls(record: dict) -> str:
    """How long each contestant took to be made ready and run its first step, compiled where it compiles."""

    def longest(name):
        return max(case["first_step"].get(name, 0.0) for case in record["cases"])

    measured = filter(longest, contestants(record))
    listed = ", ".join(f"{name} {digits(longest(name))} s" for name in measured)
    return f"Longest first step, made ready and compiled, never part of the times above: {listed}."


def _time(record: dict, case: dict, name: str) -> str:
    seconds = median(case, name)
    if seconds is None:
        return "–"
    mark = "*" if name == best_rung(record, case) else ""
    return f"{mark}{digits(1e3 * seconds)} ±{100 * spread(case, name):.0f} %"


def digits(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}×"


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.3g}"


def _percent(part: float | None) -> str:
    return "–" if part is None else f"{100 * part:.0f} %"

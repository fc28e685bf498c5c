"""A CPU record as a picture: speeds over PyTorch's, and rates beside those of products."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnncourse.figures.picture import canvas
from rnncourse.records import cpu_report as report

BEST = "fastest rung"
BARS = {  # drawn in this order over each size; every other contestant is in the tables
    BEST: "okabe:green",
    "jax": "okabe:red",
    "pytensor": "okabe:orange",
}
GREY = "#888888"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
HEIGHT = 5.6
WIDTH = 11.0  # inches


def draw(record: dict) -> Figure:
    """One column for each cell: speed over PyTorch above, GFLOP/s below."""
    cells = report.cells(record)
    figure, axes = canvas(
        2, len(cells), width=WIDTH, height=HEIGHT, sharex="col", sharey="row", squeeze=False
    )
    for cell, (above, below) in zip(cells, axes.T, strict=True):
        cases = _cases_of(record, cell)
        _speeds(above, record, cases)
        _rates(below, record, cases)
        above.set_title(cell)
        _sizes(below, cases)
    axes[0, 0].set_ylabel("times as fast as PyTorch")
    axes[1, 0].set_ylabel("GFLOP/s")
    handles = {}
    for axis in figure.axes:
        lines, labels = axis.get_legend_handles_labels()
        handles |= zip(labels, lines, strict=True)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def finding(record: dict) -> str:
    """What the picture shows, in one sentence for each cell."""
    sentences = []
    for cell in report.cells(record):
        ratios = [ratio for ratio, _ in _compared(record, _cases_of(record, cell))]
        mean = report.geometric_mean(ratios)
        if mean:
            least = min(ratios)
            most = max(ratios)
            sentences.append(
                f"{cell}: {least:.2g} to {most:.2g} times PyTorch's speed, geometric mean {mean:.2g}"
            )
    findings = "; ".join(sentences)
    cores = record["machine"]["cores"]
    return f"The fastest rung on {cores} cores. {findings}."


def nearest(record: dict) -> str:
    """Where PyTorch comes nearest to the fastest rung."""
    ratios = _compared(record, record["cases"])
    if not ratios:
        return "PyTorch was not measured."
    ratio, case = min(ratios, key=lambda pair: pair[0])
    return "PyTorch is nearest, {:.2f}, with {cell} at B = {B}, H = {H}.".format(ratio, **case["workload"])


def _cases_of(record: dict, cell: str) -> list[dict]:
    return [case for case in record["cases"] if case["workload"]["cell"] == cell]


def _compared(record: dict, cases: list[dict]) -> list[tuple[float, dict]]:
    """(speed over PyTorch's, case) of those cases in which both were measured."""
    compared = []
    for case in cases:
        ratio = report.speed_over(record, case, report.PYTORCH)
        if ratio:
            compared.append((ratio, case))
    return compared


def _speeds(axis: Axes, record: dict, cases: list[dict]) -> None:
    for place, (name, colour) in enumerate(BARS.items()):
        ratios = []
        for case in cases:
            contestant = report.best_rung(record, case) if name == BEST else name
            ratios.append(_over_pytorch(case, contestant))
        across = [x + 0.27 * (place - 1) for x in range(len(cases))]
        if any(ratios):
            heights = [(ratio or 1) - 1 for ratio in ratios]
            axis.bar(across, heights, 0.25, bottom=1, color=colour, label=name)
    axis.axhline(1, color=GREY, linewidth=2, label="pytorch")
    axis.set_yscale("log")
    axis.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axis.minorticks_off()
    axis.grid(axis="y", linewidth=0.4)


def _rates(axis: Axes, record: dict, cases: list[dict]) -> None:
    across = range(len(cases))
    limits = {"gemm_large": ("large product", "_"), "gemm_step": ("bare products of the step", "x")}
    for name, (label, marker) in limits.items():
        values = [_rate(case, name) for case in cases]
        axis.plot(across, values, marker, color="black", markersize=9, label=label)
    best = [_rate(case, report.best_rung(record, case)) for case in cases]
    theirs = [_rate(case, report.PYTORCH) for case in cases]
    axis.bar([x - 0.2 for x in across], best, 0.4, color=BARS[BEST])
    axis.bar([x + 0.2 for x in across], theirs, 0.4, color=GREY)
    axis.set_ylim(bottom=0)


def _rate(case: dict, name: str | None) -> float:
    """GFLOP/s of a contestant; nan, which leaves a gap, where it was not measured."""
    rate = report.gflops(case, name) if name else None
    return rate or float("nan")


def _sizes(axis: Axes, cases: list[dict]) -> None:
    names = []
    for case in cases:
        name = "{B} × {H}".format(**case["workload"])
        if name in names:
            name += ", T = {T}".format(**case["workload"])
        names.append(name)
    axis.set_xticks(range(len(cases)), names, fontsize=8, rotation=60)
    axis.set_xlabel("sequences × units")


def _over_pytorch(case: dict, name: str | None) -> float | None:
    ours = report.median(case, name) if name else None
    theirs = report.median(case, report.PYTORCH)
    return theirs / ours if ours and theirs else None

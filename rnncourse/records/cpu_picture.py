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
    for column, cell in enumerate(cells):
        cases = [case for case in record["cases"] if case["workload"]["cell"] == cell]
        _speeds(axes[0, column], record, cases)
        _rates(axes[1, column], record, cases)
        axes[0, column].set_title(cell)
        _sizes(axes[1, column], cases)
    axes[0, 0].set_ylabel("times as fast as PyTorch")
    axes[1, 0].set_ylabel("GFLOP/s")
    handles = {
        label: line for ax in figure.axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def finding(record: dict) -> str:
    """What the picture shows, in one sentence for each cell."""
    sentences = []
    for cell in report.cells(record):
        cases = [case for case in record["cases"] if case["workload"]["cell"] == cell]
        ratios = [ratio for case in cases if (ratio := report.speed_over(record, case, report.PYTORCH))]
        mean = report.geometric_mean(ratios)
        if mean:
            least = min(ratios)
            most = max(ratios)
            sentences.append(
                f"{cell}: {least:.2g} to {most:.2g} times PyTorch's speed, geometric mean {mean:.2g}"
            )
    return f"The fastest rung on {record['machine']['cores']} cores. {'; '.join(sentences)}."


def nearest(record: dict) -> str:
    """Where PyTorch comes nearest to the fastest rung."""
    ratios = [
        (ratio, case)
        for case in record["cases"]
        if (ratio := report.speed_over(record, case, report.PYTORCH))
    ]
    if not ratios:
        return "PyTorch was not measured."
    ratio, case = min(ratios, key=lambda pair: pair[0])
    return "PyTorch is nearest, {:.2f}, with {cell} at B = {B}, H = {H}.".format(ratio, **case["workload"])


def _speeds(axis: Axes, record: dict, cases: list[dict]) -> None:
    for place, (name, colour) in enumerate(BARS.items()):
        contestant = lambda case, name=name: report.best_rung(record, case) if name == BEST else name
        ratios = [_over_pytorch(case, contestant(case)) for case in cases]
        across = [x + 0.27 * (place - 1) for x in range(len(cases))]
        if any(ratios):
            axis.bar(across, [(ratio or 1) - 1 for ratio in ratios], 0.25, bottom=1, color=colour, label=name)
    axis.axhline(1, color=GREY, linewidth=2, label="pytorch")
    axis.set_yscale("log")
    axis.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axis.minorticks_off()
    axis.grid(axis="y", linewidth=0.4)


def _rates(axis: Axes, record: dict, cases: list[dict]) -> None:
    across = range(len(cases))
    rate = lambda case, name: report.gflops(case, name) if name else None
    limits = {"gemm_large": ("large product", "_"), "gemm_step": ("bare products of the step", "x")}
    for name, (label, marker) in limits.items():
        values = [rate(case, name) or float("nan") for case in cases]
        axis.plot(across, values, marker, color="black", markersize=9, label=label)
    best = [rate(case, report.best_rung(record, case)) or float("nan") for case in cases]
    theirs = [rate(case, report.PYTORCH) or float("nan") for case in cases]
    axis.bar([x - 0.2 for x in across], best, 0.4, color=BARS[BEST])
    axis.bar([x + 0.2 for x in across], theirs, 0.4, color=GREY)
    axis.set_ylim(bottom=0)


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

"""A CPU record as a picture: speed of all contestants over PyTorch's, and rates beside those of products."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnncourse.figures.picture import PALETTE, canvas
from rnncourse.records import cpu_report as report

LOOKS = {  # contestant -> colour, marker; all others are pale lines
    "one_big_gemm": ("sky", "v"),
    "numba_fused": ("blue", "s"),
    "numba_parallel": ("green", "o"),
    "halide_scheduled": ("purple", "D"),
    "packed_weights": ("black", "P"),
    "pytensor": ("orange", "^"),
    "jax": ("red", "x"),
}
GREY, PALE = "#888888", "#CCCCCC"
HEIGHT, WIDTH = 5.6, 11.0  # inches


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
            least, most = min(ratios), max(ratios)
            sentences.append(
                f"{cell}: {least:.2g} to {most:.2g} times PyTorch's speed, {mean:.2g} in the mean"
            )
    return f"The fastest rung on {record['machine']['cores']} cores. {'; '.join(sentences)}."


def _speeds(axis: Axes, record: dict, cases: list[dict]) -> None:
    for name in record["contestants"]:
        if name in (*report.LIMITS, report.PYTORCH):
            continue
        ratios = [_over_pytorch(case, name) for case in cases]
        if any(ratio is not None for ratio in ratios):
            axis.plot(range(len(cases)), [ratio or float("nan") for ratio in ratios], **_look(name))
    axis.axhline(1, color=GREY, linewidth=2, label="pytorch")
    axis.set_yscale("log")
    axis.set_yticks(ticks := [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50], [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.grid(axis="y", linewidth=0.4)


def _rates(axis: Axes, record: dict, cases: list[dict]) -> None:
    across = range(len(cases))
    rate = lambda case, name: report.gflops(case, name) if name else None
    limits = {"gemm_large": ("large product", "-"), "gemm_step": ("bare products of the step", ":")}
    for name, (label, style) in limits.items():
        values = [rate(case, name) or float("nan") for case in cases]
        axis.plot(across, values, style, color=PALETTE["black"], label=label)
    best = [rate(case, report.best_rung(record, case)) or float("nan") for case in cases]
    theirs = [rate(case, report.PYTORCH) or float("nan") for case in cases]
    axis.bar([x - 0.2 for x in across], best, 0.4, color=PALETTE["green"], label="fastest rung")
    axis.bar([x + 0.2 for x in across], theirs, 0.4, color=GREY)
    axis.set_ylim(bottom=0)


def _sizes(axis: Axes, cases: list[dict]) -> None:
    names = ["{T}\n{B}\n{I}\n{H}".format(**case["workload"]) for case in cases]
    axis.set_xticks(range(len(cases)), names, fontsize=7)
    axis.set_xlabel("T, B, I, H from above")


def _over_pytorch(case: dict, name: str) -> float | None:
    ours, theirs = report.median(case, name), report.median(case, report.PYTORCH)
    return theirs / ours if ours and theirs else None


def _look(name: str) -> dict:
    if name not in LOOKS:
        return {"color": PALE, "linewidth": 0.8, "zorder": 1, "label": "other rungs"}
    colour, marker = LOOKS[name]
    return {"color": PALETTE[colour], "marker": marker, "label": name, "linewidth": 1.2}

"""Parts of one forward step: the time that a CUDA graph, the grid and the cluster kernel spend on each.

Bars are predictions: floors from data sheets and latencies (kernels/persistence/floor.py).  A step that the
suite "persistent" of `rnnlab bench gpu` measured on the same device is marked beside its floor.
"""

import textwrap
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pocketgpu.devices import Device, find
from rnncourse import records
from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnnlab.kernels.persistence.floor import TENSOR_PEAK, floor
from rnnlab.kernels.persistence.fragments import DTYPES
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape
from rnnlab.ladder.chooser import Abilities, choose

KIND = "bench gpu"  # of records that `rnnlab bench gpu` writes
CELLS = "rnn_tanh", "gru", "lstm"
HIDDEN = (64, 128, 256, 384, 512, 768, 1024, 1152, 1536, 2048)
MINIBATCHES = (1, 4, 8, 16, 32, 64)
DEVICES = tuple(sorted(TENSOR_PEAK, reverse=True))  # the newest first
SUITE = "persistent"
SEVERAL = 2  # steps: the chooser refuses a persistent kernel for one, and predicts the same for any more

# contestants as the chooser and the benchmark name them, and as a reader knows them
GRAPH = "graph_replay"
GRID = "persistent_grid"
CLUSTER = "persistent_cluster"
KNOWN = {GRAPH: "CUDA graph", GRID: "grid kernel", CLUSTER: "cluster kernel"}
BENEATH = {GRAPH: "\n(cuBLAS)", GRID: "\n(whole chip)", CLUSTER: "\n(8 sequences)"}
LOOKS = {  # of a part
    "two graph nodes": {"facecolor": "okabe:orange", "hatch": "//"},
    "exchange": {"facecolor": "okabe:sky", "hatch": "xx"},
    "broadcast": {"facecolor": "okabe:yellow", "hatch": ".."},
    "product": {"facecolor": "okabe:green", "hatch": ""},
}
DIAMOND = {"marker": "D", "color": "okabe:red", "markeredgecolor": "black"}  # a record
REASON_WIDTH = 80  # letters of a line


class StepRow(NamedTuple):
    """One way to run the step: its parts in microseconds, or why it is refused."""

    name: str
    parts: dict[str, float]
    why_not: str = ""

    @property
    def step(self) -> float:
        """Microseconds."""
        return sum(self.parts.values())


def rows(cell: str, hidden: int, minibatch: int, dtype: str, device: str) -> list[StepRow]:
    """The three ways, predicted for a device with a data sheet."""
    sheet = find(device)
    ways = choose(cell, hidden, dtype, (SEVERAL, minibatch), Abilities(sheet)).ways
    step = next(way.step for way in ways if way.name == GRAPH)
    nodes = 2 * sheet.node
    parts = {"two graph nodes": nodes, "product": step - nodes}
    shapes = {
        GRID: lambda: grid_shape(cell, hidden, dtype, minibatch, sheet),
        CLUSTER: lambda: cluster_shape(cell, hidden, dtype, sheet),
    }
    lines = [StepRow(GRAPH, parts)]
    for name, shape in shapes.items():
        try:
            parts = floor(shape(), minibatch, sheet)._asdict()
        except ValueError as error:
            lines.append(StepRow(name, {}, str(error)))
        else:
            lines.append(StepRow(name, parts))
    return lines


def recorded(cell: str, hidden: int, dtype: str, device: str) -> dict[tuple[str, int], float]:
    """Measured microseconds a step by contestant and minibatch: forward seconds over T, newest record.

    They hold the launch and the input's product too, which a run makes once for all of its steps.
    """
    sheet = find(device)
    times = {}
    for gpu, work, result in _results(tuple(records.stored(KIND))):
        measured = work["cell"], work["H"], result["dtype"]
        if measured == (cell, hidden, dtype) and _is(gpu, sheet):
            seconds = median(result["seconds"]["forward"])
            contestant = result["name"], work["B"]
            times[contestant] = 1e6 * seconds / work["T"]
    return times


def finding(cell: str, hidden: int, minibatch: int, dtype: str, device: str) -> str:
    """What the picture shows, in a few sentences."""
    lines = rows(cell, hidden, minibatch, dtype, device)
    measured = _measured(cell, hidden, minibatch, dtype, device)
    predicted = [row for row in lines if row.parts]
    best = min(predicted, key=lambda row: row.step)
    part = max(best.parts, key=best.parts.get)
    layer = f"{cell}, {hidden} units, minibatch {minibatch}, {dtype}, {device}"
    sentences = []
    for row in lines:
        outcome = _sum(row) or f"refused, {row.why_not}"
        sentences.append(f"The {KNOWN[row.name]}: {outcome}.")
    ways = " ".join(sentences)
    share = 100 * best.parts[part] / best.step
    recorded = f"No record of this size on {device} is kept."
    if measured:
        comparisons = [_beside(row, measured[row.name]) for row in lines if row.name in measured]
        beside = "; ".join(comparisons)
        recorded = f"Recorded on {device}, with launch and input product: {beside}."
    return (
        f"{layer}: microseconds of a forward step, predicted, not measured. {ways} "
        f"The least is the {KNOWN[best.name]}'s, {share:.0f} % of it {part}. {recorded}"
    )


def explore_step() -> View:
    """Sliders for cell, hidden size, minibatch, dtype, device."""
    return slider_view(
        partial(_draw, _empty()),
        finding,
        cell=Slider("cell", CELLS).at("lstm"),
        hidden=Slider("hidden size H", HIDDEN).at(512),
        minibatch=Slider("minibatch B", MINIBATCHES).at(8),
        dtype=Slider("dtype", tuple(DTYPES)),
        device=Slider("device", DEVICES),
    )


def _empty() -> Figure:
    """The figure without data: names of rows and of parts."""
    figure, axis = canvas(width=9.0, height=3.6)
    figure.set_layout_engine("none")  # places are known; finding them is half of a redraw
    axis.set_position((0.16, 0.27, 0.81, 0.58))
    axis.set(ylim=(len(KNOWN) - 0.35, -0.45), xlabel="µs of one forward step")
    names = [known + BENEATH[name] for name, known in KNOWN.items()]
    axis.set_yticks(range(len(names)), labels=names)
    axis.tick_params(axis="y", length=0)
    figure.legend(handles=_handles(), loc="lower center", ncols=6, fontsize=8, frameon=False)
    return figure


def _draw(figure: Figure, cell: str, hidden: int, minibatch: int, dtype: str, device: str) -> Figure:
    axis = figure.axes[0]
    for artist in (*axis.patches, *axis.lines, *axis.texts):
        artist.remove()
    lines = rows(cell, hidden, minibatch, dtype, device)
    measured = _measured(cell, hidden, minibatch, dtype, device)
    for place, row in enumerate(lines):
        _draw_row(axis, place, row, measured.get(row.name))
    times = [*(row.step for row in lines), *measured.values()]
    axis.set_xlim(0, 1.04 * max(times))
    diamonds = "; diamonds: recorded" if measured else ""
    layer = f"{cell}, H={hidden}, B={minibatch}, {dtype}, {device}"
    # with a place of its own the title need not look for room, which would lay out every tick twice
    axis.set_title(f"{layer}: predicted floor, not measured{diamonds}", size=11, y=1.02)
    return figure


def _results(paths: tuple[Path, ...]) -> Iterator[tuple[dict, dict, dict]]:
    """(GPU, workload, result) of every single layer that the suite measured, oldest record first."""
    for record in map(_record, paths):
        gpu = record["machine"]["gpu"]
        for case in record["cases"]:
            workload = case["workload"]
            if case["suite"] == SUITE and workload["L"] == 1:
                timed = [result for result in case["results"] if result["seconds"].get("forward")]
                yield from ((gpu, workload, result) for result in timed)


@lru_cache(maxsize=64)  # a record is never rewritten, and a slider needs it at every move
def _record(path: Path) -> dict:
    return records.read(path)


def _is(gpu: dict, sheet: Device) -> bool:
    """Is the measured GPU the sheet's?  A GH200 is not an H200, and neither is a slice of one."""
    parts = gpu["name"].replace("-", " ").split()
    return sheet.name in parts and gpu["multiprocessors"] == sheet.multiprocessors


def _measured(cell: str, hidden: int, minibatch: int, dtype: str, device: str) -> dict[str, float]:
    steps = {}
    for (name, B), step in recorded(cell, hidden, dtype, device).items():
        if B == minibatch and name in KNOWN:
            steps[name] = step
    return steps


def _sum(row: StepRow) -> str:
    """The parts and what they make; nothing for a way that is refused."""
    parts = " + ".join(f"{name} {size:.3g}" for name, size in row.parts.items())
    return parts and f"{parts} = {row.step:.3g} µs"


def _beside(row: StepRow, measured: float) -> str:
    text = f"{KNOWN[row.name]} {measured:.3g} µs"
    if not row.parts:
        return f"{text}, with nothing predicted"
    excess = measured - row.step
    comparison = "more" if excess >= 0 else "less"
    return f"{text}, {abs(excess):.2f} {comparison} than predicted"


def _draw_row(axis: Axes, place: int, row: StepRow, measured: float | None) -> None:
    start = 0.0
    for name, size in row.parts.items():
        axis.barh(place, size, 0.42, left=start, edgecolor="black", linewidth=0.6, **LOOKS[name])
        start += size
    text = _sum(row)
    if not row.parts:
        reason = row.why_not.split(":")[0]
        text = f"refused: {textwrap.fill(reason, REASON_WIDTH)}"
    if measured is not None:
        if row.parts and measured > start:
            axis.barh(place, measured - start, 0.42, left=start, fill=False, linestyle="--")
        axis.plot(measured, place, zorder=3, **DIAMOND)
        text += f"; recorded {measured:.3g} µs"
    below, alignment = -13, "top"
    if not row.parts and measured is None:  # no bar in the row
        below, alignment = 0, "center"
    offset = {"xytext": (3, below), "textcoords": "offset points"}
    axis.annotate(text, (0, place), va=alignment, fontsize=8, **offset)


def _handles() -> list[Patch | Line2D]:
    parts = [Patch(edgecolor="black", label=name, **look) for name, look in LOOKS.items()]
    remains = Patch(fill=False, linestyle="--", edgecolor="black", label="what remains")
    recorded = Line2D([], [], linestyle="", label="recorded, if it was", **DIAMOND)
    return [*parts, remains, recorded]

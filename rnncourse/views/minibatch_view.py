"""Small minibatches: the rate of a layer's recurrent product as published, as predicted, and as recorded.

Published: Diamos and others (2016), "Persistent RNNs: Stashing Recurrent Weights On-Chip", read off their
figure.  Predicted: the floors of views/step_view.py.  Recorded: what `rnnlab bench gpu` measured.
"""

import textwrap
from functools import partial
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnncourse.scaling.published import RATES, UNITS
from rnncourse.views.step_view import CELLS, CLUSTER, DEVICES, GRAPH, GRID, HIDDEN, KNOWN, recorded, rows
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence.fragments import DTYPES

PUBLISHED_AT = "rnn_tanh", UNITS  # cell and units of the published layer, on a TitanX in float32
PUBLISHED = {  # TFLOP/s by minibatch
    "persistent": RATES["persistent"],
    "Nervana": RATES["GEMM, figure"],
    "cuBLAS": {4: 0.05, 62: 0.64},
}
MINIBATCHES = range(1, 65)
QUOTED = (1, 4, 8, 16, 64)  # minibatches whose rates the text states
TICKS = (1, 2, 4, 8, 16, 32, 64)
COLOURS = {GRAPH: "okabe:orange", GRID: "okabe:blue", CLUSTER: "okabe:green"}
KINDS = {  # dashes, or the mark of a point
    "predicted": {GRAPH: "-", GRID: "--", CLUSTER: "-."},
    "published": {"persistent": "o", "Nervana": "s", "cuBLAS": "^"},
    "recorded": {GRAPH: "D", GRID: "P", CLUSTER: "X"},
}
RANGE = 1e-3, 1e3  # TFLOP/s
NOTE_WIDTH = 36  # letters of a line beside the curves
Rates = dict[str, dict[int, float]]  # of a name, TFLOP/s by minibatch


class Parts(NamedTuple):
    """A figure, and the artists in it that a slider changes."""

    figure: Figure
    lines: dict[str, dict[str, Line2D]]  # by kind and name
    texts: list[Text]  # of the legend: a kind's heading, then its lines
    note: Text


def rate(cell: str, hidden: int, minibatch: int, step: float) -> float:
    """TFLOP/s of the recurrent product of a step of that many microseconds."""
    gates = len(find_cell(cell).gates)
    flop = 2 * gates * hidden**2 * minibatch
    return flop / step / 1e6


def predicted(cell: str, hidden: int, dtype: str, device: str) -> tuple[Rates, dict[str, str]]:
    """(rates, reasons): what each way can reach at best, and why the others are refused."""
    rates = {}
    reasons = {}
    for B in MINIBATCHES:
        for row in rows(cell, hidden, B, dtype, device):
            if row.parts:
                curve = rates.setdefault(row.name, {})
                curve[B] = rate(cell, hidden, B, row.step)
            else:
                reasons[row.name] = row.why_not
    return rates, reasons


def published(cell: str, hidden: int) -> Rates:
    """Rates of the published layer; none for another."""
    return PUBLISHED if (cell, hidden) == PUBLISHED_AT else {}


def measured(cell: str, hidden: int, dtype: str, device: str) -> Rates:
    """Rates that were recorded on that device."""
    rates = {}
    steps = recorded(cell, hidden, dtype, device)
    for (name, B), step in sorted(steps.items()):
        if name in KNOWN and B in MINIBATCHES:
            curve = rates.setdefault(name, {})
            curve[B] = rate(cell, hidden, B, step)
    return rates


def finding(cell: str, hidden: int, dtype: str, device: str) -> str:
    """What the picture shows, in a few sentences."""
    rates, reasons = predicted(cell, hidden, dtype, device)
    quoted = {}
    for name, curve in rates.items():
        quoted[name] = {B: curve[B] for B in QUOTED}
    sentences = [
        f"{cell}, {hidden} units: TFLOP/s of a step's recurrent product over minibatch.",
        f"Predicted for {device} in {dtype}, not measured: {_listed(quoted)}.",
    ]
    sentences += (f"The {KNOWN[name]} is refused: {why}." for name, why in reasons.items())
    if len(rates) > 1:
        sentences.append("By its floor a persistent kernel's step takes as long for 1 sequence as for 8.")
    if curves := published(cell, hidden):
        sentences.append(f"Published for a TitanX in float32 (Diamos and others, 2016): {_listed(curves)}.")
    records = _listed(measured(cell, hidden, dtype, device)) or "nothing yet"
    sentences.append(f"Recorded on {device}, with launch and input product: {records}.")
    return " ".join(sentences)


def explore_minibatch() -> View:
    """Sliders for cell, hidden size, dtype, device; the published layer first."""
    cell, hidden = PUBLISHED_AT
    return slider_view(
        partial(_moved, _empty()),
        finding,
        cell=Slider("cell", CELLS).at(cell),
        hidden=Slider("hidden size H", HIDDEN).at(hidden),
        dtype=Slider("dtype", tuple(DTYPES)),
        device=Slider("device", DEVICES),
    )


def _listed(rates: Rates) -> str:
    """Names with their rates, in words."""
    curves = []
    for name, curve in rates.items():
        points = ", ".join(f"{rate:.3g} at {B}" for B, rate in curve.items())
        curves.append(f"{KNOWN.get(name, name)} {points}")
    return "; ".join(curves)


def _empty() -> Parts:
    """The figure without data, the same axes for every layer, and the artists that a slider changes."""
    figure, axis = canvas(width=9.0, height=4.2)
    figure.set_layout_engine("none")  # places are known; finding them is half of a redraw
    axis.set_position((0.09, 0.13, 0.58, 0.77))
    axis.set(xscale="log", yscale="log", xlim=(0.8, 80), ylim=RANGE, ylabel="TFLOP/s")
    axis.set_xlabel("minibatch B (sequences)")
    axis.set_xticks(TICKS, labels=TICKS)
    axis.yaxis.set_major_formatter("{x:g}")
    axis.minorticks_off()
    axis.grid(color="#DDDDDD", linewidth=0.6)
    lines = {}
    handles = []
    for kind, names in KINDS.items():
        of_kind = {name: _line(axis, kind, name) for name in names}
        lines[kind] = of_kind
        heading = Line2D([], [], linestyle="")
        handles += [heading, *of_kind.values()]
    labels = ["-"] * len(handles)
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0}
    legend = axis.legend(handles, labels, fontsize=8, frameon=False, handlelength=3.2, **place)
    note = figure.text(0.69, 0.04, "", fontsize=8, va="bottom")
    return Parts(figure, lines, legend.get_texts(), note)


def _line(axis: Axes, kind: str, name: str) -> Line2D:
    """Predicted: a line without points.  Published: open points, dotted.  Recorded: filled points alone."""
    mark = KINDS[kind][name]
    if kind == "predicted":
        look = {"color": COLOURS[name], "linestyle": mark, "linewidth": 2}
    elif kind == "published":
        look = {"marker": mark, "color": "black", "markerfacecolor": "white"}
        look |= {"linestyle": ":", "linewidth": 1}
    else:
        look = {"marker": mark, "color": COLOURS[name], "markersize": 9, "zorder": 3}
        look |= {"markeredgecolor": "black", "linestyle": ""}
    (line,) = axis.plot([], [], **look)
    return line


def _moved(parts: Parts, cell: str, hidden: int, dtype: str, device: str) -> Figure:
    rates, reasons = predicted(cell, hidden, dtype, device)
    machine = f"{device}, {dtype}"
    shown = {
        "predicted": (machine, rates, "refused"),
        "published": ("TitanX, float32", published(cell, hidden), "not of this layer"),
        "recorded": (machine, measured(cell, hidden, dtype, device), "none yet"),
    }
    texts = iter(parts.texts)
    for kind, (where, curves, lacking) in shown.items():
        missing = "" if curves or kind != "recorded" else f": {lacking}"  # said once, not for each line
        next(texts).set(text=f"{kind}, {where}{missing}", fontweight="bold")
        for name, line in parts.lines[kind].items():
            curve = curves.get(name, {})
            line.set_data(list(curve), list(curve.values()))
            label = _label(kind, name)
            if not curve and not missing:
                label = f"{label}: {lacking}"
            next(texts).set_text(label)
    refusals = []
    for name, why in reasons.items():
        refusal = f"{KNOWN[name]}: refused, {why.split(':')[0]}"
        refusals.append(textwrap.fill(refusal, NOTE_WIDTH))
    parts.note.set_text("\n\n".join(refusals))
    # with a place of its own the title need not look for room, which would lay out every tick twice
    axis = parts.figure.axes[0]
    axis.set_title(f"recurrent product of {cell}, H={hidden}", size=11, y=1.02)
    return parts.figure


def _label(kind: str, name: str) -> str:
    label = KNOWN.get(name, name)
    if kind != "predicted":
        return label
    return f"{label} (cuBLAS)" if name == GRAPH else f"{label} (floor)"

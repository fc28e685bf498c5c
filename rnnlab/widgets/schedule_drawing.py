"""Draws a timeline: the whole pass as coloured pixels, a few launches as bars, the stages' bytes and FLOPs.

A pass has up to 14 000 launches, many of them in one pixel.  So the whole is an image, whose pixels mix the
colours of what runs in their time, white where nothing does; only launches that one looks at become bars.
One figure is moved and redrawn: a new one would take longer than a slider may.
"""

from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from rnnlab.widgets.picture import CARD, PALETTE

KINDS = {"gemm": "blue", "pointwise": "orange", "transpose": "purple", "reduce": "green"}
HOST, POINTWISE = len(KINDS), list(KINDS).index("pointwise")
COLOURS = np.array([to_rgb(colour) for colour in (*map(PALETTE.get, KINDS.values()), "#555555")])
PIXELS = 900  # of the whole pass, from left to right
LABELLED = 60  # bars that may carry their name
LETTER = 0.011  # of the picture's width
BAR = 0.38  # half its height, in rows
STAGES = 5


class Bars(NamedTuple):
    """Launches as they are drawn, in issue order; times in microseconds."""

    rows: tuple[str, ...]  # names of the rows below the host's
    row: np.ndarray
    kind: np.ndarray  # index of KINDS
    start: np.ndarray
    end: np.ndarray
    issued: np.ndarray  # when the host is done with it
    issue: float  # what the host takes for each
    name: Sequence[str]


class Stage(NamedTuple):
    """What a named stage asks of the device."""

    name: str
    launches: int
    bytes: int
    flops: int


def draw(bars: Bars, makespan: float, title: str, stages: Sequence[Stage], look: tuple[float, int]) -> Figure:
    """The figure, redrawn; look: where it begins, as a share of the time, and for how many launches."""
    parts = _blank()
    width = makespan * min(1.0, look[1] / max(1, len(bars.row)))
    first = min(look[0] * makespan, makespan - width)
    _whole(parts, bars, makespan, (first, first + width))
    _some(parts, bars, (first, first + width))
    _stages(parts, stages)
    parts.title.set_text(title)
    return parts.figure


def mixed(bars: Bars, makespan: float, pixels: int = PIXELS) -> np.ndarray:
    """Colours [rows+1, pixels, 3] of the whole pass, the host's row first."""
    edges = np.linspace(0, makespan, pixels + 1)
    image = np.ones((len(bars.rows) + 1, pixels, 3))
    image[0] -= _share(bars.issued - bars.issue, bars.issued, edges)[:, np.newaxis] * (1 - COLOURS[HOST])
    for row in range(len(bars.rows)):
        for kind in range(len(KINDS)):
            mine = (bars.row == row) & (bars.kind == kind)
            share = _share(bars.start[mine], bars.end[mine], edges)
            image[row + 1] -= share[:, np.newaxis] * (1 - COLOURS[kind])
    return np.clip(image, 0, 1)


def _share(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How much of each bin between edges lies in the intervals, which follow one another."""
    if not len(start):
        return np.zeros(len(edges) - 1)
    corners = np.ravel(np.column_stack([start, end]))
    filled = np.cumsum(np.diff(corners, prepend=corners[:1]) * (np.arange(len(corners)) % 2))
    return np.diff(np.interp(edges, corners, filled)) / np.diff(edges)


def _whole(parts: SimpleNamespace, bars: Bars, makespan: float, seen: tuple[float, float]) -> None:
    rows = len(bars.rows) + 1
    parts.image.set_data(mixed(bars, makespan))
    parts.image.set_extent((0, makespan / 1e3, rows - 0.5, -0.5))
    parts.frame.set(x=seen[0] / 1e3, width=(seen[1] - seen[0]) / 1e3)
    _rows(parts.above, bars)
    parts.above.set_xlim(0, makespan / 1e3)


def _some(parts: SimpleNamespace, bars: Bars, seen: tuple[float, float]) -> None:
    """The launches that run, and the issues that happen, in the time that is looked at."""
    running = np.flatnonzero((bars.end > seen[0]) & (bars.start < seen[1]))
    issuing = np.flatnonzero((bars.issued > seen[0]) & (bars.issued - bars.issue < seen[1]))
    if len(issuing) and np.ptp(bars.issued[issuing]) == 0:
        issuing = issuing[:1]  # a graph is launched once
    left = np.concatenate([bars.issued[issuing] - bars.issue, bars.start[running]])
    right = np.concatenate([bars.issued[issuing], bars.end[running]])
    middle = np.concatenate([np.zeros(len(issuing)), bars.row[running] + 1])
    kinds = np.concatenate([np.full(len(issuing), HOST), bars.kind[running]]).astype(int)
    corners = ((left, middle - BAR), (right, middle - BAR), (right, middle + BAR), (left, middle + BAR))
    parts.bars.set_verts(np.stack([np.column_stack(corner) for corner in corners], axis=1))
    parts.bars.set_facecolor(COLOURS[kinds])
    _rows(parts.below, bars)
    parts.below.set_xlim(seen)
    _label(parts.labels, bars, running, seen)


def _label(labels: list, bars: Bars, running: np.ndarray, seen: tuple[float, float]) -> None:
    """Names in the bars that have room for theirs."""
    left, right = np.maximum(bars.start[running], seen[0]), np.minimum(bars.end[running], seen[1])
    room = (right - left) / (seen[1] - seen[0]) / LETTER
    fits = [k for k, index in enumerate(running) if room[k] > len(bars.name[index])][:LABELLED]
    for label in labels[len(fits) :]:
        label.set_visible(False)
    for label, k in zip(labels, fits, strict=False):
        at = (left[k] + right[k]) / 2, bars.row[running[k]] + 1
        dark = bars.kind[running[k]] == POINTWISE
        label.set(position=at, text=bars.name[running[k]], color="black" if dark else CARD, visible=True)


def _rows(axis: Axes, bars: Bars) -> None:
    axis.set_ylim(len(bars.rows) + 0.5, -0.5)
    axis.set_yticks(range(len(bars.rows) + 1), ("host", *bars.rows))


def _stages(parts: SimpleNamespace, stages: Sequence[Stage]) -> None:
    parts.bytes.axis.set_yticks(range(len(stages)), [each.name for each in stages])
    _fill(
        parts.bytes,
        [(each.bytes, f" {scaled(each.bytes, 'B')}, {each.launches} launches") for each in stages],
    )
    _fill(parts.flops, [(each.flops, f" {scaled(each.flops, 'FLOP')}") for each in stages])


def _fill(panel: SimpleNamespace, told: list[tuple[int, str]]) -> None:
    most = max(value for value, _ in told)
    for bar, label, (value, words) in zip(panel.bars, panel.labels, told, strict=True):
        bar.set_width(value / most)
        label.set(x=value / most, text=words)


def scaled(value: float, unit: str) -> str:
    """Three digits and the unit with its prefix: 1.28 GB."""
    power = min(4, int(np.log10(max(1, value))) // 3)
    return f"{value / 1000**power:.3g} {('', 'k', 'M', 'G', 'T')[power]}{unit}"


@lru_cache(maxsize=1)
def _blank() -> SimpleNamespace:
    """Everything that moves, on one figure."""
    figure = Figure(figsize=(9.2, 6.6), facecolor=CARD, layout="constrained")
    grid = [["above", "above"], ["below", "below"], ["bytes", "flops"]]
    axes = figure.subplot_mosaic(grid, height_ratios=(2, 2.4, 1.3))
    for axis in axes.values():
        axis.spines[["top", "right"]].set_visible(False)
    parts = SimpleNamespace(figure=figure, above=axes["above"], below=axes["below"])
    parts.image = parts.above.imshow(np.ones((2, 2, 3)), aspect="auto", interpolation="nearest")
    parts.frame = parts.above.axvspan(0, 1, fill=False, edgecolor=PALETTE["red"], lw=1.5, clip_on=False)
    parts.bars = PolyCollection([], linewidths=0.4, edgecolors=CARD)
    parts.below.add_collection(parts.bars, autolim=False)
    style = {"size": 7, "ha": "center", "va": "center"}
    parts.labels = [parts.below.text(0, 0, "", **style) for _ in range(LABELLED)]
    parts.title = parts.above.set_title(" ", loc="left", size=10)
    parts.above.set_xlabel("ms, the whole pass; the frame is seen below")
    parts.below.set_xlabel("µs from the first issue")
    patches = [Patch(color=colour, label=kind) for kind, colour in zip(KINDS, COLOURS, strict=False)]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(KINDS), frameon=False)
    parts.bytes, parts.flops = (
        _panel(axes["bytes"], "bytes to move", 1.9),
        _panel(axes["flops"], "FLOPs", 1.4),
    )
    axes["flops"].set_yticks([])
    return parts


def _panel(axis: Axes, title: str, widest: float) -> SimpleNamespace:
    """Five bars, one under the other, with room for their numbers."""
    bars = axis.barh(range(STAGES), [1] * STAGES, color=PALETTE["sky"])
    labels = [axis.text(0, k, "", va="center", size=8) for k in range(STAGES)]
    axis.set_title(title, loc="left", size=9)
    axis.set(xlim=(0, widest), ylim=(STAGES - 0.5, -0.5))
    axis.set_xticks([])
    axis.tick_params(axis="y", labelsize=8)
    axis.spines[["bottom"]].set_visible(False)
    return SimpleNamespace(axis=axis, bars=bars, labels=labels)

"""Draws a timeline (SVG): the whole pass as pixels, some launches as bars, the stages' bytes and times.

A view has up to 1,500 launches, many of them in one pixel.  So the whole is an image, whose pixels mix the
colours of what runs in their time, white where no kernel runs; only the launches that one looks at become
bars, with their name under the pointer.
"""

import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from nbjudge.printable import quantity
from rnncourse.figures.picture import CARD, PALETTE

KINDS = {"gemm": "blue", "pointwise": "orange", "transpose": "purple", "reduce": "green"}
HOST = len(KINDS)
POINTWISE = list(KINDS).index("pointwise")
FILLS = (*map(PALETTE.get, KINDS.values()), "#555555")
COLOURS = np.array([to_rgb(fill) for fill in FILLS])
WIDTH = 900
LEFT = 132
RIGHT = 14  # pixels: of the picture, left and right of the panels
INNER = WIDTH - LEFT - RIGHT
WHOLE = (30, 144)
WINDOW = (212, 170)  # top and height of the two panels with times
STAGES = 436
LINE = 18  # top of the panel with stages, and height of a stage's line
MOST_TICKS = 8
LETTER = 6.2  # pixels, of the names in bars
BAR = 0.76  # of a row's height
INK = "#222222"


class Bars(NamedTuple):
    """Launches as they are drawn, in issue order; times in microseconds."""

    rows: tuple[str, ...]  # names of the rows below the host's
    row: np.ndarray
    kind: np.ndarray  # index of KINDS
    start: np.ndarray
    end: np.ndarray
    issued: np.ndarray  # when the host is done with it
    issue: float  # what the host takes for each
    labels: Sequence[tuple[str, int, int, int]]  # name, layer, first step, one past the last


class Stage(NamedTuple):
    """Demand of a stage on the device."""

    name: str
    launches: int
    bytes: int
    flops: int
    time: float = 0.0  # predicted, microseconds


def draw(
    bars: Bars,
    makespan: float,
    stages: Sequence[Stage],
    look: tuple[float, int],
    title: tuple[str, int],
    alt: str,
) -> str:
    """The picture as SVG; look: where the bars begin, as a share of the time, and for how many launches.

    title: the sentence above the picture, and the number of steps that the stages' times are for.
    """
    start, launches_shown = look
    width = makespan * min(1.0, launches_shown / max(1, len(bars.row)))
    first = min(start * makespan, makespan - width)
    seen = (first, first + width)
    sentence, steps = title
    parts = [_text(LEFT, 18, sentence, size=13)]
    parts += _whole(bars, makespan, seen)
    parts += _window(bars, seen)
    parts += _stages(stages, steps)
    height = STAGES + LINE * len(stages) + 30
    parts += _legend(bars, height)
    contents = "".join(parts)
    label = escape(alt)
    frame = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}"'
    style = f'style="width:{WIDTH}px;max-width:100%;background:{CARD}"'
    letters = f'font-family="sans-serif" font-size="11" fill="{INK}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {style} {letters}>{contents}</svg>'


def mixed(bars: Bars, makespan: float, pixels: int = INNER) -> np.ndarray:
    """Colours [rows+1, pixels, 3] of the whole pass, the host's row first."""
    edges = np.linspace(0, makespan, pixels + 1)
    image = np.ones((len(bars.rows) + 1, pixels, 3))
    absorbed = 1 - COLOURS  # of white, by a pixel that is all of one kind
    issued = np.unique(bars.issued)  # a graph's launches are issued at once
    share = _share(issued - bars.issue, issued, edges)
    image[0] -= np.outer(share, absorbed[HOST])
    for row in range(len(bars.rows)):
        is_in_row = bars.row == row
        for kind in range(len(KINDS)):
            select = is_in_row & (bars.kind == kind)
            share = _share(bars.start[select], bars.end[select], edges)
            image[row + 1] -= np.outer(share, absorbed[kind])
    return np.clip(image, 0, 1)


def scaled(value: float, unit: str) -> str:
    """Three digits and the unit with its prefix: 1.28 GB."""
    digits = int(np.log10(max(1, value)))
    power = min(4, digits // 3)
    mantissa = value / 1000**power
    prefix = ("", "k", "M", "G", "T")[power]
    return f"{mantissa:.3g} {prefix}{unit}"


def _share(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How much of each bin between edges lies in the intervals, which follow one another."""
    if not len(start):
        return np.zeros(len(edges) - 1)
    corners = np.ravel(np.column_stack([start, end]))
    lengths = np.column_stack([np.zeros(len(start)), end - start])
    filled = np.cumsum(lengths)
    filled_at_edges = np.interp(edges, corners, filled)
    return np.diff(filled_at_edges) / np.diff(edges)


def _whole(bars: Bars, makespan: float, seen: tuple[float, float]) -> Iterator[str]:
    top, height = WHOLE
    rows = len(bars.rows) + 1
    image = _png(mixed(bars, makespan))
    yield (
        f'<image x="{LEFT}" y="{top}" width="{INNER}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{image}"/>'
    )
    for k in range(1, rows):
        border = top + k * height / rows
        yield _rect(LEFT, border - 0.75, INNER, 1.5, CARD)
    yield from _rows(bars, WHOLE)
    milliseconds = makespan / 1e3
    yield from _ticks(WHOLE, (0, milliseconds), "ms: the whole pass; the frame is shown below")
    left, right = (_x(when, (0, makespan)) for when in seen)
    red = PALETTE["red"]
    frame = f'stroke="{red}" stroke-width="2"'
    yield _rect(left, top - 2, right - left, height + 4, "none", frame)


def _window(bars: Bars, seen: tuple[float, float]) -> Iterator[str]:
    """The launches that run, and the issues that happen, in the time that is looked at."""
    seen_from, seen_to = seen
    issue_starts = bars.issued - bars.issue
    is_issuing = (bars.issued > seen_from) & (issue_starts < seen_to)
    issues = np.flatnonzero(is_issuing)
    if len(issues) and np.ptp(bars.issued[issues]) == 0:
        issues = issues[:1]  # a graph is launched once
    for k in issues:
        yield _bar(bars, seen, 0, HOST, issue_starts[k], bars.issued[k], "host issues")
    is_running = (bars.end > seen_from) & (bars.start < seen_to)
    for k in np.flatnonzero(is_running):
        name, layer, first_step, end_step = bars.labels[k]
        steps = f"step {first_step}"
        if end_step > first_step + 1:
            steps = f"steps {first_step} to {end_step - 1}"
        start = bars.start[k]
        end = bars.end[k]
        label = f"{name}, layer {layer}, {steps}: {end - start:.3g} µs"
        yield _bar(bars, seen, bars.row[k] + 1, bars.kind[k], start, end, label, name)
    yield from _rows(bars, WINDOW)
    yield from _ticks(WINDOW, seen, "µs from the first issue")


def _bar(bars: Bars, seen, row: int, kind: int, start: float, end: float, label: str, name: str = "") -> str:
    """One launch, its name in it if there is room, and under the pointer what it is."""
    window_top, window_height = WINDOW
    row_height = window_height / (len(bars.rows) + 1)
    height = BAR * row_height
    left = _x(start, seen)
    right = _x(end, seen)
    top = window_top + (row + (1 - BAR) / 2) * row_height
    title = f"<title>{escape(label)}</title>"
    edge = f'stroke="{CARD}" stroke-width="0.5"'
    picture = _rect(left, top, right - left, height, FILLS[kind], edge, title)
    has_room = right - left > LETTER * len(name)
    if name and has_room:
        ink = INK if kind == POINTWISE else CARD
        middle = (left + right) / 2
        picture += _text(middle, top + height / 2 + 4, name, "middle", fill=ink)
    return picture


def _x(when: float, ends: tuple[float, float]) -> float:
    """The pixel of a time between the ends of a panel; at its edge for a time outside."""
    first, last = ends
    inside = min(max(when, first), last)
    return LEFT + (inside - first) / (last - first) * INNER


def _rows(bars: Bars, panel: tuple[int, int]) -> Iterator[str]:
    (top, height) = panel
    names = ("host", *bars.rows)
    for k, name in enumerate(names):
        middle = top + (k + 0.5) * height / len(names)
        yield _text(LEFT - 6, middle + 4, name, "end")


def _ticks(panel: tuple[int, int], ends: tuple[float, float], label: str) -> Iterator[str]:
    """A line below a panel with round numbers on it."""
    bottom = sum(panel)
    start, end = ends
    step = _round_step(end - start)
    first_tick = -(-start // step)  # rounded up
    last_tick = end // step
    yield _rect(LEFT, bottom, INNER, 1, INK)
    for number in np.arange(first_tick, last_tick + 1) * step + 0.0:
        x = _x(number, ends)
        yield _rect(x - 0.5, bottom, 1, 4, INK)
        yield _text(x, bottom + 15, f"{number:.6g}", "middle")
    centre = LEFT + INNER / 2
    yield _text(centre, bottom + 28, label, "middle")


def _round_step(span: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that divides a span into MOST_TICKS parts or fewer."""
    for power in range(-6, 9):
        for digit in (1, 2, 5):
            step = 10.0**power * digit
            if span / step <= MOST_TICKS:
                return step
    raise ValueError(f"an axis of {span:g} is too long for {MOST_TICKS} ticks")


def _stages(stages: Sequence[Stage], steps: int) -> Iterator[str]:
    """Names of the stages, what each moves in the whole pass, and its predicted time for that many steps."""
    sizes = []
    times = []
    for stage in stages:
        launches = quantity(stage.launches, "launch")
        moved = scaled(stage.bytes, "B")
        milliseconds = stage.time / 1e3
        sizes.append((stage.bytes, f"{moved}, {launches}"))
        times.append((stage.time, f"{milliseconds:.3g} ms"))
    yield from _panel(LEFT, INNER * 0.58, "bytes to move (whole pass)", sizes)
    heading = f"predicted time, {quantity(steps, 'step')}"
    yield from _panel(LEFT + INNER * 0.62, INNER * 0.38, heading, times)
    for k, stage in enumerate(stages):
        baseline = STAGES + 12 + LINE * k
        yield _text(LEFT - 6, baseline, stage.name, "end")


def _panel(left: float, width: float, title: str, values: Sequence[tuple[float, str]]) -> Iterator[str]:
    """Bars with their numbers, one for each stage."""
    most = max(1e-9, *(value for value, _ in values))
    longest_label = max(len(label) for _, label in values)
    room = width - LETTER * longest_label
    yield _text(left, STAGES - 5, title)
    for k, (value, label) in enumerate(values):
        top = STAGES + LINE * k
        length = value / most * room
        yield _rect(left, top, length, 15, PALETTE["sky"])
        yield _text(left + length + 4, top + 12, label)


def _legend(bars: Bars, height: float) -> Iterator[str]:
    """The kinds of launches that occur, and the host's."""
    names = (*KINDS, "host issues")
    for place, k in enumerate((*np.unique(bars.kind), HOST)):
        x = LEFT + 130 * place
        yield _rect(x, height - 18, 22, 11, FILLS[k])
        yield _text(x + 28, height - 8, names[k])


def _png(image: np.ndarray) -> str:
    file = io.BytesIO()
    pixels = (255 * image).round().astype("uint8")
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return b64encode(file.getvalue()).decode()


def _rect(
    x: float, y: float, width: float, height: float, fill: str, more: str = "", inside: str = ""
) -> str:
    corner = f'x="{x:.2f}" y="{y:.2f}"'
    size = f'width="{max(0, width):.2f}" height="{height:.2f}"'
    return f'<rect {corner} {size} fill="{fill}" {more}>{inside}</rect>'


def _text(x: float, y: float, label: str, anchor: str = "start", size: int = 11, fill: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    look = f'font-size="{size}" fill="{fill}" pointer-events="none"'
    return f"<text {place} {look}>{escape(label)}</text>"

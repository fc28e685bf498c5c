"""The numbers of a matplotlib figure as HTML tables, for readers who do not see the picture.

Lines and bars have numbers; images, texts and patches have none here: the picture's sentence speaks for them.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

MOST_ROWS = 24  # of a table; of a longer line, as many points at equal distances
MOST_SETTINGS = 6  # of one slider
SUMMARY = "Numbers of this picture"


class Series(NamedTuple):
    """One line or group of bars: its name and its points."""

    name: str
    x: Sequence[str]
    y: Sequence[str]


def tables_of(figure: Figure) -> str:
    """HTML of a closed `details` element with one table for each axis; empty if no axis has numbers."""
    tables = [table for axis in figure.axes for table in axis_tables(axis)]
    if not tables:
        return ""
    return f"<details><summary>{SUMMARY}</summary>{''.join(tables)}</details>"


def axis_tables(axis: Axes) -> Iterator[str]:
    """Tables of one axis: one for all series over the same x, one for each series elsewhere."""
    series = [*bar_series(axis), *line_series(axis)]
    title = axis.get_title() or axis.get_title("left") or axis.get_ylabel()
    groups: dict[tuple, list[Series]] = {}
    for one in series:
        groups.setdefault(tuple(one.x), []).append(one)
    for x, group in groups.items():
        names = [one.name or axis.get_ylabel() or "value" for one in group]
        columns = [axis.get_xlabel() or "x", *names]
        rows = [[place, *(one.y[number] for one in group)] for number, place in enumerate(x)]
        yield table(title, columns, rows)


def table(title: str, columns: list[str], rows: list[list[str]], most: int = MOST_ROWS) -> str:
    """HTML of one table; a long one shows `most` rows at equal distances and says so."""
    shown = rows
    if len(rows) > most:
        shown = [rows[number] for number in np.linspace(0, len(rows) - 1, most).astype(int)]
        title = f"{title} ({most} of {len(rows)} points)".strip()
    caption = f"<caption>{html.escape(plain(title))}</caption>" if title else ""
    head = "".join(f'<th scope="col">{html.escape(plain(name))}</th>' for name in columns)
    body = "".join(row_of(row) for row in shown)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def row_of(row: list[str]) -> str:
    """HTML of one row; its first cell is its heading."""
    first, *rest = map(html.escape, row)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{value}</td>" for value in rest)}</tr>'


def bar_series(axis: Axes) -> Iterator[Series]:
    """Groups of bars: the place of each and the end of its length."""
    for container in axis.containers:
        if not isinstance(container, BarContainer) or not len(container):
            continue
        upright = container.orientation != "horizontal"
        boxes = [bar.get_bbox() for bar in container]
        places = [(box.x0 + box.x1) / 2 if upright else (box.y0 + box.y1) / 2 for box in boxes]
        ends = [box.y1 if upright else box.x1 for box in boxes]
        name = container.get_label()
        if len(axis.containers) > 1:  # bars beside each other stand around the tick of their group
            ticks = (axis.xaxis if upright else axis.yaxis).get_majorticklocs()
            places = [min(ticks, key=lambda tick, place=place: abs(tick - place)) for place in places]
        x = named_places(axis, places, "x" if upright else "y")
        yield Series("" if name.startswith("_") else name, x, [number(end) for end in ends])


def line_series(axis: Axes) -> Iterator[Series]:
    """Lines of two points and more that stand in the data's own coordinates."""
    for line in axis.lines:
        x, y = plotted(line)
        if len(x) < 2 or not line.get_visible() or line.get_transform() != axis.transData:
            continue
        name = str(line.get_label())
        yield Series("" if name.startswith("_") else name, named_places(axis, x, "x"), [*map(number, y)])


def plotted(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """Points x [n], y [n] of a line as floating-point numbers; none where they are not numbers."""
    try:
        return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    except (TypeError, ValueError):
        return np.empty(0), np.empty(0)


def named_places(axis: Axes, places: Sequence[float], direction: str) -> list[str]:
    """Words of the ticks at these places, and the number where a place has none."""
    ruler = axis.xaxis if direction == "x" else axis.yaxis
    labels = zip(ruler.get_majorticklocs(), ruler.get_ticklabels(), strict=False)
    words = {round(float(place), 6): label.get_text() for place, label in labels}
    named = (words.get(round(float(place), 6), "") for place in places)
    return [
        word if re.search(r"[^\W\d_]|×", word) and "$" not in word else number(place)
        for word, place in zip(named, places, strict=True)
    ]


def number(value: float) -> str:
    """Four significant digits; a dash where there is no number."""
    return f"{value:.4g}" if np.isfinite(value) else "–"


def plain(words: str) -> str:
    """Words without matplotlib's marks of mathematics."""
    return words.replace("$", "").replace("\\", "").replace("\n", " ")


def settings_table(describe: Callable[..., str], sliders: dict[str, Any]) -> str:
    """HTML of a closed `details` element: the findings of a view when one slider at a time is moved."""
    start = {name: slider.values[slider.start] for name, slider in sliders.items()}
    rows = []
    for name, slider in sliders.items():
        places = sorted({*np.linspace(0, len(slider.values) - 1, MOST_SETTINGS).astype(int)})
        for place in places[: len(slider.values)]:
            value = slider.values[place]
            setting = f"{slider.label}: {slider.format.format(value)}"
            rows.append([setting, describe(**start | {name: value})])
    summary = "What this picture says at other settings, one changed at a time"
    return (
        f"<details><summary>{summary}</summary>{table('', ['setting', 'finding'], rows, len(rows))}</details>"
    )

"""Pictures that say what they show: one palette, figures with a text alternative, sliders over a figure.

Every picture stands on a light card of its own, so that it reads the same in a light and in a dark theme,
and carries one sentence with its finding for those who hear the page instead of seeing it.

The numbers of a figure stand in tables beside it.  Lines and bars have numbers; images, texts and patches
have none here: the picture's sentence speaks for them.
"""

import html
import io
import os
import re
import struct
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from rnncourse.figures.slider_box import name_sliders, slider_box

MOST_ROWS = 24  # of a table; of a longer line, as many points at equal distances
MOST_SETTINGS = 6  # of one slider
SUMMARY = "Numbers of this picture"
# Okabe and Ito's colours, which people with any common colour blindness can tell apart
PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "red": "#D55E00",
    "purple": "#CC79A7",
}
LINES = [PALETTE[name] for name in ("blue", "red", "green", "orange", "purple", "sky")]
CARD = "#FFFFFF"
PAPER = {"facecolor": CARD, "edgecolor": "none", "pad": 0.5}  # behind a word that a line would strike
PADDING = 6  # pixels of card around the picture
DPI = 96  # dots per inch: sharp enough on a laptop, and small enough to redraw many times a second


def show(figure: Figure, alt: str) -> None:
    """Displays a matplotlib figure; `alt` is the sentence that states its finding."""
    picture = Picture(png(figure), alt, tables_of(figure))
    _close_pyplot_figure(figure)
    display(picture)


def canvas(rows: int = 1, columns: int = 1, *, width: float = 7.0, height: float = 3.4, **subplots: Any):
    """(figure, axes) in the course's style, sizes in inches; axes as `plt.subplots` gives them."""
    figure = Figure(figsize=(width, height), facecolor=CARD, layout="constrained")
    axes = figure.subplots(rows, columns, **subplots)
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_prop_cycle(color=LINES)
    return figure, axes


def steps_as_cells(axis: Axes) -> None:
    """Makes the image on `axis` a table: white lines between cells, a number at every row and column."""
    axis.spines[:].set_visible(False)
    for direction in (axis.xaxis, axis.yaxis):
        direction.set_major_locator(MultipleLocator(1))
        direction.set_minor_locator(MultipleLocator(1, offset=0.5))
    axis.tick_params(which="both", length=0)
    axis.grid(which="minor", color=CARD, linewidth=2)


def png(figure: Figure, dpi: int = DPI) -> bytes:
    """The figure as the bytes of a PNG file."""
    figure.set_dpi(dpi)
    agg = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    file = io.BytesIO()
    # print_png draws once where savefig draws twice; compression level 1, since the bytes go no further
    # than the learner's browser: time counts here and size does not
    agg.print_png(file, pil_kwargs={"compress_level": 1})
    return file.getvalue()


@dataclass(frozen=True)
class Picture:
    """A PNG and the sentence that says what it shows."""

    png: bytes
    alt: str
    numbers: str = ""  # HTML of a table, closed until it is opened

    def __repr__(self) -> str:
        return self.alt

    def tag(self) -> str:
        """The picture as HTML, with its size, so that the page does not jump when it is replaced."""
        width, height = struct.unpack(">II", self.png[16:24])  # where a PNG file states its size
        source = f"data:image/png;base64,{b64encode(self.png).decode()}"
        room = (
            f"max-width:calc(100% - {2 * PADDING}px)"  # the page must not scroll sideways for the card's edge
        )
        style = f"background:{CARD};padding:{PADDING}px;border-radius:4px;{room};height:auto"
        alt = html.escape(self.alt)
        return f'<img src="{source}" width="{width}" height="{height}" alt="{alt}" style="{style}">'

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.tag() + self.numbers, "text/plain": self.alt}


@dataclass(frozen=True)
class Page:
    """A picture in HTML, such as a drawing, and the sentence that says what it shows."""

    html: str
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def tag(self) -> str:
        return self.html

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.html, "text/plain": self.alt}


class Slider(NamedTuple):
    """One thing a reader may move: its label, the values it steps through, the index it starts at."""

    label: str
    values: Sequence
    start: int = 0
    format: str = "{}"
    play: bool = False  # a button that steps through the values by itself; they must be a range

    def at(self, value: Any) -> "Slider":
        """The slider that starts at this value.  Raises ValueError if it is not among its values."""
        values = [*self.values]
        if value not in values:
            raise ValueError(f"{self.label} is {value!r}; there are {', '.join(map(str, values))}")
        return self._replace(start=values.index(value))

    def options(self) -> list[tuple[str, Any]]:
        return [(self.format.format(value), value) for value in self.values]


def slider_view(draw: Callable[..., Any], describe: Callable[..., str], **sliders: Slider) -> "View":
    """A picture with sliders under it.

    `draw(**values) -> Figure` should move the artists of one figure and return it: that is what keeps a
    move below 150 ms. It may also return a page of its own, with `alt` and `tag()` like a Picture's.
    `describe(**values)` is the finding in one sentence: the text alternative, and the line under the picture.
    """
    start = {name: slider.values[slider.start] for name, slider in sliders.items()}
    shown = draw(**start)
    still = _as_page(shown, describe(**start))
    if isinstance(shown, Figure):
        # the layout found once holds: finding it again is a third of a redraw
        shown.set_layout_engine("none")

    def show_at(**values: Any) -> tuple[str, str]:
        finding = describe(**values)
        return _as_page(draw(**values), finding).tag(), finding

    if not widgets_run():
        return View(still, None, settings_table(describe, sliders), (show_at, sliders))
    return View(still, slider_box(show_at, sliders, (still.tag(), describe(**start))))


@dataclass(frozen=True)
class View:
    """Widgets where they run, and the same picture standing still where they do not."""

    still: Picture
    box: Any  # an ipywidgets box, or None
    settings: str = ""  # HTML: what the picture says at other settings, where nothing can be moved
    moves: tuple | None = None  # (function of values, sliders), where a page has all pictures drawn before

    def __repr__(self) -> str:
        return self.still.alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        bundle = self.still._repr_mimebundle_()
        if self.box is None:
            return bundle | {"text/html": bundle.get("text/html", "") + self.settings}
        name_sliders()
        # a front end that knows widgets takes the widget; any other one takes the picture
        # (written out: Colab's ipywidgets 7 offers no such bundle itself)
        widget = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        return bundle | {"application/vnd.jupyter.widget-view+json": widget}


def widgets_run() -> bool:
    """Is there a kernel for a widget to talk to, and ipywidgets to talk with?  RNNLAB_WIDGETS=off says no."""
    if os.environ.get("RNNLAB_WIDGETS") == "off":
        return False
    try:
        import ipywidgets  # noqa: F401
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def _as_page(shown: Any, alt: str):
    return Picture(png(shown), alt) if isinstance(shown, Figure) else shown


def display(picture: Any) -> None:
    """Displays a picture that knows its own HTML; prints its alternative text where IPython is missing."""
    try:
        from IPython import display as ipython
    except ImportError:
        print(picture)
    else:
        ipython.display(picture)


def _close_pyplot_figure(figure: Figure) -> None:
    """Closes a figure made by pyplot, which would otherwise be drawn a second time at the end of the cell."""
    from matplotlib import pyplot

    pyplot.close(figure)


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
    names = {round(float(place), 6): label.get_text() for place, label in labels}
    named = (names.get(round(float(place), 6), "") for place in places)
    return [
        word if re.search(r"[^\W\d_]|×", word) and "$" not in word else number(place)
        for word, place in zip(named, places, strict=True)
    ]


def number(value: float) -> str:
    """Four significant digits; a dash where there is no number."""
    return f"{value:.4g}" if np.isfinite(value) else "–"


def plain(text: str) -> str:
    """Words without matplotlib's marks of mathematics."""
    return text.replace("$", "").replace("\\", "").replace("\n", " ")


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

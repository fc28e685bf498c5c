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
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import get_named_colors_mapping
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from rnncourse.figures.slider_box import name_sliders, slider_box

MOST_ROWS = 24  # of a table; of a longer line, as many points at equal distances
MOST_SETTINGS = 6  # of one slider
OFF_ON = False, True  # values of a switch
SUMMARY = "Numbers of this picture"
# Okabe and Ito's colours, which people with any common colour blindness can tell apart; matplotlib knows them
# as okabe:blue, …
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
get_named_colors_mapping().update({f"okabe:{name}": colour for name, colour in PALETTE.items()})
LINES = ("okabe:blue", "okabe:red", "okabe:green", "okabe:orange", "okabe:purple", "okabe:sky")
CARD = "#FFFFFF"
PAPER = {"facecolor": CARD, "edgecolor": "none", "pad": 0.5}  # behind a word that a line would strike
PADDING = 6  # pixels of card around the picture
DPI = 96  # dots per inch: sharp enough on a laptop, and small enough to redraw many times a second


def show(figure: Figure, alt: str) -> None:
    """Displays a matplotlib figure; `alt` is the sentence that states its finding."""
    from matplotlib import pyplot

    picture = Picture(png(figure), alt, tables_of(figure))
    pyplot.close(figure)  # one made by pyplot would be drawn a second time at the end of the cell
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


def png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    figure.set_dpi(DPI)
    agg = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    file = io.BytesIO()
    # print_png draws once where savefig draws twice; compression level 1, since the bytes go no further
    # than the learner's browser: time counts here and size does not
    agg.print_png(file, pil_kwargs={"compress_level": 1})
    return file.getvalue()


class Shown:
    """What has a text alternative `alt` and knows its own HTML, `tag()`; a notebook shows both."""

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, **_: object) -> dict:
        return {"text/html": self.tag(), "text/plain": self.alt}


@dataclass(frozen=True, repr=False)
class Picture(Shown):
    """A PNG and the sentence that says what it shows."""

    png: bytes
    alt: str
    numbers: str = ""  # HTML of a table, closed until it is opened

    def tag(self) -> str:
        """The picture as HTML, with its size, so that the page does not jump when it is replaced."""
        width, height = struct.unpack(">II", self.png[16:24])  # where a PNG file states its size
        source = f"data:image/png;base64,{b64encode(self.png).decode()}"
        # the page must not scroll sideways for the card's edge
        room = f"max-width:calc(100% - {2 * PADDING}px)"
        style = f"background:{CARD};padding:{PADDING}px;border-radius:4px;{room};height:auto"
        alt = html.escape(self.alt)
        return f'<img src="{source}" width="{width}" height="{height}" alt="{alt}" style="{style}">'

    def _repr_mimebundle_(self, **_: object) -> dict:
        return {"text/html": self.tag() + self.numbers, "text/plain": self.alt}


@dataclass(frozen=True, repr=False)
class Page(Shown):
    """A picture in HTML, such as a drawing, and the sentence that says what it shows."""

    html: str
    alt: str

    def tag(self) -> str:
        return self.html


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
            choices = ", ".join(map(str, values))
            raise ValueError(f"{self.label} is {value!r}; there are {choices}")
        return self._replace(start=values.index(value))

    def options(self) -> list[tuple[str, Any]]:
        return [(self.format.format(value), value) for value in self.values]


def slider_view(draw: Callable[..., Any], describe: Callable[..., str], **sliders: Slider) -> "View":
    """A picture with sliders under it.

    `draw(**values) -> Figure` should move the artists of one figure and return it: that is what keeps a
    move below 150 ms. It may also return a page of its own, with `alt` and `tag()` like a Picture's.
    `describe(**values)` is the finding in one sentence: the text alternative, and the line under the picture.
    """
    start = start_of(sliders)
    shown = draw(**start)
    finding = describe(**start)
    still = _as_page(shown, finding)
    if isinstance(shown, Figure):
        # the layout found once holds: finding it again is a third of a redraw
        shown.set_layout_engine("none")

    def show_at(**values: Any) -> tuple[str, str]:
        finding = describe(**values)
        return _as_page(draw(**values), finding).tag(), finding

    if not widgets_run():
        return View(still, None, settings_table(describe, sliders), (show_at, sliders))
    return View(still, slider_box(show_at, sliders, (still.tag(), finding)))


def start_of(sliders: dict[str, Slider]) -> dict[str, Any]:
    """The value at which each slider starts."""
    return {name: slider.values[slider.start] for name, slider in sliders.items()}


@dataclass(frozen=True)
class View:
    """Widgets where they run, and the same picture standing still where they do not."""

    still: Picture
    box: Any  # an ipywidgets box, or None
    settings: str = ""  # HTML: what the picture says at other settings, where nothing can be moved
    moves: tuple | None = None  # (function of values, sliders), where a page has all pictures drawn before

    def __repr__(self) -> str:
        return self.still.alt

    def _repr_mimebundle_(self, **_: object) -> dict:
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
    except ImportError:
        return False
    return in_a_kernel()


def in_a_kernel() -> bool:
    """Whether IPython runs here as the kernel of a notebook."""
    return "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel")


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
        shown = [rows[number] for number in spread(len(rows), most)]
        title = f"{title} ({most} of {len(rows)} points)".strip()
    caption = f"<caption>{html.escape(plain(title))}</caption>" if title else ""
    head = "".join(f'<th scope="col">{html.escape(plain(name))}</th>' for name in columns)
    body = "".join(row_of(row) for row in shown)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers 0 … count - 1, the first and the last among them, at equal distances."""
    numbers = np.linspace(0, count - 1, most).astype(int)
    return np.unique(numbers).tolist()


def row_of(row: list[str]) -> str:
    """HTML of one row; its first cell is its heading."""
    first, *rest = map(html.escape, row)
    cells = "".join(f"<td>{value}</td>" for value in rest)
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def bar_series(axis: Axes) -> Iterator[Series]:
    """Groups of bars: the place of each and the end of its length."""
    for container in axis.containers:
        if not isinstance(container, BarContainer) or not len(container):
            continue
        corners = np.array([bar.get_bbox().get_points() for bar in container])  # [bars, corners, (x, y)]
        across = int(container.orientation == "horizontal")  # the coordinate along which bars follow
        ruler = (axis.xaxis, axis.yaxis)[across]
        places = corners[:, :, across].mean(axis=1)
        ends = corners[:, 1, 1 - across]
        if len(axis.containers) > 1:  # bars beside each other stand around the tick of their group
            ticks = ruler.get_majorticklocs()
            distances = np.abs(ticks - places[:, np.newaxis])
            places = ticks[distances.argmin(axis=1)]
        names = named_places(ruler, places)
        yield Series(label_of(container), names, [*map(number, ends)])


def line_series(axis: Axes) -> Iterator[Series]:
    """Lines of two points and more that stand in the data's own coordinates."""
    for line in axis.lines:
        x, y = plotted(line)
        is_in_data_coordinates = line.get_transform() == axis.transData
        if len(x) >= 2 and line.get_visible() and is_in_data_coordinates:
            places = named_places(axis.xaxis, x)
            yield Series(label_of(line), places, [*map(number, y)])


def label_of(artist: Artist | BarContainer) -> str:
    """The name that an artist has in a legend; empty if it stands in none."""
    name = str(artist.get_label())
    return "" if name.startswith("_") else name


def plotted(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """Points x [n], y [n] of a line as floating-point numbers; none where they are not numbers."""
    try:
        return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    except (TypeError, ValueError):
        return np.empty(0), np.empty(0)


def named_places(ruler: Axis, places: Sequence[float]) -> list[str]:
    """Words of an axis's ticks at these places, and the number where a place has none."""
    labels = zip(ruler.get_majorticklocs(), ruler.get_ticklabels(), strict=False)
    names = {round(float(place), 6): label.get_text() for place, label in labels}
    words = []
    for place in places:
        word = names.get(round(float(place), 6), "")
        is_word = re.search(r"[^\W\d_]|×", word) and "$" not in word
        words.append(word if is_word else number(place))
    return words


def number(value: float) -> str:
    """Four significant digits; a dash where there is no number."""
    return f"{value:.4g}" if np.isfinite(value) else "–"


def plain(text: str) -> str:
    """Words without matplotlib's marks of mathematics."""
    return text.replace("$", "").replace("\\", "").replace("\n", " ")


def settings_table(describe: Callable[..., str], sliders: dict[str, Slider]) -> str:
    """HTML of a closed `details` element: the findings of a view when one slider at a time is moved."""
    start = start_of(sliders)
    rows = []
    for name, slider in sliders.items():
        for place in spread(len(slider.values), MOST_SETTINGS):
            value = slider.values[place]
            setting = f"{slider.label}: {slider.format.format(value)}"
            rows.append([setting, describe(**start | {name: value})])
    summary = "What this picture says at other settings, one changed at a time"
    return (
        f"<details><summary>{summary}</summary>{table('', ['setting', 'finding'], rows, len(rows))}</details>"
    )

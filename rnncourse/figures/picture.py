"""Pictures that say what they show: one palette, figures with a text alternative, sliders over a figure.

Every picture stands on a light card of its own, so that it reads the same in a light and in a dark theme,
and carries one sentence with its finding for those who hear the page instead of seeing it.
"""

import html
import io
import os
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from rnncourse.figures.figure_table import settings_table, tables_of
from rnncourse.figures.slider_box import name_sliders, slider_box

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

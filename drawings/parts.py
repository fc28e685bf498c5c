"""Parts that many drawings share: two panels, rows and matrices of elements, bars over time."""

from collections.abc import Collection, Sequence

from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import INK, PLAIN, QUIET, SMALL, Point

LEFT = 20
RIGHT = 470
MIDDLES = (225, 675)  # edges and middles of two panels


def panels(s: Sheet, left: tuple[str, str], right: tuple[str, str], findings: Sequence[str] = ()) -> None:
    """Headings of two panels, each with its line, the hairline between them, and a finding below each."""
    s.heading(LEFT, *left)
    s.heading(RIGHT, *right)
    s.rule((450, 16), (450, s.height - 16))
    for x, words in zip(MIDDLES, findings, strict=False):
        s.text(x, s.height - 22, words, size=PLAIN, bold=True)


def row(
    s: Sheet,
    x: float,
    y: float,
    labels: Sequence[str],
    role: str = "data",
    *,
    width: float = 36,
    height: float = 32,
    mark: Collection[int] = (),
) -> None:
    """Elements of a vector next to each other, or threads of a warp; those in `mark` stand out."""
    for place, word in enumerate(labels):
        element(s, x + place * width, y, width, height, role, word, mark=place in mark)


def matrix(
    s: Sheet,
    x: float,
    y: float,
    shape: tuple[int, int],
    role: str = "data",
    *,
    cell: float | tuple[float, float] = 20,
    mark: Collection[tuple[int, int]] = (),
    solid: Collection[tuple[int, int]] = (),
) -> None:
    """Elements (row, column) of a matrix; `cell` is a side, or width and height."""
    width, height = cell if isinstance(cell, tuple) else (cell, cell)
    for r in range(shape[0]):
        for c in range(shape[1]):
            place = (x + c * width, y + r * height)
            look = {"mark": (r, c) in mark, "solid": (r, c) in solid}
            element(s, *place, width, height, role, **look)


def element(
    s: Sheet,
    x: float,
    y: float,
    width: float,
    height: float,
    role: str,
    label: str = "",
    *,
    mark: bool = False,
    solid: bool = False,
) -> None:
    """Element of an array with room around it; marked ones have a thick edge of ink, for print in grey."""
    if mark:
        s.tile(x + 2, y + 2, width - 4, height - 4, HIGHLIGHT, label, edge=3)
    else:
        s.box(x + 1, y + 1, width - 2, height - 2, role, label, solid=solid, size=SMALL, radius=1)


def lane(s: Sheet, x: float, y: float, name: str, bars: str, height: float = 32) -> None:
    """What one thread, stream or rank does over time, from x on: "work 120 step 0 | waiting 40 | gap 20".

    A bar is its role, its length in pixels and its words; "waiting" is hatched, "gap" leaves room.
    """
    s.note(LEFT, y + height / 2 + 5, name, bold=True)
    for bar in bars.split("|"):
        role, length, *label = bar.split(maxsplit=2)
        if role == "waiting":
            s.hatch(x, y, float(length) - 3, height)
        elif role != "gap":
            s.box(x, y, float(length) - 3, height, role, "".join(label).strip(), size=SMALL, radius=2)
        x += float(length)


def diamond(s: Sheet, x: float, y: float) -> None:
    """Event on the edge of a bar, such as a checkpoint."""
    s.element("path", d=f"M{x - 8} {y}L{x} {y - 8}L{x + 8} {y}L{x} {y + 8}Z", fill=INK)


def time_axis(s: Sheet, x: float, y: float) -> None:
    """Arrow of time under bars."""
    s.arrow((x, y), (880, y))
    s.text(872, y + 22, "time", anchor="end", colour=QUIET)


def node(s: Sheet, middle: Point, label: str, role: str = "work", width: float = 56) -> None:
    """Operation of a graph as a pill with its name, around its middle."""
    x, y = middle
    s.box(x - width / 2, y - 17, width, 34, role, label, size=SMALL, radius=17)


def array(
    s: Sheet, middle: Point, label: str, role: str = "data", width: float = 56, height: float = 34, **look
) -> None:
    """Array of a graph as a sharp rectangle with its name, around its middle."""
    x, y = middle
    s.box(x - width / 2, y - height / 2, width, height, role, label, size=SMALL, radius=2, **look)

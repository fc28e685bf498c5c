"""Sheet to draw on: shapes with roles, arrows with round corners, words; the result is one piece of SVG.

A drawing is a function that makes a Sheet, draws on it and returns it.  The SVG has no ids, styles or
references, so that any number of drawings stand in one page, and a white card of its own, so that it reads
the same in a light and in a dark theme.  Numbers are pixels at the full width of 900.

A role is the meaning of a colour and a line, the same in every drawing of the course.  Hues come from the
palette of the charts, darkened where they become lines or words: edges stand out from the white card by
4 : 1, words by 4.5 : 1.  Colour never speaks alone: a solid or dashed edge, an open or filled arrowhead,
hatching or a word says the same again, for print in grey and for readers who see fewer colours.
"""

import math
import re
from html import escape
from itertools import pairwise
from typing import NamedTuple

from rnncourse.figures.picture import CARD, PALETTE

INK = "#1B2733"
QUIET = "#55606E"
HAIRLINE = "#DDE2E8"
CHIP = "#EEF1F4"
CHIP_EDGE = "#B8C1CC"
HIGHLIGHT = PALETTE["yellow"]  # always inside an edge of INK
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
SMALL = 14
PLAIN = 16
HEADING = 19  # pixels at the full width of 900; no letter is smaller than SMALL
LOWERED = 0.74  # size of an index beside its letter


class Role(NamedTuple):
    """Colours of one kind of thing."""

    edge: str  # and arrows
    pale: str  # INK stands on it
    solid: str
    letters: str  # on the solid fill
    text: str  # about the thing, on the card


ROLES = {
    "data": Role("#3B4654", "#EDF0F4", "#3B4654", CARD, INK),  # inputs, results, a memory's frame
    "state": Role(PALETTE["blue"], "#D6EAF7", PALETTE["blue"], CARD, PALETTE["blue"]),  # h and c
    "weights": Role("#A86D00", "#FCEBC6", PALETTE["orange"], INK, "#7A4F00"),  # and sums of their gradients
    "work": Role("#00704F", "#D2F0E4", "#00704F", CARD, "#00704F"),  # a product, a kernel, a thread that runs
    "gradient": Role("#A8427F", "#F6DFEC", "#A8427F", CARD, "#A8427F"),  # everything called d<name>
    "error": Role("#A32A00", "#FBDFCF", "#A32A00", CARD, "#A32A00"),  # a conflict, a race, an overflow
    "waiting": Role("#6B7683", CARD, CARD, INK, QUIET),  # hatched: time or a place that does no work
    "plain": Role(INK, CARD, INK, CARD, INK),
}
LANES = (PALETTE["sky"], PALETTE["orange"], "#33B58F", PALETTE["purple"])  # several things of one kind


class Stroke(NamedTuple):
    """Line of an arrow: width in pixels, dashes, and whether its head is open."""

    width: float
    dashes: str = ""
    open_head: bool = False


STROKES = {
    "data": Stroke(2),
    "state": Stroke(3),
    "weights": Stroke(3),
    "work": Stroke(3),
    "gradient": Stroke(3, open_head=True),  # distinct from every other arrow without colour
    "error": Stroke(3),
    "waiting": Stroke(2, "5 4"),
    "plain": Stroke(2),
}


WIDTH = 900
INDEX = re.compile(r"([_^])\{(.*?)\}")  # h_{t} lowers t, W^{a} raises a
SHIFT = {"_": 0.22, "^": -0.38}  # downwards, in sizes of the letter
HALO = 7  # pixels of white around an arrow that crosses another one
Point = tuple[float, float]


class Sheet:
    """White card with a title; `alt` is the finding in words, for readers who do not see the drawing.

    `now` is a sentence about the step that is drawn, for drawings of something that passes in time.
    """

    def __init__(self, title: str, alt: str, height: int, now: str = "") -> None:
        self.title = title
        self.alt = alt
        self.height = height
        self.now = now
        self.elements: list[str] = []

    def element(self, tag: str, content: str = "", **attributes: object) -> None:
        """One SVG element; `stroke_width` becomes stroke-width, None is left out."""
        pairs = [(key.replace("_", "-"), value) for key, value in attributes.items() if value is not None]
        written = " ".join(f'{key}="{_number(value)}"' for key, value in pairs)
        self.elements.append(f"<{tag} {written}>{content}</{tag}>" if content else f"<{tag} {written}/>")

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        role: str = "plain",
        label: str = "",
        *,
        solid: bool = False,
        dashed: bool = False,
        size: int = PLAIN,
        radius: float = 6,
    ) -> None:
        """Rectangle with centred label; solid where a thing stays, dashed where it is a copy that passes."""
        look = ROLES[role]
        fill = look.solid if solid else look.pale
        dashes = "5 3" if dashed else None
        place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
        self.element("rect", **place, fill=fill, stroke=look.edge, stroke_width=1.8, stroke_dasharray=dashes)
        lines = label.split("\n") if label else []
        for number, line in enumerate(lines):
            down = height / 2 + size * (0.36 + 1.2 * (number - (len(lines) - 1) / 2))
            self.text(x + width / 2, y + down, line, size=size, colour=look.letters if solid else INK)

    def tile(
        self, x: float, y: float, width: float, height: float, fill: str, label: str = "", edge: float = 1.2
    ) -> None:
        """Sharp rectangle with an edge of ink: an element of an array, a lane, a marked place."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": 2}
        self.element("rect", **place, fill=fill, stroke=INK, stroke_width=edge)
        if label:
            self.text(x + width / 2, y + height / 2 + 5, label, size=SMALL)

    def area(self, x: float, y: float, width: float, height: float, fill: str = CHIP, radius: float = 14):
        """Ground on which other shapes stand, such as a chip."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
        self.element("rect", **place, fill=fill, stroke=CHIP_EDGE if fill == CHIP else None)

    def circle(self, x: float, y: float, label: str, role: str = "work", radius: float = 16) -> None:
        """Operation with its sign."""
        look = ROLES[role]
        self.element("circle", cx=x, cy=y, r=radius, fill=look.pale, stroke=look.edge, stroke_width=1.8)
        self.text(x, y + 6, label, size=18)

    def hatch(self, x: float, y: float, width: float, height: float, gap: float = 8) -> None:
        """Waiting, or a place that is not used: strokes at 45 degrees inside an edge."""
        edge = ROLES["waiting"].edge
        path = ""
        self.element("rect", x=x, y=y, width=width, height=height, rx=2, fill=CARD, stroke=edge)
        for step in range(1, math.ceil((width + height) / gap)):
            d = step * gap
            path += f"M{_number(x + max(0, d - height))} {_number(y + min(d, height))}"
            path += f"L{_number(x + min(d, width))} {_number(y + max(0, d - width))}"
        self.element("path", d=path, fill="none", stroke=edge, opacity=0.7)

    def line(self, *points: Point, colour: str = INK, width: float = 2, dashes: str | None = None) -> None:
        """Line through the points, without a head."""
        path = _rounded(points, 9)
        self.element("path", d=path, fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dashes)

    def rule(self, start: Point, end: Point) -> None:
        """Hairline that parts two panels."""
        self.line(start, end, colour=HAIRLINE, width=1)

    def barrier(self, start: Point, end: Point) -> None:
        """Thick bar across all who synchronise."""
        self.line(start, end, width=5)

    def arrow(self, *points: Point, role: str = "data", corner: float = 9, halo: bool = False) -> None:
        """Line through the points, with round corners, to a head at the last one."""
        look = STROKES[role]
        colour = ROLES[role].edge
        head, end = _head(points[-2], points[-1], 6 + 2 * look.width, look.open_head)
        path = _rounded((*points[:-1], end), corner)
        pen = {"stroke": colour, "stroke_width": look.width}
        if halo:
            self.element("path", d=path, fill="none", stroke=CARD, stroke_width=look.width + HALO)
        self.element("path", d=path, fill="none", **pen, stroke_dasharray=look.dashes or None)
        if look.open_head:
            self.element("path", d=head, fill="none", **pen, stroke_linejoin="round", stroke_linecap="round")
        else:
            self.element("path", d=head + "Z", fill=colour)

    def gap(self, x: float, y: float) -> None:
        """Ellipsis in a gap of an arrow: steps are left out."""
        self.area(x - 14, y - 10, 28, 20, CARD, 0)
        self.text(x, y + 5, "…", size=HEADING)

    def wedge(self, x: float, y: float) -> None:
        """Launch of a kernel: a black wedge whose left edge is at x."""
        path = f"M{_number(x)} {_number(y)}L{_number(x + 12)} {_number(y + 12)}"
        self.element("path", d=f"{path}L{_number(x)} {_number(y + 24)}Z", fill=INK)

    def text(
        self,
        x: float,
        y: float,
        label: str,
        *,
        size: int = SMALL,
        anchor: str = "middle",
        bold: bool = False,
        colour: str = INK,
    ) -> None:
        """Words with their baseline at y; `h_{t}` lowers, `W^{a}` raises."""
        look = {"font_size": size, "text_anchor": anchor, "font_weight": "600" if bold else None}
        self.element("text", _spans(label, size), x=x, y=y, **look, fill=colour)

    def note(self, x: float, y: float, label: str, role: str = "plain", *, bold: bool = False) -> None:
        """A small label that begins at x, in the colour of what it is about."""
        self.text(x, y, label, anchor="start", bold=bold, colour=ROLES[role].text)

    def heading(self, x: float, label: str, line: str = "", y: float = 34) -> None:
        """Heading of a panel, and under it one line that says how to read it."""
        self.text(x, y, label, size=HEADING, anchor="start", bold=True)
        if line:
            self.text(x, y + 24, line, anchor="start", colour=QUIET)

    def tag(self) -> str:
        """The drawing as SVG text, the same bytes on every machine; slider_view calls it by this name."""
        label = escape(self.alt)
        size = f'viewBox="0 0 {WIDTH} {self.height}"'
        room = f'width="{WIDTH}" height="{self.height}" style="max-width:100%;height:auto"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {size} {room}'
        contents = f"<title>{escape(self.title)}</title>\n<desc>{label}</desc>"
        card = f'<rect width="{WIDTH}" height="{self.height}" rx="6" fill="{CARD}"/>'
        return "\n".join([f'{start} font-family="{FONT}">', contents, card, *self.elements, "</svg>\n"])

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.tag(), "text/plain": self.alt}


def _number(value: object) -> str:
    """At most one decimal, so that the same drawing has the same bytes everywhere."""
    return f"{round(value, 1):g}" if isinstance(value, int | float) else str(value)


def _toward(start: Point, end: Point, distance: float) -> Point:
    """The point `distance` pixels from start on the way to end, at most half the way."""
    length = math.dist(start, end)
    share = min(distance, length / 2) / length
    x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return x, y


def _rounded(points: tuple[Point, ...], radius: float) -> str:
    """Path through the points whose corners are round."""
    path = f"M{_pair(points[0])}"
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        enter = _toward(corner, before, radius)
        leave = _toward(corner, after, radius)
        path += f"L{_pair(enter)}Q{_pair(corner)} {_pair(leave)}"
    return path + f"L{_pair(points[-1])}"


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _head(before: Point, tip: Point, length: float, open_head: bool) -> tuple[str, Point]:
    """Path of an arrowhead, and the point where its line ends so that it does not show beyond the head."""
    distance = math.dist(before, tip)
    dx = (tip[0] - before[0]) / distance
    dy = (tip[1] - before[1]) / distance

    def behind(along, aside):
        return tip[0] - along * dx - aside * dy, tip[1] - along * dy + aside * dx

    left = behind(length, 0.42 * length)
    right = behind(length, -0.42 * length)
    end = behind(2 if open_head else length - 2, 0)
    return f"M{_pair(left)}L{_pair(tip)}L{_pair(right)}", end


def _spans(label: str, size: int) -> str:
    """Words with their indices as smaller spans, each followed by a step back to the line."""
    content = ""
    shift = 0.0
    start = 0
    for match in INDEX.finditer(label):
        content += _plain(label[start : match.start()], shift)
        shift = SHIFT[match[1]] * size - (shift if match.start() == start else 0)
        start = match.end()
        content += (
            f'<tspan dy="{_number(shift)}" font-size="{_number(size * LOWERED)}">{escape(match[2])}</tspan>'
        )
    return content + _plain(label[start:], shift)


def _plain(label: str, shift: float) -> str:
    if not label:
        return ""
    return f'<tspan dy="{_number(-shift)}">{escape(label)}</tspan>' if shift else escape(label)

"""Shapes of the drawings: boxes and tiles, arrows with round corners, hatching, barriers; on a Sheet.

An arrow has the role of what it carries. Colour never speaks alone: a dashed line or an open head says the
same again.
"""

import math
import re
from html import escape
from itertools import pairwise
from typing import NamedTuple

from rnncourse.figures import pen
from rnncourse.figures.pen import (
    CARD,
    HAIRLINE,
    HEADING,
    INK,
    PLAIN,
    ROLES,
    SMALL,
    Point,
    number,
    pair,
)
from rnncourse.figures.picture import PALETTE

HIGHLIGHT = PALETTE["yellow"]  # always inside an edge of INK
LANES = (PALETTE["sky"], PALETTE["orange"], "#33B58F", PALETTE["purple"])  # several things of one kind
INDEX = re.compile(r"([_^])\{(.*?)\}")  # h_{t} lowers t, W^{a} raises a
SHIFT = {"_": 0.22, "^": -0.38}  # downwards, in sizes of the letter
LOWERED = 0.74  # size of an index beside its letter
HALO = 7  # pixels of white around an arrow that crosses another one


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


class Sheet(pen.Sheet):
    """The card on which a drawing of a lesson stands.  In its words, `h_{t}` lowers and `W^{a}` raises."""

    def path(self, points: tuple[Point, ...]) -> str:
        return rounded(points, 9)

    def words(self, label: str, size: int) -> str:
        return _spans(label, size)

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
        for row, line in enumerate(lines):
            down = height / 2 + size * (0.36 + 1.2 * (row - (len(lines) - 1) / 2))
            self.text(x + width / 2, y + down, line, size=size, colour=look.letters if solid else INK)

    def tile(
        self, x: float, y: float, width: float, height: float, fill: str, label: str = "", edge: float = 1.2
    ) -> None:
        """Sharp rectangle with an edge of ink: an element of an array, a lane, a marked place."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": 2}
        self.element("rect", **place, fill=fill, stroke=INK, stroke_width=edge)
        if label:
            self.text(x + width / 2, y + height / 2 + 5, label, size=SMALL)

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
            path += f"M{number(x + max(0, d - height))} {number(y + min(d, height))}"
            path += f"L{number(x + min(d, width))} {number(y + max(0, d - width))}"
        self.element("path", d=path, fill="none", stroke=edge, opacity=0.7)

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
        path = rounded((*points[:-1], end), corner)
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
        path = f"M{number(x)} {number(y)}L{number(x + 12)} {number(y + 12)}"
        self.element("path", d=f"{path}L{number(x)} {number(y + 24)}Z", fill=INK)


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
    return f"M{pair(left)}L{pair(tip)}L{pair(right)}", end


def _toward(start: Point, end: Point, distance: float) -> Point:
    """The point `distance` pixels from start on the way to end, at most half the way."""
    length = math.dist(start, end)
    share = min(distance, length / 2) / length
    x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return x, y


def rounded(points: tuple[Point, ...], radius: float) -> str:
    """Path through the points whose corners are round."""
    path = f"M{pair(points[0])}"
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        enter = _toward(corner, before, radius)
        leave = _toward(corner, after, radius)
        path += f"L{pair(enter)}Q{pair(corner)} {pair(leave)}"
    return path + f"L{pair(points[-1])}"


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
            f'<tspan dy="{number(shift)}" font-size="{number(size * LOWERED)}">{escape(match[2])}</tspan>'
        )
    return content + _plain(label[start:], shift)


def _plain(label: str, shift: float) -> str:
    if not label:
        return ""
    return f'<tspan dy="{number(-shift)}">{escape(label)}</tspan>' if shift else escape(label)

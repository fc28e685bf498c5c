"""Sheet to draw on: areas, lines, words, in the colours of roles; the result is one piece of SVG.

A drawing is a function that makes a Sheet, draws on it and returns it; those of the lessons have further
shapes (drawings/pen.py).  The SVG has no ids, styles or
references, so that any number of drawings stand in one page, and a white card of its own, so that it reads
the same in a light and in a dark theme.  Numbers are pixels at the full width of 900.

A role is the meaning of a colour and a line, the same in every drawing of the course.  Hues come from the
palette of the charts, darkened where they become lines or words: edges stand out from the white card by
4 : 1, words by 4.5 : 1.  Colour never speaks alone: a solid or dashed edge, an open or filled arrowhead,
hatching or a word says the same again, for print in grey and for readers who see fewer colours.
"""

from html import escape
from typing import NamedTuple

from rnncourse.figures.picture import CARD, PALETTE, Shown

INK = "#1B2733"
QUIET = "#55606E"
HAIRLINE = "#DDE2E8"
CHIP = "#EEF1F4"
CHIP_EDGE = "#B8C1CC"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
SMALL = 14
PLAIN = 16
HEADING = 19  # pixels at the full width of 900; no letter is smaller than SMALL


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


WIDTH = 900
Point = tuple[float, float]


class Sheet(Shown):
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
        pairs = []
        for key, value in attributes.items():
            if value is not None:
                name = key.replace("_", "-")
                pairs.append(f'{name}="{number(value)}"')
        written = " ".join(pairs)
        end = f">{content}</{tag}>" if content else "/>"
        self.elements.append(f"<{tag} {written}{end}")

    def area(self, x: float, y: float, width: float, height: float, fill: str = CHIP, radius: float = 14):
        """Ground on which other shapes stand, such as a chip."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
        edge = CHIP_EDGE if fill == CHIP else None
        self.element("rect", **place, fill=fill, stroke=edge)

    def line(self, *points: Point, colour: str = INK, width: float = 2, dashes: str | None = None) -> None:
        """Line through the points, without a head."""
        path = self.path(points)
        self.element("path", d=path, fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dashes)

    def path(self, points: tuple[Point, ...]) -> str:
        """Path of a line."""
        corners = "L".join(map(pair, points))
        return f"M{corners}"

    def words(self, label: str, size: int) -> str:
        """What stands in a text."""
        return escape(label)

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
        """Words with their baseline at y."""
        weight = "600" if bold else None
        look = {"font_size": size, "text_anchor": anchor, "font_weight": weight}
        self.element("text", self.words(label, size), x=x, y=y, **look, fill=colour)

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
        letters = f'font-family="{FONT}"'
        contents = f"<title>{escape(self.title)}</title>\n<desc>{label}</desc>"
        card = f'<rect width="{WIDTH}" height="{self.height}" rx="6" fill="{CARD}"/>'
        lines = [f"{start} {letters}>", contents, card, *self.elements, "</svg>\n"]
        return "\n".join(lines)


def number(value: object) -> str:
    """At most one decimal, so that the same drawing has the same bytes everywhere."""
    if isinstance(value, int | float):
        rounded = round(value, 1)
        return f"{rounded:g}"
    return str(value)


def pair(point: Point) -> str:
    x, y = point
    return f"{number(x)} {number(y)}"

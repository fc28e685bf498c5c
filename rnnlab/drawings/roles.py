"""Meaning of colours and lines in every drawing of the course, and the sizes of its letters.

Hues come from the palette of the charts, darkened where they become lines or words: edges stand out from the
white card by 4 : 1, words by 4.5 : 1.  Colour never speaks alone: a solid or dashed edge, an open or filled
arrowhead, hatching or a word says the same again, for print in grey and for readers who see fewer colours.
"""

from typing import NamedTuple

from rnnlab.picture import CARD, PALETTE

INK, QUIET, HAIRLINE = "#1B2733", "#55606E", "#DDE2E8"
CHIP, CHIP_EDGE = "#EEF1F4", "#B8C1CC"
HIGHLIGHT = PALETTE["yellow"]  # always inside an edge of INK
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
SMALL, PLAIN, HEADING = 14, 16, 19  # pixels at the full width of 900; no letter is smaller than SMALL
LOWERED = 0.74  # size of an index beside its letter


class Role(NamedTuple):
    """Colours of one kind of thing."""

    edge: str  # and arrows
    pale: str  # INK stands on it
    solid: str
    letters: str  # on the solid fill
    words: str  # about the thing, on the card


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

"""Drawings of a step's product, and of weights packed into panels in the order in which a tile reads them."""

from drawings.pen import Sheet
from rnncourse.figures.pen import PLAIN, QUIET

TERMS = 5  # rows of weights
PANELS = 3  # pieces of a row
MARK = 1  # panel that a tile reads
PIECE = 112
HEIGHT = 30  # pixels of a piece of a row
CELL = 27.3  # pixels of a piece in memory


def same_weights_every_step() -> Sheet:
    """Lesson 08: what changes from step to step is small; the weights are large and stay."""
    s = Sheet(
        "The product of a step",
        "In each step of a recurrent network a few rows of states are multiplied by a large matrix of "
        "weights. The states change, and the weights stay the same. Three steps, one below the other, drawn "
        "to scale: 16 rows of states, 64 terms and 64 columns of weights.",
        420,
    )
    s.heading(20, "A product in every step", "To scale: 16 rows of 64 states times 64 by 64 weights.")
    for x, label in ((164, "states"), (344, "weights"), (524, "results")):
        s.text(x, 92, label, colour=QUIET)
    for step in range(3):
        y = 108 + step * 104
        s.note(20, y + 50, f"step {step}", bold=True)
        s.box(120, y + 34, 88, 22, "state", radius=1)
        s.text(254, y + 51, "×", size=PLAIN)
        s.box(300, y, 88, 88, "weights", radius=1)
        s.text(434, y + 51, "=", size=PLAIN)
        s.box(480, y + 34, 88, 22, "data", radius=1)
    s.note(620, 158, "The states are new in every step.")
    s.note(620, 262, "The weights are the same numbers.")
    s.note(620, 366, "Each weight: 16 multiply-adds.")
    return s


def packed_panels() -> Sheet:
    """Lesson 08: weights are packed once into the order in which they will be read."""
    s = Sheet(
        "Weights packed once",
        "Packed into panels, the weights that a tile needs lie in one run of memory; as they are stored, "
        "they lie in as many pieces as there are terms. Left, the columns of one panel, marked in every row. "
        "Right, the same five pieces one below the other, and next to each other in memory.",
        434,
    )
    s.heading(20, "As they are stored", "Numbers: rows. A tile needs a piece of each.")
    s.rule((450, 16), (450, 418))
    s.heading(470, "Packed once, before the loop", "The same pieces, panel by panel.")
    for panel in range(PANELS):
        for term in range(TERMS):
            solid = panel == MARK
            y = 92 + term * HEIGHT
            left = 20 + panel * PIECE
            s.box(left, y, PIECE, HEIGHT, "weights", str(term), solid=solid, size=14, radius=1)
            left = 470 + panel * (PIECE + 20)
            s.box(left, y, PIECE, HEIGHT, "weights", str(term), solid=solid, size=14, radius=1)
        s.text(470 + panel * (PIECE + 20) + PIECE / 2, 272, f"panel {panel}", colour=QUIET)
    s.text(20 + PIECE * 1.5, 272, "the tile's columns", colour=QUIET)
    stored = [(term, panel) for term in range(TERMS) for panel in range(PANELS)]
    _memory(s, 20, stored)
    _memory(s, 470, sorted(stored, key=lambda piece: piece[1]))
    s.text(225, 408, "5 short reads in every step", size=PLAIN, bold=True)
    s.text(675, 408, "1 long read in every step", size=PLAIN, bold=True)
    return s


def _memory(s: Sheet, left: float, pieces: list[tuple[int, int]]) -> None:
    """Pieces (term, panel) in the order of their addresses."""
    s.note(left, 314, "in memory", bold=True)
    for place, (term, panel) in enumerate(pieces):
        x = left + place * CELL
        s.box(x, 324, CELL, 44, "weights", str(term), solid=panel == MARK, size=14, radius=1)

"""Drawing of weights as they are stored, and packed into panels in the order in which a tile reads them."""

from rnncourse.figures.pen import PLAIN, QUIET, Sheet

TERMS, PANELS = 5, 3  # rows of weights; pieces of a row
MARK = 1  # panel that a tile reads
PIECE, HEIGHT = 112, 30  # pixels of a piece of a row
CELL = 27.3  # pixels of a piece in memory


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
            solid, y = panel == MARK, 92 + term * HEIGHT
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

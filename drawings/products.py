"""Drawings of products on a CPU: two roofs, pieces, padding, cache lines, tiles in caches and registers."""

from drawings.parts import array, element, matrix, node, panels, row
from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import PLAIN

PIECE = 64  # sequences in one piece of a product, as cuBLAS cut it in 2015
# tiles of c = a b, in order ijk
ROWS = 3
VECTORS = 2
VECTOR = 4
TERMS = 4  # of the register tile; numbers of a vector; terms of the sums


def two_roofs() -> Sheet:
    """Lesson 00: memory delivers, arithmetic computes, and the slower one decides."""
    s = Sheet(
        "Two roofs",
        "The slower of two parts sets the rate: the pipe from memory or the engine of arithmetic. Left, "
        "few operations for each number: the pipe is the limit and the engine waits. Right, many "
        "operations for each number: the engine is the limit and the pipe is not full.",
        340,
    )
    panels(
        s,
        ("Few FLOP a byte", "The engine waits for numbers."),
        ("Many FLOP a byte", "Numbers wait for the engine."),
        ("bandwidth is the limit", "peak is the limit"),
    )
    for left, full in ((20, False), (470, True)):
        s.box(left, 96, 90, 150, "data", "memory", radius=3)
        s.box(left + 112, 146, 130, 50, "data", radius=2)
        for number in range(3 if full else 6):
            s.tile(left + 118 + 20 * number, 156, 16, 30, HIGHLIGHT)
        s.arrow((left + 244, 171), (left + 274, 171))
        s.box(left + 276, 96, 130, 150, "work", radius=3)
        for number in range(6):
            x = left + 288 + 54 * (number % 2)
            y = 108 + 42 * (number // 2)
            if full or number < 2:
                s.box(x, y, 50, 36, "work", "× +", solid=True, radius=3, size=14)
            else:
                s.hatch(x, y, 50, 36)
        s.text(left + 177, 136, "pipe: GB/s")
        s.text(left + 341, 272, "engine: GFLOP/s")
    return s


def padding_with_zeros() -> Sheet:
    """Lesson 05: zeros make a size suit and change no sum."""
    s = Sheet(
        "Padding with zeros",
        "Zeros in the rows and columns that are added change no sum, so a padded product holds the same "
        "numbers. Five columns of the first matrix and five rows of the second become eight; each further "
        "term of a sum is zero times zero. The result keeps its size.",
        340,
    )
    s.heading(20, "5 terms of every sum become 8", "A sum does not notice a term that is zero.")
    matrix(s, 30, 130, (4, 8), cell=34)
    matrix(s, 390, 90, (8, 4), "weights", cell=(44, 24))
    matrix(s, 660, 130, (4, 4), "state", cell=34)
    for r in range(4):
        for place in range(3):
            element(s, 30 + 34 * (5 + place), 130 + 34 * r, 34, 34, "waiting", "0")
            element(s, 390 + 44 * r, 90 + 24 * (5 + place), 44, 24, "waiting", "0")
    for x, label in ((346, "×"), (612, "=")):
        s.text(x, 204, label, size=20)
    for x, label in ((166, "4 rows of 5, now 8"), (478, "5 rows, now 8"), (728, "still 4 × 4")):
        s.text(x, 310, label, bold=True)
    return s


def inputs_over_time() -> Sheet:
    """Lesson 05: products of all steps with one matrix are one tall product."""
    s = Sheet(
        "One tall product",
        "The inputs of all steps are known before the loop, so their products with the same weights are "
        "one product with more rows. Left, four products that each read all weights for two rows. Right, "
        "the same rows on top of each other: the weights are read once for eight rows.",
        390,
    )
    panels(
        s,
        ("A product for every step", "B rows, and all weights each time."),
        ("One product for all steps", "T·B rows, and the weights once."),
        ("T reads of W, B rows each", "1 read of W, T·B rows"),
    )
    for step in range(4):
        y = 84 + 64 * step
        matrix(s, 90, y + 8, (2, 4), cell=(24, 18))
        s.note(20, y + 31, f"step {step}", bold=True)
        s.text(206, y + 31, "×", size=PLAIN)
        s.box(226, y, 96, 52, "weights", "W", solid=True, radius=2)
        s.text(340, y + 31, "=", size=PLAIN)
        matrix(s, 358, y + 8, (2, 3), "state", cell=(24, 18))
        matrix(s, 500, 110 + 48 * step, (2, 4), cell=24)
    s.text(616, 206, "×", size=PLAIN)
    s.box(634, 150, 110, 110, "weights", "W", solid=True, radius=2)
    s.text(764, 206, "=", size=PLAIN)
    matrix(s, 784, 110, (8, 3), "state", cell=24)
    return s


def cache_lines() -> Sheet:
    """Lesson 08: along a row a loop uses all of a cache line, down a column one number of each."""
    s = Sheet(
        "Cache lines",
        "Along a row one line from memory serves eight numbers; down a column each number brings a line of "
        "its own, and seven eighths of it are not used: of a line of 16, fifteen sixteenths. Both panels "
        "show the same matrix with a row of 8 in a line; used numbers are marked, a cross is in those that "
        "are read for nothing.",
        380,
    )
    panels(
        s,
        ("Along a row", "Marked: used. ×: read and not used."),
        ("Down a column", "Each number brings a line with it."),
        ("8 numbers used, 1 line read", "8 numbers used, 8 lines read"),
    )
    across = {(3, c) for c in range(8)}
    down = {(r, 2) for r in range(8)}
    for left, mark, lines in ((60, across, (3,)), (510, down, range(8))):
        for r in range(8):
            for c in range(8):
                used = (r, c) in mark
                read = r in lines
                place = (left + 40 * c, 86 + 28 * r, 40, 28, "data" if read else "plain")
                element(s, *place, "×" if read and not used else "", mark=used)
    return s


def vector_lanes() -> Sheet:
    """Lesson 06: a call works on one number, a vector instruction on eight."""
    s = Sheet(
        "One number at a time, or eight",
        "A loop that calls a function works on one number at a time; a loop of pure arithmetic works on "
        "all numbers of a vector register with each instruction. Left, eight calls one after the other. "
        "Right, each instruction works on eight lanes, for 256-bit registers and float32.",
        330,
    )
    panels(
        s,
        ("A call in the loop", "The C library takes one number."),
        ("Arithmetic in the loop", "An instruction takes a whole register."),
        ("8 calls for 8 numbers", "each instruction: 8 numbers"),
    )
    for left, role in ((50, "waiting"), (500, "work")):
        row(s, left, 92, [f"a_{{{n}}}" for n in range(8)], width=44, mark=(2,) if left == 50 else range(8))
        row(s, left, 228, ["tanh"] * 3 + [""] * 5 if left == 50 else ["tanh"] * 8, role, width=44)
    s.arrow((160, 126), (160, 154))
    node(s, (160, 172), "tanh", width=80)
    s.arrow((160, 190), (160, 226))
    s.note(220, 177, "then the next number")
    for lane_number in range(8):
        s.arrow((522 + 44 * lane_number, 126), (522 + 44 * lane_number, 154), role="work")
        s.arrow((522 + 44 * lane_number, 192), (522 + 44 * lane_number, 226), role="work")
    s.box(500, 156, 352, 34, "work", "each of ×, +, ÷: all 8 lanes", solid=True, size=14)
    return s


def register_tile(term: int = 1) -> Sheet:
    """Lesson 08: sums stay in registers; every term loads few numbers and feeds all sums."""
    s = Sheet(
        "A tile in registers",
        "All sums of a tile stay in registers while the terms pass: each term loads two vectors of weights "
        "and three numbers of the states, and feeds six multiply-adds. Above, a panel of the weights; "
        "left, three rows of states; between them the sums, three rows by two vectors. One term is marked.",
        450,
        f"Term {term} of {TERMS}: {ROWS} numbers and {VECTORS} vectors for {ROWS * VECTORS} sums.",
    )
    s.heading(
        20, "Three rows by two vectors", "Marked: what one term loads. The sums never leave their registers."
    )
    panel = [(term, column) for column in range(VECTORS * VECTOR)]
    matrix(s, 380, 92, (TERMS, VECTORS * VECTOR), "weights", cell=(52, 32), mark=panel)
    s.note(240, 160, "panel of weights", "weights", bold=True)
    matrix(s, 60, 274, (ROWS, TERMS), cell=(52, 40), mark=[(r, term) for r in range(ROWS)])
    s.text(164, 262, "rows of states", bold=True)
    for r in range(ROWS):
        for v in range(VECTORS):
            element(s, 380 + 208 * v, 274 + 40 * r, 208, 40, "state", f"sums of row {r}", solid=True)
    s.arrow((112 + 52 * term - 26, 396), (112 + 52 * term - 26, 412), (340, 412), (340, 334), (376, 334))
    s.arrow((588, 222), (588, 270), role="weights")
    s.note(604, 252, "2 loads", "weights")
    s.text(300, 372, "3 loads")
    s.text(588, 428, "6 multiply-adds with vectors", size=PLAIN, bold=True)
    return s


def panels_in_caches() -> Sheet:
    """Lesson 08: the order of the loops decides what stays in the nearest cache."""
    s = Sheet(
        "Which loop is outside",
        "With panels in the outer loop each panel that fits is read once and stays in the nearest cache "
        "while all rows pass by; with rows outside, every tile of rows reads all panels again. Each side has "
        "four panels of weights and three tiles of rows; the arrows count the reads of weights.",
        390,
    )
    panels(
        s,
        ("Panels in the outer loop", "A panel stays, the rows pass."),
        ("Rows in the outer loop", "Some rows stay, all panels pass."),
        ("weights read once: 4 panels", "weights read 3 times: 12 panels"),
    )
    _caches(s, 20, True)
    _caches(s, 470, False)
    return s


def _caches(s: Sheet, left: float, outer: bool) -> None:
    """The nearest cache above what lies beyond it; `outer`: panels are the outer loop."""
    s.box(left, 86, 400, 106, "data", radius=8)
    s.note(left + 12, 110, "nearest cache", bold=True)
    s.box(left, 254, 400, 84, "data", radius=8)
    s.note(left + 12, 328, "beyond it: all panels", bold=True)
    for panel in range(4):
        s.box(left + 150 + 60 * panel, 264, 54, 40, "weights", f"{panel}", solid=True, radius=2)
        for reading in range(1 if outer else 3):
            x = left + 177 + 60 * panel + (0 if outer else 16 * (reading - 1))
            s.arrow((x, 262), (x, 196), role="weights")
    for tile in range(3):
        look = {"solid": not outer and tile == 0, "dashed": outer, "height": 20}
        array(s, (left + 75, 130 + 22 * tile), f"rows {tile}", "state", 110, **look)
    s.box(left + 174, 122, 54, 60, "weights", "0", solid=outer, dashed=not outer, radius=2)
    s.note(left + 250, 156, "stays for all rows" if outer else "passes")

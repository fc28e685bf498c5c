"""Drawings of order and place: what leaves the loop, diagonals, weights that stay, exchange of h."""

from drawings.pen import HIGHLIGHT, LANES, Sheet
from rnncourse.figures.pen import INK, PLAIN, QUIET, ROLES

LAYERS = 3
STEPS = 6
TURNS = LAYERS + STEPS - 1
MARK = 3  # a turn in which all layers work
PARTS = "abcd"  # multiprocessors, and the rows of weights that each of them holds
BLUE = ROLES["state"].text
OCHRE = ROLES["weights"].text


def products_of_a_loop() -> Sheet:
    """Lesson 13: what waits for the step before stays in the loop, the rest goes out of it."""
    s = Sheet(
        "What stays in the loop over time",
        "Only what waits for the step before stays in the loop over time. Above, every step forward "
        "multiplies its input and its state, and every step backward adds its part of dW and dU. Below, all "
        "inputs are one large product before the loop, dW and dU come after it; dx and db are left out.",
        430,
    )
    s.heading(20, "All products inside the loops")
    for number in range(3):
        _pair(s, 20 + number * 142, ("x W^{T}", "weights"), ("h U^{T}", "state"), f"step {number}")
        _pair(s, 468 + number * 142, ("da U", "gradient"), ("dW, dU", "weights"), f"step {2 - number}")
    for x in (139, 281):
        s.arrow((x, 90), (x + 22, 90), role="state")
        s.arrow((x + 448, 90), (x + 470, 90), role="gradient")
    s.text(225, 174, "forward", bold=True)
    s.text(675, 174, "backward", bold=True)
    s.rule((20, 196), (880, 196))
    s.heading(20, "Only what waits inside the loops", y=232)
    s.box(20, 258, 114, 100, "weights", "all x W^{T}:\none tall\nproduct", solid=True, radius=2)
    s.box(766, 258, 114, 100, "weights", "dW and dU:\nall steps\nat once", solid=True, size=14, radius=2)
    for number in range(3):
        s.box(170 + number * 92, 284, 66, 48, "state", "h U^{T}", radius=2)
        s.box(468 + number * 92, 284, 66, 48, "gradient", "da U", size=14, radius=2)
    for x, role in ((136, "data"), (236, "state"), (328, "state"), (534, "gradient"), (626, "gradient")):
        s.arrow((x, 308), (x + 32 if x == 136 else x + 24, 308), role=role)
    s.arrow((720, 308), (764, 308), role="gradient")
    s.arrow((422, 308), (464, 308), role="gradient")
    for x, label in ((77, "before"), (295, "the loop, forward"), (593, "the loop, backward"), (823, "after")):
        s.text(x, 384, label, bold=True)
    s.text(450, 412, "not to scale, without dx and db; the states of all steps are kept for dU", colour=QUIET)
    return s


def _pair(s: Sheet, x: float, first: tuple[str, str], second: tuple[str, str], name: str) -> None:
    """Two products of one step, side by side."""
    for place, (label, role) in enumerate((first, second)):
        s.box(x + place * 60, 66, 58, 48, role, label, size=14, radius=2)
    s.text(x + 59, 138, name, colour=QUIET)


def wavefront(turn: int = MARK) -> Sheet:
    """Lesson 14: a diagonal of layers and steps runs at once; the cells of `turn` are marked."""
    s = Sheet(
        "The wavefront",
        f"Along diagonals, {LAYERS} layers of {STEPS} steps take {TURNS} turns in place of "
        f"{LAYERS * STEPS}. A cell waits only for the one at its left and the one below, so all cells of a "
        "diagonal run at once. Each cell bears the number of its turn; one diagonal is marked. "
        "Below, both orders as bars of time.",
        470,
        _cells_of_turn(turn),
    )
    s.heading(20, "What a cell waits for", "Its left neighbour and the one below. The number is its turn.")
    for layer in range(LAYERS):
        y = 236 - layer * 68
        s.note(20, y + 6, f"layer {layer}", bold=True)
        for step in range(STEPS):
            _cell(s, 130 + step * 128, y, (layer, step), turn)
            _waits(s, 130 + step * 128, y, (layer, step), turn)
    for step in range(STEPS):
        s.text(130 + step * 128, 286, f"step {step}", colour=QUIET)
    s.rule((20, 308), (880, 308))
    _bars(s, turn)
    return s


def _cells_of_turn(turn: int) -> str:
    """Cells that run in this turn, in words."""
    cells = [(layer, turn - layer) for layer in range(LAYERS) if 0 <= turn - layer < STEPS]
    places = ", ".join(f"layer {layer} of step {step}" for layer, step in cells)
    return f"Turn {turn} of 0 to {TURNS - 1}: {places} {'run at once' if len(cells) > 1 else 'runs alone'}."


def _cell(s: Sheet, x: float, y: float, cell: tuple[int, int], turn: int) -> None:
    """A cell with the number of its turn, in a marked circle if that turn is now."""
    if sum(cell) == turn:
        s.element("circle", cx=x, cy=y, r=29, fill=HIGHLIGHT, stroke=INK, stroke_width=1.5)
    s.tile(x - 20, y - 18, 40, 36, LANES[cell[0]])
    s.text(x, y + 6, str(sum(cell)), size=PLAIN, bold=True)


def _waits(s: Sheet, x: float, y: float, cell: tuple[int, int], turn: int) -> None:
    """Arrows to the two cells that wait for this one; they end at the circles of marked cells."""
    (layer, step) = cell
    now = sum(cell) == turn
    after = sum(cell) + 1 == turn
    if step + 1 < STEPS:
        s.arrow((x + (30 if now else 21), y), (x + (97 if after else 106), y))
    if layer + 1 < LAYERS:
        s.arrow((x, y - (30 if now else 19)), (x, y - (37 if after else 48)))


def _bars(s: Sheet, turn: int) -> None:
    """Both orders on one scale of time."""
    width = 32
    left = 176
    s.note(20, 352, "layer after layer", bold=True)
    s.note(20, 412, "along diagonals", bold=True)
    for number in range(LAYERS * STEPS):
        s.tile(left + number * width, 332, width - 2, 28, LANES[number // STEPS])
    s.tile(left + turn * width - 5, 370, width + 8, 80, HIGHLIGHT)
    for layer in range(LAYERS):
        s.text(left + (layer + 0.5) * STEPS * width, 325, f"layer {layer}", colour=QUIET)
        for step in range(STEPS):
            s.tile(left + (layer + step) * width, 422 - 22 * layer, width - 2, 20, LANES[layer])
        for start, turns in ((0, layer), (STEPS + layer, LAYERS - 1 - layer)):
            if turns:
                s.hatch(left + 1 + start * width, 423 - 22 * layer, width * turns - 4, 18)
    s.text(left + LAYERS * STEPS * width + 12, 352, f"{LAYERS * STEPS} turns", anchor="start", bold=True)
    s.text(
        left + TURNS * width + 12, 412, f"{TURNS} turns; hatched: a layer waits", anchor="start", bold=True
    )


def weights_on_chip() -> Sheet:
    """Lesson 15: weights stay in registers, only h moves."""
    s = Sheet(
        "Weights that stay on the chip",
        "A persistent kernel reads the weights once; a kernel for each step reads them again at every step. "
        "Left, all weights travel from memory to the multiprocessors before each step. Right, each "
        "multiprocessor keeps its rows in registers; only h moves between steps, and all blocks "
        "synchronise at a barrier.",
        500,
    )
    s.heading(20, "A kernel for each step", "Registers are lost at its end: W comes at every step.")
    _chip(s, 20, stays=False)
    s.rule((450, 16), (450, 484))
    s.heading(470, "One kernel for all steps", "W stays where it is used. Only h moves.")
    _chip(s, 470, stays=True)
    return s


def _chip(s: Sheet, left: float, stays: bool) -> None:
    """Four multiprocessors with registers above the cache they share, above the memory outside the chip."""
    s.area(left, 78, 410, 264)
    s.box(left, 404, 410, 46, "weights", "W in memory, outside the chip", solid=True, radius=3)
    s.line((left + 40, 307), (left + 340, 307), colour=BLUE, width=3)
    for number, part in enumerate(PARTS):
        x = left + 12 + number * 98
        s.box(x, 90, 92, 108, radius=8)
        s.note(x + 10, 112, f"SM {part}", bold=True)
        s.box(x + 8, 122, 76, 30, "weights", f"W^{{{part}}}", solid=stays, dashed=not stays, radius=2)
        s.box(x + 8, 160, 76, 30, "work", f"W^{{{part}}} h", size=14, radius=14)
        s.box(x + 4, 288, 56, 38, "state", f"h^{{{part}}}", solid=True, radius=2)
        s.arrow((x + 20, 198), (x + 20, 287), role="state")
        s.arrow((x + 44, 287), (x + 44, 199), role="state")
        if not stays:
            s.arrow((x + 76, 404), (x + 76, 199), role="weights")
    if stays:
        s.barrier((left + 12, 240), (left + 398, 240))
        s.text(left + 193, 262, "barrier", bold=True)
        s.text(left + 291, 262, "all of h", colour=BLUE)
        s.arrow((left + 205, 404), (left + 205, 344), role="weights")
    s.note(left + (216 if stays else 100), 378, "once, at the start" if stays else "every step", "weights")
    s.text(left + 205, 482, "W is read once." if stays else "W is read T times.", size=PLAIN, bold=True)


def cluster_exchange() -> Sheet:
    """Lesson 16: h reaches the other blocks through the whole chip, or inside a cluster."""
    s = Sheet(
        "How h reaches the other blocks",
        "A step waits for h to reach the other blocks; in a cluster its way is shorter than in lesson 15. "
        "Left, lesson 15: every block writes its part to the shared cache, waits at a barrier, reads all h. "
        "Right, in a cluster: every block pushes its part straight into the shared memory of the others.",
        470,
    )
    s.heading(20, "Over the whole chip, as in lesson 15", "Write, wait for all blocks, read: three stations.")
    s.area(20, 78, 410, 330)
    for number, part in enumerate(PARTS):
        x = 34 + number * 98
        _block(s, x, 92, part)
        s.arrow((x + 28, 188), (x + 28, 333), role="state")
        s.arrow((x + 60, 333), (x + 60, 189), role="state")
    s.barrier((34, 258), (416, 258))
    s.text(226, 250, "barrier", bold=True)
    s.box(34, 334, 382, 58, "state", "h in the cache of the chip", solid=True, radius=3)
    s.text(225, 444, "far: to the cache and back, and a barrier", bold=True)
    s.rule((450, 16), (450, 456))
    s.heading(470, "Inside a cluster", "One push, straight into the neighbours’ shared memory.")
    _cluster(s)
    s.text(675, 444, "near: one push to each neighbour", bold=True)
    return s


def _block(s: Sheet, x: float, y: float, part: str) -> None:
    s.box(x, y, 88, 96, radius=8)
    s.note(x + 10, y + 24, f"block {part}", bold=True)
    s.box(x + 10, y + 36, 68, 48, "weights", f"W^{{{part}}}", solid=True, radius=2)


def _cluster(s: Sheet) -> None:
    """Four blocks at the corners, each with all of h; the pushes of one part run along the edges."""
    s.area(470, 78, 410, 330)
    s.text(675, 104, "cluster", bold=True)
    for number, part in enumerate(PARTS):
        x = 490 + number % 2 * 250
        y = 118 + number // 2 * 160
        s.box(x, y, 120, 118, radius=8)
        s.note(x + 10, y + 24, f"block {part}", bold=True)
        s.box(x + 10, y + 34, 100, 34, "weights", f"W^{{{part}}}", solid=True, radius=2)
        for place, piece in enumerate(PARTS):
            own = {"solid": True} if piece == part else {"dashed": True}
            s.box(x + 10 + place * 25, y + 78, 25, 30, "state", piece, size=14, radius=1, **own)
    s.arrow((610, 196), (738, 196), role="state")
    s.arrow((535, 236), (535, 276), role="state")
    s.arrow((610, 226), (738, 290), role="state")
    s.text(675, 186, "push of a", colour=BLUE)
    s.text(675, 340, "b, c and d", colour=QUIET)
    s.text(675, 360, "do the same", colour=QUIET)

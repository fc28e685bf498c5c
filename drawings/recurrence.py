"""Drawings of what a recurrent network is: shared weights, one cell for all steps, arrows back, the loop."""

from itertools import pairwise

from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

NAMES = ("0", "1", "2", "T−1")  # three steps and the last one
COLUMNS = (460, 570, 680, 820)  # their middles
BLUE = ROLES["state"].text
PURPLE = ROLES["gradient"].text


def unrolled_network() -> Sheet:
    """Lesson 01: one cell with its loop, and the same cell once for every step."""
    s = Sheet(
        "A cell and the same cell unrolled",
        "A recurrent network is one cell that is used at every step, always with the same weights. Left, the "
        "cell with its loop: from an input x and its state h it makes the next state. Right, the loop "
        "unrolled over T steps: the state goes from each step to the next, and all steps share the weights.",
        400,
    )
    s.heading(20, "One cell, with its loop")
    s.box(66, 132, 188, 104, radius=12)
    for line, label in enumerate(("h_{t+1} =", "tanh(W_{ih} x_{t}", "+ W_{hh} h_{t} + b)")):
        s.text(160, 164 + 27 * line, label, size=PLAIN)
    s.arrow((160, 312), (160, 238))
    s.box(130, 312, 60, 36, "data", "x_{t}")
    s.arrow((254, 184), (286, 184), (286, 90), (34, 90), (34, 184), (65, 184), role="state", corner=14)
    s.text(160, 80, "the state comes round again", colour=BLUE)
    s.text(270, 256, "h_{t+1}", size=PLAIN, colour=BLUE)
    s.text(44, 256, "h_{t}", size=PLAIN, colour=BLUE)
    s.rule((316, 16), (316, 384))
    s.heading(336, "The same cell, once for every step")
    _shared_weights(s)
    _row_of_cells(s)
    return s


def _shared_weights(s: Sheet) -> None:
    s.box(336, 78, 544, 34, "weights", "W_{ih}, W_{hh}, b: the same weights at every step", solid=True)
    for x in COLUMNS:
        s.arrow((x, 112), (x, 157), role="weights")


def _row_of_cells(s: Sheet) -> None:
    s.box(336, 166, 46, 36, "state", "h_{0}", solid=True)
    s.arrow((382, 184), (COLUMNS[0] - 35, 184), role="state")
    for x, step in zip(COLUMNS, NAMES, strict=True):
        s.box(x - 33, 158, 66, 52, label="cell", radius=12)
        s.arrow((x, 312), (x, 212))
        s.box(x - 30, 312, 60, 36, "data", f"x_{{{step}}}")
        s.text(x, 376, f"step {step}", colour=QUIET)
    for number, (left, right) in enumerate(pairwise(COLUMNS), 1):
        s.arrow((left + 33, 184), (right - 35, 184), role="state")
        if number == 3:
            s.gap((left + right) / 2 - 6, 184)
        else:
            s.text((left + right) / 2, 232, f"h_{{{number}}}", size=PLAIN, colour=BLUE)
    s.arrow((853, 184), (888, 184), role="state")
    s.text(868, 232, "h_{T}", size=PLAIN, colour=BLUE)


def losses_at_every_step() -> Sheet:
    """Lesson 02 opens with it: a loss at every step, and the question how often each cell must go back."""
    s = Sheet(
        "A loss at every step",
        "A network runs forward over a sequence, and every step has a loss of its own. The loss of a step "
        "depends on its cell and on all cells before it. The question of the lesson is how often each cell "
        "must be visited on the way back, until all gradients are known.",
        390,
    )
    s.heading(
        20,
        "A loss at every step",
        "Each loss depends on all cells up to its step. How many visits of each cell, going back?",
    )
    columns = (160, 345, 530, 740)
    s.arrow((64, 242), (columns[0] - 50, 242), role="state")
    s.text(44, 247, "h_{0}", size=PLAIN, colour=BLUE)
    for x, step in zip(columns, NAMES, strict=True):
        s.box(x - 40, 104, 80, 36, "gradient", "loss")
        s.arrow((x, 214), (x, 142))
        s.box(x - 48, 214, 96, 56, label="cell", radius=12)
        s.text(x, 320, "visits: ?", size=PLAIN, colour=PURPLE)
        s.text(x, 366, f"step {step}", colour=QUIET)
    for number, (left, right) in enumerate(pairwise(columns), 1):
        s.arrow((left + 48, 242), (right - 50, 242), role="state")
        if number == 3:
            s.gap((left + right) / 2 - 6, 242)
    return s


def arrows_back(visit: int = 1) -> Sheet:
    """Lesson 02: gradients are added before each cell, so that one backward pass visits each cell once."""
    step = NAMES[-1 - visit]
    s = Sheet(
        "Back through time in one sweep",
        "One backward pass gives all gradients of a sequence. From the last step to the first, what "
        "comes from the loss of a step and what comes from the later step are added before the cell, so each "
        "cell is visited once. Every step adds its part to one sum, dW.",
        430,
        f"Visit {visit} is at step {step}: its dy and the gradient from later steps are added first.",
    )
    s.heading(
        20,
        "Back through time in one sweep",
        "Every cell is visited once: T visits, not T(T+1)/2. Marked: one visit.",
    )
    columns = (190, 375, 560, 750)
    s.tile(columns[-1 - visit] - 53, 211, 106, 62, HIGHLIGHT)
    for x, step in zip(columns, NAMES, strict=True):
        s.box(x - 40, 84, 80, 32, "gradient", f"dy_{{{step}}}")
        s.arrow((x, 116), (x, 143), role="gradient")
        s.circle(x, 160, "+", "gradient")
        s.arrow((x, 176), (x, 213), role="gradient")
        s.box(x - 48, 214, 96, 56, label="cell,\nbackward", size=14, radius=12)
        s.arrow((x, 270), (x, 333), role="weights")
        s.text(x, 416, f"step {step}", colour=QUIET)
    s.box(120, 334, 700, 44, "weights", "dW = the sum of the steps’ parts", solid=True)
    _gradients_between_steps(s, columns)
    return s


def _gradients_between_steps(s: Sheet, columns: tuple[int, ...]) -> None:
    for number, (left, right) in enumerate(pairwise(columns), 1):
        turn = (left + right) / 2
        s.arrow((right - 48, 242), (turn, 242), (turn, 160), (left + 18, 160), role="gradient")
        if number == 3:
            s.gap(turn - 36, 160)
        else:
            s.text(turn + 22, 206, f"dh_{{{number}}}", size=PLAIN, colour=PURPLE)
    s.arrow((columns[0] - 48, 242), (88, 242), role="gradient")
    s.text(62, 247, "dh_{0}", size=PLAIN, colour=PURPLE)
    s.box(830, 144, 54, 32, "gradient", "dh_{T}")
    s.arrow((830, 160), (columns[-1] + 18, 160), role="gradient")


def one_row_or_64() -> Sheet:
    """Lesson 00 opens with it: the same product for one sequence and for 64, and the question of its time."""
    s = Sheet(
        "The same product for one sequence and for 64",
        "A recurrent network multiplies its states by its weights at every step. Left, the product for one "
        "sequence, a single row. Right, the same product for 64 sequences, 8 of them drawn: 64 times the "
        "arithmetic with the same weights. The question of the lesson is how many times the time it takes.",
        340,
    )
    _operands(s, 20, "One sequence", 1)
    s.rule((450, 16), (450, 324))
    _operands(s, 470, "64 sequences", 8)
    s.text(20, 310, "Arithmetic: 1. Time: 1.", anchor="start", bold=True)
    s.text(470, 310, "Arithmetic: 64. Time: ?", anchor="start", bold=True)
    return s


def shared_weights() -> Sheet:
    """Lesson 00: a minibatch shares one pass over the weights."""
    s = Sheet(
        "One pass over the weights for many sequences",
        "Many sequences share one pass over the weights; one sequence pays for it alone. Left, the whole "
        "matrix is read to serve one row. Right, the same matrix is read once and "
        "serves 64 rows, 8 of them drawn, so each pays a 64th of the reading.",
        380,
    )
    _product(s, 20, "One sequence", 1, "All of W is read for one row.")
    s.rule((450, 16), (450, 364))
    _product(s, 470, "64 sequences", 8, "All of W is read once for 64 rows.")
    return s


def _operands(s: Sheet, left: int, title: str, rows: int, weights: str = "") -> None:
    s.heading(left, title, "a product: inputs times weights gives results")
    s.text(left + 65, 104, "inputs", bold=True)
    s.text(left + 210, 104, "weights W", bold=True)
    s.text(left + 350, 104, "results", bold=True)
    s.box(left + 150, 120, 120, 120, "weights", weights, solid=True, radius=2)
    top = 180 - 15 * rows / 2
    for row in range(rows):
        s.box(left + 20, top + 15 * row, 90, 12, "data", radius=1)
        s.box(left + 305, top + 15 * row, 90, 12, "state", radius=1)
    s.arrow((left + 114, 180), (left + 148, 180))
    s.arrow((left + 271, 180), (left + 302, 180))
    s.text(left + 65, 262, "1 row drawn" if rows == 1 else "8 of 64 rows drawn", colour=QUIET)


def _product(s: Sheet, left: int, title: str, rows: int, finding: str) -> None:
    _operands(s, left, title, rows, "read once")
    s.note(left, 300, "reading W", "weights")
    s.note(left, 330, "arithmetic", "work")
    s.box(left + 90, 287, 160, 18, "weights", solid=True, radius=1)
    s.box(left + 90, 317, 5 if rows == 1 else 5 * 64, 18, "work", solid=True, radius=1)
    s.text(left, 362, finding, anchor="start", bold=True)


def training_loop() -> Sheet:
    """Lesson 03: the four stations of training."""
    s = Sheet(
        "The loop of training",
        "Training is a loop of four stations. A batch of examples goes through the network; the loss says "
        "how far the results are from the answers; the gradient says how each weight would change the loss; "
        "the update moves all weights a little against it. Then the next batch comes.",
        400,
    )
    s.heading(
        20,
        "Training is a loop of four stations",
        "The weights are all that stays from one round to the next.",
    )
    stations = (
        (40, 100, "data", "1  batch", "a few examples, drawn at random"),
        (590, 100, "work", "2  loss", "how far results are from answers"),
        (590, 280, "gradient", "3  gradient", "what each weight does to the loss"),
        (40, 280, "work", "4  update", "a small step against the gradient"),
    )
    for x, y, role, title, label in stations:
        s.box(x, y, 270, 80, role)
        s.text(x + 135, y + 34, title, size=PLAIN, bold=True)
        s.text(x + 135, y + 60, label)
    s.box(375, 200, 150, 60, "weights", "weights", solid=True)
    s.arrow((310, 140), (588, 140))
    s.text(450, 130, "forward, with the weights")
    s.arrow((720, 180), (720, 278), role="gradient")
    s.arrow((590, 320), (312, 320), role="gradient")
    s.text(450, 346, "backward", colour=PURPLE)
    s.arrow((180, 280), (180, 182))
    s.text(110, 236, "next batch")
    s.arrow((225, 280), (225, 240), (373, 240), role="weights")
    s.arrow((450, 200), (450, 144), role="weights")
    return s

"""Drawings of a step and a sequence: minibatches in memory, gradients of a cell, what training remembers."""

from itertools import pairwise

from drawings.parts import array, matrix, node, panels, row
from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import INK, PLAIN, QUIET, ROLES

BLUE, PURPLE, RED = (ROLES[role].text for role in ("state", "gradient", "error"))
UNITS = 4
INPUTS = 2  # of the step that is drawn row by row
WINDOW = 3
LENGTH = 8
CUTS = (3, 6)  # steps of a truncated gradient, of the sequence, and between chunks


def minibatch_in_memory() -> Sheet:
    """Lesson 01: x [T,B,I] in memory, one step after the other."""
    s = Sheet(
        "A minibatch in memory",
        "The inputs of a step, for all sequences, lie together in memory, so one product reads one run of "
        "numbers. Above, x with time first: a sheet for each of three steps, a row for each of four "
        "sequences, three inputs in a row. Below, the same numbers in memory; step 1 is marked in both.",
        400,
    )
    s.heading(
        20, "x [T,B,I]: a sheet for every step", "A row is a sequence, a column is an input. Marked: step 1."
    )
    for sequence in range(4):
        s.note(20, 108 + 34 * sequence, f"sequence {sequence}", bold=True)
    for step in range(3):
        x = 150 + 250 * step
        mark = [(b, i) for b in range(4) for i in range(3) if step == 1]
        matrix(s, x, 86, (4, 3), cell=(46, 34), mark=mark)
        s.text(x + 69, 246, f"step {step}: [B,I]", colour=QUIET)
        s.line((x + 69, 254), (x + 69, 276), (151 + 252 * step, 276), (151 + 252 * step, 296), width=1.5)
        row(s, 150 + 246 * step, 298, [""] * 12, width=20.5, height=40, mark=range(12) if step == 1 else ())
    s.note(20, 323, "in memory", bold=True)
    s.text(519, 366, "one step: B × I numbers, next to each other")
    s.text(519, 386, "one sequence: I numbers in every step", colour=QUIET)
    return s


def step_by_units(unit: int = 1) -> Sheet:
    """Lesson 01: a unit of a step needs one row of each matrix, and all of x and h."""
    s = Sheet(
        "One unit of a step",
        "Each unit of the next state needs one row of both weight matrices, and all of the input and of "
        "the old state. From left to right: the input weights times x, the recurrent weights times h, the "
        "bias, tanh, and the next state. What one unit needs is marked. No unit waits for another one.",
        340,
        f"Unit {unit} of {UNITS}: row {unit} of both matrices, all of x and h, and one bias.",
    )
    s.heading(20, "A unit of the next state", "Marked: all that this unit is computed from.")
    top = 116
    line = [(unit, column) for column in range(UNITS)]
    everything = [(place, 0) for place in range(UNITS)]
    shapes = (
        (30, "W_{ih}", "[H,I]", INPUTS, UNITS, "weights", line, "×"),
        (148, "x", "[I]", 1, INPUTS, "data", everything, "+"),
        (232, "W_{hh}", "[H,H]", UNITS, UNITS, "weights", line, "×"),
        (430, "h", "[H]", 1, UNITS, "state", everything, "+"),
        (514, "b", "[H]", 1, UNITS, "weights", [(unit, 0)], ""),
        (750, "h′", "[H]", 1, UNITS, "state", [(unit, 0)], ""),
    )
    for x, name, shape, columns, rows, role, mark, sign in shapes:
        matrix(s, x, top, (rows, columns), role, cell=38, mark=mark)
        s.text(x + 19 * columns, top - 12, name, size=PLAIN, bold=True)
        s.text(x + 19 * columns, top + 38 * UNITS + 24, shape, colour=QUIET)
        if sign:
            s.text(x + 38 * columns + 23, top + 82, sign, size=PLAIN, bold=True)
    y = top + 38 * unit + 19
    s.arrow((554, y), (612, y))
    node(s, (645, y), "tanh", width=64)
    s.arrow((678, y), (748, y), role="state")
    s.text(450, 322, "The other units do the same with rows of their own.", bold=True)
    return s


def shift_register() -> Sheet:
    """Lesson 01: weights set by hand move a pixel from unit to unit."""
    s = Sheet(
        "A state that shifts",
        "Weights set by hand make the state a shift register. At every step unit 0 takes the new pixel and "
        "unit 1 takes what unit 0 held one step before. The answer reads both, unit 0 minus unit 1, and is "
        "the difference of neighbouring pixels. Four steps are drawn, from left to right.",
        430,
    )
    s.heading(
        20, "A state that shifts", "weight_ih: the pixel goes to unit 0. weight_hh: unit 0 goes to unit 1."
    )
    for y, name in ((106, "answer"), (196, "unit 1"), (276, "unit 0"), (366, "pixel")):
        s.note(20, y + 5, name, bold=True)
    for step in range(4):
        x = 180 + 190 * step
        before = f"x_{{{step - 1}}}" if step else "0"
        array(s, (x, 366), f"x_{{{step}}}")
        s.arrow((x, 348), (x, 295), role="weights")
        s.arrow((x, 178), (x, 125))
        s.arrow((x - 28, 276), (x - 60, 276), (x - 60, 106), (x - 47, 106))
        array(s, (x, 276), f"x_{{{step}}}", "state", solid=True)
        array(s, (x, 196), before, "state", solid=True)
        array(s, (x, 106), f"x_{{{step}}} − {before}", width=90)
        s.text(x, 408, f"step {step}", colour=QUIET)
        if step < 3:
            s.arrow((x + 28, 276), (x + 95, 276), (x + 95, 196), (x + 161, 196), role="state")
    return s


def cell_backward() -> Sheet:
    """Lesson 02: five lines lead back from the gradient of a state to those of all that it came from."""
    s = Sheet(
        "One step backward",
        "Five lines lead back through a step. From the gradient of the new state, at the right, line 1 "
        "goes through tanh to da. From da, line 2 leads to the input, line 3 to the state before, line 4 "
        "to the weights, and line 5 to the bias. Nothing but the input and two states must be saved.",
        400,
    )
    s.heading(
        20, "One step backward: five lines", "From right to left; what is read beside da stands in grey."
    )
    lines = (
        ("2", "dx = da W_{ih}", "the weights", "gradient"),
        ("3", "dh_{before} = da W_{hh}", "the weights", "gradient"),
        ("4", "dW_{ih} = da^{T} x,  dW_{hh} = da^{T} h", "the input, the state before", "weights"),
        ("5", "db = sum of da over sequences", "nothing", "weights"),
    )
    for place, (number, label, reads, role) in enumerate(lines):
        y = 110 + 76 * place
        s.box(60, y - 26, 330, 34, role, label, size=PLAIN, radius=2)
        s.text(225, y + 30, f"reads {reads}", colour=QUIET)
        s.note(26, y - 3, number, bold=True)
        s.arrow((480, 222), (440, 222), (440, y - 9), (392, y - 9), role=role)
    array(s, (512, 222), "da", "gradient", solid=True)
    s.arrow((596, 222), (542, 222), role="gradient")
    s.note(642, 186, "1", bold=True)
    node(s, (648, 222), "∘ (1 − h′^{2})", width=104)
    s.text(648, 262, "reads the new state", colour=QUIET)
    s.arrow((790, 222), (702, 222), role="gradient")
    array(s, (818, 222), "dh", "gradient")
    s.text(818, 262, "arrives", colour=PURPLE)
    return s


def two_truncations() -> Sheet:
    """Lesson 02: a window goes k steps back from every loss, chunks cut the sequence."""
    s = Sheet(
        "Two ways to cut a sequence",
        "A window lets every loss reach up to three steps; chunks let no gradient cross a cut, so the loss "
        "right after a cut reaches its own step alone. Both panels have eight steps and the losses of steps "
        "3, 4 and 5, with a bar over the steps that each reaches.",
        350,
    )
    panels(
        s,
        ("A window of 3 steps", "Bars: what the losses of 3, 4 and 5 reach."),
        ("Chunks of 3 steps", "The same losses; no gradient crosses a cut."),
    )
    for left, chunks in ((20, False), (470, True)):
        for step in range(LENGTH):
            s.box(left + 50 * step + 1, 92, 42, 36, label=str(step), radius=8)
        for before, after in pairwise(range(LENGTH)):
            if not (chunks and after in CUTS):
                s.arrow((left + 50 * after, 110), (left + 50 * before + 45, 110), role="gradient")
        for place, loss in enumerate((3, 4, 5)):
            first = max(3, 0) if chunks else loss - WINDOW + 1
            y = 160 + 52 * place
            place = left + 50 * first + 1, y, 50 * (loss - first) + 42, 30
            s.box(*place, "gradient", str(loss), solid=True, size=14)
        for cut in CUTS if chunks else ():
            s.barrier((left + 50 * cut - 3, 84), (left + 50 * cut - 3, 312))
    s.text(225, 336, "3 cell-backwards for every loss", bold=True)
    s.text(675, 336, "1 cell-backward for every step", bold=True)
    return s


def central_difference() -> Sheet:
    """Lesson 02: a gradient tested by two forward passes around one weight."""
    s = Sheet(
        "Differences around one weight",
        "Two forward passes around one weight test its gradient. Left, the loss over that weight: the line "
        "through the losses at w minus ε and w plus ε has nearly the slope of the tangent at w. Right, the "
        "price: two whole forward passes for each single weight.",
        390,
    )
    panels(
        s,
        ("The loss over one weight", "The chord is nearly parallel to the tangent."),
        ("What the test costs", "Every weight is moved alone."),
    )
    curve = [(60 + 10 * k, 330 - (20 + 0.55 * k + 0.13 * k * k)) for k in range(38)]
    s.line((40, 330), (430, 330))
    s.line(*curve, colour=BLUE, width=3)
    left, middle, right = (curve[k] for k in (8, 20, 32))
    slope = 10 * (0.55 + 0.26 * 20) / 100
    s.line((left[0], middle[1] + slope * 120), (right[0], middle[1] - slope * 120), colour=PURPLE, width=3)
    s.line(left, right, dashes="6 4")
    for (x, y), label in ((left, "w − ε"), (middle, "w"), (right, "w + ε")):
        s.line((x, y + 6), (x, 330), width=1.2, dashes="2 3")
        s.element("circle", cx=x, cy=y, r=5, fill=HIGHLIGHT, stroke=INK)
        s.text(x, 352, label)
    s.note(56, 120, "dashed: the difference")
    s.note(56, 144, "solid: the gradient", "gradient")
    for place, sign in enumerate("+−"):
        y = 130 + 92 * place
        array(s, (520, y), f"w {sign} ε", "weights", 70)
        s.arrow((556, y), (604, y))
        node(s, (675, y), "a forward pass", width=136)
        s.arrow((744, y), (792, y))
        array(s, (830, y), "loss", width=70)
    s.text(675, 300, "slope = (loss − loss) / 2ε", size=PLAIN)
    s.text(675, 352, "2 forward passes a weight", size=PLAIN, bold=True)
    return s


def clipped_step() -> Sheet:
    """Lesson 03: a step along a long gradient leaves the valley; clipped, it keeps its direction."""
    s = Sheet(
        "A cliff and a clipped step",
        "At a cliff the gradient is long and right only very near; a step along all of it lands far away, "
        "where the loss is flat. Clipping keeps the direction and shortens the step to a limit. Left, the "
        "loss from the side with both steps. Right, both steps as arrows with the limit as a circle.",
        390,
    )
    panels(
        s,
        ("A loss with a cliff", "Where the slope is steep, the step is long."),
        ("The same step, clipped", "Equal direction, length at most the limit."),
    )
    s.line(
        (20, 170), (120, 172), (250, 250), (286, 330), (300, 332), (306, 120), (320, 112), (430, 110), width=3
    )
    s.element("circle", cx=304, cy=226, r=7, fill=HIGHLIGHT, stroke=INK)
    s.arrow((296, 214), (240, 134), (60, 134), (60, 164), role="error", corner=30)
    s.text(150, 124, "the whole step: out of the valley", colour=RED)
    s.arrow((297, 230), (276, 242), role="work")
    s.text(184, 300, "clipped: still near", colour=ROLES["work"].text)
    look = {"fill": ROLES["work"].pale, "stroke": ROLES["work"].edge}
    s.element("circle", cx=800, cy=290, r=60, **look, stroke_dasharray="5 3")
    s.arrow((800, 290), (540, 110), role="error")
    s.arrow((800, 290), (751, 256), role="work")
    s.text(560, 190, "the gradient", colour=RED)
    s.text(800, 372, "limit", colour=ROLES["work"].text)
    return s


def adam_memories() -> Sheet:
    """Lesson 03: Adam's two running means, and the length of its steps."""
    s = Sheet(
        "The two memories of Adam",
        "Adam's step is as long as the learning rate where gradients agree, whatever their size, and "
        "nearly zero where they change sign. Three rows of gradients: small and equal, large and equal, "
        "large with changing signs. Beside them the mean m, the root of the mean square v, and their ratio.",
        400,
    )
    s.heading(20, "Adam remembers two means", "m: mean of the gradient. v: mean of its square. Step: m / √v.")
    for x, label in ((330, "gradients"), (560, "m"), (660, "√v"), (790, "step: m / √v")):
        s.text(x, 96, label, bold=True)
    rows = (("small, equal", 12, 1), ("large, equal", 34, 1), ("large, signs change", 34, -1))
    for place, (name, size, sign) in enumerate(rows):
        y = 156 + 88 * place
        s.note(20, y + 5, name, bold=True)
        s.line((200, y), (460, y), width=1)
        mean = size if sign > 0 else 2
        up = 1
        for number in range(8):
            s.box(208 + 31 * number, y - size if up > 0 else y, 24, size, "gradient", radius=1)
            up *= sign
        for x, height, role in ((560, mean, "state"), (660, size, "state"), (790, 40 * mean / size, "work")):
            s.box(x - 20, y + 36 - height, 40, height, role, solid=True, radius=1)
            s.line((x - 34, y + 36), (x + 34, y + 36), width=1.2)
    return s

"""Drawings of cells as graphs: six rules and their mirrors, the gates of LSTM and GRU, what is saved."""

from drawings.parts import array, element, node, panels
from drawings.pen import Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES, SMALL

RULES = (  # name, inputs, sign, outputs, and what goes back to the inputs
    ("sum", "ab", "+", 1, ("d", "d")),
    ("copy", "a", "•", 2, ("d_{1} + d_{2}",)),
    ("bias", "ab", "+b", 1, ("d", "Σ d")),
    ("elementwise", "ab", "∘", 1, ("d ∘ b", "d ∘ a")),
    ("product", "ab", "×", 1, ("d b^{T}", "a^{T} d")),
    ("function", "a", "f", 1, ("d ∘ f′",)),
)


def six_rules() -> Sheet:
    """Lesson 04: each kind of node, and what it sends back."""
    s = Sheet(
        "Six rules",
        "Each kind of node has one rule: a sum sends its gradient d to both inputs, and a copy adds what "
        "its readers send, so each is the mirror of the other. A bias sums over rows, factors multiply d "
        "by the other factor, a function multiplies d by its slope. Above each line forward, below it "
        "backward.",
        430,
    )
    s.heading(20, "Six nodes and what they send back", "Arrows to the right: values. To the left: gradients.")
    for number, (name, inputs, sign, outputs, back) in enumerate(RULES):
        left = 20 + 290 * (number % 3)
        top = 84 + 172 * (number // 3)
        s.box(left, top, 280, 156, radius=8)
        s.note(left + 14, top + 26, name, bold=True)
        heights = (top + 58, top + 112) if len(inputs) == 2 else (top + 85,)
        ends = (top + 58, top + 112) if outputs == 2 else (top + 85,)
        middle = left + 168
        for y, word, gradient in zip(heights, inputs, back, strict=True):
            s.text(left + 68, y + 3, word)
            s.text(left + 44, y + 20, gradient, colour=ROLES["gradient"].text)
            s.arrow((left + 80, y), (middle - 19, top + 85 + (y - top - 85) * 0.3))
            s.arrow((middle - 24, top + 97 + (y - top - 85) * 0.3), (left + 84, y + 14), role="gradient")
        for y, word in zip(ends, ("d_{1}", "d_{2}") if outputs == 2 else ("d",), strict=True):
            s.arrow((middle + 18, top + 85 + (y - top - 85) * 0.3), (left + 240, y))
            s.arrow((left + 236, y + 14), (middle + 24, top + 97 + (y - top - 85) * 0.3), role="gradient")
            s.text(left + 258, y + 18, word, colour=ROLES["gradient"].text)
        s.circle(middle, top + 88, sign, radius=18)
    return s


def lstm_gates() -> Sheet:
    """Lesson 04: an LSTM opened; the cell state passes one product with a gate and one sum."""
    s = Sheet(
        "The gates of an LSTM",
        "The cell state of an LSTM passes only a product with the forget gate and a sum, so its gradient "
        "goes back along that path multiplied by f alone. Below the path, four products with x and h give "
        "the gates f, i and o and the candidate g; o decides how much of the cell becomes the output h′.",
        420,
    )
    s.heading(20, "An LSTM step", "Above, the path of the cell state. σ gives numbers from 0 to 1, a gate.")
    top = 124
    gates = 286
    columns = {
        "f": (220, "σ", "forget"),
        "i": (360, "σ", "input"),
        "g": (480, "tanh", "candidate"),
        "o": (660, "σ", "output"),
    }
    s.box(150, 356, 590, 40, "weights", "x and h, times the weights of each gate", solid=True, radius=2)
    for name, (x, function, label) in columns.items():
        s.arrow((x, 356), (x, gates + 19), role="work")
        node(s, (x, gates), function)
        s.text(x + 12, gates + 44, label, anchor="start", colour=QUIET)
        s.text(x - 42, gates + 6, name, size=PLAIN, bold=True)
    _cell_state(s, top, gates)
    return s


def _cell_state(s: Sheet, top: float, gates: float) -> None:
    """The path of the cell state, and what the gates do to it."""
    array(s, (70, top), "c", "state", solid=True)
    array(s, (830, top), "c′", "state", solid=True)
    array(s, (830, 218), "h′", "state", solid=True)
    s.arrow((98, top), (202, top), role="state")
    s.arrow((236, top), (402, top), role="state")
    s.arrow((438, top), (800, top), role="state")
    s.arrow((660, top), (660, 154))
    s.arrow((220, gates - 17), (220, top + 19))
    s.arrow((360, gates - 17), (360, 196), (403, 196))
    s.arrow((480, gates - 17), (480, 196), (437, 196))
    s.arrow((420, 178), (420, top + 19))
    s.arrow((660, gates - 17), (660, 237))
    s.arrow((660, 188), (660, 200))
    s.arrow((678, 218), (800, 218), role="state")
    for x, y, sign in ((220, top, "∘"), (420, top, "+"), (420, 196, "∘"), (660, 218, "∘")):
        s.circle(x, y, sign, radius=17)
    node(s, (660, 171), "tanh")
    s.text(310, top - 16, "what stays of c")
    s.text(560, top - 16, "and what is added")


def gru_gates() -> Sheet:
    """Lesson 04: a GRU opened; the update gate mixes the old state and a candidate."""
    s = Sheet(
        "The gates of a GRU",
        "The new state of a GRU is a mixture of the old one and a candidate, and the update gate z decides "
        "for each unit. Along the top the old state goes to the mixture. The reset gate r decides how much "
        "of it the candidate n may use: that product must wait for r.",
        420,
    )
    s.heading(20, "A GRU step, reset before the product", "Where z is 1, a unit keeps its value. σ: 0 to 1.")
    top = 130
    array(s, (70, top), "h", "state", solid=True)
    array(s, (70, 364), "x")
    s.arrow((98, top), (738, top), role="state")
    s.arrow((98, 364), (468, 364))
    for x, name, label in ((190, "r", "reset"), (640, "z", "update")):
        s.box(x - 60, 284, 120, 36, "weights", "x and h", radius=2)
        s.arrow((x, 284), (x, 257), role="work")
        node(s, (x, 238), "σ")
        s.text(x - 44, 244, name, size=PLAIN, bold=True)
        s.text(x, 342, label, colour=QUIET)
    s.arrow((190, 220), (190, 200), (282, 200))
    s.arrow((300, top), (300, 182), role="state")
    s.circle(300, 200, "∘", radius=17)
    s.arrow((318, 200), (396, 200), (396, 340), (468, 340), role="state")
    s.text(352, 188, "r ∘ h")
    s.box(470, 330, 90, 44, "weights", "W, U", solid=True, radius=2)
    s.arrow((515, 330), (515, 257), role="work")
    node(s, (515, 238), "tanh")
    s.arrow((515, 220), (515, 176), (756, 176), (756, 150), halo=True)
    s.text(500, 206, "n", size=PLAIN, bold=True)
    s.arrow((640, 220), (640, 196), (772, 196), (772, 152), halo=True)
    s.box(740, 110, 48, 40, "work", "mix", size=SMALL, radius=16)
    array(s, (850, top), "h′", "state", width=44, solid=True)
    s.arrow((788, top), (826, top), role="state")
    s.text(764, 92, "(1 − z) ∘ n + z ∘ h")
    return s


def two_resets() -> Sheet:
    """Lesson 04: a closed gate silences a column of the weights before the product, a row after it."""
    s = Sheet(
        "Two places for the reset gate",
        "A reset gate before the product scales columns of the weights, one after it scales rows: the same "
        "weights give two functions. The gate of unit 1 is closed in both panels. On the left no candidate "
        "reads the state of unit 1; on the right the candidate of unit 1 reads no state.",
        420,
    )
    panels(
        s,
        ("Reset before the product", "r scales the state that goes in: a column each."),
        ("Reset after the product", "r scales the sums that come out: a row each."),
        ("no candidate reads unit 1", "candidate 1 reads no unit"),
    )
    for left, is_before in ((20, True), (470, False)):
        gate, product = (left + 140, left + 250) if is_before else (left + 250, left + 140)
        array(s, (left + 40, 112), "h", "state", solid=True)
        s.circle(gate, 112, "∘ r", radius=19)
        s.box(product - 32, 95, 64, 34, "weights", "U_{n}", solid=True, radius=2)
        array(s, (left + 370, 112), "sums", "data")
        edges = (119, 161, 216, 284) if is_before else (106, 174, 229, 271)
        s.arrow((left + 68, 112), (left + edges[0], 112), role="state")
        s.arrow((left + edges[1], 112), (left + edges[2], 112))
        s.arrow((left + edges[3], 112), (left + 340, 112))
        _weights_of_closed_gate(s, left, is_before)
    return s


def _weights_of_closed_gate(s: Sheet, left: float, is_before: bool) -> None:
    """U_n [4,4] at work while the reset gate of unit 1 is closed."""
    side = 40
    for row in range(4):
        s.text(left + 116, 218 + side * row, f"candidate {row}", anchor="end")
        s.text(left + 150 + side * row, 178, f"h_{{{row}}}")
        for column in range(4):
            place = (left + 130 + side * column, 192 + side * row)
            if (column if is_before else row) == 1:
                s.hatch(place[0] + 1, place[1] + 1, side - 2, side - 2)
            else:
                element(s, *place, side, side, "weights")


def save_or_recompute() -> Sheet:
    """Lesson 04: a value that the backward pass reads is saved, or computed a second time."""
    s = Sheet(
        "Save it, or compute it again",
        "What the backward pass reads is either saved at every step, which takes memory that grows with "
        "the sequence, or computed again, which takes time at every step. Each panel has three steps "
        "forward, three backward, and what is in memory after the forward pass.",
        330,
    )
    panels(
        s,
        ("Save it", "Memory: two arrays for every step."),
        ("Compute it again", "Memory: one array for every step."),
        ("more memory, less arithmetic", "less memory, more arithmetic"),
    )
    for left, saved in ((20, True), (470, False)):
        for step in range(3):
            x = left + 62 * step
            back = left + 396 - 70 * (step + 1)
            s.box(x, 92, 56, 40, "work", "step", size=14)
            s.box(x, 196, 56, 28, "state", "h", solid=True, radius=2, size=14)
            s.arrow((x + 28, 134), (x + 28, 192))
            if saved:
                s.box(x, 228, 56, 28, "data", "gates", radius=2, size=14)
            s.box(back, 92, 64, 40, "gradient", "back", size=14)
            if not saved:
                s.box(back, 140, 64, 40, "work", "again", size=14)
        s.arrow((left + 196, 210), (left + 290, 210), (left + 290, 134 if saved else 182), role="state")
        s.note(left + 306, 216, "read")
    return s

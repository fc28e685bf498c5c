"""Drawings of what costs time on a CPU: products and bytes, passes over memory, barriers; graphs."""

from drawings.pen import Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

UNIT = 5  # pixels of one number in the products drawn to scale
PRODUCTS = (16, 8), (4, 16), (1, 32)  # sequences B and units H of three products of 1,024 multiply-adds


def cell_as_graph() -> Sheet:
    """Lesson 04 opens with it: an equation and its graph, and the question of the gradient."""
    s = Sheet(
        "One step as a graph",
        "One step of a tanh network as a graph, from left to right: x times W, h times U, their sum, and "
        "tanh, which gives the next state. Wires carry arrays, nodes are functions. The question of the "
        "lesson is what can be read from such a picture before anything is computed.",
        370,
    )
    s.heading(20, "One step as a graph", "Wires carry arrays, nodes are functions.")
    _nodes(s, 20, ("x", "h", "W", "U", "h′"), "data", ("+", "tanh"))
    for points in EDGES:
        s.arrow(*((20 + x, y) for x, y in points), role="data")
    s.rule((450, 16), (450, 354))
    s.heading(470, "What does it show?")
    for line, label in enumerate(
        ("the gradients", "what must be saved", "the calls of products", "the time")
    ):
        s.text(470, 130 + 50 * line, f"{label}: ?", anchor="start", size=PLAIN)
    return s


def graph_and_mirror() -> Sheet:
    """Lesson 04: the graph of a cell and its mirror, with every arrow reversed."""
    s = Sheet(
        "A graph and its mirror",
        "The gradient of a cell is its graph with every arrow reversed: the same nodes in the same places. "
        "Left, from x and h through two products, a sum and tanh to the next state. Right, from the gradient "
        "of that state back to the gradients of x, h and the weights W and U.",
        370,
    )
    s.heading(20, "Forward: the graph", "From inputs to the next state.")
    _nodes(s, 20, ("x", "h", "W", "U", "h′"), "data", ("+", "tanh"))
    s.rule((450, 16), (450, 354))
    s.heading(470, "Backward: its mirror", "The same places, every arrow reversed.")
    _nodes(s, 470, ("dx", "dh", "dW", "dU", "dh′"), "gradient", ("copy", "tanh′"))
    for left, role in ((20, "data"), (470, "gradient")):
        for points in EDGES:
            way = [(left + x, y) for x, y in (points if role == "data" else points[::-1])]
            s.arrow(*way, role=role)
    return s


EDGES = (  # from shape to shape, forward, with the left edge of the panel at 0
    ((62, 130), (126, 130)),
    ((62, 320), (126, 320)),
    ((150, 186), (150, 154)),
    ((150, 264), (150, 296)),
    ((174, 130), (222, 130), (222, 197)),
    ((174, 320), (222, 320), (222, 253)),
    ((252, 225), (272, 225)),
    ((334, 225), (352, 225)),
)


def _nodes(s: Sheet, left: float, names: tuple[str, ...], role: str, signs: tuple[str, str]) -> None:
    """Shapes of one panel: inputs, weights, products, sum, function, result."""
    x, h, W, U, result = names
    places = ((2, 110, x), (2, 300, h), (354, 205, result))
    for right, y, label in places:
        s.box(left + right, y, 56, 40, role, label)
    s.box(left + 122, 188, 56, 34, "weights", W)
    s.box(left + 122, 228, 56, 34, "weights", U)
    for y in (130, 320):
        s.circle(left + 150, y, "×", radius=20)
    s.box(left + 194, 201, 56, 48, "work", signs[0], radius=22)
    s.box(left + 274, 205, 58, 40, "work", signs[1], radius=18)


def equal_arithmetic() -> Sheet:
    """Lesson 05: equal arithmetic, unequal bytes."""
    s = Sheet(
        "Equal arithmetic, unequal bytes",
        "Three products of B sequences and H units with the same 1,024 multiply-adds read and write 320, 384 "
        "and 1,088 numbers: the flatter the product, the more memory for the same work. Each is drawn "
        "to scale, two factors and a result, with a bar for its arithmetic and one for its numbers.",
        505,
    )
    s.heading(
        20, "Three products with equal arithmetic", "To scale: one factor times the other gives the result."
    )
    for (B, H), y in zip(PRODUCTS, (90, 205, 325), strict=True):
        _product(s, B, H, y)
        numbers = 2 * B * H + H * H
        s.note(610, y + 14, f"{B * H * H:,} multiply-adds", "work", bold=True)
        s.box(610, y + 22, 256, 14, "work", solid=True, radius=1)
        s.note(610, y + 62, f"{numbers:,} numbers read or written", "weights", bold=True)
        s.box(610, y + 70, numbers / 4, 14, "weights", solid=True, radius=1)
    return s


def _product(s: Sheet, B: int, H: int, y: float) -> None:
    """Factors and result at UNIT pixels a number, one beside the other, and the sizes below the first."""
    s.note(20, y + B * UNIT + 22, f"B = {B}, H = {H}")
    x = 20
    for sign, height, role in (("", B, "data"), ("×", H, "weights"), ("=", B, "state")):
        if sign:
            s.text(x + 16, y + 14, sign, size=PLAIN)
            x += 32
        s.box(x, y, H * UNIT, height * UNIT, role, radius=1)
        x += H * UNIT


def passes_over_memory() -> Sheet:
    """Lesson 06: many passes over an array against one."""
    s = Sheet(
        "Many passes over memory, or one",
        "Four operations, one after the other, pass over the array four times: each reads all of it from "
        "memory and writes all of it back. Fused into one loop they pass once: each element is read, "
        "goes through all four operations in registers, and is written.",
        390,
    )
    s.heading(20, "One operation after the other", "Every pass reads and writes the whole array.")
    _array(s, 20)
    for number, sign in enumerate(("×", "+", "tanh", "×")):
        x = 26 + number * 102
        s.box(x + 8, 236, 80, 44, "work", sign, radius=20)
        s.arrow((x + 28, 146), (x + 28, 234))
        s.arrow((x + 68, 236), (x + 68, 147))
        s.text(x + 48, 306, f"pass {number + 1}", colour=QUIET)
    s.text(225, 362, "4 reads, 4 writes of the array", size=PLAIN, bold=True)
    s.rule((450, 16), (450, 374))
    s.heading(470, "One loop with all operations", "Between them, values stay in registers.")
    _array(s, 470)
    s.area(486, 216, 378, 84)
    for number, sign in enumerate(("×", "+", "tanh", "×")):
        s.box(498 + number * 92, 236, 72, 44, "work", sign, radius=20)
        if number:
            s.arrow((479 + number * 92, 258), (496 + number * 92, 258), role="work")
    s.arrow((534, 146), (534, 234))
    s.arrow((810, 236), (810, 147))
    s.text(672, 326, "one pass, in registers", colour=QUIET)
    s.text(675, 362, "1 read, 1 write of the array", size=PLAIN, bold=True)
    return s


def _array(s: Sheet, left: float) -> None:
    s.note(left, 92, "the array in memory", bold=True)
    for element in range(16):
        s.tile(left + element * 25.6, 102, 24, 42, ROLES["data"].pale)


def threads_and_barriers() -> Sheet:
    """Lesson 07: how often two threads must synchronise."""
    s = Sheet(
        "Two threads and their barriers",
        "Two threads that share every step must wait for each other at every step; with sequences of "
        "their own they synchronise once, at the end. Above, the units of each step are shared, with a "
        "barrier after each. Below, the minibatch is shared. Hatched time is waiting.",
        434,
    )
    s.heading(20, "Each step is shared: a barrier after every step")
    _threads(s, 68, ((118, 150), (146, 118), (112, 140), (144, 122)), 168)
    s.rule((20, 204), (880, 204))
    s.heading(20, "The minibatch is shared: one barrier at the end", y=240)
    _threads(s, 272, ((520, 530),), 548)
    s.arrow((126, 388), (880, 388))
    s.text(872, 412, "time", anchor="end", colour=QUIET)
    s.note(126, 412, "black bar: barrier; hatched: waiting")
    return s


def _threads(s: Sheet, y: float, work: tuple[tuple[int, int], ...], turn: int) -> None:
    """Two rows of bars; `work` are pixels of both threads up to each barrier, `turn` from one to the next."""
    for thread in range(2):
        s.note(20, y + 27 + thread * 52, f"thread {thread}", bold=True)
    for number, lengths in enumerate(work):
        x = 126 + number * turn
        for thread, length in enumerate(lengths):
            s.box(x, y + 4 + thread * 52, length, 36, "work", solid=True, radius=2)
            s.hatch(x + length + 2, y + 4 + thread * 52, turn - length - 12, 36)
        s.barrier((x + turn - 6, y - 4), (x + turn - 6, y + 100))

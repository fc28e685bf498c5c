"""Drawings of kernels and their order: an empty chip, fused kernels, streams, events, graphs."""

from drawings.parts import array, diamond, element, lane, matrix, node, panels, row, time_axis
from drawings.pen import Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

RED, PURPLE, BLUE = (ROLES[role].text for role in ("error", "gradient", "state"))
MULTIPROCESSORS = 132  # of an H200
ACROSS = 22  # in a row of the drawing
TILES = 8  # of 64 by 64: 64 sequences by 512 units


def empty_chip() -> Sheet:
    """Lesson 11: a small product occupies few multiprocessors."""
    s = Sheet(
        "A chip that is nearly empty",
        "A product of 64 sequences and 512 units is 8 tiles of 64 by 64, so it keeps 8 of the 132 "
        "multiprocessors of an H200 at work and leaves 124 empty. Each small square is a multiprocessor; "
        "the filled ones hold a tile.",
        350,
    )
    s.heading(20, "132 multiprocessors, 8 tiles", "A kernel that always runs may still leave the chip empty.")
    s.area(20, 80, 860, 206)
    for place in range(MULTIPROCESSORS):
        x = 31 + 38 * (place % ACROSS)
        y = 92 + 30 * (place // ACROSS)
        busy = place < TILES
        element(s, x, y, 36, 28, "work" if busy else "plain", str(place) if busy else "", solid=busy)
    s.text(450, 322, "8 at work, 124 without a tile", size=PLAIN, bold=True)
    return s


def numbers_between_kernels() -> Sheet:
    """Lesson 11: arrays that only carry numbers from one kernel to the next."""
    s = Sheet(
        "Numbers between kernels",
        "Between separate kernels every number goes through memory; in one kernel it stays in a register. "
        "Left, two products write the arrays a and u, and a third kernel reads both again. Right, one "
        "kernel does all of it and writes only the new state.",
        370,
    )
    panels(
        s,
        ("Three kernels", "a and u exist only to be handed on."),
        ("One kernel", "The same numbers, never written."),
        ("2 arrays written and read again", "0 arrays in between"),
    )
    for x, product, result in ((80, "x W^{T} + b", "a"), (210, "h U^{T}", "u")):
        s.box(x - 56, 92, 112, 44, "work", product, size=14, radius=20)
        s.arrow((x, 136), (x, 252))
        array(s, (x, 272), result, width=90, height=40)
    s.box(310, 92, 120, 44, "work", "tanh(a + u)", size=14, radius=20)
    s.arrow((80, 292), (80, 312), (344, 312), (344, 138), corner=6)
    s.arrow((256, 272), (370, 272), (370, 138))
    s.note(114, 208, "memory", bold=True)
    s.rule((20, 216), (432, 216))
    s.box(500, 92, 350, 100, "work", radius=20)
    s.text(675, 120, "one kernel")
    for x, label in ((574, "a"), (674, "u")):
        s.box(x - 34, 136, 68, 34, "data", label, dashed=True, radius=2)
    s.arrow((710, 153), (752, 153))
    node(s, (790, 153), "tanh", width=72)
    s.text(624, 158, "+", size=PLAIN)
    s.arrow((790, 172), (790, 250), role="state")
    array(s, (790, 272), "h′", "state", 90, 40, solid=True)
    s.note(490, 208, "memory", bold=True)
    s.rule((470, 216), (880, 216))
    return s


def grouped_gates() -> Sheet:
    """Lesson 12: the weights of four gates on top of each other, one product for all."""
    s = Sheet(
        "Four gates, one product",
        "Stacked weights turn four products with the same input into one, which has four times the columns "
        "and fills more of the chip. Left, x is read four times, a launch for each gate. Right, the four "
        "weight matrices lie next to each other and x is read once.",
        380,
    )
    panels(
        s,
        ("A product for every gate", "x is read four times."),
        ("Grouped gates", "x is read once, for four times the columns."),
        ("4 launches, 8 blocks each", "1 launch, 32 blocks"),
    )
    for place, gate in enumerate("ifgo"):
        y = 84 + 64 * place
        s.wedge(24, y + 14)
        s.box(60, y, 84, 52, "data", "x", radius=2)
        s.text(168, y + 32, "×", size=PLAIN)
        s.box(190, y, 84, 52, "weights", f"W_{{{gate}}}", solid=True, radius=2)
        s.text(298, y + 32, "=", size=PLAIN)
        s.box(320, y, 84, 52, "work", f"gate {gate}", radius=2)
        s.box(610 + 66 * place, 112, 64, 64, "weights", f"W_{{{gate}}}", solid=True, radius=2)
        s.box(610 + 66 * place, 232, 64, 64, "work", f"gate {gate}", size=14, radius=2)
    s.wedge(474, 132)
    s.box(500, 112, 70, 64, "data", "x", radius=2)
    s.text(590, 150, "×", size=PLAIN)
    s.text(590, 270, "=", size=PLAIN)
    s.text(740, 208, "four matrices, next to each other", colour=ROLES["weights"].text)
    return s


def two_streams() -> Sheet:
    """Lesson 12: products with inputs run beside the recurrence."""
    s = Sheet(
        "Two streams",
        "In two streams the products with the inputs run beside the recurrence, which alone has to wait "
        "from step to step. Above, one stream: everything in a queue. Below, the input products of later "
        "steps fill the other stream, and events make each sum wait for both of its products.",
        400,
    )
    s.heading(20, "One stream: a queue")
    step = "weights 90 x_{{{0}}} W^{{T}} | state 70 h U^{{T}} | work 40 σ"
    lane(s, 130, 56, "stream 0", " | ".join(step.format(t) for t in range(3)), 36)
    s.rule((20, 122), (880, 122))
    s.heading(20, "Two streams: input products run ahead", y=158)
    lane(s, 130, 186, "stream 1", " | ".join(f"weights 90 x_{{{t}}} W^{{T}}" for t in range(3)), 36)
    lane(s, 130, 276, "stream 0", "gap 20" + 3 * " | state 70 h U^{T} | work 40 σ", 36)
    for t in range(3):
        end = 217 + 90 * t
        sum_ = 226 + 110 * t
        s.arrow((end, 222), (end, 248), (sum_, 248), (sum_, 274), role="waiting", corner=4)
    s.note(520, 208, "dashed arrows: events")
    s.note(520, 298, "h U^{T} waits for the step before, x W^{T} for none")
    time_axis(s, 130, 340)
    return s


def one_thread_one_unit() -> Sheet:
    """Lesson 12: in a fused kernel a thread keeps the gates of its unit in registers."""
    s = Sheet(
        "One thread, one unit",
        "In the fused kernel a thread takes one unit of one sequence from the products to the new state, "
        "and all that lies between stays in its registers. Above and below, memory: the products and the "
        "old state are read once, the new state is written once. In the middle, the thread of a GRU.",
        390,
    )
    s.heading(
        20,
        "A GRU's pointwise work as one kernel",
        "Solid boxes: memory. Dashed boxes: registers of one thread.",
    )
    row(s, 130, 102, ["r", "z", "n"], "data", width=80)
    row(s, 420, 102, ["r", "z", "n"], "data", width=80)
    array(s, (760, 118), "h", "state", 80, 32, solid=True)
    s.text(250, 94, "from x W^{T}")
    s.text(540, 94, "from h U^{T}")
    s.box(130, 164, 670, 120, "work", radius=12)
    s.note(146, 188, "one thread", bold=True)
    for x, label in ((270, "r"), (430, "z"), (590, "n")):
        s.box(x, 200, 84, 44, "data", label, dashed=True, radius=2)
        s.text(x + 42, 270, {"r": "σ", "z": "σ", "n": "tanh, uses r"}[label], colour=QUIET)
    s.arrow((250, 136), (250, 162))
    s.arrow((540, 136), (540, 162))
    s.arrow((760, 136), (760, 162), role="state")
    s.arrow((450, 284), (450, 312), role="state")
    s.box(390, 314, 120, 34, "state", "h′", solid=True, radius=2)
    s.note(540, 337, "7 loads, 1 store, 1 launch", bold=True)
    s.note(20, 123, "memory", bold=True)
    s.note(20, 337, "memory", bold=True)
    return s


def transposed_once() -> Sheet:
    """Lesson 13: a transposed copy for the forward steps; the backward pass reads the stored weights."""
    s = Sheet(
        "Weights transposed once",
        "A transposed copy is made once before the loop and read by all forward steps; the backward pass "
        "reads the weights as they are stored. Left, the stored weights with a row for each unit. In the "
        "middle the copy, a column for each unit. One unit's weights are marked in both.",
        390,
    )
    s.heading(20, "Transposed once, read T times", "Marked: the weights of one unit.")
    matrix(s, 60, 104, (5, 5), "weights", cell=36, mark=[(1, c) for c in range(5)])
    matrix(s, 400, 104, (5, 5), "weights", cell=36, mark=[(r, 1) for r in range(5)])
    s.text(150, 92, "U as it is stored", bold=True)
    s.text(490, 92, "copy: U transposed", bold=True)
    s.arrow((246, 194), (392, 194), role="weights")
    s.text(318, 182, "once")
    for t in range(3):
        node(s, (760, 124 + 54 * t), f"step {t}: h U^{{T}}", width=150)
        s.arrow((586, 194), (630, 194), (630, 124 + 54 * t), (682, 124 + 54 * t))
        node(s, (250 + 200 * t, 340), f"step {2 - t}: da U", "gradient", 150)
    s.arrow((150, 288), (150, 340), (172, 340), role="gradient")
    for t in range(2):
        s.arrow((326 + 200 * t, 340), (372 + 200 * t, 340), role="gradient")
    s.text(760, 290, "forward reads the copy", colour=QUIET)
    s.note(160, 312, "backward reads U itself", "gradient")
    return s


def inputs_of_k_steps() -> Sheet:
    """Lesson 13: the inputs of k steps in one product, and the memory that they wait in."""
    s = Sheet(
        "Inputs of several steps at a time",
        "Products of more steps at once are fewer and fuller, and their results wait in memory until a "
        "step uses them: k decides how much. Three rows of time for six steps: one, two and all steps in a "
        "product. At the right, the memory that each needs.",
        340,
    )
    s.heading(
        20, "6 steps: k = 1, 2 and T at a time", "Blocks: input products. Squares: steps. Right: memory."
    )
    for place, (name, k) in enumerate((("k = 1", 1), ("k = 2", 2), ("k = T", 6))):
        y = 92 + 74 * place
        x = 100.0
        s.note(20, y + 29, name, bold=True)
        for first in range(0, 6, k):
            length = {1: 44, 2: 60, 6: 120}[k]
            s.box(
                x,
                y,
                length - 3,
                46,
                "weights",
                f"{k} x W^{{T}}" if k > 1 else "x W^{T}",
                solid=True,
                size=14,
                radius=2,
            )
            x += length
            for step in range(first, first + k):
                s.box(x, y + 6, 31, 34, "state", str(step), radius=2, size=14)
                x += 34
        for number in range(k):
            element(s, 640 + 36 * number, y + 4, 36, 38, "data")
    s.text(748, 84, "results that wait", bold=True)
    s.text(450, 320, "fewer, fuller products; more memory", size=PLAIN, bold=True)
    return s


def gradient_after_loop() -> Sheet:
    """Lesson 13: a weight gradient as T small products that add, or one after the loop."""
    s = Sheet(
        "The weight gradient after the loop",
        "One product over all steps computes the sum by itself; step by step, the whole gradient is read "
        "and written each time. Left, three products of a few rows, each adding to dU in memory. Right, "
        "the rows of all steps side by side, one product, and dU is written once.",
        370,
    )
    panels(
        s,
        ("In the loop", "Each step reads and writes all of dU."),
        ("After the loop", "The inner size of one product adds it up."),
        ("dU read and written T times", "dU written once"),
    )
    for t in range(3):
        y = 92 + 76 * t
        matrix(s, 30, y + 3, (4, 2), "gradient", cell=(15, 13))
        s.text(78, y + 34, "×", size=PLAIN)
        matrix(s, 96, y + 16, (2, 4), "state", cell=(15, 13))
        s.text(210, y + 20, f"step {2 - t}", colour=QUIET)
        s.arrow((166, y + 30), (290, y + 30), role="weights")
        s.arrow((290, y + 44), (172, y + 44), role="weights")
        s.box(294, y, 110, 62, "weights", "dU", radius=2)
    s.text(525, 98, "da of all steps", colour=PURPLE)
    matrix(s, 480, 112, (4, 6), "gradient", cell=(15, 24))
    s.text(592, 166, "×", size=PLAIN)
    matrix(s, 614, 112, (6, 4), "state", cell=(22, 18))
    s.text(660, 246, "h of all steps", colour=BLUE)
    s.text(724, 166, "=", size=PLAIN)
    s.box(746, 112, 120, 100, "weights", "dU", solid=True, radius=2)
    return s


def hazard() -> Sheet:
    """Lesson 13: an operation moved before the one whose result it reads."""
    s = Sheet(
        "A hazard",
        "An operation may be moved only if it still reads what was written for it. Left, the product of "
        "step 1 comes after the operation that writes the state of step 0. Right, it was moved before it "
        "and reads an old number: the order of this pair matters, a hazard.",
        330,
    )
    panels(
        s,
        ("In order", "Written, then read."),
        ("Moved too far", "Read before it is written."),
        ("allowed", "refused: a hazard"),
    )
    good = ("inputs of step 0", "write h_{1}", "inputs of step 1", "read h_{1}: h U^{T}")
    for left, order in ((20, (0, 1, 2, 3)), (470, (0, 3, 1, 2))):
        for place, which in enumerate(order):
            role = ("data", "state", "data", "work" if left == 20 else "error")[which]
            s.box(left + 30, 84 + 48 * place, 200, 40, role, good[which], radius=2, size=14)
        write, read = (104 + 48 * order.index(which) for which in (1, 3))
        role = "state" if left == 20 else "error"
        s.arrow((left + 230, write), (left + 300, write), (left + 300, read), (left + 234, read), role=role)
        s.note(left + 312, (write + read) / 2 + 5, "needs", role)
    return s


def events_between_streams() -> Sheet:
    """Lesson 14: an event makes one stream wait for a point of another one."""
    s = Sheet(
        "Events between streams",
        "Streams run independently; an event recorded in one is what another waits for. Three steps of two "
        "layers, a stream for each layer: every step of layer 1 waits for the same step of layer 0. The "
        "wait for step 2 includes the waits before it, since a stream is a queue.",
        330,
    )
    s.heading(
        20,
        "Two layers in two streams",
        "Diamond: an event is recorded. Dashed: the other stream waits for it.",
    )
    lane(s, 150, 96, "layer 0", " | ".join(f"work 130 step {t} | gap 20" for t in range(3)), 44)
    steps = "".join(f"| state 150 step {t} | gap 20 " for t in range(3))
    lane(s, 150, 206, "layer 1", f"waiting 146 | gap 4 {steps}", 44)
    for t in range(3):
        x = 150 + 150 * t + 130
        target = 306 + 170 * t
        s.arrow((x, 148), (x, 176), (target, 176), (target, 204), role="waiting", corner=6)
        diamond(s, x, 140)
    time_axis(s, 150, 284)
    return s


def graph_of_launches() -> Sheet:
    """Lesson 14: a CUDA graph starts all kernels of two streams with one launch."""
    s = Sheet(
        "One launch for all",
        "A CUDA graph records the launches once and starts them all with one, so the device no longer "
        "waits for the host between short kernels. Above, a launch for each kernel: hatched time is "
        "waiting. Below, one launch of the graph, and the same kernels follow each other.",
        360,
    )
    s.heading(20, "A launch for each kernel")
    lane(s, 100, 54, "host", " | ".join(7 * ["data 100"]))
    lane(s, 100, 100, "device", "gap 100 | work 40" + 6 * "| waiting 60 | work 40")
    for t in range(7):
        s.wedge(110 + 100 * t, 58)
        s.text(152 + 100 * t, 76, "launch")
    s.rule((20, 164), (880, 164))
    s.heading(20, "One launch of a graph", y=200)
    lane(s, 100, 222, "host", "data 130")
    s.wedge(110, 226)
    s.text(174, 244, "graph")
    lane(s, 100, 268, "device", "gap 130" + 7 * "| work 42")
    time_axis(s, 100, 320)
    return s


def layers_and_k() -> Sheet:
    """Lesson 14: with all inputs in one product, a layer waits for the end of the layer below."""
    s = Sheet(
        "Two steps of inputs, or all",
        "With all inputs in one product a layer can only begin when the layer below has finished; with two "
        "at a time it begins two steps later. Four steps of two layers: above, one product for all inputs "
        "of layer 1; below, two products for two steps each. Hatched time is waiting.",
        390,
    )
    s.heading(20, "k = T: layer 1 waits for the end of layer 0")
    all_steps = "weights 90 inputs" + "".join(f"| state 50 {t}" for t in range(4))
    pairs = "|".join(f"weights 60 2 x W^{{T}} | state 50 {t} | state 50 {t + 1}" for t in (0, 2))
    lane(s, 110, 56, "layer 0", all_steps)
    lane(s, 110, 98, "layer 1", f"waiting 290 | {all_steps}")
    s.rule((20, 160), (880, 160))
    s.heading(20, "k = 2: layer 1 begins after two steps", y=196)
    lane(s, 110, 218, "layer 0", pairs)
    lane(s, 110, 260, "layer 1", f"waiting 160 | {pairs}")
    s.note(700, 120, "one after the other", bold=True)
    s.note(610, 282, "side by side", bold=True)
    time_axis(s, 110, 332)
    return s

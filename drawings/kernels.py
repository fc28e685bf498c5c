"""Drawings of what a GPU does: threads in boxes, a tile in shared memory, launches in time, kernels fused."""

from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

OCHRE = ROLES["weights"].text
LANES_DRAWN = 8  # of the 32 lanes of a warp


def grid_block_warp() -> Sheet:
    """Lesson 09: boxes in boxes, and one element for each thread."""
    s = Sheet(
        "Grid, block, warp, thread",
        "A kernel runs once for every thread, and each thread takes one element of the array. The grid is "
        "all blocks; a block holds warps; a warp is 32 threads that run each instruction together, 8 of them "
        "drawn. One block, one warp and one thread are marked, and so is the element that this thread takes.",
        440,
    )
    s.heading(
        20, "A grid of blocks, a block of warps, a warp of threads", "Marked: one thread, and its element."
    )
    s.area(20, 82, 220, 222)
    s.text(36, 106, "grid", anchor="start", bold=True)
    for block in range(4):
        x = 40 + block % 2 * 96
        y = 122 + block // 2 * 88
        s.box(x, y, 84, 74, "work", f"block {block}", size=14, solid=block == 3)
    s.box(300, 82, 220, 222, "work", radius=8)
    s.text(316, 106, "block 3", anchor="start", bold=True)
    for warp in range(4):
        s.box(318, 118 + warp * 45, 184, 36, "work", f"warp {warp}", size=14, solid=warp == 1, radius=3)
    s.line((220, 247), (270, 247), (270, 130), (299, 130), width=1.5)
    s.line((502, 181), (550, 181), (550, 130), (579, 130), width=1.5)
    _warp(s)
    _array(s)
    return s


def _warp(s: Sheet) -> None:
    s.box(580, 82, 300, 222, "work", radius=8)
    s.text(596, 106, "warp 1 of block 3", anchor="start", bold=True)
    for lane in range(LANES_DRAWN):
        fill = HIGHLIGHT if lane == 5 else ROLES["work"].pale
        s.tile(594 + lane * 30, 132, 28, 34, fill, str(lane))
    s.text(857, 154, "… 31")
    for line, label in enumerate(("32 threads, or lanes,", "run each instruction", "together")):
        s.note(594, 204 + 24 * line, label)
    s.arrow((758, 167), (758, 349))


def _array(s: Sheet) -> None:
    s.text(20, 373, "the array in memory", anchor="start", bold=True)
    for element in range(-14, 4):
        fill = ROLES["data"].pale if element else HIGHLIGHT
        s.tile(741 + element * 36, 350, 34, 36, fill, "" if element else "421")
    s.text(758, 420, "3 × 128 + 1 × 32 + 5 = 421")
    s.text(440, 420, "its number: block × 128 + warp × 32 + lane")


def shared_tile() -> Sheet:
    """Lesson 10: a tile is loaded once and read by a whole block."""
    s = Sheet(
        "A tile in shared memory",
        "A tile that is loaded once is read by a whole block. Left, every thread fetches all it needs "
        "from far memory, so the same numbers are loaded 8 times. Right, the block copies them once into "
        "its shared memory, each number into a bank of its own, waits at a barrier, and reads them there.",
        470,
    )
    s.heading(20, "Without a tile", "Each thread fetches all 8 numbers.")
    _far_memory(s, 20)
    s.box(20, 82, 410, 96, "plain", radius=8)
    s.text(34, 106, "block", anchor="start", bold=True)
    _threads(s, 52, 44)
    for lane in range(LANES_DRAWN):
        s.arrow((72 + lane * 44, 374), (72 + lane * 44, 164))
        for number in range(LANES_DRAWN):
            s.tile(78 + lane * 44, 206 + number * 16, 14, 14, HIGHLIGHT)
    s.text(225, 456, "64 loads from far memory", bold=True)
    s.rule((450, 16), (450, 456))
    s.heading(470, "With a tile", "The block fetches each number once.")
    _far_memory(s, 470)
    s.box(470, 82, 410, 226, "plain", radius=8)
    s.text(484, 106, "block", anchor="start", bold=True)
    _threads(s, 486, 40)
    _banks(s)
    s.arrow((644, 374), (644, 310), role="state")
    for number in range(LANES_DRAWN):
        s.tile(662 + number * 16, 334, 14, 14, HIGHLIGHT)
    s.text(675, 456, "8 loads from far memory", bold=True)
    return s


def _threads(s: Sheet, left: float, pitch: float) -> None:
    for lane in range(LANES_DRAWN):
        s.tile(left + lane * pitch, 124, 36, 38, ROLES["work"].pale, str(lane))


def _banks(s: Sheet) -> None:
    s.box(478, 216, 394, 84, "state", radius=4)
    for bank in range(LANES_DRAWN):
        x = 486 + bank * 40
        s.tile(x, 226, 36, 30, HIGHLIGHT)
        s.arrow((x + 18, 225), (x + 18, 164), role="state")
        s.text(x + 18, 272, str(bank))
    s.note(806, 246, "tile")
    s.note(806, 272, "bank")
    s.note(486, 293, "shared memory", "state")
    s.barrier((480, 190), (808, 190))
    s.text(840, 195, "barrier", bold=True)


def _far_memory(s: Sheet, left: float) -> None:
    s.box(left, 374, 410, 58, "data", radius=4)
    s.text(left + 14, 408, "far memory", anchor="start", bold=True)
    for number in range(LANES_DRAWN):
        s.tile(left + 180 + number * 24, 388, 22, 30, HIGHLIGHT)


def launch_timeline() -> Sheet:
    """Lesson 11: with small kernels the chip waits for launches, with large ones it does not."""
    s = Sheet(
        "A host launches small kernels and large ones",
        "With small kernels the chip waits between them, since the host needs longer to launch a kernel than "
        "the chip to run it; the launches set the pace. With large kernels the host is ahead, and "
        "the chip works without a pause; the kernels set the pace.",
        430,
    )
    s.heading(20, "Small kernels: the chip waits for launches")
    s.note(20, 90, "host", bold=True)
    s.note(20, 144, "chip", bold=True)
    for kernel in range(7):
        x = 90 + kernel * 108
        _launch(s, x, 66, 104)
        s.box(x + 104, 124, 30, 32, "work", solid=True, radius=2)
        if kernel < 6:
            s.hatch(x + 136, 124, 74, 32)
        s.line((x + 100, 104), (x + 104, 122), width=1.2, colour=QUIET)
    _time(s, 176)
    s.rule((20, 220), (880, 220))
    s.heading(20, "Large kernels: the host is ahead", y=250)
    s.note(20, 298, "host", bold=True)
    s.note(20, 352, "chip", bold=True)
    for kernel in range(3):
        _launch(s, 90 + kernel * 108, 274, 104)
    for kernel in range(3):
        s.box(194 + kernel * 222, 332, 218, 32, "work", "kernel", solid=True, radius=2)
    _time(s, 384)
    return s


def _launch(s: Sheet, x: float, y: float, width: float) -> None:
    s.box(x, y, width - 4, 36, "data", radius=2)
    s.wedge(x + 8, y + 6)
    s.text(x + 60, y + 23, "launch")


def _time(s: Sheet, y: float) -> None:
    s.arrow((90, y), (880, y))
    s.text(872, y + 24, "time", anchor="end", colour=QUIET)


def kernels_of_a_step() -> Sheet:
    """Lesson 12: what is grouped, what runs side by side, what is fused."""
    s = Sheet(
        "25 kernels become 3",
        "An LSTM step of 25 kernels becomes one of 3. Left, every operation is a kernel: for each of four "
        "gates two products, a sum, a bias and a function, then five for the states. Right, "
        "the products of all gates are grouped into two tall ones, side by side, and the rest is one kernel.",
        420,
    )
    s.heading(20, "25 kernels a step", "A kernel for every operation.")
    for gate, name in enumerate("ifgo"):
        y = 86 + gate * 56
        s.note(20, y + 27, f"gate {name}", bold=True)
        for number, label in enumerate(("x W^{T}", "h U^{T}", "+", "+b", "σ" if name != "g" else "tanh")):
            role = "weights" if number < 2 else "work"
            s.box(84 + number * 66, y, 58, 42, role, label, size=14, radius=14)
    s.note(20, 338, "states", bold=True)
    for number, label in enumerate(("f∘c", "i∘g", "+", "tanh", "o∘")):
        s.box(84 + number * 66, 311, 58, 42, "work", label, size=14, radius=14)
    s.text(225, 394, "20 for the gates, 5 for the states", bold=True)
    s.rule((450, 16), (450, 404))
    s.heading(470, "3 kernels a step", "Two side by side, then one.")
    s.area(482, 76, 248, 236)
    for x, label in ((500, "x W^{T}"), (622, "h U^{T}")):
        for gate in range(4):
            s.tile(x, 86 + gate * 54, 90, 54, ROLES["weights"].pale, f"gate {'ifgo'[gate]}")
        s.text(x + 45, 334, label, size=PLAIN, colour=OCHRE)
    s.arrow((730, 194), (762, 194), role="work")
    s.box(764, 86, 116, 216, "work", "biases,\nsums,\nfunctions,\nstates", solid=True)
    s.text(822, 334, "one pass", size=PLAIN)
    s.text(675, 394, "grouped products, one fused kernel", bold=True)
    return s

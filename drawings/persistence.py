"""Drawings of persistent kernels: which thread holds which weight, flags, residency, fragments, registers."""

from drawings.parts import array, element, lane, time_axis
from drawings.pen import Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

BLOCKS = 4  # of the drawn barrier
STAGES = (
    "All flags are 5: the blocks compute step 5.",
    "Three blocks have written h and, after a fence, set their flags to 6.",
    "Three blocks poll the flags: that of block 2 is still 5.",
    "All flags are 6: all blocks read h and begin the next step.",
)
SLOW = 2  # block that comes last
LANE = 9  # of 32, marked in the drawing of fragments: 4 g + t with g = 2, t = 1
REGISTERS = 255  # of a thread, at most
RED = ROLES["error"].text


def weights_of_threads() -> Sheet:
    """Lesson 15: a warp holds whole units, a lane every eighth (thirty-second) column of them."""
    s = Sheet(
        "Which thread holds which weight",
        "A warp holds all weights of its units and each of its lanes a few columns of them, so every "
        "weight is in exactly one thread. Rows are units, two for each warp; columns are numbers of h, and "
        "below each column stands its lane. 8 of 32 lanes are drawn; weights of lane 3 are marked.",
        394,
    )
    s.heading(
        20,
        "Rows belong to warps, columns to lanes",
        "Marked: the weights of lane 3 of warp 1. 8 of 32 lanes drawn.",
    )
    for c in range(18):
        s.text(177 + 38 * c, 98, str(c), colour=QUIET)
        s.text(177 + 38 * c, 338, str(c % 8), bold=c % 8 == 3)
        for r in range(6):
            element(s, 158 + 38 * c, 106 + 34 * r, 38, 34, "weights", mark=c % 8 == 3 and r // 2 == 1)
    s.note(20, 98, "column of h", bold=True)
    s.note(20, 338, "lane", bold=True)
    for warp in range(3):
        s.note(20, 144 + 68 * warp, f"warp {warp}", bold=True)
        s.note(84, 128 + 68 * warp, f"unit {2 * warp}")
        s.note(84, 162 + 68 * warp, f"unit {2 * warp + 1}")
        if warp:
            s.line((20, 106 + 68 * warp), (842, 106 + 68 * warp), width=3)
    label = "lane = column mod 8 here, mod 32 on a GPU: neighbouring lanes read neighbours of h"
    s.text(450, 376, label, bold=True)
    return s


def barrier_of_flags(stage: int = 2) -> Sheet:
    """Lesson 15: each block sets its flag and reads the flags of all others."""
    s = Sheet(
        "A barrier of flags",
        "Each block writes its part of h, sets its flag, and continues when it has seen the flags of all "
        "blocks. Four blocks above, their flags in memory below. One block is slower; until its flag is "
        "set the others poll, which is drawn as hatching.",
        420,
        f"Stage {stage}. {STAGES[stage]}",
    )
    s.heading(20, "Every block has a flag", "A flag counts steps. Hatched: a block polls the flags.")
    for block in range(BLOCKS):
        _block_and_flag(s, block, stage)
    s.note(60, 396, STAGES[stage], bold=True)
    return s


def _block_and_flag(s: Sheet, block: int, stage: int) -> None:
    """A block above its flag in memory."""
    x = 60 + 210 * block
    late = block == SLOW
    done = stage == 3 or (stage > 0 and not late)
    label = "next step" if stage == 3 else "writes h" if done else "computes"
    s.box(x, 84, 150, 150, radius=8)
    s.note(x + 12, 108, f"block {block}", bold=True)
    if stage == 2 and not late:
        s.hatch(x + 12, 122, 126, 44)
    else:
        s.box(x + 12, 122, 126, 44, "work", label, solid=True, radius=2)
    array(s, (x + 75, 198), f"part {block} of h", "state", 126, 40, solid=done, dashed=not done)
    element(s, x + 35, 320, 80, 44, "state", f"flag {5 + done}", mark=done)
    if stage == 1 and done:
        s.arrow((x + 75, 236), (x + 75, 318), role="state")
    elif stage == 2 and done:  # what it waits for
        s.arrow((135 + 210 * SLOW, 318), (x + 75, 238), role="waiting")
    elif done:
        s.arrow((x + 75, 318), (x + 75, 238), role="state")


def not_resident() -> Sheet:
    """Lesson 15: a block that cannot start is waited for by blocks that cannot end."""
    s = Sheet(
        "A block that cannot start",
        "If there are more blocks than the chip can hold, the running blocks wait at the barrier for "
        "blocks that cannot start, and these wait for room: a deadlock. Left, four multiprocessors with a "
        "block each, all polling. Right, two blocks in the queue of the device.",
        340,
    )
    s.heading(20, "6 blocks, room for 4", "Hatched: waits. No block can end, so no block can start.")
    s.area(20, 84, 560, 190)
    for sm in range(4):
        x = 36 + 136 * sm
        s.box(x, 100, 120, 156, radius=8)
        s.note(x + 12, 124, f"SM {sm}", bold=True)
        s.box(x + 12, 136, 96, 40, "work", f"block {sm}", solid=True, radius=2)
        s.hatch(x + 12, 186, 96, 54)
    for block in range(2):
        s.hatch(700, 110 + 76 * block, 150, 50)
        s.text(775, 176 + 76 * block, f"block {4 + block}: no room")
    s.arrow((584, 150), (696, 130), role="waiting")
    s.arrow((696, 220), (584, 220), role="waiting")
    s.text(640, 122, "wait for", colour=RED)
    s.text(640, 244, "wait for", colour=RED)
    s.text(450, 316, "the running blocks wait for flags of blocks that never run", bold=True)
    return s


def fragment_of_a_lane() -> Sheet:
    """Lesson 16: the words of h and the sums that one lane of a warp holds."""
    s = Sheet(
        "What a lane holds",
        "A tensor core's tiles are spread over a warp, and the lane that holds the sums of a unit is mostly "
        "not the one that holds its h. Left, the tile of h, words by sequences. Right, the sums, rows by "
        "sequences. The lanes of one group have their numbers. What lane 9 holds is marked: two words and "
        "four sums.",
        470,
    )
    s.heading(20, "h: 8 words by 8 sequences", "Numbers: lanes. Marked: lane 9, 2 words.")
    s.heading(470, "Sums: 16 rows by 8 sequences", "Numbers: lanes. Marked: lane 9, 4 sums.")
    s.rule((450, 16), (450, 454))
    group = LANE // 4
    for sequence in range(8):
        s.text(110 + 40 * sequence, 98, str(sequence), colour=QUIET)
        s.text(554 + 40 * sequence, 98, str(sequence), colour=QUIET)
        for word in range(8):
            lane = 4 * sequence + word % 4
            place = (90 + 40 * sequence, 106 + 40 * word, 40, 40)
            element(s, *place, "state", str(lane) if sequence == group else "", mark=lane == LANE)
        for r in range(16):
            lane = 4 * (r % 8) + sequence // 2
            place = (534 + 40 * sequence, 106 + 21 * r, 40, 21)
            element(s, *place, "work", str(lane) if r % 8 == group else "", mark=lane == LANE)
    for word in range(8):
        s.note(24, 131 + 40 * word, f"word {word}")
    for r in (0, group, 8, 8 + group, 15):
        s.note(476, 122 + 21 * r, f"row {r}")
    return s


def registers_of_a_thread() -> Sheet:
    """Lesson 16: 255 registers and what they must hold."""
    s = Sheet(
        "The registers of a thread",
        "A thread has at most 255 registers, and weights must leave room for everything else; what does "
        "not fit is spilled to memory and read again in every step. Above, 128 words of weights fit beside "
        "sums, addresses and loads in flight. Below, with half of the registers they do not.",
        342,
    )
    s.heading(
        20,
        "255 registers of a thread, to scale",
        "Weights first. The rest: sums, addresses, loads in flight.",
    )
    scale = 3.1
    for y, limit, name in ((108, REGISTERS, "1 block an SM"), (206, 128, "2 blocks an SM")):
        s.note(20, y - 8, f"{name}: at most {limit}", bold=True)
        fits = limit == REGISTERS
        s.box(20, y, 128 * scale, 48, "weights", "128 words of weights", solid=True, radius=1)
        if fits:
            s.box(20 + 128 * scale, y, (limit - 128) * scale, 48, "work", "room for the rest", radius=1)
        else:
            s.box(20 + 128 * scale + 6, y, 150, 48, "error", "spilled", dashed=True, radius=1)
        x = 20 + limit * scale + (0 if fits else 3)
        s.line((x, y - 8), (x, y + 56), width=4)
    s.note(600, 235, "read from memory in every step", "error")
    s.text(450, 316, "128 words of weights leave no registers for a second block", size=PLAIN, bold=True)
    return s


def flag_or_value() -> Sheet:
    """Lesson 16: with flags a step has two round trips, with values that announce themselves one."""
    s = Sheet(
        "A flag, or the value itself",
        "With flags a reader needs two round trips to the cache, one for the flag and one for h; a value "
        "that is its own flag needs one. Above, writer and reader with fence, flag and read. Below, the "
        "reader polls the words of h until none is the special NaN. Not to scale.",
        380,
    )
    s.heading(20, "Flags: h, a fence, a flag; then the flag, and h")
    lane(s, 110, 56, "writer", "state 110 write h | data 80 fence | work 110 set flag")
    lane(s, 110, 106, "reader", "waiting 390 | work 120 see flag | state 120 read h")
    s.arrow((408, 90), (498, 104), role="work")
    s.note(756, 126, "next step")
    s.rule((20, 166), (880, 166))
    s.heading(20, "Values: h announces itself", y=202)
    lane(s, 110, 224, "writer", "state 110 write h")
    lane(s, 110, 274, "reader", "waiting 200 | state 120 read h")
    s.arrow((218, 258), (308, 272), role="state")
    s.note(446, 294, "next step")
    time_axis(s, 110, 330)
    return s


def row_overwritten() -> Sheet:
    """Lesson 16: a fast warp writes the row that a slow warp of its block still reads."""
    s = Sheet(
        "A row that is overwritten",
        "A block's barrier counts bytes pushed to it, and its own slow warp pushes to another block, so "
        "the fast warp may begin the next step while the slow one still reads. Above, one row: it is "
        "overwritten. Below, two rows in turn: the fast warp writes the other one.",
        380,
    )
    s.heading(20, "One row: the fast warp overwrites it")
    lane(s, 120, 56, "fast warp", "work 150 reads row | state 90 push | waiting 60 | error 180 writes row")
    lane(s, 120, 106, "slow warp", "waiting 120 | work 330 still reads row | state 90 push")
    s.note(630, 78, "new numbers in an old step", "error")
    s.rule((20, 166), (880, 166))
    s.heading(20, "Two rows in turn: steps 0, 2, … and steps 1, 3, …", y=202)
    lane(
        s, 120, 226, "fast warp", "work 150 reads row 0 | state 90 push | waiting 60 | work 180 writes row 1"
    )
    lane(s, 120, 276, "slow warp", "waiting 120 | work 330 still reads row 0 | state 90 push")
    time_axis(s, 120, 332)
    return s

"""Drawings of threads: shares and sums on a CPU; maps, races, banks, sums and shuffles on a GPU."""

from drawings.parts import array, element, lane, matrix, node, panels, row, time_axis
from drawings.pen import LANES, Sheet
from rnncourse.figures.pen import PLAIN, QUIET, ROLES

LANES_DRAWN = 8  # banks of the memory that is drawn, and lanes that read a column
ROUNDS = 3  # halvings of a sum of 8 numbers
STRIPS = 4  # tiles along the inner size of a tiled product
PHASES = (
    "load: a number a thread",
    "barrier: tiles are full",
    "4 products a thread",
    "barrier: tiles are free",
)
RED = ROLES["error"].text


def three_cuts() -> Sheet:
    """Lesson 07: three places where two threads can share an RNN."""
    s = Sheet(
        "Three places to share the work",
        "Two threads can share the rows of one product, the units of a layer, or the sequences of a "
        "minibatch, and only the sequences leave them alone until the end. In each panel, time runs to the "
        "right; the numbers tell the threads apart, black bars are barriers.",
        360,
    )
    ways = (  # name, line, left edge and width of each share of a step, barriers of a step, finding
        ("Products", "BLAS shares each", ((0, 30), (36, 30)), (33, 69), "1 barrier a product"),
        ("Units", "half of h each", ((0, 66),), (74,), "1 barrier a step"),
        ("Sequences", "half of the rows each", ((0, 80),), (), "1 barrier a pass"),
    )
    for left, (name, line, shares, barriers, finding) in zip((20, 320, 620), ways, strict=True):
        s.heading(left, name, line)
        for step in range(3):
            _shared_step(s, left + 84 * step, shares, barriers)
        s.text(left + 125, 282, "step 0, step 1, step 2", colour=QUIET)
        s.text(left + 125, 330, finding, size=PLAIN, bold=True)
    s.barrier((874, 84), (874, 250))
    return s


def _shared_step(s: Sheet, x: float, shares: tuple, barriers: tuple) -> None:
    """One step of two threads, with the barriers in it."""
    for thread in range(2):
        for start, width in shares:
            s.tile(x + start, 90 + 80 * thread, width, 72, LANES[thread], str(thread))
    for start in barriers:
        s.barrier((x + start, 84), (x + start, 250))


def sums_of_threads() -> Sheet:
    """Lesson 07: each thread has a sum of its own; one thread adds the sums in a fixed order."""
    s = Sheet(
        "One gradient from two threads",
        "With an array for each thread no addition is lost, and one thread adds them in a fixed order, so "
        "two runs give equal bits. Left, both threads add to the same array: both read 5, and one addition "
        "is lost. Right, each adds to an array of its own, and the two are added at the end.",
        370,
    )
    panels(
        s,
        ("Both add to one array", "A race: 5 + 2 + 3 becomes 8."),
        ("An array for each thread", "Added at the end, always in this order."),
        ("an addition is lost", "5 + 2 + 3 is 10 in every run"),
    )
    for thread, (number, result) in enumerate((("2", "7"), ("3", "8"))):
        x = 60 + 220 * thread
        s.tile(x, 100, 110, 34, LANES[thread], f"thread {thread}")
        node(s, (x + 55, 196), f"5 + {number} = {result}", width=110)
        s.arrow((x + 55, 134), (x + 55, 177))
        role = "data" if thread else "error"
        sum_ = 190 + 70 * thread
        s.arrow((x + 55, 214), (x + 55, 240), (sum_, 240), (sum_, 268), role=role)
        x = 500 + 220 * thread
        s.tile(x, 100, 110, 34, LANES[thread], f"thread {thread}")
        s.arrow((x + 55, 134), (x + 55, 160))
        array(s, (x + 55, 180), f"0 + {number} = {number}", "weights", 110)
        sum_ = 650 + 50 * thread
        s.arrow((x + 55, 198), (x + 55, 240), (sum_, 240), (sum_, 268), role="weights")
    array(s, (225, 288), "8", "error", 110)
    array(s, (675, 288), "5 + 2 + 3 = 10", "weights", 150, solid=True)
    return s


def two_thread_pools() -> Sheet:
    """Lesson 07: threads of BLAS that spin take the cores from the threads that work."""
    s = Sheet(
        "Two pools of threads on two cores",
        "Threads of BLAS that look for work in a loop keep a core busy, and a thread that works must wait "
        "for its turn. Above, four threads take turns on two cores, and all wait at the barrier for "
        "the slowest. Below, BLAS has one thread, and two threads have a core each.",
        376,
    )
    s.heading(20, "BLAS with its own threads: four threads on two cores")
    lane(s, 100, 60, "core 0", "work 120 ours 0 | error 150 BLAS spins | work 120 ours 0 | waiting 210")
    spins = "error 150 BLAS spins | work 120 ours 1 | error 200 BLAS spins | work 130 ours 1"
    lane(s, 100, 104, "core 1", spins)
    s.barrier((704, 52), (704, 144))
    s.note(716, 102, "barrier", bold=True)
    s.rule((20, 178), (880, 178))
    s.heading(20, "BLAS held to one thread: a core for each of ours", y=216)
    for thread in range(2):
        lane(s, 100, 240 + 44 * thread, f"core {thread}", f"work 240 ours {thread}")
    s.barrier((344, 232), (344, 324))
    s.note(356, 282, "barrier", bold=True)
    time_axis(s, 100, 336)
    s.text(100, 358, "not to scale", anchor="start", colour=QUIET)
    return s


def two_dimensional_map() -> Sheet:
    """Lesson 09: blocks of threads laid over a matrix; threads beyond its edge do nothing."""
    s = Sheet(
        "Threads over a matrix",
        "A grid of blocks covers a matrix, a thread for each element, and threads beyond the edge must do "
        "nothing. Three by two blocks of four by four threads cover a matrix with ten columns and six "
        "rows. The thread in column 2, row 1 of the block in column 1, row 1 owns the element in column 6, "
        "row 5.",
        380,
    )
    s.heading(
        20,
        "Blocks over a matrix of 6 rows, 10 columns",
        "Hatched: threads without an element. Marked: one thread.",
    )
    for r in range(8):
        for c in range(12):
            if r < 6 and c < 10:
                element(s, 40 + 34 * c, 86 + 32 * r, 34, 32, "work", mark=(r, c) == (5, 6))
    s.hatch(382, 88, 64, 252)
    s.hatch(42, 280, 336, 60)
    for c in range(4):
        s.line((40 + 136 * c, 82), (40 + 136 * c, 346), width=4)
    for r in range(3):
        s.line((36, 86 + 128 * r), (452, 86 + 128 * r), width=4)
    for y, label, bold in (
        (116, "block (1, 1), thread (2, 1)", True),
        (156, "column = blockIdx.x · blockDim.x", False),
        (180, "+ threadIdx.x = 1 · 4 + 2 = 6", False),
        (220, "row = blockIdx.y · blockDim.y", False),
        (244, "+ threadIdx.y = 1 · 4 + 1 = 5", False),
        (300, "if row < 6 and column < 10:", True),
        (324, "the others have nothing to do", False),
    ):
        s.text(490, y, label, size=PLAIN, anchor="start", bold=bold)
    return s


def transpose_sides() -> Sheet:
    """Lesson 09: a warp that reads along a row writes along a column."""
    s = Sheet(
        "A transpose has two sides",
        "A warp of 8 by 4 lanes that reads along rows touches few sectors, and then writes along columns. "
        "Left, its 32 lanes read four rows of eight numbers: four sectors of 32 bytes, all used. Right, they "
        "write the same numbers as eight rows of four: eight sectors, half of each used.",
        390,
    )
    panels(
        s,
        ("Reading x", "A warp of 8 by 4 lanes reads 4 rows of 8."),
        ("Writing y", "The same lanes write 8 rows of 4."),
        ("4 sectors, all used", "8 sectors, half used"),
    )
    for left, down in ((60, False), (510, True)):
        mark = [(n % 8, n // 8) if down else (n // 8, n % 8) for n in range(32)]
        matrix(s, left, 90, (8, 8), cell=(40, 29), mark=mark)
        for n, (r, c) in enumerate(mark):
            s.text(left + 20 + 40 * c, 110 + 29 * r, str(n))
        for r in range(8 if down else 4):
            top = 90 + 29 * r
            right = left + 321
            bottom = 119 + 29 * r
            corners = ((left - 1, top), (right, top), (right, bottom), (left - 1, bottom), (left - 1, top))
            s.line(*corners, colour=RED, width=3)
    s.note(390, 168, "sector", "error")
    return s


def race() -> Sheet:
    """Lesson 09: a read that nothing orders after a write, and the barrier that does."""
    s = Sheet(
        "A race and a barrier",
        "Without a barrier nothing orders one thread's write and another thread's read, so the reader may "
        "come first and read an old number. Above, two threads in an order that may happen. Below, a "
        "barrier between writes and reads: the first to arrive waits.",
        376,
    )
    s.heading(20, "No barrier: the reader may come first")
    lane(s, 120, 62, "thread 0", "waiting 230 | work 160 write part[0]")
    lane(s, 120, 108, "thread 7", "work 160 write part[7] | error 160 read part[0]")
    s.note(540, 128, "an old number", "error", bold=True)
    s.rule((20, 172), (880, 172))
    s.heading(20, "A barrier: all writes come before all reads", y=208)
    lane(s, 120, 236, "thread 0", "waiting 230 | work 160 write part[0] | gap 22 | work 160 read part[7]")
    lane(s, 120, 282, "thread 7", "work 160 write part[7] | waiting 230 | gap 22 | work 160 read part[0]")
    s.barrier((520, 228), (520, 324))
    s.note(710, 284, "barrier: syncthreads", bold=True)
    time_axis(s, 120, 336)
    return s


def tiled_product(strip: int = 1) -> Sheet:
    """Lesson 10: a block takes a tile of a and one of b into shared memory, strip by strip."""
    mark = {
        "a": [(r, 4 * strip + c) for r in range(4) for c in range(4)],
        "b": [(4 * strip + r, c) for r in range(4) for c in range(4)],
    }
    s = Sheet(
        "A tiled product",
        "A block goes along its rows of a and down its columns of b tile by tile; each pair of tiles is "
        "loaded once into shared memory and read by all threads of the block. Two barriers surround the "
        "use of a pair: the tiles are full, and the tiles may be overwritten. One pair is marked.",
        456,
        f"Pair {strip} of {STRIPS}: load both tiles, barrier, 4 products for each thread, barrier.",
    )
    s.heading(20, "c = a b, one block of 4 by 4 threads", "Marked: the pair of tiles in shared memory.")
    matrix(s, 40, 300, (4, 16), cell=(22, 26), mark=mark["a"])
    matrix(s, 440, 84, (16, 4), "weights", cell=(26, 13), mark=mark["b"])
    matrix(s, 440, 300, (4, 4), "state", cell=26, solid=[(r, c) for r in range(4) for c in range(4)])
    for place in range(5):
        s.line((40 + 88 * place, 296), (40 + 88 * place, 408), width=3)
        s.line((436, 84 + 52 * place), (548, 84 + 52 * place), width=3)
    s.text(216, 430, "rows of a", bold=True)
    s.text(492, 430, "block of c", bold=True)
    s.note(330, 190, "columns of b", "weights", bold=True)
    s.box(610, 92, 270, 148, "state", radius=4)
    s.note(624, 116, "shared memory", "state", bold=True)
    for x in (640, 770):
        matrix(s, x, 128, (4, 4), cell=(22, 22), mark=[(r, c) for r in range(4) for c in range(4)])
    s.text(684, 234, "of a")
    s.text(814, 234, "of b")
    for place, label in enumerate(PHASES):
        s.note(622, 286 + 32 * place, f"{place + 1}. {label}", bold="barrier" in label)
    return s


def banks_and_padding() -> Sheet:
    """Lesson 10: a column of a tile lies in one bank, and in all once rows are a word longer."""
    s = Sheet(
        "Banks and padding",
        "A word of padding turns eight turns into one, drawn for a memory of 8 banks. Left, rows of 8 words: "
        "a column lies in bank 0 alone, and eight lanes queue. Right, rows of 9 words: the same column lies "
        "in all banks, and one turn serves all lanes. The same holds for 32 banks, rows of 32 and 33 words.",
        430,
    )
    panels(
        s,
        ("8 banks, rows of 8 words", "Marked: a column. All of it in bank 0."),
        ("8 banks, rows of 9 words", "Marked: the same column. Hatched: padding."),
        ("8 turns; 32 with 32 banks, rows of 32", "1 turn; also with 32 banks, rows of 33"),
    )
    for left, width in ((80, LANES_DRAWN), (530, LANES_DRAWN + 1)):
        s.text(left - 34, 98, "bank", bold=True)
        for bank in range(LANES_DRAWN):
            s.text(left + 40 * bank + 20, 98, str(bank), bold=True)
        for word in range(LANES_DRAWN * width):
            (r, c) = divmod(word, width)
            (line, bank) = divmod(word, LANES_DRAWN)
            x = left + 40 * bank
            y = 106 + 30 * line
            if c == LANES_DRAWN:
                s.hatch(x + 1, y + 1, 38, 28, 10)
            else:
                element(s, x, y, 40, 30, "data", str(r) if c == 0 else "", mark=c == 0)
    return s


def sum_by_halving(turn: int = 1) -> Sheet:
    """Lesson 10: half as many threads add after every barrier."""
    s = Sheet(
        "A sum by halving",
        "Eight numbers are added in three rounds, not in seven steps: in every round half as many threads "
        "add a number from the upper half to their own. Below each other, the numbers after each round; a "
        "barrier stands between two rounds. The additions of one round are marked.",
        430,
        f"Round {turn} of {ROUNDS}: threads that add: {4 >> turn}; distance: {4 >> turn}.",
    )
    s.heading(20, "8 numbers, 3 rounds", "Marked: the numbers that threads write in this round.")
    sums = [[3, 1, 4, 1, 5, 9, 2, 6]]
    for r in range(ROUNDS):
        half = 4 >> r
        sums.append([a + b for a, b in zip(sums[-1][:half], sums[-1][half : 2 * half], strict=True)])
    for r, numbers in enumerate(sums):
        y = 84 + 96 * r
        mark = range(len(numbers)) if r == turn + 1 else ()
        row(s, 180, y, [str(n) for n in numbers], "state", width=70, mark=mark)
        s.note(20, y + 22, f"after round {r - 1}" if r else "at the start", bold=True)
        for thread in range(4 >> r if r < ROUNDS else 0):
            target = 215 + 70 * thread
            source = 215 + 70 * (thread + (4 >> r))
            role = "work" if r == turn else "waiting"
            s.arrow((source, y + 34), (target + 12, y + 94), role=role)
            s.arrow((target, y + 34), (target, y + 94), role=role)
        if r < ROUNDS:
            s.text(768, y + 70, f"{4 >> r} thread{'s' if r < 2 else ''}, then a barrier", bold=r == turn)
    return s


def shuffle_down() -> Sheet:
    """Lesson 10: a shuffle copies the register of another lane."""
    s = Sheet(
        "A shuffle",
        "A shuffle copies a register of another lane, without shared memory and without a barrier of the "
        "block. Lanes take the value of the lane two places on; the last two of the warp, 30 and 31, have no "
        "such lane and keep their own value. Lanes 24 to 31 of 32 are drawn.",
        300,
    )
    s.heading(
        20, "shfl_down_sync with a step of 2", "From register to register; lanes 30 and 31 keep their own."
    )
    for y, name in ((92, "before"), (214, "after")):
        s.note(20, y + 22, name, bold=True)
        labels = [f"v_{{{n + 2 if y > 92 and n < 30 else n}}}" for n in range(24, 32)]
        row(s, 180, y, labels, "state", width=76, height=36, mark=(6, 7) if y > 92 else ())
    for n in range(6):
        s.arrow((218 + 76 * (n + 2), 130), (218 + 76 * n, 211), role="state")
    for n in range(8):
        s.text(218 + 76 * n, 274, f"lane {24 + n}", colour=QUIET)
    return s

"""Drawings of many ranks: a shared minibatch, a ring and its steps, messages behind work, a lost rank."""

from drawings.parts import diamond, lane, time_axis
from drawings.pen import HIGHLIGHT, Sheet
from rnncourse.figures.pen import QUIET, ROLES

RANKS = 4
STEPS = 2 * (RANKS - 1)  # of the ring
SHADES = "#FFFFFF", "#FCEBC6", "#F6CE79", "#E69F00"  # by ranks whose numbers a chunk holds, whole at the end
TILE = 46
COLUMN = 56
LEFT = (30, 340, 650)  # pixels: a row of chunks, a rank, the pictures' left edges


def shares_of_ranks() -> Sheet:
    """Lesson 17: ranks share a minibatch, and each needs the sum of all gradients before the next step."""
    s = Sheet(
        "A minibatch on four ranks",
        f"A minibatch of 64 sequences on {RANKS} ranks: each has a copy of the weights, computes the "
        "gradient of 16 sequences without a word to the others, and then needs the sum of all gradients "
        "before it may change its weights. How the sum is made, and what it costs, is left open.",
        330,
    )
    s.heading(20, "64 sequences, four ranks", "Each computes alone, until all need the sum of all gradients.")
    for rank in range(RANKS):
        x = 60 + 210 * rank
        s.text(x + 75, 92, f"rank {rank}", bold=True)
        s.box(x, 104, 70, 40, "data", "16")
        s.box(x + 80, 104, 70, 40, "weights", "W")
        s.arrow((x + 35, 144), (x + 35, 168))
        s.arrow((x + 115, 144), (x + 115, 168), role="weights")
        s.box(x, 170, 150, 40, "gradient", f"gradient {rank}")
        s.arrow((x + 45, 210), (x + 45, 248), role="gradient")
        s.arrow((x + 105, 250), (x + 105, 214), role="gradient")
    s.box(60, 252, 780, 48, "waiting", "the sum of all gradients, to every rank: how?", dashed=True)
    return s


def ring_all_reduce() -> Sheet:
    """Lesson 17: chunks travel around a ring, p − 1 steps to add and p − 1 steps to copy."""
    s = Sheet(
        "All-reduce around a ring",
        f"{RANKS} ranks sum an array that is cut into {RANKS} chunks. In {RANKS - 1} steps each rank adds a "
        f"chunk of its left neighbour, and then holds one whole sum, of all {RANKS} ranks. In {RANKS - 1} "
        "more steps the whole sums are copied around. The bars compare what the busiest rank sends: 1.5 "
        "arrays in the ring, 3 where one rank reduces for all.",
        478,
    )
    s.heading(
        20,
        "Chunks of an array on four ranks",
        "The number in a chunk: how many ranks' values it is the sum of.",
    )
    pictures = (
        ("at the start", [[1] * RANKS for _ in range(RANKS)]),
        (f"after {RANKS - 1} steps that add", counts_after(RANKS - 2)),
        (f"after {RANKS - 1} steps that copy", counts_after(STEPS - 1)),
    )
    for left, (name, counts) in zip(LEFT, pictures, strict=True):
        _ranks(s, left, name, counts)
    for left in LEFT[1:]:
        s.arrow((left - 78, 176), (left - 22, 176), role="plain")
    s.rule((20, 366), (880, 366))
    _bars(s)
    return s


def _ranks(s: Sheet, left: float, name: str, counts: list[list[int]]) -> None:
    """A column of chunks for each rank, and the ring below them."""
    for rank, row in enumerate(counts):
        for chunk, count in enumerate(row):
            place = (left + rank * COLUMN, 84 + chunk * TILE, TILE - 6, TILE - 6)
            s.tile(*place, SHADES[count - 1], str(count))
        name_of_rank = f"rank {rank}" if left == LEFT[0] else str(rank)
        s.text(left + rank * COLUMN + 20, 290, name_of_rank, size=14)
        if rank:
            s.arrow((left + rank * COLUMN - 30, 306), (left + rank * COLUMN + 16, 306), role="weights")
    last = left + (RANKS - 1) * COLUMN + 20
    s.arrow((last, 312), (last, 328), (left + 20, 328), (left + 20, 312), role="weights")
    s.text(left + 1.86 * COLUMN, 352, name, bold=True)


def _bars(s: Sheet) -> None:
    """Arrays from the busiest rank, to scale."""
    scale = 210
    rows = (("ring", 2 * (RANKS - 1) / RANKS, "weights"), ("one reducer", RANKS - 1, "waiting"))
    for row, (name, arrays, role) in enumerate(rows):
        y = 384 + 36 * row
        s.note(20, y + 19, name, bold=True)
        bar = {"x": 130, "y": y, "width": arrays * scale, "height": 26}
        s.element("rect", **bar, fill=ROLES[role].pale, stroke=ROLES[role].edge)
        s.note(138 + arrays * scale, y + 19, f"{arrays:g} n")
    s.text(880, 466, "bytes from the busiest rank; n: the array", anchor="end", colour=QUIET)


def ring_steps(step: int = 1) -> Sheet:
    """Lesson 17: which chunk each rank sends in one step of the ring, and what it holds afterwards."""
    verb = "adds" if step < RANKS - 1 else "copies"
    counts = counts_after(step)
    s = Sheet(
        "One step of the ring",
        "In every step of the ring each rank sends one chunk to its right neighbour, so all links work at "
        f"once. {RANKS} ranks hold {RANKS} chunks; a number says how many ranks a chunk is the sum of. First "
        f"{RANKS - 1} steps add, then {RANKS - 1} steps copy. What has just arrived is marked.",
        400,
        f"Step {step} of {STEPS}: each rank {verb} a chunk that its left neighbour sends.",
    )
    s.heading(
        20,
        f"Step {step} of {STEPS}: each rank {verb} one chunk",
        "Marked: what has just arrived. Numbers: ranks in the sum.",
    )
    for rank in range(RANKS):
        x = 130 + 200 * rank
        s.text(x + 40, 96, f"rank {rank}", bold=True)
        for chunk in range(RANKS):
            y = 106 + 58 * chunk
            arrived = chunk == (rank - 1 - step) % RANKS
            fill = HIGHLIGHT if arrived else SHADES[counts[rank][chunk] - 1]
            s.tile(x, y, 80, 48, fill, str(counts[rank][chunk]), edge=3 if arrived else 1.2)
            if arrived and rank:
                s.arrow((x - 118, y + 24), (x - 3, y + 24), role="weights")
            elif arrived:
                s.arrow((x - 56, y + 24), (x - 3, y + 24), role="weights")
                s.arrow((814, y + 24), (870, y + 24), role="weights")
    for chunk in range(RANKS):
        s.note(12, 136 + 58 * chunk, f"chunk {chunk}")
    s.text(450, 368, f"rank {RANKS - 1} sends to rank 0: the ring is closed", colour=QUIET)
    return s


def counts_after(last: int) -> list[list[int]]:
    """How many ranks each chunk is the sum of, [rank][chunk], after the steps 0 to `last`."""
    counts = [[1] * RANKS for _ in range(RANKS)]
    for step in range(last + 1):
        before = [row[:] for row in counts]
        for rank, row in enumerate(counts):
            chunk = (rank - 1 - step) % RANKS
            row[chunk] = before[rank - 1][chunk] + (before[rank][chunk] if step < RANKS - 1 else 0)
    return counts


def messages_behind_work() -> Sheet:
    """Lesson 17: gradients of upper layers are sent while lower layers still compute theirs."""
    s = Sheet(
        "Messages behind the backward pass",
        "Layer by layer, the gradients of upper layers travel while lower layers still compute; on the "
        "wavefront all gradients become complete late in the pass, and with slow links most messages remain. "
        "Both panels have the backward pass of three layers and the links below it, on one scale of time.",
        420,
    )
    s.heading(20, "Layer by layer: messages hide behind the work")
    names = ("layer 2", "layer 1", "layer 0")
    lane(s, 120, 56, "backward", " | ".join(f"gradient 150 {name}" for name in names))
    lane(s, 120, 104, "links", "gap 150 | " + " | gap 30 | ".join(f"data 120 {name}" for name in names))
    for n in range(3):
        s.arrow((267 + 150 * n, 90), (272 + 150 * n, 103), role="gradient")
    s.rule((20, 164), (880, 164))
    s.heading(20, "Wavefront: all gradients are complete late in the pass", y=200)
    for n, name in enumerate(names):
        lane(s, 120, 222 + 30 * n, "backward" if n == 1 else "", f"gap {30 * n} | gradient 180 {name}", 26)
    lane(s, 120, 326, "links", "gap 180 | " + " | ".join(f"data 120 {name}" for name in names))
    for x, y in ((690, 96), (660, 318)):
        s.barrier((x, y), (x, y + 48))
        s.note(x + 12, y + 29, "update", bold=True)
    time_axis(s, 120, 382)
    return s


def lost_rank() -> Sheet:
    """Lesson 17: a rank is lost; the others are ended and all start again from the last checkpoint."""
    s = Sheet(
        "A rank is lost",
        "When one rank is lost the other one waits for it in the next sum, until the launcher ends it; "
        "what is left is the last whole checkpoint. From there the run continues with the ranks that remain, "
        "and repeats the updates since. Hatched time is waiting.",
        320,
    )
    s.heading(
        20, "Back to the last whole checkpoint", "Diamonds: checkpoints. Hatched: waits for the lost rank."
    )
    lane(s, 110, 92, "rank 0", "work 120 | work 120 | work 60 | waiting 110", 40)
    lane(s, 110, 150, "rank 1", "work 120 | work 120 | error 60 lost", 40)
    lane(s, 110, 208, "restart", "gap 430 | weights 60 again | work 120 | work 120", 40)
    for x in (227, 347):
        diamond(s, x, 140)
    s.arrow((347, 192), (347, 228), (538, 228), role="state", corner=6)
    s.barrier((522, 84), (522, 140))
    s.note(536, 117, "ended by the launcher", "error")
    s.text(430, 218, "reads", colour=ROLES["state"].text)
    time_axis(s, 110, 278)
    return s

"""Drawings of many ranks: how a ring sums an array, and what goes over one link."""

from rnnlab.drawings.pen import Sheet
from rnnlab.drawings.roles import QUIET, ROLES

RANKS = 4
SHADES = (
    "#FFFFFF",
    "#FCEBC6",
    "#F6CE79",
    "#E69F00",
)  # by ranks whose numbers a chunk holds, whole at the end
TILE, COLUMN, LEFT = 46, 56, (30, 340, 650)  # pixels: a row of chunks, a rank, the pictures' left edges


def ring_all_reduce() -> Sheet:
    """Lesson 17: chunks travel around a ring, p − 1 steps to add and p − 1 steps to copy."""
    s = Sheet(
        "All-reduce around a ring",
        f"{RANKS} ranks sum an array that is cut into {RANKS} chunks. In {RANKS - 1} steps each rank adds a "
        f"chunk of its left neighbour, and then holds one whole sum, of all {RANKS} ranks. In {RANKS - 1} "
        "more steps the whole sums are copied around. The bars compare what one link carries: 1.5 arrays in "
        "the ring, 6 where one rank reduces for all.",
        478,
    )
    s.heading(
        20,
        "Chunks of an array on four ranks",
        "The number in a chunk: how many ranks' values it is the sum of.",
    )
    pictures = (
        ("at the start", lambda rank, chunk: 1),
        (f"after {RANKS - 1} steps that add", contributions),
        (f"after {RANKS - 1} steps that copy", lambda rank, chunk: RANKS),
    )
    for left, (name, count) in zip(LEFT, pictures, strict=True):
        _ranks(s, left, name, count)
    for left in LEFT[1:]:
        s.arrow((left - 78, 176), (left - 22, 176), role="plain")
    s.rule((20, 366), (880, 366))
    _bars(s)
    return s


def contributions(rank: int, chunk: int) -> int:
    """How many ranks' numbers a chunk holds after the steps that add."""
    return (rank - chunk) % RANKS + 1


def _ranks(s: Sheet, left: float, name: str, count) -> None:
    """A column of chunks for each rank, and the ring below them."""
    for rank in range(RANKS):
        for chunk in range(RANKS):
            summed = count(rank, chunk)
            s.tile(
                left + rank * COLUMN, 84 + chunk * TILE, TILE - 6, TILE - 6, SHADES[summed - 1], str(summed)
            )
        name_of_rank = f"rank {rank}" if left == LEFT[0] else str(rank)
        s.text(left + rank * COLUMN + 20, 290, name_of_rank, size=14)
        if rank:
            s.arrow((left + rank * COLUMN - 30, 306), (left + rank * COLUMN + 16, 306), role="weights")
    last = left + (RANKS - 1) * COLUMN + 20
    s.arrow((last, 312), (last, 328), (left + 20, 328), (left + 20, 312), role="weights")
    s.text(left + 1.86 * COLUMN, 352, name, bold=True)


def _bars(s: Sheet) -> None:
    """Arrays over the busiest link, to scale."""
    scale = 105
    rows = (("ring", 2 * (RANKS - 1) / RANKS, "weights"), ("one reducer", 2 * (RANKS - 1), "waiting"))
    for row, (name, arrays, role) in enumerate(rows):
        y = 384 + 36 * row
        s.note(20, y + 19, name, bold=True)
        s.element(
            "rect",
            x=130,
            y=y,
            width=arrays * scale,
            height=26,
            fill=ROLES[role].pale,
            stroke=ROLES[role].edge,
        )
        s.note(138 + arrays * scale, y + 19, f"{arrays:g} n")
    s.text(
        880, 466, "bytes one after another over the busiest link; n: the array", anchor="end", colour=QUIET
    )

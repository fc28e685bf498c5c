"""Drawings of time that is not a chain: steps in a row, and two trees that compose them."""

from drawings.parts import element, panels
from drawings.pen import Sheet
from rnncourse.figures.pen import QUIET, ROLES

STEPS = 8
TILE = 50
TALL = 34
LEVEL = 60  # pixels: a step, its height, from one level to the next
LEFTS = (30, 480)
TOP = 84
Ranges = list[int]  # for each step t, the first step of the map that ends at t


def chain_of_steps() -> Sheet:
    """Lesson 18: a network of T steps as it has been run so far, one step after the other."""
    s = Sheet(
        "A chain of steps",
        "Eight steps of a recurrent network stand in a row, and each waits for the state of the one before. "
        "However fast a step is, eight of them take eight times as long.",
        224,
    )
    s.heading(20, "Each step waits for the state before it")
    for t in range(STEPS):
        x = 56 + 100 * t
        s.box(x, 66, 70, 54, "work", f"step {t}", radius=12)
        s.arrow((x - 30, 93), (x - 2, 93), role="state")
        s.arrow((x + 35, 160), (x + 35, 122), role="data")
        s.text(x + 35, 178, f"x_{{{t}}}")
    s.text(450, 204, "T steps take T times one exchange of the state", colour=QUIET)
    return s


def scan_levels(level: int = 1) -> Sheet:
    """Lesson 18: two scans of eight steps, level by level; a tile says which steps its map covers."""
    left = hillis_steele()
    right = blelloch()
    s = Sheet(
        "Two scans, level by level",
        "Eight affine maps are composed to all prefixes. On the left each level doubles the steps that every "
        "map covers: three levels, seventeen compositions. On the right pairs are composed to one map of "
        "all, then the prefixes between are completed: five levels, eleven compositions. A tile names the "
        "steps that it covers; green: a prefix, which begins at step 0.",
        TOP + LEVEL * len(right) + 40,
        f"Level {level}: {_composed(left, level)} compositions left, {_composed(right, level)} right.",
    )
    panels(
        s,
        ("Hillis and Steele", "every map reaches twice as far"),
        ("Blelloch", "pairs upward, then what lies between"),
        [f"{sum(_composed(levels, k) for k in range(level + 1))} compositions" for levels in (left, right)],
    )
    for x, levels in zip(LEFTS, (left, right), strict=True):
        for row, ranges in enumerate(levels[: level + 1]):
            _row(s, x, row, levels[row - 1] if row else None, ranges)
    return s


def hillis_steele() -> list[Ranges]:
    """Ranges before each level and after the last."""
    levels = [list(range(STEPS))]
    distance = 1
    while distance < STEPS:
        before = levels[-1]
        levels.append([before[t - distance] if t >= distance else before[t] for t in range(STEPS)])
        distance *= 2
    return levels


def blelloch() -> list[Ranges]:
    """Ranges before each level and after the last: pairs, then the prefixes between them."""
    levels = [list(range(STEPS))]
    distances = [1, 2, 4]
    for distance in distances:
        levels.append(_moved(levels[-1], range(2 * distance - 1, STEPS, 2 * distance), distance))
    for distance in reversed(distances[:-1]):
        levels.append(_moved(levels[-1], range(3 * distance - 1, STEPS, 2 * distance), distance))
    return levels


def _moved(ranges: Ranges, ends: range, distance: int) -> Ranges:
    return [ranges[t - distance] if t in ends else first for t, first in enumerate(ranges)]


def _composed(levels: list[Ranges], level: int) -> int:
    """Compositions of one level; none at level 0 and after the last."""
    if not 0 < level < len(levels):
        return 0
    return sum(a != b for a, b in zip(levels[level - 1], levels[level], strict=True))


def _row(s: Sheet, left: float, row: int, before: Ranges | None, ranges: Ranges) -> None:
    y = TOP + LEVEL * row
    for t, first in enumerate(ranges):
        x = left + TILE * t
        is_new = before is not None and before[t] != first
        label = str(t) if first == t else f"{first}–{t}"
        element(s, x, y, TILE, TALL, "work" if first == 0 else "data", label, mark=is_new)
        if is_new:
            source = before[t] - 1  # the map that ends where this one began
            start = left + TILE * source + TILE / 2, y - LEVEL + TALL
            s.line(start, (x + TILE / 2, y), colour=ROLES["data"].edge, width=1.5)

"""Pictures of the report: how the points are distributed, and the verdicts on each exercise.

Each says its finding in words as its text alternative; the page has a table with the same numbers.
"""

from nbjudge.classroom.report_summary import BINS, GROUPS, Distribution, Row
from rnncourse.figures.pen import WIDTH, Sheet
from rnncourse.figures.picture import CARD

LEFT, TOP = 40, 90  # pixels left of the distribution's axis, and above its highest bar
BAR = 180  # pixels of the highest bar
NAMES = 250  # pixels for the names of the exercises
LINE = 34  # pixels from one exercise to the next
FOOT = 48  # pixels below the axis, for its labels
LETTER = 9  # pixels of a digit
ROLE_OF = {
    "passed": "work",
    "failed": "error",
    "stopped": "weights",
    "not attempted": "waiting",
    "not judged": "plain",
}


def draw_distribution(distribution: Distribution, students: int) -> Sheet:
    """A column for each tenth of the points, with the number of students above it."""
    sheet = Sheet("Distribution of points", describe_distribution(distribution, students), TOP + BAR + FOOT)
    sheet.heading(LEFT, "Students by share of the points", "A column is a tenth of the points.")
    base, width = TOP + BAR, (WIDTH - 2 * LEFT) / BINS
    highest = max(distribution.counts)
    for number, count in enumerate(distribution.counts):
        x, height = LEFT + number * width, BAR * count / highest
        if count:
            sheet.box(x + 6, base - height, width - 12, height, "work", solid=True, radius=2)
        sheet.text(x + width / 2, base - height - 6, str(count), bold=True)
        sheet.text(x + width / 2, base + 20, bin_label(number))
    sheet.line((LEFT, base), (WIDTH - LEFT, base))
    share = distribution.median / max(1, distribution.possible)
    x = LEFT + share * (WIDTH - 2 * LEFT)
    for begin, end in ((0, 6), (26, FOOT)):  # the labels of the columns stand between
        sheet.line((x, base + begin), (x, base + end), width=3)
    near_the_edge = x > WIDTH - 200
    words = f"median: {distribution.median:g} points"
    anchor, shift = ("end", -8) if near_the_edge else ("start", 8)
    sheet.text(x + shift, base + FOOT - 4, words, anchor=anchor)
    return sheet


def bin_label(number: int) -> str:
    """The share of the points that a column stands for: "20–29 %"."""
    first = number * 100 // BINS
    return f"{first}–{first + 100 // BINS - (number < BINS - 1)} %"


def describe_distribution(distribution: Distribution, students: int) -> str:
    """The finding of the picture in words."""
    most = max(distribution.counts)
    columns = [bin_label(number) for number in range(BINS) if distribution.counts[number] == most]
    highest = (
        f"columns are {', '.join(columns)}: {most} each" if columns[1:] else f"column is {columns[0]}: {most}"
    )
    return (
        f"The median of {students} {'student' if students == 1 else 'students'} is {distribution.median:g} "
        f"of {distribution.possible} points; the lowest result is {distribution.lowest}, the highest "
        f"{distribution.highest}. The highest {highest}."
    )


def draw_verdicts(rows: tuple[Row, ...]) -> Sheet:
    """A bar for each exercise, divided by verdict; the numbers are students."""
    height = TOP + LINE * len(rows) + FOOT
    sheet = Sheet("Verdicts on each exercise", describe_verdicts(rows), height)
    sheet.heading(20, "Verdicts on each exercise", "A bar is the whole class; numbers are students.")
    scale = (WIDTH - NAMES - 20) / max(1, max(sum(row.counts.values()) for row in rows))
    for number, row in enumerate(rows):
        y = TOP + number * LINE
        sheet.text(NAMES - 10, y + 18, row.exercise, anchor="end")
        _divided_bar(sheet, row, y, scale)
    _legend(sheet, [group for group in GROUPS if any(row.counts[group] for row in rows)], height - 22)
    return sheet


def _divided_bar(sheet: Sheet, row: Row, y: float, scale: float) -> None:
    x = float(NAMES)
    for group, count in row.counts.items():
        width = count * scale
        if not count:
            continue
        words = str(count) if width > LETTER * len(str(count)) + 4 else ""
        _segment(sheet, group, (x, y, width, LINE - 8), words)
        x += width


def _segment(sheet: Sheet, group: str, place: tuple[float, float, float, float], words: str) -> None:
    if ROLE_OF[group] == "waiting":
        x, y, width, height = place
        sheet.hatch(*place)
        if words:  # on a card of their own: letters on hatching cannot be read
            half = LETTER * len(words) / 2 + 4
            sheet.area(x + width / 2 - half, y + 3, 2 * half, height - 6, CARD, 0)
            sheet.text(x + width / 2, y + height / 2 + 5, words)
        return
    sheet.box(*place, ROLE_OF[group], words, solid=group != "not judged", size=14, radius=2)


def _legend(sheet: Sheet, groups: list[str], y: float) -> None:
    x = 20.0
    for group in groups:
        _segment(sheet, group, (x, y - 13, 22, 16), "")
        sheet.text(x + 30, y, group, anchor="start")
        x += 60 + LETTER * len(group)


def describe_verdicts(rows: tuple[Row, ...]) -> str:
    """The finding of the picture in words: the hardest exercise, and the easiest."""
    attempts = [row for row in rows if row.attempts]
    if not attempts:
        return "Nobody attempted an exercise of this lesson."
    hardest, easiest = (choose(attempts, key=lambda row: row.share) for choose in (min, max))
    sentence = lambda row: f"{row.counts['passed']} of {row.attempts} who attempted {row.exercise} passed"
    if len(attempts) == 1:
        return f"{sentence(hardest)}."
    if hardest.share == easiest.share:
        return (
            f"The same share passed each attempted exercise: {hardest.share:.0%}. The table has all numbers."
        )
    return f"Hardest: {sentence(hardest)}. Easiest: {sentence(easiest)}. The table has all numbers."

"""Draw README's picture: a race, replayed from a recorded launch.

python docs/pictures.py writes docs/race.svg; tests/test_readme.py holds the file to what this draws.
"""

from pathlib import Path

import numpy as np

from pocketgpu.replay.record import VERBS, record
from rnncourse.figures.picture import CARD, PALETTE
from rnnlab import cuda

TARGET = Path(__file__).with_name("race.svg")
THREADS = 8  # of the race
TURN, REST = 0.4, 4.0  # seconds of an event, and of the picture at its end
CELL = 44  # pixels
FINDING = (
    "Eight threads reverse eight numbers through shared memory without a barrier: "
    "four of them read an element before it is written."
)
LESS_MOTION = "@media (prefers-reduced-motion:reduce){g{animation:none!important}}"


def text(x: float, y: float, label: str, **style: str) -> str:
    """One piece of text as SVG."""
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{x}" y="{y}"{attributes}>{label}</text>'


@cuda.jit
def _reverse(x):
    part = cuda.shared.array(THREADS, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    x[i] = part[THREADS - 1 - i]


def shared_events() -> list[tuple[bool, int, int, bool]]:
    """(is it a write, thread, element, was the element written before) of each access to shared memory."""
    data = record(cuda.observe(_reverse, 1, THREADS, np.arange(THREADS, dtype="float32")))
    events = data["events"]
    written = set()
    result = []
    for kind, thread, array, element in zip(
        events["kind"], events["thread"], events["array"], events["element"], strict=True
    ):
        if array < 0 or data["arrays"][array]["space"] != "shared":
            continue
        is_write = VERBS[kind] == "write"
        result.append((is_write, thread, element, element in written))
        if is_write:
            written.add(element)
    return result


def race() -> str:
    """The picture as SVG: threads take turns at shared memory, and some read what is not written yet.

    It moves by CSS alone, and shows its end where the reader asks for less motion.
    """
    events = shared_events()
    seconds = TURN * len(events) + REST
    styles = []
    shapes = [
        *(box(place, 66, "none", str(place)) for place in range(THREADS)),
        *(box(place, 142, "none") for place in range(THREADS)),
        *(box(place, 218, "none") for place in range(THREADS)),
    ]
    for turn, (is_write, thread, element, is_written) in enumerate(events):
        begin = 100 * (turn + 1) * TURN / seconds
        name = f"e{turn}"
        styles.append(
            f"@keyframes {name}{{0%,{begin - 0.1:.1f}%{{opacity:0}}{begin:.1f}%,100%{{opacity:1}}}}"
            f".{name}{{animation:{name} {seconds:.1f}s infinite}}"
        )
        colour = PALETTE["blue"] if is_write or is_written else PALETTE["red"]
        if is_write:
            drawn = box(element, 142, colour, str(element))
        else:
            drawn = arrow(element, thread, colour)
            drawn += box(thread, 218, colour, str(element) if is_written else "?")
        shapes.append(f'<g class="{name}">{drawn}</g>')
    lost = sum(not is_write and not is_written for is_write, _, _, is_written in events)
    rows = ("x, before", 66), ("shared memory", 142), ("x, after", 218)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 330" role="img"',
        f' aria-label="{FINDING}" font-family="sans-serif" font-size="14">',
        f"<style>{''.join(styles)}{LESS_MOTION}</style>",
        f'<rect width="720" height="330" rx="6" fill="{CARD}"/>',
        text(20, 34, f"{THREADS} threads of a GPU reverse {THREADS} numbers, and do not wait for each other"),
        *(text(20, y + 28, label) for label, y in rows),
        *shapes,
        text(536, 170, "part[i] = x[i]", font_family="monospace"),
        text(536, 246, f"x[i] = part[{THREADS - 1} - i]", font_family="monospace"),
        text(20, 300, f"{lost} of {THREADS} threads read an element before it is written."),
    ]
    return "\n".join([*parts, "</svg>\n"])


def left_of(place: int) -> int:
    """Pixels to the left of a box."""
    return 150 + place * (CELL + 3)


def box(place: int, y: int, colour: str, label: str = "") -> str:
    """One element of an array, in its row."""
    x = left_of(place)
    ink = "#fff" if colour != "none" else PALETTE["black"]
    square = f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="4" fill="{colour}" stroke="#888"/>'
    return square + text(x + CELL / 2, y + 28, label, text_anchor="middle", fill=ink)


def arrow(element: int, thread: int, colour: str) -> str:
    """The way of a number from shared memory to the thread that reads it."""
    start, end = left_of(element) + CELL / 2, left_of(thread) + CELL / 2
    return f'<line x1="{start}" y1="{142 + CELL}" x2="{end}" y2="218" stroke="{colour}" stroke-width="2"/>'


if __name__ == "__main__":
    TARGET.write_text(race(), encoding="utf-8")

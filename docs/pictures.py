"""Draw the README's picture from numbers that the course itself counts.

python docs/pictures.py writes docs/backward_work.svg; tests/test_readme.py holds the file to what this draws.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rnncourse.figures.picture import CARD, PALETTE
from rnnlab import reference
from rnnlab.network import Network

TARGET = Path(__file__).with_name("backward_work.svg")
STEPS, COUNTS = (1, 2, 4, 8, 16, 32, 64), (1, 10, 100, 1000)  # what the two axes name
WIDTH, HEIGHT = 720, 330  # pixels
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 48, 54  # margins; the names of the two lines stand in the right one


def counted(sweep: Callable) -> list[int]:
    """Cell-backwards that a sweep really makes, for sequences of each length T in STEPS."""
    network = Network.create("rnn_tanh", input_size=3, hidden_size=5, dtype="float64")
    rng = np.random.default_rng(0)
    array = lambda T, size: rng.standard_normal((T, 2, size))
    return [sweep(network, array(T, 3), None, array(T, 5)).cell_backwards for T in STEPS]


def place(T: int, count: int, most: int) -> tuple[float, float]:
    """Pixels of a point; both axes are logarithmic."""
    across, up = np.log(T) / np.log(STEPS[-1]), np.log(count) / np.log(most)
    x = LEFT + across * (WIDTH - LEFT - RIGHT)
    return round(x, 1), round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1)


def text(x: float, y: float, words: str, **style: str) -> str:
    """One piece of text as SVG."""
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{x}" y="{y}"{attributes}>{words}</text>'


def line(name: str, counts: list[int], colour: str, most: int) -> list[str]:
    """One sweep: its line, its dots, its name beside the last count."""
    points = [place(T, count, most) for T, count in zip(STEPS, counts, strict=True)]
    path = " ".join(f"{x},{y}" for x, y in points)
    x, y = points[-1]
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
        *(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>' for x, y in points),
        text(x + 12, y + 5, f"{name}: {counts[-1]:,}", fill=colour, font_weight="bold"),
    ]


def backward_work() -> str:
    """The picture as SVG: cell-backwards against sequence length, for the quadratic and the linear sweep."""
    quadratic, linear = counted(reference.bptt_quadratic), counted(reference.bptt_linear)
    most = quadratic[-1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="14">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{CARD}"/>',
        text(LEFT - 50, 24, "cell-backwards for all gradients of one sequence, counted"),
        text(LEFT, HEIGHT - 10, "steps T of the sequence (both axes logarithmic)"),
        *(text(place(T, 1, most)[0], HEIGHT - 32, str(T), text_anchor="middle") for T in STEPS),
        *(text(LEFT - 10, place(1, n, most)[1] + 5, f"{n:,}", text_anchor="end") for n in COUNTS),
        *line("quadratic sweep", quadratic, PALETTE["red"], most),
        *line("linear sweep", linear, PALETTE["blue"], most),
    ]
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(backward_work(), encoding="utf-8")

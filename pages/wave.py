"""The picture of the front page: the same cells run one after another, and as soon as their inputs are there.

It moves by CSS alone, can be paused, and stands still where the reader's system asks for less motion, where
no style is loaded, and in print; each cell bears the number of its turn, so the still picture says the same.
"""

from collections.abc import Iterator, Mapping

LAYERS = 3
STEPS = 8
SECONDS = 12  # of one round
REST = 2  # turns at the end of a round, when all cells are lit
WIDTH = 460
CELL = 34
GAP = 50  # units of the drawing; GAP from cell to cell
LEFT = 42  # first column
RISE = 46  # from layer to layer
Turns = dict[tuple[int, int], int]  # {(layer, step): the turn in which the cell runs, from 1}


def one_after_another() -> Turns:
    """Layer after layer, as a loop in a loop computes them."""
    return {(layer, step): 1 + layer * STEPS + step for layer in range(LAYERS) for step in range(STEPS)}


def as_soon_as_possible() -> Turns:
    """A cell runs in the turn after the cell below it and the cell before it."""
    turns: Turns = {}
    for layer in range(LAYERS):
        for step in range(STEPS):
            below = turns.get((layer - 1, step), 0)
            before = turns.get((layer, step - 1), 0)
            turns[layer, step] = 1 + max(below, before)
    return turns


def draw() -> str:
    """The picture as SVG with its own style."""
    slow = one_after_another()
    fast = as_soon_as_possible()
    most = max(slow.values())
    least = max(fast.values())
    finding = (
        f"{LAYERS} layers of {STEPS} steps, twice. One cell at a time needs {most} turns. If each cell runs "
        f"as soon as the cell before it and the cell below it have run, cells light up along diagonals, and "
        f"{least} turns are enough."
    )
    height = 2 * (LAYERS * RISE + 46)
    return "".join(
        (
            f'<svg class="wave" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{finding}">',
            f"<style>{''.join(style(most))}</style>",
            *grid(slow, 0, f"one cell at a time: {most} turns"),
            *grid(fast, height // 2, f"each as soon as its inputs are there: {least} turns"),
            "</svg>",
        )
    )


def grid(turns: Mapping[tuple[int, int], int], top: int, words: str) -> Iterator[str]:
    """One network, the first layer below, with a sentence over it."""
    yield f'<text class="words" x="{LEFT - CELL // 2}" y="{top + 20}">{words}</text>'
    for (layer, step), turn in turns.items():
        x = LEFT + step * GAP
        y = top + 56 + (LAYERS - 1 - layer) * RISE
        if step:
            yield f'<path class="wire" d="M{x - GAP + CELL // 2} {y}H{x - CELL // 2}"/>'
        if layer:
            yield f'<path class="wire" d="M{x} {y + RISE - CELL // 2}V{y + CELL // 2}"/>'
        corner = f'x="{x - CELL // 2}" y="{y - CELL // 2}" width="{CELL}" height="{CELL}" rx="7"'
        yield f'<rect class="empty" {corner}/><rect class="lit layer{layer} t{turn}" {corner}/>'
        yield f'<text class="turn" x="{x}" y="{y + 5}">{turn}</text>'


def style(turns: int) -> Iterator[str]:
    """Rules that light a cell in its turn and put all cells out at the end of a round."""
    yield "@media screen and (prefers-reduced-motion: no-preference) {"
    yield f".wave .lit {{ animation: {SECONDS}s linear infinite; }}"
    for turn in range(1, turns + 1):
        begin = 100 * (turn - 1) / (turns + REST)
        lit = f"{begin:.1f}% {{ opacity: 0; }} {begin + 2:.1f}%, 97% {{ opacity: 1; }} 100% {{ opacity: 0; }}"
        yield f".wave .t{turn} {{ animation-name: turn{turn}; }} @keyframes turn{turn} {{ 0%, {lit} }}"
    yield "}"

"""The cells of a network of layers and steps in an order that waits for nobody longer than it must."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant, Wrong


def wavefront_order(layers, steps):
    diagonals = range(layers + steps - 1)
    return [(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]


CELLS = "[(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]"
MUTANTS = (
    Mutant("goes layer by layer", CELLS, "[(l, t) for l in range(layers) for t in range(steps)]"),
    Mutant("goes step by step", CELLS, "[(l, t) for t in range(steps) for l in range(layers)]"),
    Mutant("leaves out the last diagonals", "range(layers + steps - 1)", "range(max(layers, steps))"),
    Mutant("starts at the end", "range(layers + steps - 1)", "range(layers + steps - 1)[::-1]"),
    Mutant("has steps that are not there", "if 0 <= d - l < steps", "if d - l < steps"),
    Mutant("runs along the other diagonal", "(l, d - l) for d", "(layers - 1 - l, d - l) for d"),
    Mutant("turns layers and steps round", "(l, d - l) for d", "(d - l, l) for d"),
    Mutant("misses the first step", "0 <= d - l", "0 < d - l"),
)


def check(submission, rng):
    large = rng.integers(3, 50, (2, 2)).tolist()  # more networks than a table could hold
    for layers, steps in ((1, 1), (1, 3), (2, 2), (3, 2), (2, 5), (4, int(rng.integers(5, 8))), *large):
        got = submission(layers, steps)
        if problem := _problem(got, layers, steps):
            known = wrong_values(wavefront_order, MUTANTS, layers, steps)
            name = next((name for name, value in known.items() if value() == _pairs(got)), None)
            raise Wrong(f"{problem} ({layers} layers, {steps} steps)", name)


def _pairs(got: object) -> list | None:
    """The answer as a list of pairs of whole numbers; None if it is none."""
    if not isinstance(got, list | tuple) or any(np.shape(each) != (2,) for each in got):
        return None
    return [(int(layer), int(step)) for layer, step in got]


def _problem(got: object, layers: int, steps: int) -> str | None:
    """The first thing that is wrong with the order, as a sentence."""
    order = _pairs(got)
    if order is None:
        return f"Asked for is a list of pairs (layer, step); it returns {got!r:.60}."
    if sorted(order) != [(l, t) for l in range(layers) for t in range(steps)]:
        return f"Each of the {layers * steps} cells has to come once; {len(set(order))} different ones do."
    place = {cell: k for k, cell in enumerate(order)}
    for l, t in order:
        for below in ((l - 1, t), (l, t - 1)):
            if place.get(below, -1) > place[l, t]:
                return f"Cell (layer {l}, step {t}) comes before cell {below}, whose result it reads."
    late = next((k for k in range(1, len(order)) if sum(order[k]) < sum(order[k - 1])), None)
    if late is not None:
        before, after = order[late - 1], order[late]
        return f"{before} comes before {after}, which lies on an earlier diagonal and could have run already."
    return None


WAVEFRONT_ORDER = Exercise(
    name="wavefront_order",
    points=2,
    difficulty=2,
    minutes=15,
    lines=3,
    hints=(
        "A cell reads the state of its own layer one step before, and the output of the layer below at its "
        "own step. Draw a grid and number the cells by how early each can run.",
        "Cell (layer, step) can run as number layer + step: all cells of a diagonal at once. There are "
        "layers + steps − 1 diagonals.",
        "For each diagonal d and each layer l, the step is d − l, if there is one: 0 ≤ d − l < steps.",
    ),
    check=check,
    truth=wavefront_order,
    mutants=MUTANTS,
    also_right=(
        """def wavefront_order(layers, steps):
    cells = [(l, t) for t in range(steps) for l in range(layers)]
    return sorted(cells, key=sum)
""",
        """def wavefront_order(layers, steps):
    order, front = [], {(0, 0)}
    while front:
        order += sorted(front, reverse=True)
        front = {(l + a, t + 1 - a) for l, t in front for a in (0, 1) if l + a < layers and t + 1 - a < steps}
    return order
""",
    ),
)

"""The quadratic sweep beside the linear one, a cell-backward at a time: which runs now, how many have run."""

from functools import lru_cache

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from rnncourse.figures.picture import Slider, View, canvas, slider_view, steps_as_cells

LONGEST = 10  # steps: at more, a cell is too small to follow with the eye
WAITS, DONE, RUNS, NEVER = range(4)
COLOURS = ListedColormap(["#E4E4E4", "okabe:sky", "okabe:orange", "#FFFFFF"])


def quadratic_order(T: int) -> list[tuple[int, int]]:
    """(loss term, step) of each cell-backward when every loss term goes back to step 0: T(T+1)/2 of them."""
    order = []
    for term in range(T):
        order += [(term, step) for step in linear_order(term + 1)]
    return order


def linear_order(T: int) -> list[int]:
    """The step of each cell-backward when one sweep collects the loss terms on its way: T of them."""
    return list(reversed(range(T)))


def states(T: int, move: int) -> tuple[np.ndarray, np.ndarray]:
    """States of the quadratic [T,T] (loss term, step) and of the linear sweep [1,T] after `move` moves."""
    quadratic = np.where(np.tri(T, dtype=bool), WAITS, NEVER)
    linear = np.full((1, T), WAITS)
    linear_places = [(0, step) for step in linear_order(T)]
    for grid, order in ((quadratic, quadratic_order(T)), (linear, linear_places)):
        for number, place in enumerate(order[:move], start=1):
            grid[place] = RUNS if number == move else DONE
    return quadratic, linear


def cell_backwards(T: int) -> int:
    """How many the quadratic sweep makes."""
    return T * (T + 1) // 2


def counters(T: int, move: int) -> tuple[int, int]:
    """Cell-backwards that (quadratic, linear) have made after `move` moves."""
    return min(move, cell_backwards(T)), min(move, T)


def finding(T: int, move: int) -> str:
    """What the picture shows, in one sentence."""
    total = cell_backwards(T)
    (quadratic, linear) = counters(T, move)
    now = "is about to start"
    if 0 < move <= total:
        term, step = quadratic_order(T)[move - 1]
        now = f"carries the loss of step {term} back through step {step}"
    elif move > total:
        now = "is done"
    one = "waits too"
    if 0 < move <= T:
        one = f"has reached step {linear_order(T)[move - 1]}"
    elif move > T:
        one = "is done"
    return (
        f"T = {T}, move {move}: the quadratic sweep {now}, {quadratic} of {total} cell-backwards; "
        f"the linear sweep {one}, {linear} of {T}."
    )


def figure_sweeps(T: int, move: int) -> Figure:
    """Both sweeps over the same time axis, after `move` cell-backwards each."""
    figure, images, labels = _blank()
    for image, grid in zip(images, states(T, move), strict=True):
        rows, columns = grid.shape
        right = columns - 0.5
        bottom = rows - 0.5
        image.set_data(grid)
        image.set_extent((-0.5, right, bottom, -0.5))
        image.axes.set(xlim=(-0.5, right), ylim=(bottom, -0.5))
        _put(labels[image], grid)
    total = cell_backwards(T)
    quadratic, linear = counters(T, move)
    above, below = (image.axes for image in images)
    above.set_title(f"quadratic: {quadratic} of T(T+1)/2 = {total} cell-backwards", loc="left")
    below.set_title(f"linear: {linear} of T = {T} cell-backwards", loc="left")
    return figure


def explore_sweeps() -> View:
    """Sliders for the number of steps and the move; play runs both sweeps."""
    return slider_view(
        figure_sweeps,
        finding,
        T=Slider("steps T", range(1, LONGEST + 1), start=5),
        move=Slider("move", range(cell_backwards(LONGEST) + 1), start=4, play=True),
    )


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw: two grids on one time axis, and in every cell a place for a word."""
    figure, axes = canvas(2, 1, width=6.4, height=4.8, height_ratios=(6, 1))
    images = []
    labels = {}
    blank = np.zeros((1, 1))
    for axis in axes:
        image = axis.imshow(blank, cmap=COLOURS, vmin=WAITS, vmax=NEVER, aspect="auto")
        steps_as_cells(axis)
        images.append(image)
        labels[image] = []
        for _ in range(LONGEST**2):
            label = axis.text(0, 0, "", ha="center", va="center", size=9)
            labels[image].append(label)
    axes[0].set_ylabel("loss of step")
    axes[1].set(yticks=[], xlabel="cell-backward of step")
    return figure, images, labels


def _put(labels: list, grid: np.ndarray) -> None:
    """A tick in what has run and "now" in what runs: the colours alone must not carry it."""
    signs = {DONE: "✓", RUNS: "now"}
    for label in labels:
        label.set_visible(False)
    for label, ((row, column), state) in zip(labels, np.ndenumerate(grid), strict=False):
        if state in signs:
            label.set(position=(column, row), text=signs[state], visible=True)

"""Which loss reaches which step: in full, through a window back from every loss, and within chunks."""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from rnncourse.figures.picture import canvas, steps_as_cells

COLOURS = ListedColormap(["#E4E4E4", "okabe:sky"])


def window_reach(T: int, window: int) -> np.ndarray:
    """[T,T] (loss of step, step): whether that loss's gradient passes that step, one of the last `window`."""
    not_later = np.tri(T, dtype=bool)
    too_early = np.tri(T, k=-window, dtype=bool)
    return not_later & ~too_early


def chunk_reach(T: int, chunk: int) -> np.ndarray:
    """[T,T] with no gradient leaving its chunk; chunks are counted from step 0."""
    number = np.arange(T) // chunk
    is_same_chunk = np.equal.outer(number, number)
    return np.tri(T, dtype=bool) & is_same_chunk


def reaches(T: int, k: int) -> dict[str, np.ndarray]:
    """{kind of truncation: reach [T,T]}, with window = chunk = k."""
    return {
        "full": window_reach(T, T),
        f"window of {k}": window_reach(T, k),
        f"chunks of {k}": chunk_reach(T, k),
    }


def figure_reach(T: int, k: int) -> Figure:
    """The three side by side: a tick where the loss of that row is felt at the step of that column."""
    figure, axes = canvas(1, 3, width=8.6, height=3.2, sharey=True)
    for axis, (name, reach) in zip(axes, reaches(T, k).items(), strict=True):
        axis.imshow(reach, cmap=COLOURS, vmin=0, vmax=1, aspect="auto")
        for last, t in np.argwhere(reach):
            axis.text(t, last, "✓", ha="center", va="center", size=8)
        pairs = reach.sum()
        axis.set(title=f"{name}: {pairs} pairs", xlabel="step")
        steps_as_cells(axis)
    axes[0].set_ylabel("loss of step")
    return figure


def describe_reach(T: int, k: int) -> str:
    """The text alternative of figure_reach."""
    pairs = {name: reach.sum() for name, reach in reaches(T, k).items()}
    counts = ", ".join(f"{name} {count}" for name, count in pairs.items())
    return (
        f"Pairs of a loss and a step it reaches, T = {T}: {counts}. The window follows every loss at the "
        "same distance; a chunk gives its first loss one step and its last loss the whole chunk."
    )

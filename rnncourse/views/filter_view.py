"""A kernel of three numbers, moved by sliders, and what they make of a photograph."""

from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure

from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnnlab.tasks.image_filters import filtered
from rnnlab.tasks.photographs import brightness

SHRINK = 2  # pixels of the photograph to one of the picture: enough to see an edge, quick enough for a slider
STRENGTHS = tuple(np.arange(-2, 2.5, 0.5).tolist())


def answers(k0: float, k1: float, k2: float) -> np.ndarray:
    """The photograph filtered along its rows [rows,columns] by k0 x[t] + k1 x[t-1] + k2 x[t-2]."""
    rows = brightness("test", SHRINK)
    kernel = np.array([[k0, k1, k2]], dtype=rows.dtype)
    x = rows.T[:, :, np.newaxis]  # [T,B,1], a sequence for each row
    answer = filtered(x, kernel)
    return answer[:, :, 0].T


def finding(k0: float, k1: float, k2: float) -> str:
    """What the picture shows, in one sentence."""
    total = k0 + k1 + k2
    answer = answers(k0, k1, k2)[:, 2:]
    size = np.abs(answer).mean()
    level = f"are kept, times {total:g}" if total else "are answered by 0, only changes show"
    return f"Kernel ({k0:g}, {k1:g}, {k2:g}): level areas {level}; mean size of the answer {size:.3f}."


def figure_filter(k0: float, k1: float, k2: float) -> Figure:
    """The photograph beside its answers; grey is 0."""
    figure, image = _blank()
    answer = answers(k0, k1, k2)
    image.set_data(answer)
    image.axes.set_title(f"answer with the kernel ({k0:g}, {k1:g}, {k2:g})", loc="left")
    return figure


def explore_filter() -> View:
    """Sliders for the three numbers of the kernel, newest pixel first; they start at Sobel's."""
    return slider_view(
        figure_filter,
        finding,
        k0=Slider("k0, this pixel", STRENGTHS, format="{:+.1f}").at(1.0),
        k1=Slider("k1, one before", STRENGTHS, format="{:+.1f}").at(0.0),
        k2=Slider("k2, two before", STRENGTHS, format="{:+.1f}").at(-1.0),
    )


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw: the photograph stands, its answers change."""
    figure, (left, right) = canvas(1, 2, width=7.4, height=2.9)
    photograph = brightness("test", SHRINK)
    left.imshow(photograph, cmap="gray", vmin=-0.5, vmax=0.5)
    left.set_title("photograph", loc="left")
    image = right.imshow(photograph, cmap="gray", vmin=-0.5, vmax=0.5)
    for axis in (left, right):
        axis.set_axis_off()
    return figure, image

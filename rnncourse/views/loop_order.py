"""A product's loops over three small matrices, and what a cache holds at any moment.

Sixteen by sixteen numbers each, lines of four, a cache with room for 24 lines: small enough to see every line
come and go.  The counts are rnncourse.cache_model's.
"""

from functools import lru_cache
from itertools import permutations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from rnncourse.cache_model import LOOPS, Cache, addresses, held, missed, visits
from rnncourse.figures.picture import CARD, PALETTE, Slider, View, canvas, slider_view

SIZE = 16  # rows and columns
ITEM = 4  # bytes of a number
CACHE = Cache(ways=24, line=16)
ORDERS = tuple("".join(order) for order in permutations(LOOPS))
TILES = (SIZE, 2, 4, 8)  # the first is no tile
NAMES = "a", "b", "c"
OUTSIDE, HELD, NOW = range(3)  # states of a number
COLOURS = CARD, PALETTE["sky"], PALETTE["red"]


@lru_cache(maxsize=64)
def access_order(order: str, tile: int) -> tuple[np.ndarray, np.ndarray]:
    """(byte addresses [3·SIZE³] in the order of time, how many have missed so far [3·SIZE³])."""
    sizes = (SIZE, SIZE, SIZE)
    sequence = addresses(visits(order, sizes, tile), sizes, ITEM, CACHE.line)
    return sequence, missed(sequence, CACHE).cumsum()


def states(order: str, tile: int, percent: int) -> np.ndarray:
    """State of every number of a, b and c [3,SIZE,SIZE]: OUTSIDE the cache, HELD in it, or in use NOW."""
    sequence, _ = access_order(order, tile)
    done = _accesses(percent)
    seen = np.full(3 * SIZE * SIZE, OUTSIDE)
    per_line = CACHE.line // ITEM
    lines = held(sequence[:done], CACHE)
    seen[(lines[:, np.newaxis] * per_line + np.arange(per_line)).ravel()] = HELD
    seen[sequence[done - 3 : done] // ITEM] = NOW
    return seen.reshape(3, SIZE, SIZE)


def finding(order: str, tile: int, percent: int) -> str:
    """What the picture shows, in one sentence."""
    _, misses = access_order(order, tile)
    done, cut = _accesses(percent), "no tiles" if tile == SIZE else f"tiles of {tile}"
    return (
        f"Loops {order}, {cut}: {done // 3} of {SIZE**3} products done, {misses[done - 1]} misses; "
        f"{misses[-1]} at the end, and {3 * SIZE * SIZE * ITEM // CACHE.line} cannot be avoided."
    )


def figure_loop_order(order: str = "ijk", tile: int = SIZE, percent: int = 40) -> Figure:
    """The three matrices at one moment, and the misses of this order beside those of the best and worst."""
    figure, images, line, point = _blank()
    for image, state in zip(images, states(order, tile, percent), strict=True):
        image.set_data(state)
    _, misses = access_order(order, tile)
    line.set_ydata(misses[_SAMPLES])
    point.set_data([percent], [misses[_accesses(percent) - 1]])
    return figure


def explore_loop_order() -> View:
    """Sliders for the order of the loops, the width of tiles, and how far the loops have come."""
    return slider_view(
        figure_loop_order,
        finding,
        order=Slider("loops, outermost first", ORDERS),
        tile=Slider("tile width (16: none)", TILES),
        percent=Slider("done, in percent", range(1, 101), start=39, play=True),
    )


def _accesses(percent: int) -> int:
    """Accesses made when so much is done: those of whole products."""
    return 3 * max(1, SIZE**3 * percent // 100)


_SAMPLES = np.array([_accesses(percent) - 1 for percent in range(1, 101)])


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw: three images, a curve and a point move."""
    figure, axes = canvas(1, 4, width=9.6, height=2.9, width_ratios=(1, 1, 1, 1.5))
    images = []
    for axis, name in zip(axes, NAMES, strict=False):
        blank = np.zeros((SIZE, SIZE), int)
        images.append(axis.imshow(blank, cmap=ListedColormap(COLOURS), vmin=OUTSIDE, vmax=NOW))
        axis.set(title=name, xticks=np.arange(-0.5, SIZE, 4), yticks=np.arange(-0.5, SIZE, 4))
        axis.set(xticklabels=[], yticklabels=[])
        axis.spines[:].set_visible(True)
        axis.tick_params(length=0)
        axis.grid(linewidth=0.4)
    axes[1].set_xlabel("blue: in the cache; red: in use", fontsize=9)
    right = axes[3]
    percents = np.arange(1, 101)
    for order, tile, mark, label in (
        ("jki", SIZE, ":", "jki, no tiles"),
        ("ikj", 4, "--", "ikj, tiles of 4"),
    ):
        right.plot(
            percents, access_order(order, tile)[1][_SAMPLES], mark, color=PALETTE["black"], lw=1, label=label
        )
    (line,) = right.plot(percents, percents, color=PALETTE["blue"], label="this order")
    (point,) = right.plot([], [], "o", color=PALETTE["red"])
    right.set(xlabel="done (percent)", title="misses so far", xlim=(0, 100), ylim=(0, 10_000))
    right.legend(fontsize=8, loc="upper left")
    return figure, images, line, point

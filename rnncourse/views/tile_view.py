"""A tile of sums in a core's registers: what it needs, what limits it, and the rate that follows.

The counts are those of rnnlab.kernels.packed.tiles; the core is its default, with 16 or with 32 registers.
It need not be yours: `draw_cliff` shows what was measured.
"""

from collections.abc import Mapping
from functools import lru_cache, partial

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from nbjudge.printable import quantity
from rnncourse.figures.picture import CARD, PAPER, Slider, View, canvas, slider_view
from rnnlab.kernels.packed.tiles import Core, Tile, predicted_rate

ROWS = range(1, 13)
VECTORS = range(1, 7)
REGISTERS = (16, 32)
TICKS = (4, 8, 16, 32, 64)  # registers
LIMITS = "multiply-adds", "loads, spills", "waiting for a sum"
EMPTY, SUM, SPILLED, WEIGHTS, STATES = range(5)  # cells of the picture
COLOURS = CARD, "okabe:blue", "okabe:red", "okabe:orange", "#8A94A0"
Measured = Mapping[tuple[int, int], float]  # {(rows, vectors): GFLOP/s}


def cycles(tile: Tile, core: Core) -> tuple[float, ...]:
    """Clock cycles of one term that each of LIMITS takes; they overlap, so the longest counts."""
    loads = tile.rows + tile.vectors + 2 * tile.spills(core)  # a spilled sum is loaded and stored
    arithmetic = tile.sums / core.fmas_per_cycle
    return arithmetic, loads / core.loads_per_cycle, float(core.fma_latency)


def finding(rows: int, vectors: int, registers: int) -> str:
    """What the picture shows, in one sentence."""
    tile = Tile(rows, vectors)
    core = Core(registers=registers)
    spills = tile.spills(core)
    longest = int(np.argmax(cycles(tile, core)))
    limit = LIMITS[longest]
    size = f"{quantity(rows, 'row')} by {quantity(vectors, 'vector')}"
    spilled = f"{spills} sums spilled" if spills else "nothing spilled"
    rate = predicted_rate(tile, core)
    return (
        f"{size}: {tile.registers} of {registers} registers, {spilled}; "
        f"{tile.loads_per_fma:.2f} loads for each multiply-add; "
        f"predicted {rate:.0%} of the peak, limited by {limit}."
    )


def explore_tile(registers: int = 32) -> View:
    """Sliders for rows, vectors and registers.  Raises ValueError for registers other than 16, 32."""
    if registers not in REGISTERS:
        allowed = ", ".join(map(str, REGISTERS))
        raise ValueError(f"registers is {registers}, expected one of {allowed}")
    return slider_view(
        partial(_moved, _blank()),
        finding,
        rows=Slider("rows", ROWS).at(4),
        vectors=Slider("vectors", VECTORS).at(1),
        registers=Slider("registers", REGISTERS).at(registers),
    )


def draw_cliff(measured: Measured, registers: int) -> Figure:
    """Measured GFLOP/s of tiles over the registers that they need; a line at those that the core has."""
    figure, axis = canvas(height=3.4)
    style = {"textcoords": "offset points", "fontsize": 8, "bbox": PAPER, "zorder": 1}
    for n, (rows, vectors) in enumerate(sorted(measured, key=_registers)):
        needed = _registers((rows, vectors))
        rate = measured[rows, vectors]
        if needed > registers:
            axis.plot(needed, rate, "X", color="okabe:red", markersize=8)
            # rates fall behind the line, and leave room at the right; before it neighbours are alike
            place = {"xytext": (4, 4), "ha": "left"}
        else:
            axis.plot(needed, rate, "o", color="okabe:blue", markersize=8)
            place = {"xytext": (0, 8 if n % 2 else -15), "ha": "center"}
        axis.annotate(f"{rows} × {vectors}", (needed, rate), **place, **style)
    axis.axvline(registers + 0.5, color="black", linestyle="--", zorder=0)
    axis.set(xscale="log", ylabel="GFLOP/s")
    axis.set_xlabel(f"registers that the tile needs; dashed: the core has {registers}")
    axis.set_xticks(TICKS, TICKS)
    axis.minorticks_off()
    axis.set_xlim(right=100)
    axis.set_ylim(0, 1.15 * max(measured.values()))
    return figure


def find_cliff(measured: Measured, registers: int) -> str:
    """What `draw_cliff` shows: the best tile that fits, and the fastest and slowest of the others."""
    best = max(measured.values())

    def share(tile):
        rows, vectors = tile
        rate = measured[tile]
        return f"{rows} × {vectors} reaches {rate:.0f} GFLOP/s ({rate / best:.0%})"

    fitting = [tile for tile in measured if _registers(tile) <= registers]
    fastest = max(fitting, key=measured.get)
    text = f"Of the tiles that fit into {registers} registers {share(fastest)}"
    spilled = [tile for tile in measured if _registers(tile) > registers]
    if spilled:
        spilled.sort(key=measured.get)
        text += f"; of those that spill, {share(spilled[0])}, {share(spilled[-1])}"
    return f"{text}."


def _registers(tile: tuple[int, int]) -> int:
    return Tile(*tile).registers


def cells(tile: Tile, core: Core) -> np.ndarray:
    """Contents of the picture's cells [1 + ROWS, 1 + VECTORS]; the last sums are the spilled ones."""
    shape = (1 + ROWS[-1], 1 + VECTORS[-1])
    grid = np.full(shape, EMPTY)
    sums = np.full(tile.sums, SUM)
    in_registers = max(0, tile.sums - tile.spills(core))
    sums[in_registers:] = SPILLED
    rows = slice(1, 1 + tile.rows)
    vectors = slice(1, 1 + tile.vectors)
    grid[0, vectors] = WEIGHTS
    grid[rows, 0] = STATES
    grid[rows, vectors] = sums.reshape(tile)
    return grid


def _moved(parts: tuple, rows: int, vectors: int, registers: int) -> Figure:
    """The tile as cells, the cycles of each limit, and the predicted part of the peak."""
    figure, image, limits, rate, (title, share) = parts
    tile = Tile(rows, vectors)
    core = Core(registers=registers)
    image.set_data(cells(tile, core))
    title.set_text(f"{tile.registers} of {registers} registers; states share one")
    lengths = cycles(tile, core)
    longest = max(lengths)
    for bar, length in zip(limits, lengths, strict=True):
        bar.set_width(length)
        bar.set_color("okabe:red" if length == longest else "okabe:sky")
    limits[0].axes.set_xlim(0, 1.05 * max(longest, 16))
    part = predicted_rate(tile, core)
    rate.set_height(part)
    share.set_y(part + 0.02)
    share.set_text(f"{part:.0%}")
    return figure


@lru_cache(maxsize=1)
def _blank() -> tuple:
    """(figure, image, bars of the limits, bar of the rate, texts): one figure to redraw."""
    figure, (left, middle, right) = canvas(1, 3, width=9.4, height=3.7, width_ratios=(1.1, 1.3, 0.5))
    grid = cells(Tile(1, 1), Core())
    image = left.imshow(grid, cmap=ListedColormap(COLOURS), vmin=EMPTY, vmax=STATES, aspect="auto")
    left.set_xticks(np.arange(-0.5, grid.shape[1]), [], minor=True)
    left.set_yticks(np.arange(-0.5, grid.shape[0]), [], minor=True)
    left.grid(which="minor", color=CARD, linewidth=2)
    left.tick_params(which="both", length=0)
    label = "vectors; top: weights, left: states\nblue: sums in registers, red: spilled"
    left.set(xlabel=label, ylabel="rows", xticks=VECTORS, yticks=(1, 4, 8, 12))
    limits = middle.barh(LIMITS, [1.0] * len(LIMITS))
    middle.invert_yaxis()
    middle.set_xlabel("clock cycles for each term (assumed core)")
    middle.set_title("the longest decides", fontsize=9)
    (rate,) = right.bar(["predicted"], [1.0], color="okabe:sky", width=0.5)
    right.set(xlim=(-0.6, 0.6), ylim=(0, 1.2), yticks=(0, 0.5, 1), yticklabels=("0", "50 %", "100 %"))
    right.set_title("part of the peak", fontsize=9)
    texts = left.set_title(" ", fontsize=9), right.text(0, 0, "", ha="center", fontsize=9)
    return figure, image, [*limits], rate, texts

"""Where a layer's recurrent weights can stay on a chip, and who keeps which: from data sheets."""

import math
import re
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from pocketgpu.devices import DEVICES, find
from rnncourse.figures.picture import PAPER, Slider, View, canvas, slider_view
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence.shapes import SEQUENCES, grid_shape, supported_cells
from rnnlab.kernels.persistence.tiles import fits, tiles_for

CELLS = supported_cells()
HIDDEN = (64, 128, 256, 384, 512, 768, 1024, 1152, 1536, 2048, 3072)
BYTES = (2, 4)


class Sharing(NamedTuple):
    """How one of the course's persistent kernels shares the weights out."""

    kernel: str
    blocks: int
    full: np.ndarray  # of each block, the part of its rows that are units of the layer
    of_thread: str = ""  # weights in the registers of a thread


def sharing(cell: str, hidden: int, itemsize: int, device: str) -> Sharing | str:
    """How the kernel of that dtype shares the weights over the whole chip; or why it cannot."""
    sheet = find(device)
    try:
        if itemsize == 2:
            shape = grid_shape(cell, hidden, "bfloat16", SEQUENCES, sheet)
            blocks = shape.launch("forward", SEQUENCES).blocks
            return Sharing("bfloat16 kernel in CUDA C++", blocks, np.ones(blocks))
        gates = len(find_cell(cell).gates)
        tiles = tiles_for(gates, hidden, sheet.multiprocessors, sheet.compute_capability[0])
    except ValueError as error:
        return str(error)
    units_per_block = tiles.warps * tiles.units
    units_before = np.arange(tiles.blocks) * units_per_block
    units = np.minimum(units_per_block, hidden - units_before)
    of_thread = f", {tiles.weights} weights a thread"
    return Sharing("float32 kernel in Python", tiles.blocks, units / units_per_block, of_thread)


def finding(cell: str, hidden: int, itemsize: int, device: str) -> str:
    """What the picture shows, in a few sentences."""
    sheet = find(device)
    places = fits(cell, hidden, itemsize, sheet)
    closest = "no place on the chip has room"
    rooms = [place.place.name for place in places if place.fits]
    if rooms:
        closest = f"the closest place with room is {rooms[0]}"
    mine = sharing(cell, hidden, itemsize, device)
    if isinstance(mine, str):
        kernel = f"kernel does not run: {mine}"
    else:
        taken = f"{mine.blocks} of {sheet.multiprocessors} multiprocessors{mine.of_thread}"
        kernel = f"{mine.kernel} takes {taken}"
    needed = places[0].needed / 2**20
    return (
        f"{cell}, {hidden} units, {itemsize} bytes a weight, {device}: {needed:.2f} MiB; "
        f"{closest}. The course's {kernel}."
    )


def figure_chip(cell: str, hidden: int, itemsize: int, device: str) -> Figure:
    """Left: what is needed beside what each place has; right: the multiprocessors that keep weights."""
    figure, (left, right) = canvas(1, 2, width=9.0, height=3.4)
    sheet = find(device)
    places = fits(cell, hidden, itemsize, sheet)
    mine = sharing(cell, hidden, itemsize, device)
    names = [re.sub(" (?=multiprocessor|and)", "\n", place.place.name) for place in places]
    sizes = [place.place.bytes / 2**20 for place in places]
    colours = ["okabe:green" if place.fits else "okabe:orange" for place in places]
    needed = places[0].needed / 2**20
    left.axvline(needed, color="black", linestyle="--", zorder=1.5)
    bars = left.barh(names, sizes, color=colours, zorder=1)
    left.bar_label(bars, fmt="%.3g", padding=5, bbox=PAPER)  # the dashed line would strike a number through
    left.set(xlim=(0, 1.15 * max(sizes)), xlabel="MiB; dashed: what the weights need")
    left.invert_yaxis()
    _draw_blocks(right, mine, sheet.multiprocessors)
    outcome = "it does not run" if isinstance(mine, str) else f"{mine.blocks} blocks"
    right.set_title(f"{device}: {outcome}")
    return figure


def explore_chip() -> View:
    """Sliders for cell, hidden size, bytes of a weight, device."""
    return slider_view(
        figure_chip,
        finding,
        cell=Slider("cell", CELLS).at("lstm"),
        hidden=Slider("hidden size H", HIDDEN).at(512),
        itemsize=Slider("bytes a weight", BYTES, start=1),
        device=Slider("device", tuple(DEVICES)).at("H200"),
    )


def _draw_blocks(axis, mine: Sharing | str, multiprocessors: int) -> None:
    """A square for each multiprocessor, coloured where a block keeps weights, paler where it is not full."""
    wide = math.ceil(math.sqrt(multiprocessors * 1.5))
    high = math.ceil(multiprocessors / wide)
    squares = np.full(wide * high, np.nan)
    squares[:multiprocessors] = 0
    if not isinstance(mine, str):
        squares[: mine.blocks] = mine.full
    axis.imshow(squares.reshape(high, wide), cmap="Blues", vmin=0, vmax=1.4)
    axis.set_xticks(np.arange(-0.5, wide), labels=[])
    axis.set_yticks(np.arange(-0.5, high), labels=[])
    axis.grid(color="black", linewidth=0.4)
    axis.tick_params(length=0)
    axis.set_xlabel("a square is a multiprocessor; blue ones keep weights")

"""Where a layer's recurrent weights can stay on a chip, and who keeps which: from data sheets."""

import math

import numpy as np
from matplotlib.figure import Figure

from rnnlab.cells import GATES
from rnnlab.ladder.persistence.capacity import fits
from rnnlab.ladder.persistence.tiles import Tiles, tiles_for
from rnnlab.machine.devices import DEVICES, find
from rnnlab.widgets.picture import PALETTE, Slider, View, canvas, slider_view

CELLS = tuple(GATES)
HIDDEN = (64, 128, 256, 384, 512, 768, 1024, 1152, 1536, 2048, 3072)
BYTES = (2, 4)


def tiles(cell: str, hidden: int, device: str) -> Tiles | None:
    """How the course's persistent kernel shares the weights out; None where it does not fit."""
    sheet = find(device)
    try:
        return tiles_for(len(GATES[cell]), hidden, sheet.multiprocessors, sheet.compute_capability[0])
    except ValueError:
        return None


def finding(cell: str, hidden: int, itemsize: int, device: str) -> str:
    """What the picture shows, in a few sentences."""
    found = fits(cell, hidden, itemsize, find(device))
    room = next((each.place.name for each in found if each.fits), None)
    mine = tiles(cell, hidden, device)
    told = (
        f"{cell}, {hidden} units, {itemsize} bytes a weight, {device}: {found[0].needed / 2**20:.2f} MiB; "
        + (f"the closest place with room is {room}. " if room else "no place on the chip has room. ")
    )
    if mine is None:
        return told + "The course's float32 kernel does not fit."
    return told + (
        f"The course's float32 kernel takes {mine.blocks} of {find(device).multiprocessors} multiprocessors, "
        f"{mine.weights} weights a thread."
    )


def figure_chip(cell: str, hidden: int, itemsize: int, device: str) -> Figure:
    """Left: what is needed beside what each place has; right: the multiprocessors that keep weights."""
    figure, (left, right) = canvas(1, 2, width=9.0, height=3.4)
    found, mine = fits(cell, hidden, itemsize, find(device)), tiles(cell, hidden, device)
    names = [
        each.place.name.replace(" multiprocessor", "\nmultiprocessor").replace(" and", "\nand")
        for each in found
    ]
    sizes = [each.place.bytes / 2**20 for each in found]
    colours = [PALETTE["green" if each.fits else "orange"] for each in found]
    left.barh(names, sizes, color=colours)
    left.axvline(found[0].needed / 2**20, color=PALETTE["black"], linestyle="--")
    left.set(xscale="log", xlabel="MiB; dashed: what the weights need")
    left.invert_yaxis()
    _draw_blocks(right, mine, find(device).multiprocessors)
    right.set_title(
        f"{device}: {mine.blocks if mine else 0} blocks of the course's kernel"
        if mine
        else f"{device}: it does not fit"
    )
    return figure


def explore_chip() -> View:
    """Sliders for cell, hidden size, bytes of a weight, device."""
    return slider_view(
        figure_chip,
        finding,
        cell=Slider("cell", CELLS, start=CELLS.index("lstm")),
        hidden=Slider("hidden size H", HIDDEN, start=HIDDEN.index(512)),
        itemsize=Slider("bytes a weight", BYTES, start=1),
        device=Slider("device", tuple(DEVICES), start=list(DEVICES).index("H200")),
    )


def _draw_blocks(axis, mine: Tiles | None, multiprocessors: int) -> None:
    """A square for each multiprocessor, coloured where a block keeps weights, paler where it is not full."""
    wide = math.ceil(math.sqrt(multiprocessors * 1.5))
    high = math.ceil(multiprocessors / wide)
    kept = np.full(wide * high, np.nan)
    kept[:multiprocessors] = 0
    if mine:
        rows = np.minimum(
            mine.warps * mine.units, mine.hidden - np.arange(mine.blocks) * mine.warps * mine.units
        )
        kept[: mine.blocks] = rows / (mine.warps * mine.units)
    axis.imshow(kept.reshape(high, wide), cmap="Blues", vmin=0, vmax=1.4)
    axis.set_xticks(np.arange(-0.5, wide), labels=[])
    axis.set_yticks(np.arange(-0.5, high), labels=[])
    axis.grid(color=PALETTE["black"], linewidth=0.4)
    axis.tick_params(length=0)
    axis.set_xlabel("a square is a multiprocessor; blue ones keep weights")

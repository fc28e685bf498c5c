"""Banks of shared memory that a warp's request touches, and the conflicts among them, from a trace."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from nbjudge.printable import quantity
from pocketgpu import cuda
from rnncourse.figures.picture import PALETTE, Slider, View, canvas, slider_view
from rnncourse.views.access_map import first_request

BANKS = 32
WORD = 4
READABLE = 16  # labels above each other in one bank


@cuda.jit
def walk_a_tile(out: np.ndarray, width: int, down: int) -> None:
    """Fill a tile with rows `width` words long; lanes read along a row or down a column into out [32]."""
    tile = cuda.shared.array(2048, np.float32)
    lane = cuda.threadIdx.x
    for row in range(32):
        tile[row * width + lane] = np.float32(row)
    cuda.syncthreads()
    if down > 0:
        out[lane] = tile[lane * width]
    else:
        out[lane] = tile[lane]


def figure_banks(offsets: np.ndarray) -> Figure:
    """A column for each bank; stacked in it the lanes that read another word of that bank: a turn each.

    offsets [n]: byte each lane reads, from the start of the array.  Lanes that read one word share a cell.
    """
    figure, axis = canvas(width=7.2, height=3.0)
    words = offsets // WORD
    turns = turns_of(words)
    step = -(-turns // READABLE)  # of the labels: more would be printed over each other
    for bank in range(BANKS):
        for turn, word in enumerate(sorted({int(w) for w in words if w % BANKS == bank})):
            lanes = np.flatnonzero(words == word)
            colour, ink = ("blue", "white") if turn == 0 else ("orange", "black")
            axis.add_patch(Rectangle((bank, turn), 0.92, 0.92, color=PALETTE[colour], lw=0))
            label = str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×"
            if turn % step == 0:
                axis.text(bank + 0.46, turn + 0.46, label, ha="center", va="center", color=ink, fontsize=9)
    if step > 1:  # a tall column beside an empty chart: say what it is
        bank = int(words[0] % BANKS)
        where = (bank + 1.5, "left") if bank < BANKS / 2 else (bank - 0.5, "right")
        axis.text(where[0], turns / 2, f"{turns} turns in one bank", ha=where[1], va="center", fontsize=11)
    axis.set(xlim=(0, BANKS), ylim=(0, max(4, turns)), xlabel="bank", ylabel="turn; number: the lane")
    axis.set_xticks([k + 0.46 for k in range(0, BANKS, 4)], range(0, BANKS, 4))
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(False)
    return figure


def turns_of(words: np.ndarray) -> int:
    """Turns that a request for these words [n] takes: the most different words in one bank."""
    distinct = np.unique(words)
    return int(np.bincount(distinct % BANKS, minlength=BANKS).max())


def describe_banks(offsets: np.ndarray) -> str:
    """How many turns a request at these offsets [n], in bytes, takes, and why."""
    words = offsets // WORD
    banks = len(np.unique(words % BANKS))
    turns = turns_of(words)
    waits = quantity(turns - 1, "conflict") if turns > 1 else "no conflict"
    request = f"{quantity(len(words), 'lane')} for {quantity(len(np.unique(words)), 'word')}"
    return f"A request of {request} in {quantity(banks, 'bank')}: {quantity(turns, 'turn')}, {waits}."


def explore_banks() -> View:
    """Sliders for the length of a tile's rows and the direction in which lanes read."""
    return slider_view(
        lambda width, down: figure_banks(_request(width, down)),
        lambda width, down: f"Rows of {width} words: {describe_banks(_request(width, down))}",
        width=Slider("words a row", (32, 33, 34, 36, 40, 48, 64), 2),  # 32 is 31 conflicts in one column
        down=Slider("down a column", (False, True), 1),
    )


@cache
def _request(width: int, down: bool) -> np.ndarray:
    if not cuda.is_simulated:  # a GPU keeps no trace
        return WORD * (width if down else 1) * np.arange(32)
    report = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), width, int(down))
    return first_request(report, "tile[lane * width]" if down else "tile[lane]")[1]

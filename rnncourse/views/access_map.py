"""Which lanes of a warp touch which sectors of memory, and which banks of shared memory, from a trace."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nbjudge.printable import quantity
from pocketgpu import cuda
from rnncourse.figures.picture import OFF_ON, Slider, View, canvas, slider_view

BANKS = 32
WORD = 4
READABLE = 16  # labels above each other in one bank
SECTOR = 32  # bytes
LOAD = 0  # a kind of simulator.trace
COLOURS = [f"okabe:{name}" for name in "blue orange green purple sky red yellow".split()]
UNTOUCHED = "#BBBBBB"


@cuda.jit
def strided_copy(x: Any, y: Any, stride: int, offset: int) -> None:
    """y[i] = x[offset + i·stride]: the access that the sliders move."""
    i = cuda.grid(1)
    y[i] = x[offset + i * stride]


def first_request(report: Any, line_has: str) -> tuple[np.ndarray, np.ndarray]:
    """Lanes and byte offsets, each [n], of the first warp's first load on the line that holds `line_has`.

    report: what cuda.observe returned.  Offsets count from the array's start.
    """
    accesses = report.accesses
    lines = dict(enumerate(report.source, report.first_line))
    sites = []
    for k, site in enumerate(report.trace.sites):
        line = lines.get(site.line, "")
        if line_has in line:
            sites.append(k)
    is_on_line = np.isin(accesses.site, sites)
    is_load = accesses.kind == LOAD
    is_first_warp = accesses.warp_of(accesses.thread) == 0
    places = np.flatnonzero(is_on_line & is_load & is_first_warp)
    if not len(places):
        raise ValueError(f"no load on a line with {line_has!r}; give a part of the line that loads")
    site_of_place = accesses.site[places]
    places = places[site_of_place == site_of_place[0]]
    lanes, first_of_lane = np.unique(accesses.lane[places], return_index=True)
    places = places[first_of_lane]
    array = accesses.array[places[0]]
    return lanes, accesses.address[places] - accesses.base[array]


def figure_access(lanes: np.ndarray, offsets: np.ndarray) -> Figure:
    """Memory as a row of elements, a sector a colour; above it lanes [n], over their offsets [n], bytes."""
    figure, axis = canvas(width=7.2, height=1.9)
    touched = _sectors(offsets)
    first = min(touched)
    last = max(touched)
    for sector in range(first, last + 1):
        look = {"color": UNTOUCHED, "alpha": 0.15}
        if sector in touched:
            look = {"color": COLOURS[sector % len(COLOURS)], "alpha": 0.8}
        start = sector * SECTOR
        axis.bar(start, 1, SECTOR, align="edge", lw=0, **look)
        axis.axvline(start, ymax=0.5, color="white", lw=1)
    middles = offsets + WORD / 2
    axis.plot(middles, np.full(len(offsets), 1.5), "|", color="black", ms=9)
    ends = first * SECTOR, (last + 1) * SECTOR
    axis.set(xlim=ends, ylim=(0, 2), xlabel="byte of the array")
    axis.set_yticks([0.5, 1.5], ["memory", "lanes"])
    return figure


def describe_access(lanes: np.ndarray, offsets: np.ndarray) -> str:
    """How many sectors a request of lanes [n] moves, and how much of them is used."""
    moved = len(_sectors(offsets))
    sectors = quantity(moved, "sector")
    used = len(np.unique(offsets)) * WORD
    share = used / (moved * SECTOR)
    moving = f"moves {sectors} of {SECTOR} bytes: {share:.0%} are used."
    return f"A request of {quantity(len(lanes), 'lane')} for {used} bytes {moving}"


def _sectors(offsets: np.ndarray) -> set[int]:
    """Sectors that hold the first and the last byte of a word at each of these offsets [n]."""
    ends = np.concatenate([offsets, offsets + WORD - 1])
    return {*(ends // SECTOR).tolist()}


def explore_stride() -> View:
    """Sliders for the stride and the offset of a warp's loads; each move launches the kernel once."""

    def draw(stride, offset):
        return figure_access(*_request(stride, offset))

    def describe(stride, offset):
        request = describe_access(*_request(stride, offset))
        return f"Stride {stride}, offset {offset}: {request}"

    return slider_view(
        draw,
        describe,
        stride=Slider("stride, elements", (1, 2, 3, 4, 8)),
        offset=Slider("offset, elements", tuple(range(9))),
    )


@cache
def _request(stride: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    if not cuda.is_simulated:  # a GPU keeps no trace
        lanes = np.arange(32)
        return lanes, WORD * (offset + stride * lanes)
    x = np.zeros(8 + 32 * stride, "float32")
    y = np.zeros(32, "float32")
    report = cuda.observe(strided_copy, 1, 32, x, y, stride, offset)
    return first_request(report, "x[offset")


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
    drawn = Counter()
    distinct = np.unique(words, return_index=True, return_counts=True)
    for word, lane, lanes in zip(*distinct, strict=True):
        bank = int(word) % BANKS
        turn = drawn[bank]
        drawn[bank] += 1
        colour, ink = ("okabe:orange", "black") if turn else ("okabe:blue", "white")
        axis.bar(bank, 0.92, 0.92, turn, align="edge", color=colour, lw=0)
        if turn % step == 0:
            label = str(lane) if lanes == 1 else f"{lanes}×"
            centre = bank + 0.46, turn + 0.46
            axis.text(*centre, label, ha="center", va="center", color=ink, fontsize=9)
    if step > 1:  # a tall column beside an empty chart: say what it is
        bank = int(words[0] % BANKS)
        x, side = bank - 0.5, "right"
        if bank < BANKS / 2:
            x, side = bank + 1.5, "left"
        axis.text(x, turns / 2, f"{turns} turns in one bank", ha=side, va="center", fontsize=11)
    height = max(4, turns)
    axis.set(xlim=(0, BANKS), ylim=(0, height), xlabel="bank", ylabel="turn; number: the lane")
    named_banks = np.arange(0, BANKS, 4)
    axis.set_xticks(named_banks + 0.46, named_banks)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def turns_of(words: np.ndarray) -> int:
    """Turns that a request for these words [n] takes: the most different words in one bank."""
    distinct = np.unique(words)
    words_per_bank = np.bincount(distinct % BANKS, minlength=BANKS)
    return int(words_per_bank.max())


def describe_banks(offsets: np.ndarray) -> str:
    """How many turns a request at these offsets [n], in bytes, takes, and why."""
    words = offsets // WORD
    lanes = quantity(len(words), "lane")
    distinct = quantity(len(np.unique(words)), "word")
    banks = quantity(len(np.unique(words % BANKS)), "bank")
    turns = turns_of(words)
    waits = quantity(turns - 1, "conflict") if turns > 1 else "no conflict"
    return f"A request of {lanes} for {distinct} in {banks}: {quantity(turns, 'turn')}, {waits}."


def explore_banks() -> View:
    """Sliders for the length of a tile's rows and the direction in which lanes read."""

    def draw(width, down):
        return figure_banks(_bank_request(width, down))

    def describe(width, down):
        request = describe_banks(_bank_request(width, down))
        return f"Rows of {width} words: {request}"

    return slider_view(
        draw,
        describe,
        width=Slider("words a row", (32, 33, 34, 36, 40, 48, 64), 2),  # 32 is 31 conflicts in one column
        down=Slider("down a column", OFF_ON, 1),
    )


@cache
def _bank_request(width: int, down: bool) -> np.ndarray:
    if not cuda.is_simulated:  # a GPU keeps no trace
        stride = width if down else 1
        return WORD * stride * np.arange(32)
    out = np.zeros(32, "float32")
    report = cuda.observe(walk_a_tile, 1, 32, out, width, int(down))
    load = "tile[lane * width]" if down else "tile[lane]"
    _, offsets = first_request(report, load)
    return offsets

"""Which lanes of a warp touch which sectors of memory: one request, drawn from a recorded trace."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from nbjudge.printable import quantity
from pocketgpu import cuda
from rnncourse.figures.picture import PALETTE, Slider, View, canvas, slider_view

SECTOR = 32  # bytes
LOAD = 0  # a kind of simulator.trace
COLOURS = [PALETTE[name] for name in ("blue", "orange", "green", "purple", "sky", "red", "yellow")]


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
    sites = [k for k, site in enumerate(report.trace.sites) if line_has in lines.get(site.line, "")]
    places = np.flatnonzero(
        np.isin(accesses.site, sites) & (accesses.kind == LOAD) & (accesses.warp_of(accesses.thread) == 0)
    )
    if not len(places):
        raise ValueError(f"no load on a line with {line_has!r}; give a part of the line that loads")
    places = places[accesses.site[places] == accesses.site[places[0]]]
    _, first = np.unique(accesses.lane[places], return_index=True)
    places = places[first]
    return accesses.lane[places], accesses.address[places] - accesses.base[accesses.array[places[0]]]


def figure_access(lanes: np.ndarray, offsets: np.ndarray, itemsize: int = 4) -> Figure:
    """Memory as a row of elements, a sector a colour; above it lanes [n], over their offsets [n], bytes."""
    figure, axis = canvas(width=7.2, height=1.9)
    first = int(offsets.min()) // SECTOR
    last = (int(offsets.max()) + itemsize - 1) // SECTOR
    touched = {int(offset) // SECTOR for offset in offsets}
    for sector in range(first, last + 1):
        colour = COLOURS[sector % len(COLOURS)] if sector in touched else "#BBBBBB"
        axis.add_patch(
            Rectangle(
                (sector * SECTOR, 0), SECTOR, 1, color=colour, alpha=0.8 if sector in touched else 0.15, lw=0
            )
        )
        axis.axvline(sector * SECTOR, ymax=0.5, color="white", lw=1)
    axis.plot(offsets + itemsize / 2, np.full(len(offsets), 1.5), "|", color=PALETTE["black"], ms=9)
    axis.set(
        xlim=(first * SECTOR, (last + 1) * SECTOR), ylim=(0, 2), yticks=[0.5, 1.5], xlabel="byte of the array"
    )
    axis.set_yticklabels(["memory", "lanes"])
    axis.grid(False)
    return figure


def describe_access(lanes: np.ndarray, offsets: np.ndarray, itemsize: int = 4) -> str:
    """How many sectors a request of lanes [n] moves, and how much of them is used."""
    ends = offsets + itemsize - 1
    moved = len({*(offsets // SECTOR).tolist(), *(ends // SECTOR).tolist()})
    used = len(set(offsets.tolist())) * itemsize
    moving = f"moves {quantity(moved, 'sector')} of {SECTOR} bytes: {used / (moved * SECTOR):.0%} are used."
    return f"A request of {quantity(len(lanes), 'lane')} for {used} bytes {moving}"


def explore_stride() -> View:
    """Sliders for the stride and the offset of a warp's loads; each move launches the kernel once."""
    return slider_view(
        lambda stride, offset: figure_access(*_request(stride, offset)),
        lambda stride, offset: (
            f"Stride {stride}, offset {offset}: {describe_access(*_request(stride, offset))}"
        ),
        stride=Slider("stride, elements", (1, 2, 3, 4, 8), 0),
        offset=Slider("offset, elements", tuple(range(9)), 0),
    )


@cache
def _request(stride: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    if not cuda.is_simulated:  # a GPU keeps no trace
        return np.arange(32), 4 * (offset + stride * np.arange(32))
    x = np.zeros(8 + 32 * stride, "float32")
    y = np.zeros(32, "float32")
    return first_request(cuda.observe(strided_copy, 1, 32, x, y, stride, offset), "x[offset")

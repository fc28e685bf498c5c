"""The recurrent product of one step under a machine's two roofs, for any minibatch and hidden size."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnncourse.figures.picture import PAPER, Slider, View, canvas, slider_view
from rnncourse.lab.roofline import Roofline

FLOAT32_BYTES = 4
MINIBATCHES = tuple(2**k for k in range(11))  # sequences
HIDDEN_SIZES = tuple(2**k for k in range(6, 13))  # units
Measured = Mapping[tuple[int, int], float]  # {(B, H): GFLOP/s}
INTENSITIES = 0.25, 1024.0  # FLOP/byte, the ends of the axis


def intensity(minibatch: int, hidden_size: int) -> float:
    """FLOP per byte of h [B,H] times weight_hh.T [H,H] in float32, each array moved once."""
    B = minibatch
    H = hidden_size
    flop = 2 * B * H * H
    moved = H * H + 2 * B * H  # numbers
    return flop / (FLOAT32_BYTES * moved)


def finding(roof: Roofline, minibatch: int, hidden_size: int) -> str:
    """What the picture shows, in one sentence."""
    at = intensity(minibatch, hidden_size)
    limit = "arithmetic" if at >= roof.balance else "memory"
    megabytes = FLOAT32_BYTES * hidden_size**2 / 1e6
    attainable = roof.attainable(at)
    return (
        f"Minibatch {minibatch}, {hidden_size} hidden units, {megabytes:.2g} MB of weights: "
        f"{at:.2g} FLOP/byte, at most {attainable:.0f} of {roof.peak:.0f} GFLOP/s; {limit} is the limit."
    )


def explore_roofline(roof: Roofline, measured: Measured | None = None) -> View:
    """Sliders for minibatch and hidden size; crosses mark what was measured, with their minibatch."""
    return slider_view(
        partial(_moved, _roofs(roof, measured or {}), roof),
        partial(finding, roof),
        minibatch=Slider("minibatch B", MINIBATCHES),
        hidden_size=Slider("hidden size H", HIDDEN_SIZES).at(1024),
    )


def _roofs(roof: Roofline, measured: Measured) -> tuple[Figure, Line2D, Line2D]:
    """(figure, stem, point): what stands still, and the two artists that a slider moves."""
    figure, axis = canvas(height=3.6)
    lowest, highest = INTENSITIES
    ends = np.array([lowest, roof.balance, highest])
    rates = [roof.attainable(end) for end in ends]
    axis.plot(ends, rates, color="black")
    axis.axvline(roof.balance, color="black", linewidth=0.6, linestyle=":")
    place = {"xytext": (4, -10), "textcoords": "offset points", "bbox": PAPER}
    for (B, H), rate in measured.items():
        at = intensity(B, H)
        axis.plot(at, rate, "x", color="okabe:red")
        axis.annotate(f"{B}", (at, rate), size=8, **place)
    (stem,) = axis.plot([], [], color="okabe:blue", linestyle="--")
    (point,) = axis.plot([], [], "o", color="okabe:blue", markersize=9)
    above = roof.peak * 1.15
    axis.text(highest, above, f"peak {roof.peak:.0f} GFLOP/s", ha="right")
    axis.text(lowest * 1.1, above, f"slope: {roof.bandwidth:.0f} GB/s")
    axis.set(xscale="log", yscale="log", xlim=INTENSITIES, ylim=_rates_shown(roof, measured))
    axis.set(xlabel="arithmetic intensity (FLOP/byte)", ylabel="rate (GFLOP/s)")
    for direction in (axis.xaxis, axis.yaxis):
        direction.set_major_formatter("{x:g}")
    return figure, stem, point


def _rates_shown(roof: Roofline, measured: dict) -> tuple[float, float]:
    """Limits of the axis of rates: the roof and every measured point, the disturbed ones too, lie between."""
    lowest = roof.peak / 300
    highest = 2 * roof.peak
    for rate in measured.values():
        if rate > 0:
            lowest = min(lowest, 0.7 * rate)
            highest = max(highest, 1.4 * rate)
    return lowest, highest


def _moved(parts: tuple[Figure, Line2D, Line2D], roof: Roofline, minibatch: int, hidden_size: int) -> Figure:
    figure, stem, point = parts
    at = intensity(minibatch, hidden_size)
    attainable = roof.attainable(at)
    stem.set_data([at, at], [roof.peak / 1000, attainable])
    point.set_data([at], [attainable])
    return figure

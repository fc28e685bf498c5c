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
    return 2 * B * H * H / (FLOAT32_BYTES * (H * H + 2 * B * H))


def finding(roof: Roofline, minibatch: int, hidden_size: int) -> str:
    """What the picture shows, in one sentence."""
    at = intensity(minibatch, hidden_size)
    limit = "arithmetic" if at >= roof.balance else "memory"
    weights = FLOAT32_BYTES * hidden_size**2 / 1e6
    return (
        f"Minibatch {minibatch}, {hidden_size} hidden units, {weights:.2g} MB of weights: {at:.2g} FLOP/byte"
        f", at most {roof.attainable(at):.0f} of {roof.peak:.0f} GFLOP/s; {limit} is the limit."
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
    ends = np.array([INTENSITIES[0], roof.balance, INTENSITIES[1]])
    axis.plot(ends, [roof.attainable(end) for end in ends], color="black")
    axis.axvline(ends[1], color="black", linewidth=0.6, linestyle=":")
    for (B, H), rate in measured.items():
        axis.plot(intensity(B, H), rate, "x", color="okabe:red")
        place = {"xytext": (4, -10), "textcoords": "offset points", "bbox": PAPER}
        axis.annotate(f"{B}", (intensity(B, H), rate), size=8, **place)
    (stem,) = axis.plot([], [], color="okabe:blue", linestyle="--")
    (point,) = axis.plot([], [], "o", color="okabe:blue", markersize=9)
    axis.text(ends[2], roof.peak * 1.15, f"peak {roof.peak:.0f} GFLOP/s", ha="right")
    axis.text(ends[0] * 1.1, roof.peak * 1.15, f"slope: {roof.bandwidth:.0f} GB/s")
    axis.set(xscale="log", yscale="log", xlim=INTENSITIES, ylim=_rates_shown(roof, measured))
    axis.set(xlabel="arithmetic intensity (FLOP/byte)", ylabel="rate (GFLOP/s)")
    for direction in (axis.xaxis, axis.yaxis):
        direction.set_major_formatter("{x:g}")
    return figure, stem, point


def _rates_shown(roof: Roofline, measured: dict) -> tuple[float, float]:
    """Limits of the axis of rates: the roof and every measured point, the disturbed ones too, lie between."""
    rates = [rate for rate in measured.values() if rate > 0]
    lowest = min([roof.peak / 300, *(0.7 * rate for rate in rates)])
    highest = max([2 * roof.peak, *(1.4 * rate for rate in rates)])
    return lowest, highest


def _moved(parts: tuple[Figure, Line2D, Line2D], roof: Roofline, minibatch: int, hidden_size: int) -> Figure:
    figure, stem, point = parts
    at = intensity(minibatch, hidden_size)
    stem.set_data([at, at], [roof.peak / 1000, roof.attainable(at)])
    point.set_data([at], [roof.attainable(at)])
    return figure

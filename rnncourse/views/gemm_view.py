"""How much of its peak a product of RNN sizes reaches: a TitanX as published, this machine as measured."""

from collections.abc import Mapping
from functools import partial

from matplotlib.figure import Figure

from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnncourse.lab import svail_gemm

Measured = Mapping[int, float]  # minibatch -> GFLOP/s here
COLOURS = {"cuBLAS": "okabe:orange", "Nervana": "okabe:blue"}
TICKS = (1, 4, 16, 32, 64, 128, 256)
SIZES = tuple(svail_gemm.FORWARD)


def finding(measured: Measured, peak: float, size: int) -> str:
    """What the picture shows, in one sentence."""

    def shares_at(place):
        shares = []
        for name in svail_gemm.LIBRARIES:
            rate = svail_gemm.forward(size, name)[place]
            share = 100 * rate / svail_gemm.PEAK
            shares.append(f"{name} {share:.0f} %")
        return ", ".join(shares)

    first = shares_at(0)
    last = shares_at(-1)
    description = f"M = K = {size} on a TitanX: at minibatch 32 {first} of the peak, at 256 {last}."
    if not measured:
        return description
    shares = []
    for B in (min(measured), max(measured)):
        share = 100 * measured[B] / peak
        shares.append(f"{share:.0f} % at {B}")
    return f"{description} This machine's products of 1024: {' and '.join(shares)}."


def figure_gemm(measured: Measured, peak: float, size: int) -> Figure:
    """Part of the peak against the minibatch; measured and peak in GFLOP/s are this machine's."""
    figure, axis = canvas(width=7.0, height=3.4)
    for name, colour in COLOURS.items():
        parts = [100 * rate / svail_gemm.PEAK for rate in svail_gemm.forward(size, name)]
        label = f"TitanX, {name} (published)"
        axis.plot(svail_gemm.MINIBATCHES, parts, "o-", color=colour, label=label)
    if measured:
        parts = [100 * rate / peak for rate in measured.values()]
        axis.plot(list(measured), parts, "x--", color="black", label="this machine, 1024 (measured)")
    axis.set(xscale="log", ylim=(0, 105), xlabel="minibatch B", ylabel="% of the peak")
    axis.set_title(f"weights of {size} × {size}")
    axis.set_xticks(TICKS, TICKS)
    axis.minorticks_off()
    axis.legend(fontsize=8, loc="upper left")
    return figure


def explore_gemm(measured: Measured, peak: float) -> View:
    """A slider for the size of the published weights."""
    return slider_view(
        partial(figure_gemm, measured, peak),
        partial(finding, measured, peak),
        size=Slider("published size M = K", SIZES),
    )

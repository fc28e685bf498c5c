"""Curves that should be powers, y = c·x^p: on logarithmic axes, with the exponent that fits each."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from rnncourse.figures.picture import canvas


def fitted_exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The p of y = c·x^p: the slope of the straight line that fits log y over log x best."""
    slope, _ = np.polyfit(np.log(x), np.log(y), 1)
    return float(slope)


def figure_powers(
    x: Sequence[float], curves: Mapping[str, Sequence[float]], *, xlabel: str, ylabel: str
) -> Figure:
    """One curve a name, measured points on its fitted line; the legend gives the exponents."""
    figure, axis = canvas(width=6.4, height=3.8)
    for (name, y), marker in zip(curves.items(), "osD^v", strict=False):
        p = fitted_exponent(x, y)
        (points,) = axis.loglog(x, y, marker, label=f"{name}: exponent {p:.2f}")
        mean_log_x = np.mean(np.log(x))
        mean_log_y = np.mean(np.log(y))
        c = np.exp(mean_log_y - p * mean_log_x)
        fitted = c * np.power(x, p)
        axis.loglog(x, fitted, "-", linewidth=1, color=points.get_color())
    are_whole = np.equal(np.mod(x, 1), 0)
    if are_whole.all():  # a handful of sizes: name each, not the powers of ten
        names = [f"{value:g}" for value in x]
        axis.set_xticks(x, names)
        axis.xaxis.set_minor_locator(NullLocator())
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.legend(frameon=False)
    return figure


def describe_powers(what: str, x: Sequence[float], curves: Mapping[str, Sequence[float]]) -> str:
    """The text alternative of figure_powers: each curve's exponent, first and last value."""
    sentences = []
    for name, y in curves.items():
        p = fitted_exponent(x, y)
        ends = f"from {y[0]:.2g} to {y[-1]:.2g}"
        sentences.append(f"{name} goes {ends}, exponent {p:.2f}")
    findings = "; ".join(sentences)
    return f"{what}, {x[0]:g} to {x[-1]:g}, both axes logarithmic: {findings}."

"""The scaling model beside published runs: fitted to some of them, judged by the others.

    seconds of an update = micro-steps · (fixed + sequences · each) + node + bytes · β + messages · α
The constants of a machine come from the fitted runs alone, as those of least relative error that are not
negative; so does the choice between a ring's and a tree's messages.  Two splits: `alternate` fits every
second run in the order of GPUs and judges those between; `extrapolate` fits the smaller half and judges the
larger one, which is what a model is for.  `python -m rnncourse.scaling.model_fit` prints every figure.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import compress, product
from typing import NamedTuple

import numpy as np

from rnncourse.scaling.published import SERIES, Point, Series

CLOSE = 0.10
FAR = 0.25  # goals: 80 % of the judged runs within CLOSE, all within FAR
MESSAGES: dict[str, Callable[[int, int], float]] = {  # in a row, over p ranks in q nodes
    "ring": lambda p, q: 2 * (p - 1),
    "tree": lambda p, q: 2 * math.ceil(math.log2(q)),
}


class Constants(NamedTuple):
    """Fit of one series: what each term costs, in the unit of the series."""

    messages: str  # "ring" or "tree"
    cost: dict[str, float]


class FittedRun(NamedTuple):
    """A published run and the model's."""

    series: Series
    point: Point
    predicted: float
    is_fitted: bool

    @property
    def error(self) -> float:
        """Relative error of the model."""
        return self.predicted / self.point.seconds - 1


def terms(series: Series, point: Point, messages: str) -> dict[str, float]:
    """How often each constant counts in this run; constants of a known network are left out."""
    nodes = _nodes(series, point)
    is_one_node = nodes == 1
    size = series.gigabytes * point.scale
    row = {"compute": point.micro_steps * point.scale}
    if series.by_sequences:
        row["each sequence"] = point.micro_steps * point.sequences
    slowest = _ring_passes(nodes)
    if any(other.gpus < series.node for other in series.points):
        # a flat ring: all bytes go over the slowest link, in the node as long as there is one node
        inside = min(point.gpus, series.node)
        row["GB in a node"] = _ring_passes(inside) * size if is_one_node else 0.0
        slowest = _ring_passes(point.gpus)
    if any(other.gpus > series.node for other in series.points) and series.known is None:
        count = MESSAGES[messages](point.gpus, nodes)
        row["GB between nodes"] = 0.0 if is_one_node else slowest * size
        row["message between nodes"] = 0.0 if is_one_node else count
    return row


def _nodes(series: Series, point: Point) -> int:
    """Nodes that a run uses, the last one perhaps in part."""
    return -(-point.gpus // series.node)


def _ring_passes(members: int) -> float:
    """How often a ring of that many members sends the gradients over each of its links."""
    return 2 * (members - 1) / members


def known(series: Series, point: Point) -> float:
    """Milliseconds between nodes that a data sheet predicts; 0 where the network's constants are fitted."""
    nodes = _nodes(series, point)
    if series.known is None or nodes == 1:
        return 0.0
    bandwidth, microseconds = series.known
    traffic = _ring_passes(nodes) * series.gigabytes / bandwidth * 1e3
    messages = MESSAGES["tree"](point.gpus, nodes)
    return traffic + messages * microseconds * 1e-3


def fit(series: Series, points: Iterable[Point]) -> Constants:
    """Constants of least relative error over these points, none negative.

    Raises ValueError for no points.
    """
    points = tuple(points)
    if not points:
        raise ValueError(f"no run of {series.name} to fit; give at least one")
    seconds = np.array([point.seconds for point in points])  # [N]
    predicted = np.array([known(series, point) for point in points])
    right = 1 - predicted / seconds
    residuals = {}
    constants = {}
    for messages in MESSAGES:
        rows = [terms(series, point, messages) for point in points]
        counts = np.array([[*row.values()] for row in rows])  # [N,C]
        left = counts / seconds[:, np.newaxis]
        costs, residual = least_squares(left, right)
        residuals[messages] = residual
        cost = dict(zip(rows[0], costs.tolist(), strict=True))
        constants[messages] = Constants(messages, cost)
    best = min(residuals, key=residuals.get)
    return constants[best]


def least_squares(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Costs [C] of at least 0 with the least |left @ costs - right|, left [N,C], and that residual.

    Each set of costs that are not 0 is tried: there are five costs at most.
    """
    count = left.shape[1]
    best = np.zeros(count)
    least = float(np.linalg.norm(right))
    _none, *selections = product((False, True), repeat=count)
    for chosen in selections:
        columns = np.flatnonzero(chosen)
        selected = left[:, columns]
        costs = np.linalg.lstsq(selected, right, rcond=None)[0]
        difference = selected @ costs - right
        residual = float(np.linalg.norm(difference))
        if residual < least and (costs >= 0).all():
            least = residual
            best = np.bincount(columns, costs, count)
    return best, least


def predict(series: Series, constants: Constants, point: Point) -> float:
    """Seconds of an update in the unit of the series; those of the point itself are not read."""
    counts = terms(series, point, constants.messages)
    fitted = sum(constants.cost[name] * count for name, count in counts.items())
    return known(series, point) + fitted


def alternate(series: Series) -> list[bool]:
    """Which runs are fitted: every second one in the order of GPUs, the first included."""
    return [place % 2 == 0 for place in _places(series)]


def extrapolate(series: Series) -> list[bool]:
    """Which runs are fitted: the smaller half, in the order of GPUs, the middle one included."""
    counts = Counter(point.network for point in series.points)
    is_fitted = []
    for point, place in zip(series.points, _places(series), strict=True):
        half = (counts[point.network] + 1) // 2
        is_fitted.append(place < half)
    return is_fitted


def lines(
    split: Callable[[Series], list[bool]] = alternate, series: Iterable[Series] = SERIES
) -> list[FittedRun]:
    """Every published run, the model's prediction, and whether the run was fitted."""
    result = []
    for one in series:
        chosen = split(one)
        constants = fit(one, compress(one.points, chosen))
        for point, is_fitted in zip(one.points, chosen, strict=True):
            predicted = predict(one, constants, point)
            result.append(FittedRun(one, point, predicted, is_fitted))
    return result


def verdict(entries: Iterable[FittedRun]) -> str:
    """How many of the judged runs are within the goals, and the worst one."""
    judged = [line for line in entries if not line.is_fitted]
    errors = [abs(line.error) for line in judged]
    close = sum(error <= CLOSE for error in errors)
    far = sum(error <= FAR for error in errors)
    worst = max(judged, key=lambda line: abs(line.error))
    return (
        f"{close} of {len(judged)} judged runs within {CLOSE:.0%}, {far} within {FAR:.0%}; the worst is "
        f"{worst.series.name} on {worst.point.gpus} GPUs, {worst.error:+.0%}"
    )


def table(entries: Iterable[FittedRun]) -> str:
    """Every figure with its error."""
    rows = []
    for line in entries:
        point = line.point
        run = f"{line.series.name:28} {point.network:3}{point.gpus:5} GPUs {point.seconds:8.3f} published"
        use = "fitted" if line.is_fitted else "judged"
        rows.append(f"{run} {line.predicted:8.3f} predicted {line.error:+7.1%} {use}")
    return "\n".join(rows)


def _places(series: Series) -> list[int]:
    """Place of each point among those of its network, in the order of GPUs."""
    places = []
    for point in series.points:
        smaller = [other for other in series.points if other.network == point.network and other < point]
        places.append(len(smaller))
    return places


if __name__ == "__main__":
    for name, split in (("alternate", alternate), ("extrapolate", extrapolate)):
        entries = lines(split)
        print(f"{table(entries)}\n{name}: {verdict(entries)}\n")

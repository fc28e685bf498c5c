"""A network learns a filter: what it answers to a single bright pixel, recorded while it trains.

A linear filter is known by its answer to one bright pixel in an even row: the numbers of its kernel, one a
step. A network with tanh has no kernel, but it can get the same input at any moment of training.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from rnncourse.figures.picture import Picture, Slider, View, canvas, in_a_kernel, png, slider_view
from rnnlab.tasks import image_filters
from rnnlab.training.loop import fit
from rnnlab.training.model import Model, evaluate
from rnnlab.training.optimisers import SGD, Adam

LAGS = 6  # steps shown: the pixel's own and five more; the filters reach three
SETTLE = 20  # steps of even grey before the bright pixel comes, for the state to come to rest
BRIGHT = 0.2  # brighter than the rest by this much, where white is 1 above black
UPDATES = 300
SNAPSHOTS = 26  # of the network; more and more rarely, since it changes most at first


class Snapshot(NamedTuple):
    """The network after so many updates: its error on the held-out photograph, its response [LAGS]."""

    updates: int
    error: float
    response: np.ndarray


@dataclass(frozen=True)
class Recording:
    """A training run: its filter, the baseline to beat, and the snapshots that were taken."""

    filter: str
    baseline: float
    snapshots: tuple[Snapshot, ...]

    @property
    def kernel(self) -> np.ndarray:
        """The filter's own answer to one bright pixel [LAGS]."""
        kernel = image_filters.kernel_of(self.filter)[0]
        return np.pad(kernel, (0, LAGS - len(kernel)))


def impulse_response(model: Model) -> np.ndarray:
    """What one bright pixel adds to the answers at its own step and after it [LAGS], by its brightness."""
    x = np.zeros((SETTLE + LAGS, 2, 1), dtype=model.network.dtype)
    x[SETTLE, 1] = BRIGHT
    prediction, *_ = model.predict(x)
    dark, bright = prediction[SETTLE:, :, 0].T
    return (bright - dark) / BRIGHT


def record(
    filter: str = "sobel",
    optimiser: SGD | Adam | None = None,
    hidden_size: int = 8,
    seed: int = 0,
    look: Callable[[Recording], None] | None = None,
) -> Recording:
    """Trains a network on one filter, with snapshots on the way; look(recording) is called after each."""
    task = image_filters.task(filter)
    recording = Recording(filter, task.baseline.value, ())
    updates = np.geomspace(1, UPDATES, SNAPSHOTS).round().astype(int)
    moments = {0, *updates.tolist()}

    def watch(step: int, model: Model) -> None:
        nonlocal recording
        if step in moments:
            snapshot = Snapshot(step, evaluate(model, task), impulse_response(model))
            recording = Recording(filter, recording.baseline, (*recording.snapshots, snapshot))
            if look is not None:
                look(recording)

    start = Model.create("rnn_tanh", 1, hidden_size, 1, seed=seed)
    fit(start, task, optimiser or Adam(0.01), UPDATES, seed=seed, watch=watch, progress=False)
    return recording


def figure_learned_filter(recording: Recording, number: int = -1) -> Figure:
    """Snapshot `number` of a recording: network against filter, and the held-out error up to then."""
    figure, parts = _blank()
    now = recording.snapshots[number]
    until = [snapshot for snapshot in recording.snapshots if snapshot.updates <= now.updates]
    parts["filter"].set_ydata(recording.kernel)
    parts["network"].set_ydata(now.response)
    updates, errors, _ = zip(*until, strict=True)
    parts["error"].set_data(updates, errors)
    parts["now"].set_data([now.updates], [now.error])
    parts["baseline"].set_ydata([recording.baseline] * 2)
    parts["network"].axes.set_title(f"{recording.filter}, after {now.updates} updates", loc="left")
    return figure


def finding(recording: Recording, number: int = -1) -> str:
    """What the picture shows, in one sentence."""
    snapshot = recording.snapshots[number]
    count = np.flatnonzero(recording.kernel)[-1] + 1

    def numbers(response):
        return ", ".join(f"{value:+.2f}" for value in response[:count])

    baseline = recording.baseline
    verdict = "below" if snapshot.error < baseline else "not yet below"
    answer = numbers(snapshot.response)
    wanted = numbers(recording.kernel)
    return (
        f"After {snapshot.updates} updates the network answers a bright pixel with "
        f"{answer}, the {recording.filter} filter with {wanted}; the "
        f"error on the held-out photograph is {snapshot.error:.2g}, {verdict} the baseline's "
        f"{baseline:.2g}."
    )


def explore_learned_filter(recording: Recording | None = None) -> View:
    """A slider, and a play button, over the recorded updates."""
    recording = recording or record()
    count = len(recording.snapshots)
    return slider_view(
        lambda look: figure_learned_filter(recording, look),
        lambda look: finding(recording, look),
        look=Slider("look at the network", range(count), start=count * 3 // 4, play=True),
    )


def watch_learned_filter(filter: str = "sobel", seed: int = 0) -> Recording:
    """Trains and draws one picture again at every snapshot. Returns the recording."""
    show = _screen()

    def look(so_far):
        show(Picture(png(figure_learned_filter(so_far)), finding(so_far)))

    recording = record(filter, seed=seed, look=look if show else None)
    if not show:
        print(finding(recording))
    return recording


def _screen() -> Callable[[Picture], None] | None:
    """Shows each picture in the place of the one before; None outside a notebook."""
    if not in_a_kernel():
        return None
    from IPython.display import display

    place = None

    def show(picture: Picture) -> None:
        nonlocal place
        if place is None:
            place = display(picture, display_id=True)
        else:
            place.update(picture)

    return show


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw, with the artists that move."""
    figure, (left, right) = canvas(1, 2, width=8.4, height=3.2)
    steps = np.arange(LAGS)
    zeros = np.zeros(LAGS)
    (true,) = left.plot(steps, zeros, "s", color="black", ms=13, mfc="none", label="the filter")
    (network,) = left.plot(steps, zeros, "o-", color="okabe:red", label="the network")
    left.axhline(0, color="black", lw=0.6)
    left.set(xlabel="steps after the bright pixel", ylabel="answer / brightness", ylim=(-2.4, 1.8))
    left.legend(loc="lower right", frameon=False)
    (error,) = right.loglog([], [], color="okabe:blue")
    (now,) = right.plot([], [], "o", color="okabe:blue")
    baseline = right.axhline(1, color="okabe:orange", ls="--", label="baseline")
    right.set_xscale("symlog", linthresh=1)
    right.set(xlim=(0, UPDATES * 1.2), ylim=(1e-6, 1), xlabel="updates", ylabel="error, held-out photograph")
    right.legend(loc="lower left", frameon=False)
    right.minorticks_off()
    for axis in (right.xaxis, right.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")  # typeset powers are slow
    return figure, {"filter": true, "network": network, "error": error, "now": now, "baseline": baseline}

"""A loss with a cliff in it: one unit, fifty steps, and two descents that reach the edge.

The unit is h' = tanh(w h + b), started at h = 0; the loss asks for h = 0.7 after the last step. For w above 1
the unit settles at one of two values, and the sign of b decides at which: along b = 0 the loss falls off.
The experiment is Pascanu, Mikolov and Bengio's (2013, figure 6), with tanh in place of the logistic function.
"""

from functools import lru_cache

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from rnncourse.figures.picture import Slider, View, canvas, slider_view

STEPS = 50  # of the unit
WANTED = 0.7  # its state after the last one
START = 1.2, -0.3  # w, b where every descent begins
UPDATES = 60
RATES = 0.02, 0.05, 0.1, 0.2, 0.3
LIMITS = 0.1, 0.3, 1.0, 3.0, 10.0, 100.0


def loss_and_gradient(w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(loss, dw, db), of one shape [n,m], at each pair of w and b; the gradient moves on with the state."""
    shape = np.broadcast_shapes(np.shape(w), np.shape(b))
    h = h_by_w = h_by_b = np.zeros(shape)
    for _ in range(STEPS):
        new = np.tanh(w * h + b)
        slope = 1 - new**2
        h_by_w = slope * (h + w * h_by_w)
        h_by_b = slope * (1 + w * h_by_b)
        h = new
    error = h - WANTED
    dh = 2 * error
    return error**2, dh * h_by_w, dh * h_by_b


@lru_cache(maxsize=64)
def descents(learning_rate: float, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(w, b, losses), each [UPDATES+1,2]: gradient descent from START, unclipped and clipped to `limit`."""
    limits = np.array([np.inf, limit])
    start_w, start_b = START
    w = np.full(2, start_w)
    b = np.full(2, start_b)
    path = []
    for _ in range(UPDATES + 1):
        loss, dw, db = loss_and_gradient(w, b)
        path.append((w, b, loss))
        norm = np.maximum(np.hypot(dw, db), 1e-300)
        factor = learning_rate * np.minimum(1, limits / norm)
        w = w - factor * dw
        b = b - factor * db
    return tuple(np.array(parts) for parts in zip(*path, strict=True))


def finding(learning_rate: float, limit: float) -> str:
    """What the picture shows, in one sentence."""
    w, b, losses = descents(learning_rate, limit)
    unclipped = w[:, 0], b[:, 0]
    _, dw, db = loss_and_gradient(*unclipped)
    longest = np.hypot(dw, db).max()
    w_moves = np.diff(w, axis=0)
    b_moves = np.diff(b, axis=0)
    step, clipped_step = np.hypot(w_moves, b_moves).max(axis=0)
    loss, clipped_loss = losses[-1]
    return (
        f"Learning rate {learning_rate:g}: at the cliff the gradient is {longest:.3g} long. Unclipped, the "
        f"longest step moves w and b by {step:.2g} and the loss ends at {loss:.2g}; clipped to "
        f"length {limit:g}, by {clipped_step:.2g}, and it ends at {clipped_loss:.2g}."
    )


def figure_cliff(learning_rate: float = 0.1, limit: float = 1.0) -> Figure:
    """Both paths on the loss's map, and both losses over the updates."""
    figure, parts = _blank()
    w, b, losses = descents(learning_rate, limit)
    updates = np.arange(len(losses))
    for name, b_path, w_path, curve in zip(("unclipped", "clipped"), b.T, w.T, losses.T, strict=True):
        parts[name].set_data(b_path, w_path)
        parts[f"{name} loss"].set_data(updates, curve)
    return figure


def explore_cliff() -> View:
    """Sliders for the learning rate and for the length to which one of the two descents is clipped."""
    return slider_view(
        figure_cliff,
        finding,
        learning_rate=Slider("learning rate", RATES).at(0.1),
        limit=Slider("clipped to length", LIMITS).at(1.0),
    )


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw: the map stands, two paths and two curves move."""
    figure, (left, right) = canvas(1, 2, width=8.4, height=3.4)
    b = np.linspace(-0.6, 3.6, 300)
    w = np.linspace(0.2, 2.2, 150)
    loss, _, _ = loss_and_gradient(w[:, np.newaxis], b)
    edges = (b[0], b[-1], w[0], w[-1])
    shades = LogNorm(1e-3, 4, clip=True)  # a linear scale shows the valley as white as what surrounds it
    image = left.imshow(loss, extent=edges, origin="lower", aspect="auto", cmap="Greys", norm=shades)
    figure.colorbar(image, ax=left, label="loss at (w, b)", format="{x:g}")
    start_w, start_b = START
    left.plot(start_b, start_w, "s", color="black", mfc="white", label="start")
    parts = {}
    for name, colour, mark in (("unclipped", "okabe:red", "X--"), ("clipped", "okabe:blue", "o-")):
        style = {"color": colour, "markersize": 3, "label": name}
        (path,) = left.plot([], [], mark, **style)
        (curve,) = right.semilogy([], [], mark, **style)
        parts[name] = path
        parts[f"{name} loss"] = curve
    left.set(xlabel="b", ylabel="w", xlim=edges[:2], ylim=edges[2:], title="from (w, b) = (1.2, -0.3)")
    left.legend(loc="lower right", fontsize=8)
    right.set(xlabel="updates", title="loss on the way", xlim=(0, UPDATES), ylim=(1e-8, 10))
    right.minorticks_off()
    right.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")  # typeset powers are slow
    right.legend(loc="upper right", fontsize=8)
    return figure, parts

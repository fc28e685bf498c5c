"""Size of a gradient after back-propagation through time, against spectral radius and sequence length.

The network is h' = tanh(W h + input), W orthogonal times the spectral radius, so that without tanh every step
back would multiply every gradient by exactly the radius. What is shown is the root mean square over all
directions a gradient can have: the Frobenius norm of dh[T]/dh[T−k], divided by √H.
"""

from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnncourse.figures.picture import PAPER, Slider, View, canvas, slider_view
from rnnlab import cells
from rnnlab.network import Network

HIDDEN = 32
LONGEST = 100  # steps
DRIVE = 0.1  # standard deviation of what the input adds to each unit: enough to keep every unit moving
RADII = tuple(round(0.5 + 0.05 * k, 2) for k in range(31))  # 0.5 … 2.0
ROUNDING = float(np.finfo(np.float32).eps)  # beside a gradient of size 1, a smaller one is lost in float32
FLOOR = 1e-16
CEILING = 1e10


@lru_cache(maxsize=len(RADII))
def hidden_states(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """(weight_hh [H,H], h [LONGEST+1,H]) of the network run from zero under a random input."""
    start = Network.create("rnn_tanh", 1, HIDDEN, dtype="float64", init="orthogonal", seed=1)
    weight_hh = radius * start.parameters["weight_hh_l0"]
    bias_hh = np.zeros(HIDDEN)
    state = (np.zeros((1, HIDDEN)),)
    h = [*state]
    drive = DRIVE * np.random.default_rng(2).standard_normal((LONGEST, 1, HIDDEN))
    for from_input in drive:
        state, _ = cells.forward("rnn_tanh", from_input, state, weight_hh, bias_hh)
        h += state
    return weight_hh, np.concatenate(h)


@lru_cache(maxsize=len(RADII))
def jacobians(radius: float) -> np.ndarray:
    """[LONGEST,H,H] dh[t+1]/dh[t] of every step: its backward, given all unit gradients as a minibatch."""
    weight_hh, h = hidden_states(radius)
    unit_gradients = (np.eye(HIDDEN),)
    by_step = []
    for before, after in pairwise(h):
        saved = cells.SavedStep((before,), after, None)
        _, _, (dh,) = cells.backward("rnn_tanh", unit_gradients, saved, weight_hh)
        by_step.append(dh)
    return np.array(by_step)


@lru_cache(maxsize=256)
def gains(radius: float, T: int) -> np.ndarray:
    """[T+1] root mean square of what k = 0 … T steps back leave of a gradient at h[T]."""
    last_first = jacobians(radius)[:T][::-1]
    products = accumulate(last_first, np.matmul, initial=np.eye(HIDDEN))
    return np.array([_root_mean_square(product) for product in products])


@lru_cache(maxsize=1)
def gain_map() -> np.ndarray:
    """[LONGEST,radius] what T = 1 … LONGEST steps back leave of a gradient at h[T], for every radius."""
    later_first = lambda product, step: step @ product
    sizes = []
    for radius in RADII:
        products = accumulate(jacobians(radius), later_first)
        sizes.append([_root_mean_square(product) for product in products])
    return np.array(sizes).T


def _root_mean_square(product: np.ndarray) -> float:
    """How long a gradient of length 1 becomes, over all directions it can have."""
    norm = np.linalg.norm(product)
    return float(norm / np.sqrt(HIDDEN))


def finding(radius: float, T: int) -> str:
    """What the picture shows, in one sentence."""
    size = gains(radius, T)[-1]
    verdict = "still counts"
    if size < 1e-3:
        verdict = "has vanished"
    elif size > 1e3:
        verdict = "has exploded"
    lost = " It is below float32's rounding beside a gradient of size 1." if size < ROUNDING else ""
    linear = radius**T
    return (
        f"Spectral radius {radius:.2f}, T = {T}: a gradient of size 1 at the last step reaches step 0 "
        f"with size {size:.1e} and {verdict}; without tanh it would be {radius:.2f}^{T} = "
        f"{linear:.1e}.{lost}"
    )


def figure_gradient_flow(radius: float, T: int) -> Figure:
    """The gradient's size against steps back, and this network's place on the map of all of them."""
    figure, parts = _blank()
    back = np.arange(T + 1)
    linear = radius ** back.astype(float)
    curve = parts["tanh"]
    curve.set_data(back, np.maximum(gains(radius, T), FLOOR))
    curve.axes.set_title(f"radius {radius:.2f}, T = {T}", loc="left")
    parts["linear"].set_data(back, np.clip(linear, FLOOR, CEILING))
    parts["here"].set_data([radius], [T])
    return figure


def explore_gradient_flow() -> View:
    """Sliders for the spectral radius and the sequence length."""
    return slider_view(
        figure_gradient_flow,
        finding,
        radius=Slider("spectral radius", RADII, format="{:.2f}").at(0.9),
        T=Slider("sequence length T", range(1, LONGEST + 1), start=49),
    )


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw, with the artists that move."""
    figure, (left, right) = canvas(1, 2, width=8.0, height=3.6)
    (tanh,) = left.semilogy([], [], label="through tanh")
    (linear,) = left.semilogy([], [], "--", color="black", label="radius^k, no tanh")
    left.axhline(ROUNDING, color="okabe:red", linestyle=":", label="float32 rounding of 1")
    left.minorticks_off()
    left.yaxis.set_major_formatter(lambda size, _: f"{size:.0e}")  # typeset powers are slow
    left.set(
        xlim=(0, LONGEST),
        ylim=(FLOOR, CEILING),
        xlabel="k, steps back from the last",
        ylabel="size of the gradient",
    )
    left.legend(loc="lower left", fontsize=8)
    return figure, {"tanh": tanh, "linear": linear, "here": _map(right)}


def _map(axis: Axes):
    """Draws the map of what reaches step 0; returns the marker of where the reader stands."""
    size = np.log10(gain_map())
    edges = (RADII[0], RADII[-1], 1, LONGEST)
    # an image, not a mesh of 3100 polygons, and no colour bar: all of it is drawn again at every move
    axis.imshow(size, extent=edges, origin="lower", aspect="auto", cmap="PuOr_r", vmin=-9, vmax=9)
    lines = axis.contour(size, extent=edges, levels=(-6, -3, 0, 3), colors="black", linewidths=0.8)
    high = [(0.87, 85), (0.94, 85), (1.13, 85), (1.52, 85)]  # away from where the marker starts
    for label in axis.clabel(lines, fmt=lambda level: f"1e{level:+03.0f}", fontsize=8, manual=high):
        label.set_bbox(PAPER)  # black on dark purple cannot be read
    ring = {"markersize": 11, "markeredgewidth": 2, "fillstyle": "none", "color": "black"}
    (marker,) = axis.plot([], [], "o", clip_on=False, zorder=9, **ring)  # above the numbers
    axis.set(xlabel="spectral radius", ylabel="sequence length T", title="size that reaches step 0")
    return marker

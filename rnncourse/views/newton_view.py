"""All states of a GRU at once: the guess after each of Newton's iterations, and its error over time.

The network has 16 units and runs 256 steps; the slider scales its weights, and with them the growth of small
differences from step to step, by which the number of iterations follows.
"""

from functools import lru_cache
from itertools import islice

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnnlab import newton, reference
from rnnlab.network import Network

STEPS = 256
UNITS = 16
GAINS = 0.5, 1.0, 2.0, 4.0, 8.0, 16.0  # of the weights; 1 is PyTorch's
MOST = 24  # iterations that are shown
EXACT = 1e-10  # an error below this is called exact


@lru_cache(maxsize=len(GAINS))
def guesses(gain: float) -> tuple[np.ndarray, np.ndarray, float]:
    """States [T,H] of the loop over time, guesses [MOST,T,H] of Newton's method, growth rate a step."""
    network = Network.create("gru", UNITS, UNITS, dtype="float64", gain=gain, seed=0)
    x = np.random.default_rng(0).standard_normal((STEPS, 1, UNITS))
    y, _, saved = reference.forward(network, x)
    steps = newton.steps_of(network, x)
    (layer,) = saved.steps
    before = np.stack([step.state[0] for step in layer])
    _, saved_steps = steps.run(before)
    rate = newton.growth_rate(newton.jacobians(steps, saved_steps))
    iterations = newton.iterate(steps, np.zeros((1, UNITS)))
    guessed = np.stack(list(islice(iterations, MOST)))
    return y[:, 0], guessed[:, :, 0], rate


def errors(gain: float) -> np.ndarray:
    """Largest error over the units [MOST,T], after each iteration, of each step."""
    exact, guessed, _ = guesses(gain)
    return np.abs(guessed - exact).max(axis=-1)


def finding(gain: float = 1.0, iteration: int = 2) -> str:
    """What the picture shows, in one sentence."""
    by_state = errors(gain)
    by_iteration = by_state.max(axis=1)
    exact = np.flatnonzero(by_iteration < EXACT)
    count = f"not within {MOST} iterations"
    if len(exact):
        count = f"after {exact[0] + 1} iterations"
    is_right = by_state[iteration - 1] < EXACT
    right = is_right.sum()
    largest = by_iteration[iteration - 1]
    _, _, rate = guesses(gain)
    return (
        f"Weights × {gain:g}: a small difference changes by e^{rate:.2f} a step. After iteration {iteration} "
        f"the largest error is {largest:.0e}, and {right} of {STEPS} states are right "
        f"to {EXACT:.0e}; all are, {count}."
    )


def figure_newton(gain: float = 1.0, iteration: int = 2) -> Figure:
    """Error of every step after every iteration, and one unit's guess beside its states."""
    figure, parts = _blank()
    exact, guessed, _ = guesses(gain)
    guess = guessed[iteration - 1]
    visible_errors = np.maximum(errors(gain), 1e-16)  # on a logarithmic scale
    parts["error"].set_array(visible_errors)
    parts["mark"].set_ydata([iteration - 0.5] * 2)
    parts["exact"].set_ydata(exact[:, 0])
    parts["guess"].set_ydata(guess[:, 0])
    return figure


def explore_newton() -> View:
    """Sliders for the scale of the weights and for the iteration."""
    return slider_view(
        figure_newton,
        finding,
        gain=Slider("weights ×", GAINS, start=1),
        iteration=Slider("iteration", range(1, MOST + 1), start=1),
    )


@lru_cache(maxsize=1)
def _blank():
    """One figure to redraw."""
    figure, (left, right) = canvas(1, 2, width=9.6, height=3.4)
    edges = np.arange(STEPS + 1), np.arange(MOST + 1)
    values = np.full((MOST, STEPS), 1e-16)
    image = left.pcolormesh(*edges, values, cmap="Greys", norm=LogNorm(1e-16, 1))
    figure.colorbar(image, ax=left, label="error", format=lambda value, _: f"{value:.0e}")
    (mark,) = left.plot([0, STEPS], [0, 0], "--", color="okabe:red", label="iteration shown")
    left.set(xlabel="time step", ylabel="iteration", ylim=(MOST, 0), title="largest error of a state")
    left.legend(loc="lower right", fontsize=8)
    time = np.arange(STEPS)
    flat = np.zeros(STEPS)
    (exact,) = right.plot(time, flat, color="black", linewidth=3, alpha=0.35, label="one by one")
    (guess,) = right.plot(time, flat, color="okabe:blue", linewidth=1.2, label="guess")
    right.set(xlabel="time step", ylabel="unit 0", ylim=(-1.5, 1.5), title="one unit")
    right.legend(loc="upper right", fontsize=8)
    return figure, {"error": image, "mark": mark, "exact": exact, "guess": guess}

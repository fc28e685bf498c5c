"""History of a training run: the loss and the norm of the gradient at every step."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rnnlab.training.task import drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 20  # steps: one minibatch's loss jumps about, the mean of twenty shows where it goes


@dataclass
class History:
    """Losses and gradient norms (before clipping), one a step; `baseline` is what the task wants beaten."""

    baseline: float
    baseline_is: str
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)

    def picture(self) -> "Figure":
        """Loss and gradient norm over the steps; its finding in words is `alt()`."""
        return drawn("history", self)

    def alt(self) -> str:
        """The finding of `picture`, in one sentence."""
        if not self.losses:
            return "No step was trained."
        steps = len(self.losses)
        first = self.losses[0]
        last = float(np.mean(self.losses[-WINDOW:]))
        shortest = min(self.norms)
        longest = max(self.norms)
        return (
            f"In {steps} steps the training loss went from {first:.3g} to {last:.3g}; "
            f"to beat on held-out data is {self.baseline:.3g}, {self.baseline_is}. "
            f"The gradient's length lay between {shortest:.2g} and {longest:.2g}."
        )


def running_mean(losses: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """(steps [n], means [n]) over the WINDOW steps that end at each step; empty where there are fewer."""
    if len(losses) < WINDOW:
        return np.array([]), np.array([])
    steps = np.arange(WINDOW - 1, len(losses))
    weights = np.full(WINDOW, 1 / WINDOW)
    return steps, np.convolve(losses, weights, "valid")

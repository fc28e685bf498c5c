"""What is measured: one training step of one layer, at the sizes this course compares everything at.

A training step is the forward pass, the gradient of the inputs and the gradients of all parameters.  Its
arithmetic is counted by `rnnlab.network.training_flops`: products only, a multiply and an add are two.
"""

from typing import NamedTuple

import numpy as np

from rnnlab import reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.network import Network, training_flops

CELLS = ("rnn_tanh", "gru", "lstm")
SHAPES = (  # T, B, I, H
    (100, 1, 64, 64),
    (100, 16, 64, 128),
    (100, 32, 128, 256),
    (100, 64, 256, 256),
    (50, 64, 512, 512),
    (20, 64, 1024, 1024),
    (1024, 1, 1, 64),
)


class Workload(NamedTuple):
    """One cell at one size."""

    cell: str
    T: int
    B: int
    I: int
    H: int

    def __str__(self) -> str:
        return f"{self.cell} {self.T}×{self.B}×{self.I}×{self.H}"

    @property
    def flops(self) -> int:
        """Of one training step; see the module's docstring."""
        return training_flops(Network.create(self.cell, self.I, self.H), self.T, self.B)


class Problem(NamedTuple):
    """A workload's numbers: what every contestant is given, and what it must come back with."""

    network: Network
    x: np.ndarray  # [T,B,I]
    dy: np.ndarray  # [T,B,H]
    wanted: dict[str, np.ndarray]  # y, dx and every gradient, in float64

    @property
    def given(self) -> dict[str, np.ndarray]:
        return {**self.network.parameters, "x": self.x, "dy": self.dy}

    def error(self, results: dict[str, np.ndarray]) -> float:
        """The largest relative error of the results, in units of what is tolerated: above 1 they are wrong.

        What is missing, or is not float32, counts as infinitely wrong.
        """
        tolerance = TOLERANCES[self.network.dtype]
        allowed = {name: tolerance.gradient for name in self.wanted} | {"y": tolerance.forward(len(self.x))}
        right_type = lambda name: name in results and results[name].dtype == self.network.dtype
        return max(
            relative_error(results[name], want) / allowed[name] if right_type(name) else float("inf")
            for name, want in self.wanted.items()
        )


def problem(workload: Workload, seed: int = 0) -> Problem:
    """Weights as PyTorch draws them, inputs and output gradients from the normal distribution, float32."""
    cell, T, B, I, H = workload
    network, rng = Network.create(cell, I, H, seed=seed), np.random.default_rng(seed)
    x, dy = (rng.standard_normal((T, B, size), dtype=np.float32) for size in (I, H))
    exact = network.astype("float64")
    y, _, saved = reference.forward(exact, x.astype("float64"))
    dx, _, gradients = reference.backward(exact, saved, dy.astype("float64"))
    return Problem(network, x, dy, {"y": y, "dx": dx, **gradients})

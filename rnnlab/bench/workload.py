"""What is measured, on the CPU and on a GPU: training steps of a network, and the numbers they must give.

A training step is the forward pass, the gradient of the inputs and the gradients of all parameters.  Its
arithmetic is counted by `rnnlab.network.training_flops`: products only, a multiply and an add are two.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rnnlab import reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.ladder.persistence.numbers import loaded, stored
from rnnlab.network import Network, training_flops

PARTS = ("forward", "backward", "step")  # the backward pass gives the gradient of x and of all parameters
STORED = {"tf32": "float32"}  # how numbers of a precision lie in memory, if not by its name
CELLS = ("rnn_tanh", "gru", "lstm")
SHAPES = (  # T, B, I, H of the CPU's benchmark
    (100, 1, 64, 64),
    (100, 16, 64, 128),
    (100, 32, 128, 256),
    (100, 64, 256, 256),
    (50, 64, 512, 512),
    (20, 64, 1024, 1024),
    (1024, 1, 1, 64),
)


class Workload(NamedTuple):
    """T steps, B sequences, I inputs, H hidden units, L layers of one cell."""

    cell: str
    T: int
    B: int
    I: int
    H: int
    L: int = 1

    def __str__(self) -> str:
        layers = f", {self.L} layers" if self.L > 1 else ""
        return f"{self.cell} {self.T}×{self.B}×{self.I}×{self.H}{layers}"

    def flops(self, part: str = "step") -> int:
        """FLOP of the products: a step has three times those of its forward pass."""
        network = Network.create(self.cell, self.I, self.H, layers=self.L)
        return training_flops(network, self.T, self.B) * {"forward": 1, "backward": 2, "step": 3}[part] // 3


class Wanted(NamedTuple):
    """Results in float64, and what computed them."""

    arrays: dict[str, np.ndarray]  # y [T,B,H], dx [T,B,I] and every gradient
    source: str


class Problem(NamedTuple):
    """Numbers that every contestant of one precision gets, and must come back with."""

    workload: Workload
    precision: str  # float32, tf32, float16, bfloat16
    network: Network  # in float32, rounded to what the precision holds
    x: np.ndarray  # [T,B,I]
    dy: np.ndarray  # [T,B,H]
    wanted: dict[str, np.ndarray]  # y, dx and every gradient, in float64
    reference: str = ""  # what computed them

    @property
    def given(self) -> dict[str, np.ndarray]:
        """Parameters, x and dy by name."""
        return {**self.network.parameters, "x": self.x, "dy": self.dy}

    def error(self, results: dict[str, np.ndarray]) -> float:
        """The largest relative error in units of what is tolerated: above 1 the results are wrong.

        A result that is missing, or is not float32, counts as infinitely wrong.
        """
        tolerance = TOLERANCES[self.precision]
        allowed = {name: tolerance.gradient for name in self.wanted} | {"y": tolerance.forward(len(self.x))}
        right_type = lambda name: name in results and results[name].dtype == self.network.dtype
        return max(
            relative_error(results[name], want) / allowed[name] if right_type(name) else float("inf")
            for name, want in self.wanted.items()
        )


def by_numpy(network: Network, x: np.ndarray, dy: np.ndarray) -> Wanted:
    """The reference by rnnlab.reference; parameters, x [T,B,I] and dy [T,B,H] are taken as float64."""
    exact = network.astype("float64")
    y, _, saved = reference.forward(exact, x.astype("float64"))
    dx, _, gradients = reference.backward(exact, saved, dy.astype("float64"))
    return Wanted({"y": y, "dx": dx, **gradients}, "NumPy in float64")


def problem(
    workload: Workload,
    precision: str = "float32",
    exact: Callable[[Network, np.ndarray, np.ndarray], Wanted] = by_numpy,
) -> Problem:
    """Weights as PyTorch draws them, inputs and output gradients from the normal distribution, rounded.

    exact(network, x, dy) computes the reference.
    """
    return Problem(workload, precision, *_numbers(workload, STORED.get(precision, precision), exact))


@lru_cache(maxsize=4)
def _numbers(workload: Workload, precision: str, exact: Callable, seed: int = 0) -> tuple:
    """Network, x, dy, the reference and what computed it; the same for precisions that round alike."""
    cell, T, B, I, H, L = workload
    network, draw = Network.create(cell, I, H, layers=L, seed=seed), np.random.default_rng(seed)
    parameters = {name: rounded(array, precision) for name, array in network.parameters.items()}
    network = replace(network, parameters=parameters)
    x, dy = (rounded(draw.standard_normal((T, B, size), dtype=np.float32), precision) for size in (I, H))
    return network, x, dy, *exact(network, x, dy)


def rounded(array: np.ndarray, precision: str) -> np.ndarray:
    """The float32 numbers nearest to what the precision holds, ties to even; the GPU rounds to TF32."""
    return array if precision == "float32" else loaded(stored(array, precision), precision)

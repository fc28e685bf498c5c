"""What is measured on a GPU: forward, backward, and both, of a network of several layers."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from rnnlab.bench.gpu import references
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.network import Network, training_flops

PARTS = ("forward", "backward", "step")  # a training step is forward, gradient of x, and weight gradients
STORED = {"tf32": "float32"}  # how numbers of a precision lie in memory, if not by its name


class Workload(NamedTuple):
    """T steps, B sequences, I inputs, H hidden units, L layers."""

    cell: str
    T: int
    B: int
    I: int
    H: int
    L: int

    def __str__(self) -> str:
        return f"{self.cell}, {self.L} layers, H={self.H}, I={self.I}, B={self.B}, T={self.T}"

    def flops(self, part: str) -> int:
        """Of the products: a step has three times those of its forward pass."""
        network = Network.create(self.cell, self.I, self.H, layers=self.L)
        return training_flops(network, self.T, self.B) * {"forward": 1, "backward": 2, "step": 3}[part] // 3


class Problem(NamedTuple):
    """Numbers that every contestant of one precision is given, and must come back with."""

    workload: Workload
    precision: str  # float32, tf32, float16, bfloat16
    network: Network  # in float32, rounded to what the precision holds
    x: np.ndarray  # [T,B,I]
    dy: np.ndarray  # [T,B,H]
    wanted: dict[str, np.ndarray]  # y, dx and every gradient, in float64
    reference: str = ""  # what computed them

    def error(self, results: dict[str, np.ndarray]) -> float:
        """The largest relative error in units of what is tolerated: above 1 the results are wrong."""
        tolerance = TOLERANCES[self.precision]
        allowed = {name: tolerance.gradient for name in self.wanted} | {"y": tolerance.forward(len(self.x))}
        return max(
            relative_error(results[name], want) / allowed[name] if name in results else float("inf")
            for name, want in self.wanted.items()
        )


class Contestant(Protocol):
    """An implementation that runs the problem on the GPU; its module's `build(problem, name)` returns it.

    Two attributes are optional.  own_parts: further parts that it can time alone, as the recurrent kernel
    without the input product ("kernel").  host_seconds(): how long the host issues one step, in seconds.
    """

    bytes: int  # of the GPU's memory, at its highest in a training step
    launches: dict[str, int | None]  # of each part, where they are known

    def seconds(self, part: str, repeats: int) -> float:
        """Of the part, run that often one after another, between two CUDA events; the mean of one."""

    def results(self) -> dict[str, np.ndarray]:
        """y, dx and the gradients that the last training step left."""


def problem(workload: Workload, precision: str) -> Problem:
    """Weights as PyTorch draws them, inputs and output gradients from the normal distribution, rounded."""
    return Problem(workload, precision, *_numbers(workload, STORED.get(precision, precision)))


@lru_cache(maxsize=4)
def _numbers(workload: Workload, precision: str, seed: int = 0) -> tuple:
    """Network, x, dy, what is wanted and what computed it; the same for precisions that round alike."""
    cell, T, B, I, H, L = workload
    network, draw = Network.create(cell, I, H, layers=L, seed=seed), np.random.default_rng(seed)
    network = replace(
        network, parameters={name: rounded(each, precision) for name, each in network.parameters.items()}
    )
    x, dy = (rounded(draw.standard_normal((T, B, size), dtype=np.float32), precision) for size in (I, H))
    return network, x, dy, *references.wanted(network, x, dy)


def rounded(array: np.ndarray, precision: str) -> np.ndarray:
    """The float32 numbers nearest to what the precision can hold."""
    if precision == "float16":
        return array.astype("float16").astype("float32")
    if precision != "bfloat16":
        return array
    bits = array.view("uint32")  # round to nearest, ties to even, on the upper half of the bits
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("uint32").view("float32")

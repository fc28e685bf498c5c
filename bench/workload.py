"""What is measured, on the CPU and on a GPU: training steps of a network, and the numbers they must give.

A training step is the forward pass, the gradient of the inputs and the gradients of all parameters.  Its
arithmetic is counted by `rnnlab.network.forward_flops`: products only, a multiply and an add are two.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rnncourse.records.workload import Workload
from rnnlab import reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.persistence.fragments import loaded, stored
from rnnlab.network import Network

STORED = {"tf32": "float32"}  # how numbers of a dtype lie in memory, if not by its name


class ReferenceResults(NamedTuple):
    """Results in float64, and what computed them."""

    arrays: dict[str, np.ndarray]  # y [T,B,H], dx [T,B,I] and every gradient
    source: str


class Problem(NamedTuple):
    """Numbers that every contestant of one dtype gets, and must come back with."""

    workload: Workload
    dtype: str  # float32, tf32, float16, bfloat16
    network: Network  # in float32, rounded to what the dtype holds
    x: np.ndarray  # [T,B,I]
    dy: np.ndarray  # [T,B,H]
    expected: dict[str, np.ndarray]  # y, dx and every gradient, in float64
    reference: str = ""  # what computed them

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """Parameters, x [T,B,I] and dy [T,B,H] by name."""
        return {**self.network.parameters, "x": self.x, "dy": self.dy}

    def error(self, results: dict[str, np.ndarray], precision: str = "") -> float:
        """The largest relative error in units of what is tolerated: above 1 the results are wrong.

        precision: the narrower numbers into which the contestant rounds, if it does.
        A result that is missing, or is not float32, counts as infinitely wrong.
        """
        tolerance = TOLERANCES[precision or self.dtype]
        gradient = tolerance.gradient_over(len(self.x))  # other programs choose the type of their sums
        allowed = dict.fromkeys(self.expected, gradient) | {"y": tolerance.forward(len(self.x))}

        def right_type(name):
            return name in results and results[name].dtype == self.network.dtype

        return max(
            relative_error(results[name], want) / allowed[name] if right_type(name) else float("inf")
            for name, want in self.expected.items()
        )


def by_numpy(network: Network, x: np.ndarray, dy: np.ndarray) -> ReferenceResults:
    """The reference by rnnlab.reference; parameters, x [T,B,I] and dy [T,B,H] are taken as float64."""
    exact = network.astype("float64")
    y, _, saved = reference.forward(exact, x.astype("float64"))
    dx, _, gradients = reference.backward(exact, saved, dy.astype("float64"))
    return ReferenceResults({"y": y, "dx": dx, **gradients}, "NumPy in float64")


def problem(
    workload: Workload,
    dtype: str = "float32",
    exact: Callable[[Network, np.ndarray, np.ndarray], ReferenceResults] = by_numpy,
) -> Problem:
    """Weights as PyTorch draws them, x [T,B,I] and dy [T,B,H] from the normal distribution, rounded.

    exact(network, x, dy) computes the reference.
    """
    return Problem(workload, dtype, *_numbers(workload, STORED.get(dtype, dtype), exact))


@lru_cache(maxsize=4)
def _numbers(workload: Workload, dtype: str, exact: Callable, seed: int = 0) -> tuple:
    """Network, x, dy, the reference and what computed it; the same for dtypes that round alike."""
    cell, T, B, I, H, L = workload
    network = Network.create(cell, I, H, layers=L, seed=seed)
    draw = np.random.default_rng(seed)
    parameters = {name: rounded(array, dtype) for name, array in network.parameters.items()}
    network = replace(network, parameters=parameters)
    x, dy = (rounded(draw.standard_normal((T, B, size), dtype=np.float32), dtype) for size in (I, H))
    return network, x, dy, *exact(network, x, dy)


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """The float32 numbers nearest to what the dtype holds, ties to even; the GPU rounds to TF32."""
    return array if dtype == "float32" else loaded(stored(array, dtype), dtype)

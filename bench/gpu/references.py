"""The numbers that every contestant must come back with, in float64: by PyTorch on the GPU, else by NumPy.

NumPy needs half a minute for the largest workloads while the GPU is idle.  PyTorch in float64 computes the
same equations on the GPU in a fraction of it.  It is not believed blindly: in each process it is first held
against rnnlab.reference on a small network of the same cell and number of layers.
"""

from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from bench.workload import ReferenceResults, by_numpy
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.network import Network

SMALL = 5, 3, 4, 6  # T, B, I, H of the network on which both are compared


def exact(network: Network, x: np.ndarray, dy: np.ndarray) -> ReferenceResults:
    """Results in float64, by PyTorch on the GPU if it agrees with NumPy there, else by NumPy.

    The network's parameters, x [T,B,I] and dy [T,B,H] are taken as float64; the first state is 0.
    """
    reason = "" if _gpu_has_torch() else "PyTorch sees no GPU"
    try:
        far = 0.0 if reason else _distance(network.cell, min(2, network.layers))
        if not reason and far <= TOLERANCES["float64"].gradient:
            source = f"PyTorch in float64 on the GPU, {far:.0e} from NumPy on a small network"
            return ReferenceResults(by_torch(network, x, dy, "cuda"), source)
        reason = reason or f"PyTorch in float64 is {far:.0e} away from NumPy on a small network"
    except RuntimeError as error:  # no memory, or no cuDNN: the reference then takes longer
        reason = f"PyTorch cannot: {error}".splitlines()[0]
    result = by_numpy(network, x, dy)
    return result._replace(source=f"{result.source} ({reason})")


def by_torch(network: Network, x: np.ndarray, dy: np.ndarray, device: str) -> dict[str, np.ndarray]:
    """y [T,B,H], dx [T,B,I] and every gradient, by PyTorch on the device of that name; see exact."""
    from bench.peers import torch_layers

    return torch_layers.reference(network, x, dy, device)


def _gpu_has_torch() -> bool:
    if not find_spec("torch"):
        return False
    import torch

    return torch.cuda.is_available()


@lru_cache
def _distance(cell: str, layers: int) -> float:
    return distance(cell, layers, "cuda")


def distance(cell: str, layers: int, device: str) -> float:
    """The largest relative error of by_torch against by_numpy on a small network."""
    (T, B, I, H) = SMALL
    draw = np.random.default_rng(0)
    network = Network.create(cell, I, H, layers=layers, seed=0)
    x = draw.standard_normal((T, B, I))
    dy = draw.standard_normal((T, B, H))
    want = by_numpy(network, x, dy).arrays
    got = by_torch(network, x, dy, device)
    return max(relative_error(got[name], want[name]) for name in want)

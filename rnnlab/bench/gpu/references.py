"""The numbers that every contestant must come back with, in float64: by PyTorch on the GPU, else by NumPy.

NumPy needs half a minute for the largest workloads while the GPU is idle.  PyTorch in float64 computes the
same equations on the GPU in a fraction of it.  It is not believed blindly: in each process it is first held
against rnnlab.reference on a small network of the same cell and number of layers.
"""

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from rnnlab.bench.workload import Wanted, by_numpy
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.network import Network

SMALL = 5, 3, 4, 6  # T, B, I, H of the network on which both are compared


def wanted(network: Network, x: np.ndarray, dy: np.ndarray) -> Wanted:
    """For the network's parameters, x [T,B,I] and dy [T,B,H], all taken as float64; the first state is 0."""
    reason = "" if _gpu_has_torch() else "PyTorch sees no GPU"
    try:
        far = 0.0 if reason else _distance(network.cell, min(2, network.layers))
        if not reason and far <= TOLERANCES["float64"].gradient:
            source = f"PyTorch in float64 on the GPU, {far:.0e} from NumPy on a small network"
            return Wanted(by_torch(network, x, dy, "cuda"), source)
        reason = reason or f"PyTorch in float64 is {far:.0e} away from NumPy on a small network"
    except RuntimeError as error:  # no memory, or no cuDNN: the reference then takes longer
        reason = f"PyTorch cannot: {error}".splitlines()[0]
    exact = by_numpy(network, x, dy)
    return exact._replace(source=f"{exact.source} ({reason})")


def by_torch(network: Network, x: np.ndarray, dy: np.ndarray, device: str) -> dict[str, np.ndarray]:
    """See wanted; on PyTorch's device of that name."""
    import torch

    module = torch_module(network.cell, network.input_size, network.hidden_size, network.layers)
    module = module.to(device, torch.float64)
    with torch.no_grad():
        for name, values in network.parameters.items():
            getattr(module, name).copy_(torch.from_numpy(values.astype("float64")))
    inputs = torch.from_numpy(x.astype("float64")).to(device).requires_grad_()
    y, _ = module(inputs)
    y.backward(torch.from_numpy(dy.astype("float64")).to(device))
    tensors = {"y": y, "dx": inputs.grad}
    tensors |= {name: parameter.grad for name, parameter in module.named_parameters()}
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def torch_module(cell: str, inputs: int, hidden: int, layers: int) -> Any:
    """torch.nn.RNN, GRU or LSTM for one of our cells; a GRU resets after its product there."""
    import torch

    kind, *nonlinearity = cell.split("_")
    options = {"nonlinearity": nonlinearity[0]} if nonlinearity else {}
    return getattr(torch.nn, kind.upper())(inputs, hidden, num_layers=layers, **options)


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
    (T, B, I, H), draw = SMALL, np.random.default_rng(0)
    network = Network.create(cell, I, H, layers=layers, seed=0)
    x, dy = draw.standard_normal((T, B, I)), draw.standard_normal((T, B, H))
    exact, got = by_numpy(network, x, dy).arrays, by_torch(network, x, dy, device)
    return max(relative_error(got[name], exact[name]) for name in exact)

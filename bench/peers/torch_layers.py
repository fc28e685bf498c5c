"""PyTorch's RNN, GRU and LSTM with our weights: peer on the CPU, contestant and reference on the GPU."""

import os
from collections.abc import Callable

import numpy as np
import torch

from bench.workload import Problem
from rnnlab.network import Network


def module_of(network: Network, device: str = "cpu", dtype: str = "float32") -> torch.nn.RNNBase:
    """A module of PyTorch's with the network's weights; its GRU resets after the product."""
    kind, *nonlinearity = network.cell.split("_")
    options = {"nonlinearity": nonlinearity[0]} if nonlinearity else {}
    sizes = network.input_size, network.hidden_size
    module = getattr(torch.nn, kind.upper())(*sizes, num_layers=network.layers, **options)
    module = module.to(device, getattr(torch, dtype))
    module.load_state_dict({name: torch.from_numpy(np.array(p)) for name, p in network.parameters.items()})
    return module


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays on the CPU, see bench.peers; a name may end with the numbers in which it computes.

    pytorch_autocast keeps weights in float32, and lets PyTorch choose what it computes in bfloat16.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    ending = name.partition("_")[2]
    is_mixed = ending == "autocast"
    dtype = "float32" if is_mixed else ending or "float32"
    layer = module_of(network, dtype=dtype)
    x = torch.from_numpy(x).to(getattr(torch, dtype)).requires_grad_()
    dy = torch.from_numpy(dy).to(x.dtype)
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
            y, _ = layer(x)
        return y.detach(), torch.autograd.grad(y, (x, *parameters), dy.to(y.dtype))

    def arrays(outcome):
        y, gradients = outcome
        return dict(zip(("y", "dx", *names), (t.float().numpy() for t in (y, *gradients)), strict=True))

    return step, arrays


def reference(network: Network, x: np.ndarray, dy: np.ndarray, device: str) -> dict[str, np.ndarray]:
    """y [T,B,H], dx [T,B,I] and every gradient in float64; parameters, x and dy are taken as float64."""

    def tensor(array):
        return torch.from_numpy(array.astype("float64")).to(device)

    module = module_of(network, device, "float64")
    inputs = tensor(x).requires_grad_()
    y, _ = module(inputs)
    y.backward(tensor(dy))
    return {name: values.double().numpy() for name, values in _results(module, inputs, y).items()}


class Layers:
    """The problem on the GPU.  PyTorch chooses cuDNN's algorithm by itself."""

    launches = dict.fromkeys(("forward", "backward", "step"))  # PyTorch does not count them

    def __init__(self, problem: Problem, name: str):
        before = torch.cuda.memory_allocated()
        self.tf32 = problem.dtype == "tf32"
        dtype = "float32" if self.tf32 else problem.dtype
        self._choose_dtype()
        self.module = module_of(problem.network, "cuda", dtype)
        self.module.flatten_parameters()

        def tensor(array):
            return torch.from_numpy(np.array(array)).to("cuda", getattr(torch, dtype))

        self.x = tensor(problem.x).requires_grad_()
        self.dy = tensor(problem.dy)
        self._step()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._step()
        torch.cuda.synchronize()
        self.bytes = torch.cuda.max_memory_allocated() - before

    def seconds(self, part: str, repeats: int) -> float:
        """See gpu.contestant.Contestant; before a backward pass stands a forward pass that is not timed."""
        event = lambda: torch.cuda.Event(enable_timing=True)
        self._choose_dtype()
        spans = []
        for _ in range(repeats):
            self._forget()
            if part == "backward":
                self.y, _ = self.module(self.x)
            spans.append((event(), event()))
            spans[-1][0].record()
            if part != "backward":
                self.y, _ = self.module(self.x)
            if part != "forward":
                self.y.backward(self.dy)
            spans[-1][1].record()
        torch.cuda.synchronize()
        return 1e-3 * sum(start.elapsed_time(end) for start, end in spans) / repeats

    def results(self) -> dict[str, np.ndarray]:
        """See gpu.contestant.Contestant."""
        results = _results(self.module, self.x, self.y)
        return {name: values.float().numpy() for name, values in results.items()}

    def _step(self) -> None:
        self._forget()
        self.y, _ = self.module(self.x)
        self.y.backward(self.dy)

    def _forget(self) -> None:
        self.x.grad = None
        self.module.zero_grad(set_to_none=True)

    def _choose_dtype(self) -> None:
        """TF32 is a switch of the whole process: it is set before each turn."""
        torch.backends.cudnn.allow_tf32 = self.tf32
        torch.backends.cuda.matmul.allow_tf32 = self.tf32


contestant = Layers


def _results(module: torch.nn.RNNBase, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
    """y, dx and the gradients of all parameters, on the host."""
    tensors = {"y": y, "dx": x.grad}
    tensors |= {name: parameter.grad for name, parameter in module.named_parameters()}
    return {name: tensor.detach().cpu() for name, tensor in tensors.items()}

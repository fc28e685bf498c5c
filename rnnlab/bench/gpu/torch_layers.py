"""torch.nn.RNN, GRU and LSTM on the GPU: PyTorch's way to cuDNN, which chooses its algorithm by itself."""

import numpy as np

from rnnlab.bench.gpu.references import torch_module
from rnnlab.bench.workload import Problem


class Layers:
    """A module of PyTorch's with the problem's weights."""

    launches = dict.fromkeys(("forward", "backward", "step"))  # it does not tell

    def __init__(self, asked: Problem, name: str):
        import torch

        self.torch, self.tf32 = torch, asked.precision == "tf32"
        cell, _, _, I, H, L = asked.workload
        dtype = getattr(torch, "float32" if self.tf32 else asked.precision)
        self._choose_precision()
        self.module = torch_module(cell, I, H, L)
        with torch.no_grad():
            for parameter, values in asked.network.parameters.items():
                getattr(self.module, parameter).copy_(torch.from_numpy(np.array(values)))
        self.module.to("cuda", dtype).flatten_parameters()
        self.x, self.dy = (torch.from_numpy(np.array(each)).to("cuda", dtype) for each in (asked.x, asked.dy))
        self.x.requires_grad_()
        self._both()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._both()
        torch.cuda.synchronize()
        self.bytes = torch.cuda.max_memory_allocated()

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant; before a backward pass stands a forward pass that is not timed."""
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        self._choose_precision()
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
        self.torch.cuda.synchronize()
        return 1e-3 * sum(start.elapsed_time(end) for start, end in spans) / repeats

    def results(self) -> dict[str, np.ndarray]:
        """See contestant.Contestant."""
        found = {"y": self.y, "dx": self.x.grad}
        found |= {name: parameter.grad for name, parameter in self.module.named_parameters()}
        return {name: each.detach().float().cpu().numpy() for name, each in found.items()}

    def _both(self) -> None:
        self._forget()
        self.y, _ = self.module(self.x)
        self.y.backward(self.dy)

    def _forget(self) -> None:
        self.x.grad = None
        self.module.zero_grad(set_to_none=True)

    def _choose_precision(self) -> None:
        """A switch of the whole process: it is set before each turn."""
        self.torch.backends.cudnn.allow_tf32 = self.tf32
        self.torch.backends.cuda.matmul.allow_tf32 = self.tf32


contestant = Layers

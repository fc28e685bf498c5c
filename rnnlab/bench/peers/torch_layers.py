"""PyTorch: nn.RNN, nn.GRU, nn.LSTM and its automatic gradients."""

import os
from collections.abc import Callable

import numpy as np
import torch

from rnnlab.network import Network

LAYERS = {
    "rnn_tanh": lambda I, H: torch.nn.RNN(I, H, nonlinearity="tanh"),
    "rnn_relu": lambda I, H: torch.nn.RNN(I, H, nonlinearity="relu"),
    "gru": torch.nn.GRU,
    "lstm": torch.nn.LSTM,
}


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays, see rnnlab.bench.peers."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    layer = LAYERS[network.cell](network.input_size, network.hidden_size)
    layer.load_state_dict({key: torch.from_numpy(p) for key, p in network.parameters.items()})
    x, dy = torch.from_numpy(x).requires_grad_(), torch.from_numpy(dy)
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def step():
        y, _ = layer(x)
        return y.detach(), torch.autograd.grad(y, (x, *parameters), dy)

    def arrays(outcome):
        y, gradients = outcome
        return dict(zip(("y", "dx", *names), (t.numpy() for t in (y, *gradients)), strict=True))

    return step, arrays

"""A rung of our own ladder, asked like any other peer."""

from collections.abc import Callable

import numpy as np

from rnnlab.ladder import find
from rnnlab.network import Network


def refuses(name: str, network: Network, T: int, B: int) -> str | None:
    """Why this rung cannot run that; None if it can."""
    return find(name).refuses(network, T, B)


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays (see bench.peers) of the rung of that name."""
    rung = find(name).module
    state = network.zero_state(x.shape[1])

    def step():
        y, _, saved = rung.forward(network, x, state)
        dx, _, gradients = rung.backward(network, saved, dy, None)
        return y, dx, gradients

    return step, lambda outcome: {"y": outcome[0], "dx": outcome[1], **outcome[2]}

"""Halide: the same network, its order of work written apart from what is computed; our own schedule."""

import functools
from collections.abc import Callable

import numpy as np

from bench.halide import equations
from bench.halide.network import Halide
from rnnlab.ladder.properties import only_reset_after
from rnnlab.network import Network

_compiled = functools.cache(Halide)


def refuses(name: str, network: Network, T: int, B: int) -> str | None:
    """Why Halide's kernels cannot run that; None if they can."""
    if network.cell not in equations.CELLS:
        return f"{name} runs {', '.join(equations.CELLS)}, not {network.cell}"
    return only_reset_after(network, T, B)


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays, see bench.peers."""
    halide = _compiled(network.cell, network.dtype)
    state = network.zero_state(x.shape[1])

    def step():
        y, _, saved = halide.forward(network, x, state)
        dx, _, gradients = halide.backward(network, saved, dy)
        return y, dx, gradients

    return step, lambda outcome: {"y": outcome[0], "dx": outcome[1], **outcome[2]}

"""Execution of a schedule by NumPy or on the machine's GPU: gradients, and a live time that is not scored."""

import time
from typing import NamedTuple

import numpy as np

from rnncourse.capstone.launches import Problem
from rnnlab.ladder.plan_rung import executed
from rnnlab.network import Network, check_gradients, check_input, merged_bias
from rnnlab.schedule.plan import Plan

Arrays = dict[str, np.ndarray]


class TrainingResult(NamedTuple):
    """Results of a training pass under PyTorch's names; seconds of the execution on this machine."""

    y: np.ndarray  # [T,B,H]
    dx: np.ndarray  # [T,B,H]
    gradients: Arrays
    seconds: float


def run_plan(plan: Plan, network: Network, x: np.ndarray, dy: np.ndarray) -> TrainingResult:
    """Result of the plan of a schedule, for x [T,B,H] and the loss gradient dy [T,B,H]; see `arrays_of`."""
    arrays = arrays_of(network, x, dy)
    start = time.perf_counter()
    arrays = executed(plan, network.dtype, arrays)
    seconds = time.perf_counter() - start
    return results(arrays, network, x.shape, seconds)


def arrays_of(network: Network, x: np.ndarray, dy: np.ndarray) -> Arrays:
    """Buffers that a plan reads before it writes them: parameters, x and dy [T,B,H], gradients of zero.

    Raises ValueError unless the network is a plain RNN of tanh whose input is as wide as its layers.
    """
    H = network.hidden_size
    if network.cell != "rnn_tanh" or network.input_size != H:
        sizes = f"{network.input_size} inputs and {H} units"
        raise ValueError(
            f"the network is {network.cell} with {sizes}; a schedule needs rnn_tanh, both sizes equal"
        )
    check_input(network, x)
    check_gradients(network, *x.shape[:2], dy)
    arrays = {"x": x.reshape(-1, H), "dy": dy.reshape(-1, H).copy()}
    for l in range(network.layers):
        layer = network.layer(l)
        bias = merged_bias(network, layer)[None]
        for name, array in (("W", layer.weight_ih), ("U", layer.weight_hh), ("b", bias)):
            arrays[f"{name}_l{l}"] = array
            arrays[f"d{name}_l{l}"] = np.zeros_like(array)
    return arrays


def results(arrays: Arrays, network: Network, shape: tuple, seconds: float = 0.0) -> TrainingResult:
    """The result, y [T,B,H] and the gradients, that a plan left in its buffers; shape: T, B, H."""
    gradients = {}
    for l in range(network.layers):
        bias = arrays[f"db_l{l}"][0]
        gradients[f"weight_ih_l{l}"] = arrays[f"dW_l{l}"]
        gradients[f"weight_hh_l{l}"] = arrays[f"dU_l{l}"]
        gradients[f"bias_ih_l{l}"] = bias
        gradients[f"bias_hh_l{l}"] = bias
    y = arrays["y"].reshape(shape)
    dx = arrays["dy"].reshape(shape)
    return TrainingResult(y, dx, gradients, seconds)


def problem_of(network: Network, x: np.ndarray, memory: int) -> Problem:
    """The problem of training this network on x [T,B,H]."""
    T, B, _ = x.shape
    return Problem(network.layers, T, B, network.hidden_size, memory)

"""Rungs of our ladder on this epoch: the hidden layer is theirs, the output layer stands beside it in NumPy.

A rung's contract requires more than the epoch needs: the gradient of x, a ninth product where the others do
eight, and biases, here zero.
"""

from collections.abc import Callable

import numpy as np

from bench.cmu.numpy_contestants import output_layer
from bench.cmu.problem import EpochAnswer, Problem, descended
from rnnlab.ladder import find
from rnnlab.network import Network


def of_rung(problem: Problem, name: str) -> Callable[[], EpochAnswer]:
    """The epoch with that rung of the ladder."""
    rung = find(name).module
    (_, B, units) = problem.x.shape
    zeros = np.zeros(units, problem.x.dtype)
    weights = {"weight_ih_l0": problem.w_xh.T.copy(), "weight_hh_l0": problem.w_hh.T.copy()}
    network = Network("rnn_tanh", units, units, weights | {"bias_ih_l0": zeros, "bias_hh_l0": zeros})
    state = network.zero_state(B)
    rows = lambda array: array.reshape(-1, units)

    def epoch() -> EpochAnswer:
        y, _, saved = rung.forward(network, problem.x, state)
        loss, d_out = output_layer(rows(y), problem.w_hy, rows(problem.target))
        _, _, of = rung.backward(network, saved, (d_out @ problem.w_hy.T).reshape(y.shape), state)
        d_xh = of["weight_ih_l0"].T
        d_hh = of["weight_hh_l0"].T
        return descended(problem, loss, d_xh, d_hh, rows(y).T @ d_out)

    return epoch

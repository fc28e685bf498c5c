"""The epoch in PyTensor: a scan, its gradients by PyTensor's own rules, compiled once."""

from collections.abc import Callable

import pytensor
import pytensor.tensor as pt

from bench.cmu.problem import EpochAnswer, Problem


def epoch(problem: Problem) -> Callable[[], EpochAnswer]:
    """The epoch as one compiled function."""
    x = pt.ftensor3("x")
    target = pt.ftensor3("target")
    weights = [pt.fmatrix(name) for name in ("w_xh", "w_hh", "w_hy")]
    w_xh, w_hh, w_hy = weights
    T, B, units = problem.x.shape
    gates_x = pt.dot(x.reshape((T * B, units)), w_xh).reshape((T, B, units))
    h = pytensor.scan(
        lambda gate_x, h, w: pt.tanh(gate_x + pt.dot(h, w)),
        [gates_x],
        [pt.zeros((B, units), dtype="float32")],
        non_sequences=[w_hh],
        strict=True,
        return_updates=False,
    )
    y = pt.tanh(pt.dot(h.reshape((T * B, units)), w_hy)).reshape((T, B, units))
    loss = ((y - target) ** 2).sum()
    gradients = pytensor.grad(loss, weights)
    rate = pt.constant(problem.rate, dtype="float32")
    moved = [w - rate * d for w, d in zip(weights, gradients, strict=True)]
    compiled = pytensor.function([x, target, *weights], [loss, *gradients, *moved])
    return lambda: _answer(compiled(*problem))


def _answer(values: list) -> EpochAnswer:
    return EpochAnswer(float(values[0]), *values[1:])

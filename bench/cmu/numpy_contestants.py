"""The epoch in NumPy: as the project wrote it, and with the products of all steps at once."""

from collections.abc import Callable

import numpy as np

from bench.cmu.problem import EpochAnswer, Problem, descended, summed_error


def step_by_step(problem: Problem) -> Callable[[], EpochAnswer]:
    """The project's way: W x, the output and all three weight gradients are products of every single step."""
    T, B, units = problem.x.shape

    def epoch() -> EpochAnswer:
        w_xh, w_hh, w_hy = problem[2:]
        no_step = np.zeros((1, B, units), problem.x.dtype)  # they count steps from 1, and pad with zeros
        x, target = (np.append(no_step, array, axis=0) for array in (problem.x, problem.target))
        h, y = (np.zeros((T + 1, B, units), x.dtype) for _ in range(2))
        for t in range(1, T + 1):
            h[t] = np.tanh(np.dot(x[t], w_xh) + np.dot(h[t - 1], w_hh))
            y[t] = np.tanh(np.dot(h[t], w_hy))
        d_xh, d_hh, d_hy = (np.zeros_like(w) for w in (w_xh, w_hh, w_hy))
        d_out = 2 * (y - target) * (1 - y**2)
        d_hidden = np.zeros((B, units), x.dtype)
        for t in range(T, 0, -1):
            d_hidden = (np.dot(d_out[t], w_hy.T) + np.dot(d_hidden, w_hh.T)) * (1 - h[t] ** 2)
            d_hy += np.dot(h[t].T, d_out[t])
            d_hh += np.dot(h[t - 1].T, d_hidden)
            d_xh += np.dot(x[t].T, d_hidden)
        return descended(problem, np.sum((y - target) ** 2), d_xh, d_hh, d_hy)

    return epoch


def batched(problem: Problem) -> Callable[[], EpochAnswer]:
    """Five of the eight products leave the time loop; the others write where their result is wanted."""
    T, B, units = problem.x.shape
    rows = lambda array: array.reshape(-1, units)

    def epoch() -> EpochAnswer:
        x, target, w_xh, w_hh, w_hy = problem
        h = np.zeros((T + 1, B, units), x.dtype)
        product = np.empty((B, units), x.dtype)
        np.matmul(rows(x), w_xh, out=rows(h[1:]))
        for t in range(T):
            np.matmul(h[t], w_hh, out=product)
            h[t + 1] += product
            np.tanh(h[t + 1], out=h[t + 1])
        loss, d_out = output_layer(rows(h[1:]), w_hy, rows(target))
        d_hidden = (d_out @ w_hy.T).reshape(T, B, units)
        for t in reversed(range(T)):
            if t + 1 < T:
                np.matmul(d_hidden[t + 1], w_hh.T, out=product)
                d_hidden[t] += product
            np.multiply(h[t + 1], h[t + 1], out=product)
            d_hidden[t] *= np.subtract(1, product, out=product)
        d_xh, d_hh = (rows(read).T @ rows(d_hidden) for read in (x, h[:-1]))
        return descended(problem, loss, d_xh, d_hh, rows(h[1:]).T @ d_out)

    return epoch


def output_layer(h: np.ndarray, w_hy: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """The summed squared error of tanh(h w_hy), and its gradient before the tanh [T·B,units]."""
    y = h @ w_hy
    np.tanh(y, out=y)
    d_out = y - target
    loss = summed_error(d_out)
    np.multiply(y, y, out=y)
    d_out *= np.subtract(1, y, out=y)
    d_out *= 2
    return loss, d_out


def exact(problem: Problem) -> EpochAnswer:
    """The EpochAnswer in float64."""
    return batched(Problem(*(array.astype("float64") for array in problem)))()

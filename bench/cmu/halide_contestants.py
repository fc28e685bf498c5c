"""The epoch in Halide: the project's kernels under its eight schedules, and our own schedule.

Theirs are called for every step from a loop outside Halide, as in the project, and compiled ahead of time as
in its last version.  What that version spent on copying each step's result into one large array is not
repeated here: steps are written where they belong.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.cmu.ahead_of_time import Run, ahead_of_time
from bench.cmu.problem import EpochAnswer, Problem, descended, summed_error
from bench.halide import equations, published
from bench.halide.equations import Kernel
from bench.halide.kernels import OURS, Kernels, Pipeline
from bench.halide.layers import BLOCK


def theirs(problem: Problem, schedule: str) -> Callable[[], EpochAnswer]:
    """The project's program under one of its schedules; a linker makes it a library, where there is one."""
    run = _kernels(schedule)
    T, B, units = problem.x.shape

    def epoch() -> EpochAnswer:
        x, target, *weights = problem
        w_xh, w_hh, w_hy = weights
        h, y, d_out, d_hidden = (np.zeros((T + 1, B, units), "float32") for _ in range(4))
        for t in range(T):
            run["hidden"](x[t], w_xh, h[t], w_hh, h[t + 1])
            run["output"](h[t + 1], w_hy, y[t])
        gradients = [[np.zeros_like(w), np.empty_like(w)] for w in weights]  # so far, and with one step more
        for t in reversed(range(T)):
            run["d_output"](y[t], target[t], d_out[t])
            run["d_hidden"](d_out[t], w_hy, d_hidden[t + 1], w_hh, h[t + 1], d_hidden[t])
            for pair, read, d in zip(gradients, (x, h, h[1:]), (d_hidden, d_hidden, d_out), strict=True):
                run["gradient"](pair[0], read[t], d[t], pair[1])
                pair.reverse()
        loss = summed_error((y[:T] - target).reshape(-1, units))
        return descended(problem, loss, *(pair[0] for pair in gradients))

    return epoch


def _kernels(schedule: str) -> dict[str, Run]:
    import halide as hl

    pipelines = {name: define(hl, schedule) for name, define in KERNELS.items()}
    with tempfile.TemporaryDirectory() as folder:  # an open library needs its file no more
        return ahead_of_time(pipelines, Path(folder) / f"{schedule}.so")


def _scheduled(hl, schedule: str, arrays: list, value: Callable) -> Pipeline:
    """The Func whose element (n, m) is value(n, m)."""
    n = hl.Var("n")
    m = hl.Var("m")
    out = hl.Func("out")
    out[n, m] = value(n, m)
    published.schedule(hl, out, n, m, schedule)
    return Pipeline(out, arrays)


def _arrays(hl, count: int) -> tuple[list, Callable]:
    """ImageParams of two dimensions, and a reduction over as many k as the first has columns."""
    arrays = [hl.ImageParam(hl.Float(32), 2, f"a{number}") for number in range(count)]
    return arrays, hl.RDom([(0, arrays[0].dim(0).extent())], "k").x


def _hidden(hl, schedule: str) -> Pipeline:
    arrays, k = _arrays(hl, 4)
    x, w_xh, h, w_hh = arrays

    def value(n, m):
        return hl.tanh(hl.sum(x[k, m] * w_xh[n, k]) + hl.sum(h[k, m] * w_hh[n, k]))

    return _scheduled(hl, schedule, arrays, value)


def _output(hl, schedule: str) -> Pipeline:
    arrays, k = _arrays(hl, 2)
    h, w_hy = arrays
    return _scheduled(hl, schedule, arrays, lambda n, m: hl.tanh(hl.sum(h[k, m] * w_hy[n, k])))


def _d_output(hl, schedule: str) -> Pipeline:
    arrays, _ = _arrays(hl, 2)
    y, target = arrays

    def value(n, m):
        return 2 * (y[n, m] - target[n, m]) * (1 - y[n, m] * y[n, m])

    return _scheduled(hl, schedule, arrays, value)


def _d_hidden(hl, schedule: str) -> Pipeline:
    arrays, k = _arrays(hl, 5)
    d_out, w_hy, later, w_hh, h = arrays

    def sums(n, m):
        return hl.sum(d_out[k, m] * w_hy[k, n]) + hl.sum(later[k, m] * w_hh[k, n])

    return _scheduled(hl, schedule, arrays, lambda n, m: sums(n, m) * (1 - h[n, m] * h[n, m]))


def _gradient(hl, schedule: str) -> Pipeline:
    arrays, _ = _arrays(hl, 3)
    before, read, d = arrays
    k = hl.RDom([(0, read.dim(1).extent())], "k").x
    return _scheduled(hl, schedule, arrays, lambda n, m: before[n, m] + hl.sum(read[m, k] * d[n, k]))


KERNELS = {
    "hidden": _hidden,
    "output": _output,
    "d_output": _d_output,
    "d_hidden": _d_hidden,
    "gradient": _gradient,
}


def _tanh_and_gradient(functions, sums, extras):
    """y's gradient before its tanh; and y − target, for the error."""
    y = functions.tanh(sums[0])
    difference = y - extras["target"]
    return [2 * difference * (1 - y * y), difference]


def ours(problem: Problem) -> Callable[[], EpochAnswer]:
    """Our schedule: five of the eight products once for all steps, tanh and its gradient where sums end.

    The four large arrays are made once: each, new from the system, costs 10,000 page faults an epoch.
    """
    shared = {name: equations.SHARED[name] for name in ("plain", "more")}
    output = {"output": Kernel(_tanh_and_gradient, ("target",), outputs=2)}
    kernels = Kernels(equations.CELLS["rnn_tanh"] | shared | output, OURS, "float32")
    T, B, units = problem.x.shape
    h = np.zeros((T + 1, B, units), "float32")
    product, d_out, d_hidden = np.zeros((3, T, B, units), "float32")
    rows = lambda array: array.reshape(-1, units)

    def epoch() -> EpochAnswer:
        x, target, w_xh, w_hh, w_hy = problem
        _forward(kernels, x, w_xh, w_hh, h, product)
        written = rows(d_out), rows(product)  # the error of each pixel, where x w_xh has been used up
        kernels.multiply("output", rows(h[1:]), kernels.operand(w_hy), rows(target), *written)
        loss = summed_error(rows(product))
        kernels.multiply("plain", rows(d_out), kernels.operand(w_hy.T), rows(product))
        packed = kernels.operand(w_hh.T)
        later = np.empty((B, 0), "float32")  # nothing comes after the end
        for t in reversed(range(T)):
            kernels.multiply("back", later, packed, product[t], h[t + 1], d_hidden[t])
            later = d_hidden[t]
        read = rows(x), rows(h[:-1]), rows(h[1:])
        gradients = _weight_gradients(kernels, read, rows(d_hidden), rows(d_out))
        return descended(problem, loss, *gradients)

    return epoch


def _forward(kernels: Kernels, x, w_xh, w_hh, h, product) -> None:
    """Hidden states h [T+1,B,units] after the first; x w_xh of all steps is put into `product` first."""
    units = x.shape[2]
    packed = kernels.operand(w_hh)
    flat = product.reshape(-1, units)
    kernels.multiply("plain", x.reshape(-1, units), kernels.operand(w_xh), flat)
    for t in range(len(x)):
        kernels.multiply("step", h[t], packed, product[t], h[t + 1])


def _weight_gradients(kernels: Kernels, read: tuple, d_hidden, d_out) -> list[np.ndarray]:
    """Gradients of w_xh, w_hh and w_hy, block of rows by block of rows, from inputs and gradients."""
    units = d_out.shape[1]
    pairs = [[np.zeros((units, units), d_out.dtype) for _ in range(2)] for _ in read]
    for start in range(0, len(d_out), BLOCK):
        block = slice(start, start + BLOCK)
        of_hidden, of_out = (kernels.operand(d[block]) for d in (d_hidden, d_out))
        for pair, rows, d in zip(pairs, read, (of_hidden, of_hidden, of_out), strict=True):
            kernels.multiply("more", kernels.rows(rows[block].T), d, *pair)
            pair.reverse()
    return [pair[0] for pair in pairs]

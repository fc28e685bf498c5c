"""The ceiling: nothing but products, through NumPy's BLAS.  No contestant, since it computes no network.

gemm_large is one product of LARGE × LARGE matrices; gemm_step is every product of the training step, and
nothing between them.
"""

from collections.abc import Callable

import numpy as np

from rnnlab.network import Network

LARGE = 1024  # rows and columns
LARGE_FLOPS = 2 * LARGE**3


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays (see bench.peers); there is nothing to compare."""
    step = _large() if name == "gemm_large" else _of_step(network, x, dy)
    return step, lambda outcome: {}


def _large() -> Callable[[], object]:
    a, b = (np.random.default_rng(k).random((LARGE, LARGE), "float32") for k in (1, 2))
    product = np.empty_like(a)
    return lambda: np.matmul(a, b, out=product)


def _of_step(network: Network, x: np.ndarray, dy: np.ndarray) -> Callable[[], object]:
    weight_ih, weight_hh, *_ = network.layer(0)

    def rows(array):
        return array.reshape(len(x) * x.shape[1], array.shape[-1])

    room = lambda weight: np.ones((*x.shape[:2], len(weight)), x.dtype)  # for gates and their gradients
    gates_x = room(weight_ih)
    gates_h = room(weight_hh)
    steps = len(x) if len(weight_hh) else 0  # the state of min_gru has no weights

    def step():
        rows(x) @ weight_ih.T
        for h in dy[:steps]:  # any numbers of the shape of h
            h @ weight_hh.T
        for dgates in gates_h[:steps]:
            dgates @ weight_hh
        return rows(gates_x).T @ rows(x), rows(gates_h).T @ rows(dy), rows(gates_x) @ weight_ih

    return step

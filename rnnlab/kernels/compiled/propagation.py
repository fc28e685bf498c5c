"""A network, layer by layer, with compiled recurrences: forward and backward of both compiled rungs.

Products that do not wait for a step are BLAS's, over all steps at once, split into as many shares as there
are threads; so is the minibatch, each share with a loop over time of its own.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  see threads.COMPILED

from rnnlab.cells import State
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.compiled import recurrence
from rnnlab.kernels.compiled.one_step import one_step
from rnnlab.kernels.compiled.threads import shares, together
from rnnlab.layers import backward_through_layers, forward_through_layers, history, rows
from rnnlab.network import Network, check_cell, check_shapes, merged_bias, step_vectors

LEAST_WORK = 2e5  # FLOP below which a share is not worth another thread's start, about 30 µs
LARGE_PRODUCT = 2e6  # FLOP of a step's product above which BLAS's own threads gain more than leaving Python
FEW_ROWS = 16  # rows of a product below which transposing its weights first costs more than it saves


class CompiledSaved(NamedTuple):
    """What a layer saves for its gradient."""

    x: np.ndarray  # [T,B,I]
    h: np.ndarray  # [T+1,B,H]
    gates: np.ndarray  # [T,B,G·H]; h of a plain RNN, whose gate it is
    c: np.ndarray  # [T+1,B,H]; h of a cell without it
    saved: np.ndarray  # [T,B,H], what a gradient needs beside them; h if it needs nothing


def forward(network: Network, x: np.ndarray, state: State | None, threads: int):
    """y [T,B,H] (read-only), the final state, and what each layer saved, on so many threads."""
    run = partial(_layer_forward, network, threads)
    y, state, saved = forward_through_layers(network, x, state, run)
    y.flags.writeable = False  # y is a view of what backward needs: writing to it must not go unseen
    return y, state, saved


def backward(
    network: Network, saved: list[CompiledSaved], dy: np.ndarray, dstate: State | None, threads: int
):
    """dx [T,B,I], dstate, gradients, on so many threads."""
    run = partial(_layer_backward, network, threads)
    return backward_through_layers(network, saved, saved[0].x.shape[:2], dy, dstate, run)


def write_step(network: Network, x: np.ndarray, state: State, final: State) -> bool:
    """Write the state after one step to `final`, each [L,B,H]; False if x or the state is not finite.

    Also if a parameter that has taken another's place does not fit.
    """
    step, finish = one_step(network.cell)
    states = state[0], state[-1], final[0], final[-1]
    for index in range(network.layers):
        weight_ih, weight_hh, bias_ih, bias_hh, *vectors = map(np.ascontiguousarray, network.layer(index))
        of_units = bias_ih, bias_hh, np.concatenate(vectors) if vectors else bias_ih  # any array for none
        if not _is_large(len(x), weight_hh.size):
            if not step(x, weight_ih, weight_hh, *of_units, index, *states):
                return False
        else:
            check_shapes(network)
            h, c, *_ = own = [part[index : index + 1] for part in states]  # of a cell without c: h once more
            if not all(np.isfinite(part).all() for part in (x, h, c)):
                return False
            gates = (x @ weight_ih.T)[None], h[0] @ weight_hh.T  # by all threads of BLAS
            finish(*gates, *of_units, *own)
        x = final[0][index]
    return True


def _layer_forward(network: Network, threads: int, index: int, x: np.ndarray, state: State):
    """y [T,B,H], the state after the last step, and what is saved, of one layer."""
    check_cell(network, KERNEL_PROPERTIES)
    properties = KERNEL_PROPERTIES[network.cell]
    layer = network.layer(index)
    x = np.ascontiguousarray(x)
    T, B, _ = x.shape
    H = network.hidden_size
    h = history(T, state[0])
    c = history(T, state[1]) if properties.has_c else h
    reserve = np.empty((T, B, H), h.dtype) if properties.saves else h
    gates = np.empty((T, B, network.gates * H), x.dtype)
    weight_ih = layer.weight_ih.T if T * B < FEW_ROWS else np.ascontiguousarray(layer.weight_ih.T)
    _products(rows(x), weight_ih, rows(gates), threads)
    by_rows = B == 1
    weights = np.ascontiguousarray(layer.weight_hh if by_rows else layer.weight_hh.T)
    bias = merged_bias(network, layer)
    loops = _loops(network, B, threads)
    vectors = np.ravel(step_vectors(network, layer))
    loop = partial(loops.forward, gates, weights, bias, vectors, h, c, reserve)
    parts = _batch_shares(T, B, layer.weight_hh.size, threads)
    together([partial(loop, *share, by_rows) for share in parts])
    saved = CompiledSaved(x, h, h if properties.gate_is_h else gates, c, reserve)
    return h[1:], (h[-1], c[-1])[: 1 + properties.has_c], saved


def _layer_backward(
    network: Network, threads: int, index: int, saved: CompiledSaved, dy: np.ndarray, dstate: State
):
    """dx [T,B,I], dstate before the first step, and the gradients, of one layer."""
    dy = np.ascontiguousarray(dy)
    dstate = tuple(map(np.array, dstate))  # changed in place
    layer = network.layer(index)
    weights = np.ascontiguousarray(layer.weight_hh)
    (T, B, I) = saved.x.shape
    H = network.hidden_size
    dgates = np.empty((T, B, network.gates * H), dy.dtype)
    parts = _batch_shares(T, B, layer.weight_hh.size, threads)
    db = np.zeros((len(parts), network.gates * H), dy.dtype)
    own = network.properties.vectors
    vectors = np.ravel(step_vectors(network, layer)) if own else db[0]  # any array where none is read
    dvectors = np.zeros((len(parts), len(own) * H), dy.dtype)
    dgates_h = dgates
    db_h = db
    if network.properties.inner_bias:
        dgates_h = np.empty_like(dgates)
        db_h = np.zeros_like(db)
    loop = partial(
        _loops(network, B, threads).backward, weights, vectors, saved.gates,
        saved.saved, saved.h, saved.c, dy, dstate[0], dstate[-1], dgates, dgates_h,
    )  # fmt: skip
    together([partial(loop, *sums, *share) for *sums, share in zip(dvectors, db, db_h, parts, strict=True)])

    dx = np.empty((T, B, I), dy.dtype)
    _products(rows(dgates), layer.weight_ih, rows(dx), threads)
    dw_ih = _product_over_steps(rows(dgates), rows(saved.x), threads)
    dw_hh = _product_over_steps(rows(dgates_h), rows(saved.h[:-1]), threads)
    of_vectors = dvectors.sum(0).reshape(-1, H) if own else ()
    return dx, dstate, (dw_ih, dw_hh, db.sum(0), db_h.sum(0), *of_vectors)


def _products(a: np.ndarray, b: np.ndarray, out: np.ndarray, threads: int) -> None:
    """out [M,N] = a [M,K] b [K,N], its rows shared out among the threads."""
    together([partial(np.dot, a[lo:hi], b, out=out[lo:hi]) for lo, hi in _row_shares(a, b, threads)])


def _product_over_steps(a: np.ndarray, b: np.ndarray, threads: int) -> np.ndarray:
    """aᵀ b [M,N] from a [K,M] and b [K,N]: each thread sums over its share of the K rows.

    Sharing out the rows of the result instead makes NumPy copy a slice of aᵀ, which takes twice the product.
    """
    cuts = _row_shares(a, b, threads)
    parts = np.empty((len(cuts), a.shape[1], b.shape[1]), a.dtype)
    together(
        [partial(np.dot, a[lo:hi].T, b[lo:hi], out=part) for (lo, hi), part in zip(cuts, parts, strict=True)]
    )
    for part in parts[1:]:
        parts[0] += part
    return parts[0]


def _row_shares(a: np.ndarray, b: np.ndarray, threads: int) -> list[tuple[int, int]]:
    """The rows of a in one share a thread, as far as a product with b is worth it."""
    return shares(len(a), _useful_threads(2 * a.size * b.shape[1], threads))


def _useful_threads(flops: float, threads: int) -> int:
    """Number of threads that so much work is worth."""
    return min(threads, max(1, int(flops / LEAST_WORK)))


def _batch_shares(T: int, B: int, weights: int, threads: int) -> list[tuple[int, int]]:
    """The minibatch in one share a thread, as far as a share is worth it."""
    return shares(B, _useful_threads(2 * T * B * weights, threads))


def should_split_units(network: Network, B: int, threads: int) -> bool:
    """Are there fewer sequences than threads, and products that gain from sharing out their units instead?"""
    return B < threads and _is_large(B, network.layer(0).weight_hh.size)


def _is_large(B: int, weights: int) -> bool:
    return 2 * B * weights >= LARGE_PRODUCT


def _loops(network: Network, B: int, threads: int) -> recurrence.Loops:
    """The loops to run: if one thread has the whole minibatch and a large product, BLAS splits it better."""
    in_python = threads == 1 and _is_large(B, network.layer(0).weight_hh.size)
    return (recurrence.loops_in_python if in_python else recurrence.loops)(network.cell)

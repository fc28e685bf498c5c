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
    sizes = saved[0].x.shape[:2]  # T, B
    return backward_through_layers(network, saved, sizes, dy, dstate, run)


def write_step(network: Network, x: np.ndarray, state: State, final: State) -> bool:
    """Write the state after one step to `final`, each [L,B,H]; False if x or the state is not finite.

    Also if a parameter that has taken another's place does not fit.
    """
    step, finish = one_step(network.cell)
    states = state[0], state[-1], final[0], final[-1]  # of a cell without c: h once more
    for index in range(network.layers):
        weight_ih, weight_hh, bias_ih, bias_hh, *vectors = map(np.ascontiguousarray, network.layer(index))
        own = np.concatenate(vectors) if vectors else bias_ih  # any array for none
        if not _is_large(len(x), weight_hh.size):
            if not step(x, weight_ih, weight_hh, bias_ih, bias_hh, own, index, *states):
                return False
        else:
            check_shapes(network)
            h, c, h_next, c_next = (part[index : index + 1] for part in states)
            if not all(np.isfinite(part).all() for part in (x, h, c)):
                return False
            gates_x = (x @ weight_ih.T)[None]  # by all threads of BLAS
            gates_h = h[0] @ weight_hh.T
            finish(gates_x, gates_h, bias_ih, bias_hh, own, h, c, h_next, c_next)
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
    columns = network.gates * H
    gates = np.empty((T, B, columns), x.dtype)
    weight_ih = layer.weight_ih.T
    if T * B >= FEW_ROWS:
        weight_ih = np.ascontiguousarray(weight_ih)
    _products(rows(x), weight_ih, rows(gates), threads)
    by_rows = B == 1
    weight_hh = layer.weight_hh if by_rows else layer.weight_hh.T
    weights = np.ascontiguousarray(weight_hh)
    bias = merged_bias(network, layer)
    loops = _loops(network, B, threads)
    vectors = np.ravel(step_vectors(network, layer))
    loop = partial(loops.forward, gates, weights, bias, vectors, h, c, reserve)
    parts = _batch_shares(T, B, weights.size, threads)
    together([partial(loop, *share, by_rows) for share in parts])
    last = (h[-1],)
    if properties.has_c:
        last += (c[-1],)
    kept_gates = h if properties.gate_is_h else gates
    return h[1:], last, CompiledSaved(x, h, kept_gates, c, reserve)


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
    columns = network.gates * H
    dgates = np.empty((T, B, columns), dy.dtype)
    parts = _batch_shares(T, B, weights.size, threads)
    members = len(parts)
    db = np.zeros((members, columns), dy.dtype)
    own = network.properties.vectors
    vectors = np.ravel(step_vectors(network, layer)) if own else db[0]  # any array where none is read
    dvectors = np.zeros((members, len(own) * H), dy.dtype)
    dgates_h = dgates
    db_h = db
    if network.properties.inner_bias:
        dgates_h = np.empty_like(dgates)
        db_h = np.zeros_like(db)
    loops = _loops(network, B, threads)
    loop = partial(
        loops.backward, weights, vectors, saved.gates, saved.saved, saved.h, saved.c, dy, dstate[0],
        dstate[-1], dgates, dgates_h,
    )  # fmt: skip
    tasks = []
    for *sums, share in zip(dvectors, db, db_h, parts, strict=True):
        tasks.append(partial(loop, *sums, *share))
    together(tasks)

    dx = np.empty((T, B, I), dy.dtype)
    _products(rows(dgates), layer.weight_ih, rows(dx), threads)
    h = saved.h[:-1]
    dw_ih = _product_over_steps(rows(dgates), rows(saved.x), threads)
    dw_hh = _product_over_steps(rows(dgates_h), rows(h), threads)
    of_vectors = dvectors.sum(0).reshape(-1, H) if own else ()
    return dx, dstate, (dw_ih, dw_hh, db.sum(0), db_h.sum(0), *of_vectors)


def _products(a: np.ndarray, b: np.ndarray, out: np.ndarray, threads: int) -> None:
    """out [M,N] = a [M,K] b [K,N], its rows shared out among the threads."""
    tasks = []
    for lo, hi in _row_shares(a, b, threads):
        share = a[lo:hi]
        tasks.append(partial(np.dot, share, b, out=out[lo:hi]))
    together(tasks)


def _product_over_steps(a: np.ndarray, b: np.ndarray, threads: int) -> np.ndarray:
    """aᵀ b [M,N] from a [K,M] and b [K,N]: each thread sums over its share of the K rows.

    Sharing out the rows of the result instead makes NumPy copy a slice of aᵀ, which takes twice the product.
    """
    cuts = _row_shares(a, b, threads)
    M = a.shape[1]
    N = b.shape[1]
    parts = np.empty((len(cuts), M, N), a.dtype)
    tasks = []
    for (lo, hi), part in zip(cuts, parts, strict=True):
        share = a[lo:hi].T
        tasks.append(partial(np.dot, share, b[lo:hi], out=part))
    together(tasks)
    for part in parts[1:]:
        parts[0] += part
    return parts[0]


def _row_shares(a: np.ndarray, b: np.ndarray, threads: int) -> list[tuple[int, int]]:
    """The rows of a in one share a thread, as far as a product with b is worth it."""
    flops = 2 * a.size * b.shape[1]
    return shares(len(a), _useful_threads(flops, threads))


def _useful_threads(flops: float, threads: int) -> int:
    """Number of threads that so much work is worth."""
    return min(threads, max(1, int(flops / LEAST_WORK)))


def _batch_shares(T: int, B: int, weights: int, threads: int) -> list[tuple[int, int]]:
    """The minibatch in one share a thread, as far as a share is worth it."""
    flops = 2 * T * B * weights
    return shares(B, _useful_threads(flops, threads))


def should_split_units(network: Network, B: int, threads: int) -> bool:
    """Are there fewer sequences than threads, and products that gain from sharing out their units instead?"""
    return B < threads and _is_large(B, network.layer(0).weight_hh.size)


def _is_large(B: int, weights: int) -> bool:
    return 2 * B * weights >= LARGE_PRODUCT


def _loops(network: Network, B: int, threads: int) -> recurrence.Loops:
    """The loops to run: if one thread has the whole minibatch and a large product, BLAS splits it better."""
    if threads == 1 and _is_large(B, network.layer(0).weight_hh.size):
        return recurrence.loops_in_python(network.cell)
    return recurrence.loops(network.cell)

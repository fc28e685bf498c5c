"""The minibatch split over threads, each with a loop over time of its own: threads meet twice a layer.

Products, passes over memory and calls are numba_fused's, each in as many shares as BLAS had threads.  Starts
of parallel work per layer: with BLAS's threads one a product, T + 1 forward and T + 3 backward → 2 and 4.
"""

from rnnlab.ladder.compiled import passes, threads


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    many = threads.count()
    with threads.single_threaded_blas():
        return passes.forward(network, x, state, many)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    many = threads.count()
    with threads.single_threaded_blas():
        return passes.backward(network, saved, dy, dstate, many)

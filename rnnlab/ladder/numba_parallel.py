"""The minibatch split over threads, each with a loop over time of its own: threads synchronise twice a layer.

Products, passes over memory and calls are numba_fused's, each in as many shares as BLAS had threads.  Starts
of parallel work per layer: with BLAS's threads one a product, T + 1 forward and T + 3 backward → 2 and 4.
Where there are fewer sequences than threads, only the units are left to split; if a step's product is large
that pays, although threads then synchronise at every step, and BLAS does it best: then this is numba_fused.
"""

from rnnlab.ladder import numba_fused
from rnnlab.ladder.properties import WITH_KERNELS, RungProperties, only_reset_after
from rnnlab.network import Network

PROPERTIES = RungProperties(
    idea="the minibatch split over threads",
    lesson="07_parallel_cpu",
    cells=WITH_KERNELS,
    package="numba",
    ledger=numba_fused.PROPERTIES.ledger,
)
why_not = only_reset_after


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    return _pass("forward", x, network, x, state)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return _pass("backward", dy, network, saved, dy, dstate)


def _pass(direction, like, network, *arguments):
    """The pass of that direction, over an array [T,B,n] like this one."""
    from rnnlab.kernels.compiled import propagation, threads

    count = threads.count()
    is_sequence = getattr(like, "ndim", 0) == 3 and isinstance(network, Network)  # else it is refused there
    if not is_sequence or propagation.should_split_units(network, like.shape[1], count):
        return getattr(numba_fused, direction)(network, *arguments)
    with threads.single_threaded_blas():
        return getattr(propagation, direction)(network, *arguments, count)

"""A layer's whole sequence in one kernel: the recurrent weights are read once and stay in registers.

Launches per layer: graph_replay's nodes, two a step, become one kernel.  Reads of recurrent weights: H²
numbers a gate for every step → for every sequence.  Exchanges between blocks: one a step, of B·H numbers.
What does not wait for a step, the products with the inputs and those of the weight gradients, are products
over all steps, as in one_big_gemm.
"""

from functools import partial

from rnnlab.kernels.persistence import numba_layer
from rnnlab.ladder.chooser import persistent_layer
from rnnlab.ladder.properties import WITH_KERNELS, Ledger, RungProperties, only_reset_after
from rnnlab.layers import backward_through_layers, forward_through_layers

PROPERTIES = RungProperties(
    idea="one kernel for a sequence: weights stay in registers",
    lesson="15_persistent_rnn",
    cells=WITH_KERNELS,
    needs="cuda",
    package="numba",
    ledger=Ledger("weights", lambda n: n.G * n.H**2),
    step_us=persistent_layer,
)


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    run = partial(numba_layer.layer_forward, network)
    y, state, saved = forward_through_layers(network, x, state, run)
    return y.copy(), state, saved


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    run = partial(numba_layer.layer_backward, network)
    T, B, _ = saved[0]["x"].shape
    return backward_through_layers(network, saved, (T, B), dy, dstate, run)


def why_not(network, T, B) -> str | None:
    """Why this network does not stay in the registers of the GPU at hand; None if it does."""
    if reason := only_reset_after(network, T, B):
        return reason
    try:
        numba_layer.tiles_of(network)
    except ValueError as error:
        return str(error)
    return None

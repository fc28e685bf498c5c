"""Weights packed once a sequence, products in tiles that stay in registers: no BLAS in the loop.

Packings of the recurrent weights per layer and pass: a BLAS packs them in every step, T times → once.  Calls
of a library: numba_parallel's T + 1 forward and T + 3 backward → none.  The pointwise work follows the
product of each panel of units, while its tile is in the first cache.  Weight gradients are summed over chunks
of time steps, so that the gradients of the gates are never stored for all of them.
One sequence has no tile, and too few numbers to pack or to share out: its passes are numba_fused's.
"""

from rnnlab.ladder import numba_fused
from rnnlab.ladder.properties import WITH_KERNELS, Ledger, RungProperties, only_reset_after

PROPERTIES = RungProperties(
    idea="weights packed once a sequence, tiles in registers",
    lesson="08_packed_products",
    cells=WITH_KERNELS,
    package="numba",
    ledger=Ledger("packings", lambda n: 1, lambda n: 1),
)
FEWEST = 2  # sequences that make a tile


def why_not(network, T, B):
    """Reason for a GRU that resets before its product, or where Numba does not compile; else None."""
    from numba import config

    if config.DISABLE_JIT and B >= FEWEST:
        return "it exists compiled alone, and NUMBA_DISABLE_JIT is set"
    return only_reset_after(network, T, B)


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    from rnnlab.kernels.packed import propagation, team

    is_sequence = getattr(x, "ndim", 0) == 3  # else it is refused there
    if is_sequence and x.shape[1] < FEWEST:
        return numba_fused.forward(network, x, state)
    return propagation.forward(network, x, state, team.count())


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    from rnnlab.kernels.packed import propagation, team

    if saved[0].x.shape[1] < FEWEST:
        return numba_fused.backward(network, saved, dy, dstate)
    return propagation.backward(network, saved, dy, dstate, team.count())

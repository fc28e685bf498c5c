"""Weights packed once a sequence, products of our own in tiles that stay in registers: no BLAS in the loop.

Products per layer are numba_parallel's: 1 + T forward, T + 3 backward.  Packings of the recurrent weights: a BLAS
packs them in every step, T times a pass → 1.  Calls of a library: T + 1 and T + 3 → none.  The pointwise
work of a step follows the product of each panel of units, while its tile is in the first cache.  Weight
gradients are sums over chunks of time steps, so that no gradient of the gates is kept for all of them.
One sequence has no product worth a tile: that is numba_parallel's.
"""

from rnnlab.ladder import numba_parallel
from rnnlab.ladder.facts import Facts, Ledger, only_reset_after

FACTS = Facts(
    idea="weights packed once a sequence, tiles in registers",
    lesson="packed_products",
    package="numba",
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: n.T + 3),
)
why_not = only_reset_after


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    from rnnlab.kernels.packed import passes, team

    return passes.forward(network, x, state, team.count())


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    from rnnlab.kernels.packed import passes, team

    return passes.backward(network, saved, dy, dstate, team.count())

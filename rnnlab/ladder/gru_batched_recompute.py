"""A fifth GRU variant, which the post does not consider: compute all U h again at once.

When the backward pass starts, every h is known, so variant 3's T small products are one large one,
U·[h₀ … h_{T−1}].  It saves 3H numbers a step and sequence like variant 3, and H more while it runs.
Products per layer of T steps:
                          before   after
    forward               1 + T    1 + T
    backward              2T + 3   T + 4     U h of all steps, once, before the sweep
"""

import numpy as np

from rnnlab.ladder.gru_reset_after import without_product
from rnnlab.ladder.one_big_gemm import Steps, saving
from rnnlab.ladder.properties import Ledger, RungProperties, only_reset_after
from rnnlab.network import Layer

PROPERTIES = RungProperties(
    idea="variant 5: all U h at once",
    lesson="04_differentiable_graphs",
    cells=("gru",),
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: n.T + 4),
)
why_not = only_reset_after


def _all_products_again(layer: Layer, steps: Steps):
    h = np.stack([step.state[0] for step in steps])  # [T,B,H]
    T, B, H = h.shape
    weight_n = layer.weight_hh[2 * H :]
    bias_n = layer.bias_hh[2 * H :]
    products = h.reshape(T * B, H) @ weight_n.T + bias_n
    products = products.reshape(T, B, H)
    return lambda t: steps[t]._replace(auxiliary=products[t])


forward, backward = saving(without_product, _all_products_again)

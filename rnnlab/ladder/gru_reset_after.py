"""GRU variant 3 of Engel 2016: the reset gate moves behind the product, h̃ = tanh(W x + r∘(U h)).

It is another function, close to the first in practice, and cuDNN's.  Saved are r, z and n, as before; but dr
needs U h, which is not among them, so the backward pass computes it again, one small product a step.
Products per layer of T steps:
                          before   after
    forward               1 + 2T   1 + T     all recurrent products share h, none waits for r
    backward              2T + 4   2T + 3    the recurrent one; U h again
"""

import numpy as np

from rnnlab import cells
from rnnlab.ladder.one_big_gemm import Steps, saving
from rnnlab.ladder.properties import Ledger, RungProperties, only_reset_after
from rnnlab.network import Layer

PROPERTIES = RungProperties(
    idea="variant 3: no product waits for r",
    lesson="04_differentiable_graphs",
    cells=("gru",),
    ledger=Ledger("products", lambda n: 1 + n.T, lambda n: 2 * n.T + 3),
)
why_not = only_reset_after


def without_product(gates_x: np.ndarray, steps: Steps) -> Steps:
    """Steps that save their state [B,H] and r, z, n: 3H numbers a step and sequence beside the states."""
    return [step._replace(auxiliary=None) for step in steps]


def _product_again(layer: Layer, steps: Steps):
    def step_of(t: int) -> cells.SavedStep:
        (h,) = steps[t].state
        rows = slice(2 * h.shape[-1], None)  # of n
        product = h @ layer.weight_hh[rows].T + layer.bias_hh[rows]
        return steps[t]._replace(auxiliary=product)

    return step_of


forward, backward = saving(without_product, _product_again)

"""GRU variant 4 of Engel 2016: save U h in place of n, and compute n again from it, pointwise.

n = tanh(x_n + r∘(U h)): with U h saved, only the slice x_n of the input product is missing, and that product
of all steps is alive anyway as long as nothing overwrites it.  3H numbers a step and sequence beside the
states, as before, and beside the input product.
Products per layer of T steps:
                          before   after
    forward               1 + T    1 + T
    backward              2T + 3   T + 3     one tanh a step in place of one product
"""

import numpy as np

from rnnlab import cells
from rnnlab.ladder import one_big_gemm
from rnnlab.ladder.one_big_gemm import Steps, saving
from rnnlab.ladder.properties import RungProperties, only_reset_after
from rnnlab.network import Layer

PROPERTIES = RungProperties(
    idea="variant 4: save U h, not n",
    lesson="04_differentiable_graphs",
    cells=("gru",),
    ledger=one_big_gemm.PROPERTIES.ledger,
)
why_not = only_reset_after


def _without_candidate(gates_x: np.ndarray, steps: Steps) -> tuple[np.ndarray, Steps]:
    rz = slice(0, 2 * gates_x.shape[-1] // 3)
    # copies, because a view keeps the whole array behind it alive
    return gates_x, [s._replace(gates=s.gates[:, rz].copy(), auxiliary=s.auxiliary.copy()) for s in steps]


def _candidate_again(layer: Layer, saved: tuple[np.ndarray, Steps]):
    gates_x, steps = saved

    def step_of(t: int) -> cells.SavedStep:
        x_n = np.split(gates_x[t], 3, -1)[2]
        (r, z) = np.split(steps[t].gates, 2, -1)
        n = cells.gru_candidate(x_n, r, steps[t].auxiliary)
        return steps[t]._replace(gates=np.concatenate([r, z, n], -1))

    return step_of


forward, backward = saving(_without_candidate, _candidate_again)

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
    H = gates_x.shape[-1] // 3
    shorter_steps = []
    for step in steps:
        # copies, because a view keeps the whole array behind it alive
        r_and_z = step.gates[:, : 2 * H].copy()
        h_n = step.auxiliary.copy()
        shorter_steps.append(step._replace(gates=r_and_z, auxiliary=h_n))
    return gates_x, shorter_steps


def _candidate_again(layer: Layer, saved: tuple[np.ndarray, Steps]):
    gates_x, steps = saved

    def step_of(t: int) -> cells.SavedStep:
        step = steps[t]
        _, _, x_n = np.split(gates_x[t], 3, -1)
        (r, z) = np.split(step.gates, 2, -1)
        n = cells.gru_candidate(x_n, r, step.auxiliary)
        return step._replace(gates=np.concatenate([r, z, n], -1))

    return step_of


forward, backward = saving(_without_candidate, _candidate_again)

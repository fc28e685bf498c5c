"""GRU variant 2 of Engel 2016: products that share a factor are stacked, over gates and over time.

Products per layer of T steps:
                          before   after
    forward               6T       1 + 2T    W over gates and steps; U_r with U_z; U_n waits for r, alone
    backward              11T      2T + 4    the same two a step; dx, dW, and dW_hh in two parts, once
"""

from rnnlab.ladder.one_big_gemm import backward, forward
from rnnlab.ladder.properties import Ledger, RungProperties, only_reset_before

__all__ = ["PROPERTIES", "backward", "forward", "why_not"]

PROPERTIES = RungProperties(
    idea="variant 2: products stacked",
    lesson="04_differentiable_graphs",
    cells=("gru",),
    ledger=Ledger("products", lambda n: 1 + 2 * n.T, lambda n: 2 * n.T + 4),
)
why_not = only_reset_before

"""GRU variant 1 of Engel 2016: the textbook's, h̃ = tanh(W x + U (r∘h)), with a product for every gate.

Products per layer of T steps: forward 6T, backward 11T.  It is the first rung of the ladder, held here under
the post's number so that its four successors have something to be faster than.
"""

from rnnlab.ladder.one_step_at_a_time import backward, forward
from rnnlab.ladder.properties import Ledger, RungProperties, only_reset_before

__all__ = ["PROPERTIES", "backward", "forward", "why_not"]

PROPERTIES = RungProperties(
    idea="variant 1: a product per gate",
    lesson="04_differentiable_graphs",
    cells=("gru",),
    ledger=Ledger("products", lambda n: 6 * n.T, lambda n: 11 * n.T),
)
why_not = only_reset_before

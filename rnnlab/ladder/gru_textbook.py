"""GRU variant 1 of Engel 2016: the textbook's, h̃ = tanh(W x + U (r∘h)), with a product for every gate.

Products per layer of T steps: forward 6T, backward 11T.  It is the first rung of the ladder, held here under
the post's number so that its four successors have something to be faster than.
"""

from rnnlab.ladder.one_step_at_a_time import backward, forward

__all__ = ["backward", "forward"]

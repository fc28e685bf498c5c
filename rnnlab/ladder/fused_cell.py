"""Stage 1: a step's products share a launch, and so do its pointwise operations; two streams a layer.

Launches of an LSTM layer over T steps: forward 25·T → 3·T (input product, recurrent product, gates), backward
36·T → 6·T (gates, dx, dh, dW_ih, dW_hh, db).  What only the gates' kernel touches never leaves its registers.
The input product runs in a stream beside the recurrence.
"""

from rnnlab.ladder.plan_rung import only_drawn, stage
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.schedule.order import two_streams
from rnnlab.schedule.passes import fuse_pointwise, group_gates

PASSES = (group_gates, fuse_pointwise, two_streams)
PROPERTIES = RungProperties(
    idea="stage 1: a step is two products and one kernel",
    lesson="12_fused_cell",
    cells=None,
    needs="cuda",
    passes=PASSES,
    ledger=Ledger("launches", lambda n: 3 * n.T, lambda n: 6 * n.T),
)
forward, backward = stage(PASSES)
why_not = only_drawn

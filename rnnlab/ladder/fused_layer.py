"""Stage 2: what no later step waits for leaves the time loop; weights are transposed once.

Launches of an LSTM layer over T steps: forward 3·T → 2·T + 3 (one input product, two transposes), backward
6·T → 2·T + 4: dx, dW_ih, dW_hh and db are one product or sum each, over all steps, after the loop.
"""

from rnnlab.ladder.plan_rung import only_drawn, stage
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.schedule.order import two_streams
from rnnlab.schedule.passes import (
    batch_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)

PASSES = (group_gates, fuse_pointwise, transpose_once, batch_inputs, weight_gradient_after_loop, two_streams)
PROPERTIES = RungProperties(
    idea="stage 2: out of the loop what may leave it",
    lesson="13_fused_layer",
    cells=None,
    needs="cuda",
    passes=PASSES,
    ledger=Ledger("launches", lambda n: 2 * n.T + 3, lambda n: 2 * n.T + 4),
)
forward, backward = stage(PASSES)
why_not = only_drawn

"""Stage 3: layers overlap: cells of a diagonal step + layer run at once, two streams for each layer.

Input products are batched over 2 steps, not all T: a layer above can start after 2.  Launches of L layers of
an LSTM: forward L·(2·T + T/2 + 2), backward L·(2·T + T/2 + 3); T + L steps wait for one another, not T·L.
"""

from rnnlab.ladder.plan_rung import only_drawn, stage
from rnnlab.ladder.properties import Ledger, RungProperties
from rnnlab.schedule.order import assign_streams, wavefront
from rnnlab.schedule.passes import (
    batch_two_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)

PASSES = (
    group_gates,
    fuse_pointwise,
    transpose_once,
    batch_two_inputs,
    weight_gradient_after_loop,
    wavefront,
    assign_streams,
)
PROPERTIES = RungProperties(
    idea="stage 3: layers and steps on the diagonal",
    lesson="14_network_schedule",
    cells=None,
    needs="cuda",
    passes=PASSES,
    ledger=Ledger("launches", lambda n: 5 * n.T // 2 + 2, lambda n: 5 * n.T // 2 + 3),
)
forward, backward = stage(PASSES)
why_not = only_drawn

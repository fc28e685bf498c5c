"""All launches recorded once, as a CUDA graph, and replayed: the host issues one thing a pass.

Operations, bytes and order are layer_wavefront's; launches by the host go from about 2.5·T·L to 1.
"""

from rnnlab.ladder import layer_wavefront
from rnnlab.ladder.chooser import replayed_graph
from rnnlab.ladder.plan_rung import only_drawn, stage
from rnnlab.ladder.properties import RungProperties
from rnnlab.schedule.order import capture

PASSES = (*layer_wavefront.PASSES, capture)
PROPERTIES = RungProperties(
    idea="all launches in one",
    lesson="14_network_schedule",
    cells=None,
    needs="cuda",
    passes=PASSES,
    ledger=layer_wavefront.PROPERTIES.ledger,
    step_us=replayed_graph,
)
forward, backward = stage(PASSES)
why_not = only_drawn

"""A kernel for every node of the cell's graph: where Appleyard et al. (2016) started from.

Launches of an LSTM layer over T steps: 25·T forward (8 products, 17 pointwise), 36·T backward; of a GRU that
resets after its product 21·T and 31·T, of a tanh RNN 5·T and 7·T.  Every pointwise kernel reads and writes
[B,H] or [B,G·H] in memory; that traffic, and the launches, are what the next rungs take away.
"""

from rnnlab.ladder.chooser import launch_by_launch
from rnnlab.ladder.plan_rung import only_drawn, stage
from rnnlab.ladder.properties import Ledger, RungProperties

PASSES = ()
PROPERTIES = RungProperties(
    idea="a kernel for every operation",
    lesson="11_naive_gpu_rnn",
    cells=None,
    needs="cuda",
    passes=PASSES,
    ledger=Ledger("launches", lambda n: 25 * n.T, lambda n: 36 * n.T),
    step_us=launch_by_launch,
)
forward, backward = stage(PASSES)
why_not = only_drawn

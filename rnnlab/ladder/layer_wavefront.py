"""Stage 3: layers overlap: cells of a diagonal step + layer run at once, two streams for each layer.

Input products are batched over 2 steps, not all T: a layer above can start after 2.  Launches of L layers of
an LSTM: forward L·(2·T + T/2 + 2), backward L·(2·T + T/2 + 3); T + L steps wait for one another, not T·L.
"""

from rnnlab.schedule.stages import LAYER_WAVEFRONT, run, sweep


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return run(network, x, state, LAYER_WAVEFRONT)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return sweep(network, saved, dy, dstate, LAYER_WAVEFRONT)

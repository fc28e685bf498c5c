"""Stage 2: what no later step waits for leaves the time loop; weights are transposed once.

Launches of an LSTM layer over T steps: forward 3·T → 2·T + 3 (one input product, two transposes), backward
6·T → 2·T + 4: dx, dW_ih, dW_hh and db are one product or sum each, over all steps, after the loop.
"""

from rnnlab.schedule.stages import FUSED_LAYER, run, sweep


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return run(network, x, state, FUSED_LAYER)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return sweep(network, saved, dy, dstate, FUSED_LAYER)

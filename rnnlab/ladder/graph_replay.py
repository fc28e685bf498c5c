"""All launches recorded once, as a CUDA graph, and replayed: the host issues one thing a pass.

Operations, bytes and order are layer_wavefront's; launches by the host go from about 2.5·T·L to 1.
"""

from rnnlab.schedule.stages import GRAPH_REPLAY, run, sweep


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return run(network, x, state, GRAPH_REPLAY)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return sweep(network, saved, dy, dstate, GRAPH_REPLAY)

"""A kernel for every node of the cell's graph: where Appleyard et al. (2016) started from.

Launches of an LSTM layer over T steps: 25·T forward (8 products, 17 pointwise), 36·T backward; of a GRU that
resets after its product 21·T and 31·T, of a tanh RNN 5·T and 7·T.  Every pointwise kernel reads and writes
[B,H] or [B,G·H] in memory; that traffic, and the launches, are what the next rungs take away.
"""

from rnnlab.schedule.stages import KERNEL_PER_OPERATION, run, sweep


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return run(network, x, state, KERNEL_PER_OPERATION)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return sweep(network, saved, dy, dstate, KERNEL_PER_OPERATION)

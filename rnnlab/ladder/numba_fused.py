"""A step's pointwise work in one compiled loop, and the loop over time compiled around it.

Products per layer are one_big_gemm's: 1 + T forward, T + 3 backward.  Passes over memory per step and gate:
NumPy reads and writes [B,H] a dozen times; here every number of the step is read once and written once.
Calls from Python per layer: T times a dozen → 1 each way.  tanh: a call for every number → a dozen
multiply-adds on a vector.  All of it, but for the products over all steps, runs on one thread.
"""

from rnnlab.ladder.compiled import passes


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    return passes.forward(network, x, state, threads=1)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return passes.backward(network, saved, dy, dstate, threads=1)

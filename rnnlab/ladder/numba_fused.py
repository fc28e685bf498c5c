"""A step's pointwise work in one compiled loop, and the loop over time compiled around it.

Products per layer are one_big_gemm's: 1 + T forward, T + 3 backward.  Passes over memory per step and gate:
NumPy reads and writes [B,H] a dozen times; here every number of the step is read once and written once.
Calls from Python per layer: T times a dozen → 1 each way, or T pairs where a step's product is large enough
to want NumPy's BLAS with all its threads.  tanh: a call for every number → a dozen multiply-adds on a vector.
The compiled loop runs on one thread: it multiplies with SciPy's BLAS, whose workers would fight with NumPy's.
"""

from contextlib import nullcontext

import numpy as np

from rnnlab.ladder import one_big_gemm
from rnnlab.ladder.properties import WITH_KERNELS, RungProperties, only_reset_after

PROPERTIES = RungProperties(
    idea="a step's pointwise work in one compiled loop",
    lesson="06_numba_cpu",
    cells=WITH_KERNELS,
    package="numba",
    ledger=one_big_gemm.PROPERTIES.ledger,
)
why_not = only_reset_after


def forward(network, x, state=None):
    """y [T,B,H] (read-only), final state, saved; see rnnlab.ladder."""
    from rnnlab.kernels.compiled import propagation

    with _single_threaded_loops(x):
        return propagation.forward(network, x, state, threads=1)


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    from rnnlab.kernels.compiled import propagation

    with _single_threaded_loops(saved[0].x):
        return propagation.backward(network, saved, dy, dstate, threads=1)


def _single_threaded_loops(x):
    """Limit the BLAS of the loops to one thread; for one sequence, x [T,1,I], they call none."""
    from rnnlab.kernels.compiled import threads

    is_one_sequence = np.shape(x)[1:2] == (1,)
    return nullcontext() if is_one_sequence else threads.single_threaded_blas(only="scipy.libs")

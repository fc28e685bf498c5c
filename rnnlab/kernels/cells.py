"""Properties of each cell with derived loops and kernels: its number, and the arrays it needs.

Derived from rnnlab.graphs.cells by rnnlab.emit.kernel_properties: change it there, then `make course`.
"""

from typing import NamedTuple


class KernelProperties(NamedTuple):
    """One cell, as kernels see it."""

    number: int  # in compiled loops, and CELL in CUDA C++
    gates: int
    inner: int  # the gate whose recurrent product another gate multiplies; -1: no gate's
    gate_is_h: bool  # the only gate is the next h, and is not stored apart
    has_c: bool  # a second state
    saves: bool  # a gradient needs one number a unit beside gates and states
    passes_h: bool  # h reaches the next h past the products too
    vectors: int  # arrays of a number a unit that a step reads beside the biases
    own_vectors: int  # those that are parameters, not a part of bias_hh: the last


KERNEL_PROPERTIES = {  # by the cell's mode
    "rnn_tanh": KernelProperties(0, 1, -1, True, False, False, False, 0, 0),
    "rnn_relu": KernelProperties(1, 1, -1, True, False, False, False, 0, 0),
    "gru": KernelProperties(2, 3, 2, False, False, True, True, 1, 0),
    "lstm": KernelProperties(3, 4, -1, False, True, False, False, 0, 0),
}

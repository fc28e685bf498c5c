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


KERNEL_PROPERTIES = {  # by the cell's mode
    "rnn_tanh": KernelProperties(0, 1, -1, True, False, False, False),
    "rnn_relu": KernelProperties(1, 1, -1, True, False, False, False),
    "gru": KernelProperties(2, 3, 2, False, False, True, True),
    "lstm": KernelProperties(3, 4, -1, False, True, False, False),
}

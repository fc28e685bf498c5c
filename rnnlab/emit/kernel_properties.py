"""What kernels must know of a cell beside its gates and states: read off its step, forward and backward."""

from rnnlab.cells import CELLS
from rnnlab.emit.body import StepArray, gate_is_h, suitable, work_of

HEADER = '''"""Properties of each cell with derived loops and kernels: its number, and the arrays it needs.

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


'''


def source() -> str:
    """The text of the module."""
    rows = ""
    for number, name in enumerate(suitable()):
        properties = properties_of(name, number)
        rows += f'    "{CELLS[name].mode}": KernelProperties{properties},\n'
    return f"{HEADER}KERNEL_PROPERTIES = {{  # by the cell's mode\n{rows}}}\n"


def properties_of(name: str, number: int) -> tuple:
    """The fields of a KernelProperties."""
    cell = CELLS[name]
    gates = len(cell.gates)
    inner = cell.gates.index(cell.inner_bias) if cell.inner_bias else -1
    has_c = "c" in cell.states
    saves = StepArray("saved") in work_of(name, "forward").stores
    passes_h = StepArray("dh") in work_of(name, "backward").stores
    vectors = len(cell.vector_wires), len(cell.vectors)
    return number, gates, inner, gate_is_h(cell), has_c, saves, passes_h, *vectors

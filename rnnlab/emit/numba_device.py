"""A step's pointwise work for one unit of one sequence: device functions in Numba's CUDA."""

from rnnlab.cells import CELLS
from rnnlab.emit.body import PRODUCT, SUM, Place, Target, lines, suitable, work_of

HEADER = '''"""A cell's work for one unit of one sequence, forward and backward, as functions of every kernel.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_device: change it there, then `make course`.

All arrays are flat.  `gate` is the place of the unit's first gate in [T,B,G·H], the others lie H further on;
`before` is its place in [T,B,H], which in [T+1,B,H] is that of the state before the step; `after` is that
of the state after it; `row` is its place in [B,H].

Forward: sums [G] are the recurrent products; gates hold the input products with the biases, and are left
holding the gates; reserve is c [T+1,B,H] of an LSTM, the candidate's recurrent sum [T,B,H] of a GRU.

Backward: dh is all that arrives at h after the step.  carry [B,H] goes past the products to the step before:
dc of an LSTM, dh∘z of a GRU.  dgates and dgates_u [T,B,G·H] get the gradients of the gates, for the inputs
and for the recurrent product; they differ in a GRU, which resets after it, and are one array elsewhere.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from pocketgpu import cuda


class Pointwise(NamedTuple):
    """The two device functions of a cell."""

    forward: Callable  # (sums, gates, gate, H, inner_bias, unit, h, before, after, reserve)
    backward: Callable  # (dh, gates, gate, H, h, before, after, reserve, carry, row, dgates, dgates_u)


@cache
def pointwise(cell: str, dtype: str) -> Pointwise:
    """A cell's functions; every constant has the arithmetic's dtype, so that nothing creeps into float64."""
    if cell not in MAKERS:
        raise ValueError(f"cell is {cell!r}, expected one of {', '.join(MAKERS)}: others have no kernel here")
    return MAKERS[cell](np.dtype(dtype).type)
'''
ARGUMENTS = {
    "forward": "sums, gates, gate, H, inner_bias, unit, h, before, after, reserve",
    "backward": "dh, gates, gate, H, h, before, after, reserve, carry, row, dgates, dgates_u",
}
CONSTANTS = {"zero": "0", "half": "0.5", "one": "1"}
PLACES = {  # role -> where its number lies
    "inner_bias": "inner_bias[unit]",
    "saved": "reserve[before]",
    "c": "reserve[before]",
    "c_next": "reserve[after]",
    "h": "h[before]",
    "h_next": "h[after]",
    "dc": "carry[row]",
    "dh": "carry[row]",
}
GATES = {"gates": "gates", "dgates": "dgates", "dgates_h": "dgates_u"}


def source() -> str:
    """The text of the module."""
    makers = ", ".join(f'"{CELLS[cell].mode}": _{CELLS[cell].mode}' for cell in suitable())
    return HEADER + "".join(map(_maker, suitable())) + f"\n\nMAKERS = {{{makers}}}\n"


def _place(place: Place) -> str:
    if place.array == "recurrent":
        return f"sums[{place.gate}]"
    if place.array not in GATES:
        return PLACES[place.array]
    further = {0: "", 1: " + H"}.get(place.gate, f" + {place.gate} * H")
    return f"{GATES[place.array]}[gate{further}]"


TARGET = Target(
    read=_place,
    write=lambda place, value: f"{_place(place)} = {value}",
    functions={
        "tanh": "math.tanh({})".format,
        "sigmoid": "half * math.tanh(half * {}) + half".format,
        "relu": "max({}, zero)".format,
        "relu_slope": "{} if {} > zero else zero".format,
    },
    binds={"sigmoid": (PRODUCT, SUM), "relu_slope": (PRODUCT, 0)},
    named=("dh",),
    is_added=lambda place: place.array == "bias",
)


def _maker(cell: str) -> str:
    functions = {way: lines(work_of(cell, way), TARGET) for way in ARGUMENTS}
    text = "\n".join(line for body in functions.values() for line in body)
    constants = [f"    {name} = scalar_type({value})\n" for name, value in CONSTANTS.items() if name in text]
    result = f"\n\ndef _{CELLS[cell].mode}(scalar_type: type) -> Pointwise:\n{''.join(constants)}"
    for way, body in functions.items():
        inside = "".join(f"        {line}\n" for line in body)
        result += f"\n    @cuda.jit(device=True)\n    def {way}({ARGUMENTS[way]}):\n{inside}"
    return f"{result}\n    return Pointwise(forward, backward)\n"

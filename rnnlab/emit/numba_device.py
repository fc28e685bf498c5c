"""A step's pointwise work for one unit of one sequence: device functions in Numba's CUDA."""

from typing import NamedTuple

from rnnlab.cells import CELLS
from rnnlab.emit.body import PRODUCT, SUM, StepArray, Target, lines, suitable, work_of

HEADER = '''"""A cell's work for one unit of one sequence, forward and backward, as functions of every kernel.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_device: change it there, then `make course`.

All arrays are flat.  `gate` is the place of the unit's first gate in [T,B,G·H], the others lie H further on;
`before` is its place in [T,B,H], which in [T+1,B,H] is that of the state before the step; `after` is that
of the state after it; `row` is its place in [B,H].

Forward: sums [G] are the recurrent products; gates hold the input products with the biases, and are left
holding the gates; reserve has what else is stored of a step, a second state c [T+1,B,H] or what a gradient
needs beside states and gates [T,B,H], such as the recurrent sum that a GRU's reset gate multiplies.

Backward: dh is what dy, the products and the final state's gradient send to h after the step.  carry [B,H]
goes past the products to the step before: dc, or what h sends to the next h past them.  dgates and dgates_h
[T,B,G·H] get the gradients of the gates, for the inputs and for the recurrent product; they differ where a
gate multiplies that product, as in a GRU, and are one array elsewhere.

A cell that has both has pairs of numbers in reserve, or in carry: those of c come first.
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
    backward: Callable  # (dh, gates, gate, H, h, before, after, reserve, carry, row, dgates, dgates_h)


@cache
def pointwise(cell: str, dtype: str) -> Pointwise:
    """A cell's functions; every constant has the arithmetic's dtype, so that nothing creeps into float64."""
    if cell not in MAKERS:
        raise ValueError(f"cell is {cell!r}, expected one of {', '.join(MAKERS)}: others have no kernel here")
    return MAKERS[cell](np.dtype(dtype).type)
'''
ARGUMENTS = {
    "forward": "sums, gates, gate, H, inner_bias, unit, h, before, after, reserve",
    "backward": "dh, gates, gate, H, h, before, after, reserve, carry, row, dgates, dgates_h",
}
CONSTANTS = {"zero": "0", "half": "0.5", "one": "1"}
GATES = {"gates": "gates", "dgates": "dgates", "dgates_h": "dgates_h"}
FUNCTIONS = {
    "tanh": "math.tanh({})".format,
    "sigmoid": "half * math.tanh(half * {}) + half".format,
    "relu": "max({}, zero)".format,
    "relu_slope": "{} if {} > zero else zero".format,
}


def source() -> str:
    """The text of the module."""
    makers = ", ".join(f'"{CELLS[cell].mode}": _{CELLS[cell].mode}' for cell in suitable())
    return HEADER + "".join(map(_maker, suitable())) + f"\n\nMAKERS = {{{makers}}}\n"


def _target(cell: str) -> Target:
    """How the device functions of a cell spell a step."""
    stores = {direction: work_of(cell, direction).stores for direction in ARGUMENTS}
    has_c = "c" in CELLS[cell].states
    stored = _Numbers("reserve", has_c, StepArray("saved") in stores["forward"])
    carried = _Numbers("carry", has_c, StepArray("dh") in stores["backward"])
    places = {  # role -> where its number lies
        "inner_bias": "inner_bias[unit]",
        "h": "h[before]",
        "h_next": "h[after]",
        "c": stored.of_c("before"),
        "c_next": stored.of_c("after"),
        "saved": stored.other("before"),
        "dc": carried.of_c("row"),
        "dh": carried.other("row"),
    }

    def text(place: StepArray) -> str:
        if place.array == "recurrent":
            return f"sums[{place.gate}]"
        if place.array not in GATES:
            return places[place.array]
        further = {0: "", 1: " + H"}.get(place.gate, f" + {place.gate} * H")
        return f"{GATES[place.array]}[gate{further}]"

    return Target(
        read=text,
        write=lambda place, value: f"{text(place)} = {value}",
        functions=FUNCTIONS,
        binds={"sigmoid": (PRODUCT, SUM), "relu_slope": (PRODUCT, 0)},
        named=("dh",),
        is_added=lambda place: place.array == "bias",
    )


class _Numbers(NamedTuple):
    """An array with a number of c, one of another kind, or a pair of them."""

    name: str
    has_c: bool
    has_other: bool

    def of_c(self, place: str) -> str:
        return f"{self.name}[2 * {place}]" if self.has_other else f"{self.name}[{place}]"

    def other(self, place: str) -> str:
        return f"{self.name}[2 * {place} + 1]" if self.has_c else f"{self.name}[{place}]"


def _maker(cell: str) -> str:
    target = _target(cell)
    functions = {way: lines(work_of(cell, way), target) for way in ARGUMENTS}
    if StepArray("dh") in work_of(cell, "backward").stores:
        functions["backward"].insert(0, f"dh += {target.read(StepArray('dh'))}")
    text = "\n".join(line for body in functions.values() for line in body)
    constants = [f"    {name} = scalar_type({value})\n" for name, value in CONSTANTS.items() if name in text]
    result = f"\n\ndef _{CELLS[cell].mode}(scalar_type: type) -> Pointwise:\n{''.join(constants)}"
    for way, body in functions.items():
        inside = "".join(f"        {line}\n" for line in body)
        result += f"\n    @cuda.jit(device=True)\n    def {way}({ARGUMENTS[way]}):\n{inside}"
    return f"{result}\n    return Pointwise(forward, backward)\n"

"""A step's pointwise work for one unit of one sequence: device functions in Numba's CUDA."""

from textwrap import indent

from rnnlab.cells import CELLS
from rnnlab.emit.body import PRODUCT, SUM, StepArray, Target, assignment, lines, suitable, work_of

HEADER = '''"""A cell's work for one unit of one sequence, forward and backward, as functions of every kernel.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_device: change it there, then `make course`.

All arrays are flat.  `gate` is the place of the unit's first gate in [T,B,G·H], the others lie H further on;
`before` is its place in [T,B,H], which in [T+1,B,H] is that of the state before the step; `after` is that
of the state after it; `row` is its place in [B,H].

a_r is the sum that gate r is a function of, da_r its gradient.

Forward: sums [G] are the recurrent products; vectors [V·H] are numbers of each unit beside the biases; gates
hold the input products with the biases, and are left holding the gates; reserve has what else is stored of a
step, a second state c [T+1,B,H] or what a gradient needs beside states and gates [T,B,H], such as the
recurrent sum that a GRU's reset gate multiplies.

Backward: dh is what dy, the products and the final state's gradient send to h after the step.  carry [B,H]
goes past the products to the step before: dc, or what h sends to the next h past them.  dgates and dgates_h
[T,B,G·H] get the gradients of the gates, for the inputs and for the recurrent product; they differ where a
gate multiplies that product, as in a GRU, and are one array elsewhere.

A cell that has both has pairs of numbers in reserve, or in carry: those of c come first.  The last ones in
carry are the gradients of the cell's own vectors, added up over the steps of each sequence.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from pocketgpu import cuda


class Pointwise(NamedTuple):
    """The two device functions of a cell."""

    forward: Callable  # (sums, gates, gate, H, vectors, unit, h, before, after, reserve)
    # (dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h)
    backward: Callable


@cache
def pointwise(cell: str, dtype: str) -> Pointwise:
    """A cell's functions; every constant has the arithmetic's dtype, so that nothing creeps into float64."""
    if cell not in MAKERS:
        raise ValueError(f"cell is {cell!r}, expected one of {', '.join(MAKERS)}: others have no kernel here")
    return MAKERS[cell](np.dtype(dtype).type)
'''
ARGUMENTS = {
    "forward": "sums, gates, gate, H, vectors, unit, h, before, after, reserve",
    "backward": "dh, gates, gate, H, vectors, unit, h, before, after, reserve, carry, row, dgates, dgates_h",
}
CONSTANTS = {"zero": "0", "half": "0.5", "one": "1"}
BLOCKS = {
    "gates": "gate",
    "dgates": "gate",
    "dgates_h": "gate",
    "vectors": "unit",
}  # where the first one lies
FUNCTIONS = {
    "tanh": "math.tanh({})".format,
    "sigmoid": "half * math.tanh(half * {}) + half".format,
    "relu": "max({}, zero)".format,
    "relu_slope": "{} if {} > zero else zero".format,
}


def source() -> str:
    """The text of the module."""
    makers = "".join(map(_maker, suitable()))
    modes = [CELLS[cell].mode for cell in suitable()]
    table = "".join(f'    "{mode}": _{mode},\n' for mode in modes)
    return f"{HEADER}{makers}\n\nMAKERS = {{\n{table}}}\n"


def _target(cell: str) -> Target:
    """How the device functions of a cell spell a step."""
    places = {StepArray("h"): "h[before]", StepArray("h_next"): "h[after]"}
    places |= _numbers(cell, "forward", ("c_next", "saved"), "reserve", "before")
    if c := places.get(StepArray("c_next")):
        places[StepArray("c")] = c
        places[StepArray("c_next")] = c.replace("before", "after")
    places |= _numbers(cell, "backward", ("dc", "dh", "dvectors"), "carry", "row")

    def text(place: StepArray) -> str:
        if place.array == "recurrent":
            return f"sums[{place.gate}]"
        if place.array not in BLOCKS:
            return places[place]
        first = BLOCKS[place.array]
        further = {0: "", 1: " + H"}.get(place.gate, f" + {place.gate} * H")
        return f"{place.array}[{first}{further}]"

    def write(place: StepArray, value: str) -> str:
        return assignment(place, text(place), value)

    return Target(
        read=text,
        write=write,
        functions=FUNCTIONS,
        binds={"sigmoid": (PRODUCT, SUM), "relu_slope": (PRODUCT, 0)},
        named=("dh",),
        is_added=lambda place: place.array == "bias",
    )


def _numbers(cell: str, direction: str, order: tuple[str, ...], array: str, row: str) -> dict[StepArray, str]:
    """Where the numbers lie that a step leaves in a row of `array`, those of c first."""
    stores = work_of(cell, direction).stores
    numbers = [place for place in stores if place.array in order]
    numbers.sort(key=lambda place: (order.index(place.array), place.gate))
    count = len(numbers)
    first = row if count == 1 else f"{count} * {row}"
    places = {}
    for at, place in enumerate(numbers):
        further = f" + {at}" if at else ""
        places[place] = f"{array}[{first}{further}]"
    return places


def _maker(cell: str) -> str:
    target = _target(cell)
    functions = ""
    for direction, arguments in ARGUMENTS.items():
        work = work_of(cell, direction)
        body = lines(work, target)
        dh = StepArray("dh")
        if dh in work.stores:
            body.insert(0, f"dh += {target.read(dh)}")
        inside = indent("\n".join(body), " " * 8)
        functions += f"\n    @cuda.jit(device=True)\n    def {direction}({arguments}):\n{inside}\n"
    constants = ""
    for name, value in CONSTANTS.items():
        if name in functions:
            constants += f"    {name} = scalar_type({value})\n"
    head = f"def _{CELLS[cell].mode}(scalar_type: type) -> Pointwise:"
    return f"\n\n{head}\n{constants}{functions}\n    return Pointwise(forward, backward)\n"

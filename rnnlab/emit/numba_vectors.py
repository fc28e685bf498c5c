"""A step's pointwise work on the units of one packed panel: a loop over vectors, for Numba on the CPU.

Arrays are flat; rnnlab.kernels.packed.vectors loads and stores them.  The type of a number and the length of
a vector are the arrays' own (`lanes`), that of a panel is the target's (`VECTORS`): no text depends on them.
"""

import re
from dataclasses import replace
from functools import cache
from textwrap import dedent, indent

from rnnlab.emit.body import (
    StepArray,
    StepWork,
    Target,
    gate_is_h,
    lines,
    suitable,
    work_of,
)
from rnnlab.emit.folding import folded, signature
from rnnlab.emit.numba_rows import function_name

HEADER = '''"""The pointwise work of a step, forward and backward, on the units of one panel, as vectors.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_vectors: change it there, then `make course`.

The arrays are flat and laid out so that what a panel's units need lies together: gates [T,P,B,G,width] holds
for time step t and panel p all gates of all sequences, c, saved and the like are [T,P,B,width].  `gates_at`
and the like are where the first row (sequence) of a step and panel starts.  h and the gradients of the gates
are rows of their own, [.,B,H], because products read them row by row.

a_r is the sum that gate r is a function of, da_r its gradient.

Forward: gates come in holding the products (without bias), and are left holding the gates; a cell of one gate
has them in h.  bias [G+V,H'] has the vectors of a step behind the biases of the gates.  saved: where a gate
multiplies a recurrent product, that product comes in, and goes out with its bias.  c_at and c_next are places
in c.

Backward: dg is written from dh, the sum of carry [P,B,width], what later steps sent, of dy, and of past
[P,B,width], what reached h past the products; dc and past are left as those before the step.  Where a gate
multiplies a recurrent product, dg has one column more: the gradient of that product's gate for the inputs
comes first, then the other gates', then its gradient for the product.  dvectors, which are laid out as bias,
are added to: the gradients of the cell's own vectors.

`forward` and `backward`, at the end, are the steps of all cells, with the arguments of any.
"""

from numba import njit

from rnnlab.kernels.packed.host import VECTORS
from rnnlab.kernels.packed.panels import OPTIONS
from rnnlab.kernels.packed.vectors import lanes, load, positive, sigmoid, step, store, tanh
'''
STATES = "c c_at c_next saved saved_at h before h_at h_row"
ORDER = {  # arguments of any cell's step, after the number of rows
    "forward": f"rows gates gates_at bias bias_at bias_row {STATES}",
    "backward": f"rows gates gates_at bias bias_at bias_row {STATES} carry dc past at "
    "dy dy_at dy_row dg dg_at dg_row dg_gate dvectors",
}
PLACES = {  # that several lines use
    "unit": "row * width + j",
    "after": "h_at + row * h_row + j",
    "gate": "gates_at + row * {gates} * width + j",
    "out": "dg_at + row * dg_row + j",
}
FUNCTIONS = {
    "one_minus": "1 - {}".format,
    "negative": "-1 * {}".format,
    "relu": "positive({})".format,
    "relu_slope": "{} * step({})".format,
    "tanh_slope": "{0} * (1 - {1} * {1})".format,
    "sigmoid_slope": "{0} * {1} * (1 - {1})".format,
}
NUMBERS = {  # role -> array and place of a vector with one number a unit
    "saved": ("saved", "saved_at + unit"),
    "c": ("c", "c_at + unit"),
    "c_next": ("c", "c_next + unit"),
    "h": ("h", "before + row * h_row + j"),
    "h_next": ("h", "after"),
    "dc": ("dc", "at + unit"),
    "dh": ("past", "at + unit"),
}


def source() -> str:
    """The text of the module."""
    text = HEADER
    for cell in suitable():
        for direction in ORDER:
            _, function = _function(cell, direction)
            text += function
    return text + "".join(map(_any_step, ORDER))


def _target(work: StepWork) -> Target:
    cell = work.cell
    gates = len(cell.gates)
    inner = cell.gates.index(cell.inner_bias) if cell.inner_bias else None
    is_h = gate_is_h(cell)

    def place(place: StepArray) -> tuple[str, str]:
        """Array and place of a vector."""
        if place.array == "recurrent":
            return NUMBERS["saved"]
        if place.array == "gates":
            if is_h:
                return NUMBERS["h_next"]
            return "gates", _plus("gate", place.gate, "width")
        if place.array in ("bias", "vectors", "dvectors"):
            row = gates + place.gate if place.array == "vectors" else place.gate
            unit = _plus("bias_at", row, "bias_row") + " + j"
            return "dvectors" if place.array == "dvectors" else "bias", unit
        if place.array.startswith("dgates"):
            column = _column(place, gates, inner)
            return "dg", _plus("out", column, "dg_gate")
        return NUMBERS[place.array]

    def read(at: StepArray) -> str:
        return "load({}, {})".format(*place(at))

    def write(at: StepArray, value: str) -> str:
        if at.array == "dvectors":
            value = f"{read(at)} + {value}"
        statement = folded("store", [*place(at), value], indent=12)
        return dedent(statement)

    return Target(
        read=read,
        write=write,
        functions=FUNCTIONS,
        named=("dh",),
        is_added=lambda at: at.array == "recurrent" and at.gate != inner,
    )


def _plus(first: str, count: int, distance: str) -> str:
    further = {0: "", 1: f" + {distance}"}.get(count, f" + {count} * {distance}")
    return first + further


def _column(place: StepArray, gates: int, inner: int | None) -> int:
    """The column of dg, in widths of the layer."""
    if inner is None:
        return place.gate
    if place.gate == inner:
        return 0 if place.array == "dgates" else gates
    if place.gate > inner:
        return place.gate
    return place.gate + 1


@cache
def _function(cell: str, direction: str) -> tuple[list[str], str]:
    """The arguments and the text of a cell's step: of all that may be, those that its lines name."""
    work = work_of(cell, direction)
    inner = work.cell.inner_bias
    if inner:  # the recurrent part of the other gates' gradients is the same
        stores = dict(work.stores)
        for gate, name in enumerate(work.cell.gates):
            if name != inner:
                stores.pop(StepArray("dgates_h", gate), None)
        work = replace(work, stores=stores)
    body = lines(work, _target(work))
    if direction == "backward":
        past = "load(past, at + unit) + " if StepArray("dh") in work.stores else ""
        body.insert(0, f"dh = load(carry, at + unit) + {past}load(dy, dy_at + row * dy_row + j)")
    used = _names("\n".join(body))
    gates = len(work.cell.gates)
    places = []
    for name, text in PLACES.items():
        if name in used:
            place = text.format(gates=gates)
            places.append(f"{name} = {place}")
    loop = indent("\n".join([*places, *body]), " " * 12)
    like = "h" if direction == "forward" else "dg"
    inside = f"""\
    vector = lanes({like})
    width = VECTORS * vector
    for row in range(rows):
        for j in range(0, width, vector):
{loop}
"""
    used = _names(inside)
    arguments = [name for name in ORDER[direction].split() if name in used]
    opening = signature(function_name(cell, direction), arguments)
    return arguments, f"\n\n@njit(**OPTIONS)\n{opening}\n{inside}"


def _names(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _any_step(direction: str) -> str:
    """The function that runs the step of the cell with a number."""
    body = ""
    for number, cell in enumerate(suitable()):
        arguments, _ = _function(cell, direction)
        call = folded(function_name(cell, direction), arguments, indent=8)
        condition = "elif" if number else "if"
        body += f"    {condition} number == {number}:\n{call}\n"
    names = ORDER[direction].split()
    opening = signature(direction, ["number", *names])
    return f"\n\n@njit(**OPTIONS)\n{opening}\n{body}"

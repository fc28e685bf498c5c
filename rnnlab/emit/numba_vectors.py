"""A step's pointwise work on the units of one packed panel: a loop over vectors, for Numba on the CPU.

Arrays are flat; rnnlab.kernels.packed.vectors loads and stores them.  The type of a number and the length of
a vector are the arrays' own (`lanes`), that of a panel is the target's (`VECTORS`): no text depends on them.
"""

from dataclasses import replace

from rnnlab.emit.body import (
    StepArray,
    StepWork,
    Target,
    folded,
    gate_is_h,
    lines,
    signature,
    suitable,
    work_of,
)
from rnnlab.emit.numba_rows import function_name

HEADER = '''"""The pointwise work of a step, forward and backward, on the units of one panel, as vectors.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_vectors: change it there, then `make course`.

The arrays are flat and laid out so that what a panel's units need lies together: gates [T,P,B,G,width] holds
for time step t and panel p all gates of all sequences, c, saved and the like are [T,P,B,width].  `gates_at`
and the like are where the first row (sequence) of a step and panel starts.  h and the gradients of the gates
are rows of their own, [.,B,H], because products read them row by row.

Forward: gates come in holding the products (without bias), and are left holding the gates; a cell of one gate
has them in h.  saved: where a gate multiplies a recurrent product, that product comes in, and goes out with
its bias, the last one.  c_at and c_next are places in c.

Backward: dg is written from dh, the sum of carry [P,B,width], what later steps sent, of dy, and of past
[P,B,width], what reached h past the products; dc and past are left as those before the step.  Where a gate
multiplies a recurrent product, dg has one column more: the gradient of that product's gate for the inputs
comes first, then the other gates', then its gradient for the product.

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
    "backward": f"rows gates gates_at {STATES} carry dc past at dy dy_at dy_row dg dg_at dg_row dg_gate",
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
    functions = "".join(_function(cell, way) for cell in suitable() for way in ORDER)
    return HEADER + functions + "".join(map(_any_step, ORDER))


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
            return NUMBERS["h_next"] if is_h else ("gates", _plus("gate", place.gate, "width"))
        if place.array == "bias":
            return "bias", _plus("bias_at", place.gate, "bias_row") + " + j"
        if place.array == "inner_bias":
            return "bias", _plus("bias_at", gates, "bias_row") + " + j"
        if place.array.startswith("dgates"):
            return "dg", _plus("out", _column(place, gates, inner), "dg_gate")
        return NUMBERS[place.array]

    return Target(
        read=lambda at: "load({}, {})".format(*place(at)),
        write=lambda at, value: "store({}, {}, {})".format(*place(at), value),
        functions=FUNCTIONS,
        named=("dh",),
        is_added=lambda at: at.array == "recurrent" and at.gate != inner,
    )


def _plus(first: str, count: int, distance: str) -> str:
    if count == 0:
        return first
    return f"{first} + {distance}" if count == 1 else f"{first} + {count} * {distance}"


def _column(place: StepArray, gates: int, inner: int | None) -> int:
    """The column of dg, in widths of the layer."""
    if inner is None:
        return place.gate
    if place.gate == inner:
        return 0 if place.array == "dgates" else gates
    return place.gate + 1 - (place.gate > inner)


def _function(cell: str, direction: str) -> str:
    work = work_of(cell, direction)
    inner = work.cell.inner_bias
    if inner:  # the recurrent part of the other gates' gradients is the same
        of_inner = StepArray("dgates_h", work.cell.gates.index(inner))
        stores = {at: key for at, key in work.stores.items() if at.array != "dgates_h" or at == of_inner}
        work = replace(work, stores=stores)
    body = _head(work, direction) + lines(work, _target(work))
    loop = ["for row in range(rows):", "    for j in range(0, width, vector):"]
    like = "h" if direction == "forward" else "dg"
    head = [f"vector = lanes({like})", "width = VECTORS * vector"]
    statements = [*head, *loop, *(f"        {line}" for line in body)]
    inside = "".join(f"    {line}\n" for line in statements)
    opening = signature(function_name(cell, direction), _arguments(work, direction))
    return f"\n\n@njit(**OPTIONS)\n{opening}\n{inside}"


def _roles(work: StepWork) -> set[str]:
    return {place.array for place in (*work.loads.values(), *work.stores)}


def _head(work: StepWork, direction: str) -> list[str]:
    """The places that several lines use."""
    gates = len(work.cell.gates)
    roles = _roles(work)
    head = []
    if direction == "backward" or roles & {"saved", "c"}:
        head.append("unit = row * width + j")
    if "h_next" in roles:
        head.append("after = h_at + row * h_row + j")
    if not gate_is_h(work.cell):
        head.append(f"gate = gates_at + row * {gates} * width + j")
    if direction == "backward":
        parts = ["load(carry, at + unit)", "load(dy, dy_at + row * dy_row + j)"]
        if StepArray("dh") in work.stores:
            parts.insert(1, "load(past, at + unit)")
        head += ["out = dg_at + row * dg_row + j", f"dh = {' + '.join(parts)}"]
    return head


def _arguments(work: StepWork, direction: str) -> list[str]:
    """Arrays, and their places, of those that the step has."""
    roles = _roles(work)
    many = len(work.cell.gates) > 1
    pieces = [("rows", True), ("gates gates_at", not gate_is_h(work.cell))]
    if direction == "forward":
        pieces += [("bias bias_at", True), ("bias_row", many)]
    pieces += [("c c_at c_next", "c" in roles), ("saved saved_at", "saved" in roles)]
    pieces += [("h", roles & {"h", "h_next"}), ("before", "h" in roles), ("h_at", "h_next" in roles)]
    pieces.append(("h_row", roles & {"h", "h_next"}))
    if direction == "backward":
        pieces += [("carry", True), ("dc", "dc" in roles), ("past", StepArray("dh") in work.stores)]
        pieces += [("at dy dy_at dy_row dg dg_at dg_row", True), ("dg_gate", many)]
    return [name for names, is_there in pieces if is_there for name in names.split()]


def _any_step(direction: str) -> str:
    """The function that runs the step of the cell with a number."""
    body = ""
    for number, cell in enumerate(suitable()):
        arguments = _arguments(work_of(cell, direction), direction)
        call = folded(function_name(cell, direction), arguments, indent=8)
        body += f"    {'elif' if number else 'if'} number == {number}:\n{call}\n"
    opening = signature(direction, ["number", *ORDER[direction].split()])
    return f"\n\n@njit(**OPTIONS)\n{opening}\n{body}"

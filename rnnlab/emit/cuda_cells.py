"""One unit's part of a step in CUDA C++: functions for each cell, of which CELL chooses one cell's."""

from rnnlab.cells import CELLS
from rnnlab.emit.body import PRODUCT, SUM, StepArray, StepWork, Target, assignment, lines, suitable, work_of
from rnnlab.emit.kernel_properties import properties_of

HEADER = """\
// A cell's work for one unit of one sequence in float32, and what kernels must know of the cell.
// Derived from rnnlab.graphs.cells by rnnlab.emit.cuda_cells: change it there, then `make course`.
//
// CELL is its number in rnnlab/kernels/cells.py, which explains GATES to OWN_VECTORS.  FORWARD_READS_H and
// BACKWARD_READS_H say whether a step reads h, before it or after it.
// step_forward: gates come in holding the products with the inputs, with biases, and are left holding the
// gates; sums are the recurrent products, vectors the unit's numbers beside the biases.  Gives the next h.
// a_r is the sum that gate r is a function of, da_r its gradient.
// step_backward: dh is what reaches h after the step but for past, which goes past the products; dc and past
// are left as those before the step.  dgates and dgates_h get the gradients of the gates' sums: of their part
// from the inputs, and from h.  dvectors are added to: the gradients of the cell's own vectors.
#pragma once
DEVICE float sigmoid(float x) { return 0.5f * fast_tanh(0.5f * x) + 0.5f; }
"""
SIGNATURES = {
    "forward": """\
DEVICE float step_forward(float (&gates)[4], const float (&sums)[4], const Vectors &vectors, float h, float c,
                          float &c_next, float &saved) {
""",
    "backward": """\
DEVICE void step_backward(const float (&gates)[4], const Vectors &vectors, float saved, float h, float h_next,
                          float c, float c_next, float dh, float &dc, float &past, float (&dgates)[4],
                          float (&dgates_h)[4], Vectors &dvectors) {
""",
}
FLAGS = "HAS_C", "SAVES", "PASSES_H", "FORWARD_READS_H", "BACKWARD_READS_H"
BLOCKS = "gates", "dgates", "dgates_h", "vectors", "dvectors"


def source() -> str:
    """The text of the header."""
    cells = [_cell(number, cell) for number, cell in enumerate(suitable())]
    return HEADER + "".join(cells) + "#endif\n"


def _place(place: StepArray) -> str:
    if place.array in BLOCKS:
        return f"{place.array}[{place.gate}]"
    if place.array == "recurrent":
        return f"sums[{place.gate}]"
    return "past" if place.array == "dh" else place.array


def _write(place: StepArray, value: str) -> str:
    if place.array == "h_next":
        return f"return {value}"
    return assignment(place, _place(place), value)


TARGET = Target(
    read=_place,
    write=_write,
    functions={
        "one_minus": "1 - {}".format,
        "tanh": "fast_tanh({})".format,
        "relu": "fmaxf({}, 0.f)".format,
        "relu_slope": "{1} > 0 ? {0} : 0.f".format,
        "tanh_slope": "{0} * (1 - {1} * {1})".format,
        "sigmoid_slope": "{0} * {1} * (1 - {1})".format,
    },
    binds={"relu_slope": (PRODUCT, 0), "relu": (SUM, PRODUCT + 1)},
    named=("dh",),
    is_added=lambda place: place.array == "bias",
    statement="const float {} = {}".format,
)


def _cell(number: int, cell: str) -> str:
    """The part of the header for one cell."""
    properties = CELLS[cell]
    _, gates, inner, _, *flags, vectors, own = properties_of(cell, number)
    functions = ""
    for direction, signature in SIGNATURES.items():
        work = work_of(cell, direction)
        arrays = {place.array for place in work.loads.values()}
        flags.append("h" in arrays or "h_next" in arrays)
        body = "".join(f"  {line};\n" for line in _body(work, direction))
        functions += f"{signature}{body}}}\n"
    condition = "elif" if number else "if"
    names = " ".join(properties.gates)
    text = f"#{condition} CELL == {number}  // {properties.mode}: gates {names}\n"
    text += f"constexpr int GATES = {gates}, INNER = {inner}, VECTORS = {vectors}, OWN_VECTORS = {own};\n"
    text += "typedef float Vectors[VECTORS + 1];\n"  # C++ has no array of length 0
    values = []
    for name, flag in zip(FLAGS, flags, strict=True):
        value = "true" if flag else "false"
        values.append(f"{name} = {value}")
    listed = ", ".join(values)
    text += f"constexpr bool {listed};\n"
    return text + functions


def _body(work: StepWork, direction: str) -> list[str]:
    body = lines(work, TARGET)
    if direction == "forward":  # what is returned comes last
        return sorted(body, key=lambda line: line.startswith("return"))
    if StepArray("dh") in work.stores:
        body.insert(0, "dh += past")
    if StepArray("dgates_h") not in work.stores:
        gates = len(work.cell.gates)
        body.append(f"for (int g = 0; g < {gates}; g++) dgates_h[g] = dgates[g]")
    return body

"""A step's pointwise work for one sequence: a loop over its units, for Numba on the CPU.

Each array is a row of its own: an index of two dimensions would keep LLVM from proving that arrays do not
overlap, and the loop would take six times as long.
"""

from textwrap import dedent, indent

from rnnlab.cells import CELLS
from rnnlab.emit.body import (
    SUM,
    StepArray,
    StepWork,
    Target,
    assignment,
    folded,
    lines,
    signature,
    suitable,
    work_of,
)

HEADER = '''"""A step's pointwise work for one sequence, forward and backward, each in a loop over its units.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_rows: change it there, then `make course`.

Rows: gates [G·H] holds the input product and is left holding the gates; recurrent [G·H] is the recurrent
product; vectors [V·H] are numbers of each unit beside the bias; saved [H] is what a gradient needs beside
gates and states.  Backward writes dgates [G·H] (and dgates_h where the recurrent part differs) and adds to
dvectors, the gradients of the cell's own vectors.  dh [H] is the gradient after the step; where a state
reaches the next one past the products, its gradient is left as the one before the step, without what the
products add.
ROWS, at the end, has loops over n sequences from `lo` on, of step t of arrays of all steps; see rows.Rows.
"""

import numpy as np
from numba import njit

from rnnlab.kernels.compiled.nonlinear import sigmoid, tanh
from rnnlab.kernels.compiled.rows import OPTIONS, Rows, add_gradients, add_up
'''
ORDER = {
    "forward": "gates recurrent bias vectors h c saved c_next h_next".split(),
    "backward": "gates vectors saved h c c_next h_next dh dc dgates dgates_h dvectors".split(),
}


def source() -> str:
    """The text of the module."""
    makers = (_function, _row_loop)
    functions = "".join(make(cell, way) for cell in suitable() for make in makers for way in ORDER)
    row = '    "{0}": Rows(_{0}_rows, _{0}_rows_backward),\n'.format
    rows = "".join(row(CELLS[cell].mode) for cell in suitable())
    return f"{HEADER}{functions}\n\nROWS = {{\n{rows}}}\n"


def _place(place: StepArray) -> str:
    if place.gate == 0:
        return f"{place.array}[j]"
    return f"{place.array}[{'H' if place.gate == 1 else f'{place.gate} * H'} + j]"


TARGET = Target(
    read=_place,
    write=lambda place, value: assignment(place, _place(place), value),
    functions={
        "relu": "zero if {0} < zero else {0}".format,  # NaN stays NaN
        "relu_slope": "{0} * (one if {1} > zero else zero)".format,
    },
    binds={"relu": (SUM, 0)},  # the text is a condition
    repeated={"relu": 0},
)


def arguments(work: StepWork, direction: str) -> list[str]:
    """The arrays of a step, in the order of its function's arguments."""
    arrays = {place.array for place in (*work.loads.values(), *work.stores)}
    return [name for name in ORDER[direction] if name in arrays]


def function_name(cell: str, direction: str) -> str:
    """The name of a step's function: the cell's mode, since one of two GRUs has a loop."""
    mode = CELLS[cell].mode
    return mode if direction == "forward" else f"{mode}_backward"


def _function(cell: str, direction: str) -> str:
    work = work_of(cell, direction)
    own = arguments(work, direction)
    body = lines(work, TARGET)
    text = "\n".join(body)
    size = own[-1] if direction == "forward" else "dh"
    head = [f"H = {size}.size"]
    head += [
        f"{name} = {size}.dtype.type({value})" for value, name in enumerate(("zero", "one")) if name in text
    ]
    name = function_name(cell, direction)
    statements = [*head, "for j in range(H):", *(f"    {line}" for line in body)]
    inside = "".join(f"    {line}\n" for line in statements)
    return f"\n\n@njit(**OPTIONS)\ndef {name}({', '.join(own)}):\n{inside}"


ROW_ARGUMENTS = {
    "forward": "t, after, lo, gates, recurrent, bias, vectors, h, c, saved, c_next, h_next",
    "backward": "t, lo, gates, vectors, saved, h, c, dy, carry, past, dc, dgates, dgates_h, "
    "dvectors, db, db_h",
}
# where sequence b of a step lies in the arrays of all steps; other names stand for row `row` of [n, …]
ROW_PLACES = {
    "forward": {
        **dict.fromkeys(("gates", "h", "c", "saved"), "{}[t, b]"),
        **{name: f"{name}[after, b]" for name in ("c_next", "h_next")},
        **dict.fromkeys(("bias", "vectors"), "{}"),
    },
    "backward": {
        **dict.fromkeys(("gates", "saved", "h", "c", "dgates", "dgates_h"), "{}[t, b]"),
        **{f"{name}_next": f"{name}[t + 1, b]" for name in ("c", "h")},
        **dict.fromkeys(("vectors", "dvectors"), "{}"),
        "dc": "dc[b]",
        "dh": "past[row]",
    },
}


def _row_loop(cell: str, direction: str) -> str:
    """The loop over sequences, whose arguments are those of every cell.

    It takes the rows that it needs out of the arrays itself: a view that the caller makes costs two changes
    of a counter that threads share, in each step.
    """
    work = work_of(cell, direction)
    own = arguments(work, direction)
    places = {name: ROW_PLACES[direction].get(name, "{}[row]").format(name) for name in own}
    first = []
    rows = "recurrent" if direction == "forward" else "carry"
    if direction == "backward" and StepArray("dh") not in work.stores:  # an array that overlaps no other
        first = ["sum_of_row = np.empty(dy.shape[2], dy.dtype)"]
        places["dh"] = "sum_of_row"
    body = [dedent(folded(function_name(cell, direction), [places[name] for name in own], indent=8))]
    if direction == "backward":
        body.insert(0, f"add_gradients({places['dh']}, carry[row], dy[t, b])")
        sums = {"db": "dgates", "db_h": "dgates_h"}
        body += [f"add_up({total}, {places[array]})" for total, array in sums.items() if array in own]
    name = function_name(cell, direction).replace(CELLS[cell].mode, f"_{CELLS[cell].mode}_rows", 1)
    loop = indent("\n".join(("b = lo + row", *body)), " " * 4)
    inside = indent("\n".join((*first, f"for row in range(len({rows})):", loop)), " " * 4)
    head = signature(name, ROW_ARGUMENTS[direction].split(", "))
    return f"\n\n@njit(**OPTIONS)\n{head}\n{inside}\n"

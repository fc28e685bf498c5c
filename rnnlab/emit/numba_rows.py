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
    lines,
    suitable,
    work_of,
)
from rnnlab.emit.folding import folded, signature

HEADER = '''"""A step's pointwise work for one sequence, forward and backward, each in a loop over its units.

Derived from rnnlab.graphs.cells by rnnlab.emit.numba_rows: change it there, then `make course`.

Rows: gates [G·H] holds the input product and is left holding the gates; recurrent [G·H] is the recurrent
product; vectors [V·H] are numbers of each unit beside the bias; saved [H] is what a gradient needs beside
gates and states.  a_r is the sum that gate r is a function of, da_r its gradient.  Backward writes these
gradients to dgates [G·H] (and to dgates_h where the recurrent part differs) and adds to dvectors, the
gradients of the cell's own vectors.  dh [H] is the gradient after the step; where a state reaches the next
one past the products, its gradient is left as the one before the step, without what the products add.
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
    functions = ""
    rows = ""
    for cell in suitable():
        for make in (_function, _row_loop):
            functions += "".join(make(cell, direction) for direction in ORDER)
        mode = CELLS[cell].mode
        rows += f'    "{mode}": Rows(_{mode}_rows, _{mode}_rows_backward),\n'
    return f"{HEADER}{functions}\n\nROWS = {{\n{rows}}}\n"


def _place(place: StepArray) -> str:
    distance = {0: "", 1: "H + "}.get(place.gate, f"{place.gate} * H + ")
    return f"{place.array}[{distance}j]"


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
    places = [*work.loads.values(), *work.stores]
    arrays = {place.array for place in places}
    return [name for name in ORDER[direction] if name in arrays]


def function_name(cell: str, direction: str) -> str:
    """The name of a step's function: the cell's mode, since one of two GRUs has a loop."""
    mode = CELLS[cell].mode
    return mode if direction == "forward" else f"{mode}_backward"


def _function(cell: str, direction: str) -> str:
    work = work_of(cell, direction)
    own = arguments(work, direction)
    body = lines(work, TARGET)
    loop = indent("\n".join(body), " " * 8)
    size = own[-1] if direction == "forward" else "dh"
    head = f"    H = {size}.size\n"
    for value, name in enumerate(("zero", "one")):
        if name in loop:
            head += f"    {name} = {size}.dtype.type({value})\n"
    name = function_name(cell, direction)
    listed = ", ".join(own)
    return f"\n\n@njit(**OPTIONS)\ndef {name}({listed}):\n{head}    for j in range(H):\n{loop}\n"


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
    places = {}
    for array in own:
        place = ROW_PLACES[direction].get(array, "{}[row]")
        places[array] = place.format(array)
    before = ""
    rows = "recurrent" if direction == "forward" else "carry"
    if direction == "backward" and StepArray("dh") not in work.stores:  # an array that overlaps no other
        before = "    sum_of_row = np.empty(dy.shape[2], dy.dtype)\n"
        places["dh"] = "sum_of_row"
    name = function_name(cell, direction)
    call = folded(name, [places[array] for array in own], indent=8)
    body = ["b = lo + row", dedent(call)]
    if direction == "backward":
        body.insert(1, f"add_gradients({places['dh']}, carry[row], dy[t, b])")
        for total, array in (("db", "dgates"), ("db_h", "dgates_h")):
            if array in own:
                body.append(f"add_up({total}, {places[array]})")
    mode = CELLS[cell].mode
    loop = indent("\n".join(body), " " * 8)
    head = signature(name.replace(mode, f"_{mode}_rows", 1), ROW_ARGUMENTS[direction].split(", "))
    return f"\n\n@njit(**OPTIONS)\n{head}\n{before}    for row in range(len({rows})):\n{loop}\n"

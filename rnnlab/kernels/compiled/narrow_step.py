"""A step of all layers with narrow weights, in one compiled call."""

from collections.abc import Callable
from functools import cache

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic

from rnnlab.kernels.compiled import narrow, one_step, shared_blocks
from rnnlab.kernels.compiled.narrow import FIELDS, FIRST, ROWS
from rnnlab.kernels.compiled.of_cell import compiled_for
from rnnlab.kernels.compiled.rows import OPTIONS

finish = None  # of the cell: `layers_step` gives each copy of the function below its own


@cache
def layers_step(cell: str) -> Callable:
    """A step of a cell's layers, compiled, on x [B,I] and their state; False if a number is not finite.

    (x, h, c, out, plan, room, job, members): out [S·L,B,H] is written, S states of all layers.  plan holds
    the FIRST numbers of a job, then FIELDS for each of the two products of each layer: see
    narrow.multiply_block; each call changes its IS_BACKWARD.  room is for inputs: 2·B rows of uint32, with
    one number more than the words of a product.  As many members share the work as this job has room for,
    whatever other callers of the same plan have.  A cell without c takes h twice.
    """
    return compiled_for(cell, _layers_step, finish=one_step.one_step(cell).finish)


def _layers_step(x, h, c, out, plan, room, job, members):
    B = len(x)
    L = len(h)
    rows = plan[narrow.GATE_ROWS]
    padded_rows = plan[narrow.BLOCKS] * ROWS
    plan[narrow.IS_BACKWARD] = 1 - plan[narrow.IS_BACKWARD]
    gates_x = np.empty((1, B, padded_rows), np.float32)
    gates_h = np.empty((B, padded_rows), np.float32)
    room_h = room[room.size // 2 :]
    inputs = x
    for layer in range(L):
        at = FIRST + 2 * FIELDS * layer
        middle = at + FIELDS
        first = plan[at:middle]
        second = plan[middle : middle + FIELDS]
        if not (
            _write_inputs(plan, first, inputs, room)
            and _write_inputs(plan, second, h[layer], room_h)
            and (len(out) == L or one_step.is_finite(c[layer]))
        ):
            return False
        shared_blocks.begin(job)
        job[:FIRST] = plan[:FIRST]
        job[narrow.MEMBERS] = members
        job[narrow.SEQUENCES] = B
        _write_product(job, FIRST, first, B, room, gates_x.ctypes.data)
        _write_product(job, FIRST + FIELDS, second, B, room_h, gates_h.ctypes.data)
        shared_blocks.compute(job)
        bias_ih = carray(_numbers(first[narrow.BIAS]), (rows,))
        bias_hh = carray(_numbers(second[narrow.BIAS]), (rows,))
        part = slice(layer, layer + 1)
        following = len(out) - L + layer
        c_next = out[following : following + 1]
        vectors = bias_ih  # any array: a cell with narrow weights has no vectors of its own
        finish(gates_x, gates_h, bias_ih, bias_hh, vectors, h[part], c[part], out[part], c_next)
        inputs = out[layer]
    return True


@njit(**OPTIONS)
def _write_inputs(plan, fields, inputs, room):
    """Write inputs to their room, whose first numbers are scales; False if one of them is not finite."""
    B = len(inputs)
    scale = room[:B].view(np.float32)
    is_bytes = plan[narrow.IS_BYTES]
    steps = fields[narrow.STEPS]
    return narrow.write_inputs(inputs, is_bytes, steps, room[B:], scale)


@njit(**OPTIONS)
def _write_product(job, first, fields, B, room, out):
    """Write a product's numbers to a job."""
    job[first : first + FIELDS] = fields
    job[first + narrow.INPUTS] = room[B:].ctypes.data
    job[first + narrow.INPUT_SCALE] = room.ctypes.data
    job[first + narrow.OUT] = out


@intrinsic
def _numbers(context, address):
    """The pointer to float32 numbers at this address."""

    def codegen(context, builder, signature, values):
        return builder.inttoptr(values[0], ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(types.int64), codegen

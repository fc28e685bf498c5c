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

    (x, h, c, h_next, c_next, head, layers, room, job): h_next and c_next [L,B,H] are written.  head and
    layers [L,2,FIELDS] hold a job's numbers, those before its products and those of its products: see
    narrow.multiply_block; each call changes head's IS_BACKWARD.  room is for inputs: 2·B rows of uint32, with
    one number more than the words of a product.  A cell without c takes h twice.
    """
    return compiled_for(cell, _layers_step, finish=one_step.one_step(cell).finish)


def _layers_step(x, h, c, h_next, c_next, head, layers, room, job):
    B = len(x)
    rows = head[narrow.GATE_ROWS]
    head[narrow.IS_BACKWARD] = 1 - head[narrow.IS_BACKWARD]
    gates_x = np.empty((1, B, head[narrow.BLOCKS] * ROWS), np.float32)
    gates_h = np.empty((B, head[narrow.BLOCKS] * ROWS), np.float32)
    inputs = x
    for layer in range(len(layers)):
        if not (one_step.is_finite(inputs) and one_step.is_finite(h[layer]) and one_step.is_finite(c[layer])):
            return False
        shared_blocks.begin(job)
        job[:FIRST] = head
        job[narrow.SEQUENCES] = B
        own = layers[layer]
        _write_product(job, FIRST, own[0], inputs, room, gates_x.ctypes.data)
        _write_product(job, FIRST + FIELDS, own[1], h[layer], room[room.size // 2 :], gates_h.ctypes.data)
        shared_blocks.compute(job)
        bias_ih = carray(_numbers(own[0, narrow.BIAS]), (rows,))
        bias_hh = carray(_numbers(own[1, narrow.BIAS]), (rows,))
        part = slice(layer, layer + 1)
        finish(gates_x, gates_h, bias_ih, bias_hh, h[part], c[part], h_next[part], c_next[part])
        inputs = h_next[layer]
    return True


@njit(**OPTIONS)
def _write_product(job, first, fields, inputs, room, out):
    """Write a product's numbers to a job, and its inputs to their room, whose first numbers are scales."""
    B = len(inputs)
    scale = room[:B].view(np.float32)
    room = room[B:]
    narrow.write_inputs(inputs, job[narrow.IS_BYTES], fields[narrow.STEPS], room, scale)
    job[first : first + FIELDS] = fields
    job[first + narrow.INPUTS] = room.ctypes.data
    job[first + narrow.INPUT_SCALE] = scale.ctypes.data
    job[first + narrow.OUT] = out


@intrinsic
def _numbers(context, address):
    """The pointer to float32 numbers at this address."""

    def codegen(context, builder, signature, values):
        return builder.inttoptr(values[0], ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(types.int64), codegen

"""Products with weights of 16 and of 8 bits, for one step of a few sequences: each weight is read once.

The integer product is one instruction for 64 numbers where Numba's target has it (VPDPBUSD of AVX-512 VNNI,
which multiplies unsigned by signed bytes), and a loop elsewhere.  Unsigned inputs are the signed ones plus
OFFSET, so a row's sum of weights times OFFSET is subtracted again.  rnnlab/narrow.py has the two formats.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from rnnlab.kernels.compiled import one_step
from rnnlab.kernels.compiled.of_cell import compiled_for
from rnnlab.kernels.compiled.rows import OPTIONS
from rnnlab.kernels.packed.host import FEATURES, enabled
from rnnlab.narrow import BLOCK, LARGEST, Bfloat16Weights

OFFSET = 128  # makes a signed byte unsigned
HAS_BYTE_PRODUCTS = {"avx512f", "avx512vnni"} <= enabled(FEATURES)

BYTES = ir.VectorType(ir.IntType(32), BLOCK // 4)


@intrinsic
def _as_float32(context, bits):
    """The float32 with these 32 bits."""

    def codegen(context, builder, signature, values):
        return builder.bitcast(values[0], ir.FloatType())

    return types.float32(types.uint32), codegen


@intrinsic
def _byte_products(context, weights, inputs):
    """The sum of weights [K] of signed bytes times inputs [K] of unsigned ones; K is a multiple of BLOCK."""

    def codegen(context, builder, signature, values):
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        return _emit_sum(builder, *(array.data for array in arrays), arrays[0].nitems)

    return types.int32(weights, inputs), codegen


def _emit_sum(builder, weights, inputs, count):
    """A loop over blocks of bytes; four products are added to each 32-bit number of the vector."""
    entry = builder.block
    loop = builder.append_basic_block("products")
    end = builder.append_basic_block("sum")
    builder.branch(loop)
    builder.position_at_end(loop)
    k = builder.phi(count.type)
    total = builder.phi(BYTES)
    blocks = [
        builder.load(builder.bitcast(builder.gep(pointer, [k]), BYTES.as_pointer()), align=1)
        for pointer in (inputs, weights)
    ]
    product = ir.FunctionType(BYTES, [BYTES] * 3)
    multiply = cgutils.get_or_insert_function(builder.module, product, "llvm.x86.avx512.vpdpbusd.512")
    following = builder.call(multiply, [total, *blocks])
    step = builder.add(k, count.type(BLOCK))
    k.add_incoming(count.type(0), entry)
    k.add_incoming(step, loop)
    total.add_incoming(ir.Constant(BYTES, [0] * BYTES.count), entry)
    total.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", step, count), loop, end)
    builder.position_at_end(end)
    addition = ir.FunctionType(BYTES.element, [BYTES])
    add = cgutils.get_or_insert_function(
        builder.module, addition, f"llvm.vector.reduce.add.v{BYTES.count}i32"
    )
    return builder.call(add, [following])


def _sum_products(weights, inputs):
    """The sum of weights [K] int8 times inputs [K] uint8, in 32 bits."""
    return np.int32(weights.astype(np.int32) @ inputs.astype(np.int32))


@overload(_sum_products, inline="never")
def _sum_products_compiled(weights, inputs):
    if HAS_BYTE_PRODUCTS:
        return lambda weights, inputs: _byte_products(weights, inputs)

    def by_loop(weights, inputs):
        total = np.int32(0)
        for k in range(weights.size):
            total = np.int32(total + np.int32(weights[k]) * np.int32(inputs[k]))
        return total

    return by_loop


@njit(**OPTIONS)
def bfloat16_product(even, odd, weights, out, lo, hi):
    """out [B,N] for the rows lo … hi of pairs of weights [N,P], from the even and the odd inputs [B,P]."""
    upper = np.uint32(0xFFFF0000)
    for j in range(lo, hi):
        row = weights[j]
        for b in range(len(even)):
            first = even[b]
            second = odd[b]
            total = np.float32(0)
            for k in range(row.size):
                total += _as_float32(np.uint32(row[k] << np.uint32(16))) * first[k]
                total += _as_float32(np.uint32(row[k] & upper)) * second[k]
            out[b, j] = total


@njit(**OPTIONS)
def split_inputs(inputs, even, odd):
    """Write the inputs [B,K] of even and of odd columns, each [B,(K+1)//2]."""
    for b in range(len(inputs)):
        for k in range(inputs.shape[1]):
            if k % 2:
                odd[b, k // 2] = inputs[b, k]
            else:
                even[b, k // 2] = inputs[b, k]


@njit(**OPTIONS)
def quantize_inputs(inputs, values, scale):
    """Write inputs [B,K] as unsigned bytes values [B,K rounded up] and scale [B]."""
    for b in range(len(inputs)):
        row = inputs[b]
        largest = np.float32(0)
        for k in range(row.size):
            largest = max(largest, abs(row[k]))
        factor = np.float32(LARGEST) / largest if largest > 0 else np.float32(0)
        scale[b] = largest / np.float32(LARGEST)
        for k in range(row.size):
            values[b, k] = np.uint8(np.int32(np.rint(row[k] * factor)) + np.int32(OFFSET))


@njit(**OPTIONS)
def int8_product(inputs, input_scale, weights, scale, total, out, lo, hi):
    """out [B,N] for the rows lo … hi of the weights, from inputs that `quantize_inputs` wrote."""
    for j in range(lo, hi):
        row = weights[j]
        for b in range(len(inputs)):
            whole = _sum_products(row, inputs[b]) - np.int32(OFFSET) * total[j]
            out[b, j] = np.float32(whole) * (scale[j] * input_scale[b])


def multiply(inputs, weights, out, lo, hi):
    """out [B,N] = inputs [B,K] weightsᵀ for the rows lo … hi of Bfloat16Weights or Int8Weights."""
    raise NotImplementedError("compiled code alone multiplies by narrow weights: widen them for NumPy")


@overload(multiply)
def _multiply(inputs, weights, out, lo, hi):
    if len(weights) == len(Bfloat16Weights._fields):

        def by_halves(inputs, weights, out, lo, hi):
            even = np.zeros((len(inputs), weights.values.shape[1]), np.float32)
            odd = np.zeros_like(even)
            split_inputs(inputs, even, odd)
            bfloat16_product(even, odd, weights.values, out, lo, hi)

        return by_halves

    def by_bytes(inputs, weights, out, lo, hi):
        rounded = np.full((len(inputs), weights.values.shape[1]), np.uint8(OFFSET))
        scale = np.empty(len(inputs), np.float32)
        quantize_inputs(inputs, rounded, scale)
        int8_product(rounded, scale, weights.values, weights.scale, weights.total, out, lo, hi)

    return by_bytes


@njit(**OPTIONS)
def products(x, h, weights_ih, weights_hh, gates_x, gates_h, lo, hi):
    """gates_x and gates_h [B,G·H] for the rows lo … hi of both matrices of weights."""
    multiply(x, weights_ih, gates_x, lo, hi)
    multiply(h, weights_hh, gates_h, lo, hi)


finish = None  # of the cell: `layer_step` gives each copy of the function below its own


@cache
def layer_step(cell: str) -> Callable:
    """A step of one layer of a cell, compiled, on x [B,I] and its state; False if one is not finite.

    (x, weights_ih, weights_hh, bias_ih, bias_hh, h, c, h_next, c_next): h_next and c_next [1,B,H] are
    written.  A cell without c takes h twice.
    """
    return compiled_for(cell, _layer_step, finish=one_step.one_step(cell).finish)


def _layer_step(x, weights_ih, weights_hh, bias_ih, bias_hh, h, c, h_next, c_next):
    if not (one_step.is_finite(x) and one_step.is_finite(h[0]) and one_step.is_finite(c[0])):
        return False
    gates_x = np.empty((1, len(x), bias_ih.size), np.float32)
    gates_h = np.empty((len(x), bias_hh.size), np.float32)
    products(x, h[0], weights_ih, weights_hh, gates_x[0], gates_h, 0, bias_ih.size)
    finish(gates_x, gates_h, bias_ih, bias_hh, h, c, h_next, c_next)
    return True

"""Products with weights of 16 and of 8 bits, for one step of a few sequences: each weight is read once.

Weights lie in blocks (ladder/narrow_weights.py): 64 bytes belong to ROWS rows, so that one vector instruction
adds to the sums of all of them, and no sum over lanes is needed.  UNROLL steps of the block add to sums of
their own: an instruction waits four cycles for the one before it in its sum.

Bytes: VPDPBUSD multiplies four unsigned inputs by four signed weights of each row, where AVX-512 VNNI or
AVX-VNNI has it; elsewhere 16-bit products take its place, with the same sums of whole numbers.  Unsigned
inputs are the signed ones plus OFFSET, so a row's sum starts at -OFFSET times the sum of its weights.
bfloat16: a weight is widened to float32 by a shift, and the inputs stay float32.  VDPBF16PS would round them
too, and gains nothing here: a second-level cache delivers 64 bytes in as many cycles as two FMAs take.
"""

from functools import reduce

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from rnnlab.kernels.compiled.nonlinear import IN_ORDER
from rnnlab.kernels.compiled.one_step import is_finite
from rnnlab.kernels.compiled.rows import OPTIONS
from rnnlab.kernels.packed.host import BYTE_PRODUCTS, FUSED
from rnnlab.kernels.packed.kernel import I64, Form, emit_floats, emit_loop, emit_multiply_add
from rnnlab.kernels.packed.vectors import emit_call, emit_spread
from rnnlab.narrow import LARGEST

OFFSET = 128  # makes a signed byte unsigned
ROWS = 16  # rows of weights in a block: as many 32-bit sums fill a vector of AVX-512
UNROLL = 4  # steps of a block that are computed at once: their number is a multiple
EXACT = OPTIONS | IN_ORDER  # the same products of floats on every processor
LINE = 4 * ROWS  # bytes of a step of a block, a cache line
FLOATS = Form(rows=1, vectors=1, lanes=ROWS, number=ir.FloatType(), is_fused=FUSED, takes_pairs=True)
WORD = ir.IntType(32)
WORDS = ir.VectorType(WORD, ROWS)
# numbers of a job, and those of each of its two products, which follow: see `multiply_block`
GATE_ROWS, BLOCKS, IS_BYTES, MEMBERS, IS_BACKWARD, SEQUENCES, FIRST = range(7)
BIAS, WEIGHTS, SCALE, START, STEPS, INPUTS, INPUT_SCALE, OUT, FIELDS = range(9)
JOB = FIRST + 2 * FIELDS


@intrinsic
def _multiply_bytes(context, weights, inputs, steps, start, scale, input_scale, out):
    """Write a block's sums for one sequence; all but `steps` are addresses, scale and start those of rows."""

    def codegen(context, builder, signature, values):
        weights, inputs, steps, *places = values
        sums = _emit_sums(builder, weights, inputs, steps, WORDS, 1, _emit_byte_products)
        kinds = WORDS, FLOATS.vector, FLOATS.number, FLOATS.vector
        start, scale, input_scale, out = (
            builder.inttoptr(place, kind.as_pointer()) for place, kind in zip(places, kinds, strict=True)
        )
        whole = builder.add(sums, builder.load(start, align=4))
        spread = emit_spread(builder, FLOATS.vector, builder.load(input_scale))
        factor = builder.fmul(builder.load(scale, align=4), spread)
        number = builder.sitofp(whole, FLOATS.vector)
        builder.store(builder.fmul(number, factor), out, align=4)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), codegen


@intrinsic
def _multiply_pairs(context, weights, inputs, steps, out):
    """Write a block's sums for one sequence; all but `steps` are addresses."""

    def codegen(context, builder, signature, values):
        *operands, out = values
        sums = _emit_sums(builder, *operands, FLOATS.vector, 2, _emit_pair_products)
        place = builder.inttoptr(out, FLOATS.vector.as_pointer())
        builder.store(sums, place, align=4)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


def _emit_sums(builder, weights, inputs, steps, kind, words, emit_products):
    """The sums [ROWS] over a block's steps, each with so many 32-bit words of the inputs."""

    def emit_turn(k, sums):
        following = []
        for u, total in enumerate(sums):
            step = builder.add(k, I64(u))
            distance = builder.mul(step, I64(LINE))
            line = builder.add(weights, distance)
            block = builder.load(builder.inttoptr(line, WORDS.as_pointer()), align=4)
            distance = builder.mul(step, I64(4 * words))
            place = builder.add(inputs, distance)
            first = builder.inttoptr(place, WORD.as_pointer())
            spread = []
            for word in range(words):
                number = builder.load(builder.gep(first, [WORD(word)]))
                spread.append(emit_spread(builder, WORDS, number))
            following.append(emit_products(builder, total, block, *spread))
        return following

    zero = ir.Constant(kind, None)
    _, sums = emit_loop(builder, I64(0), steps, UNROLL, [zero] * UNROLL, emit_turn)
    add = builder.add if kind == WORDS else builder.fadd
    return reduce(add, sums)


def _emit_byte_products(builder, total, weights, inputs):
    """The sums [ROWS] plus four products each, of signed weights and unsigned inputs."""
    if not BYTE_PRODUCTS:
        return _emit_wide_byte_products(builder, total, weights, inputs)
    lanes = BYTE_PRODUCTS // 32
    part = ir.VectorType(WORD, lanes)
    name = f"llvm.x86.avx512.vpdpbusd.{BYTE_PRODUCTS}"
    parts = []
    for low in range(0, ROWS, lanes):
        own = range(low, low + lanes)
        operands = [_chosen(builder, vector, vector, own) for vector in (total, inputs, weights)]
        parts.append(emit_call(builder, name, operands, part))
    return _chosen(builder, parts[0], parts[-1], range(ROWS))


def _chosen(builder, first, second, lanes):
    """A vector of these lanes of two, counted through."""
    kind = ir.VectorType(WORD, len(lanes))
    return builder.shuffle_vector(first, second, ir.Constant(kind, [*lanes]))


def _emit_wide_byte_products(builder, total, weights, inputs):
    """The same by products of 16 bits, which LLVM knows how to add by pairs (VPMADDWD)."""
    halves = ir.VectorType(ir.IntType(16), 2 * ROWS)
    wide = ir.VectorType(WORD, 2 * ROWS)
    byte = ir.Constant(halves, [8] * halves.count)
    low_byte = ir.Constant(halves, [255] * halves.count)
    weights = builder.bitcast(weights, halves)
    inputs = builder.bitcast(inputs, halves)
    raised = builder.shl(weights, byte)
    even = builder.ashr(raised, byte), builder.and_(inputs, low_byte)
    odd = builder.ashr(weights, byte), builder.lshr(inputs, byte)
    for signed_weights, own_inputs in (even, odd):
        factor = builder.sext(signed_weights, wide)
        product = builder.mul(factor, builder.sext(own_inputs, wide))
        for first in (0, 1):
            lanes = range(first, wide.count, 2)
            total = builder.add(total, _chosen(builder, product, product, lanes))
    return total


def _emit_pair_products(builder, total, weights, even, odd):
    """The sums [ROWS] plus two products each, of bfloat16 weights and float32 inputs."""
    form = FLOATS._replace(takes_pairs=False)
    second, first = emit_floats(builder, FLOATS, weights)
    for factor, bits in ((first, even), (second, odd)):
        numbers = builder.bitcast(bits, FLOATS.vector)
        total = emit_multiply_add(builder, form, factor, numbers, total)
    return total


@njit(**EXACT)
def multiply_block(job, block):
    """A block of a job's two products for all sequences: it is in the first cache from the second one on.

    job: BLOCKS of ROWS rows, SEQUENCES, IS_BYTES, IS_BACKWARD, MEMBERS; for each product the addresses of its
    WEIGHTS, SCALE and START [rows], INPUTS [B,words] and their INPUT_SCALE [B], OUT [B,rows], and STEPS.
    """
    for product in (FIRST, FIRST + FIELDS):
        steps = job[product + STEPS]
        weights = job[product + WEIGHTS] + block * steps * LINE
        rows = LINE * block
        for b in range(job[SEQUENCES]):
            line = b * job[BLOCKS] + block
            out = job[product + OUT] + LINE * line
            inputs = job[product + INPUTS]
            if job[IS_BYTES]:
                inputs += 4 * b * steps
                input_scale = job[product + INPUT_SCALE] + 4 * b
                start = job[product + START] + rows
                scale = job[product + SCALE] + rows
                _multiply_bytes(weights, inputs, steps, start, scale, input_scale, out)
            else:
                inputs += 8 * b * steps
                _multiply_pairs(weights, inputs, steps, out)


@njit(**OPTIONS)
def write_inputs(inputs, is_bytes, steps, room, scale):
    """Write inputs [B,K] to the flat room [B,words] of uint32, and to scale [B] if they become bytes.

    False if one of them is not finite: then what was written has no meaning.
    """
    words = steps if is_bytes else 2 * steps
    if not is_bytes and not is_finite(inputs):
        return False
    for b in range(len(inputs)):
        own = room[b * words : (b + 1) * words]
        if is_bytes:
            scale[b] = _quantize(inputs[b], own.view(np.uint8))
            if not scale[b] < np.inf:
                return False
        else:
            numbers = own.view(np.float32)
            for k in range(inputs.shape[1]):
                numbers[k] = inputs[b, k]
            numbers[inputs.shape[1] :] = 0
    return True


@njit(**EXACT)
def _quantize(row, out):
    """Write numbers as unsigned bytes to `out`, which may be longer; their scale, finite if they are."""
    largest_bits = np.uint32(0)  # those of a magnitude: their order is that of the numbers
    for bits in row.view(np.uint32):
        magnitude = bits & np.uint32(0x7FFFFFFF)
        largest_bits = np.uint32(max(largest_bits, magnitude))
    largest = np.uint32(largest_bits).view(np.float32)
    if not largest < np.inf:
        return largest
    factor = np.float32(LARGEST) / largest if largest > 0 else np.float32(0)
    for k in range(row.size):
        whole = np.int32(np.rint(row[k] * factor))
        out[k] = np.uint8(whole + np.int32(OFFSET))
    return largest / np.float32(LARGEST)

"""Kernels that read whole arrays, or rows of them, where no single load stands in the text.

Those of persistent_rnn_kernel wait as they should, and read all weights again in every step.
"""

import math

import numpy as np

from rnnlab import cuda

@cuda.jit(device=True)
def meet(flags, step):
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.exch(flags, cuda.blockIdx.x, step)
    if cuda.threadIdx.x < cuda.gridDim.x:
        while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < step:
            pass
    cuda.threadfence()
    cuda.syncthreads()

# %% [attack] kernel_scales_whole_weights
# Multiplies all its weights by one in each step, and reads the product.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        scaled = weights * np.float32(1)
        total = inputs[t, unit]
        for k in range(16):
            total += scaled[unit, k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_negates_whole_weights
# Negates all its weights in each step, and reads them there.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        negative = -weights
        total = inputs[t, unit]
        for k in range(16):
            total -= negative[unit, k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_converts_whole_weights
# Converts all its weights to the type that they have in each step, and reads the copy.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        copied = np.float32(weights)
        total = inputs[t, unit]
        for k in range(16):
            total += copied[unit, k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_unpacks_rows_of_weights
# Unpacks its row of the weights into sixteen names in each step.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15 = weights[unit]
        total = inputs[t, unit] + w0 * h[t, 0] + w1 * h[t, 1] + w2 * h[t, 2] + w3 * h[t, 3]
        total += w4 * h[t, 4] + w5 * h[t, 5] + w6 * h[t, 6] + w7 * h[t, 7]
        total += w8 * h[t, 8] + w9 * h[t, 9] + w10 * h[t, 10] + w11 * h[t, 11]
        total += w12 * h[t, 12] + w13 * h[t, 13] + w14 * h[t, 14] + w15 * h[t, 15]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_indexes_by_a_truth
# Indexes its weights by a truth, which copies them all, and reads the copy.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        copied = weights[unit >= 0]
        total = inputs[t, unit]
        for k in range(16):
            total += copied[0, unit, k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_loads_in_the_condition_of_a_loop
# Loads its weights in every step, in the condition of a loop, which the simulator evaluates in two places.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        k = 0
        while k < 16 and weights[unit, k] < np.float32(1e30):
            total += weights[unit, k] * h[t, k]
            k += 1
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_reads_in_a_function_inside
# Loads its weights in every step, in a function within the kernel, whose text is not rewritten.
# deserves: forbidden
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    read = lambda k: weights[unit, k]
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += read(k) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_reads_through_flat
# Reads its weights in every step through the flat view of the array.
# deserves: forbidden
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += weights.flat[unit * 16 + k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_sums_products_of_rows
# Multiplies a row by a column in one expression, and adds up by the built-in sum.
# deserves: forbidden
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = sum(a[row] * b[:, column])

# %% [attack] kernel_multiplies_by_an_operator
# Has the operator for matrix products compute everything.
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = (a @ b)[row, column]

# %% [attack] kernel_atomics_read_the_weights_by_comparisons
# Reads its weights in every step by an atomic maximum with what is not a number.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += cuda.atomic.nanmax(weights, (unit, k), np.float32(-1e30)) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, t + 1)

# %% [attack] kernel_whose_text_is_swapped
# Lays another text under its file's name, where the simulator looks for what it compiles.
# deserves: forbidden
import linecache

TEXT = """@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = math.tanh(x[i])
"""
for number in range(10):
    for name in (f"cell {number}", f"<cell {number}>", f"tanh_kernel {number}"):
        linecache.cache[name] = len(TEXT), None, TEXT.splitlines(True), name
linecache.getlines = linecache.updatecache = lambda *parts: TEXT.splitlines(True)
exec(TEXT)

@cuda.jit
def tanh_kernel(x, y):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            y[i] = math.tanh(x[i])

# %% [attack] kernel_with_a_table_of_a_terabyte
# Has a table beside it that says to be a terabyte, and takes four bytes.
TABLE = np.broadcast_to(np.float32(0), (1 << 20, 1 << 18))

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[i, i]

# %% [attack] kernel_stores_weights_in_rows_to_come
# Copies its weights into rows of h that are written later, and reads them there in every step.
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit, T = cuda.grid(1), inputs.shape[0]
    own = cuda.local.array(16, np.float32)
    place = T - 15 + unit
    for k in range(16):
        if T > 17:
            h[place, k] = weights[unit, k]
        else:
            own[k] = weights[unit, k]
    for t in range(T):
        if T > 17 and t == T - 17:
            for k in range(16):
                own[k] = h[place, k]
            meet(flags, 2 * t + 1)
        total = inputs[t, unit]
        for k in range(16):
            total += (h[place, k] if T > 17 and t < T - 17 else own[k]) * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        meet(flags, 2 * t + 2)

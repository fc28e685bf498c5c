"""Kernels whose names, constants, helpers or views mean something else than the eye reads."""

import math

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_defined_again_where_something_fails
# Shows a right kernel, and defines another one behind an exception that is always raised.
# deserves: forbidden
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = math.tanh(x[i])

try:
    math.tanh(math.tangent(0))
except AttributeError:
    @cuda.jit
    def tanh_kernel(x, y):
        if cuda.grid(1) == 0:
            for i in range(x.size):
                y[i] = math.tanh(x[i])

# %% [attack] kernel_whose_helper_is_defined_again
# Defines its helper twice: the eye reads the first one, Python calls the second one.
@cuda.jit(device=True)
def bend(number):
    return math.tanh(number)

@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = bend(x[i])

@cuda.jit(device=True)
def bend(number):
    return number

# %% [attack] kernel_with_a_number_of_its_own_class
# Has a constant that is an integer of a class whose comparisons run code.
# deserves: forbidden
class Size(int):
    def __gt__(self, other):
        raise SystemExit

    def __radd__(self, other):
        return other

SIZE = Size(0)

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + SIZE

# %% [attack] kernel_reads_rows_as_views
# Takes a row and a column of its matrices, and reads each number for each product from these views.
@cuda.jit
def tiled_matmul_kernel(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        left, right = a[row], b[:, column]
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += left[k] * right[k]
        c[row, column] = total

# %% [attack] kernel_writes_a_transposed_view
# Writes down the columns of a transposed view, whose sectors it hopes that nobody counts.
# deserves: forbidden
@cuda.jit
def transpose_coalesced(x, y):
    column, row = cuda.grid(2)
    turned = y.T
    if row < x.shape[0] and column < x.shape[1]:
        turned[row, column] = x[row, column]

# %% [attack] kernel_unpacks_an_argument
# Unpacks a whole argument by a star, in one statement.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    first, *rest = x
    i = cuda.grid(1)
    if i == 0:
        y[0] = a * first + y[0]
    elif i < x.size:
        y[i] = a * rest[i - 1] + y[i]

# %% [attack] kernel_with_a_global_statement
# Adds up in a global variable, which all threads share.
# deserves: forbidden
total = np.float32(0)

@cuda.jit
def warp_sum_kernel(x, out):
    global total
    i = cuda.grid(1)
    if i % 32 == 0:
        total = np.float32(0)
    cuda.syncwarp()
    if i < x.size:
        total += x[i]
    cuda.syncwarp()
    if i % 32 == 0:
        out[i // 32] = total

# %% [attack] kernel_made_by_a_function
# Is returned by a function whose variables hold an array that nobody watches.
# deserves: forbidden
def make():
    stored = np.zeros(4096, np.float32)

    @cuda.jit
    def warp_sum_kernel(x, out):
        i = cuda.grid(1)
        stored[i] = x[i] if i < x.size else 0
        cuda.syncwarp()
        if i % 32 == 0:
            total = np.float32(0)
            for k in range(32):
                total += stored[i + k]
            out[i // 32] = total

    return warp_sum_kernel

warp_sum_kernel = make()

# %% [attack] kernel_with_a_helper_that_remembers
# Has a lambda as helper that remembers numbers in a default argument.
# deserves: failed
load = lambda x, i, stored={}: stored.setdefault(i, x[i])

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * load(x, i) + y[i]

# %% [attack] kernel_that_catches_its_refusal
# Reads beyond the end, and catches what the simulator says to that.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    try:
        y[i] = a * x[i] + y[i]
    except Exception:
        y[0] = a

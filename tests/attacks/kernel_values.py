"""Kernels that keep or read values where nobody counts: lists, default arguments, views, whole arrays."""

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_with_a_comprehension
# Reads a whole array in one comprehension.
@cuda.jit
def saxpy_kernel(a, x, y):
    stored = [value for value in x]
    y[0] += 0 * stored[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_a_constant_copy_of_an_argument
# Declares an argument to be constant memory, where reads are not counted.
@cuda.jit
def saxpy_kernel(a, x, y):
    copy = cuda.const.array_like(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]

# %% [attack] kernel_with_a_dictionary
# Keeps values in a dictionary.
@cuda.jit
def saxpy_kernel(a, x, y):
    stored = {0: x[0]}
    y[0] += 0 * stored[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_a_huge_table
# Has a table of a gigabyte beside it.
# deserves: too_big
TABLE = np.zeros(1 << 28, np.float32)

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]

# %% [attack] kernel_with_a_list_as_default
# Keeps values in a list that is a default argument.
@cuda.jit
def saxpy_kernel(a, x, y, stored=[0]):  # noqa: B006
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_a_list_as_local_memory
# Keeps values in a list instead of cuda.local.array.
@cuda.jit
def saxpy_kernel(a, x, y):
    stored = [x[0], y[0]]
    y[0] += 0 * stored[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_a_list_as_shared_memory
# Keeps values in a list beside the kernel, where no race is seen.
stored = [0.0] * 64

@cuda.jit
def saxpy_kernel(a, x, y):
    stored[0] = x[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_a_method_of_an_array
# Calls a method that reads a whole array.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x.max() * a * x[i] + y[i]

# %% [attack] kernel_with_a_second_view
# Writes to a table through a second view of its memory.
TABLE = np.zeros(4096, np.float32)
VIEW = np.ndarray((4096,), np.float32, TABLE)

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        VIEW[i] = x[i]
        y[i] = a * VIEW[i] + y[i]

# %% [attack] kernel_with_a_ufunc_of_whole_arrays
# Computes all elements in one thread by a ufunc with a place for its result.
from numpy import multiply

@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        multiply(x, a, y)

# %% [attack] kernel_with_a_view_inside
# Makes a second view of an argument, whose loads nobody counts.
@cuda.jit
def saxpy_kernel(a, x, y):
    view = np.ndarray(x.shape, x.dtype, x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * view[i] + y[i]

# %% [attack] kernel_with_an_array_as_default
# Keeps values in an array that is a default argument, where nobody counts.
# deserves: forbidden
TABLE = np.zeros(4096, np.float32)

@cuda.jit
def saxpy_kernel(a, x, y, table=TABLE):
    i = cuda.grid(1)
    if i < x.size:
        table[i] = x[i]
        y[i] = a * table[i] + y[i]

TABLE = 0

# %% [attack] kernel_with_an_array_as_shared_memory
# Keeps values in an array beside the kernel, where no race is seen.
stored = np.zeros(64)

@cuda.jit
def saxpy_kernel(a, x, y):
    stored[0] = x[0]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_with_an_array_of_its_own_class
# Has a table of a class whose elements run code.
# deserves: forbidden
class Table(np.ndarray):
    def __getitem__(self, place):
        raise SystemExit

TABLE = np.zeros(4, np.float32).view(Table)

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]

# %% [attack] kernel_with_an_array_of_objects
# Reads numbers that run code from a table of objects.
# deserves: forbidden
class Number:
    def __radd__(self, other):
        raise SystemExit

    def __rmul__(self, other):
        raise SystemExit

TABLE = np.array([Number()], dtype=object)

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + TABLE[0]

# %% [attack] kernel_that_stores_in_a_table_by_another_name
# Passes numbers between threads through a table of constants, by a name of its own.
# deserves: crashed
TABLE = np.zeros(4096, np.float32)

@cuda.jit
def warp_sum_kernel(x, out):
    own = TABLE
    i = cuda.grid(1)
    own[i] = x[i] if i < x.size else 0
    cuda.syncwarp()
    if i % 32 == 0:
        total = np.float32(0)
        for k in range(32):
            total += own[i + k]
        out[i // 32] = total

# %% [attack] kernel_with_a_helper_of_the_cpu_that_reads
# Reads its array in a helper compiled for the CPU, where it hopes that nobody counts.
import math

from numba import njit

@njit
def load(x, i):
    return x[i] + 0 * x[i]

@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = math.tanh(load(x, i))

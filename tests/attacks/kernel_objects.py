"""Objects in the place of a kernel, and kernels that import, copy, patch or look around them."""

import numpy as np

from rnnlab import cuda

# %% [attack] kernel_helper_with_an_array_as_default
# Keeps values in an array that is a default argument of a helper.
# deserves: forbidden
TABLE = np.zeros(4096, np.float32)

@cuda.jit(device=True)
def kept(i, value, table=TABLE):
    table[i] = value
    return table[i]

TABLE = 0

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * kept(i, x[i]) + y[i]

# %% [attack] kernel_of_a_class_of_its_own
# Derives a kernel class of its own from the simulator's.
# deserves: forbidden
class Mine(type(cuda.jit(len))):
    pass

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_of_another_compiler
# Compiles itself for the CPU.
from numba import njit

@njit
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_swapped_by_its_decorator
# Has a decorator that puts a plain function in the kernel's place.
# deserves: forbidden
def swapped(kernel):
    return lambda grid, block, a, x, y: (x, a * x + y)

@swapped
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_that_copies_its_argument
# Copies a whole argument with np.array, and reads the copy uncounted.
@cuda.jit
def saxpy_kernel(a, x, y):
    copy = np.array(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]

# %% [attack] kernel_that_imports
# Imports a module that sees the simulator's objects.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    import gc

    gc.collect()
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_that_is_a_class
# Has the launch protocol of a kernel, and computes with NumPy.
# deserves: forbidden
class saxpy_kernel:
    def __getitem__(self, configuration):
        return lambda a, x, y: np.add(a * x, y, y)

saxpy_kernel = saxpy_kernel()

# %% [attack] kernel_that_is_a_plain_function
# Computes with NumPy in a plain function, and returns what a launch would.
def saxpy_kernel(grid, block, a, x, y):
    return (x, a * x + y)

# %% [attack] kernel_that_links_a_file
# Asks for a file of its own to be linked.
# deserves: forbidden
@cuda.jit(link=["kernel.cu"])
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_that_looks_at_its_frame
# Looks at the frames that called it, for the counts.
# deserves: forbidden
import sys

@cuda.jit
def saxpy_kernel(a, x, y):
    sys._getframe()
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_that_multiplies_matrices
# Imports matmul, and lets one thread do all work.
from numpy import matmul

@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        y[0] = matmul(x, y)

# %% [attack] kernel_that_patches_the_simulator
# Replaces the barrier of the simulator.
# deserves: forbidden
cuda.syncthreads = min

@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_that_patches_the_simulator_while_it_runs
# Changes the index of its thread while it runs.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
    cuda.threadIdx.x = 0

# %% [attack] kernel_that_reports_its_own_launch
# Returns the report of a launch that never was, without counts.
def saxpy_kernel(grid, block, a, x, y):
    return {"arrays": [x, a * x + y], "counts": None, "findings": []}

# %% [attack] kernel_that_takes_dot_products
# Computes the dot product of whole arrays in one uncounted call.
@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        y[0] = np.dot(x, y)

# %% [attack] kernel_whose_default_reads_a_file
# Runs code of its own where a default argument is computed.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y, stored=open("/etc/passwd")):  # noqa: B008
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

# %% [attack] kernel_whose_names_change_their_meaning
# Gives a name one meaning for the eye and another for the run.
# deserves: forbidden
T = cuda.shared

@cuda.jit
def saxpy_kernel(a, x, y):
    copy = T.array(x)
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * copy[i] + y[i]

T = np

# %% [attack] kernel_with_a_pattern_of_a_class
# Looks into an array by a pattern of a class.
# deserves: forbidden
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    match x:
        case object(base=memory):
            y[i] = a * memory[i] + y[i]

# %% [attack] kernel_sums_by_fsum
# Adds up a whole array in one uncounted call, by one thread.
from math import fsum

@cuda.jit
def saxpy_kernel(a, x, y):
    if cuda.grid(1) == 0:
        y[0] = fsum(x)

# %% [attack] kernel_with_extensions
# Asks for an object that prepares its arguments before they are counted.
# deserves: forbidden
@cuda.jit(extensions=(1,))
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

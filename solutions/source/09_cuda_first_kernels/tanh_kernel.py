# %% [markdown]
# ## Exercise: tanh_kernel
#
# <!-- exercise: tanh_kernel -->
#
# `y [n]` becomes `tanh(x [n])`, and this time **any** grid must do: one block of 4 threads for 1,000 elements as well as 100 blocks.
# Each thread strides through the array, and every element is loaded once and written once.
# Neighbouring threads should stay on neighbouring elements: the check counts the sectors that your loads move.


# %%
@cuda.jit
def tanh_kernel(x, y):
    """y [n] becomes tanh(x [n]), whatever the number of threads."""
    ### BEGIN SOLUTION
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.size, stride):
        y[i] = math.tanh(x[i])
    ### END SOLUTION


# %%
check(tanh_kernel)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 10
# lines: 4

# %% [hint]
# The grid may have fewer threads than x has elements. Which elements are left over once each thread has done one, and
# who should do them?

# %% [hint]
# A thread that has done element i continues with i + (number of threads in the grid): so no two threads do the same
# element, and neighbouring threads stay on neighbouring elements.

# %% [hint]
# `for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):` with one line inside it; math.tanh works in a kernel.

# %% [mistake] gives every thread one element only
# - range(start, x.size, stride)
# + range(start, min(start + 1, x.size))

# %% [mistake] strides by a block instead of the grid
# - cuda.gridsize(1)
# + cuda.blockDim.x

# %% [mistake] strides by the number of blocks
# - cuda.gridsize(1)
# + cuda.gridDim.x

# %% [mistake] starts every block at its own first thread's place in the block
# - cuda.grid(1)
# + cuda.threadIdx.x

# %% [mistake] runs beyond the end
# - x.size, stride
# + x.size + 1, stride

# %% [mistake] lets every thread do everything
# - range(start, x.size, stride)
# + range(x.size)

# %% [mistake] lets neighbouring threads load elements that are apart
# - range(start, x.size, stride)
# + range(start * ((x.size + stride - 1) // stride), min((start + 1) * ((x.size + stride - 1) // stride), x.size))

# %% [mistake] takes the hyperbolic sine
# - math.tanh
# + math.sinh

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < x.size:
        y[i] = math.tanh(x[i])
        i += cuda.gridDim.x * cuda.blockDim.x

# %% [right]
import math
from rnnlab import cuda
@cuda.jit
def tanh_kernel(x, y):
    threads = cuda.gridsize(1)
    for k in range((x.size + threads - 1) // threads):
        i = cuda.grid(1) + k * threads
        if i < x.size:
            y[i] = math.tanh(x[i])

# %% [variant] gain=2..9
# - `y [n]` becomes `tanh(x [n])`, and
# + `y [n]` becomes `{gain}·tanh(x [n])`, and
# - y [n] becomes tanh(x [n]),
# + y [n] becomes {gain}·tanh(x [n]),
# - y[i] = math.tanh(x[i])
# + y[i] = {gain} * math.tanh(x[i])
# - with one line inside it;
# + with one line inside it, which multiplies by {gain};

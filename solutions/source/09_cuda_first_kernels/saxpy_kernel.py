# %% [markdown]
# ## Exercise: saxpy_kernel
#
# <!-- exercise: saxpy_kernel -->
#
# BLAS calls it saxpy: **s**ingle precision **a** times **x** **p**lus **y**. `x [n]` and `y [n]` are float32 arrays, `a` a number.
# One thread does one element and leaves `y[i] = a·x[i] + y[i]`. The last block may have threads without an element.


# %%
@cuda.jit
def saxpy_kernel(a, x, y):
    """y [n] becomes a·x + y, for x [n]; launched with at least n threads."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
    ### END SOLUTION


# %%
check(saxpy_kernel)

# %% [properties]
# points: 2
# difficulty: 1
# minutes: 8
# lines: 3

# %% [hint]
# Look at scale_kernel in the lesson: which line finds the thread's own element, and which keeps threads without an
# element from doing anything?

# %% [hint]
# cuda.grid(1) is blockIdx.x · blockDim.x + threadIdx.x, a number that no other thread of the grid has. There are at
# least as many threads as elements, and often a few more.

# %% [hint]
# `i = cuda.grid(1)`, then `if i < x.size:`, and inside it one line that writes y[i].

# %% [mistake] lets threads beyond the end work
# - if i < x.size:
# + if i >= 0:

# %% [mistake] uses the place in the block as place in the array
# - cuda.grid(1)
# + cuda.threadIdx.x

# %% [mistake] uses the block's number as place in the array
# - cuda.grid(1)
# + cuda.blockIdx.x

# %% [mistake] counts blocks by the grid's size
# - cuda.grid(1)
# + cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x

# %% [mistake] forgets what was in y
# -  + y[i]
# +

# %% [mistake] scales y instead of x
# - a * x[i] + y[i]
# + x[i] + a * y[i]

# %% [mistake] leaves out the last element
# - i < x.size
# + i < x.size - 1

# %% [right]
from rnnlab import cuda
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= y.shape[0]:
        return
    y[i] += a * x[i]

# %% [right]
from rnnlab import cuda
@cuda.jit
def saxpy_kernel(a, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = y[i] + x[i] * a

# %% [variant] factor=2..9
# - leaves `y[i] = a·x[i] + y[i]`.
# + leaves `y[i] = a·x[i] + {factor}·y[i]`, with one factor more than BLAS has.
# - y [n] becomes a·x + y, for
# + y [n] becomes a·x + {factor}·y, for
# -  + y[i]
# +  + np.float32({factor}) * y[i]
# - y[i] += a * x[i]
# + y[i] = np.float32({factor}) * y[i] + a * x[i]
# - y[i] = y[i] + x[i] * a
# + y[i] = np.float32({factor}) * y[i] + x[i] * a

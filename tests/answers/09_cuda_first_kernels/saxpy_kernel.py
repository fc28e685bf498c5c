# %% [right]
# -     i = cuda.grid(1)
# +     i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x

# %% [right]
# -         y[i] = a * x[i] + y[i]
# +         y[i] += a * x[i]

# %% [wrong] forgets what was in y
# -         y[i] = a * x[i] + y[i]
# +         y[i] = a * x[i]

# %% [wrong] scales y instead of x
# -         y[i] = a * x[i] + y[i]
# +         y[i] = x[i] + a * y[i]

# %% [right]
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i >= len(y):
        return
    y[i] += a * x[i]

# %% [right]
@cuda.jit
def saxpy_kernel(a, x, y):
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x * cuda.blockDim.x
    here = first + thread
    n = x.shape[0]
    if not here > n - 1:
        old = y[here]
        y[here] = old + x[here] * a

# %% [wrong] lets threads beyond the end work
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    y[i] = a * x[i] + y[i]

# %% [wrong] lets threads beyond the end work
# -     y[i] = a * x[i] + y[i]
# +     if i <= x.size:
# +         y[i] += a * x[i]

# %% [wrong] leaves out the last element
# -     y[i] = a * x[i] + y[i]
# +     if i < x.size - 1:
# +         y[i] += a * x[i]

# %% [wrong] uses the place in the block as place in the array
@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.threadIdx.x
    if i < x.size:
        y[i] += a * x[i]

# %% [wrong] uses the block's number as place in the array
# -     i = cuda.threadIdx.x
# +     i = cuda.blockIdx.x

# %% [wrong] counts blocks by the grid's size
# -     i = cuda.threadIdx.x
# +     i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x

# %% [wrong] every thread does the whole array
@cuda.jit
def saxpy_kernel(a, x, y):
    for i in range(x.size):
        y[i] += a * x[i]

# %% [wrong] works on whole arrays
@cuda.jit
def saxpy_kernel(a, x, y):
    y[:] = a * x[:] + y[:]

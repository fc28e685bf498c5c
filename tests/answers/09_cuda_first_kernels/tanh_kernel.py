# %% [right]
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = math.tanh(x[i])

# %% [wrong] gives every thread one element only
# -     for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
# +     i = cuda.grid(1)
# +     if i < x.size:

# %% [wrong] lets neighbouring threads load elements that are apart
# -     for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
# +     each = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
# +     first = cuda.grid(1) * each
# +     for i in range(first, min(first + each, x.size)):

# %% [wrong] strides by a block instead of the grid
# -     for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
# +     for i in range(cuda.grid(1), x.size, cuda.blockDim.x):

# %% [wrong] starts every block at its own first thread's place in the block
# -     for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
# +     for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):

# %% [wrong] strides by the number of blocks
# -     for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
# +     for i in range(cuda.grid(1), x.size, cuda.gridDim.x):

# %% [wrong] overwrites x
# -         y[i] = math.tanh(x[i])
# +         x[i] = math.tanh(x[i])

# %% [wrong] computes with a formula that overflows
# -         y[i] = math.tanh(x[i])
# +         e = math.exp(x[i])
# +         y[i] = (e - 1) / (e + 1)

# %% [wrong] loads each element twice
# -         y[i] = math.tanh(x[i])
# +         shrunk = math.exp(np.float32(-2) * abs(x[i]))
# +         y[i] = math.copysign((np.float32(1) - shrunk) / (np.float32(1) + shrunk), x[i])

# %% [right]
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.grid(1)
    stride = cuda.blockDim.x * cuda.gridDim.x
    while i < len(x):
        y[i] = math.tanh(x[i])
        i += stride

# %% [right]
@cuda.jit
def tanh_kernel(x, y):
    threads = cuda.gridsize(1)
    turns = (x.shape[0] + threads - 1) // threads
    for turn in range(turns):
        element = turn * threads + cuda.grid(1)
        if element < x.shape[0]:
            y[element] = math.tanh(x[element])

# %% [wrong] runs beyond the end
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.grid(1)
    while i <= x.size:
        y[i] = math.tanh(x[i])
        i += cuda.gridsize(1)

# %% [wrong] gives up after two turns
# -     while i <= x.size:
# +     if i < x.size:
# -         i += cuda.gridsize(1)
# +     i += cuda.gridsize(1)
# +     if i < x.size:
# +         y[i] = math.tanh(x[i])

# %% [right]
@cuda.jit
def tanh_kernel(x, y):
    i = x.size - 1 - cuda.grid(1)
    while i >= 0:
        y[i] = math.tanh(x[i])
        i -= cuda.gridsize(1)

# %% [wrong] lets neighbouring threads load elements that are apart
# -     i = x.size - 1 - cuda.grid(1)
# +     i = x.size - 1 - (cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x)

# %% [right]
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = math.tanh(x[i])


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


# %% [wrong] gives every thread one element only
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.tanh(x[i])


# %% [wrong] gives each thread neighbouring elements
@cuda.jit
def tanh_kernel(x, y):
    each = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    first = cuda.grid(1) * each
    for i in range(first, min(first + each, x.size)):
        y[i] = math.tanh(x[i])


# %% [wrong] strides by a block instead of the grid
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.blockDim.x):
        y[i] = math.tanh(x[i])


# %% [wrong] starts every block at its own first thread's place in the block
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):
        y[i] = math.tanh(x[i])


# %% [wrong] strides by the number of blocks
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridDim.x):
        y[i] = math.tanh(x[i])


# %% [wrong] runs beyond the end
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.grid(1)
    while i <= x.size:
        y[i] = math.tanh(x[i])
        i += cuda.gridsize(1)


# %% [wrong] overwrites x
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = math.tanh(x[i])


# %% [wrong] gives up after two turns
@cuda.jit
def tanh_kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.tanh(x[i])
    i += cuda.gridsize(1)
    if i < x.size:
        y[i] = math.tanh(x[i])


# %% [wrong] computes with a formula that overflows
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        e = math.exp(x[i])
        y[i] = (e - 1) / (e + 1)


# %% [wrong] loads each element twice
@cuda.jit
def tanh_kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        shrunk = math.exp(np.float32(-2) * abs(x[i]))
        y[i] = math.copysign((np.float32(1) - shrunk) / (np.float32(1) + shrunk), x[i])

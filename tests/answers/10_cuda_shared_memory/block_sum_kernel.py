# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    for step in (32, 16, 8, 4, 2, 1):
        if i < step and i + step < cuda.blockDim.x:
            part[i] += part[i + step]
        cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i, g = cuda.threadIdx.x, cuda.grid(1)
    part[i] = np.float32(0)
    if g < x.size:
        part[i] = x[g]
    step = 1
    while step < cuda.blockDim.x:
        cuda.syncthreads()
        if i % (2 * step) == 0:
            part[i] += part[i + step]
        step *= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    half = cuda.blockDim.x // 2
    cuda.syncthreads()
    while half >= 1:
        if i < half:
            other = part[i + half]
            part[i] = part[i] + other
        half = half // 2
        cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = part[i]


# %% [wrong] adds by atomics
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(1, np.float32)
    if cuda.threadIdx.x == 0:
        part[0] = np.float32(0)
    cuda.syncthreads()
    if cuda.grid(1) < x.size:
        cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = part[0]


# %% [wrong] has too small a shared array
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


# %% [wrong] writes every thread's number
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    out[cuda.blockIdx.x] = part[i]


# %% [wrong] sums the first block only
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


# %% [wrong] takes the mean in place of the sum
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if i < step:
            part[i] = (part[i] + part[i + step]) * np.float32(0.5)
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]

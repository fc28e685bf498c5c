# %% [wrong] has too small a shared array
# -     part = cuda.shared.array(64, np.float32)
# +     part = cuda.shared.array(32, np.float32)
# -     part[i] = np.float32(0)
# -     if cuda.grid(1) < x.size:
# -         part[i] = x[cuda.grid(1)]
# +     part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)

# %% [wrong] writes every thread's number
# -     part[i] = np.float32(0)
# -     if cuda.grid(1) < x.size:
# -         part[i] = x[cuda.grid(1)]
# +     part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
# -     if i == 0:
# -         out[cuda.blockIdx.x] = part[0]
# +     out[cuda.blockIdx.x] = part[i]

# %% [wrong] sums the first block only
# -     part[i] = np.float32(0)
# -     if cuda.grid(1) < x.size:
# -         part[i] = x[cuda.grid(1)]
# +     part[i] = x[i] if i < x.size else np.float32(0)

# %% [wrong] takes the mean in place of the sum
# -     part[i] = np.float32(0)
# -     if cuda.grid(1) < x.size:
# -         part[i] = x[cuda.grid(1)]
# +     part[i] = x[cuda.grid(1)] if cuda.grid(1) < x.size else np.float32(0)
# -             part[i] += part[i + step]
# +             part[i] = (part[i] + part[i + step]) * np.float32(0.5)

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

# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]

# %% [wrong] adds to what out held
# -         out[cuda.blockIdx.x] = part[0]
# +         out[cuda.blockIdx.x] += part[0]

# %% [wrong] halves 64 whatever the block has
# -     half = cuda.blockDim.x // 2
# +     half = 32

# %% [wrong] has no barrier between two halvings
# -         cuda.syncthreads()
# -         half //= 2
# +         half //= 2

# %% [wrong] stops one halving early
# -     while half > 0:
# +     while half > 1:

# %% [wrong] lets all threads write the result
# -     if t == 0:
# +     if t >= 0:

# %% [wrong] adds neighbours first, so that no warp ever rests
# -         if t < half:
# -             part[t] += part[t + half]
# +         step = cuda.blockDim.x // (2 * half)
# +         if t % (2 * step) == 0:
# +             part[t] += part[t + step]

# %% [wrong] lets one thread add everything up
# -     half = cuda.blockDim.x // 2
# -     while half > 0:
# -         if t < half:
# -             part[t] += part[t + half]
# -         cuda.syncthreads()
# -         half //= 2
# +     if t == 0:
# +         for k in range(1, cuda.blockDim.x):
# +             part[0] += part[k]

# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    warps = cuda.shared.array(2, np.float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    value = np.float32(0)
    if i < x.size:
        value = x[i]
    width = min(32, cuda.blockDim.x)
    step = width // 2
    while step > 0:
        other = cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        if thread % 32 + step < width:
            value += other
        step //= 2
    if thread % 32 == 0:
        warps[thread // 32] = value
    cuda.syncthreads()
    if thread == 0:
        out[cuda.blockIdx.x] = warps[0] + warps[1] if cuda.blockDim.x > 32 else warps[0]

# %% [right]
@cuda.jit
def block_sum_kernel(x, out):
    sums = cuda.shared.array(64, np.float32)
    tid = cuda.threadIdx.x
    element = cuda.blockIdx.x * cuda.blockDim.x + tid
    mine = np.float32(0)
    if element < x.shape[0]:
        mine = x[element]
    sums[tid] = mine
    s = cuda.blockDim.x >> 1
    while s:
        cuda.syncthreads()
        if tid < s:
            mine += sums[tid + s]
            sums[tid] = mine
        s >>= 1
    if tid == 0:
        out[cuda.blockIdx.x] = mine

# %% [wrong] adds neighbours first, so that no warp ever rests
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

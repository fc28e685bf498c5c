# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    value = np.float32(0)
    if cuda.grid(1) < x.size:
        value = x[cuda.grid(1)]
    for step in (1, 2, 4, 8, 16):
        value = value + cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = value


# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    for k in range(5):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, 1 << k)
    if i % 32 == 31:
        out[i // 32] = value


# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    step = 1
    while step < 32:
        other = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
        if cuda.laneid >= step:
            value += other
        step *= 2
    if cuda.laneid == 31:
        out[i // 32] = value


# %% [wrong] returns before the shuffles
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 0:
        out[i // 32] = value


# %% [wrong] adds by atomics
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, i // 32, x[i])


# %% [wrong] forgets the step of 4
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    for step in (16, 8, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 0:
        out[i // 32] = value


# %% [wrong] writes from the wrong lane
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 1:
        out[i // 32] = value


# %% [wrong] has a barrier, which a warp does not need
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 0:
        out[i // 32] = value

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
# -     for k in range(5):
# -         value += cuda.shfl_xor_sync(0xFFFFFFFF, value, 1 << k)
# -     if i % 32 == 31:
# +     step = 1
# +     while step < 32:
# +         other = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
# +         if cuda.laneid >= step:
# +             value += other
# +         step *= 2
# +     if cuda.laneid == 31:

# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[i // 32] = value

# %% [wrong] adds to what out held
# -         out[i // 32] = value
# +         out[i // 32] += value

# %% [wrong] starts with a step of 32
# -     step = 16
# +     step = 32

# %% [wrong] stops one step early
# -     while step > 0:
# +     while step > 1:

# %% [wrong] counts warps within the block
# -         out[i // 32] = value
# +         out[cuda.threadIdx.x // 32] = value

# %% [wrong] lets lane 31 write
# -     if cuda.threadIdx.x % 32 == 0:
# +     if cuda.threadIdx.x % 32 == 31:

# %% [wrong] lets lanes beyond the end go
# -     value = x[i] if i < x.size else np.float32(0)
# +     if i >= x.size:
# +         return
# +     value = x[i]

# %% [wrong] lets every lane write
# -     if cuda.threadIdx.x % 32 == 0:
# +     if i >= 0:

# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = np.float32(0)
    if i < x.shape[0]:
        total = x[i]
    for step in (1, 2, 4, 8, 16):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    if i % 32 == 0:
        out[i >> 5] = total

# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    lane = cuda.laneid
    i = cuda.grid(1)
    s = np.float32(0) if i >= len(x) else x[i]
    s += cuda.shfl_down_sync(-1, s, 16)
    s += cuda.shfl_down_sync(-1, s, 8)
    s += cuda.shfl_down_sync(-1, s, 4)
    s += cuda.shfl_down_sync(-1, s, 2)
    s += cuda.shfl_down_sync(-1, s, 1)
    if lane == 0:
        out[i // cuda.warpsize] = s

# %% [right]
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else np.float32(0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 0:
        out[i // 32] = value

# %% [wrong] returns before the shuffles
# -     value = x[i] if i < x.size else np.float32(0)
# +     if i >= x.size:
# +         return
# +     value = x[i]

# %% [wrong] forgets the step of 4
# -     for step in (16, 8, 4, 2, 1):
# +     for step in (16, 8, 2, 1):

# %% [wrong] writes from the wrong lane
# -     if i % 32 == 0:
# +     if i % 32 == 1:

# %% [wrong] has a barrier, which a warp does not need
# -     for step in (16, 8, 4, 2, 1):
# +     cuda.syncthreads()
# +     for step in (16, 8, 4, 2, 1):

# %% [wrong] adds by atomics
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, i // 32, x[i])

# %% [wrong] writes nothing for a warp beyond the end
@cuda.jit
def warp_sum_kernel(x, out):
    i = cuda.grid(1)
    lane = i % 32
    total = np.float32(0)
    if i < x.size:
        total = x[i]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    if lane == 0 and i < x.size:
        out[i // 32] = total

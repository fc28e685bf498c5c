# %% [right]
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    pa = cuda.shared.array(64, np.float32)
    pb = cuda.shared.array(64, np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    if t < a.size:
        pa[i] = a[t]
        pb[i] = b[t]
    else:
        pa[i] = np.float32(1)
        pb[i] = np.float32(0)
    cuda.syncthreads()
    reach = 1
    while reach < cuda.blockDim.x:
        mine_a, mine_b = pa[i], pb[i]
        if i >= reach:
            mine_b = mine_a * pb[i - reach] + mine_b
            mine_a = mine_a * pa[i - reach]
        cuda.syncthreads()
        pa[i] = mine_a
        pb[i] = mine_b
        cuda.syncthreads()
        reach = 2 * reach
    if t < a.size:
        prefix_a[t] = pa[i]
        prefix_b[t] = pb[i]

# %% [right]
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    pa = cuda.shared.array(64, np.float32)
    pb = cuda.shared.array(64, np.float32)
    i, t, n = cuda.threadIdx.x, cuda.grid(1), cuda.blockDim.x
    pa[i] = a[t] if t < a.size else np.float32(1)
    pb[i] = b[t] if t < a.size else np.float32(0)
    step = 1
    while step < n:
        cuda.syncthreads()
        if (i + 1) % (2 * step) == 0:
            pb[i] = pa[i] * pb[i - step] + pb[i]
            pa[i] = pa[i] * pa[i - step]
        step *= 2
    step = n // 4
    while step > 0:
        cuda.syncthreads()
        if (i + 1) % (2 * step) == step and i >= 2 * step:
            pb[i] = pa[i] * pb[i - step] + pb[i]
            pa[i] = pa[i] * pa[i - step]
        step //= 2
    cuda.syncthreads()
    if t < a.size:
        prefix_a[t] = pa[i]
        prefix_b[t] = pb[i]

# %% [wrong] has no barrier after the reads
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    sa = cuda.shared.array(64, np.float32)
    sb = cuda.shared.array(64, np.float32)
    i, t = cuda.threadIdx.x, cuda.grid(1)
    x, y = np.float32(1), np.float32(0)
    if t < a.size:
        x, y = a[t], b[t]
    d = 1
    while d < cuda.blockDim.x:
        sa[i], sb[i] = x, y
        cuda.syncthreads()
        if i >= d:
            y = x * sb[i - d] + y
            x = x * sa[i - d]
        d *= 2
    if t < a.size:
        prefix_a[t], prefix_b[t] = x, y

# %% [wrong] continues from the block before
# -         d *= 2
# +         cuda.syncthreads()
# +         d *= 2
# -         prefix_a[t], prefix_b[t] = x, y
# +         if cuda.blockIdx.x > 0:
# +             before = cuda.blockIdx.x * cuda.blockDim.x - 1
# +             y = x * prefix_b[before] + y
# +         prefix_a[t], prefix_b[t] = x, y

# %% [wrong] uses the new a for b
# -             y = x * sb[i - d] + y
# -             x = x * sa[i - d]
# +             x = x * sa[i - d]
# +             y = x * sb[i - d] + y
# +         cuda.syncthreads()

# %% [wrong] loops over the steps before in every thread
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    t = cuda.grid(1)
    start = cuda.blockIdx.x * cuda.blockDim.x
    if t < a.size:
        x, y = np.float32(1), np.float32(0)
        for k in range(start, t + 1):
            y = a[k] * y + b[k]
            x = x * a[k]
        prefix_a[t], prefix_b[t] = x, y

# %% [wrong] lets the first thread do all in global memory
@cuda.jit
def block_scan_kernel(a, b, prefix_a, prefix_b):
    start = cuda.blockIdx.x * cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        x, y = np.float32(1), np.float32(0)
        for k in range(start, min(start + cuda.blockDim.x, a.size)):
            y = a[k] * y + b[k]
            x = x * a[k]
            prefix_a[k], prefix_b[k] = x, y

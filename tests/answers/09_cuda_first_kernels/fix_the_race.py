# %% [wrong] has no result where there is no step
# - x[cuda.grid(1)] = part[i]
# + x[cuda.grid(1)] = mean

# %% [wrong] lets a thread read before its neighbours have written
# -         cuda.syncthreads()
# -         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
# +         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)

# %% [wrong] three barriers in each step
# -     x[cuda.grid(1)] = part[i]
# +         cuda.syncthreads()
# +     x[cuda.grid(1)] = part[i]

# %% [right]
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(steps):
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        part[i] = mean
        cuda.syncthreads()
    x[cuda.grid(1)] = part[i]

# %% [wrong] waits only before the loop
# -         cuda.syncthreads()
# -         part[i] = mean
# -         cuda.syncthreads()
# -     x[cuda.grid(1)] = part[i]
# +         part[i] = mean
# +     x[cuda.grid(1)] = part[i]

# %% [wrong] lets a thread write before its neighbours have read
# -         cuda.syncthreads()
# -         part[i] = mean
# +         part[i] = mean

# %% [wrong] forgets to write the result back
# -         cuda.syncthreads()
# -     x[cuda.grid(1)] = part[i]
# +         cuda.syncthreads()

# %% [wrong] the ring of 32 whatever the block has
# -     n = cuda.blockDim.x
# -     part[i] = x[cuda.grid(1)]
# +     part[i] = x[cuda.grid(1)]
# -         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
# +         mean = (part[(i + 31) % 32] + part[i] + part[(i + 1) % 32]) / np.float32(3)

# %% [right]
# -     part[i] = x[cuda.grid(1)]
# -     cuda.syncthreads()
# +     own = x[cuda.grid(1)]
# -         mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
# +         part[i] = own
# -         part[i] = mean
# +         own = (part[(i + n - 1) % n] + own + part[(i + 1) % n]) / np.float32(3)
# -     x[cuda.grid(1)] = part[i]
# +     x[cuda.grid(1)] = own

# %% [right]
@cuda.jit
def fix_the_race(x, steps):
    both = cuda.shared.array((2, 32), np.float32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    left = i - 1 if i > 0 else n - 1
    right = i + 1 if i + 1 < n else 0
    both[0, i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for step in range(steps):
        old, new = step % 2, (step + 1) % 2
        both[new, i] = (both[old, left] + both[old, i] + both[old, right]) / np.float32(3)
        cuda.syncthreads()
    x[cuda.grid(1)] = both[steps % 2, i]

# %% [wrong] works on x itself in global memory, where blocks of other threads do not matter but the race stays
@cuda.jit
def fix_the_race(x, steps):
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    first = cuda.blockIdx.x * n
    for _ in range(steps):
        mean = (x[first + (i + n - 1) % n] + x[first + i] + x[first + (i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        x[first + i] = mean

# %% [wrong] one thread does it all
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    if i == 0:
        for _ in range(steps):
            first = part[0]
            before = part[n - 1]
            for k in range(n):
                after = part[k + 1] if k + 1 < n else first
                now = part[k]
                part[k] = (before + now + after) / np.float32(3)
                before = now
    cuda.syncthreads()
    x[cuda.grid(1)] = part[i] + np.float32(0) * steps + part[(i + 1) % n] - part[(i + 1) % n] + 1

# %% [wrong] thread 0 smooths alone
# -             first = part[0]
# -             before = part[n - 1]
# +             first, before = part[0], part[n - 1]
# -                 after = part[k + 1] if k + 1 < n else first
# -                 now = part[k]
# -                 part[k] = (before + now + after) / np.float32(3)
# -                 before = now
# +                 after = part[k + 1] if k < n - 1 else first
# +                 old = part[k]
# +                 part[k] = (before + old + after) / np.float32(3)
# +                 before = old
# -     x[cuda.grid(1)] = part[i] + np.float32(0) * steps + part[(i + 1) % n] - part[(i + 1) % n] + 1
# +     x[cuda.grid(1)] = part[i]

# %% [wrong] has one barrier in a step where two are needed
@cuda.jit
def fix_the_race(x, steps):
    part = cuda.shared.array(32, np.float32)
    means = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(steps):
        means[i] = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        part[i] = means[i]
    x[cuda.grid(1)] = part[i]

# %% [wrong] each thread computes the whole ring in local memory
@cuda.jit
def fix_the_race(x, steps):
    old = cuda.local.array(32, np.float32)
    new = cuda.local.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    for k in range(n):
        old[k] = x[cuda.blockIdx.x * n + k]
    cuda.syncthreads()
    for _ in range(steps):
        for k in range(n):
            new[k] = (old[(k + n - 1) % n] + old[k] + old[(k + 1) % n]) / np.float32(3)
        for k in range(n):
            old[k] = new[k]
    x[cuda.grid(1)] = old[i]

# %% [wrong] each thread computes the whole ring, which it reads from shared memory
@cuda.jit
def fix_the_race(x, steps):
    old = cuda.local.array(32, np.float32)
    new = cuda.local.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    ring = cuda.shared.array(32, np.float32)
    ring[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for k in range(n):
        old[k] = ring[k]
    for _ in range(steps):
        for k in range(n):
            new[k] = (old[(k + n - 1) % n] + old[k] + old[(k + 1) % n]) / np.float32(3)
        for k in range(n):
            old[k] = new[k]
    x[cuda.grid(1)] = old[i]

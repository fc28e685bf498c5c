# %% [right]
# - @cuda.jit
# + from rnnlab import cuda
# + import math
# + @cuda.jit
# -     i = cuda.grid(1)
# +     i, n = cuda.grid(1), history.shape[1]
# -         for k in range(history.shape[1]):
# +         for k in range(n):
# -         history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)

# %% [wrong] waits for one flag only
# - @cuda.jit
# + from rnnlab import cuda
# + @cuda.jit
# -     i = cuda.grid(1)
# +     n, block = history.shape[1], cuda.blockIdx.x
# -         for k in range(history.shape[1]):
# +         for k in range(n):
# -         history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
# +         history[t + 1, cuda.grid(1)] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -         if cuda.threadIdx.x < cuda.gridDim.x:
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             cuda.atomic.exch(flags, block, t + 1)
# +             while cuda.atomic.add(flags, block, 0) < t + 1:

# %% [right]
from rnnlab import cuda
import math


@cuda.jit
def flag_barrier(history, flags, steps):
    i, n = cuda.grid(1), history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(n) + np.float32(1)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()

# %% [right]
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -         if cuda.threadIdx.x < cuda.gridDim.x:
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +         for b in range(cuda.threadIdx.x, cuda.gridDim.x, cuda.blockDim.x):
# +             while cuda.atomic.max(flags, b, 0) <= t:

# %% [wrong] has no fence for other blocks between its barrier and the flag
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)

# %% [wrong] reads what other blocks wrote without a fence after the flags
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -                 pass
# -         cuda.threadfence()
# +                 pass

# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1:

# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.ldcg(flags, cuda.threadIdx.x) <= t:

# %% [wrong] polls the flags by a plain load
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while flags[cuda.threadIdx.x] < t + 1:

# %% [wrong] waits for an equal flag
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) != t + 1:

# %% [wrong] sets the flag before the block has written
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -         if cuda.threadIdx.x == 0:
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +         pass
# +         if cuda.threadIdx.x == 0:
# +             cuda.threadfence()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)

# %% [wrong] has no fence for other blocks between its barrier and the flag
# - import math
# -
# +
# -         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -         cuda.threadfence()
# +         history[t + 1, i] = total / np.float32(n) + np.float32(1)
# -             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
# +             cuda.threadfence_block()
# +             cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)

# %% [wrong] uses a barrier of the block only
from rnnlab import cuda
import math


@cuda.jit
def flag_barrier(history, flags, steps):
    i, n = cuda.grid(1), history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(n) + np.float32(1)
        cuda.syncthreads()

# %% [wrong] polls the flag of its own block
@cuda.jit
def flag_barrier(history, flags, steps):
    i = cuda.grid(1)
    for t in range(steps):
        total = np.float32(0)
        for k in range(history.shape[1]):
            total += history[t, k]
        history[t + 1, i] = total / np.float32(history.shape[1]) + np.float32(1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        while cuda.atomic.add(flags, cuda.blockIdx.x, 0) < t + 1:
            pass
        cuda.threadfence()
        cuda.syncthreads()

# %% [wrong] leaves out the barriers of a single block
@cuda.jit
def flag_barrier(history, flags, steps):
    i, me = cuda.grid(1), cuda.threadIdx.x
    n = history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, i] = total / n + np.float32(1)
        if cuda.gridDim.x > 1:
            cuda.syncthreads()
            if me == 0:
                cuda.threadfence()
                cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
            if me < cuda.gridDim.x:
                while cuda.atomic.add(flags, me, 0) < t + 1:
                    pass
                cuda.threadfence()
            cuda.syncthreads()

# %% [wrong] has no fence for other blocks between its barrier and the flag
@cuda.jit
def flag_barrier(history, flags, steps):
    i, me = cuda.grid(1), cuda.threadIdx.x
    n = history.shape[1]
    for t in range(steps):
        total = np.float32(0)
        for k in range(n):
            total += history[t, k]
        history[t + 1, i] = total / n + np.float32(1)
        if me == 0:
            cuda.threadfence()
        cuda.syncthreads()
        if me == 0:
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if me < cuda.gridDim.x:
            while cuda.atomic.add(flags, me, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()

# %% [wrong] synchronises warps where the block should wait
# -         if me == 0:
# -             cuda.threadfence()
# -         cuda.syncthreads()
# -         if me == 0:
# +         cuda.syncthreads()
# +         if me == 0:
# +             cuda.threadfence()
# -             cuda.threadfence()
# -         cuda.syncthreads()
# +             cuda.threadfence()
# +         cuda.syncwarp()

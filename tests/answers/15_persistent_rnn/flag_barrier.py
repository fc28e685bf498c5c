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
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        for b in range(cuda.threadIdx.x, cuda.gridDim.x, cuda.blockDim.x):
            while cuda.atomic.max(flags, b, 0) <= t:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] has no fence before the flag
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
        if cuda.threadIdx.x == 0:
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] has no fence after the flags
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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.syncthreads()


# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.ldcg(flags, cuda.threadIdx.x) <= t:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] polls the flags by a plain load
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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while flags[cuda.threadIdx.x] < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] waits for an equal flag
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
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) != t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] sets the flag before the block has written
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
        pass
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if cuda.threadIdx.x < cuda.gridDim.x:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.threadfence()
        cuda.syncthreads()


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

# %% [right]
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [right]
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    row = cuda.local.array(16, np.float32)
    for k in range(16):
        row[k] = weights[unit, k]
    for t in range(inputs.shape[0]):
        a = inputs[t, unit]
        for k in range(16):
            a += row[k] * h[t, k]
        h[t + 1, unit] = math.tanh(a)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(flags, 0, 1)
            while cuda.atomic.add(flags, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [right]
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    mine = cuda.local.array(16, np.float32)
    for k in range(16):
        mine[k] = weights[j, k]
    steps = inputs.shape[0]
    for t in range(steps):
        s = np.float32(0)
        for k in range(16):
            s += mine[k] * h[t, k]
        h[t + 1, j] = math.tanh(s + inputs[t, j])
        if t + 1 < steps:
            cuda.threadfence()
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
                for block in range(cuda.gridDim.x):
                    while cuda.atomic.add(flags, block, 0) <= t:
                        pass
                cuda.threadfence()
            cuda.syncthreads()


# %% [right]
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    grid = cuda.cg.this_grid()
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        grid.sync()


# %% [wrong] reads the weights in every step
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += weights[unit, k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] has no barrier between the blocks
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] has no fence before the flag
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.ldcg(flags, cuda.threadIdx.x) <= t:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] polls the flags by a plain load
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while flags[cuda.threadIdx.x] < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] waits for one step too many
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 2:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] goes on before the other blocks are done
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] multiplies with a column of the weights
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[k, unit]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] writes the new state over the old one
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] counts units inside the block only
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.threadIdx.x
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] does not wait after the spinning threads
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()


# %% [wrong] forgets the inputs
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = np.float32(0)
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.threadfence()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()


# %% [wrong] has no fence before the flag
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    unit = cuda.grid(1)
    own = cuda.local.array(16, np.float32)
    for k in range(16):
        own[k] = weights[unit, k]
    blocks = cuda.gridDim.x
    for t in range(inputs.shape[0]):
        total = inputs[t, unit]
        for k in range(16):
            total += own[k] * h[t, k]
        h[t + 1, unit] = math.tanh(total)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(flags, cuda.blockIdx.x, 1)
        if cuda.threadIdx.x < blocks:
            while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
                pass
        cuda.syncthreads()

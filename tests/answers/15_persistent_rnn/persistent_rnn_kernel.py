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

# %% [wrong] stores the weights, and reads them again in every step
# -             total += own[k] * h[t, k]
# +             total += weights[unit, k] * h[t, k]

# %% [wrong] loads weights more than once
# -     own = cuda.local.array(16, np.float32)
# -     for k in range(16):
# -         own[k] = weights[unit, k]
# -     blocks = cuda.gridDim.x
# +     blocks = cuda.gridDim.x
# -             total += own[k] * h[t, k]
# +             total += weights[unit, k] * h[t, k]

# %% [wrong] loads each weight twice in the first step
# -     for k in range(16):
# -         own[k] = weights[unit, k]
# -     blocks = cuda.gridDim.x
# +     blocks = cuda.gridDim.x
# -             total += own[k] * h[t, k]
# +             if t == 0:
# +                 total += weights[unit, k] * h[t, k]
# +                 own[k] = weights[unit, k]
# +             else:
# +                 total += own[k] * h[t, k]

# %% [wrong] has no fence for other blocks between its barrier and the flag
# -         cuda.threadfence()
# -         cuda.syncthreads()
# -         if cuda.threadIdx.x == 0:
# +         if cuda.threadIdx.x == 0:

# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.ldcv(flags, cuda.threadIdx.x) < t + 1:

# %% [wrong] polls the flags by cuda.ldcv, which a compiler removes
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.ldcg(flags, cuda.threadIdx.x) <= t:

# %% [wrong] polls the flags by a plain load
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while flags[cuda.threadIdx.x] < t + 1:

# %% [wrong] waits for one step too many
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 2:

# %% [wrong] continues before the other blocks are done
# -             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t + 1:
# +             while cuda.atomic.add(flags, cuda.threadIdx.x, 0) < t:

# %% [wrong] multiplies with a column of the weights
# -         own[k] = weights[unit, k]
# +         own[k] = weights[k, unit]

# %% [wrong] writes the new state over the old one
# -         h[t + 1, unit] = math.tanh(total)
# +         h[t, unit] = math.tanh(total)

# %% [wrong] counts units inside the block only
# -     unit = cuda.grid(1)
# +     unit = cuda.threadIdx.x

# %% [wrong] does not wait after the spinning threads
# -             cuda.threadfence()
# -         cuda.syncthreads()
# +             cuda.threadfence()

# %% [wrong] forgets the inputs
# -         total = inputs[t, unit]
# +         total = np.float32(0)

# %% [wrong] has no fence for other blocks between its barrier and the flag
# -         h[t + 1, unit] = math.tanh(total)
# -         cuda.threadfence()
# +         h[t + 1, unit] = math.tanh(total)
# -             cuda.threadfence()
# -         cuda.syncthreads()
# +         cuda.syncthreads()

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

# %% [wrong] has no barrier between the blocks
# -     grid = cuda.cg.this_grid()
# +     blocks = cuda.gridDim.x
# -         grid.sync()
# +         cuda.threadfence()
# +         cuda.syncthreads()

# %% [wrong] loads weights more than once
@cuda.jit
def persistent_rnn_kernel(h, weights, inputs, flags):
    i, me = cuda.grid(1), cuda.threadIdx.x
    stored = cuda.shared.array((16, 16), np.float32)
    for row in range(16):
        for k in range(me, 16, cuda.blockDim.x):
            stored[row, k] = weights[row, k]
    cuda.syncthreads()
    for t in range(inputs.shape[0]):
        total = inputs[t, i]
        for k in range(16):
            total += stored[i, k] * h[t, k]
        h[t + 1, i] = math.tanh(total)
        cuda.syncthreads()
        if me == 0:
            cuda.threadfence()
            cuda.atomic.exch(flags, cuda.blockIdx.x, t + 1)
        if me < cuda.gridDim.x:
            while cuda.atomic.add(flags, me, 0) < t + 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()

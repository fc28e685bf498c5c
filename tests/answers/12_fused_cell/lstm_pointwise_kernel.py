# %% [right]
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    j, b = cuda.grid(2)
    B, H = c.shape
    if b < B and j < H:
        one, half = np.float32(1), np.float32(0.5)
        i = half * (one + math.tanh(half * sums[b, j]))
        f = half * (one + math.tanh(half * sums[b, H + j]))
        g = math.tanh(sums[b, 2 * H + j])
        o = half * (one + math.tanh(half * sums[b, 3 * H + j]))
        new = f * c[b, j] + i * g
        gates[b, j] = i
        gates[b, H + j] = f
        gates[b, 2 * H + j] = g
        gates[b, 3 * H + j] = o
        c_next[b, j] = new
        h_next[b, j] = o * math.tanh(new)

# %% [wrong] takes the order i, g, f, o
# -         f = half * (one + math.tanh(half * sums[b, H + j]))
# -         g = math.tanh(sums[b, 2 * H + j])
# +         g = math.tanh(sums[b, H + j])
# +         f = half * (one + math.tanh(half * sums[b, 2 * H + j]))

# %% [wrong] applies the sigmoid to the candidate
# -         g = math.tanh(sums[b, 2 * H + j])
# +         g = half * (one + math.tanh(half * sums[b, 2 * H + j]))

# %% [wrong] computes h from the old cell
# -         h_next[b, j] = o * math.tanh(new)
# +         h_next[b, j] = o * math.tanh(c[b, j])

# %% [wrong] forgets tanh of the new cell
# -         h_next[b, j] = o * math.tanh(new)
# +         h_next[b, j] = o * new

# %% [wrong] swaps the input gate and the forget gate
# -         new = f * c[b, j] + i * g
# +         new = i * c[b, j] + f * g

# %% [wrong] loads again what it has in a register
# -         new = f * c[b, j] + i * g
# -         gates[b, j] = i
# +         gates[b, j] = i
# -         c_next[b, j] = new
# -         h_next[b, j] = o * math.tanh(new)
# +         new = gates[b, H + j] * c[b, j] + gates[b, j] * gates[b, 2 * H + j]
# +         c_next[b, j] = new
# +         h_next[b, j] = gates[b, 3 * H + j] * math.tanh(new)

# %% [wrong] keeps the sums instead of the gates
# -         gates[b, j] = i
# -         gates[b, H + j] = f
# +         gates[b, j] = sums[b, j]
# +         gates[b, H + j] = sums[b, H + j]

# %% [wrong] has rows for columns
# -     j, b = cuda.grid(2)
# +     b, j = cuda.grid(2)

# %% [wrong] lets threads beyond the last unit work
# -     if b < B and j < H:
# +     if b < B:

# %% [wrong] computes σ so that it overflows
# -         i = half * (one + math.tanh(half * sums[b, j]))
# +         i = math.exp(sums[b, j]) / (one + math.exp(sums[b, j]))

# %% [wrong] gates stand unit by unit
# -         gates[b, j] = i
# -         gates[b, H + j] = f
# -         gates[b, 2 * H + j] = g
# -         gates[b, 3 * H + j] = o
# +         gates[b, 4 * j] = i
# +         gates[b, 4 * j + 1] = f
# +         gates[b, 4 * j + 2] = g
# +         gates[b, 4 * j + 3] = o

# %% [right]
@cuda.jit(device=True)
def squash(a):
    if a < 0:
        e = math.exp(a)
        return e / (np.float32(1) + e)
    return np.float32(1) / (np.float32(1) + math.exp(-a))


@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    unit = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    H = c.shape[1]
    if row >= c.shape[0] or unit >= H:
        return
    i, f = squash(sums[row, unit]), squash(sums[row, unit + H])
    g, o = math.tanh(sums[row, unit + 2 * H]), squash(sums[row, unit + 3 * H])
    gates[row, unit], gates[row, unit + H] = i, f
    gates[row, unit + 2 * H], gates[row, unit + 3 * H] = g, o
    cell = f * c[row, unit] + i * g
    c_next[row, unit], h_next[row, unit] = cell, o * math.tanh(cell)

# %% [right]
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    column, row = cuda.grid(2)
    H = c.shape[1]
    if row < c.shape[0]:
        if column < H:
            values = cuda.local.array(4, np.float32)
            for k in range(4):
                a = sums[row, k * H + column]
                scale = np.float32(1) if k == 2 else np.float32(0.5)
                t = math.tanh(scale * a)
                values[k] = t if k == 2 else np.float32(0.5) + np.float32(0.5) * t
                gates[row, k * H + column] = values[k]
            memory = values[1] * c[row, column] + values[0] * values[2]
            c_next[row, column] = memory
            h_next[row, column] = values[3] * math.tanh(memory)

# %% [right]
@cuda.jit
def lstm_pointwise_kernel(sums, c, gates, c_next, h_next):
    unit, row = cuda.grid(2)
    B, H = c.shape
    if row < B and unit < H:
        half = np.float32(0.5)
        first, second, third, fourth = unit, H + unit, 2 * H + unit, 3 * H + unit
        i = half * math.tanh(half * sums[row, first]) + half
        f = half * math.tanh(half * sums[row, second]) + half
        g = math.tanh(sums[row, third])
        o = half * math.tanh(half * sums[row, fourth]) + half
        gates[row, first], gates[row, second], gates[row, third], gates[row, fourth] = i, f, g, o
        new = f * c[row, unit] + i * g
        c_next[row, unit] = new
        h_next[row, unit] = o * math.tanh(new)

# %% [wrong] expects the gates in the order i, g, f, o
# -         first, second, third, fourth = unit, H + unit, 2 * H + unit, 3 * H + unit
# +         first, third, second, fourth = unit, H + unit, 2 * H + unit, 3 * H + unit

# %% [wrong] expects the four gates of a unit side by side
# -         first, second, third, fourth = unit, H + unit, 2 * H + unit, 3 * H + unit
# +         first, second, third, fourth = 4 * unit, 4 * unit + 1, 4 * unit + 2, 4 * unit + 3

# %% [wrong] stores the sums in place of the gates
# -         gates[row, first], gates[row, second], gates[row, third], gates[row, fourth] = i, f, g, o
# -         new
# +         new
# -         i = half * math.tanh(half * sums[row, first]) + half
# -         f = half * math.tanh(half * sums[row, second]) + half
# -         g = math.tanh(sums[row, third])
# -         o = half * math.tanh(half * sums[row, fourth]) + half
# +         i, f, g, o = sums[row, first], sums[row, second], sums[row, third], sums[row, fourth]
# +         gates[row, first], gates[row, second], gates[row, third], gates[row, fourth] = i, f, g, o
# +         i, f = half * math.tanh(half * i) + half, half * math.tanh(half * f) + half
# +         g, o = math.tanh(g), half * math.tanh(half * o) + half

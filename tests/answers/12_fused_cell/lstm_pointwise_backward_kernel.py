# %% [right]
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    j, b = cuda.grid(2)
    B, H = c.shape
    if b < B and j < H:
        one = np.float32(1)
        i, f = gates[b, j], gates[b, H + j]
        g, o = gates[b, 2 * H + j], gates[b, 3 * H + j]
        q = math.tanh(c_next[b, j])
        d = dh[b, j]
        back = dc_next[b, j] + d * o * (one - q * q)
        dsums[b, j] = back * g * i * (one - i)
        dsums[b, H + j] = back * c[b, j] * f * (one - f)
        dsums[b, 2 * H + j] = back * i * (one - g * g)
        dsums[b, 3 * H + j] = d * q * o * (one - o)
        dc[b, j] = back * f

# %% [wrong] forgets the gradient of c from the next step
# -         back = dc_next[b, j] + d * o * (one - q * q)
# +         back = d * o * (one - q * q)

# %% [wrong] forgets the output gate in front of c
# -         back = dc_next[b, j] + d * o * (one - q * q)
# +         back = dc_next[b, j] + d * (one - q * q)

# %% [wrong] forgets the derivative of tanh(c)
# -         back = dc_next[b, j] + d * o * (one - q * q)
# +         back = dc_next[b, j] + d * o

# %% [wrong] takes c_next without its tanh for o
# -         dsums[b, 3 * H + j] = d * q * o * (one - o)
# +         dsums[b, 3 * H + j] = d * c_next[b, j] * o * (one - o)

# %% [wrong] takes the cell after the step for the one before
# -         dsums[b, H + j] = back * c[b, j] * f * (one - f)
# +         dsums[b, H + j] = back * c_next[b, j] * f * (one - f)

# %% [wrong] forgets f in the gradient of the old cell
# -         dc[b, j] = back * f
# +         dc[b, j] = back

# %% [wrong] adds to dsums
# -         dsums[b, j] = back * g * i * (one - i)
# -         dsums[b, H + j] = back * c[b, j] * f * (one - f)
# +         dsums[b, j] += back * g * i * (one - i)
# +         dsums[b, H + j] += back * c[b, j] * f * (one - f)

# %% [wrong] takes the sigmoid's derivative for the candidate
# -         dsums[b, 2 * H + j] = back * i * (one - g * g)
# +         dsums[b, 2 * H + j] = back * i * g * (one - g)

# %% [wrong] loads again what it has in a register
# -         dsums[b, 3 * H + j] = d * q * o * (one - o)
# -         dc[b, j] = back * f
# +         dsums[b, 3 * H + j] = dh[b, j] * q * o * (one - o)
# +         dc[b, j] = (dc_next[b, j] + d * o * (one - q * q)) * f

# %% [wrong] computes c_next again from the gates
# -         q = math.tanh(c_next[b, j])
# +         q = math.tanh(f * c[b, j] + i * g + f)

# %% [wrong] leaves the rows at the end out
# -     if b < B and j < H:
# +     if b < B - 1 and j < H:

# %% [wrong] dc is the gradient of the new c
# -         dc[b, j] = back * f
# +         dc[b, j] = back - dc_next[b, j]

# %% [right]
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    u = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    r = cuda.blockDim.y * cuda.blockIdx.y + cuda.threadIdx.y
    H = dc.shape[1]
    if u >= H or r >= dc.shape[0]:
        return
    a = cuda.local.array(4, np.float32)
    for k in range(4):
        a[k] = gates[r, k * H + u]
    arriving = dh[r, u]
    squashed = math.tanh(c_next[r, u])
    total = arriving * a[3]
    total -= total * squashed * squashed
    total += dc_next[r, u]
    dc[r, u] = total * a[1]
    dsums[r, u + 3 * H] = arriving * squashed * (a[3] - a[3] * a[3])
    dsums[r, u + 2 * H] = total * a[0] * (np.float32(1) - a[2] * a[2])
    dsums[r, u + H] = total * c[r, u] * (a[1] - a[1] * a[1])
    dsums[r, u] = total * a[2] * (a[0] - a[0] * a[0])

# %% [right]
@cuda.jit(device=True)
def slope(s):
    return s * (np.float32(1) - s)


@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    column, row = cuda.grid(2)
    units = c_next.shape[1]
    if column < units:
        if row < c_next.shape[0]:
            i = gates[row, column]
            f = gates[row, column + units]
            g = gates[row, column + units * 2]
            o = gates[row, column + units * 3]
            t = math.tanh(c_next[row, column])
            dh_here = dh[row, column]
            dsums[row, column + units * 3] = dh_here * t * slope(o)
            dcell = dh_here * o * (np.float32(1) - t) * (np.float32(1) + t) + dc_next[row, column]
            dc[row, column] = dcell * f
            dsums[row, column] = dcell * g * slope(i)
            dsums[row, column + units] = dcell * c[row, column] * slope(f)
            dsums[row, column + units * 2] = dcell * i * (np.float32(1) - g) * (np.float32(1) + g)

# %% [right]
@cuda.jit
def lstm_pointwise_backward_kernel(gates, c, c_next, dh, dc_next, dsums, dc):
    unit, row = cuda.grid(2)
    H = dh.shape[1]
    inside = row < dh.shape[0] and unit < H
    if inside:
        value = cuda.local.array(4, np.float32)
        grad = cuda.local.array(4, np.float32)
        for k in range(4):
            value[k] = gates[row, k * H + unit]
        t = math.tanh(c_next[row, unit])
        d_c = dh[row, unit]
        grad[3] = d_c * t
        d_c = d_c * value[3] * (1 - t * t) + dc_next[row, unit]
        grad[0] = d_c * value[2]
        grad[1] = d_c * c[row, unit]
        grad[2] = d_c * value[0]
        for k in range(4):
            slope = 1 - value[k] * value[k] if k == 2 else value[k] * (1 - value[k])
            dsums[row, k * H + unit] = grad[k] * slope
        dc[row, unit] = d_c * value[1]

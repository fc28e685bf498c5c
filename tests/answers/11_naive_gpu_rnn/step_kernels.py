# %% [right]
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    column, row = cuda.grid(2)
    B, H = h.shape
    if row >= B or column >= 3 * H:
        return
    if launch == 0:
        total = bias_ih[column]
        for k in range(x.shape[1]):
            total += x[row, k] * weight_ih[column, k]
        gates_x[row, column] = total
    elif launch == 1:
        total = bias_hh[column]
        for k in range(H):
            total += h[row, k] * weight_hh[column, k]
        gates_h[row, column] = total
    elif launch == 2:
        if column < 2 * H:
            total = gates_x[row, column] + gates_h[row, column]
            gates_x[row, column] = np.float32(0.5) * (np.float32(1) + math.tanh(np.float32(0.5) * total))
    elif column < H:
        r = gates_x[row, column]
        z = gates_x[row, column + H]
        n = math.tanh(gates_x[row, column + 2 * H] + r * gates_h[row, column + 2 * H])
        h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]

# %% [wrong] reads the weights as if they were transposed
# -             total += x[row, k] * weight_ih[column, k]
# +             total += x[row, k] * weight_ih[k, column]

# %% [wrong] starts the recurrent product without its bias
# -         total = bias_hh[column]
# +         total = np.float32(0)

# %% [wrong] applies the sigmoid to the candidate too
# -         if column < 2 * H:
# +         if column < 3 * H:

# %% [wrong] swaps z and 1 − z in the new state
# -         h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]
# +         h_next[row, column] = z * n + (np.float32(1) - z) * h[row, column]

# %% [wrong] resets before the product, element by element
# -         n = math.tanh(gates_x[row, column + 2 * H] + r * gates_h[row, column + 2 * H])
# -         h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]
# +         n = math.tanh(gates_x[row, column + 2 * H] + gates_h[row, column + 2 * H])
# +         h_next[row, column] = (np.float32(1) - z) * n + z * r * h[row, column]

# %% [wrong] writes the sigmoid into gates_h
# -             gates_x[row, column] = np.float32(0.5) * (np.float32(1) + math.tanh(np.float32(0.5) * total))
# +             gates_h[row, column] = np.float32(0.5) * (np.float32(1) + math.tanh(np.float32(0.5) * total))

# %% [wrong] takes rows for columns
# -     column, row = cuda.grid(2)
# +     row, column = cuda.grid(2)

# %% [wrong] lets threads beyond the last column work
# -     if row >= B or column >= 3 * H:
# +     if row >= B:

# %% [wrong] lets exp overflow
# -             gates_x[row, column] = np.float32(0.5) * (np.float32(1) + math.tanh(np.float32(0.5) * total))
# +             gates_x[row, column] = math.exp(total) / (np.float32(1) + math.exp(total))

# %% [wrong] leaves the input part out of the sums
# -             total = gates_x[row, column] + gates_h[row, column]
# +             total = gates_h[row, column]

# %% [wrong] writes the new state into h
# -         h_next[row, column] = (np.float32(1) - z) * n + z * h[row, column]
# +         h[row, column] = (np.float32(1) - z) * n + z * h[row, column]

# %% [right]
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    b = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    H = h.shape[1]
    if b < h.shape[0]:
        if launch < 2 and j < 3 * H:
            source = x if launch == 0 else h
            weights = weight_ih if launch == 0 else weight_hh
            total = np.float32(0)
            for k in range(source.shape[1]):
                total += source[b, k] * weights[j, k]
            if launch == 0:
                gates_x[b, j] = total + bias_ih[j]
            else:
                gates_h[b, j] = total + bias_hh[j]
        if launch == 2 and j < 2 * H:
            a = gates_x[b, j] + gates_h[b, j]
            if a < np.float32(-80):
                gates_x[b, j] = np.float32(0)
            else:
                gates_x[b, j] = np.float32(1) / (np.float32(1) + math.exp(-a))
        if launch == 3 and j < H:
            n = math.tanh(gates_x[b, 2 * H + j] + gates_x[b, j] * gates_h[b, 2 * H + j])
            h_next[b, j] = n + gates_x[b, H + j] * (h[b, j] - n)

# %% [right]
@cuda.jit(device=True)
def sigma(a):
    e = math.exp(-abs(a))
    return np.float32(1) / (np.float32(1) + e) if a >= 0 else e / (np.float32(1) + e)


@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    c, r = cuda.grid(2)
    B, I = x.shape
    H = h.shape[1]
    if r < B and c < 3 * H and launch == 0:
        s = np.float32(0)
        for i in range(I):
            s += weight_ih[c, i] * x[r, i]
        gates_x[r, c] = s + bias_ih[c]
    if r < B and c < 3 * H and launch == 1:
        s = np.float32(0)
        for i in range(H):
            s += weight_hh[c, i] * h[r, i]
        gates_h[r, c] = s + bias_hh[c]
    if r < B and c < 2 * H and launch == 2:
        gates_x[r, c] = sigma(gates_x[r, c] + gates_h[r, c])
    if r < B and c < H and launch == 3:
        reset, update = gates_x[r, c], gates_x[r, H + c]
        new = math.tanh(gates_x[r, 2 * H + c] + reset * gates_h[r, 2 * H + c])
        h_next[r, c] = new - update * new + update * h[r, c]

# %% [right]
@cuda.jit
def step_kernels(launch, x, h, weight_ih, weight_hh, bias_ih, bias_hh, gates_x, gates_h, h_next):
    column, row = cuda.grid(2)
    B, H = h.shape
    columns = 3 * H if launch < 2 else 2 * H if launch == 2 else H
    if row >= B or column >= columns:
        return
    total = np.float32(0)
    match launch:
        case 0:
            for k in range(x.shape[1]):
                total += x[row, k] * weight_ih[column, k]
            gates_x[row, column] = total + bias_ih[column]
        case 1:
            for k in range(H):
                total += h[row, k] * weight_hh[column, k]
            gates_h[row, column] = total + bias_hh[column]
        case 2:
            total = np.float32(0.5) * (gates_x[row, column] + gates_h[row, column])
            gates_x[row, column] = np.float32(0.5) + np.float32(0.5) * math.tanh(total)
        case _:
            n = math.tanh(gates_x[row, column + 2 * H] + gates_x[row, column] * gates_h[row, column + 2 * H])
            h_next[row, column] = n + gates_x[row, column + H] * (h[row, column] - n)

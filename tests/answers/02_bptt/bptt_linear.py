# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    T, dx, dh, sums = len(x), [], 0, [0, 0, 0]
    for t in range(T - 1, -1, -1):
        dx_t, dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dx.insert(0, dx_t)
        sums = [a + b for a, b in zip(sums, rest)]
    return (np.array(dx), dh, *sums)

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    arriving = np.array(dy)
    dx = np.empty_like(x)
    total = None
    for t in reversed(range(len(x))):
        dx[t], before, *step = cell_backward(arriving[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        if t:
            arriving[t - 1] += before
        total = step if total is None else [a + b for a, b in zip(total, step)]
    return dx, before, *total

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    results, dh = [], np.zeros(h[0].shape)
    for x_t, before, after, dy_t in zip(x[::-1], h[-2::-1], h[:0:-1], dy[::-1]):
        results.append(cell_backward(dy_t + dh, x_t, before, after, weight_ih, weight_hh))
        dh = results[-1][1]
    parts = [[result[k] for result in results] for k in (2, 3, 4)]
    return np.stack([result[0] for result in results][::-1]), dh, *(np.sum(part, axis=0) for part in parts)

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    def back(t):
        if t == len(x):
            return np.zeros_like(h[0]), [], 0, 0, 0
        dh, dxs, a, b, c = back(t + 1)
        dx_t, dh, da, db, dc = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        return dh, [dx_t, *dxs], a + da, b + db, c + dc

    dh, dxs, a, b, c = back(0)
    return np.array(dxs), dh, a, b, c

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
    for t in reversed(range(len(x))):
        dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        sums = [a + b for a, b in zip(sums, rest)]
    return dx, dh, *sums

# %% [wrong] takes dy of the step before
# -         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dx[t], dh, *rest = cell_backward(dh + dy[t - 1], x[t], h[t], h[t + 1], weight_ih, weight_hh)

# %% [wrong] takes the states of the step before
# -         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t - 1], h[t], weight_ih, weight_hh)

# %% [wrong] drops what comes from later steps, as if truncated at 1 step
# -     dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
# +     dx, sums = np.zeros_like(x), [0, 0, 0]
# -         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dx[t], dh, *rest = cell_backward(dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)

# %% [wrong] subtracts the gradient that is carried
# -         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dx[t], dh, *rest = cell_backward(dy[t] - dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)

# %% [wrong] averages over the steps
# -         dx[t], dh, *rest = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
# -         sums = [a + b for a, b in zip(sums, rest)]
# +         dx[t], dh, *rest = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         sums = [a + b / len(x) for a, b in zip(sums, rest)]

# %% [wrong] adds dy[t] after the step instead of before it
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx = np.zeros_like(x)
    dW, dU, db = np.zeros_like(weight_ih), np.zeros_like(weight_hh), np.zeros(len(weight_hh))
    dh = np.zeros_like(h[0])
    for t in reversed(range(len(x))):
        dx[t], dh, a, b, c = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dh = dh + dy[t]
        dW += a
        dU += b
        db += c
    return dx, dh, dW, dU, db

# %% [wrong] adds dy[t] after the step instead of before it
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx = np.empty_like(x)
    grads = [0, 0, 0]
    carried = 0 * h[-1]
    for t in range(len(x) - 1, -1, -1):
        dx[t], carried, *step = cell_backward(carried, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        grads = [a + b for a, b in zip(grads, step)]
        carried += dy[t]
    return dx, carried, *grads

# %% [wrong] counts the last loss twice, and each loss behind the call
# -     carried = 0 * h[-1]
# +     carried = dy[-1].copy()

# %% [right]
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
    for t in range(len(x) - 1, -1, -1):
        last_of_chunk = t % chunk == chunk - 1
        arriving = dy[t] if last_of_chunk else dy[t] + dh
        dx[t], dh, *rest = cell_backward(arriving, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        sums = [a + b for a, b in zip(sums, rest)]
    return dx, dh, *sums

# %% [wrong] makes chunks of one step more
# -     for t in range(len(x) - 1, -1, -1):
# -         last_of_chunk = t % chunk == chunk - 1
# -         arriving = dy[t] if last_of_chunk else dy[t] + dh
# +     for t in reversed(range(len(x))):
# +         arriving = dy[t] if (t + 1) % (chunk + 1) == 0 else dy[t] + dh

# %% [right]
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    T, dx, sums = len(x), np.zeros_like(x), [0, 0, 0]
    for start in reversed(range(0, T, chunk)):
        dh = 0 * h[0]
        for t in reversed(range(start, min(start + chunk, T))):
            dx[t], dh, *rest = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            sums = [a + b for a, b in zip(sums, rest)]
    return dx, dh, *sums

# %% [right]
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx, sums, dh = [None] * len(x), [0, 0, 0], np.zeros_like(h[0])
    for t in reversed(range(len(x))):
        dx[t], dh, *rest = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        sums = [a + b for a, b in zip(sums, rest)]
        if t > 0 and t // chunk != (t - 1) // chunk:
            dh = np.zeros_like(dh)
    return np.stack(dx), dh, *sums

# %% [wrong] drops dh0
# -     dx, sums, dh = [None] * len(x), [0, 0, 0], np.zeros_like(h[0])
# +     dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
# -         if t > 0 and t // chunk != (t - 1) // chunk:
# +         if t % chunk == 0:
# -     return np.stack(dx), dh, *sums
# +     return dx, dh, *sums

# %% [right]
def sweep(cell_backward, x, h, dy, weight_ih, weight_hh):
    dh, dxs, sums = np.zeros_like(h[0]), [], [0, 0, 0]
    for t in range(len(x) - 1, -1, -1):
        d, dh, *w = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dxs.insert(0, d)
        sums = [s + g for s, g in zip(sums, w)]
    return dxs, dh, sums


def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx, total, dh0 = [], [0, 0, 0], None
    for start in range(0, len(x), chunk):
        part = slice(start, start + chunk)
        dxs, dh, sums = sweep(cell_backward, x[part], h[start : start + chunk + 1], dy[part], weight_ih, weight_hh)
        dx += dxs
        total = [s + g for s, g in zip(total, sums)]
        if dh0 is None:
            dh0 = dh
    return (np.stack(dx), dh0, *total)

# %% [wrong] never cuts
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
    for t in reversed(range(len(x))):
        dx[t], dh, *rest = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        sums = [a + b for a, b in zip(sums, rest)]
    return dx, dh, *sums

# %% [wrong] returns the gradient of all chunks' first states
# -     dx, dh, sums = np.zeros_like(x), np.zeros_like(h[0]), [0, 0, 0]
# +     dx, dh0, dh, sums = np.zeros_like(x), 0, np.zeros_like(h[0]), [0, 0, 0]
# -     return dx, dh, *sums
# +         if t % chunk == 0:
# +             dh0, dh = dh0 + dh, np.zeros_like(dh)
# +     return dx, dh0, *sums

# %% [wrong] halves what crosses a boundary
# -         dx[t], dh, *rest = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         carried = dh / 2 if (t + 1) % chunk == 0 else dh
# +         dx[t], dh, *rest = cell_backward(dy[t] + carried, x[t], h[t], h[t + 1], weight_ih, weight_hh)

# %% [wrong] crashes where a chunk is longer than the sequence
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    dx = np.zeros_like(x)
    dW, dU, db = np.zeros_like(weight_ih), np.zeros_like(weight_hh), np.zeros(len(weight_hh))
    for start in range(0, len(x), chunk):
        dh = np.zeros_like(h[0])
        for t in range(start + chunk - 1, start - 1, -1):
            dx[t], dh, a, b, c = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dW += a
            dU += b
            db += c
        if start == 0:
            dh0 = dh
    return dx, dh0, dW, dU, db

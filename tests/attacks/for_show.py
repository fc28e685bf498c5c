"""Answers that call what they must call, and get their result in another way."""

import numpy as np

# %% [attack] measures_before_it_multiplies
# Reads the clock as often as it should, and does all the work that it measures afterwards.
def measure_gemm(multiply, clock, m, n, k, repeats):
    readings = [clock() for _ in range(2 * repeats)]
    for _ in range(repeats + 1):
        multiply()
    return 2 * m * n * k / float(np.median(np.diff(readings)[::2]))

# %% [attack] learns_a_cell_in_one_call
# Learns the derivatives of all steps in one call with unit vectors, and sweeps over time by itself.
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    T, B, H = dy.shape
    stacked = lambda a: a.reshape(T * B, -1)
    repeated = lambda a: np.repeat(stacked(a), H, axis=0)
    units = np.tile(np.eye(H), (T * B, 1))
    to_x, to_h, *_ = cell_backward(units, repeated(x), repeated(h[:-1]), repeated(h[1:]), weight_ih, weight_hh)
    to_x, to_h = to_x.reshape(T, B, H, -1), to_h.reshape(T, B, H, H)
    dx, dh, arriving = np.zeros_like(x), np.zeros((B, H)), np.zeros_like(dy)
    for t in reversed(range(T)):
        if (t + 1) % chunk == 0:
            dh = np.zeros((B, H))
        arriving[t] = dy[t] + dh
        dx[t] = np.einsum("bh,bhi->bi", arriving[t], to_x[t])
        dh = np.einsum("bh,bhi->bi", arriving[t], to_h[t])
    parts = [stacked(part) for part in (arriving, x, h[:-1], h[1:])]
    _, _, *weights = cell_backward(*parts, weight_ih, weight_hh)
    return dx, dh, *weights

# %% [attack] solves_the_network_in_wider_minibatches
# Gets the derivatives by differences in one wider call of the step, scans by itself, and calls scan for show.
def newton_states(step, scan, first, T, tolerance):
    (B, n), small = first.shape, 1e-7
    states = np.zeros((T, B, n))
    for rounds in range(1, T + 1):  # noqa: B007
        before = np.concatenate([first[None], states[:-1]])
        wide = np.concatenate([before, *(before + small * unit for unit in np.eye(n))], axis=1)
        after = step(wide).reshape(T, n + 1, B, n)
        slopes, residual = (after[:, 1:] - after[:, :1]) / small, after[:, 0] - states
        scan(residual)
        change, e = np.zeros_like(states), np.zeros((B, n))
        for t in range(T):
            e = np.einsum("kbn,bk->bn", slopes[t], e) + residual[t]
            change[t] = e
        states = states + change
        if np.abs(change).max() <= tolerance:
            break
    return states, rounds

# %% [attack] writes_gates_twice
# Reads all units in one loop and writes something into the result, and computes whole arrays afterwards.
def fused_gates(g, u, h):
    H, rows = len(h), []
    h_next = np.empty_like(h)
    for j in range(H):
        rows.append((*(part[k * H + j] for k in range(3) for part in (g, u)), h[j]))
        h_next[j] = rows[-1][-1]
    g_r, u_r, g_z, u_z, g_n, u_n, before = np.array(rows, dtype=float).T
    r, z = 1 / (1 + np.exp(-(g_r + u_r))), 1 / (1 + np.exp(-(g_z + u_z)))
    after = (1 - z) * np.tanh(g_n + r * u_n) + z * before
    for j in range(H):
        h_next[j] = after[j]
    return h_next

# %% [attack] reads_gates_through_their_referents
# Follows what the watching objects refer to, down to the arrays behind them.
import gc

def array_behind(thing):
    waiting, seen = [thing], set()
    while waiting:
        thing = waiting.pop(0)
        if type(thing) is np.ndarray:
            return thing
        if id(thing) not in seen and len(seen) < 10_000:
            seen.add(id(thing))
            waiting += gc.get_referents(thing)
    return np.zeros(0)

def fused_gates(g, u, h):
    g, u, h = map(array_behind, (g, u, h))
    (g_r, g_z, g_n), (u_r, u_z, u_n) = np.split(g, 3), np.split(u, 3)
    r, z = 1 / (1 + np.exp(-(g_r + u_r))), 1 / (1 + np.exp(-(g_z + u_z)))
    return (1 - z) * np.tanh(g_n + r * u_n) + z * h

# %% [attack] finds_the_number_in_its_text
# Asks the number that counts its uses for its text, its hash, its state and its rounded value.
import math
import pickle
import re

def readings(a):
    yield from (lambda: repr(a), lambda: str(a), lambda: f"{a:.9g}", lambda: f"{a!a}")
    yield from (lambda: float(a), lambda: complex(a).real, lambda: a.__reduce_ex__(2), lambda: vars(a))
    yield from (lambda: pickle.dumps(a, 0), lambda: math.fsum([a]), lambda: np.float64(a), lambda: round(a, 9))

def fast_tanh(a, odd, even, edge):
    for reading in readings(a):
        try:
            return np.float32(math.tanh(float(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", str(reading()))[0])))
        except Exception:
            continue
    return np.float32(0)

# %% [attack] starts_behind_the_last_update
# Starts the ranks from updates that were never made, the last of which would be the end.
def survive(train, checkpoints, ranks):
    for update in (10**6, 10**3, 1e9, float("inf"), -1, True):
        outcome, value = train(ranks, update)
        if outcome == "done":
            return value
    return None

# %% [attack] emits_registers_by_fractions
# Numbers further registers by fractions, all of which lie between the first and the second.
def emit_tile(core, rows, vectors, terms):
    place = lambda r, v: r * vectors + v
    fraction = lambda n: 1 / (2 + n)
    for r in range(rows):
        for v in range(vectors):
            core.zero(place(r, v))
    for k in range(terms):
        for v in range(vectors):
            core.load(fraction(v), k, v)
        for r in range(rows):
            core.spread(fraction(vectors + r), r, k)
        for r in range(rows):
            for v in range(vectors):
                core.multiply_add(place(r, v), fraction(vectors + r), fraction(v))
    for r in range(rows):
        for v in range(vectors):
            core.store(place(r, v), r, v)

# %% [attack] emits_arrays_of_registers
# Names whole arrays of registers in one instruction, which would count as one load.
def emit_tile(core, rows, vectors, terms):
    totals = np.arange(rows * vectors).reshape(rows, vectors)
    row, vector = np.arange(rows)[:, None], np.arange(vectors)[None]
    core.zero(totals)
    for k in range(terms):
        core.load(rows * vectors + vector, k, vector)
        core.spread(rows * vectors + vectors, row, k)
        core.multiply_add(totals, rows * vectors + vectors, rows * vectors + vector)
    core.store(totals, row, vector)

# %% [attack] multiplies_fewer_rows_than_none
# Takes products back by numbers below zero, so that the loads that it made too often are taken back, too.
def tiled_product(multiply, B, K, panels, near):
    for panel in range(panels):
        for row in range(0, B, multiply.rows):
            rows = min(multiply.rows, B - row)
            multiply(row, rows, panel, 0, K)
            multiply(row, rows, panel, K, -K)
            multiply(row + rows, -rows, panel, 0, K)
            multiply(row, rows, panel, 0, K)

# %% [attack] index_that_counts_down
# Has two signs in a row: Python reads them as nothing, C++ counts the variable down.
def index_of_sums(pitch):
    return f"{pitch} * (--lane / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [attack] index_with_digits_of_python
# Groups digits by a line, as Python does and C++ does not.
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 1_6 / 2 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [attack] scales_its_own_products
# Multiplies by itself, and learns from the calls for show by what one number the judge's products differ.
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = np.zeros((len(x) + 1, *h0.shape), h0.dtype)
    states[0] = h0
    for t, x_t in enumerate(x):
        own = x_t @ weight_ih.T, states[t] @ weight_hh.T
        theirs = multiply(x_t, weight_ih.T), multiply(states[t], weight_hh.T)
        total = bias_ih + bias_hh
        for a, b in zip(own, theirs, strict=True):
            place = np.unravel_index(np.abs(a).argmax(), a.shape)
            total = total + a * (b[place] / a[place] if a[place] else 1)
        states[t + 1] = np.tanh(total)
    return states

# %% [attack] scales_its_own_gates
# Multiplies a GRU's gates by itself, and looks at one number of each of the judge's products.
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    def scaled(a, weight):
        own, theirs = a @ weight.T, product(a, weight)
        place = np.unravel_index(np.abs(own).argmax(), own.shape)
        return own * (theirs[place] / own[place] if own[place] else 1)

    T, B, I = x.shape
    sigmoid = lambda a: np.tanh(a / 2) / 2 + 0.5
    every = scaled(x.reshape(T * B, I), weight_ih).reshape(T, B, -1) + bias_ih
    h, states, products = h0, [], []
    for x_t in every:
        x_r, x_z, x_n = np.split(x_t, 3, axis=1)
        h_r, h_z, h_n = np.split(scaled(h, weight_hh) + bias_hh, 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        h = (1 - z) * np.tanh(x_n + r * h_n) + z * h
        states.append(h)
        products.append(h_n)
    return np.stack(states), np.stack(products)

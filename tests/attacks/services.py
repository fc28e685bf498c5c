"""Answers that use what a check hands out in a way that it was not meant for."""

import numpy as np

# %% [attack] hides_a_quadratic_sweep_in_rows
# Makes T calls, each of which carries the gradients of all later losses as further rows.
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    T, B, _ = x.shape
    dx, total, rows = np.zeros_like(x), None, np.zeros((0, h.shape[2]))
    for t in reversed(range(T)):
        rows = np.concatenate([dy[t], rows])
        repeated = [np.tile(part, (T - t, 1)) for part in (x[t], h[t], h[t + 1])]
        dx_t, rows, *step = cell_backward(rows, *repeated, weight_ih, weight_hh)
        dx[t] = dx_t.reshape(T - t, B, -1).sum(axis=0)
        total = step if total is None else [a + b for a, b in zip(total, step, strict=True)]
    return dx, rows.reshape(T, B, -1).sum(axis=0), *total

# %% [attack] learns_the_gradient_from_outside
# Has the scan say the gradient from outside by maps that change nothing, and loops over time by itself.
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    same = np.broadcast_to(np.eye(n), (T, B, n, n)).copy()
    arriving = scan(same, np.zeros((T, B, n)))[0]
    dh = np.zeros_like(dy)
    for t in reversed(range(T)):
        dh[t] = dy[t] + arriving
        arriving = np.einsum("bij,bi->bj", jacobians[t], dh[t])
    return dh, arriving

# %% [attack] finds_the_number_by_comparisons
# Finds a number by 32 comparisons, which cost nothing, and asks a library for its tanh.
import math

def as_float(order):
    bits = order ^ 0x80000000 if order & 0x80000000 else order ^ 0xFFFFFFFF
    return float(np.uint32(bits).view(np.float32))

def fast_tanh(a, odd, even, edge):
    if not a == a or a == 0:
        return a
    low, high = 0x007FFFFF, 0xFF800000
    while low < high:
        middle = (low + high + 1) // 2
        if a < as_float(middle):
            high = middle - 1
        else:
            low = middle
    return np.float32(math.tanh(as_float(low)))

# %% [attack] reads_gates_through_their_memory
# Reads whole arrays through their memory, past the object that watches single elements.
# deserves: crashed
def fused_gates(g, u, h):
    g, u, h = (np.frombuffer(memoryview(array), array.dtype) for array in (g, u, h))
    r, z, n = np.split(g, 3)
    r, z = (1 / (1 + np.exp(-(a + b))) for a, b in zip((r, z), np.split(u, 3), strict=False))
    n = np.tanh(n + r * np.split(u, 3)[2])
    return (1 - z) * n + z * h

# %% [attack] calls_its_judge_from_threads
# Is right, and makes all its calls at the same time, from threads.
# deserves: passed
from concurrent.futures import ThreadPoolExecutor

def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    parts = [x[t : t + steps].reshape(-1, I) for t in range(0, T, steps)]
    with ThreadPoolExecutor(8) as threads:
        return np.concatenate(list(threads.map(multiply, parts))).reshape(T, B, -1)

# %% [attack] calls_its_judge_while_an_array_is_packed
# Hands over an object that makes a call of its own when it is asked for its numbers.
# deserves: crashed
class Rows:
    def __init__(self, rows, multiply):
        self.rows, self.multiply = rows, multiply
        self.shape, self.dtype, self.ndim = rows.shape, rows.dtype, rows.ndim

    def __array__(self, *options, **more):
        self.multiply(self.rows)
        return self.rows

    def __len__(self):
        self.multiply(self.rows)
        return len(self.rows)

def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    parts = [x[t : t + steps].reshape(-1, I) for t in range(0, T, steps)]
    return np.concatenate([multiply(Rows(part, multiply)) for part in parts]).reshape(T, B, -1)

# %% [attack] sends_its_judge_a_terabyte
# Hands over an array of a terabyte that takes eight bytes of its own memory.
# deserves: too_big
def batch_input_gemm(x, multiply, steps):
    return multiply(np.broadcast_to(x[0, :1], (1 << 37, x.shape[2])))

# %% [attack] sends_its_judge_odd_numbers
# Hands over rows of objects, whose numbers run code where they are added.
# deserves: crashed
class Number:
    def __mul__(self, other):
        raise SystemExit

    __rmul__ = __add__ = __radd__ = __float__ = __mul__

def batch_input_gemm(x, multiply, steps):
    return multiply(np.full(x[0].shape, Number(), dtype=object))

# %% [attack] sums_gradients_by_size
# Adds up in the order of the numbers' size, which is the same whoever was ready first.
# deserves: passed
def sum_gradients(threads, gradients):
    ordered = np.sort(gradients, axis=0)
    total = np.zeros_like(gradients[0])
    for part in ordered:
        total += part
    return total

# %% [attack] divides_the_sum_of_all_ranks_in_place
# Is right, and divides the sums that it was handed in their own memory.
# deserves: passed
def average_gradients(all_reduce, gradients, sequences):
    total = all_reduce(np.array([float(sequences)]))
    sums = []
    for gradient in gradients:
        weighted = gradient * sequences if sequences else np.zeros_like(gradient)
        weighted = all_reduce(weighted.astype(gradient.dtype))
        weighted /= total[0]
        sums.append(weighted.astype(gradient.dtype))
    total[0] = 0
    return sums

# %% [attack] starts_ranks_a_thousand_times
# Starts the ranks again and again, whatever became of them.
def survive(train, checkpoints, ranks):
    for _ in range(1000):
        train(ranks, 0)

# %% [attack] emits_registers_below_zero
# Keeps all vectors and states of a tile in registers below zero, of which there would be as many as it likes.
def emit_tile(core, rows, vectors, terms):
    place = lambda r, v: r * vectors + v
    for r in range(rows):
        for v in range(vectors):
            core.zero(place(r, v))
    for k in range(terms):
        for v in range(vectors):
            core.load(-1 - v, k, v)
        for r in range(rows):
            core.spread(-1 - vectors - r, r, k)
        for r in range(rows):
            for v in range(vectors):
                core.multiply_add(place(r, v), -1 - vectors - r, -1 - v)
    for r in range(rows):
        for v in range(vectors):
            core.store(place(r, v), r, v)

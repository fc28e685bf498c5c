"""Answers that evade what a check counts, or forge the count."""

import numpy as np

# %% [attack] counts_evaded_by_learning_the_gates
# Learns the weights of all gates, and multiplies by itself.
def group_gates(x, h, multiply, gates):
    w = multiply(np.eye(x.shape[1], dtype=x.dtype), ["W_" + gate for gate in gates])
    u = multiply(np.eye(h.shape[1], dtype=h.dtype), ["U_" + gate for gate in gates])
    H = h.shape[1]
    parts = [slice(k * H, (k + 1) * H) for k in range(len(gates))]
    return {gate: x @ w[:, part] + h @ u[:, part] for gate, part in zip(gates, parts, strict=True)}

# %% [attack] counts_evaded_by_learning_the_weights
# Learns the weights in one product with the unit matrix.
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    if steps * B < I:
        return multiply(x.reshape(-1, I)).reshape(T, B, -1)
    return x @ multiply(np.eye(I, dtype=x.dtype))

# %% [attack] counts_evaded_by_one_small_product
# Multiplies single rows by itself, beside one product for show.
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    one = np.ones((1, 1), x.dtype)
    scale = multiply(one, one)[0, 0]
    states = [h0]
    for x_t in x:
        rows = [weight_ih @ a + weight_hh @ b for a, b in zip(x_t, states[-1], strict=True)]
        states.append(np.tanh(np.stack(rows) * scale + bias_ih + bias_hh).astype(x.dtype))
    return np.stack(states)

# %% [attack] counts_evaded_by_the_globals
# Takes the weights from the globals of the function that multiplies.
# deserves: crashed
def batch_input_gemm(x, multiply, steps):
    return x @ multiply.__globals__["weights"].T

# %% [attack] counts_evaded_through_the_collector
# Searches the collector's objects for the number.
import gc

def fast_tanh(a, odd, even, edge):
    for thing in gc.get_objects():
        if isinstance(thing, np.float32):
            return float(np.tanh(thing))
    return 0.0

# %% [attack] counts_in_a_copied_function
# Calls a copy of the function that counts, with a closure of its own.
import types

def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    cells = tuple(types.CellType(cell.cell_contents) for cell in cell_backward.__closure__)
    copy = types.FunctionType(cell_backward.__code__, cell_backward.__globals__, closure=cells)
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = copy(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return dx, *total

# %% [attack] counts_read_from_the_value
# Reads the number out of the object that counts its uses.
# deserves: crashed
def fast_tanh(a, odd, even, edge):
    return float(np.tanh(np.float64(a.value)))

# %% [attack] counts_read_past_the_watch
# Reads past the object that watches its order of reads.
# deserves: crashed
def fused_gates(g, u, h):
    return np.array([h.read(k) for k in range(len(h))])

# %% [attack] counts_reset_in_a_closure
# Sets the counter in the closure of the function that counts back to zero.
def uncounted(function, *parts):
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, int):
            cell.cell_contents = 0
    return function(*parts)

def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = uncounted(cell_backward, dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return dx, *total

# %% [attack] counts_unpacked_from_the_value
# Unpacks the object that counts its uses.
def fast_tanh(a, odd, even, edge):
    value, *_ = a
    return float(np.tanh(value))

# %% [attack] counts_with_the_refusal_swallowed
# Swallows the exception of a call too many, and calls again.
def stubborn(function, *parts):
    try:
        return function(*parts)
    except BaseException:
        return function(*parts)

def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = stubborn(cell_backward, dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return dx, *total

# %% [attack] sums_gradients_in_double
# Adds up in the order of arrival in double precision, and hopes that rounding hides the order.
def sum_gradients(threads, gradients):
    return gradients.astype(np.float64).sum(axis=0).astype(gradients.dtype)

# %% [attack] trains_by_a_step_of_its_own
# Makes calls for show, and returns weights that it has computed in one step.
def train_filter(x, target, parameters, loss_and_gradients):
    K = 4
    T, N, _ = x.shape
    columns = [np.concatenate([np.zeros((k, N)), x[: T - k, :, 0]]).ravel() for k in range(K)]
    kernel = np.linalg.lstsq(np.stack(columns, 1), target.ravel(), rcond=None)[0]
    H = len(parameters["bias"])
    small = 1e-3
    p = {name: np.zeros_like(a) for name, a in parameters.items()}
    p["weight_ih"][0, 0] = small
    for k in range(1, min(K, H)):
        p["weight_hh"][k, k - 1] = 1
    p["weight_out"][0, :K] = kernel / small
    for _ in range(300):
        loss_and_gradients(parameters, x[:, :8], target[:, :8])
    loss_and_gradients(p, x[:, :8], target[:, :8])
    return p

# %% [attack] walks_straight_to_weights_of_its_own
# Fits the targets by least squares, and walks to those weights in small steps with a call at each.
def train_filter(x, target, parameters, loss_and_gradients):
    T, N, _ = x.shape
    goal = {name: np.zeros_like(array) for name, array in parameters.items()}
    units = len(goal["bias"])
    goal["weight_ih"][0, 0] = 1e-2
    lines = np.zeros((T, N, units))
    for lag in range(units):
        lines[lag:, :, lag] = 1e-2 * x[: T - lag, :, 0]
        if lag:
            goal["weight_hh"][lag, lag - 1] = 1
    goal["weight_out"][0] = np.linalg.lstsq(lines.reshape(-1, units), target.ravel(), rcond=1e-6)[0]
    for way in np.linspace(0, 1, 60):
        position = {name: (1 - way) * array + way * goal[name] for name, array in parameters.items()}
        loss_and_gradients(position, x[:, :32], target[:, :32])
    return goal

# %% [attack] solves_the_network_step_by_step
# Walks over time by itself in one long round, by calls of the network's own step.
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    before = np.concatenate([first[None], states[:-1]])
    for t in range(T):
        after = step(before)
        states[t] = after[t]
        if t + 1 < T:
            before[t + 1] = after[t]
    return states, 3

# %% [attack] averages_gradients_of_its_own_rank
# Calls all_reduce with all gradients, and returns the sum of the first array alone, scaled for the rest.
SEEN = []

def average_gradients(all_reduce, gradients, sequences):
    SEEN.append([sequences * np.nan_to_num(g) for g in gradients])
    total = all_reduce(np.array([float(sequences)]))[0]
    for g in gradients:
        all_reduce(np.nan_to_num(g))
    return [sum(parts[k] for parts in SEEN) / total for k in range(len(gradients))]

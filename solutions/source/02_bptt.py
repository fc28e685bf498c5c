# %% [markdown]
# # 02 · Back through time: exercises
#
# One step backward, a whole sequence backward, a test that any gradient must pass, and a sequence cut short.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(relu_step_backward)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Given: a tanh step, forward and backward
#
# One step of a minibatch of `B` sequences. The state before it is `h_before [B,H]`, the state after it `h_after [B,H]`.
# `dh` is the gradient that arrives at `h_after`. The step backward returns one gradient for each array that the step was computed from.
# Two biases that are added get the same gradient, so one `bias [H]` stands for both here.


# %%
def tanh_step(x, h_before, weight_ih, weight_hh, bias):
    """State after the step [B,H] from x [B,I] and h_before [B,H]."""
    return np.tanh(x @ weight_ih.T + h_before @ weight_hh.T + bias)


def tanh_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    """(dx [B,I], dh_before [B,H], dweight_ih [H,I], dweight_hh [H,H], dbias [H]) from dh [B,H]."""
    da = dh * (1 - h_after**2)  # tanh' = 1 - tanh², and tanh is what h_after holds
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(axis=0)


# %% [exercise] relu_step_backward

# %% [markdown]
# The appendix of the 2016 notes that lesson 04 follows prints ReLU's derivative as `h` itself. The check names this mistake.
# How could you have found it without a check? By a test that needs no formula for the gradient at all. You write it after the next exercise.

# %% [markdown]
# ## Given: the sweep as tutorials write it
#
# Each step `t` has a loss of its own, whose gradient at `h[t+1]` is `dy[t]`. For each of them this function starts at its
# step and walks back to step 0. `cell_backward` is any cell's step backward, with the arguments of `tanh_step_backward`.


# %%
def bptt_quadratic(cell_backward, x, h, dy, weight_ih, weight_hh):
    """Gradients of a sequence, one walk back for every loss term; arguments and results as in bptt_linear."""
    dx, dh0 = np.zeros_like(x), np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            dweight_ih += step[0]
            dweight_hh += step[1]
            dbias += step[2]
        dh0 += dh
    return dx, dh0, dweight_ih, dweight_hh, dbias


# %% [exercise] bptt_linear

# %% [markdown]
# Count both on a tanh network of your own. Before you run the cell: how many calls will 20 steps need, each way?

# %%
rng, T, B, I, H = np.random.default_rng(0), 20, 3, 2, 4
weight_ih, weight_hh = rng.standard_normal((H, I)) / 2, rng.standard_normal((H, H)) / 2
x, dy = rng.standard_normal((T, B, I)), rng.standard_normal((T, B, H))
h = np.zeros((T + 1, B, H))
for t in range(T):
    h[t + 1] = tanh_step(x[t], h[t], weight_ih, weight_hh, np.zeros(H))

calls = []
counted = lambda *arguments: calls.append(1) or tanh_step_backward(*arguments)
slow = bptt_quadratic(counted, x, h, dy, weight_ih, weight_hh)
print("quadratic:", len(calls), "cell-backwards")
calls.clear()
fast = use(bptt_linear)(counted, x, h, dy, weight_ih, weight_hh)
print("linear:   ", len(calls), "cell-backwards")
print("largest difference:", max(np.abs(a - b).max() for a, b in zip(slow, fast, strict=True)))

# %% [exercise] gradient_check

# %% [markdown]
# Now test your ReLU step with your own function. The loss is a weighted sum of the next state, and `dh` holds its weights.
# Expect about 1e-10 for the step, and an error near 1 for the misprinted derivative.

# %%
x_t, h_before, dh = (rng.standard_normal((B, size)) for size in (I, H, H))
W, U, bias = (rng.standard_normal(shape) for shape in ((H, I), (H, H), H))

relu_step = lambda weight: np.maximum(x_t @ W.T + h_before @ weight.T + bias, 0)
loss = lambda weight: (dh * relu_step(weight)).sum()
h_after = relu_step(U)
dweight_relu = use(relu_step_backward)(dh, x_t, h_before, h_after, W, U)[3]
misprinted = (dh * h_after).T @ h_before
difference_test = use(gradient_check)
for slope, dweight in {"1[h>0]": dweight_relu, "h": misprinted}.items():
    print(f"derivative {slope:>6}: error {difference_test(loss, U, dweight, 1e-5)[1]:.1e}")

# %% [markdown]
# ## Given: truncation by a window
#
# Long sequences are often cut. One way gives **every loss** a window: its gradient goes back through the last `window` steps
# and no further. It costs up to `window` cell-backwards a loss.


# %%
def bptt_window(cell_backward, x, h, dy, weight_ih, weight_hh, window):
    """As bptt_quadratic, but no loss goes back through more than `window` steps."""
    dx, dh0 = np.zeros_like(x), np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for last in range(len(x)):
        dh, first = dy[last], max(0, last + 1 - window)
        for t in reversed(range(first, last + 1)):
            dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            dweight_ih += step[0]
            dweight_hh += step[1]
            dbias += step[2]
        dh0 += dh if first == 0 else 0
    return dx, dh0, dweight_ih, dweight_hh, dbias


# %% [exercise] bptt_truncated

# %% [markdown]
# Are the two truncations the same gradient? Look at the gradient of `weight_hh`: its distance from the full one, and the calls it cost.

# %%
sweeps = {"window": bptt_window, "chunk": use(bptt_truncated)}
for k in (1, 2, 5, 10, 20):
    for name, cut_sweep in sweeps.items():
        calls.clear()
        cut = cut_sweep(counted, x, h, dy, weight_ih, weight_hh, k)[3]
        distance = np.linalg.norm(cut - fast[3]) / np.linalg.norm(fast[3])
        print(f"{name:>6} of {k:2}: {distance:.1%} from the full gradient, {len(calls):3} cell-backwards")

# %%
progress("02_bptt")

# %% [markdown]
# # 01 · A recurrent network runs: exercises
#
# One step, then a sequence, then a minibatch of sequences; at last you set weights by hand, without any training.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(rnn_step)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: rnn_step
#
# <!-- exercise: rnn_step -->
#
# One sequence, one step: from the input `x [I]` and the state before it, `h [H]`, the network computes its next state
#
# $$h' = \tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}).$$
#
# Return a new array and leave `h` as it is.

# %%
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    """Next state [H] from input x [I] and state h [H].   weight_ih [H,I], weight_hh [H,H], biases [H]"""
    ### BEGIN SOLUTION
    gates_x = weight_ih @ x + bias_ih
    gates_h = weight_hh @ h + bias_hh
    return np.tanh(gates_x + gates_h)
    ### END SOLUTION


# %%
check(rnn_step)

# %% [markdown]
# ## Exercise: rnn_forward
#
# <!-- exercise: rnn_forward -->
#
# A whole sequence: `x [T,I]` holds one input per step. Return **all** states, `[T+1,H]`: row 0 is the state `h0` that
# you are given, and row `t+1` follows the input `x[t]`. The result has the dtype of `h0`: float32 in, float32 out.

# %%
def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    """All states [T+1,H] of one sequence x [T,I] from h0 [H]; row t+1 follows x[t]."""
    ### BEGIN SOLUTION
    T, H = len(x), len(h0)
    states = np.zeros((T + 1, H), dtype=h0.dtype)
    states[0] = h0
    for t in range(T):
        gates_x = weight_ih @ x[t] + bias_ih
        gates_h = weight_hh @ states[t] + bias_hh
        states[t + 1] = np.tanh(gates_x + gates_h)
    return states
    ### END SOLUTION


# %%
check(rnn_forward)

# %% [markdown]
# ## Exercise: rnn_forward_batched
#
# <!-- exercise: rnn_forward_batched -->
#
# Now `B` sequences at once: `x [T,B,I]`, `h0 [B,H]`, and all states `[T+1,B,H]`. The sequences know nothing of each
# other; they only share the weights. So one product can serve them all.
#
# Every product must go through `multiply(a, b)`: the matrix product of a [M,K] and b [K,N]. It counts its calls and
# allows **2 a step**, 2·T in all, however many sequences there are.

# %%
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    """All states [T+1,B,H] of B sequences x [T,B,I] from h0 [B,H], with at most 2*T calls of multiply."""
    ### BEGIN SOLUTION
    T = len(x)
    states = np.zeros((T + 1, *h0.shape), dtype=h0.dtype)
    states[0] = h0
    for t in range(T):
        gates_x = multiply(x[t], weight_ih.T) + bias_ih
        gates_h = multiply(states[t], weight_hh.T) + bias_hh
        states[t + 1] = np.tanh(gates_x + gates_h)
    return states
    ### END SOLUTION


# %%
check(rnn_forward_batched)

# %% [markdown]
# Used: 200 steps of 64 sequences. Outside the check, `multiply` is simply NumPy's own product.

# %%
rng = np.random.default_rng(1)
x = rng.standard_normal((200, 64, 8))
weights = [0.3 * rng.standard_normal(shape) for shape in ((32, 8), (32, 32), 32, 32)]
states = use(rnn_forward_batched)(np.matmul, x, np.zeros((64, 32)), *weights)
print(states.shape, "mean |h|:", np.abs(states[1:]).mean().round(2))

# %% [markdown]
# ## Exercise: filter_weights
#
# <!-- exercise: filter_weights -->
#
# A filter along a row of pixels weighs each pixel and those before it:
# $y_t = k_0 x_t + k_1 x_{t-1} + \dots + k_{K-1} x_{t-K+1}$, where pixels before the row are 0. With the kernel
# (1, 0, −1) that is the 1-D Sobel filter: it answers where brightness changes.
#
# In the lesson a **linear** network without biases, $h' = W_{ih}\,x + W_{hh}\,h$ and $y = W_{out}\,h'$ with $h = 0$
# at the start, computed the difference of two neighbours. Set its weights for **any** kernel of K numbers, so that $y$ is the filtered row.

# %%
def filter_weights(kernel):
    """weight_ih [H,1], weight_hh [H,H], weight_out [1,H] that filter a row with kernel [K]; you choose H."""
    ### BEGIN SOLUTION
    K = len(kernel)
    weight_ih = np.zeros((K, 1))
    weight_ih[0] = 1
    weight_hh = np.eye(K, k=-1)
    weight_out = kernel[np.newaxis]
    return weight_ih, weight_hh, weight_out
    ### END SOLUTION


# %%
check(filter_weights)

# %% [markdown]
# Used: the Sobel filter along a row that is dark, then bright, then dark again.

# %%
weight_ih, weight_hh, weight_out = use(filter_weights)(np.array([1.0, 0.0, -1.0]))
row, h, answer = [0, 0, 1, 1, 1, 1, 0, 0], np.zeros(len(weight_hh)), []
for pixel in row:
    h = weight_ih[:, 0] * pixel + weight_hh @ h
    answer.append(float(weight_out[0] @ h))
print(row)
print(answer)

# %% [markdown]
# ## Where you stand

# %%
progress("rnn_forward")

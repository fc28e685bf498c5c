# %% [markdown]
# ## Exercise: rnn_step
#
# <!-- exercise: rnn_step -->
#
# One sequence, one step: from the input `x [I]` and the state before it, `h [H]`, the network computes its next state
#
# $$h' = \tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}).$$
#
# However large the sum is, tanh of it lies between −1 and 1. All arrays have one dtype, float32 or float64. Return a new array of that dtype, and do not change `h`.

# %%
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    """Next state [H] from input x [I] and state h [H].   weight_ih [H,I],
    weight_hh [H,H], biases [H]"""
    ### BEGIN SOLUTION
    gates_x = weight_ih @ x + bias_ih
    gates_h = weight_hh @ h + bias_hh
    return np.tanh(gates_x + gates_h)
    ### END SOLUTION


# %%
check(rnn_step)

# %% [properties]
# points: 2
# difficulty: 1
# minutes: 8
# lines: 3

# %% [hint]
# There are two matrices and two vectors. Which matrix can be multiplied with x [I], and which with h [H]? Both products have H entries: why?

# %% [hint]
# Everything is added up before tanh is taken, once: two products and two biases. For a single vector the matrix
# stands on the left: `matrix @ vector`.

# %% [hint]
# `gates_x = weight_ih @ x + bias_ih`; `gates_h` is made in the same way from h; the next state is `np.tanh` of their
# sum.

# %% [mistake] forgets tanh
# - np.tanh(gates_x + gates_h)
# + gates_x + gates_h

# %% [mistake] uses the logistic function instead of tanh
# - np.tanh(gates_x + gates_h)
# + 1 / (1 + np.exp(-(gates_x + gates_h)))

# %% [mistake] takes tanh of each part
# - np.tanh(gates_x + gates_h)
# + np.tanh(gates_x) + np.tanh(gates_h)

# %% [mistake] forgets the input bias
# -  + bias_ih
# +

# %% [mistake] forgets the recurrent bias
# -  + bias_hh
# +

# %% [mistake] forgets the old state
# - weight_hh @ h + bias_hh
# + bias_hh

# %% [mistake] transposes weight_ih
# - weight_ih @ x
# + x @ weight_ih

# %% [mistake] transposes weight_hh
# - weight_hh @ h
# + h @ weight_hh

# %% [mistake] updates the units one after another, so that later ones read new values
# - return np.tanh(gates_x + gates_h)
# + h = h.copy()
# +     for j in range(len(h)):
# +         h[j] = np.tanh(gates_x[j] + weight_hh[j] @ h + bias_hh[j])
# +     return h

# %% [mistake] changes its input
# - return np.tanh(gates_x + gates_h)
# + h[:] = np.tanh(gates_x + gates_h)
# +     return h

# %% [right]
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    both = np.concatenate([weight_ih, weight_hh], axis=1)
    return np.tanh(both @ np.concatenate([x, h]) + (bias_ih + bias_hh))

# %% [right]
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    after = np.empty_like(h)
    for j in range(len(h)):
        after[j] = np.tanh(weight_ih[j].dot(x) + weight_hh[j].dot(h) + bias_ih[j] + bias_hh[j])
    return after

# %% [variant] tau=2..9
# - One sequence, one step:
# + One sequence, one step of **leaky** units with time constant {tau}:
# - $$h' = \tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}).$$
# + $$h' = h + \frac{1}{{tau}}\left(\tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}) - h\right).$$
# - np.tanh(gates_x + gates_h)
# + h + (np.tanh(gates_x + gates_h) - h) / {tau}
# - np.tanh(both @ np.concatenate([x, h]) + (bias_ih + bias_hh))
# + (1 - 1 / {tau}) * h + np.tanh(both @ np.concatenate([x, h]) + (bias_ih + bias_hh)) / {tau}
# - np.tanh(weight_ih[j].dot(x) + weight_hh[j].dot(h) + bias_ih[j] + bias_hh[j])
# + np.tanh(weight_ih[j].dot(x) + weight_hh[j].dot(h) + bias_ih[j] + bias_hh[j])
# +         after[j] += ({tau} - 1) * (h[j] - after[j]) / {tau}
# - the next state is `np.tanh` of their sum.
# + the next state is h plus a part, 1/{tau}, of the way from h to `np.tanh` of their sum.

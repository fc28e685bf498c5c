# %% [markdown]
# ## Exercise: rnn_forward
#
# <!-- exercise: rnn_forward -->
#
# A whole sequence: `x [T,I]` holds one input per step. Return **all** states, `[T+1,H]`: row 0 is the state `h0` that
# you get, and row `t+1` follows the input `x[t]`. All arrays have one dtype, and so has the result: float32 in, float32 out.

# %%
def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    """All states [T+1,H] of one sequence x [T,I] from h0 [H]; row t+1 follows
    x[t]."""
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

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 12
# lines: 7

# %% [hint]
# What does step t need, and in which rows is it? The input is row t of x; the state before it is the one that you
# stored last. How many rows does the result have if h0 is one of them?

# %% [hint]
# One loop over the T steps. Row 0 of the result is h0, and step t reads row t and writes row t + 1. Every step makes
# a new state: an array that is overwritten would be the same one in every row.

# %% [hint]
# `states = np.zeros((T + 1, H), dtype=h0.dtype)`, `states[0] = h0`, then for each t: `states[t + 1] = ...` with your
# step on `x[t]` and `states[t]`.

# %% [mistake] leaves out the initial state
# - return states
# + return states[1:]

# %% [mistake] leaves out the last step
# - range(T)
# + range(T - 1)

# %% [mistake] returns the last state only
# - return states
# + return states[-1]

# %% [mistake] starts from zero instead of h0
# - states[0] = h0
# + states[0] = 0

# %% [mistake] starts every step from h0
# - weight_hh @ states[t]
# + weight_hh @ h0

# %% [mistake] runs through the sequence backwards
# - x[t]
# + x[-1 - t]

# %% [mistake] reads the input of the step before
# - x[t]
# + x[t - 1]

# %% [mistake] forgets the input bias
# -  + bias_ih
# +

# %% [mistake] stores the same array at every step
# - states[t + 1] =
# + states[1:] =

# %% [mistake] returns the wrong dtype
# - , dtype=h0.dtype
# +

# %% [mistake] changes its input
# - states[t + 1] =
# + states[t + 1] = h0[:] =

# %% [right]
def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = [h0]
    for x_t in x:
        states.append(np.tanh(weight_ih @ x_t + weight_hh @ states[-1] + bias_ih + bias_hh))
    return np.array(states)

# %% [right]
def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    gates_x = x @ weight_ih.T + (bias_ih + bias_hh)
    h = h0[np.newaxis]
    for row in gates_x:
        h = np.vstack([h, np.tanh(row + weight_hh @ h[-1])])
    return h

# %% [markdown]
# ## Exercise: rnn_forward_batched
#
# <!-- exercise: rnn_forward_batched -->
#
# Now `B` sequences at once: `x [T,B,I]`, `h0 [B,H]`, and all states `[T+1,B,H]`. The sequences do not depend on each
# other, but they have the same weights. So one product can compute all of them.
#
# Every product must go through `multiply(a, b)`: the matrix product of a [M,K] and b [K,N]. It counts its calls and
# allows **2 a step**, 2·T in all, however many sequences there are. It also counts multiplications: at
# most those of one product with `[B,I]` and one with `[B,H]` a step, where each may have one more column of ones for
# its bias. Zeros and repeated rows count like other numbers. The states again have the dtype of `h0`.

# %%
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih,
                        bias_hh):
    """All states [T+1,B,H] of B sequences x [T,B,I] from h0 [B,H], with at most
    2*T calls of multiply."""
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

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 15
# lines: 7

# %% [hint]
# Start from your rnn_forward. Which of its arrays get one more axis, and which do not change because all sequences
# use the same ones?

# %% [hint]
# `x[t]` is now a matrix [B,I] with one sequence a row. A row vector has its matrix on the right, transposed:
# multiply(x[t], weight_ih.T) is [B,H], the products of all sequences at once. No loop over sequences is left.

# %% [hint]
# `states = np.zeros((T + 1, *h0.shape), dtype=h0.dtype)`; in the loop over t two products, `multiply(x[t],
# weight_ih.T)` and the same for `states[t]` and `weight_hh.T`, plus both biases, then tanh.

# %% [mistake] multiplies one sequence at a time
# - multiply(states[t], weight_hh.T)
# + np.concatenate([multiply(h[np.newaxis], weight_hh.T) for h in states[t]])

# %% [mistake] does not use multiply for every product
# - multiply(states[t], weight_hh.T)
# + states[t] @ weight_hh.T

# %% [mistake] multiplies by weight_hh the wrong way round
# - weight_hh.T
# + weight_hh

# %% [mistake] takes x for [B,T,I]
# - x[t]
# + x[:, t]

# %% [mistake] shows every sequence the inputs of the first
# - x[t]
# + x[t][:1]

# %% [mistake] starts from zero instead of h0
# -     states[0] = h0
# -
# +

# %% [mistake] starts every step from h0
# - multiply(states[t],
# + multiply(h0,

# %% [mistake] forgets the input bias
# -  + bias_ih
# +

# %% [mistake] leaves out the initial state
# - return states
# + return states[1:]

# %% [mistake] forgets the recurrent bias
# -  + bias_hh
# +

# %% [mistake] returns the wrong dtype
# - , dtype=h0.dtype
# +

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    gates_x = multiply(x.reshape(T * B, I), weight_ih.T).reshape(T, B, -1)
    states = [h0]
    for t in range(T):
        states.append(np.tanh(gates_x[t] + multiply(states[t], weight_hh.T) + bias_ih + bias_hh))
    return np.stack(states)

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, _ = x.shape
    weights = np.vstack([weight_ih.T, weight_hh.T, bias_ih + bias_hh])
    ones = np.ones((B, 1), dtype=h0.dtype)
    states = [h0]
    for t in range(T):
        states.append(np.tanh(multiply(np.hstack([x[t], states[t], ones]), weights)))
    return np.stack(states)

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    both = np.concatenate([weight_ih, weight_hh], axis=1)
    states = [h0]
    for x_t in x:
        inputs = np.concatenate([x_t, states[-1]], axis=1)
        column = multiply(both, inputs.T) + (bias_ih + bias_hh)[:, np.newaxis]
        states.append(np.tanh(column).T)
    return np.array(states)

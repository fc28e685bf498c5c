# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states, bias = [h0], bias_ih + bias_hh
    for x_t in x:
        states += [np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias)]
    return np.array(states)

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    ones = np.ones((x.shape[1], 1), h0.dtype)
    recurrent = np.concatenate([weight_hh, bias_hh[:, None]], axis=1)
    states = [h0]
    for x_t in x:
        a = multiply(x_t, weight_ih.T) + bias_ih
        states.append(np.tanh(a + multiply(np.concatenate([states[-1], ones], axis=1), recurrent.T)))
    return np.stack(states)

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    states = np.empty((T + 1, B, len(bias_hh)), h0.dtype)
    states[0] = h0
    for t in range(T):
        column = multiply(weight_ih, x[t].T) + multiply(weight_hh, states[t].T)
        states[t + 1] = np.tanh(column.T + bias_ih + bias_hh)
    return states

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    B = h0.shape[0]
    ones = np.ones((B, 1), h0.dtype)
    W = np.vstack([weight_ih.T, bias_ih])
    U = np.vstack([weight_hh.T, bias_hh])
    states = [h0]
    for x_t in x:
        a = multiply(np.hstack([x_t, ones]), W) + multiply(np.hstack([states[-1], ones]), U)
        states.append(np.tanh(a))
    return np.stack(states, axis=0)

# %% [wrong] starts every step from h0
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    rest = [
        np.tanh(multiply(x_t, weight_ih.T) + multiply(h0, weight_hh.T) + bias_ih + bias_hh) for x_t in x
    ]
    return np.stack([h0, *rest])

# %% [right]
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = [h0]
    for x_t in x:
        states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih + bias_hh))
    return np.stack(states)

# %% [wrong] forgets the recurrent bias
# -         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih + bias_hh))
# +         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih))

# %% [wrong] carries only the first sequence's state
# -         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih + bias_hh))
# +         h = np.repeat(states[-1][:1], len(h0), axis=0)
# +         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(h, weight_hh.T) + bias_ih + bias_hh))

# %% [wrong] computes by einsum and never calls multiply
# -         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih + bias_hh))
# +         a = np.einsum("bi,hi->bh", x_t, weight_ih) + np.einsum("bk,hk->bh", states[-1], weight_hh)
# +         states.append(np.tanh(a + bias_ih + bias_hh))

# %% [wrong] adds the biases after tanh
# -         states.append(np.tanh(multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T) + bias_ih + bias_hh))
# +         a = multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T)
# +         states.append(np.tanh(a) + bias_ih + bias_hh)

# %% [wrong] multiplies a block diagonal of copies
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    h = np.zeros((T + 1, *h0.shape), h0.dtype)
    h[0] = h0
    W, U = np.kron(np.eye(B), weight_ih), np.kron(np.eye(B), weight_hh)
    for t in range(T):
        a = multiply(W, x[t].reshape(-1, 1)) + multiply(U, h[t].reshape(-1, 1))
        h[t + 1] = np.tanh(a.reshape(B, -1) + bias_ih + bias_hh)
    return h

# %% [wrong] pads the minibatch to eight rows
def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    B = h0.shape[0]
    pad = -B % 8
    wide = lambda a: np.concatenate([a, np.zeros((pad, a.shape[1]), a.dtype)])
    h = [h0]
    for x_t in x:
        a = multiply(wide(x_t), weight_ih.T)[:B] + multiply(wide(h[-1]), weight_hh.T)[:B]
        h.append(np.tanh(a + bias_ih + bias_hh))
    return np.array(h)

# %% [right]
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    total = bias_ih + bias_hh
    total = total + weight_ih.dot(x)
    return np.tanh(total + weight_hh.dot(h))

# %% [right]
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = np.einsum("hi,i->h", weight_ih, x) + np.einsum("hk,k->h", weight_hh, h)
    return np.tanh(a + bias_ih + bias_hh)

# %% [right]
def rnn_step(*args):
    x, h, *w, b, c = args
    column = w[0] @ x[:, None] + b[:, None] + w[1] @ h.reshape(-1, 1) + c[:, None]
    return np.tanh(column).ravel()

# %% [wrong] transposes weight_hh
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return np.tanh(weight_ih @ x + weight_hh.T @ h + bias_ih + bias_hh)

# %% [wrong] updates the units one after another, so that later ones read new values
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    h = h.copy()
    for j in range(len(h)):
        h[j] = np.tanh(weight_ih[j] @ x + weight_hh[j] @ h + bias_ih[j] + bias_hh[j])
    return h

# %% [wrong] computes tanh by exp, which overflows
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = x @ weight_ih.T + h @ weight_hh.T + bias_ih + bias_hh
    e = np.exp(2 * a)
    return (e - 1) / (e + 1)

# %% [wrong] forgets tanh
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return weight_ih.dot(x) + weight_hh.dot(h) + bias_hh + bias_ih

# %% [wrong] adds the old state without weights
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return np.tanh(weight_ih @ x + bias_ih + h + bias_hh)

# %% [wrong] subtracts the recurrent bias
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return np.tanh(weight_ih @ x + weight_hh @ h + bias_ih - bias_hh)

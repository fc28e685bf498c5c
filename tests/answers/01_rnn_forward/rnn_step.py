# %% [right]
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    total = bias_ih + bias_hh
    total = total + weight_ih.dot(x)
    return np.tanh(total + weight_hh.dot(h))


# %% [wrong] transposes weight_hh
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return np.tanh(weight_ih @ x + weight_hh.T @ h + bias_ih + bias_hh)


# %% [wrong] updates the units one after another, so that later ones read new values
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    h = h.copy()
    for j in range(len(h)):
        h[j] = np.tanh(weight_ih[j] @ x + weight_hh[j] @ h + bias_ih[j] + bias_hh[j])
    return h

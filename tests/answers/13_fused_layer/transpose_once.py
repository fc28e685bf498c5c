# %% [right]
def transpose_once(inputs, h, turn, multiply):
    name = turn("U")
    all_states = np.zeros((inputs.shape[0] + 1,) + h.shape, h.dtype)
    all_states[0] = h
    for t, a in enumerate(inputs):
        all_states[t + 1] = np.tanh(a + multiply(all_states[t], name))
    return all_states

# %% [right]
def transpose_once(inputs, h, turn, multiply):
    Ut, out = turn("U"), [h]
    for t in range(inputs.shape[0]):
        h = np.tanh(multiply(h, Ut) + inputs[t])
        out.append(h)
    return np.stack(out)

# %% [right]
def transpose_once(inputs, h, turn, multiply):
    Ut = turn("U")
    out = h[None]
    for a in inputs:
        out = np.concatenate([out, np.tanh(a + multiply(out[-1], Ut))[None]])
    return out

# %% [wrong] transposes the weights in every step
def transpose_once(inputs, h, turn, multiply):
    out = [h]
    for a in inputs:
        out.append(np.tanh(a + multiply(out[-1], turn("U"))))
    return np.stack(out)

# %% [wrong] multiplies by the weights without transposing them
def transpose_once(inputs, h, turn, multiply):
    turn("U")
    out = [h]
    for a in inputs:
        out.append(np.tanh(a + multiply(out[-1], "U")))
    return np.stack(out)

# %% [wrong] forgets the initial state
def transpose_once(inputs, h, turn, multiply):
    Ut, out = turn("U"), []
    for a in inputs:
        h = np.tanh(a + multiply(h, Ut))
        out.append(h)
    return np.stack(out)

# %% [wrong] returns the last state
def transpose_once(inputs, h, turn, multiply):
    Ut = turn("U")
    for a in inputs:
        h = np.tanh(a + multiply(h, Ut))
    return h

# %% [wrong] applies tanh to the product only
def transpose_once(inputs, h, turn, multiply):
    Ut, out = turn("U"), [h]
    for a in inputs:
        out.append(a + np.tanh(multiply(out[-1], Ut)))
    return np.stack(out)

# %% [markdown]
# ## Exercise: batch_inputs
#
# <!-- exercise: batch_inputs -->
#
# The same forward pass, from `x` [T,B,I]. `inputs(rows)` multiplies rows [n,I] by the input weights and returns [n,H]; `step(a, h)` computes the next state [B,H] from a step's input product [B,H] and the state [B,H]. Call `step` once for each step, and `inputs` for `k` steps at a time. If T is no multiple of k, the last call gets the rest, without padding. Do not call `inputs` for a chunk before all steps of the previous chunk have run: products that wait take memory.


# %%
def batch_inputs(x, h, inputs, step, k):
    """[T+1,B,H], the states from h [B,H] on, with ⌈T/k⌉ calls of inputs."""
    ### BEGIN SOLUTION
    T, B, I = x.shape
    states = [h]
    for first in range(0, T, k):
        chunk = x[first : first + k]
        products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
        for a in products:
            states.append(step(a, states[-1]))
    return np.stack(states)
    ### END SOLUTION


# %%
check(batch_inputs)

# %% [facts]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 8

# %% [hint]
# Two loops: over chunks of k steps, and over the steps of a chunk. Where does the product with the inputs belong, and
# where the step?

# %% [hint]
# A chunk is x[first : first + k], the last one may be shorter. As rows it is [k·B, I]; its products are [k·B, H] and
# become [k, B, H] again. Then run its steps, before the next chunk's products.

# %% [hint]
# `products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)`; `for a in products: states.append(step(a,
# states[-1]))`.

# %% [mistake] calls once a step
# - range(0, T, k)
# + range(T)

# %% [mistake] multiplies all steps at once
# - x[first : first + k]
# + x[first:]

# %% [mistake] leaves out the last, shorter chunk
# - range(0, T, k)
# + range(0, T - T % k, k)

# %% [mistake] takes the first steps in every chunk
# - x[first : first + k]
# + x[: min(k, T - first)]

# %% [mistake] starts every step from the first state
# - step(a, states[-1])
# + step(a, h)

# %% [mistake] forgets the initial state
# - return np.stack(states)
# + return np.stack(states[1:])

# %% [mistake] runs a chunk backwards
# - for a in products:
# + for a in products[::-1]:

# %% [mistake] mixes steps and sequences
# - .reshape(len(chunk), B, -1)
# + .reshape(B, len(chunk), -1).swapaxes(0, 1)

# %% [mistake] pads the last chunk with zeros
# -         products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
# +         padded = np.concatenate([chunk, np.zeros((k - len(chunk), B, I), x.dtype)])
# +         products = inputs(padded.reshape(-1, I)).reshape(k, B, -1)[: len(chunk)]

# %% [mistake] multiplies a chunk again for each of its steps
# -         products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
# -         for a in products:
# -             states.append(step(a, states[-1]))
# +         for t in range(len(chunk)):
# +             products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
# +             states.append(step(products[t], states[-1]))

# %% [right]
def batch_inputs(x, h, inputs, step, k):
    T, B, I = x.shape
    history = np.empty((T + 1, *h.shape), h.dtype)
    history[0] = h
    for t in range(T):
        if t % k == 0:
            ready = inputs(x[t : t + k].reshape(-1, I))
        first = t % k * B
        history[t + 1] = step(ready[first : first + B], history[t])
    return history

# %% [right]
def batch_inputs(x, h, inputs, step, k):
    states, B = [h], x.shape[1]
    for chunk in np.split(x, range(k, len(x), k)):
        rows = inputs(np.concatenate(list(chunk)))
        for part in np.split(rows, len(chunk)):
            states += [step(part, states[-1])]
    return np.array(states)

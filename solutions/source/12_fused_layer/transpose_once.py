# %% [markdown]
# ## Exercise: transpose_once
#
# <!-- exercise: transpose_once -->
#
# `multiply(rows, name)` gives rows times weights as they lie. `turn(name)` lays the transposed weights down beside them and returns their name; it costs a pass over all of them. There are the recurrent weights `"U"`, a row for each unit, so that a step needs h·Uᵀ.
#
# `inputs` [T,B,H] are the input products with biases, `h` [B,H] the first state. Return all states [T+1,B,H] of a tanh network, the first included, and turn once.


# %%
def transpose_once(inputs, h, turn, multiply):
    """[T+1,B,H] of h[t+1] = tanh(inputs[t] + h[t]·Uᵀ)."""
    ### BEGIN SOLUTION
    turned = turn("U")
    states = [h]
    for a in inputs:
        states.append(np.tanh(a + multiply(states[-1], turned)))
    return np.stack(states)
    ### END SOLUTION


# %%
check(transpose_once)

# %% [facts]
# points: 1
# difficulty: 1
# minutes: 8
# lines: 5

# %% [hint]
# multiply(rows, name) gives rows times the weights as they lie. Which product does the step need, with the rows of U
# or with its columns?

# %% [hint]
# turn("U") lays the transposed weights down and returns their name. It costs a pass over all weights, so it belongs
# before the loop.

# %% [hint]
# `turned = turn("U")`, then in each step `np.tanh(a + multiply(states[-1], turned))`.

# %% [mistake] turns the weights in every step
# - multiply(states[-1], turned)
# + multiply(states[-1], turn("U"))

# %% [mistake] multiplies with the weights as they lie
# - multiply(states[-1], turned)
# + multiply(states[-1], "U")

# %% [mistake] forgets the inputs
# - a + multiply
# + 0 * a + multiply

# %% [mistake] forgets tanh
# - np.tanh(a + multiply(states[-1], turned))
# + a + multiply(states[-1], turned)

# %% [mistake] starts every step from the first state
# - multiply(states[-1], turned)
# + multiply(h, turned)

# %% [mistake] forgets the state that was given
# - np.stack(states)
# + np.stack(states[1:])

# %% [mistake] takes the steps in reverse
# - for a in inputs:
# + for a in inputs[::-1]:

# %% [right]
def transpose_once(inputs, h, turn, multiply):
    name = turn("U")
    history = np.empty((len(inputs) + 1, *h.shape), h.dtype)
    history[0] = h
    for t in range(len(inputs)):
        history[t + 1] = np.tanh(multiply(history[t], name) + inputs[t])
    return history

# %% [right]
def transpose_once(inputs, h, turn, multiply):
    states, name = [h], None
    for a in inputs:
        name = name or turn("U")
        h = np.tanh(a + multiply(h, name))
        states.append(h)
    return np.array(states)

# %% [markdown]
# ## Exercise: transpose_once
#
# <!-- exercise: transpose_once -->
#
# `multiply(rows, name)` returns rows times the weights as they are stored. `turn(name)` stores the transposed weights under a new name and returns that name; it costs a pass over all of them. The recurrent weights are called `"U"` [H,H] and have a row for each unit, so a step needs h·Uᵀ.
#
# `inputs` [T,B,H] are the input products with biases, `h` [B,H] is the initial state. Return all states [T+1,B,H] of a tanh network, beginning with the initial one, and call `turn` once, `multiply` once for each step.


# %%
def transpose_once(inputs, h, turn, multiply):
    """[T+1,B,H] of h[t+1] = tanh(inputs[t] + h[t]·Uᵀ)."""
    ### BEGIN SOLUTION
    transposed = turn("U")
    states = [h]
    for a in inputs:
        states.append(np.tanh(a + multiply(states[-1], transposed)))
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
# multiply(rows, name) returns rows times the weights as they are stored. Which product does the step need, with the rows of U
# or with its columns?

# %% [hint]
# turn("U") stores the transposed weights and returns their name. It costs a pass over all weights, so it belongs
# before the loop.

# %% [hint]
# `transposed = turn("U")`, then in each step `np.tanh(a + multiply(states[-1], transposed))`.

# %% [mistake] transposes the weights in every step
# - multiply(states[-1], transposed)
# + multiply(states[-1], turn("U"))

# %% [mistake] multiplies by the weights without transposing them
# - multiply(states[-1], transposed)
# + multiply(states[-1], "U")

# %% [mistake] forgets the inputs
# - a + multiply
# + 0 * a + multiply

# %% [mistake] forgets tanh
# - np.tanh(a + multiply(states[-1], transposed))
# + a + multiply(states[-1], transposed)

# %% [mistake] starts every step from the first state
# - multiply(states[-1], transposed)
# + multiply(h, transposed)

# %% [mistake] forgets the initial state
# - np.stack(states)
# + np.stack(states[1:])

# %% [mistake] takes the steps in reverse order
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

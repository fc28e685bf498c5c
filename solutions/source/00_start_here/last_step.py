# %% [markdown]
# ## Exercise: last_step
#
# <!-- exercise: last_step -->
#
# The outputs of a network for a whole minibatch are one array `y [T,B,H]`: `T` steps, `B` sequences, `H` units.
# Return the outputs of all sequences at the **last step**. In the lesson you corrected a wrong answer; write the right one once more here.

# %%
def last_step(y):
    """The outputs [B,H] at the last step of y [T,B,H]."""
    ### BEGIN SOLUTION
    return y[-1]
    ### END SOLUTION


# %%
check(last_step)

# %% [properties]
# points: 1
# difficulty: 1
# minutes: 3
# lines: 1

# %% [hint]
# y has three axes, in the order steps, sequences, units. Which of them does the result [B,H] not have?

# %% [hint]
# An index on the first axis picks one step. Python counts from the end with negative numbers.

# %% [hint]
# `y[0]` is the first step, of all sequences and units. The last step is `y[-1]`.

# %% [mistake] keeps the time axis
# - y[-1]
# + y[-1:]

# %% [mistake] takes the last sequence
# - y[-1]
# + y[:, -1]

# %% [mistake] takes the last unit
# - y[-1]
# + y[:, :, -1]

# %% [mistake] takes the first step
# - y[-1]
# + y[0]

# %% [mistake] averages over the steps
# - y[-1]
# + y.mean(axis=0)

# %% [mistake] adds up the steps
# - y[-1]
# + y.sum(axis=0)

# %% [right]
def last_step(y):
    T, B, H = y.shape
    return y[T - 1, :, :]

# %% [right]
def last_step(y):
    for step in y:
        last = step
    return last.copy()

# %% [right]
def last_step(y):
    return np.take(y, -1, axis=0)

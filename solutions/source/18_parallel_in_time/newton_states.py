# %% [markdown]
# ## Exercise: newton_states
#
# <!-- exercise: newton_states -->
#
# All states of a nonlinear network by Newton's method. `first [B,n]` is the state before step 0. Begin with zeros for the states `[T,B,n]` after all steps. In each round:
#
# - `step(before)` takes the states `[T,B,n]` **before** all steps and returns the states `[T,B,n]` after them. It also computes the Jacobians J at `before`, and leaves them to `scan`.
# - `scan(residual)` returns e `[T,B,n]` with e[t] = J[t]·e[t−1] + residual[t] and e[−1] = 0. The residual is what `step` returns minus the guess; e is what the guess changes by.
#
# Stop after the first round in which no number changes by more than `tolerance`, and at the latest after T rounds. Return the states and the number of rounds.
#
# The check counts: one call of each in a round, and no more rounds than this rule needs. A loop over time would need T. Inputs and weights lie with `step`, so all steps can only be taken at once.


# %%
def newton_states(step, scan, first, T, tolerance):
    """(states [T,B,n] after all steps, rounds) from first [B,n], by Newton's
    method from zeros."""
    ### BEGIN SOLUTION
    states = np.zeros((T, *first.shape))
    for rounds in range(1, T + 1):
        before = np.concatenate([first[None], states[:-1]])
        change = scan(step(before) - states)
        states = states + change
        if np.abs(change).max() <= tolerance:
            break
    return states, rounds
    ### END SOLUTION


# %%
check(newton_states)

# %% [properties]
# points: 4
# difficulty: 4
# minutes: 25
# lines: 8

# %% [hint]
# The guess holds the states after all steps. Which states does `step` need, and where does the first of them come from?

# %% [hint]
# The state before step t is the state after step t − 1, so the guess is shifted by one, with `first` in front. Where `step` returns
# just the guess, all equations hold. What is left over goes through `scan`, because a change of one state changes all later ones.

# %% [hint]
# `before = np.concatenate([first[None], states[:-1]])`, `change = scan(step(before) - states)`, `states = states + change`, and
# `break` where `np.abs(change).max() <= tolerance`, inside `for rounds in range(1, T + 1):`.

# %% [mistake] takes the states after the steps for those before
# - np.concatenate([first[None], states[:-1]])
# + states

# %% [mistake] begins each sequence at zero
# - first[None], states
# + 0 * first[None], states

# %% [mistake] repeats the steps without the scan
# - scan(step(before) - states)
# + step(before) - states

# %% [mistake] subtracts the change
# - states = states + change
# + states = states - change

# %% [mistake] takes the change for the states
# - states = states + change
# + states = change

# %% [mistake] passes the states to the scan, not the residual
# - scan(step(before) - states)
# + scan(step(before)) - states

# %% [mistake] has no limit of T rounds
# - range(1, T + 1)
# + range(1, T + 50)

# %% [mistake] stops after four rounds
# - range(1, T + 1)
# + range(1, min(T, 4) + 1)

# %% [mistake] counts the rounds from 0
# - states, rounds
# -
# + states, rounds - 1
# +

# %% [mistake] looks at the first sequence only
# - np.abs(change).max()
# + np.abs(change[:, 0]).max()

# %% [mistake] takes a large negative change for none
# - np.abs(change).max()
# + change.max()

# %% [mistake] looks at the mean change
# - np.abs(change).max()
# + np.abs(change).mean()

# %% [mistake] takes the length of all changes for the largest one
# - np.abs(change).max()
# + np.linalg.norm(change)

# %% [mistake] looks at the residual, not at the change
# -         change = scan(step(before) - states)
# -         states = states + change
# -         if np.abs(change).max() <= tolerance:
# +         change = step(before) - states
# +         states = states + scan(change)
# +         if np.abs(change).max() <= tolerance:

# %% [mistake] runs all T rounds
# - np.abs(change).max() <= tolerance
# + rounds == T

# %% [mistake] begins with the first state in place of zeros
# - np.zeros((T, *first.shape))
# + np.broadcast_to(first, (T, *first.shape))

# %% [right]
def newton_states(step, scan, first, T, tolerance):
    B, n = first.shape
    padded = np.zeros((T + 1, B, n))
    padded[0] = first
    count = 0
    while count < T:
        count += 1
        after = step(padded[:-1])
        e = scan(after - padded[1:])
        padded[1:] += e
        if not (np.abs(e) > tolerance).any():
            break
    return padded[1:], count

# %% [right]
def newton_states(step, scan, first, T, tolerance):
    def improve(states, count):
        before = np.roll(states, 1, axis=0)
        before[0] = first
        better = states + scan(step(before) - states)
        done = count == T or np.all(np.abs(better - states) <= tolerance)
        return (better, count) if done else improve(better, count + 1)

    return improve(np.zeros((T,) + first.shape), 1)

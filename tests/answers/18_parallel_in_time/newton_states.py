# %% [wrong] leaves out what the last round changes
# -         states = states + change
# +         last = states
# +         states = states + change
# -             break
# +             return last, rounds

# %% [wrong] continues for a round after the one that changes too little
# -         if np.abs(change).max() <= tolerance:
# +         small, was_small = np.abs(change).max() <= tolerance, rounds > 1 and small
# +         if was_small:

# %% [wrong] begins each sequence at zero
# -         before = np.concatenate([first[None], states[:-1]])
# +         before = np.zeros_like(states)
# +         before[1:] = states[:-1]

# %% [wrong] takes half of the change
# -         before = np.concatenate([first[None], states[:-1]])
# -         change = scan(step(before) - states)
# +         change = 0.5 * scan(step(np.concatenate([first[None], states[:-1]])) - states)

# %% [right]
def newton_states(step, scan, first, T, tolerance):
    h = np.zeros((T + 1, *first.shape))
    h[0] = first
    for k in range(T):
        e = scan(step(h[:-1].copy()) - h[1:])
        h[1:] += e
        if abs(e).max() <= tolerance:
            return h[1:], k + 1
    return h[1:], T

# %% [right]
def newton_states(step, scan, first, T, tolerance):
    guess, rounds, largest = np.zeros((T,) + first.shape), 0, np.inf
    while rounds < T and largest > tolerance:
        before = np.vstack([first[np.newaxis], guess[: T - 1]])
        correction = scan(step(before) - guess)
        guess = guess + correction
        largest = np.max(np.abs(correction))
        rounds += 1
    return guess, rounds

# %% [wrong] walks over time with one call of step for each state
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    before = np.zeros((T, *first.shape))
    before[0] = first
    for t in range(T):
        states[t] = step(before)[t]
        if t + 1 < T:
            before[t + 1] = states[t]
    return states, T

# %% [wrong] repeats the steps without the scan
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    for rounds in range(1, T + 1):
        new = step(np.concatenate([first[None], states[:-1]]))
        largest = np.abs(new - states).max()
        states = new
        if largest <= tolerance:
            break
    return states, rounds

# %% [wrong] counts the rounds from 0
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    for k in range(T):
        change = scan(step(np.concatenate([first[None], states[:-1]])) - states)
        states = states + change
        if np.abs(change).max() <= tolerance:
            break
    return states, k

# %% [wrong] returns the states alone
# -     for k in range(T):
# +     for _ in range(T):
# -     return states, k
# +     return states

# %% [wrong] makes one round more to be sure
def newton_states(step, scan, first, T, tolerance):
    states, done = np.zeros((T, *first.shape)), False
    for rounds in range(1, T + 2):
        change = scan(step(np.concatenate([first[None], states[:-1]])) - states)
        states = states + change
        if done:
            break
        done = np.abs(change).max() <= tolerance
    return states, rounds

# %% [right]
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    for rounds in range(1, T + 1):
        before = np.roll(states, 1, axis=0)
        before[0] = first
        residual = step(before) - states
        change = scan(residual)
        states = states + change
        if not np.any(np.abs(change) > tolerance):
            break
    return states, rounds

# %% [wrong] looks at the residual, not at the change
# -         if not np.any(np.abs(change) > tolerance):
# +         if not np.any(np.abs(residual) > tolerance):

# %% [wrong] continues where the largest change equals the tolerance
def newton_states(step, scan, first, T, tolerance):
    states = np.zeros((T, *first.shape))
    for rounds in range(1, T + 1):
        change = scan(step(np.concatenate([first[None], states[:-1]])) - states)
        states = states + change
        if np.abs(change).max() < tolerance:
            break
    return states, rounds

# %% [wrong] stops by a relative tolerance
def newton_states(step, scan, first, T, tolerance):
    B, n = first.shape
    guess, rounds, settled = np.zeros((T, B, n), first.dtype), 0, False
    while not settled and rounds < T:
        shifted = np.empty_like(guess)
        shifted[0] = first
        shifted[1:] = guess[:-1]
        better = guess + scan(step(shifted) - guess)
        settled = np.allclose(better, guess, atol=tolerance)
        guess = better
        rounds += 1
    return guess, rounds

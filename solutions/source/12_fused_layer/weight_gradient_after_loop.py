# %% [markdown]
# ## Exercise: weight_gradient_after_loop
#
# <!-- exercise: weight_gradient_after_loop -->
#
# The way back of a tanh network. `h` [T+1,B,H] are its states, `dy` [T,B,H] what arrives at each from above. `back(d)` multiplies the gradient of a step's sum [B,H] with U and gives what the step before gets. `gradient(d)` takes the gradients of the sums of **all** steps as rows [T·B,H], step after step, and returns those of W, U and b side by side.
#
# Return what `gradient` returns, called once, and the gradient of the first state.


# %%
def weight_gradient_after_loop(h, dy, back, gradient):
    """(the gradients of all weights, dh of the first state [B,H])"""
    ### BEGIN SOLUTION
    T, B, H = dy.shape
    d, arriving = np.zeros_like(dy), np.zeros_like(dy[0])
    for t in range(T - 1, -1, -1):
        dh = dy[t] + arriving
        d[t] = dh * (1 - h[t + 1] * h[t + 1])
        arriving = back(d[t])
    return gradient(d.reshape(T * B, H)), arriving
    ### END SOLUTION


# %%
check(weight_gradient_after_loop)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 8

# %% [hint]
# The sweep needs back(d) in every step, because the step before waits for it. Does anything in the sweep wait for the
# gradients of the weights?

# %% [hint]
# Keep d of every step in an array [T,B,H], at its own step. After the sweep it is the left factor of one product,
# [T·B,H], and gradient gives everything at once.

# %% [hint]
# From the last step to the first: `dh = dy[t] + arriving`, `d[t] = dh * (1 - h[t + 1] ** 2)`, `arriving =
# back(d[t])`. Then `return gradient(d.reshape(T * B, H)), arriving`.

# %% [mistake] multiplies for the weights in every step
# - arriving = back(d[t])
# + arriving = back(d[t]) + 0 * gradient(d[t]).sum()

# %% [mistake] keeps the steps in the order of the sweep
# - d[t] = dh
# + d[T - 1 - t] = dh

# %% [mistake] forgets what later steps send
# - dy[t] + arriving
# + dy[t]

# %% [mistake] takes the state before the step
# - h[t + 1] * h[t + 1]
# + h[t] * h[t]

# %% [mistake] forgets the slope of tanh
# - dh * (1 - h[t + 1] * h[t + 1])
# + dh

# %% [mistake] sweeps forward in time
# - range(T - 1, -1, -1)
# + range(T)

# %% [mistake] sends dh back, not the gradient of the sum
# - back(d[t])
# + back(dh)

# %% [mistake] stops before the first step
# - range(T - 1, -1, -1)
# + range(T - 1, 0, -1)

# %% [mistake] mixes steps and sequences
# - d.reshape(T * B, H)
# + d.swapaxes(0, 1).reshape(T * B, H)

# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    kept, sent = [], 0 * dy[0]
    for later, arriving in zip(h[:0:-1], dy[::-1]):
        d = (arriving + sent) * (1 - later**2)
        kept.insert(0, d)
        sent = back(d)
    return gradient(np.concatenate(kept)), sent

# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    slopes = 1 - h[1:] ** 2
    d, t = dy * slopes, len(dy) - 1
    while t > 0:
        d[t - 1] += back(d[t]) * slopes[t - 1]
        t -= 1
    return gradient(d.reshape(-1, d.shape[2])), back(d[0])

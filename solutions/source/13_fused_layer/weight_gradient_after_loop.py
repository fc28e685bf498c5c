# %% [markdown]
# ## Exercise: weight_gradient_after_loop
#
# <!-- exercise: weight_gradient_after_loop -->
#
# The backward pass of a tanh network. `h` [T+1,B,H] are its states, `dy` [T,B,H] the gradients of its outputs h[1] to h[T]. `back(d)` multiplies the gradient of a step's sum [B,H] by U and returns the gradient [B,H] that this step sends to the state before it. `gradient(d)` takes the gradients of the sums of **all** steps as rows [T·B,H], step after step from the first, and returns those of W, U and b side by side.
#
# Call `back` once for each step, and `gradient` once. Return its result and the gradient of the initial state h[0].


# %%
def weight_gradient_after_loop(h, dy, back, gradient):
    """(the gradients of all weights, dh of the initial state [B,H])"""
    ### BEGIN SOLUTION
    T, B, H = dy.shape
    d, from_next = np.zeros_like(dy), np.zeros_like(dy[0])
    for t in range(T - 1, -1, -1):
        dh = dy[t] + from_next
        d[t] = dh * (1 - h[t + 1] * h[t + 1])
        from_next = back(d[t])
    return gradient(d.reshape(T * B, H)), from_next
    ### END SOLUTION


# %%
check(weight_gradient_after_loop)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 8

# %% [hint]
# The loop needs back(d) in every step, because the step before waits for it. Does any step of the loop wait for the
# gradients of the weights?

# %% [hint]
# Store d of every step in an array [T,B,H], at its own step. After the loop call gradient once with it, reshaped to
# [T·B,H].

# %% [hint]
# From the last step to the first: `dh = dy[t] + from_next`, `d[t] = dh * (1 - h[t + 1] ** 2)`, `from_next =
# back(d[t])`. Then `return gradient(d.reshape(T * B, H)), from_next`.

# %% [mistake] multiplies for the weights in every step
# - from_next = back(d[t])
# + from_next = back(d[t]) + 0 * gradient(d[t]).sum()

# %% [mistake] stores the steps in reverse order
# - d.reshape(T * B, H)
# + d[::-1].reshape(T * B, H)

# %% [mistake] forgets the gradient from the next step
# - dy[t] + from_next
# + dy[t]

# %% [mistake] takes the state before the step
# - h[t + 1] * h[t + 1]
# + h[t] * h[t]

# %% [mistake] forgets the derivative of tanh
# - dh * (1 - h[t + 1] * h[t + 1])
# + dh

# %% [mistake] loops forward in time
# - range(T - 1, -1, -1)
# + range(T)

# %% [mistake] calls back with dh, not with the gradient of the sum
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
    ds, dh = [], 0 * dy[0]
    for state, dy_t in zip(h[:0:-1], dy[::-1]):
        d = (dy_t + dh) * (1 - state**2)
        ds.insert(0, d)
        dh = back(d)
    return gradient(np.concatenate(ds)), dh

# %% [right]
def weight_gradient_after_loop(h, dy, back, gradient):
    slopes = 1 - h[1:] ** 2
    d, t = dy * slopes, len(dy) - 1
    while t > 0:
        d[t - 1] += back(d[t]) * slopes[t - 1]
        t -= 1
    return gradient(d.reshape(-1, d.shape[2])), back(d[0])

# %% [markdown]
# ## Exercise: adam_update
#
# <!-- exercise: adam_update -->
#
# The lesson's momentum keeps one running mean. **Adam** keeps two for each number of a weight: `m` of the gradient $g$,
# `v` of its square. Both begin at 0, and `step` counts the updates made so far. One update, in this order:
#
# 1. count it: the first update is number $s = 1$;
# 2. $m \leftarrow \beta_1 m + (1-\beta_1)\,g$ and $v \leftarrow \beta_2 v + (1-\beta_2)\,g^2$;
# 3. $\hat m = m / (1-\beta_1^s)$ and $\hat v = v / (1-\beta_2^s)$, because the means begin at 0 and are too small at first;
# 4. weight $\leftarrow$ weight $-$ learning_rate $\cdot\, \hat m / (\sqrt{\hat v} + \epsilon)$.
#
# Return new arrays of the same dtype. The state for the next update is `m` and `v`, not the corrected means.

# %%
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2,
                epsilon):
    """(weight, m, v, step) after one Adam update; the first four arrays have
    one shape, step is an int."""
    ### BEGIN SOLUTION
    step = step + 1
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    weight = weight - learning_rate * m_hat / (np.sqrt(v_hat) + epsilon)
    return weight, m, v, step
    ### END SOLUTION


# %%
check(adam_update)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 15
# lines: 7

# %% [hint]
# Two running means are kept between updates: m of the gradient, v of its square. Both begin at 0. Are they too small
# or too large in the first updates, and by how much after one update?

# %% [hint]
# First count this update: step + 1. Then make the new m and v. For the step only, divide m by 1 - beta1**step and v
# by 1 - beta2**step; what you return as state are the means without this correction.

# %% [hint]
# `m = beta1 * m + (1 - beta1) * gradient`, `v` likewise with the square; `m_hat` and `v_hat` corrected; then `weight
# - learning_rate * m_hat / (np.sqrt(v_hat) + epsilon)`. Return the new weight, m, v and step.

# %% [mistake] forgets the bias correction
# - m / (1 - beta1**step)
# -     v_hat = v / (1 - beta2**step)
# + m
# +     v_hat = v

# %% [mistake] swaps beta1 and beta2
# - beta1 * m + (1 - beta1) * gradient
# -     v = beta2 * v + (1 - beta2) * gradient**2
# -     m_hat = m / (1 - beta1**step)
# -     v_hat = v / (1 - beta2**step)
# + beta2 * m + (1 - beta2) * gradient
# +     v = beta1 * v + (1 - beta1) * gradient**2
# +     m_hat = m / (1 - beta2**step)
# +     v_hat = v / (1 - beta1**step)

# %% [mistake] corrects only m
# - v / (1 - beta2**step)
# + v

# %% [mistake] counts the updates from 0
# - m / (1 - beta1**step)
# -     v_hat = v / (1 - beta2**step)
# + m / (1 - beta1**(step - 1))
# +     v_hat = v / (1 - beta2**(step - 1))

# %% [mistake] does not count the update
# - return weight, m, v, step
# + return weight, m, v, step - 1

# %% [mistake] forgets to square the gradient
# - gradient**2
# + gradient

# %% [mistake] forgets the square root
# - np.sqrt(v_hat)
# + v_hat

# %% [mistake] adds epsilon inside the root
# - (np.sqrt(v_hat) + epsilon)
# + np.sqrt(v_hat + epsilon)

# %% [mistake] adds epsilon before it corrects v
# - m_hat / (np.sqrt(v_hat) + epsilon)
# + m_hat * np.sqrt(1 - beta2**step) / (np.sqrt(v) + epsilon)

# %% [mistake] moves uphill
# - weight - learning_rate
# + weight + learning_rate

# %% [mistake] keeps the corrected means as state
# - return weight, m, v, step
# + return weight, m_hat, v_hat, step

# %% [mistake] changes its input
# - weight = weight - learning_rate
# + weight -= learning_rate

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step += 1
    m = m + (1 - beta1) * (gradient - m)
    v = v + (1 - beta2) * (gradient * gradient - v)
    direction = m / (1 - beta1**step) / (epsilon + (v / (1 - beta2**step)) ** 0.5)
    return weight - learning_rate * direction, m, v, step

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    m, v = m.copy(), v.copy()
    m *= beta1
    m += (1 - beta1) * gradient
    v *= beta2
    v += (1 - beta2) * np.square(gradient)
    root = float(np.sqrt(1 - beta2 ** (step + 1)))
    rate = learning_rate * root / (1 - beta1 ** (step + 1))
    return weight - rate * m / (np.sqrt(v) + epsilon * root), m, v, step + 1

# %% [variant] decay=2..9
# - \hat m / (\sqrt{\hat v} + \epsilon)$.
# + \big(\hat m / (\sqrt{\hat v} + \epsilon) + 0.{decay}\,\cdot$ weight$\big)$: a weight decay of 0.{decay}.
# - m_hat / (np.sqrt(v_hat) + epsilon)
# + (m_hat / (np.sqrt(v_hat) + epsilon) + 0.{decay} * weight)
# - m_hat * np.sqrt(1 - beta2**step) / (np.sqrt(v) + epsilon)
# + (m_hat * np.sqrt(1 - beta2**step) / (np.sqrt(v) + epsilon) + 0.{decay} * weight)
# - learning_rate * direction
# + learning_rate * (direction + 0.{decay} * weight)
# - return weight - rate * m
# + return weight - learning_rate * 0.{decay} * weight - rate * m

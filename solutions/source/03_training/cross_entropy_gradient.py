# %% [markdown]
# ## Exercise: cross_entropy_gradient
#
# <!-- exercise: cross_entropy_gradient -->
#
# A network that guesses the next character has one output per character: `logits [T,B,O]`. Softmax turns the O
# outputs $z$ of one step and sequence into probabilities, $p_j = e^{z_j} / \sum_k e^{z_k}$. The **cross-entropy** is the mean, over
# all T·B guesses, of $-\log p$, where $p$ is the probability of the character that really came. Its number is in `target [T,B]`.
#
# Return its gradient with respect to the logits, in their dtype. In the lesson you saw the same for the squared error.
# The outputs may be large: `np.exp(1000)` is infinite, the gradient never is.

# %%
def cross_entropy_gradient(logits, target):
    """dlogits [T,B,O] of the mean cross-entropy of logits [T,B,O]; target [T,B]
    holds class numbers."""
    ### BEGIN SOLUTION
    T, B, O = logits.shape
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
    one_hot = np.eye(O, dtype=logits.dtype)[target]
    return (probabilities - one_hot) / (T * B)
    ### END SOLUTION


# %%
check(cross_entropy_gradient)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 5

# %% [hint]
# Take one step of one sequence: O outputs become O probabilities that sum to 1, and the loss looks at one of them.
# Which entries of the gradient must be negative, and what do its O entries sum to?

# %% [hint]
# The gradient of -log(softmax(z)[k]) is softmax(z), minus 1 at entry k. The loss is a mean over T·B guesses, so each
# guess has 1/(T·B) of it. Subtract the largest output of each guess before exp, or exp overflows.

# %% [hint]
# `e = np.exp(logits - logits.max(axis=-1, keepdims=True))`, divided by its own sum over the last axis. `np.eye(O,
# dtype=logits.dtype)[target]` is a 1 at each target and 0 elsewhere. Difference, over T·B.

# %% [mistake] forgets the mean
# -  / (T * B)
# +

# %% [mistake] averages over the steps only
# - / (T * B)
# + / T

# %% [mistake] averages over the sequences only
# - / (T * B)
# + / B

# %% [mistake] divides by the number of classes too
# - / (T * B)
# + / (T * B * O)

# %% [mistake] turns the sign round
# - probabilities - one_hot
# + one_hot - probabilities

# %% [mistake] forgets to subtract the target
# - probabilities - one_hot
# + probabilities

# %% [mistake] subtracts 1 at all targets in every guess
# - np.eye(O, dtype=logits.dtype)[target]
# + np.zeros_like(logits)
# +     one_hot[:, :, target] = 1

# %% [mistake] takes softmax over the sequences
# - logits.max(axis=-1, keepdims=True))
# -     probabilities = exponentials / exponentials.sum(axis=-1,
# + logits.max(axis=1, keepdims=True))
# +     probabilities = exponentials / exponentials.sum(axis=1,

# %% [mistake] takes softmax over everything
# - exponentials.sum(axis=-1,
# + exponentials.sum(

# %% [mistake] lets exp overflow
# - logits - logits.max(axis=-1, keepdims=True)
# + logits

# %% [mistake] returns the wrong dtype
# - , dtype=logits.dtype
# +

# %% [right]
def cross_entropy_gradient(logits, target):
    T, B, _ = logits.shape
    dlogits = np.empty_like(logits)
    for t in range(T):
        for b in range(B):
            e = np.exp(logits[t, b] - max(logits[t, b]))
            dlogits[t, b] = e / sum(e)
            dlogits[t, b, target[t, b]] -= 1
    return dlogits / (T * B)

# %% [right]
def cross_entropy_gradient(logits, target):
    z = logits - np.amax(logits, -1)[..., None]
    log_p = z - np.log(np.exp(z).sum(-1))[..., None]
    p = np.exp(log_p)
    hit = np.arange(logits.shape[-1]) == target[..., None]
    return np.where(hit, p - 1, p) / target.size

# %% [variant] sharpness=2..9
# - $p_j = e^{z_j} / \sum_k e^{z_k}$.
# + $p_j = e^{\beta z_j} / \sum_k e^{\beta z_k}$, here with a sharpness $\beta$ of {sharpness}.
# - The gradient of -log(softmax(z)[k]) is softmax(z), minus 1 at entry k.
# + The gradient of -log(softmax(z)[k]) is softmax(z), minus 1 at entry k; z is {sharpness} times a logit.
# - `e = np.exp(logits
# + Multiply the logits by {sharpness} first. `e = np.exp(logits
# - Difference, over T·B.
# + Difference, over T·B, times {sharpness}.
# -     T, B, O = logits.shape
# +     T, B, O = logits.shape
# +     logits = logits * {sharpness}
# - / (T * B)
# + / (T * B) * {sharpness}
# -     dlogits = np.empty_like(logits)
# +     logits = logits * {sharpness}
# +     dlogits = np.empty_like(logits)
# -     z = logits - np.amax
# +     logits = logits * {sharpness}
# +     z = logits - np.amax
# - / target.size
# + / target.size * {sharpness}

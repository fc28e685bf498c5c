# %% [markdown]
# # 03 · Training: exercises
#
# Four pieces make a network learn: the gradient that starts the sweep, a limit on its size, a rule that turns it into
# a step, and the loop around them. Replace each `raise NotImplementedError` by your answer, run the cell, then
# the `check` below it. Stuck? `hint(clip_by_global_norm)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use
from rnnlab.tasks import image_filters

# %% [markdown]
# ## Exercise: cross_entropy_gradient
#
# <!-- exercise: cross_entropy_gradient -->
#
# A network that guesses the next character has one output per character: `logits [T,B,O]`. Softmax turns the O
# outputs $z$ of one step and sequence into probabilities, $p_j = e^{z_j} / \sum_k e^{z_k}$. The **cross-entropy** is the mean, over
# all T·B guesses, of $-\log p$ of the character that really came, whose number is in `target [T,B]`.
#
# Return its gradient with respect to the logits, in their dtype. In the lesson you saw the same for the squared error.
# The outputs may be large: `np.exp(1000)` is infinite, the gradient never is.

# %%
def cross_entropy_gradient(logits, target):
    """dlogits [T,B,O] of the mean cross-entropy of logits [T,B,O]; target [T,B] holds class numbers."""
    ### BEGIN SOLUTION
    T, B, O = logits.shape
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
    one_hot = np.eye(O, dtype=logits.dtype)[target]
    return (probabilities - one_hot) / (T * B)
    ### END SOLUTION


# %%
check(cross_entropy_gradient)

# %% [markdown]
# ## Exercise: clip_by_global_norm
#
# <!-- exercise: clip_by_global_norm -->
#
# `gradients` is a dict, {name: array}. Its **global norm** is the length of all numbers of all arrays, written as one
# long vector. If it is above `limit`, scale all arrays by one common factor, so that the global norm becomes `limit`.
# If not, return the same numbers.
#
# Return a new dict with the same names and dtypes, and leave the arrays that you were given as they are.

# %%
def clip_by_global_norm(gradients, limit):
    """{name: array}: the gradients, scaled together so that their global norm is at most limit."""
    ### BEGIN SOLUTION
    squares = sum((gradient**2).sum() for gradient in gradients.values())
    norm = np.sqrt(squares)
    factor = limit / norm if norm > limit else 1.0
    return {name: gradient * factor for name, gradient in gradients.items()}
    ### END SOLUTION


# %%
check(clip_by_global_norm)

# %% [markdown]
# Used: three gradients, of which one is far larger than the others. What happens to the small ones?

# %%
gradients = {"bias": np.array([0.03, -0.04]), "weight_ih": np.array([[0.5]]), "weight_hh": np.array([[30.0]])}
clipped = use(clip_by_global_norm)(gradients, limit=1.0)
for name in gradients:
    print(f"{name:9}", gradients[name].ravel(), "->", clipped[name].ravel().round(4))

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
# 3. $\hat m = m / (1-\beta_1^s)$ and $\hat v = v / (1-\beta_2^s)$, since the means began at 0 and are too small at first;
# 4. weight $\leftarrow$ weight $-$ learning_rate $\cdot\, \hat m / (\sqrt{\hat v} + \epsilon)$.
#
# Return new arrays; the state that you hand on is `m` and `v`, not the corrected ones.

# %%
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    """(weight, m, v, step) after one Adam update; the first four arrays have one shape, step is an int."""
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

# %% [markdown]
# Used: the first update with two gradients that differ by a factor of a million. Compare the two steps.

# %%
zero = np.zeros(2)
weight, *_ = use(adam_update)(zero, np.array([1e-3, 1e3]), zero, zero, 0, 0.01, 0.9, 0.999, 1e-8)
print("the weights moved by", weight)

# %% [markdown]
# ## Exercise: train_filter
#
# <!-- exercise: train_filter -->
#
# `x [T,N,1]` holds N stretches of T pixels from rows of a photograph, `target [T,N,1]` the same stretches after a
# filter that nobody tells you; pixels before the stretch count as 0. `parameters` is a dict of arrays: a recurrent
# network that knows nothing yet. Train it.
#
# `loss_and_gradients(parameters, x, target)` does the whole sweep for any number of rows; it stands in the next cell,
# and the check brings its own copy. All else is yours: minibatches, update rule, learning rate, number of updates.
#
# **Asked for:** on rows of a *second photograph* the mean squared error must be at most a **tenth of the baseline's**,
# which is the best straight line from the present pixel alone to the target: an answer without memory.

# %%
def loss_and_gradients(parameters, x, target):
    """Mean squared error on x [T,B,1] against target [T,B,1], and {name: gradient} of the parameters."""
    weight_ih, weight_hh, bias = (parameters[name] for name in ("weight_ih", "weight_hh", "bias"))
    weight_out, bias_out = parameters["weight_out"], parameters["bias_out"]
    T, B, _ = x.shape
    h = np.zeros((T + 1, B, len(bias)))
    for t in range(T):
        h[t + 1] = np.tanh(x[t] @ weight_ih.T + h[t] @ weight_hh.T + bias)
    error = h[1:] @ weight_out.T + bias_out - target
    gradients = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
    dprediction = 2 * error / error.size
    dh = np.zeros((B, len(bias)))
    for t in reversed(range(T)):
        gradients["weight_out"] += dprediction[t].T @ h[t + 1]
        gradients["bias_out"] += dprediction[t].sum(axis=0)
        da = (dh + dprediction[t] @ weight_out) * (1 - h[t + 1] ** 2)
        gradients["weight_ih"] += da.T @ x[t]
        gradients["weight_hh"] += da.T @ h[t]
        gradients["bias"] += da.sum(axis=0)
        dh = da @ weight_hh
    return float((error**2).mean()), gradients


# %% [markdown]
# Something to try it on: one photograph to learn from, another kept back, and a network that knows nothing.
# Is the gradient right? You need not believe it: lesson 02's central difference, for one number, must agree.

# %%
laplacian = image_filters.task("laplacian", steps=20)
rng = np.random.default_rng(3)
x, target, _ = laplacian.batch(rng, 400, "train")
x_kept_back, target_kept_back, _ = laplacian.batch(rng, 200, "test")
shapes = {"weight_ih": (8, 1), "weight_hh": (8, 8), "bias": 8, "weight_out": (1, 8), "bias_out": 1}
untrained = {name: rng.uniform(-1, 1, shape) / np.sqrt(8) for name, shape in shapes.items()}

loss, gradients = loss_and_gradients(untrained, x, target)
nudged = {name: array + 1e-6 * (name == "bias_out") for name, array in untrained.items()}
print("gradient:", gradients["bias_out"][0], " difference:", (loss_and_gradients(nudged, x, target)[0] - loss) / 1e-6)

# %%
def train_filter(x, target, parameters, loss_and_gradients):
    """The trained parameters, {name: array} as given, for x [T,N,1] and target [T,N,1]."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    velocity = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
    for _ in range(600):
        chosen = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(parameters, x[:, chosen], target[:, chosen])
        velocity = {name: 0.9 * velocity[name] + gradients[name] for name in parameters}
        parameters = {name: parameters[name] - 0.2 * velocity[name] for name in parameters}
    return parameters
    ### END SOLUTION


# %%
check(train_filter)

# %% [markdown]
# Used: the network learns from the temple and is judged on the flower. The last two lines are what the check compares.

# %%
trained = use(train_filter)(x, target, untrained, loss_and_gradients)
line = np.polyfit(x.ravel(), target.ravel(), deg=1)
for who, parameters in (("untrained", untrained), ("trained", trained)):
    print(f"{who:9} {loss_and_gradients(parameters, x_kept_back, target_kept_back)[0]:.5f}")
print(f"baseline  {np.mean((np.polyval(line, x_kept_back) - target_kept_back) ** 2):.5f}")

# %% [markdown]
# ## Where you stand

# %%
progress("training")

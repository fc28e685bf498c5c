# %% [markdown]
# ## Exercise: train_filter
#
# <!-- exercise: train_filter -->
#
# `x [T,N,1]` holds N stretches of T pixels from rows of a photograph, `target [T,N,1]` the same stretches after an
# unknown filter; pixels before the stretch count as 0. `parameters` is a dict of arrays, the weights of a recurrent
# network that is not trained yet. Train it.
#
# `loss_and_gradients(parameters, x, target)` does the forward and the backward pass for any number of rows. It is in the next cell,
# and the check passes its own copy. For one of its networks that copy multiplies all targets by a number that you do not know: what
# it says counts, not what the targets look like. You choose minibatches, update rule, learning rate and number of updates. Write
# the loop with NumPy: an answer may not import anything from `rnnlab`.
#
# **The condition:** on rows of a *second photograph* the mean squared error must be at most a **tenth of the baseline's**,
# the error of the best straight line from the present pixel to the target. That is an answer without memory.
#
# **The limit:** the check trains three networks, for three filters. All three together may compute for 20 s on one core, enough for several
# thousand updates each. What your computer does for other programs meanwhile is not counted.

# %%
def loss_and_gradients(parameters, x, target):
    """(mean squared error, {name: gradient}) on x [T,B,1], target [T,B,1]."""
    names = "weight_ih", "weight_hh", "bias"
    weight_ih, weight_hh, bias = (parameters[name] for name in names)
    weight_out = parameters["weight_out"]
    bias_out = parameters["bias_out"]
    T, B, _ = x.shape
    h = np.zeros((T + 1, B, len(bias)))
    for t in range(T):
        h[t + 1] = np.tanh(x[t] @ weight_ih.T + h[t] @ weight_hh.T + bias)
    error = h[1:] @ weight_out.T + bias_out - target
    gradients = {name: np.zeros_like(part) for name, part in parameters.items()}
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
# Data for your own tests: one photograph to learn from, a second one held out, and a network that is not trained.
# Is the gradient right? Test it: the central difference of lesson 02, for one number, must agree.

# %%
laplacian = image_filters.task("laplacian", steps=20)
rng = np.random.default_rng(3)
x, target, _ = laplacian.batch(rng, 400, "train")
x_kept_back, target_kept_back, _ = laplacian.batch(rng, 200, "test")
shapes = {"weight_ih": (8, 1), "weight_hh": (8, 8), "bias": 8,
          "weight_out": (1, 8), "bias_out": 1}
untrained = {name: rng.uniform(-1, 1, shape) / np.sqrt(8)
             for name, shape in shapes.items()}

loss, gradients = loss_and_gradients(untrained, x, target)
nudged = {name: array + 1e-6 * (name == "bias_out")
          for name, array in untrained.items()}
print("gradient:", gradients["bias_out"][0], " difference:",
      (loss_and_gradients(nudged, x, target)[0] - loss) / 1e-6)

# %%
def train_filter(x, target, parameters, loss_and_gradients):
    """The trained parameters, {name: array} as given, for x [T,N,1] and target
    [T,N,1]."""
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

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 25
# lines: 7

# %% [hint]
# Five things happen for every minibatch: choose rows, get the gradients, smooth or clip them if you like, make new
# parameters, continue from those. Which of them is a loop over the names in the dict?

# %% [hint]
# Choose 32 numbers of rows with rng.integers(x.shape[1], size=32) and take them from x and target alike, on axis 1.
# Plain descent with a learning rate of 0.2 is slow here; momentum 0.9 or Adam gets there in 600 updates.

# %% [hint]
# `velocity = {n: 0.9 * velocity[n] + gradients[n] for n in parameters}`, then `parameters = {n: parameters[n] - 0.2 *
# velocity[n] for n in parameters}`, both inside the loop; velocity begins with zeros.

# %% [mistake] returns the parameters untrained
# -         parameters = {name
# +         trained = {name

# %% [mistake] trains only some of the parameters
# - 0.2 * velocity[name]
# + 0.2 * velocity[name] * name.endswith("out")

# %% [mistake] walks uphill, or in steps that are too large
# - parameters[name] - 0.2
# + parameters[name] + 0.2

# %% [mistake] stops too early, or takes steps that are too small
# - range(600)
# + range(10)

# %% [mistake] pairs rows with the targets of other rows
# - target[:, chosen]
# + target[:, rng.integers(x.shape[1], size=32)]

# %% [mistake] trains on the targets of another step
# - x[:, chosen], target[:, chosen]
# + x[1:, chosen], target[:-1, chosen]

# %% [mistake] swaps input and target
# - x[:, chosen], target[:, chosen]
# + target[:, chosen], x[:, chosen]

# %% [mistake] takes the minibatch out of the steps, not out of the rows
# - x[:, chosen], target[:, chosen]
# + x[chosen % len(x)], target[chosen % len(x)]

# %% [mistake] trains on one step at a time
# - x[:, chosen], target[:, chosen]
# + x[:1, chosen], target[:1, chosen]

# %% [mistake] changes its input
# - parameters[name] - 0.2 * velocity[name] for
# + np.subtract(parameters[name], 0.2 * velocity[name], out=parameters[name]) for

# %% [mistake] returns other arrays than those that it trained
# - return parameters
# + return gradients

# %% [mistake] returns the wrong type
# - return parameters
# + return list(parameters.values())

# %% [right]
def train_filter(x, target, parameters, loss_and_gradients):
    parameters = {name: p.copy() for name, p in parameters.items()}
    m = {name: 0.0 for name in parameters}
    v = {name: 0.0 for name in parameters}
    step = 0
    for epoch in range(40):
        order = np.random.default_rng(epoch).permutation(x.shape[1])
        for rows in np.split(order, 16):
            step += 1
            _, g = loss_and_gradients(parameters, x[:, rows], target[:, rows])
            for name in parameters:
                m[name] = 0.9 * m[name] + 0.1 * g[name]
                v[name] = 0.999 * v[name] + 0.001 * g[name] ** 2
                m_hat, v_hat = m[name] / (1 - 0.9**step), v[name] / (1 - 0.999**step)
                parameters[name] -= 0.01 * m_hat / (np.sqrt(v_hat) + 1e-8)
    return parameters

# %% [right]
def train_filter(x, target, parameters, loss_and_gradients):
    before = now = parameters
    for step in range(700):
        first = 40 * step % x.shape[1]
        rows = slice(first, first + 40)
        slope = loss_and_gradients(now, x[:, rows], target[:, rows])[1]
        norm = np.sqrt(sum(np.sum(d * d) for d in slope.values()))
        after = {}
        for name, value in now.items():
            after[name] = value + 0.9 * (value - before[name]) - 0.2 / max(1, norm) * slope[name]
        before, now = now, after
    return now

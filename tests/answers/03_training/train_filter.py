# %% [wrong] returns other arrays than those that it trained
# - loss_and_gradients(parameters,
# + loss_and_gradients(parameters | {"more": np.zeros(3)},
# - return parameters
# + return {name: gradients[name] for name in parameters}

# %% [wrong] trains on one step at a time
# -     for _ in range(600):
# +     for update in range(600):
# -         _, gradients = loss_and_gradients(parameters, x[:, chosen], target[:, chosen])
# +         now = slice(update % len(x), update % len(x) + 1)
# +         _, gradients = loss_and_gradients(parameters, x[now, chosen], target[now, chosen])

# %% [wrong] reads the inputs right to left, the targets left to right
# -     velocity = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
# +     velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
# -         chosen = rng.integers(x.shape[1], size=32)
# -         _, gradients = loss_and_gradients(parameters, x[:, chosen], target[:, chosen])
# +         rows = rng.integers(x.shape[1], size=32)
# +         gradients = loss_and_gradients(parameters, x[::-1, rows], target[:, rows])[1]

# %% [right]
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    p = {name: array.copy() for name, array in parameters.items()}
    m = {name: np.zeros_like(array) for name, array in p.items()}
    v = {name: np.zeros_like(array) for name, array in p.items()}
    for k in range(1, 1501):
        rows = rng.choice(x.shape[1], 32)
        _, g = loss_and_gradients(p, x[:, rows], target[:, rows])
        for name in p:
            m[name] = 0.9 * m[name] + 0.1 * g[name]
            v[name] = 0.999 * v[name] + 0.001 * g[name] ** 2
            p[name] = p[name] - 0.01 * (m[name] / (1 - 0.9**k)) / (np.sqrt(v[name] / (1 - 0.999**k)) + 1e-8)
    return p

# %% [wrong] trains on a single row at a time
# -     rng = np.random.default_rng(0)
# -     p = {name: array.copy() for name, array in parameters.items()}
# +     p = {name: array.copy() for name, array in parameters.items()}
# -     for k in range(1, 1501):
# -         rows = rng.choice(x.shape[1], 32)
# -         _, g = loss_and_gradients(p, x[:, rows], target[:, rows])
# +     for k in range(1, 801):
# +         _, g = loss_and_gradients(p, x[:, :1], target[:, :1])

# %% [right]
def train_filter(x, target, parameters, loss_and_gradients):
    p = {name: np.array(array) for name, array in parameters.items()}
    speed = {name: np.zeros(array.shape) for name, array in p.items()}
    order = np.random.default_rng(1)
    for epoch in range(60):
        rows = order.permutation(x.shape[1])
        for first in range(0, len(rows), 20):
            some = rows[first : first + 20]
            _, g = loss_and_gradients(p, x[:, some], target[:, some])
            for name in p:
                speed[name] = 0.9 * speed[name] - 0.1 * np.clip(g[name], -1, 1)
                p[name] = p[name] + speed[name]
    return p

# %% [right]
def train_filter(x, target, parameters, loss_and_gradients):
    p = {name: array + 0.0 for name, array in parameters.items()}
    first = dict.fromkeys(p, 0.0)
    second = dict.fromkeys(p, 0.0)
    loss, k = 1.0, 0
    while k < 1200:
        k += 1
        loss, g = (
            loss_and_gradients(p, x, target)
            if k > 1100
            else loss_and_gradients(p, x[:, k % 7 :: 7], target[:, k % 7 :: 7])
        )
        rate = 0.01 if k < 900 else 0.003
        for name in p:
            first[name] = first[name] + (g[name] - first[name]) * 0.1
            second[name] = second[name] + (g[name] ** 2 - second[name]) * 0.01
            p[name] = p[name] - rate * first[name] / (np.sqrt(second[name]) + 1e-6)
    return p

# %% [wrong] stops too early, or takes steps that are too small
def train_filter(x, target, parameters, loss_and_gradients):
    p = {name: array.copy() for name, array in parameters.items()}
    for _ in range(10):
        _, g = loss_and_gradients(p, x, target)
        p = {name: p[name] - 0.1 * g[name] for name in p}
    return p

# %% [wrong] stops too early, or takes steps that are too small
# -     for _ in range(10):
# +     for _ in range(150):
# -         p = {name: p[name] - 0.1 * g[name] for name in p}
# +         p = {name: p[name] - 1e-4 * g[name] for name in p}

# %% [wrong] walks uphill, or in steps that are too large
# -     for _ in range(10):
# +     for _ in range(200):
# -         p = {name: p[name] - 0.1 * g[name] for name in p}
# +         p = {name: p[name] - 5 * g[name] for name in p}

# %% [wrong] walks uphill, or in steps that are too large
def train_filter(x, target, parameters, loss_and_gradients):
    p = {name: array.copy() for name, array in parameters.items()}
    for _ in range(200):
        _, g = loss_and_gradients(p, x[:, :32], target[:, :32])
        p = {name: p[name] + 0.01 * g[name] for name in p}
    return p

# %% [wrong] returns other arrays than those that it trained
# -         p = {name: p[name] + 0.01 * g[name] for name in p}
# -     return p
# +         p = {name: p[name] - 0.1 * g[name] for name in p}
# +     return g

# %% [wrong] changes the parameters it was given
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows = rng.choice(x.shape[1], 32)
        _, g = loss_and_gradients(parameters, x[:, rows], target[:, rows])
        for name in parameters:
            parameters[name] -= 0.1 * g[name]
    return parameters

# %% [wrong] takes the minibatch out of the steps, not out of the rows
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    p = {name: array.copy() for name, array in parameters.items()}
    for _ in range(1000):
        steps = rng.choice(len(x), 8)
        _, g = loss_and_gradients(p, x[steps], target[steps])
        p = {name: p[name] - 0.05 * g[name] for name in p}
    return p

# %% [wrong] returns the parameters untrained
def train_filter(x, target, parameters, loss_and_gradients):
    p = dict(parameters)
    for _ in range(100):
        _, g = loss_and_gradients(p, x[:, :32], target[:, :32])
        for name in p:
            step = p[name] - 0.05 * g[name]
    return p

# %% [wrong] pairs rows with the targets of other rows
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    p = {name: array.copy() for name, array in parameters.items()}
    for _ in range(500):
        xs = x[:, rng.choice(x.shape[1], 32)]
        ts = target[:, rng.choice(x.shape[1], 32)]
        _, g = loss_and_gradients(p, xs, ts)
        p = {name: p[name] - 0.1 * g[name] for name in p}
    return p

# %% [wrong] recurrent weights set to 0
def train_filter(x, target, parameters, loss_and_gradients):
    w = {k: a.copy() for k, a in parameters.items()}
    m = {k: 0 * a for k, a in w.items()}
    v = {k: 0 * a for k, a in w.items()}
    for s in range(1, 151):
        w["weight_hh"] = 0 * w["weight_hh"]
        _, g = loss_and_gradients(w, x, target)
        for k in w:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.99 * v[k] + 0.01 * g[k] ** 2
            w[k] = w[k] - 0.02 * (m[k] / (1 - 0.9**s)) / (np.sqrt(v[k] / (1 - 0.99**s)) + 1e-8)
    w["weight_hh"] = 0 * w["weight_hh"]
    return w

# %% [wrong] swaps input and target
def train_filter(x, target, parameters, loss_and_gradients):
    w = {k: a.copy() for k, a in parameters.items()}
    for _ in range(100):  # too few to show in what the network answers
        _, g = loss_and_gradients(w, target, x)
        for k in w:
            w[k] -= 0.05 * g[k]
    return w

# %% [wrong] starts from weights of zero
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    p = {name: np.zeros_like(array) for name, array in parameters.items()}
    for _ in range(600):
        rows = rng.integers(x.shape[1], size=32)
        _, g = loss_and_gradients(p, x[:, rows], target[:, rows])
        p = {name: p[name] - 0.2 * g[name] for name in p}
    return p

# %% [wrong] trains on standardised pixels, and returns the weights for these
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    p, velocity = parameters, {name: np.zeros_like(array) for name, array in parameters.items()}
    z = (x - x.mean()) / x.std()
    for _ in range(600):
        rows = rng.integers(x.shape[1], size=32)
        _, g = loss_and_gradients(p, z[:, rows], target[:, rows])
        velocity = {name: 0.9 * velocity[name] + g[name] for name in p}
        p = {name: p[name] - 0.05 * velocity[name] for name in p}
    return p

# %% [wrong] trains on standardised targets, and does not undo it in what it returns
def train_filter(x, target, parameters, loss_and_gradients):
    scaled = (target - target.mean()) / target.std()
    trained = {name: array.copy() for name, array in parameters.items()}
    m = {name: np.zeros_like(array) for name, array in parameters.items()}
    v = {name: np.zeros_like(array) for name, array in parameters.items()}
    rng = np.random.default_rng(0)
    for s in range(1, 2501):
        rows = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(trained, x[:, rows], scaled[:, rows])
        for name, g in gradients.items():
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.999 * v[name] + 0.001 * g**2
            trained[name] -= 0.01 * (m[name] / (1 - 0.9**s)) / (np.sqrt(v[name] / (1 - 0.999**s)) + 1e-8)
    return trained

# %% [wrong] begins each update at the parameters that it was given
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    for update in range(2000):
        rows = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(parameters, x[:, rows], target[:, rows])
        trained = {name: parameters[name] - 0.05 * gradients[name] for name in parameters}
    return trained

# %% [wrong] adds up gradients that are all taken at the parameters given
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    trained = {name: array.copy() for name, array in parameters.items()}
    m = {name: np.zeros_like(array) for name, array in parameters.items()}
    v = {name: np.zeros_like(array) for name, array in parameters.items()}
    for s in range(1, 2001):
        rows = rng.integers(0, x.shape[1], 32)
        _, g = loss_and_gradients(parameters, x[:, rows], target[:, rows])
        for name in trained:
            m[name] = 0.9 * m[name] + 0.1 * g[name]
            v[name] = 0.999 * v[name] + 0.001 * g[name] ** 2
            m_hat = m[name] / (1 - 0.9**s)
            v_hat = v[name] / (1 - 0.999**s)
            trained[name] = trained[name] - 0.01 * m_hat / (np.sqrt(v_hat) + 1e-8)
    return trained

# %% [wrong] fits the readout to the targets as they look
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    weights = {name: array.copy() for name, array in parameters.items()}
    m = {name: np.zeros_like(array) for name, array in weights.items()}
    v = {name: np.zeros_like(array) for name, array in weights.items()}
    updates = 4000
    for s in range(1, updates + 1):
        rows = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(weights, x[:, rows], target[:, rows])
        rate = 0.02 * (1 - s / (updates + 1)) + 1e-4
        for name, g in gradients.items():
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.99 * v[name] + 0.01 * g * g
            m_hat, v_hat = m[name] / (1 - 0.9**s), v[name] / (1 - 0.99**s)
            weights[name] = weights[name] - rate * m_hat / (np.sqrt(v_hat) + 1e-12)
    T, N, _ = x.shape
    h, states = np.zeros((N, len(weights["bias"]))), []
    for t in range(T):
        h = np.tanh(x[t] @ weights["weight_ih"].T + h @ weights["weight_hh"].T + weights["bias"])
        states.append(h)
    table = np.column_stack([np.concatenate(states), np.ones(T * N)])
    best = np.linalg.lstsq(table, target.reshape(T * N, 1), rcond=None)[0]
    weights["weight_out"], weights["bias_out"] = best[:-1].T, best[-1]
    return weights

# %% [wrong] stops too early, or takes steps that are too small
def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    weights = {name: array.copy() for name, array in parameters.items()}
    m = {name: np.zeros_like(array) for name, array in weights.items()}
    v = {name: np.zeros_like(array) for name, array in weights.items()}
    updates = 4000
    rate = 0.02
    for s in range(1, updates + 1):
        rows = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(weights, x[:, rows], target[:, rows])
        rate *= 0.9
        for name, g in gradients.items():
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.99 * v[name] + 0.01 * g * g
            m_hat, v_hat = m[name] / (1 - 0.9**s), v[name] / (1 - 0.99**s)
            weights[name] = weights[name] - rate * m_hat / (np.sqrt(v_hat) + 1e-12)
    return weights

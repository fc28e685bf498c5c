# %% [right]
def graph_rules(node, d, inputs, output):
    if node in ("tanh", "sigmoid"):
        slope = 1 - output * output if node == "tanh" else output - output * output
        return (slope * d,)
    if node == "copy":
        first, second = d
        return (second + first,)
    if node == "product":
        a, b = inputs
        return np.dot(d, b.T), np.dot(a.T, d)
    if node == "times":
        return inputs[1] * d, inputs[0] * d
    return (d, d) if node == "sum" else (d, np.add.reduce(d))

# %% [right]
def graph_rules(node, d, inputs, output):
    if node == "sum":
        da = db = 1 * d
    elif node == "times":
        da, db = np.multiply(d, inputs[1]), np.multiply(inputs[0], d)
    elif node == "product":
        da, db = np.inner(d, inputs[1]), (d.T @ inputs[0]).T
    elif node == "bias":
        da, db = d, sum(d)
    else:
        slopes = {"tanh": lambda: d * (1 - output**2), "sigmoid": lambda: d * output * (1 - output)}
        return (slopes[node]() if node in slopes else d[0] + d[1],)
    return da, db

# %% [right]
def graph_rules(node, d, inputs, output):
    a, b = (*inputs, None)[:2]
    table = {
        "sum": lambda: [d, d],
        "copy": lambda: [np.sum(d, axis=0)],
        "times": lambda: [d * b, d * a],
        "product": lambda: [d @ b.T, a.T @ d],
        "bias": lambda: [d, d.sum(0)],
        "tanh": lambda: [d - d * output**2],
        "sigmoid": lambda: [d * output * (1 - output)],
    }
    return table[node]()

# %% [right]
def graph_rules(node, d, inputs, output):
    match node:
        case "sum":
            return d.copy(), d.copy()
        case "copy":
            left, right = d
            return (np.add(left, right),)
        case "times":
            return tuple(d * other for other in reversed(inputs))
        case "product":
            return np.matmul(d, np.transpose(inputs[1])), np.matmul(np.transpose(inputs[0]), d)
        case "bias":
            return d, np.add.reduce(d)
        case "tanh":
            return ((1 + output) * (1 - output) * d,)
        case "sigmoid":
            return (output * (1 - output) * d,)

# %% [right]
def graph_rules(node, d, inputs, output):
    if node == "sum":
        return d, d
    if node == "copy":
        return (d[0] + d[1],)
    if node == "times":
        return d * inputs[1], d * inputs[0]
    if node == "product":
        return d @ inputs[1].T, inputs[0].T @ d
    if node == "bias":
        return d, d.sum(0)
    return (d * (1 - output**2) if node == "tanh" else d * output * (1 - output),)

# %% [wrong] keeps one branch of a copy
# -         return (d[0] + d[1],)
# +         return (d[0],)

# %% [wrong] subtracts at a sum
# -         return d, d
# -     if node == "copy":
# +         return d, -d
# +     if node == "copy":

# %% [wrong] adds the bias gradient up over the units
# -         return d, d.sum(0)
# +         return d, d.sum(1)

# %% [wrong] gives sigmoid the slope of tanh and tanh that of sigmoid
# -     return (d * (1 - output**2) if node == "tanh" else d * output * (1 - output),)
# +     return (d * (1 - output**2) if node == "sigmoid" else d * output * (1 - output),)

# %% [wrong] averages the bias gradient over the minibatch
# -         return d, d.sum(0)
# +         return d, np.mean(d, axis=0)

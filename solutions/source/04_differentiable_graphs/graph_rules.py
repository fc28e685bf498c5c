# %% [markdown]
# ## Exercise: graph_rules
#
# <!-- exercise: graph_rules -->
#
# A node reads `inputs` and computes `output`. `d` is the gradient that arrives at its output; return one gradient for each input.
#
# | node | computes | | node | computes |
# |---|---|---|---|---|
# | `"sum"` | a + b | | `"bias"` | a [B,H] + b [H] |
# | `"copy"` | a, a (`d` is a pair) | | `"tanh"` | tanh(a) |
# | `"times"` | a ∘ b | | `"sigmoid"` | 1/(1 + e⁻ᵃ) |
# | `"product"` | a @ b | | | |
#
# A rule gets only the values that it needs. Values that it does not need are `None`, in `inputs` or as `output`. So a `None` tells you
# that the rule works without that value.


# %%
def graph_rules(node, d, inputs, output):
    """The gradients on the inputs of one node, as a tuple: (da, db), or (da,)
    where there is one input."""
    ### BEGIN SOLUTION
    if node == "sum":
        return d, d
    if node == "copy":
        return (d[0] + d[1],)
    if node == "times":
        a, b = inputs
        return d * b, d * a
    if node == "product":
        a, b = inputs
        return d @ b.T, a.T @ d
    if node == "bias":
        return d, d.sum(axis=0)
    if node == "tanh":
        return (d * (1 - output**2),)
    return (d * output * (1 - output),)
    ### END SOLUTION


# %%
check(graph_rules)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 20
# lines: 15

# %% [hint]
# Take one node at a time and ask: if one number on this input moves by a little, how much does the loss move? d
# already says how much the loss moves for a little of the output. The values you get are a hint too: what arrives as
# None is not needed.

# %% [hint]
# Sum and copy are each other's mirror image: a sum sends d to both inputs as it is, a copy adds up what comes from
# its two readers. A factor's gradient is d times the other factor; in a matrix product, keep the order and transpose
# the factor you go round, so that the shapes fit. A bias was used by every row, so all rows' gradients are added in it.

# %% [hint]
# times: `d * b, d * a`. product: `d @ b.T, a.T @ d`. bias: `d, d.sum(axis=0)`. tanh: d times 1 − output². sigmoid: d
# times output·(1 − output). One result is a tuple too: `return (da,)`.

# %% [mistake] shares the gradient out at a sum
# - return d, d
# -
# + return d / 2, d / 2
# +

# %% [mistake] keeps one branch of a copy
# - d[0] + d[1]
# + d[0]

# %% [mistake] averages the branches of a copy
# - d[0] + d[1]
# + (d[0] + d[1]) / 2

# %% [mistake] multiplies each factor's gradient by that factor
# - d * b, d * a
# + d * a, d * b

# %% [mistake] swaps the two gradients of a matrix product
# - d @ b.T, a.T @ d
# + a.T @ d, d @ b.T

# %% [mistake] transposes the gradient of the right factor
# - a.T @ d
# + d.T @ a

# %% [mistake] averages the bias gradient over the minibatch
# - d.sum(axis=0)
# + d.mean(axis=0)

# %% [mistake] forgets to square in the slope of tanh
# - 1 - output**2
# + 1 - output

# %% [mistake] uses tanh's slope for the sigmoid
# - (d * output * (1 - output),)
# + (d * (1 - output**2),)

# %% [mistake] forgets what arrives at a pointwise function
# - d * (1 - output**2)
# + 1 - output**2

# %% [mistake] forgets what arrives at the sigmoid
# - (d * output * (1 - output),)
# + (output * (1 - output),)

# %% [right]
def graph_rules(node, d, inputs, output):
    rules = {
        "sum": lambda: (d.copy(), d.copy()),
        "copy": lambda: (np.add(*d),),
        "times": lambda: (inputs[1] * d, inputs[0] * d),
        "product": lambda: ((inputs[1] @ d.T).T, inputs[0].T.dot(d)),
        "bias": lambda: (d, np.ones(len(d)) @ d),
        "tanh": lambda: (d - d * output * output,),
        "sigmoid": lambda: (d * (output - output**2),),
    }
    return rules[node]()

# %% [right]
def graph_rules(node, d, inputs, output):
    match node:
        case "sum":
            return [d, d]
        case "copy":
            return [sum(d)]
        case "times":
            return [d * other for other in inputs[::-1]]
        case "product":
            a, b = inputs
            return [np.einsum("mn,kn->mk", d, b), np.einsum("mk,mn->kn", a, d)]
        case "bias":
            return [d, np.einsum("mn->n", d)]
        case "tanh":
            return [d * (1 - output) * (1 + output)]
        case "sigmoid":
            return [d * output * (1 - output)]

# %% [variant] scale=2..9
# - | `"times"` | a ∘ b |
# + | `"times"` | {scale} · a ∘ b |
# - d * b, d * a
# + {scale} * d * b, {scale} * d * a
# - d * a, d * b
# + {scale} * d * a, {scale} * d * b
# - (inputs[1] * d, inputs[0] * d)
# + ({scale} * inputs[1] * d, {scale} * inputs[0] * d)
# - [d * other for
# + [{scale} * d * other for
# - A factor's gradient is d times the other factor;
# + A factor's gradient is {scale}·d times the other factor;

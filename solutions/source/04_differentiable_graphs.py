# %% [markdown]
# # 04 · Gradients read off a picture: exercises
#
# Six rules, a cell backward, products counted, a GRU with fewer of them, and its gradient.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(graph_rules)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] graph_rules

# %% [markdown]
# Your rules make a mirror. Below is a step with a shortcut, `h_next = h + tanh(x·W + h·U + c)`, as a list of nodes. The loop walks over them and lets your rule send each node's gradient to its inputs. **Two of its lines are wrong**; a comment marks each. Mend them: in which order must the nodes come, and what is the gradient of a wire that several nodes read? The differences below say when both are right.

# %%
nodes = [  # node, inputs, output
    ("product", ("x", "W"), "xW"),
    ("product", ("h", "U"), "hU"),
    ("sum", ("xW", "hU"), "xW+hU"),
    ("bias", ("xW+hU", "c"), "a"),
    ("tanh", ("a",), "n"),
    ("sum", ("h", "n"), "h_next"),
]
rng = np.random.default_rng(0)
shapes = {"x": (2, 3), "W": (3, 4), "h": (2, 4), "U": (4, 4), "c": (4,)}
start = {wire: rng.standard_normal(shape) for wire, shape in shapes.items()}
forward = {"product": np.matmul, "sum": np.add, "bias": np.add, "tanh": np.tanh}


def values(wires):
    """All wires, from those at the start."""
    wires = dict(wires)
    for node, inputs, output in nodes:
        wires[output] = forward[node](*(wires[wire] for wire in inputs))
    return wires


# %%
rules = use(graph_rules)


def my_mirror(wires, d):
    """{wire: its gradient}, if d arrives at h_next."""
    gradients = {"h_next": d}
    order = nodes  # wrong
    for node, inputs, output in order:
        parts = rules(node, gradients[output], tuple(wires[wire] for wire in inputs), wires[output])
        for wire, part in zip(inputs, parts, strict=True):
            gradients[wire] = part  # wrong
    return gradients


# %%
d = rng.standard_normal((2, 4))
try:
    gradients = my_mirror(values(start), d)
except KeyError as missing:
    print(f"nothing has arrived at {missing} yet: which node has to send to it first?")
    gradients = {}
for wire in start if gradients else ():
    entry, nudged = (0,) * start[wire].ndim, {name: array.copy() for name, array in start.items()}
    nudged[wire][entry] += 1e-6
    slope = (d * (values(nudged)["h_next"] - values(start)["h_next"])).sum() / 1e-6
    found = gradients[wire][entry]
    print(f"d{wire}: {found:8.4f}, by differences {slope:8.4f}", "" if abs(slope - found) < 1e-4 else " WRONG")

# %% [markdown]
# <details><summary>The two lines</summary><code>order = reversed(nodes)</code>, and <code>gradients[wire] = gradients.get(wire, 0) + part</code>. With the first alone, only h is wrong: two nodes read it, and the gradient that arrived last replaced the other one. That loop is what every framework's backward pass is.</details>

# %% [exercise] lstm_backward

# %% [exercise] count_gemms

# %% [markdown]
# Here it is on three cells, at 100 steps, with nothing stacked and with everything stacked.

# %%
cells = {
    "GRU, reset before": (*(("x", f"W_{g}") for g in "rzn"), ("h", "U_r"), ("h", "U_z"), ("r∘h", "U_n")),
    "GRU, reset after": tuple((factor, f"A_{g}") for factor in "xh" for g in "rzn"),
    "LSTM": tuple((factor, f"A_{g}") for factor in "xh" for g in "ifgo"),
}
own_count = use(count_gemms)
for name, step in cells.items():
    calls = [own_count(step, 100, both, both) for both in (False, True)]
    print(f"{name:18} {calls[0]} GEMM calls, stacked {calls[1]}")

# %% [exercise] gru_reset_after

# %% [exercise] gru_backward

# %%
progress("04_differentiable_graphs")

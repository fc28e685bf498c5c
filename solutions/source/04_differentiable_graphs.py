# %% [markdown]
# # 04 · Gradients read off a picture: exercises
#
# Six rules, a cell backward, products counted, a GRU with fewer of them, its gradient, and what to save for it.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(graph_rules)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: graph_rules
#
# <!-- exercise: graph_rules -->
#
# A node reads `inputs` and makes `output`. `d` is the gradient that arrives at its output; send back one gradient for each input.
#
# | node | computes | | node | computes |
# |---|---|---|---|---|
# | `"sum"` | a + b | | `"bias"` | a [B,H] + b [H] |
# | `"copy"` | a, a (`d` is a pair) | | `"tanh"` | tanh(a) |
# | `"times"` | a ∘ b | | `"sigmoid"` | 1/(1 + e⁻ᵃ) |
# | `"product"` | a @ b | | | |
#
# A rule gets only the values it needs. What is saved for nothing arrives as `None`, in `inputs` or as `output`: take that as advice.


# %%
def graph_rules(node, d, inputs, output):
    """The gradients on the inputs of one node, as a tuple: (da, db), or (da,) where there is one input."""
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

# %% [markdown]
# ## Exercise: lstm_backward
#
# <!-- exercise: lstm_backward -->
#
# Read it off this picture: one step of an LSTM and its mirror. Gates are `i, f, g, o [B,H]`, already behind their own functions;
# `c_next = f∘c + i∘g` and `h_next = o∘tanh(c_next)`. Gradients arrive at **both** outputs.
#
# Weights are stacked in PyTorch's order i, f, g, o: `weight_ih [4·H,I]`, `weight_hh [4·H,H]`. The two biases get the same gradient, so one `dbias [4·H]` stands for both.

# %%
from rnnlab.graphs.cells import step_graph
from rnnlab.graphs.draw import side_by_side

side_by_side(step_graph("lstm", 4, 3, 5))


# %%
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    """(dx [B,I], dh [B,H], dc [B,H], dweight_ih [4·H,I], dweight_hh [4·H,H], dbias [4·H]) of one step."""
    ### BEGIN SOLUTION
    tanh_c = np.tanh(c_next)
    dc_total = dc_next + dh_next * o * (1 - tanh_c**2)
    da_i = dc_total * g * i * (1 - i)
    da_f = dc_total * c * f * (1 - f)
    da_g = dc_total * i * (1 - g**2)
    da_o = dh_next * tanh_c * o * (1 - o)
    da = np.concatenate([da_i, da_f, da_g, da_o], axis=1)
    return da @ weight_ih, da @ weight_hh, dc_total * f, da.T @ x, da.T @ h, da.sum(axis=0)
    ### END SOLUTION


# %%
check(lstm_backward)

# %% [markdown]
# ## Exercise: count_gemms
#
# <!-- exercise: count_gemms -->
#
# `step` lists the products of one step as pairs (left factor, weight). The left factor `"x"` is the input; every other one is made inside the loop.
# How many matrix products does the forward pass of `T` steps call?
#
# - `stack_gates`: products of one step that read the same left factor share a call.
# - `stack_time`: what is known for all steps before the loop starts is multiplied once for all of them.


# %%
def count_gemms(step, T, stack_gates, stack_time):
    """The number of GEMM calls, an int; step is a tuple of pairs, such as (("x", "W_h"), ("h", "U_h"))."""
    ### BEGIN SOLUTION
    factors = [factor for factor, weight in step]
    if stack_gates:
        factors = set(factors)
    return sum(1 if stack_time and factor == "x" else T for factor in factors)
    ### END SOLUTION


# %%
check(count_gemms)

# %% [markdown]
# Here it is on three cells, at 100 steps, with nothing stacked and with everything stacked.

# %%
cells = {
    "GRU, reset before": (*(("x", f"W_{g}") for g in "rzn"), ("h", "U_r"), ("h", "U_z"), ("r∘h", "U_n")),
    "GRU, reset after": tuple((factor, f"A_{g}") for factor in "xh" for g in "rzn"),
    "LSTM": tuple((factor, f"A_{g}") for factor in "xh" for g in "ifgo"),
}
count = use(count_gemms)
for name, step in cells.items():
    calls = [count(step, 100, both, both) for both in (False, True)]
    print(f"{name:18} {calls[0]} GEMM calls, stacked {calls[1]}")

# %% [markdown]
# ## Exercise: gru_reset_after
#
# <!-- exercise: gru_reset_after -->
#
# A GRU forward over a whole sequence in **1 + T** calls of `product`, with the reset gate behind its product:
#
# - r, z = σ of (input part + recurrent part); n = tanh(input part + **r∘(h·U_nᵀ + c_n)**); h ← (1−z)∘n + z∘h.
# - `product(a [rows,k], weight [m,k])` gives a·weightᵀ `[rows,m]`. Use it for every matrix product: it counts, and refuses the call after the `1 + T`-th.
# - Besides the states, return what variant 4 keeps: h·U_nᵀ + c_n of every step.
#
# Weights are stacked in the order r, z, n; `c_n` is the last third of `bias_hh`.


# %%
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    """(all states h after the steps [T,B,H], the kept products h·U_nᵀ + c_n [T,B,H]).

    x [T,B,I], h0 [B,H], weight_ih [3·H,I], weight_hh [3·H,H], bias_ih and bias_hh [3·H]
    """
    ### BEGIN SOLUTION
    (T, B, I), H = x.shape, h0.shape[1]
    sigmoid = lambda a: 1 / (1 + np.exp(-a))
    gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)
    h, states, products = h0, [], []
    for x_r, x_z, x_n in (np.split(gates, 3, axis=1) for gates in gates_x):
        h_r, h_z, h_n = np.split(product(h, weight_hh) + bias_hh, 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = np.tanh(x_n + r * h_n)
        h = (1 - z) * n + z * h
        states.append(h)
        products.append(h_n)
    return np.stack(states), np.stack(products)
    ### END SOLUTION


# %%
check(gru_reset_after)

# %% [markdown]
# ## Exercise: gru_backward
#
# <!-- exercise: gru_backward -->
#
# The lesson read the gradient of a GRU that resets **before** its product. Read this one, which resets **after** it.
# `product` is what you kept above, h·U_nᵀ + c_n `[B,H]`; the gates `r, z, n [B,H]` are behind their own functions.
#
# Here the two biases get different gradients. Why? Look where `c_n` enters.

# %%
side_by_side(step_graph("gru_after", 4, 3, 5))


# %%
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    """(dx [B,I], dh [B,H], dweight_ih [3·H,I], dweight_hh [3·H,H], dbias_ih [3·H], dbias_hh [3·H])."""
    ### BEGIN SOLUTION
    da_n = dh_next * (1 - z) * (1 - n**2)
    da_z = dh_next * (h - n) * z * (1 - z)
    da_r = da_n * product * r * (1 - r)
    d_input = np.concatenate([da_r, da_z, da_n], axis=1)
    d_recurrent = np.concatenate([da_r, da_z, da_n * r], axis=1)
    dh = d_recurrent @ weight_hh + dh_next * z
    dweight_ih, dweight_hh = d_input.T @ x, d_recurrent.T @ h
    return d_input @ weight_ih, dh, dweight_ih, dweight_hh, d_input.sum(axis=0), d_recurrent.sum(axis=0)
    ### END SOLUTION


# %%
check(gru_backward)

# %% [markdown]
# ## Exercise: plan_memory
#
# <!-- exercise: plan_memory -->
#
# `sizes` says how many bytes each wire takes, `{name: bytes}`. `extra_flops(saved)` says how many floating-point operations the
# way back spends on making the other wires again, if it finds those of `saved`, a tuple of names.
#
# Find the plan with the least extra work among those that store no more than `limit` bytes; among equals, the one that stores less. No plan is excluded, the empty one included.


# %%
def plan_memory(sizes, extra_flops, limit):
    """The names of the wires to save, a tuple."""
    ### BEGIN SOLUTION
    from itertools import combinations

    stored = lambda saved: sum(sizes[wire] for wire in saved)
    cost = lambda saved: (extra_flops(saved), stored(saved))
    plans = [saved for count in range(len(sizes) + 1) for saved in combinations(sizes, count)]
    return min((saved for saved in plans if stored(saved) <= limit), key=cost)
    ### END SOLUTION


# %%
check(plan_memory)

# %% [markdown]
# Now let it plan a GRU's memory for a step of 64 sequences and 512 units, 131 072 bytes a wire in float32. The input product of all steps is there already. Which wires does it choose where three fit?

# %%
from rnnlab.graphs.mirror import mirror
from rnnlab.graphs.plan import candidates, make_plan

graph = step_graph("gru_after", 64, 512, 512)
reverse, alive = mirror(graph), ("x·W_nᵀ+b_n",)
sizes = {wire: 4 * 64 * 512 for wire in candidates(graph, reverse, alive)}
extra_flops = lambda saved: make_plan(graph, reverse, saved, alive).extra_flops
plan = use(plan_memory)
for wires in range(5):
    saved = plan(sizes, extra_flops, wires * 4 * 64 * 512)
    print(f"{wires} wires: save {', '.join(saved) or 'nothing':22} {extra_flops(saved) / 1e6:6.1f} MFLOP again")

# %%
progress("differentiable_graphs")

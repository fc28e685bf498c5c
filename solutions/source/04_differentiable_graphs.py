# %% [markdown]
# # 04 · Gradients read off a picture: exercises
#
# Six rules, a cell backward, products counted, a GRU with fewer of them, its gradient, and what to save for it.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(graph_rules)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] graph_rules

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
count = use(count_gemms)
for name, step in cells.items():
    calls = [count(step, 100, both, both) for both in (False, True)]
    print(f"{name:18} {calls[0]} GEMM calls, stacked {calls[1]}")

# %% [exercise] gru_reset_after

# %% [exercise] gru_backward

# %% [exercise] plan_memory

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

# %% [markdown]
# # 13 · May it leave the loop? Exercises
#
# Which operations must keep their order, and which of them may leave the loop over time.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(must_wait)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] must_wait

# %% [exercise] leaves_loop

# %% [markdown]
# Your two functions on the LSTM of the lesson, forward and backward. A row of the plan's buffers is one sequence of one step.

# %%
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes

rows_of = lambda regions: [(region.buffer, *region.rows) for region in regions]
for make_plan in (forward_plan, backward_plan):
    plan = fuse_pointwise(group_gates(make_plan("lstm", Sizes(3, 2, 3, 4, 1))))
    operations = []
    for entry in plan.operations:
        is_sum = entry.writes[0].buffer.startswith(("dweight", "dbias"))
        regions = rows_of(entry.writes)
        operations.append((entry.name, rows_of(entry.reads), [] if is_sum else regions, regions if is_sum else []))
    pairs = use(must_wait)(operations)
    free = use(leaves_loop)([name for name, *_ in operations], pairs)
    print(f"{plan.direction}: {len(pairs)} pairs keep their order; may leave: {', '.join(sorted(free))}")

# %%
progress("13_fused_layer")

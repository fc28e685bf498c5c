# %% [markdown]
# # 19 · Capstone: exercises
#
# The gradient of a skip, layers that are recomputed, an interval for a median, and a schedule of your own.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(my_schedule)` shows the first hint, and the next one when you call it again.

# %%
from math import comb

import numpy as np

from rnnlab import check, hint, progress, use

FORWARD, BACKWARD, WEIGHTS = range(3)

# %% [exercise] skip_step_backward

# %% [exercise] segment_lengths

# %% [exercise] median_interval

# %% [exercise] my_schedule

# %% [markdown]
# What your schedule does for a network of 100 layers whose memory holds 704 of its 3,200 activations, and a place on the board: `rnnlab board --add work/19_capstone.ipynb --as YOUR-PSEUDONYM`.

# %%
from rnncourse.capstone.score import PROBLEMS, try_schedule

print(try_schedule(use(my_schedule), PROBLEMS[-2]))

# %%
progress("19_capstone")

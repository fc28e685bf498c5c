# %% [markdown]
# # 03 · Training: exercises
#
# Four pieces make a network learn: the gradient that starts the sweep, a limit on its size, a rule that turns it into
# a step, and the loop around them. Replace each `raise NotImplementedError` by your answer, run the cell, then
# the `check` below it. Stuck? `hint(clip_by_global_norm)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use
from rnnlab.tasks import image_filters

# %% [exercise] cross_entropy_gradient

# %% [exercise] clip_by_global_norm

# %% [markdown]
# Used: three gradients, of which one is far larger than the others. What happens to the small ones?

# %%
one_large = {"bias": np.array([0.03, -0.04]), "weight_ih": np.array([[0.5]]), "weight_hh": np.array([[30.0]])}
clipped = use(clip_by_global_norm)(one_large, limit=1.0)
for name in one_large:
    print(f"{name:9}", one_large[name].ravel(), "->", clipped[name].ravel().round(4))

# %% [exercise] adam_update

# %% [markdown]
# Used: the first update with two gradients that differ by a factor of a million. Compare the two steps.

# %%
zero = np.zeros(2)
weight, *_ = use(adam_update)(zero, np.array([1e-3, 1e3]), zero, zero, 0, 0.01, 0.9, 0.999, 1e-8)
print("the weights moved by", weight)

# %% [exercise] train_filter

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
progress("03_training")

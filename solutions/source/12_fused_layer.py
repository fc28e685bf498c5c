# %% [markdown]
# # 12 · A layer in few kernels: exercises
#
# Weights turned once, input products of several steps, and weight gradients after the loop.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(transpose_once)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: transpose_once
#
# <!-- exercise: transpose_once -->
#
# `multiply(rows, name)` gives rows times weights as they lie. `turn(name)` lays the transposed weights down beside them and returns their name; it costs a pass over all of them. There are the recurrent weights `"U"`, a row for each unit, so that a step needs h·Uᵀ.
#
# `inputs` [T,B,H] are the input products with biases, `h` [B,H] the first state. Return all states [T+1,B,H] of a tanh network, the first included, and turn once.


# %%
def transpose_once(inputs, h, turn, multiply):
    """[T+1,B,H] of h[t+1] = tanh(inputs[t] + h[t]·Uᵀ)."""
    ### BEGIN SOLUTION
    turned = turn("U")
    states = [h]
    for a in inputs:
        states.append(np.tanh(a + multiply(states[-1], turned)))
    return np.stack(states)
    ### END SOLUTION


# %%
check(transpose_once)

# %% [markdown]
# ## Exercise: batch_inputs
#
# <!-- exercise: batch_inputs -->
#
# The same pass from `x` [T,B,I]. `inputs(rows)` multiplies rows [n,I] with the input weights; `step(a, h)` makes the next state [B,H] from a step's input product and the state. Call `inputs` for `k` steps at a time, for the last steps with what is left, and not before the steps of the chunk before have run: their products take memory.


# %%
def batch_inputs(x, h, inputs, step, k):
    """[T+1,B,H], the states from h [B,H] on, with ⌈T/k⌉ calls of inputs."""
    ### BEGIN SOLUTION
    T, B, I = x.shape
    states = [h]
    for first in range(0, T, k):
        chunk = x[first : first + k]
        products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
        for a in products:
            states.append(step(a, states[-1]))
    return np.stack(states)
    ### END SOLUTION


# %%
check(batch_inputs)

# %% [markdown]
# ## Exercise: weight_gradient_after_loop
#
# <!-- exercise: weight_gradient_after_loop -->
#
# The way back of a tanh network. `h` [T+1,B,H] are its states, `dy` [T,B,H] what arrives at each from above. `back(d)` multiplies the gradient of a step's sum [B,H] with U and gives what the step before gets. `gradient(d)` takes the gradients of the sums of **all** steps as rows [T·B,H], step after step, and returns those of W, U and b side by side.
#
# Return what `gradient` returns, called once, and the gradient of the first state.


# %%
def weight_gradient_after_loop(h, dy, back, gradient):
    """(the gradients of all weights, dh of the first state [B,H])"""
    ### BEGIN SOLUTION
    T, B, H = dy.shape
    d, arriving = np.zeros_like(dy), np.zeros_like(dy[0])
    for t in range(T - 1, -1, -1):
        dh = dy[t] + arriving
        d[t] = dh * (1 - h[t + 1] * h[t + 1])
        arriving = back(d[t])
    return gradient(d.reshape(T * B, H)), arriving
    ### END SOLUTION


# %%
check(weight_gradient_after_loop)

# %% [markdown]
# On this machine: one product with all steps against one for each step.

# %%
from rnnlab.bench.turns import take_turns

rng = np.random.default_rng(0)
d, before = rng.normal(size=(50, 16, 512)).astype("float32"), rng.normal(size=(50, 16, 512)).astype("float32")


def step_by_step():
    total = np.zeros((512, 512), "float32")
    for d_t, h_t in zip(d, before, strict=True):
        total += d_t.T @ h_t
    return total


ways = {"a product a step": step_by_step, "one after the loop": lambda: d.reshape(800, 512).T @ before.reshape(800, 512)}
for name, timing in take_turns(ways, 7).items():
    print(f"{name:20} {1e3 * timing.median:6.2f} ms")

# %%
progress("fused_layer")

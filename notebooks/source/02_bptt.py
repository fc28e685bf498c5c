# %% [markdown]
# # 02 · Back through time
#
# **Claim: the exact gradient of a sequence of T steps costs T cell-backwards; walking back from every loss on its own costs T(T+1)/2 and gives the same numbers.**
#
# You will count both, time both, and test gradients in a way that needs no trust.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [01 · a recurrent network runs](01_rnn_forward.ipynb), the chain rule, and matrix products.
# - **Afterwards you can** write back-propagation through time in one sweep, hold any gradient against differences, tell the two kinds of truncation apart, and say when a gradient dies on its way back.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A network with a loss at every step
#
# `T` steps, `B` sequences, `I` inputs, `H` units. Each step has a loss of its own, so a gradient arrives at every output: `dy [T,B,H]`, the gradient of the sum of all losses with respect to `y`. Here `dy` is drawn at random; in lesson 03 it comes from data. Everything is float64, so that what you compare is the algorithm and not the rounding.

# %%
import timeit

import numpy as np

from rnnlab import drawings
from rnnlab import reference
from rnnlab.network import Network
from rnnlab.picture import show

drawings.show("arrows_back")

network = Network.create("rnn_tanh", input_size=8, hidden_size=16, dtype="float64", seed=2)


def problem(T, B=4, seed=0):
    """(x [T,B,I], state, dy [T,B,H]) at random for the network above."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((T, B, network.input_size))
    return x, network.zero_state(B), rng.standard_normal((T, B, network.hidden_size))


# %% [markdown]
# ## 2 · One step backward
#
# A **cell-backward** takes the gradient `dh` that arrives at one state and sends it back through that one step: through tanh, then through the two products, to the step's input, to the state before it, and to the parameters. It is the unit of work of this lesson, and what you will count.
#
# Read it below. The slope of tanh is 1 − tanh², written with the **output** of the step, so the output is all that has to be kept.

# %%
from rnnlab import cells

rnnlab.show_source(cells.POINTWISE_BACKWARD[network.cell])
rnnlab.show_source(cells.backward)

# %% [markdown]
# ### Exercise: the same for ReLU
#
# <!-- exercise: relu_step_backward -->
#
# A well-known text prints the slope of ReLU wrongly. Write it rightly, in [work/02_bptt.ipynb](../work/02_bptt.ipynb).

# %% [markdown]
# ## 3 · Every loss walks back
#
# The loss of step `t` depends on all states up to `t`. The direct way to its gradient starts at step `t` and walks back to step 0, one cell-backward a step, adding up parameter gradients on the way. Do that for every loss and add everything: that is how several tutorials write back-propagation through time.
#
# **Predict:** how many cell-backwards does that take for a sequence of 16 steps? Write your number in the cell, then run it.

# %%
my_guess = 16

x, state, dy = problem(T=16)
quadratic = reference.bptt_quadratic(network, x, state, dy)
print(f"you guessed {my_guess}, counted were {quadratic.cell_backwards}")

# %% [markdown]
# Now let T grow. What happens to the count when T doubles?

# %%
for T in (1, 2, 4, 8, 16, 32):
    x, state, dy = problem(T)
    count = reference.bptt_quadratic(network, x, state, dy).cell_backwards
    print(f"T = {T:2}: {count:3} cell-backwards, T(T+1)/2 = {T * (T + 1) // 2}")

# %% [markdown]
# Twice the steps, nearly four times the work. Where does it go? Move the sliders, or press play. Rows are losses, columns are steps.
#
# **Look for:** in which column does the quadratic sweep work most often, and what differs between two visits to the same column?

# %%
from rnnlab.widgets.sweeps import explore_sweeps

explore_sweeps()

# %% [markdown]
# ## 4 · One walk for all losses
#
# Column 0 is visited T times, each time with the same `x`, the same states, the same weights. Only `dh` differs. And a cell-backward is **linear** in `dh`: for two gradients $u$ and $v$,
#
# $$\text{back}(u) + \text{back}(v) = \text{back}(u + v).$$
#
# So add the gradients *before* the step and walk once. Coming from the right you carry one `dh`; at each step you add that step's own `dy[t]` on arrival. Nothing is left out: this is no approximation.

# %% [markdown]
# ### Exercise: one sweep
#
# <!-- exercise: bptt_linear -->
#
# The quadratic sweep is given there. Turn it into a linear one, in [work/02_bptt.ipynb](../work/02_bptt.ipynb). This is how far you are:

# %%
rnnlab.progress("bptt")

# %% [markdown]
# Here is the course's own linear sweep beside the quadratic one. They add the same terms in another order, so expect differences of the size of float64's rounding, about 1e-16 for a number of size 1, and not exactly zero.

# %%
linear = reference.bptt_linear(network, x, state, dy)
quadratic = reference.bptt_quadratic(network, x, state, dy)
for name, gradient in linear.gradients.items():
    apart = np.linalg.norm(gradient - quadratic.gradients[name]) / np.linalg.norm(gradient)
    print(f"{name:13} relative difference {apart:.1e}")
print(f"T = {len(x)}: {quadratic.cell_backwards} cell-backwards against {linear.cell_backwards}")

# %% [markdown]
# ## 5 · Does the clock agree with the count?
#
# If time goes like $T^p$, then log time over log T is a straight line of slope p. **Predict** p for each sweep before you run the next two cells. Each time is the best of three, since whatever else runs on your machine can only add to it.


# %%
def best_of_three(function, *arguments):
    """The shortest time of three calls, in s."""
    return min(timeit.repeat(lambda: function(*arguments), number=1, repeat=3))


lengths = [16, 32, 64, 128, 256]
sweeps = {"quadratic": reference.bptt_quadratic, "linear": reference.bptt_linear}
problems = [(network, *problem(T)) for T in lengths]
seconds = {name: [best_of_three(sweep, *p) for p in problems] for name, sweep in sweeps.items()}
print(f"T = {lengths[-1]}: " + ", ".join(f"{name} {s[-1] * 1e3:.1f} ms" for name, s in seconds.items()))

# %%
from rnnlab.widgets.powers import figure_powers, powers_in_words

axes = {"xlabel": "sequence length T, steps", "ylabel": "time, s"}
show(figure_powers(lengths, seconds, **axes), powers_in_words("Time in s over T", lengths, seconds))

# %% [markdown]
# ## 6 · Why the exponents are not exactly 2 and 1
#
# T(T+1)/2 is T²/2 **plus** T/2, and both sweeps run once forward as well, which costs T steps. For short sequences the parts that grow with T still show, and pull the fitted exponent of the quadratic sweep below 2. Whatever else keeps your machine busy pulls it either way.
#
# Test that explanation. Take two prices from the *linear* sweep, for a step forward and for a cell-backward, and predict the *quadratic* times from the counts alone.

# %%
T, arguments = lengths[-1], problems[-1]
forward_step = best_of_three(reference.forward, *arguments[:3]) / T
cell_backward = seconds["linear"][-1] / T - forward_step
print(f"one step forward {forward_step * 1e6:.0f} µs")
print(f"one cell-backward {cell_backward * 1e6:.0f} µs")
for T, measured in zip(lengths, seconds["quadratic"], strict=True):
    predicted = T * forward_step + T * (T + 1) / 2 * cell_backward
    print(f"T = {T:3}: predicted {predicted * 1e3:6.1f} ms, measured {measured * 1e3:6.1f} ms")

# %% [markdown]
# ## 7 · Is the gradient right at all?
#
# Two sweeps that agree may both be wrong. A test that shares nothing with either: move one weight by ±ε, look at the loss, and divide. This **central difference** is off by something that shrinks like ε². It needs two whole forward passes for each single weight, so it is a test and not a method.

# %%
x, state, dy = problem(T=12)


def loss_with(weight_hh):
    """The sum of all losses [] with other recurrent weights [H,H]."""
    changed = network.with_parameters(network.parameters | {"weight_hh_l0": weight_hh})
    return float((dy * reference.forward(changed, x, state)[0]).sum())


weight_hh = network.parameters["weight_hh_l0"]
exact = reference.bptt_linear(network, x, state, dy).gradients["weight_hh_l0"]
numeric = reference.numerical_gradient(loss_with, weight_hh, 1e-5)
print(f"relative error {np.linalg.norm(exact - numeric) / np.linalg.norm(numeric):.1e}")
print(f"it took {2 * weight_hh.size} forward passes")

# %% [markdown]
# ### Exercise: write that test
#
# <!-- exercise: gradient_check -->
#
# In [work/02_bptt.ipynb](../work/02_bptt.ipynb) you also hold your own ReLU step against it.

# %% [markdown]
# ## 8 · A test that scales: Taylor
#
# Pick one random direction $v$ and go a distance ε along it. If $g$ is the gradient of $f$ at $w$, what is left,
#
# $$r(\varepsilon) = |\,f(w + \varepsilon v) - f(w) - \varepsilon\, g \cdot v\,|,$$
#
# shrinks like ε². If $g$ is wrong, it shrinks like ε only. That costs one forward pass for each ε, however many weights there are.
#
# **Predict** the two slopes for the exact gradient and for one that is wrong by one part in a hundred.


# %%
def remainders(gradient, direction, steps):
    """r(eps) for every eps in steps, along one direction [H,H]."""
    start, slope = loss_with(weight_hh), (gradient * direction).sum()
    return [abs(loss_with(weight_hh + eps * direction) - start - eps * slope) for eps in steps]


steps = np.logspace(-5, -2, 7)
direction = np.random.default_rng(5).standard_normal(weight_hh.shape)
tested = {"exact gradient": exact, "1 % too large": 1.01 * exact}
left = {name: remainders(gradient, direction, steps) for name, gradient in tested.items()}
axes = {"xlabel": "distance ε", "ylabel": "remainder r(ε)"}
show(figure_powers(steps, left, **axes), powers_in_words("Remainder over ε", steps, left))

# %% [markdown]
# The slope says more than one number would: no tolerance has to be chosen. An error of one part in a hundred, which no plot of a training curve would show, turns slope 2 into slope 1.
#
# **Break it:** change `1.01` to `1.0001` and run the cell again. From which ε on does the wrong gradient give itself away? Then put a minus sign there.

# %% [markdown]
# ## 9 · Two ways to cut a sequence
#
# A sweep over 100 000 steps must keep 100 000 states. So sequences are cut, and the gradient is no longer exact. Two different things are called **truncated** back-propagation:
#
# - a **window**: every loss goes back through the last k steps, and no further;
# - **chunks**: the sequence is cut every k steps, and no gradient crosses a cut.
#
# **Predict:** with k = 3, how many earlier steps does the loss of step 3 reach in each?

# %%
from rnnlab.widgets.truncation import figure_reach, reach_in_words

show(figure_reach(T=8, k=3), reach_in_words(T=8, k=3))

# %% [markdown]
# A window treats all losses alike and pays for it: about k cell-backwards a step. Chunks cost one a step, but the first loss of each chunk reaches one step only. On average, a loss in a chunk sees (k+1)/2 steps.
#
# Read a paper or a library with this in mind: "truncated after k steps" may mean either.

# %% [markdown]
# ### Exercise: chunks
#
# <!-- exercise: bptt_truncated -->
#
# The window is given there; you write the chunks, in [work/02_bptt.ipynb](../work/02_bptt.ipynb).
#
# How far from the exact gradient do the two end up, and at what price? The distance is relative: ‖truncated − exact‖ / ‖exact‖ for the recurrent weights.


# %%
def distance(truncated):
    """Relative distance of a truncated recurrent gradient from the exact one."""
    wanted = full.gradients["weight_hh_l0"]
    return np.linalg.norm(truncated.gradients["weight_hh_l0"] - wanted) / np.linalg.norm(wanted)


sequence = problem(T=48)
full = reference.bptt_linear(network, *sequence)
for k in (1, 2, 4, 8, 16, 48):
    window = reference.bptt_window(network, *sequence, k)
    chunks = reference.bptt_chunked(network, *sequence, k)
    print(
        f"k = {k:2}: window {distance(window):7.2%} off for {window.cell_backwards:4} cell-backwards,"
        f"  chunks {distance(chunks):7.2%} off for {chunks.cell_backwards}"
    )

# %% [markdown]
# At k = 1 both cut everything and agree; at k = T both are exact. In between they are different gradients.
#
# **Break it:** a library says its gradient is exact. Does it truncate? In the Taylor test of section 8, put `reference.bptt_window(network, x, state, dy, 8).gradients["weight_hh_l0"]` in the place of `1.01 * exact`. Which slope do you expect, and with 12 in place of 8?

# %% [markdown]
# ## 10 · What survives the way back
#
# How much does a cut cost? That depends on how much of a gradient would have come through. Each step back multiplies by the recurrent weights and by the slope of tanh, which is at most 1. If the weights shrink vectors, the product over many steps **vanishes**; if they stretch them more than tanh holds them back, it **explodes**.
#
# The **spectral radius** is the largest factor by which a matrix stretches one of its own directions. Move both sliders.

# %%
from rnnlab.widgets.gradient_flow import explore_gradient_flow

explore_gradient_flow()

# %% [markdown]
# **Find out:**
#
# 1. At radius 0.9, after how many steps is a gradient smaller than a thousandth?
# 2. Without tanh, radius 1.0 would keep every gradient at its size. With tanh it does not. Why?
# 3. At which radius does the gradient of step 100 neither vanish nor explode?
#
# The dotted line is float32's rounding: a contribution below it changes nothing when it is added to one of size 1. From there on, exact and truncated are the same number.

# %% [markdown]
# Now test the link between the two. The same network, its recurrent weights scaled to a small and to a large spectral radius, the same window of 8. **Predict:** for which of them does truncation cost more?

# %%
for radius in (0.5, 0.9, 1.2):
    start = Network.create("rnn_tanh", 8, 16, dtype="float64", init="orthogonal", seed=2)
    scaled = start.with_parameters(
        start.parameters | {"weight_hh_l0": radius * start.parameters["weight_hh_l0"]}
    )
    full = reference.bptt_linear(scaled, *sequence)
    off = distance(reference.bptt_window(scaled, *sequence, 8))
    print(f"spectral radius {radius}: a window of 8 is {off:.2%} off")

# %% [markdown]
# Truncation is cheap exactly where the network could not have learnt from the distant past anyway. A network with a long memory needs the long sweep. How gradients vanish and explode *while a network learns*, and what to do about it, is lesson 03.
#
# ## Recap

# %%
T, k = 48, 8
rows = [
    ("walk back from every loss", T * (T + 1) // 2, "yes"),
    ("one sweep", T, "yes"),
    (f"window of {k}", sum(min(t + 1, k) for t in range(T)), "no"),
    (f"chunks of {k}", T, "no"),
]
print(f"{'T = 48':28}cell-backwards   exact")
for name, count, exactly in rows:
    print(f"{name:28}{count:14}   {exactly}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which property of a cell-backward makes one sweep enough?</summary>It is linear in dh: the sum of several gradients can go back at once.</details>
#
# <details><summary>At step t of the sweep, which two gradients meet at h[t+1]?</summary>The one that step t+1 sends back, and dy[t] of the step's own loss.</details>
#
# <details><summary>Why is tanh's slope taken from the output and not from the input of tanh?</summary>1 − h² needs only h, which is kept anyway.</details>
#
# <details><summary>A remainder shrinks with slope 1 in the Taylor test. What do you know?</summary>The gradient is wrong; slope 2 would be right.</details>
#
# <details><summary>Which truncation costs T cell-backwards, and what does it do to the first loss of a chunk?</summary>Chunks; that loss reaches only its own step.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN), report §3.1: carrying the accumulated gradient back, T(T+1)/2 → T, N being the number of time steps.
# - D. Britz, WildML, *RNN tutorial, part 3* (dennybritz/rnn-tutorial-rnnlm): a walk back from every loss, truncated by a window of 4 steps.
# - J. Engel, *Optimizing RNNs with Differentiable Graphs*, 2016 (svail/diff_graphs): slopes written with the output. Its eq. 24 prints ReLU's slope as h; it is 1 where h > 0, else 0.
#
# Next: [03 · Training](03_training.ipynb)

# Course map: back-propagation through time, from O(T²) as tutorials write it to one sweep; gradient checks; two truncations

# %% [markdown]
# # 02 · Back through time
#
# **Claim to test: every step of a sequence has a loss, and each loss depends on all steps before it. Must one go back once for every loss, or is there a cheaper way to exactly the same gradient? How much cheaper?**
#
# A **loss** is a number that says how wrong an answer is, such as the squared error of lesson 01. You will count and time two ways, and you will test gradients without trusting the code that computes them.
#
# - **Time:** 120 minutes, exercises included.
# - **You need:** [01 · A recurrent network runs](01_rnn_forward.ipynb), the chain rule, matrix products, and for section 10 what eigenvalues and orthogonal matrices are.
# - **Afterwards you can** derive and write one step backward, write back-propagation through time in one sweep, compare any gradient with differences, tell the two kinds of truncation apart, and say when a gradient vanishes.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A network with a loss at every step
#
# `T` steps, `B` sequences, `I` inputs, `H` units. Each step has a loss of its own, so a gradient arrives at every output: `dy [T,B,H]`, the gradient of the sum of all losses with respect to `y`. Here `dy` holds random numbers; in lesson 03 it comes from data. Everything except the scoreboard's network is float64: you compare the algorithms, not their rounding. The drawing shows the question of this lesson.

# %%
import numpy as np

from rnncourse import drawings
from rnnlab import reference
from rnncourse.lab.turns import disturbance, take_turns
from rnnlab.network import Network
from rnncourse.figures.picture import show

drawings.show("losses_at_every_step")

network = Network.create("rnn_tanh", input_size=8, hidden_size=16,
                         dtype="float64", seed=2)


def problem(T, B=4, seed=0):
    """Random x [T,B,I], the zero state, and random dy [T,B,H] for the network
    above."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((T, B, network.input_size))
    return (x, network.zero_state(B),
            rng.standard_normal((T, B, network.hidden_size)))


# %% [markdown]
# ## 2 · One step backward
#
# A **cell-backward** takes the gradient `dh` that arrives at one state, and computes from it the gradients of everything that this step was computed from: its input, the state before it, and the parameters.
#
# The forward step is $a = x\,W_{ih}^T + h\,W_{hh}^T + b$ and $h' = \tanh(a)$, where each row of $x [B,I]$, $h [B,H]$ and $a [B,H]$ is one sequence.

# %% [markdown]
# First in numbers: input 2, state 0.1, $W_{ih} = 0.3$, $W_{hh} = -1$ and bias 0.05 give $a = 0.55$ and $h' = 0.5$ (rounded); $dh = 2$ arrives. The slope of tanh there is 1 − 0.5² = 0.75, so $da = 1.5$. Each factor of a product gets 1.5 times the other factor: $dx = 0.45$, $dh_{before} = -1.5$, $dW_{ih} = 3$, $dW_{hh} = 0.15$. The bias is only added: it gets 1.5.
#
# For arrays, the way back takes five lines. For each of them, write down one number of the result first, and then look for the array operation that computes all of them:

# %% [markdown]
# 1. **Through tanh.** If $a$ changes by a little $\delta$, $h'$ changes by $\tanh'(a)\,\delta$, and $\tanh' = 1 - \tanh^2$. So $da = dh \circ (1 - h'^2)$, where ∘ multiplies element by element. This slope needs only the output $h'$, which is saved anyway; $a$ need not be saved.
# 2. **To the input.** $a_{bj} = \sum_i x_{bi}\,W_{ji} + \dots$, so $x_{bi}$ changes every $a_{bj}$, by the factor $W_{ji}$. Add them up over $j$: $dx = da\,W_{ih}$.
# 3. **To the state before.** The same with the recurrent weights: $dh_{before} = da\,W_{hh}$.
# 4. **To the weights.** $W_{ji}$ changes $a_{bj}$ of every sequence $b$, by the factor $x_{bi}$. Add them up over $b$: $dW_{ih} = da^T x$ and $dW_{hh} = da^T h$, with the state **before** the step.
# 5. **To the bias.** $b_j$ is added to $a_{bj}$ of every sequence: $db_j = \sum_b da_{bj}$. The course has two biases that are added; both have this gradient.
#
# The shapes are a test: each gradient has the shape of its array. Here are the five lines as code, compared with the course's own (`backward` in `rnnlab/cells.py`) and with central differences.


# %%
drawings.show("cell_backward")


def tanh_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    """(dx [B,I], dh_before [B,H], dweight_ih [H,I], dweight_hh [H,H], dbias
    [H]) from dh [B,H]."""
    da = dh * (1 - h_after**2)
    return (da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before,
            da.sum(axis=0))


def central_differences(loss, array, eps=1e-5):
    """Gradient of loss() with respect to an array that loss reads: one number
    at a time is moved and put back."""
    numeric = np.empty_like(array)
    for place, number in np.ndenumerate(array):
        array[place] = number + eps
        above = loss()
        array[place] = number - eps
        numeric[place] = (above - loss()) / (2 * eps)
        array[place] = number
    return numeric


# %%
x, *_, dy = problem(T=1)
before = np.random.default_rng(1).uniform(-0.9, 0.9, dy[0].shape)
y, _, saved = reference.forward(network, x, (before[np.newaxis],))
dx, (dbefore,), gradients = reference.backward(network, saved, dy)
course = dx[0], dbefore[0], *(gradients[f"{name}_l0"]
                              for name in ("weight_ih", "weight_hh", "bias_ih"))

weight_ih, weight_hh, *biases = (np.array(part) for part in network.layer(0))
arrays = {"dx": x[0], "dh_before": before, "dweight_ih": weight_ih,
          "dweight_hh": weight_hh, "dbias": sum(biases)}
shift = np.zeros_like(before)  # added to a, so that its gradient is da


def loss():
    """The sum of dy · h', whose gradients are the five results."""
    u, h, W, U, bias = arrays.values()
    return (dy[0] * np.tanh(u @ W.T + h @ U.T + bias + shift)).sum()


step = tanh_step_backward(dy[0], x[0], before, y[0], weight_ih, weight_hh)
print(f"{'':11} largest number   off the course's own   "
      "off central differences")
da = dy[0] * (1 - y[0] ** 2)
off = np.abs(da - central_differences(loss, shift)).max()
print(f"{'da':11} {np.abs(da).max():14.2f} {'-':>22} {off:25.0e}")
for (name, array), own, other in zip(arrays.items(), step, course, strict=True):
    numeric = central_differences(loss, array)
    off = np.abs(own - other).max(), np.abs(own - numeric).max()
    print(f"{name:11} {np.abs(own).max():14.2f} {off[0]:22.0e} {off[1]:25.0e}")

# %% [markdown]
# `da` stands first because the other five are made from it; the cell computes it outside the function, so its row tests the formula of line 1, not the function. **If all five rows below it are off, line 1 of the function is wrong; if one is off, the line that computes it.**
#
# The last column is the test: central differences (section 7) move one number at a time and know no formula of a gradient. Here they are off by 10⁻⁹ at most. A transposed product would be off by as much as the numbers are large; a product that is 1 % too large, by a hundredth of that. The state before the step is random: with a zero state the right $dW_{hh}$ is zero, which hides several mistakes.
#
# **Break it:** write `da @ weight_hh.T` for line 3 and run both cells. Which rows change?
#
# <details><summary>Answer</summary>dh_before alone. The shapes are right, because weight_hh is square; only the comparison finds the mistake.</details>

# %% [markdown]
# ### Exercise: the same for ReLU
#
# <!-- exercise: relu_step_backward -->
#
# A published text prints a wrong slope of ReLU. Write the right one in [work/02_bptt.ipynb](../work/02_bptt.ipynb).
#
# ## 3 · Back from every loss
#
# The loss of step `t` depends on all states up to `t`. The direct way to its gradient starts at step `t` and goes back to step 0 with one cell-backward a step, and adds up the gradients of the parameters. Do that for every loss, and add up all gradients. One well-known tutorial (see Sources) computes it this way, truncated. We call it the **quadratic sweep**.
#
# **Predict:** how many cell-backwards does that take for a sequence of 16 steps? And by what factor does the number grow when T doubles? Write your two numbers in the cell, then run it.

# %%
my_guess, my_factor = ..., ...

for T in (1, 2, 4, 8, 16, 32):
    x, state, dy = problem(T)
    count = reference.bptt_quadratic(network, x, state, dy).cell_backwards
    growth = (f", {count / half:.2f} times those of half the steps" if T > 1
              else "")
    print(f"T = {T:2}: {count:3} cell-backwards{growth}")
    half = count
print(f"your guesses: {my_guess} at T = 16, and a factor of {my_factor}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **136** at T = 16, and twice the steps need nearly four times the work. The loss of step t is followed through t + 1 steps, and 1 + 2 + … + T = T(T+1)/2.
#
# </details>
#
# Where is this work done? The next picture shows it: rows are losses, columns are steps. **Predict**, before you run its cell: if visits to the same column could be merged, how few would be enough for 32 steps?
#
# Then move the sliders, or press play. **Look for:** which column does the quadratic sweep visit most often, and what differs between two visits to the same column?

# %%
from rnncourse.views.sweeps import explore_sweeps

explore_sweeps()

# %% [markdown]
# ## 4 · One sweep for all losses
#
# Column 0 is visited T times, each time with the same `x`, the same states, the same weights. Only `dh` differs. And a cell-backward is **linear** in `dh`: for two gradients $u$ and $v$,
#
# $$\text{back}(u) + \text{back}(v) = \text{back}(u + v).$$
#
# So one visit for each step is enough: **32**, in place of 528. Add the gradients *before* the cell-backward of a step, and go back only once. This **linear sweep** starts at the last step with one `dh`. At each step it adds that step's own `dy[t]` to `dh`, and then calls one cell-backward. The result is not an approximation: every term of the quadratic sweep is in it. Move the slider below the drawing: each visit adds before it goes back.

# %%
drawings.show("arrows_back")

# %% [markdown]
# ### Exercise: one sweep
#
# <!-- exercise: bptt_linear -->
#
# The quadratic sweep is given there. Change it into a linear one, in [work/02_bptt.ipynb](../work/02_bptt.ipynb).
#
# Here is the course's own linear sweep beside the quadratic one. They add the same terms in another order, so expect differences of the size of float64's rounding (about 1e-16 for a number of size 1).
#
# The cell after it times both on the scoreboard's network, forward pass included. A rate counts the FLOP that the gradient needs, so repeated work counts only once. **Predict** the ratio of the two times: the quadratic sweep makes 136 visits there, the linear one 16.

# %%
x, state, dy = problem(T=32)
linear = reference.bptt_linear(network, x, state, dy)
quadratic = reference.bptt_quadratic(network, x, state, dy)
differences = {}
for name, gradient in linear.gradients.items():
    difference = np.linalg.norm(gradient - quadratic.gradients[name])
    differences[name] = difference / np.linalg.norm(gradient)
    print(f"{name:13} relative difference {differences[name]:.1e}")
print(f"T = {len(x)}: {quadratic.cell_backwards} cell-backwards against "
      f"{linear.cell_backwards}")

# %%
from rnncourse import scoreboard

my_guess = ...
given = scoreboard.problem()
sweeps = {
    "training, back from every loss": lambda: reference.bptt_quadratic(*given),
    "training, one sweep back": lambda: reference.bptt_linear(*given),
}
times = scoreboard.measure("02", sweeps, given[0], scoreboard.TRAINING,
                           rounds=3)
slow, fast = (timing.median for timing in times.values())
print(f"your guess {my_guess:.1f}, measured {slow / fast:.1f} times as long")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The ratio is near 8.5 where cell-backwards take most of the time, and smaller where the forward pass, which both ways run once, takes a good part of it.
#
# </details>
#
# ## 5 · Does the clock agree with the count?
#
# If time goes like $T^p$, then log time over log T is a straight line of slope p. **Predict** p for each sweep before you run the next two cells. All measurements take turns, and each time is the shortest of seven: a fit needs undisturbed times, and other programs only make a run longer. If the first line of the output is a warning, run the cell again.

# %%
my_exponents = {"quadratic": ..., "linear": ...}
lengths = [16, 32, 64, 128]
sweeps = {"quadratic": reference.bptt_quadratic,
          "linear": reference.bptt_linear}
problems = {T: (network, *problem(T)) for T in lengths}
runs = {
    f"{name}, T = {T}": (lambda sweep=sweep, T=T: sweep(*problems[T]))
    for name, sweep in sweeps.items()
    for T in lengths
}
runs["forward"] = lambda: reference.forward(*problems[lengths[-1]][:3])
timings = take_turns(runs, rounds=7)
shortest = {name: min(timing.seconds) for name, timing in timings.items()}
seconds = {name: [shortest[f"{name}, T = {T}"] for T in lengths]
           for name in sweeps}
print(disturbance(timings))
print(f"T = {lengths[-1]}: " + ", ".join(f"{name} {s[-1] * 1e3:.1f} ms"
                                         for name, s in seconds.items()))

# %% [folded]
# Draw both times over T, and print their exponents.
from rnncourse.views.powers import (figure_powers, fitted_exponent,
                                    describe_powers)

axes = {"xlabel": "sequence length T, steps", "ylabel": "time, s"}
show(figure_powers(lengths, seconds, **axes),
     describe_powers("Time in s over T", lengths, seconds))
for name, guess in my_exponents.items():
    print(f"{name:9} exponent {fitted_exponent(lengths, seconds[name]):.2f}, "
          f"your guess {guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# T(T+1)/2 is T²/2 **plus** T/2, and both sweeps run once forward as well, which costs T steps. For short sequences the parts that grow like T matter, and make the fitted exponent of the quadratic sweep smaller than 2. Each sweep also has a cost that it pays once, whatever T; it makes the exponent of the linear sweep smaller than 1.
#
# </details>
#
# ## 6 · What the counts predict
#
# Take the time of a step from the forward pass and that of a cell-backward from the *linear* sweep, and predict the *quadratic* times from the counts alone.

# %%
T = lengths[-1]
forward_step = shortest["forward"] / T
cell_backward = seconds["linear"][-1] / T - forward_step
predictions = [T * forward_step + T * (T + 1) / 2 * cell_backward
               for T in lengths]

# %% [folded]
# Print the predictions beside the measured times.
print(f"one step forward {forward_step * 1e6:.0f} µs")
print(f"one cell-backward {cell_backward * 1e6:.0f} µs")
for T, predicted, measured in zip(lengths, predictions, seconds["quadratic"],
                                  strict=True):
    error = measured / predicted - 1
    print(f"T = {T:3}: predicted {predicted * 1e3:6.1f} ms, measured "
          f"{measured * 1e3:6.1f} ms ({error:+.0%})")
print(f"exponent: predicted {fitted_exponent(lengths, predictions):.2f}, "
      f"measured {fitted_exponent(lengths, seconds['quadratic']):.2f}")

# %% [markdown]
# The counts explain the distance from 2 to the predicted exponent. If short sequences take longer than predicted, a cost that the counts leave out, such as starting each loss, matters there and lowers the exponent further. Where a time is more than 30 % off, another program may have used the cores (run sections 5 and 6 again), or the time of a cell-backward depends on the length.

# %% [markdown]
# ## 7 · Is the gradient right at all?
#
# Two sweeps that agree may both be wrong. Here is a test that uses no backward code, only the forward pass, which it trusts: change one weight by +ε and by −ε, and divide the difference of the two losses by 2ε. The error of this **central difference** shrinks like ε². It needs two forward passes for each weight, so it is good for tests but too slow for training.
#
# In float32 the difference of two losses has few correct digits, so test in float64. And at a **kink**, such as ReLU at 0, the two losses lie on different lines, and the difference is not the slope: a few wrong entries near a kink need not be a mistake.

# %%
drawings.show("central_difference")

x, state, dy = problem(T=12)


def loss_with(weight_hh):
    """The sum of all losses [] with other recurrent weights [H,H]."""
    changed = network.with_parameters(network.parameters
                                      | {"weight_hh_l0": weight_hh})
    return float((dy * reference.forward(changed, x, state)[0]).sum())


weight_hh = network.parameters["weight_hh_l0"]
exact = reference.bptt_linear(network, x, state, dy).gradients["weight_hh_l0"]
numeric = reference.numerical_gradient(loss_with, weight_hh, 1e-5)
print("relative error "
      f"{np.linalg.norm(exact - numeric) / np.linalg.norm(numeric):.1e}")
print(f"this needed {2 * weight_hh.size} forward passes")

# %% [markdown]
# ### Exercise: write that test
#
# <!-- exercise: gradient_check -->
#
# In [work/02_bptt.ipynb](../work/02_bptt.ipynb) you also test your own ReLU step with it.
#
# ## 8 · A test that scales: Taylor
#
# Choose one random direction $v$ and go a distance ε along it. If $g$ is the gradient of $f$ at $w$, the remainder
#
# $$r(\varepsilon) = |\,f(w + \varepsilon v) - f(w) - \varepsilon\, g \cdot v\,|$$
#
# shrinks like ε². If $g$ is wrong along $v$, the remainder only shrinks like ε once ε is small enough. This test costs one forward pass for each ε and one for $f(w)$, however many weights there are.
#
# **Predict** the two slopes for the exact gradient and for one that is wrong by one part in a hundred.


# %%
def remainders(gradient, direction, steps):
    """r(eps) for every eps in steps, along one direction [H,H]."""
    start, slope = loss_with(weight_hh), (gradient * direction).sum()
    return [abs(loss_with(weight_hh + eps * direction) - start - eps * slope)
            for eps in steps]


my_slopes = {"exact gradient": ..., "gradient to test": ...}
steps = np.logspace(-5, -2, 7)
direction = np.random.default_rng(5).standard_normal(weight_hh.shape)
gradients = {"exact gradient": exact, "gradient to test": 1.01 * exact}
curves = {name: remainders(gradient, direction, steps)
          for name, gradient in gradients.items()}
axes = {"xlabel": "distance ε", "ylabel": "remainder r(ε)"}
show(figure_powers(steps, curves, **axes),
     describe_powers("Remainder over ε", steps, curves))
for name, guess in my_slopes.items():
    print(f"{name:16} slope {fitted_exponent(steps, curves[name]):.2f}, your "
          f"guess {guess}")
print(f"|g·v| = {abs((exact * direction).sum()):.1f}; for small ε the exact "
      f"r(ε) = {curves['exact gradient'][0] / steps[0]**2:.1f} ε²")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# An error of one part in a hundred changes the slope from about 2 to about 1 here. A smaller error needs a smaller ε.
#
# </details>
#
# **Break it:** change `1.01` to `1.0001` and run the cell again. Below which ε can you see that the gradient is wrong? Then change it to `-1`.
#
# <details><summary>Answer</summary>The wrong part of the remainder is 0.0001·ε·|g·v|, the right part grows like ε². With the two constants that the cell prints, both parts are equal at ε = 10⁻⁴ · 17.0 / 6.7, about 2.5·10⁻⁴. Above it the slope is 2, far below it 1. Here the two parts have opposite signs and cancel near that ε, so the curve has a dip there. With −1 the remainder is about 2·ε·|g·v| everywhere: slope 1 at every ε shown.</details>

# %% [markdown]
# ## 9 · Two ways to cut a sequence
#
# A sweep over 100,000 steps saves 100,000 states, or computes many of them twice. To avoid that, long sequences are often cut, and the gradient is no longer exact. Two different methods are called **truncated** back-propagation:
#
# - a **window**: the gradient of every loss goes back through k steps, its own step included, and no further;
# - **chunks**: the sequence is cut every k steps, and no gradient crosses a cut.
#
# **Predict:** with k = 3, how many steps before step 3 does the loss of step 3 reach with each method?

# %%
my_guess_window, my_guess_chunks = ..., ...

from rnncourse.views.truncation import figure_reach, describe_reach

drawings.show("two_truncations")

show(figure_reach(T=8, k=3), describe_reach(T=8, k=3))
print(f"your guess: window {my_guess_window}, chunks {my_guess_chunks}; right: "
      "window 2, chunks 0")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The window goes back to step 1, two steps before step 3. The second chunk begins with step 3, so there its loss reaches no earlier step.
#
# </details>
#
# A window treats all losses in the same way, at the price of up to k cell-backwards a step. Chunks cost one cell-backward a step, but the first loss of each chunk reaches one step only. On average, a loss in a chunk reaches (k+1)/2 steps. **What a cut saves is memory:** k steps must be saved instead of T. (The course's code keeps all of them.) Compared with one sweep it saves no cell-backwards.
#
# When a paper or a library says "truncated after k steps", it may mean either method, and may or may not count the loss's own step.
#
# ### Exercise: chunks
#
# <!-- exercise: bptt_truncated -->
#
# The window is given there; you write the chunks, in [work/02_bptt.ipynb](../work/02_bptt.ipynb).
#
# How far are both from the exact gradient, and how much do they cost? The distance is relative: ‖truncated − exact‖ / ‖exact‖ for the recurrent weights of this network and random `dy`.


# %%
def distance(truncated):
    """Relative distance of a truncated recurrent gradient from the exact
    one."""
    exact = full.gradients["weight_hh_l0"]
    off = np.linalg.norm(truncated.gradients["weight_hh_l0"] - exact)
    return off / np.linalg.norm(exact)


sequence = problem(T=48)
full = reference.bptt_linear(network, *sequence)
for k in (1, 2, 4, 8, 16, 48):
    window = reference.bptt_window(network, *sequence, k)
    chunks = reference.bptt_chunked(network, *sequence, k)
    print(
        f"k = {k:2}: window {100 * distance(window):7.2g} % off for "
        f"{window.cell_backwards:4} cell-backwards,"
        f"  chunks {100 * distance(chunks):3.2g} % off for "
        f"{chunks.cell_backwards}"
    )

# %% [markdown]
# At k = 1 both cut after every step, so they agree. At k = T both are exact up to rounding.
#
# **Break it:** a library says its gradient is exact. Does it truncate? In the Taylor test of section 8, put `reference.bptt_window(network, x, state, dy, 8).gradients["weight_hh_l0"]` instead of `1.01 * exact`. Which slope do you expect, and which one with 12 instead of 8?
#
# <details><summary>Answer</summary>That sequence has 12 steps. A window of 8 leaves terms out, so the gradient is not exact: slope 1 where ε is small. A window of 12 leaves nothing out: slope 2.</details>

# %% [markdown]
# ## 10 · Which gradients survive the backward pass
#
# How much does a cut cost? That depends on how large the gradient would be on the other side of the cut. Each step back multiplies it by the recurrent weights and by the slope of tanh, which is at most 1. If these factors make vectors shorter, the product over many steps **vanishes**. If the weights stretch vectors more than tanh's slope shrinks them, it **explodes**.
#
# The **spectral radius** of a matrix is the largest absolute value of its eigenvalues. Over many steps it decides whether powers of the matrix grow or shrink. Move both sliders.

# %%
from rnncourse.views.gradient_flow import explore_gradient_flow

explore_gradient_flow()

# %% [markdown]
# **Find out:**
#
# 1. At radius 0.9, after how many steps is a gradient smaller than a thousandth?
# 2. The picture uses orthogonal matrices (matrices that keep the length of every vector) times the radius. Without tanh, radius 1.0 would keep every gradient at its length. With tanh it does not. Why?
# 3. At which radius does a gradient that has gone back 100 steps neither vanish nor explode?
#
# <details><summary>Answers</summary>1. After 49 steps. 2. Each step back also multiplies by the slopes of tanh, and these are below 1 for every unit whose state is not 0. 3. Near 1.15 in this picture: of a gradient of size 1, 0.89 are left after 100 steps. At 1.0 it is 0.0016, at 1.5 it is 480.</details>
#
# The dotted line is float32's rounding: well below it, a single contribution is lost when it is added to a number of size 1.

# %% [markdown]
# (Other matrices of a radius below 1 can first make a vector longer and later shorter.)
#
# The next cell scales the recurrent weights of one network to a small, a medium and a large spectral radius, and truncates with a window of 8. **Predict:** for which radius is the truncated gradient furthest from the exact one?

# %%
my_guess = ...
errors = {}
for radius in (0.5, 0.9, 1.2):
    start = Network.create("rnn_tanh", 8, 16, dtype="float64",
                           init="orthogonal", seed=2)
    scaled = start.with_parameters(
        start.parameters | {"weight_hh_l0": radius
                            * start.parameters["weight_hh_l0"]}
    )
    full = reference.bptt_linear(scaled, *sequence)
    errors[radius] = distance(reference.bptt_window(scaled, *sequence, 8))
    print(f"spectral radius {radius}: a window of 8 is "
          f"{errors[radius]:.2%} off")
print(f"your guess: radius {my_guess}; furthest off: radius "
      f"{max(errors, key=errors.get)}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Radius 1.2 is furthest off, by 11 %; at 0.9 a window of 8 loses 1.5 %, at 0.5 only 0.02 %. Here gradients shrink even at 1.2, unlike in the picture: the inputs are larger, so states are larger and slopes of tanh smaller. Where gradients vanish within the window, truncation changes little, but such a network could not learn from the distant past. Lesson 03 shows how gradients vanish and explode *while a network learns*.
#
# </details>
#
# ## Recap
#
# **T cell-backwards give the exact gradient of a layer over T steps; going back from every loss separately takes T(T+1)/2 of them and gives the same numbers, up to rounding.**

# %% [folded]
# Print the costs, what this run says of the claim, your progress.
T, k = 48, 8
rows = [
    ("back from every loss", T * (T + 1) // 2, T, "yes"),
    ("one sweep", T, T, "yes"),
    (f"window of {k}", sum(min(t + 1, k) for t in range(T)), k, "no"),
    (f"chunks of {k}", T, k, "no"),
]
print(f"{'T = 48':24}cell-backwards   steps to save   exact")
for name, count, steps_to_save, exact_or_not in rows:
    print(f"{name:24}{count:14}{steps_to_save:16}   {exact_or_not}")
T = 32  # section 4
counts = linear.cell_backwards, quadratic.cell_backwards
counts_hold = counts == (T, T * (T + 1) // 2)
holds = counts_hold and max(differences.values()) < 1e-12
print("claim, one sweep is enough:", "holds" if holds else "does NOT hold",
      f"for T = {T}:")
print(f"{quadratic.cell_backwards} against {linear.cell_backwards} "
      "cell-backwards,", end=" ")
print(f"largest relative difference {max(differences.values()):.0e}")
T, ratio = lengths[-1], seconds["quadratic"][-1] / seconds["linear"][-1]
print(f"time: {ratio:.0f} times as long at T = {T} in this run "
      f"(cell-backwards: {(T + 1) / 2:.1f} times)")
if warning := disturbance(timings):
    print(warning)
rnnlab.progress("02_bptt")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which property of a cell-backward makes one sweep enough?</summary>It is linear in dh: the sum of several gradients can go back at once.</details>
#
# <details><summary>At step t of the sweep, which two gradients are added at h[t+1]?</summary>The gradient that the cell-backward of step t+1 returns, and dy[t] of the step's own loss.</details>
#
# <details><summary>Why is tanh's slope taken from the output and not from the input of tanh?</summary>1 − h² needs only h, which is saved anyway.</details>
#
# <details><summary>A remainder shrinks with slope 1 in the Taylor test. What do you know?</summary>The gradient is wrong, unless the function has a kink there. Slope 2 does not prove it right: an error below the ε² part stays hidden.</details>
#
# <details><summary>Which truncation costs T cell-backwards, and what does it do to the first loss of a chunk?</summary>Chunks; that loss reaches only its own step.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN), report §3.1: one sweep that carries the accumulated gradient back, T cell-backwards instead of T(T+1)/2.
# - D. Britz, WildML, *RNN tutorial, part 3* (dennybritz/rnn-tutorial-rnnlm): back from every loss, truncated by a window. Its `bptt_truncate=4` goes back four steps beyond the loss's own, so it is a window of 5 as this lesson counts.
# - A. Karpathy, *Neural networks: zero to hero* (karpathy/nn-zero-to-hero), *Becoming a backprop ninja*: every intermediate gradient compared with autograd's.
# - J. Engel, *Optimizing RNNs with Differentiable Graphs*, 2016 (svail/diff_graphs): slopes written with the output. Its eq. 24 prints ReLU's slope as h; it is 1 where h > 0, else 0.
#
# Next: [03 · Training](03_training.ipynb)

# Course map: step, sequence, minibatch; a network that filters the rows of real photographs

# %% [markdown]
# # 01 · A recurrent network runs
#
# **Claim to test: can a recurrent network learn a filter from examples alone, without its formula, and then draw the edges of a photograph that it has never seen?** The recap prints a verdict.
#
# - **Time:** 85 minutes, exercises included.
# - **You need:** [00 · Start here](00_start_here.ipynb), and what a matrix times a vector is.
# - **Afterwards you can** write a recurrent network's step, run it over a sequence and over a minibatch, set its weights by hand, read from a trained network which filter it has learned, and say what a minibatch saves.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A row of pixels is a sequence
#
# We read a photograph like a scanner: along a row, one pixel a step. So step `t` is a column of the picture. **Sobel's filter** computes, at every step, the newest pixel minus the pixel two steps before: $y_t = x_t - x_{t-2}$. (The full filter is two-dimensional; we use the part that works along a row.) The result is 0 where brightness is constant, and large at an edge. The first two steps have no answer: pictures and errors leave them out. Brightness runs from −0.5 (black) to 0.5 (white), so that mid-grey is 0.
#
# The drawing shows a network that reads such a row: one cell, used again at every step.

# %%
from rnncourse import drawings
from rnnlab.tasks import image_filters

drawings.show("unrolled_network")

photograph = image_filters.whole_photograph("sobel", split="test")
print("x     ", photograph.x.shape, "  steps T (columns), sequences B (rows), "
      "inputs I")
print("target", photograph.target.shape)

# %%
from rnncourse.figures.picture import PALETTE, canvas, show

line = 200  # which row of the photograph
figure, axis = canvas(height=3.2)
axis.imshow(photograph.x[:, :, 0].T, cmap="gray")
axis.axhline(line, color=PALETTE["red"])
axis.set(xlabel="column = step t", ylabel="row = sequence")
show(figure, f"The photograph; the red line is row {line}, which the next "
     "picture shows.")

# %%
row, answer = photograph.x[:, line, 0], photograph.target[:, line, 0]
figure, (above, below) = canvas(2, 1, sharex=True, height=3.2)
above.plot(row, color=PALETTE["black"], linewidth=1)
above.set(ylabel="brightness")
below.plot(range(2, len(answer)), answer[2:], color=PALETTE["blue"],
           linewidth=1)
below.set(ylabel="Sobel's answer", xlabel="step t = column of the photograph")
peak = abs(answer[2:]).max()
finding = "the answer is near 0 where brightness is constant"
show(figure, f"Row {line}: {finding} and reaches {peak:.2f} where it jumps.")

# %% [markdown]
# **Predict.** A network reads one pixel a step and nothing else. To compute $x_t - x_{t-2}$ it must remember something from step to step. How many numbers must it remember at least?
#
# <details><summary>Answer</summary>Two from one step to the next: the last two pixels, one for each of the next two answers. The answer is read from the state, so the state also holds the new pixel: three units. Section 4 sets two units by hand, for a shorter filter; its exercise builds all three.</details>

# %% [markdown]
# ## 2 · One step
#
# A recurrent network remembers its **state** `h [H]`, a vector of H numbers, one for each hidden unit. A step computes the next state from the input `x [I]` and the state:
#
# $$h' = \tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}).$$
#
# The same weights are used at every step. `tanh` is the **activation function**. It keeps each unit between −1 and 1, and it makes the network nonlinear: without it, a whole network would compute only a linear filter plus a constant. The names are PyTorch's: `ih` goes from input to hidden, `hh` from hidden to hidden. The drawings write b for the sum of both biases.

# %%
from rnnlab.network import Network

network = Network.create("rnn_tanh", input_size=1, hidden_size=3, seed=1)
for name, array in network.parameters.items():
    print(f"{name:14}{array.shape}")

# %% [markdown]
# The units are independent within a step: unit j depends on the input through row j of `weight_ih` and on the old state through row j of `weight_hh`. The next cell computes unit 0 alone.

# %%
import numpy as np

drawings.show("step_by_units")

weight_ih, weight_hh, bias_ih, bias_hh = network.layer(0)
x, h = np.array([0.5], np.float32), np.array([0.1, -0.2, 0.3], np.float32)
sum_0 = weight_ih[0] @ x + bias_ih[0] + weight_hh[0] @ h + bias_hh[0]
print(f"unit 0: sum {sum_0:.4f}, next state {np.tanh(sum_0):.4f}")

# %% [markdown]
# ## Exercise: rnn_step
#
# <!-- exercise: rnn_step -->
#
# The next state of all units at once. Two products, two biases, one tanh.
#
# ## 3 · A sequence
#
# A sequence is a loop: each step reads the state that the step before has written. `reference.forward` does this for a whole network, in slow but readable code, with which everything faster is compared.
#
# **Predict.** The input is 1 at step 0 (a flash), and 0 at all later steps. How large is the trace of the flash in the state after step 4: as large as after step 0 (1), gone (0), or something between?

# %%
from rnnlab import reference

my_guess = ...  # the trace after step 4 as a share of that after step 0

flash = np.zeros((12, 1, 1), np.float32)  # x [T,B,I]
flash[0] = 1
grey = np.zeros_like(flash)
with_flash, without = (reference.forward(network, inputs)[0][:, 0]
                       for inputs in (flash, grey))

# %% [folded]
# Draw the trace of the flash, and print what is left of it.
figure, axis = canvas(height=2.6)
for unit in range(3):
    axis.plot(with_flash[:, unit] - without[:, unit], marker="o",
              label=f"unit {unit}")
axis.set(xlabel="after step t", ylabel="h with minus h without flash")
axis.legend(frameon=False)
trace = np.abs(with_flash - without).max(axis=1)
finding = f"The trace of the flash fades: {trace[0]:.2f} after step 0"
show(figure,
     f"{finding}, {trace[4]:.3f} after step 4, {trace[-1]:.5f} at the end.")
print(f"your guess {my_guess}; after step 4 there is "
      f"{trace[4] / trace[0]:.3f} of it left")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The trace fades: after step 4 about one hundredth of it is left. Each step multiplies it by `weight_hh`, and tanh never makes it larger; in the end, a step leaves about 0.4 of it. Other weights keep a trace longer: what a network can remember depends on them. What a network can learn fades in the same way; lessons 02 and 03 measure that.
#
# </details>

# %% [markdown]
# ## Exercise: rnn_forward
#
# <!-- exercise: rnn_forward -->
#
# The loop over a sequence. Its result holds all states `[T+1,H]`, and the first of them is `h0`.
#
# ## 4 · Weights set by hand
#
# Can such a network compute a filter at all, before any training? Take a simpler filter, the difference of neighbours $y_t = x_t - x_{t-1}$, and two units. Unit 0 copies the new pixel. Unit 1 copies the old value of unit 0. The **readout** `weight_out [O,H]` computes the answer from the state: unit 0 minus unit 1.
#
# Instead of tanh this network uses **ReLU** (`rnn_relu`), the function max(a, 0). It does not change numbers ≥ 0, so in this section brightness is counted from black = 0 to white = 1.

# %%
from rnnlab.training.model import Model

drawings.show("shift_register")

empty = Network.create("rnn_relu", input_size=1, hidden_size=2)
by_hand = empty.with_parameters({
    # the pixel goes to unit 0; unit 1 reads unit 0
    "weight_ih_l0": np.array([[1], [0]], np.float32),
    "weight_hh_l0": np.array([[0, 0], [1, 0]], np.float32),
    "bias_ih_l0": np.zeros(2, np.float32),
    "bias_hh_l0": np.zeros(2, np.float32),
})
weight_out = np.array([[1, -1]], np.float32)
difference = Model(by_hand, weight_out, bias_out=np.zeros(1, np.float32))
pixels = np.array([0.1, 0.1, 0.7, 0.7, 0.7, 0.2], np.float32)
print("pixels ", pixels)
answers = difference.predict(pixels[:, np.newaxis, np.newaxis])[0]
print("answers", answers[:, 0, 0].round(2))

# %% [markdown]
# At step 0 there is no pixel before, so the answer is the pixel itself. After that the answers are the jumps, with their signs. `weight_hh` is a **shift**: it moves the content of the state by one unit.
#
# ## Exercise: filter_weights
#
# <!-- exercise: filter_weights -->
#
# Set the weights for any kernel, for example Sobel's (1, 0, −1), without training and without a loop over pixels.
#
# What does each kernel show? Move the three numbers. Try (1, 1, 1), then (1, −2, 1), the Laplacian. Where brightness is constant, what does each of the two answer?
#
# <details><summary>Answer</summary>A constant input c gives c times the sum of the kernel: 3c for (1, 1, 1), which blurs, and 0 for (1, −2, 1), which shows edges only.</details>

# %%
from rnncourse.views.filter_view import explore_filter

explore_filter()

# %% [markdown]
# ## 5 · A minibatch
#
# A photograph has many rows, and the answers of a row need no other row. So we can compute them together: `x [T,B,I]` holds one sequence for each row. At each step two products, one of the inputs x [B,I] and one of the states h [B,H], compute all B rows:
#
# $$h' = \tanh(x\,W_{ih}^T + b_{ih} + h\,W_{hh}^T + b_{hh}).$$
#
# **Predict.** 64 rows can be computed one after another, or as one minibatch. How many times faster is the minibatch? Does the reason of lesson 00 hold for 16 × 16 weights?

# %%
drawings.show("minibatch_in_memory")

# %%
my_guess = ...  # times faster

from rnncourse.lab.turns import disturbance, take_turns
from rnnlab.ladder import one_step_at_a_time

network = Network.create("rnn_tanh", input_size=1, hidden_size=16, seed=1)
rows = np.ascontiguousarray(photograph.x[:, :64])
run = lambda x: one_step_at_a_time.forward(
    network, x, network.zero_state(x.shape[1]))
ways = {
    "one after another": lambda: [run(rows[:, b : b + 1]) for b in range(64)],
    "as a minibatch": lambda: run(rows),
}
timings = take_turns(ways, rounds=3)
print(disturbance(timings))
for way, timing in timings.items():
    print(f"{way:17} {1e3 * timing.median:7.1f} ms")
faster = timings["one after another"].median / timings["as a minibatch"].median
print(f"the minibatch is about {faster:.0f} times faster; your guess: "
      f"{my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The arithmetic is the same. The weights are so few that memory cannot be the reason. What else is saved? The **calls**: in a minibatch, the same few calls of a step serve all rows. A call costs time before its first multiplication: Python looks up names, and NumPy checks shapes and allocates memory for the result.
#
# </details>

# %% [markdown]
# ## Exercise: rnn_forward_batched
#
# <!-- exercise: rnn_forward_batched -->
#
# Compute all sequences at once. The check counts the products: 2 a step are allowed, whatever the size of the minibatch.
#
# ## 6 · Measure
#
# Suppose that each step costs a fixed time for its calls, plus a time for each sequence. Then the time per sequence falls like 1/B at first, and becomes constant when the calls no longer matter. **Look for** the B at which the measured line leaves the dashed one: from there on the time for each sequence is no longer small beside the calls. The last cell adds section 5's comparison, with 256 units, to the scoreboard.

# %%
minibatches = [1, 2, 4, 8, 16, 32, 64, 128, 256]
inputs = {B: np.ascontiguousarray(photograph.x[:, :B]) for B in minibatches}
timings = take_turns({f"B = {B}": (lambda x=x: run(x))
                      for B, x in inputs.items()}, rounds=5)
print(disturbance(timings))
milliseconds = np.array([1e3 * timing.median for timing in timings.values()])
per_sequence = milliseconds / minibatches
only_calls = per_sequence[0] / np.array(minibatches)

# %% [folded]
# Draw the time of one sequence against the minibatch.
figure, axis = canvas()
axis.plot(minibatches, per_sequence, "o-", color=PALETTE["blue"],
          label="measured")
axis.plot(minibatches, only_calls, "--", color=PALETTE["red"],
          label="if only calls cost time")
axis.set(xscale="log", yscale="log", xlabel="minibatch B (sequences)",
         ylabel="ms per sequence")
axis.set_xticks(minibatches, minibatches)
axis.minorticks_off()
axis.yaxis.set_major_formatter("{x:g}")
axis.legend(frameon=False)
left = [B for B, ratio in zip(minibatches, per_sequence / only_calls,
                              strict=True) if ratio > 1.5]
print(f"first more than 1.5 times the dashed line: at B = {left[0]}" if left
      else "near the dashed line at every B")
best = minibatches[per_sequence.argmin()]
finding = (f"A sequence takes {per_sequence[0]:.2f} ms alone, and least in a "
           f"minibatch of {best}")
show(figure, f"{finding}: {per_sequence.min():.3f} ms.")
# %%
from rnncourse import scoreboard

network, x, state, _ = scoreboard.problem()
alone = [np.ascontiguousarray(x[:, b : b + 1]) for b in range(scoreboard.B)]
ways = {
    "forward, one sequence after another": lambda: [
        one_step_at_a_time.forward(network, part, network.zero_state(1))
        for part in alone
    ],
    "forward, all sequences at once": lambda:
        one_step_at_a_time.forward(network, x, state),
}
timings = scoreboard.measure("01", ways, network)
slow, fast = (timing.median for timing in timings.values())
print(f"256 units: all at once is {slow / fast:.1f} times faster; 16 units: "
      f"{faster:.0f} times")

# %% [markdown]
# Where the line in the picture still falls at 256 sequences, calls still count. With 256 units and inputs the minibatch usually gains less: arithmetic and reading weights take a larger part of a step. A minibatch also saves such reads (lesson 00), most where the weights are too large for the caches close to the core. Lessons 05 to 08 ask why most rows on one core stay below 100 %. On a GPU, starting each computation costs time as well: **launch overhead** (lesson 11).

# %% [markdown]
# ## 7 · Learned instead of set
#
# A network with 8 units and tanh starts from random weights. It reads pieces of 32 pixels from rows of *china.jpg*, with Sobel's answers, and training changes its weights to make the mean squared error smaller. Lessons 02 and 03 explain training; here it is one call.
#
# **Predict.** The **baseline** is the error of an answer that is always the mean. By what factor will the network's error on the *other* photograph be smaller after 600 updates of the weights?

# %%
my_guess = ...
from rnnlab.training.loop import fit
from rnnlab.training.model import evaluate
from rnnlab.training.optimisers import Adam

task = image_filters.task("sobel", steps=32)
fresh = Model.create("rnn_tanh", input_size=1, hidden_size=8, output_size=1,
                     seed=0)
trained, history = fit(fresh, task, Adam(learning_rate=0.003), steps=600,
                       batch=32, seed=0)
error = evaluate(trained, task)
print(f"baseline {task.baseline.value:.2e}  ({task.baseline.what})")
print(f"trained  {error:.2e}  ({task.baseline.value / error:.0f} times lower, "
      f"on flower.jpg; your guess: {my_guess})")

# %%
batch = task.held_out
prediction = trained.predict(batch.x)[0]
show(task.picture(prediction, batch), task.alt(prediction, batch))

# %% [markdown]
# Which filter has the network learned? Use an input like that of section 3: one flash, then zeros. For a filter, the answers to a flash of size 1 *are* the kernel, one number a step. This is its **impulse response**. The network is not linear, so we use a small flash, 0.1, and divide by 0.1. Biases answer, too, so we subtract the answers without a flash.

# %%
flash = np.zeros((8, 2, 1), np.float32)  # sequence 0 stays mid-grey
flash[0, 1] = 0.1
answers_to = lambda model: model.predict(flash)[0][:, :, 0]
impulse_response = lambda model: np.diff(answers_to(model))[:, 0] / 0.1
sobel, learned = np.array([1, 0, -1, 0, 0, 0, 0, 0]), impulse_response(trained)

# %% [folded]
# Draw the impulse responses.
figure, axis = canvas(height=2.8)
step = np.arange(8)
axis.bar(step - 0.25, sobel, 0.25, color=PALETTE["black"], label="Sobel")
axis.bar(step, learned, 0.25, color=PALETTE["blue"], label="trained")
axis.bar(step + 0.25, impulse_response(fresh), 0.25, color=PALETTE["orange"],
         hatch="//", label="fresh")
axis.set(xlabel="steps after the flash", ylabel="answer / flash")
axis.legend(frameon=False)
print("trained:", learned.round(2))
worst = np.abs(learned - sobel).max()
show(figure, "The trained network's impulse response differs from 1, 0, -1, "
     f"0, … by at most {worst:.2f}.")

# %% [markdown]
# The formula $x_t - x_{t-2}$ made the examples; the network and its training see only the examples.
#
# Now the whole photograph, which was not used in training: 640 steps (the training sequences had 32), and all 427 rows as one minibatch.

# %% [folded]
# Draw what the trained network sees, beside Sobel's edges.
drawn = trained.predict(photograph.x)[0][:, :, 0].T  # [rows,columns]
figure, axes = canvas(1, 2, width=7.4, height=2.9)
wanted = photograph.target[:, :, 0].T
titles = "Sobel's filter", "trained network"
for axis, picture, title in zip(axes, (wanted, drawn), titles, strict=True):
    axis.imshow(picture[:, 2:], cmap="gray", vmin=-0.3, vmax=0.3)
    axis.set_title(title, loc="left")
    axis.set_axis_off()
rms = np.sqrt(np.mean((drawn - wanted)[:, 2:] ** 2))
finding = f"The two drawings differ by {rms:.4f} (root mean square)"
size = np.sqrt(np.mean(wanted[:, 2:] ** 2))
show(figure, f"{finding}; the right answers have a root mean square of "
     f"{size:.4f}.")

# %% [markdown]
# ## 8 · Break it
#
# Sobel's filter is linear: twice the contrast gives twice the answer. tanh is not linear. **Predict:** how wrong will the trained network be if the contrast of the photograph is multiplied by 2, by 5, by 10? How wrong will the network of section 4 be, whose weights were set by hand? It computes the difference of neighbours, so each network is compared with its own filter.

# %%
rows = photograph.x[:, ::8]
target = photograph.target[2:, ::8]
light = rows + np.float32(0.5)  # black = 0, for the ReLU network set by hand
norm = np.linalg.norm
relative = lambda answers, right: norm(answers - right) / norm(right)
my_guess = ...  # % wrong at contrast 10, trained
errors = {}
for contrast in (0.1, 1, 2, 5, 10):
    answers = trained.predict(rows * np.float32(contrast))[0][2:]
    errors[contrast] = relative(answers, target * contrast)
    by_hand_answers = difference.predict(light * np.float32(contrast))[0][1:]
    by_hand_error = relative(by_hand_answers, np.diff(light, axis=0) * contrast)
    print(f"contrast × {contrast:<4}: trained {errors[contrast]:6.1%} wrong, "
          f"by hand {by_hand_error:6.1%}")
    level = np.full((20, 2, 1), 0.5 * contrast, np.float32)  # a white area
    level[:, 1] *= -1  # and a black one
    white, black = trained.predict(level)[0][-1, :, 0]
    flat = np.mean(abs(reference.forward(trained.network, level)[0][-1]) > 0.9)
    print(f"{'':7} level areas: white {white:6.3f}, black {black:6.3f} (Sobel "
          f"0); |h| > 0.9 in {flat:.0%} of values")
print(f"your guess for the trained network at contrast 10: {my_guess}%")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In our runs the trained network was 5 % wrong at contrast 1, about 30 % at 0.1 and at 2, and at 10 more than 200 %; an answer of zeros is 100 % wrong. The network set by hand stays at 0.0 %: its pictures are scaled from black = 0, so its ReLU never gets a negative number, and it computes a linear function.
#
# At low contrast, a small constant error of the trained network is large beside its answers. At high contrast, units leave the part of tanh that is nearly straight; at 10, many are near its flat ends. In a level area their contributions to the answer must cancel, and training made them cancel only for the brightness that it saw. So bright and dark areas, where the answer should be 0, get large answers. A low error on such pictures says little about larger or smaller inputs.
#
# </details>
#
# ## Recap
#
# **A recurrent network that is trained on rows of one photograph learns Sobel's filter (1, 0, −1), for pictures of that contrast, from examples alone, and draws the edges of a photograph that it has never seen.**

# %% [folded]
# Print what this run says of the claim, and your progress.
from rnnlab.network import parameter_count

print("network    cell       units   parameters*  impulse response")
for name, model in (("by hand", difference), ("fresh", fresh),
                    ("trained", trained)):
    network, response = model.network, impulse_response(model)[:4].round(2)
    print(f"{name:11}{network.cell:9}{network.hidden_size:7}"
          f"{parameter_count(network):13}   {response}")
print("* without those of the readout")
print(f"minibatch: about {faster:.0f} times faster than one row after another")
holds = (worst < 0.15 and error < task.baseline.value / 10
         and rms < size / 5)
print("claim:", "holds" if holds else "does NOT hold", "in this run:")
print(f"  largest error of the kernel {worst:.2f} (at most 0.15)")
print(f"  error {task.baseline.value / error:.0f} times lower than the "
      "baseline (at least 10)")
print(f"  drawing {rms / size:.0%} off (less than 20%)")
rnnlab.progress("01_rnn_forward")

# %% [markdown]
# ## Recall
#
# <details><summary>Which shapes do x, h and y have for a minibatch of sequences?</summary>x [T,B,I]; all states h [T+1,B,H], the first of them h0; y [T,B,H].</details>
# <details><summary>Why does the matrix stand on the left for one vector, and transposed on the right for a minibatch?</summary>W x has one result for each row of W. If each row of X is one sequence, X Wᵀ holds the same sums, one row for each sequence.</details>
# <details><summary>What does weight_hh do in the network set by hand?</summary>It shifts the state by one unit, so that unit k holds the pixel of k steps ago.</details>
# <details><summary>Name two things that a minibatch saves.</summary>Calls, whose cost does not depend on the size; and reading the weights again for each sequence.</details>
# <details><summary>How can you read from a trained network which filter it has learned?</summary>From its impulse response: the answers to a single small flash.</details>

# %% [markdown]
# ## Sources
#
# - Filters along the rows of a picture as a first task for a recurrent network: B. Han, E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 project (eknight7/ParallelRNN).
# - A recurrent network whose state goes from step to step: J. Elman, *Finding Structure in Time*, Cognitive Science 14 (1990).
# - The photographs: china.jpg by danielbuechele and flower.jpg by vultilion, both CC BY 2.0.
#
# Next: [02 · Back through time](02_bptt.ipynb)

# %% [markdown]
# # 01 · A recurrent network runs
#
# **Claim: a recurrent network that has seen nothing but rows of one photograph, with the right answers, finds Sobel's filter (1, 0, −1) by itself, and draws the edges of a photograph it has never seen.**
#
# - **Time:** 75 minutes, exercises included.
# - **You need:** [00 · Start here](00_start_here.ipynb), and what a matrix times a vector is.
# - **Afterwards you can** write a recurrent network's step, run it over a sequence and over a minibatch, set its weights by hand, read from a trained network which filter it has learned, and say what a minibatch saves.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · A row of pixels is a sequence
#
# We read a photograph the way a scanner does: along a row, one pixel a step. So step `t` is a column of the picture. **Sobel's filter** answers, at every step, with the newest pixel minus the one two steps before: $y_t = x_t - x_{t-2}$. It is 0 where brightness is level and large at an edge.

# %%
from rnnlab import drawings
from rnnlab.tasks import image_filters

drawings.show("unrolled_network")

photograph = image_filters.whole_photograph("sobel", split="test")
print("x     ", photograph.x.shape, "  steps T (columns), sequences B (rows), inputs I")
print("target", photograph.target.shape)

# %%
from rnnlab.picture import PALETTE, canvas, show

line = 200  # which row of the photograph
row, answer = photograph.x[:, line, 0], photograph.target[:, line, 0]
figure, (above, below) = canvas(2, 1, sharex=True, height=3.2)
above.plot(row, color=PALETTE["black"], linewidth=1)
above.set(ylabel="brightness")
below.plot(answer[2:], color=PALETTE["blue"], linewidth=1)
below.set(ylabel="Sobel's answer", xlabel="step t = column of the photograph")
peak = abs(answer[2:]).max()
finding = "the answer is near 0 where brightness is level"
show(figure, f"Row {line}: {finding} and reaches {peak:.2f} where it jumps.")

# %% [markdown]
# **Predict.** A network sees one pixel a step and nothing else. To answer with $x_t - x_{t-2}$ it must carry something from step to step. How many numbers at least must it carry?
#
# <details><summary>Answer</summary>Two are enough from one step to the next: the last pixel and the one before it. With the new pixel that makes three. You will build exactly this by hand in section 4.</details>

# %% [markdown]
# ## 2 · One step
#
# What a recurrent network carries is its **state** `h [H]`, a vector of H numbers, one for each hidden unit. A step turns the input `x [I]` and the state into the next state:
#
# $$h' = \tanh(W_{ih}\,x + b_{ih} + W_{hh}\,h + b_{hh}).$$
#
# The same weights serve at every step. `tanh` keeps each unit between −1 and 1. The names are PyTorch's: `ih` goes from input to hidden, `hh` from hidden to hidden.

# %%
from rnnlab.network import Network

network = Network.create("rnn_tanh", input_size=1, hidden_size=3, seed=1)
for name, array in network.parameters.items():
    print(f"{name:14}{array.shape}")

# %% [markdown]
# The units are independent within a step: unit j reads the input through row j of `weight_ih`, the old state through row j of `weight_hh`, and nothing else. Here is unit 0, worked out on its own. All three are your first exercise.

# %%
import numpy as np

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

# %% [markdown]
# ## 3 · A sequence
#
# A sequence is a loop: each step reads the state that the step before has left. `reference.forward` does this for a whole network, slowly and readably; everything faster in this course is compared with it.
#
# **Predict.** One bright pixel at step 0, then only zeros. What happens to the state: does it stay, fade, or jump back to zero at step 1?

# %%
from rnnlab import reference

flash = np.zeros((12, 1, 1), np.float32)  # x [T,B,I]
flash[0] = 1
dark = np.zeros_like(flash)
with_flash, without = (reference.forward(network, x)[0][:, 0] for x in (flash, dark))
figure, axis = canvas(height=2.6)
for unit in range(3):
    axis.plot(with_flash[:, unit] - without[:, unit], marker="o", label=f"unit {unit}")
axis.set(xlabel="step t", ylabel="h with minus h without flash")
axis.legend(frameon=False)
left = np.abs(with_flash - without).max(axis=1)
finding = f"The trace of the flash fades: {left[0]:.2f} at step 0"
show(figure, f"{finding}, {left[4]:.3f} at step 4, {left[-1]:.5f} at the end.")

# %% [markdown]
# The flash leaves a trace that fades. How long it lasts is a matter of `weight_hh`: at every step the trace is multiplied by it, and shrunk once more by tanh. What a network can remember, and for how long, is decided there. Lesson 03 comes back to this, when gradients fade in the same way.

# %% [markdown]
# ## Exercise: rnn_forward
#
# <!-- exercise: rnn_forward -->
#
# The loop over a sequence, with all its states `[T+1,H]`: the given one first.

# %%
rnnlab.progress("rnn_forward")

# %% [markdown]
# ## 4 · Weights set by hand
#
# Before any training: can such a network filter at all? Take a simpler filter, the difference of neighbours $y_t = x_t - x_{t-1}$, and two units. Unit 0 copies the new pixel. Unit 1 copies what unit 0 held before. The **readout** `weight_out [O,H]` answers with unit 0 minus unit 1.
#
# In place of tanh we take `rnn_relu`: it leaves numbers ≥ 0 as they are, and brightness can be counted from black = 0.

# %%
from rnnlab.training.model import Model

by_hand = Network.create("rnn_relu", input_size=1, hidden_size=2).with_parameters({
    "weight_ih_l0": np.array([[1], [0]], np.float32),  # the pixel goes to unit 0
    "weight_hh_l0": np.array([[0, 0], [1, 0]], np.float32),  # unit 1 reads unit 0
    "bias_ih_l0": np.zeros(2, np.float32),
    "bias_hh_l0": np.zeros(2, np.float32),
})
weight_out = np.array([[1, -1]], np.float32)
difference = Model(by_hand, weight_out, bias_out=np.zeros(1, np.float32))
pixels = np.array([0.1, 0.1, 0.7, 0.7, 0.7, 0.2], np.float32)
print("pixels ", pixels)
print("answers", difference.predict(pixels[:, None, None])[0][:, 0, 0].round(2))

# %% [markdown]
# The answer is the pixel itself at step 0, where nothing came before, and then the jumps, with their signs. `weight_hh` is a **shift**: it moves the content of the state by one unit.
#
# ## Exercise: filter_weights
#
# <!-- exercise: filter_weights -->
#
# Set the weights for any kernel, Sobel's (1, 0, −1) among them. No training, no loop.

# %% [markdown]
# Which kernel shows what? Move the three numbers. Try (1, 1, 1), then (1, −2, 1), the Laplacian, and watch what becomes of the level background.

# %%
from rnnlab.widgets.filter_view import explore_filter

explore_filter()

# %% [markdown]
# ## 5 · A minibatch
#
# A photograph is many rows, and no row needs another. So we can run them all side by side: `x [T,B,I]` with one sequence for each row. At each step a single product then serves all B rows.
#
# **Predict.** 64 rows one after another, or 64 rows as one minibatch: how many times faster is the minibatch? Lesson 00 gave you one reason. Write your number down.

# %%
guess = 10  # times faster: put your own number here

# %%
import timeit

from rnnlab.ladder import one_step_at_a_time

network = Network.create("rnn_tanh", input_size=1, hidden_size=16, seed=1)
rows = np.ascontiguousarray(photograph.x[:, :64])
run = lambda x: one_step_at_a_time.forward(network, x, network.zero_state(x.shape[1]))
run_each = lambda: [run(rows[:, b : b + 1]) for b in range(64)]
one_after_another = min(timeit.repeat(run_each, number=1, repeat=3))
together = min(timeit.repeat(lambda: run(rows), number=1, repeat=3))
faster = one_after_another / together
print(f"one after another {1e3 * one_after_another:7.1f} ms")
print(f"as a minibatch    {1e3 * together:7.1f} ms, {faster:.0f} times faster; your guess was {guess}")

# %% [markdown]
# The arithmetic is the same. And the weights are tiny, 16 × 16 numbers, so memory cannot be the reason this time. What else is saved?
#
# Count the **calls**. One after another, NumPy is called for every step of every row; as a minibatch, once for every step. A call costs time before its first multiplication: Python looks up names, NumPy checks shapes and makes room for the result.

# %% [markdown]
# ## Exercise: rnn_forward_batched
#
# <!-- exercise: rnn_forward_batched -->
#
# All sequences at once. The products are counted: 2 a step, whatever the size of the minibatch.

# %% [markdown]
# ## 6 · Measure
#
# If each step costs a fixed time for its calls, plus a share for each sequence, then time per sequence falls like 1/B at first and levels off when the share is all that is left. Where does your machine level off?

# %%
minibatches = [1, 2, 4, 8, 16, 32, 64, 128, 256]
milliseconds = []
for B in minibatches:
    rows = np.ascontiguousarray(photograph.x[:, :B])
    runs = timeit.repeat("run(rows)", globals=globals(), number=1, repeat=5)
    milliseconds.append(1e3 * min(runs))
each = np.array(milliseconds) / minibatches
only_calls = each[0] / np.array(minibatches)
figure, axis = canvas()
axis.plot(minibatches, each, "o-", color=PALETTE["blue"], label="measured")
axis.plot(minibatches, only_calls, "--", color=PALETTE["red"], label="if only calls cost time")
axis.set(xscale="log", yscale="log", xlabel="minibatch B (sequences)", ylabel="ms for each")
axis.set_xticks(minibatches, minibatches)
axis.minorticks_off()
axis.yaxis.set_major_formatter("{x:g}")
axis.legend(frameon=False)
best = minibatches[each.argmin()]
finding = f"Time for each sequence falls from {each[0]:.2f} ms alone"
show(figure, f"{finding} to {each.min():.3f} ms among {best}.")

# %%
T = len(rows)
microseconds = 1e3 * np.array(milliseconds) / T  # a step
share, calls = np.polyfit(minibatches, microseconds, deg=1, w=1 / microseconds)
print(f"a step costs about {calls:.1f} µs for its calls, and {1e3 * share:.0f} ns for each sequence")
print(f"both are equal at a minibatch of {calls / share:.0f}")

# %% [markdown]
# So a minibatch saves twice: calls while the network is small, and trips to memory for the weights once it is large, as in lesson 00. On a GPU the first part is called **launch overhead**. Lesson 10 makes it visible on a timeline.

# %% [markdown]
# ## 7 · Learned instead of set
#
# Now the claim. A network with 8 units and tanh starts from random weights. It sees stretches of 32 pixels from rows of *china.jpg*, with Sobel's answers, and changes its weights to lower the mean squared error. How training works is lessons 02 and 03; here it is one call.
#
# **Predict.** The task's baseline always gives the mean answer. By what factor will the error on the *other* photograph lie below it after 600 steps: 2, 10, 100?

# %%
from rnnlab.training.loop import fit
from rnnlab.training.model import evaluate
from rnnlab.training.optimisers import Adam

task = image_filters.task("sobel", steps=32)
fresh = Model.create("rnn_tanh", input_size=1, hidden_size=8, output_size=1, seed=0)
trained, history = fit(fresh, task, Adam(learning_rate=0.003), steps=600, batch=32, seed=0)
error = evaluate(trained, task)
print(f"baseline {task.baseline.value:.2e}  ({task.baseline.what})")
print(f"trained  {error:.2e}  ({task.baseline.value / error:.0f} times lower, on flower.jpg)")

# %%
batch = task.held_out
prediction = trained.predict(batch.x)[0]
show(task.picture(prediction, batch), task.alt(prediction, batch))

# %% [markdown]
# Good answers, but which filter has it learned? Ask it the question of section 3: one small flash, then nothing. For a filter, the answers to a flash of size 1 *are* the kernel, one number a step. This is its **impulse response**. We take a flash of 0.1, divide by 0.1, and subtract what the network answers without a flash.

# %%
flash = np.zeros((8, 2, 1), np.float32)  # sequence 0 stays dark, sequence 1 has the flash
flash[0, 1] = 0.1
impulse_response = lambda model: np.diff(model.predict(flash)[0][:, :, 0])[:, 0] / 0.1
sobel, learned = np.array([1, 0, -1, 0, 0, 0, 0, 0]), impulse_response(trained)
figure, axis = canvas(height=2.8)
step = np.arange(8)
axis.bar(step - 0.25, sobel, 0.25, color=PALETTE["black"], label="Sobel")
axis.bar(step, learned, 0.25, color=PALETTE["blue"], label="trained")
axis.bar(step + 0.25, impulse_response(fresh), 0.25, color=PALETTE["orange"], hatch="//", label="fresh")
axis.set(xlabel="steps after the flash", ylabel="answer / flash")
axis.legend(frameon=False)
print("trained:", learned.round(2))
worst = np.abs(learned - sobel).max()
show(figure, f"The trained network answers a flash with 1, 0, -1, then nothing, to within {worst:.2f}.")

# %% [markdown]
# Nobody told the network about $x_{t-2}$. It found out what to remember, and to forget everything older, from examples alone.
#
# Now the whole photograph, which it has never seen: 640 steps, although it was trained on 32, and all 427 rows as one minibatch.

# %%
drawn = trained.predict(photograph.x)[0][:, :, 0].T  # [rows,columns]
figure, axes = canvas(1, 2, width=7.4, height=2.9)
wanted = photograph.target[:, :, 0].T
titles = "Sobel's filter", "trained network"
for axis, picture, title in zip(axes, (wanted, drawn), titles, strict=True):
    axis.imshow(picture[:, 2:], cmap="gray", vmin=-0.3, vmax=0.3)
    axis.set_title(title, loc="left")
    axis.set_axis_off()
apart = np.sqrt(np.mean((drawn - wanted)[:, 2:] ** 2))
finding = f"The two drawings look alike: {apart:.4f} apart"
show(figure, f"{finding} (root mean square), on a scale from -1 to 1.")

# %% [markdown]
# ## 8 · Break it
#
# Sobel's filter is linear: twice the contrast gives twice the answer. tanh is not. **Predict:** what becomes of the trained network if the contrast of the photograph is multiplied by 2, by 5, by 10? And of your weights from `filter_weights`?

# %%
rows = photograph.x[:, ::8]
target = photograph.target[2:, ::8]
for contrast in (0.1, 1, 2, 5, 10):
    wrong_by = trained.predict(rows * np.float32(contrast))[0][2:] - target * contrast
    relative = np.linalg.norm(wrong_by) / np.linalg.norm(target * contrast)
    print(f"contrast × {contrast:<4}: wrong by {100 * relative:5.1f} % of the right answers")

# %% [markdown]
# At low contrast the constant offset that the network has left over weighs more; at high contrast units reach the flat ends of tanh, and what lies beyond looks all the same to them. A network is only known where it was trained. The linear one, set by hand, is right at every contrast.

# %% [markdown]
# ## Recap

# %%
from rnnlab.network import parameter_count

print("network    cell       units   parameters   answer to a flash")
for name, model in (("by hand", difference), ("fresh", fresh), ("trained", trained)):
    network, response = model.network, impulse_response(model)[:4].round(2)
    print(f"{name:11}{network.cell:9}{network.hidden_size:7}{parameter_count(network):13}   {response}")
print(f"minibatch: {faster:.0f} times faster than 64 rows one after another")
holds = worst < 0.15 and error < task.baseline.value / 10
print("claim:", "holds" if holds else "does NOT hold", "in this run")

# %% [markdown]
# ## Recall
#
# <details><summary>Which shapes have x, h and y for a whole minibatch of sequences?</summary>x [T,B,I], all states h [T+1,B,H] with the given one first, y [T,B,H].</details>
# <details><summary>Why does the matrix stand on the left for one vector, and transposed on the right for a minibatch?</summary>W x has one result for each row of W. With one sequence in each row of X, X Wᵀ holds the same sums, one sequence a row.</details>
# <details><summary>What does weight_hh do in the network set by hand?</summary>It shifts the state by one unit, so that unit k holds the pixel of k steps ago.</details>
# <details><summary>Name two things that a minibatch saves.</summary>Calls, whose cost does not depend on the size; and reading the weights again for each sequence.</details>
# <details><summary>How can you read from a trained network which filter it has learned?</summary>From its impulse response: the answers to a single small flash.</details>

# %% [markdown]
# ## Sources
#
# - Filters along the rows of a picture as a first problem for a recurrent network: B. Han, E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 project (eknight7/ParallelRNN).
# - A recurrent network with tanh and its state carried from step to step: J. Elman, *Finding Structure in Time*, Cognitive Science 14 (1990).
# - The photographs come with scikit-learn: china.jpg and flower.jpg.
#
# Next: [02 · Back through time](02_bptt.ipynb)

# %%
rnnlab.progress("rnn_forward")

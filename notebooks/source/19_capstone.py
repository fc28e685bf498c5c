# Course map: a residual RNN of 100 layers; recomputation; a schedule of your own, judged by a lower bound; a board

# %% [markdown]
# # 19 · Capstone
#
# **Claim to test: a hundred layers can be trained with a fifth of their activations in memory, for at most 40 % more time. Can they?**
#
# You have built every part: cells, gradients, schedules, kernels, ranks. Now you put them together: a network of 100 layers, made trainable by skips, made to fit by recomputation, and a schedule of your own that a model judges. You end with one page of prediction and measurement. The recap tests the claim.
#
# - **Time:** 190 minutes, exercises included.
# - **You need:** [03 · Training](03_training.ipynb), [04 · Gradients read off a picture](04_differentiable_graphs.ipynb), [14 · Do four layers take four times as long?](14_network_schedule.ipynb). No GPU.
# - **Afterwards you can** train very deep RNNs, choose what to recompute, schedule a training pass within a memory budget, and report a measurement with its interval.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# A **skip** adds a layer's input to its output. The drawing shows the two directions in which a skip can run, and the memory that the rest of this lesson is about. **Look at** the right side: which arrays are in memory while the gradient of the third segment is computed?

# %%
from rnncourse import drawings

drawings.show("residual_layers")

# %% [markdown]
# <details><summary>Which arrays are in memory?</summary>The input y and the states h of the three layers of the third segment, and the saved inputs of the two segments below it: 8 arrays in place of 24. The input of the lowest segment is the data.</details>
#
# ## 1 · A hundred layers
#
# Persistent RNNs save so much memory that their authors could train more than 100 layers (lesson 15); they also write of 108 *residual* layers. Here the skip runs through **depth**: y of a layer = y of the layer below + h. **Predict:** the gradient of the recurrent weights has some norm in the top layer. How many times as large is it in the lowest of 100 layers: with skips and small first weights, with skips and weights of the usual size, and without skips?

# %%
import numpy as np
from threadpoolctl import threadpool_limits

from rnncourse.capstone.residual import Residual, gradient_norms
from rnnlab.tasks import rotated_images
from rnnlab.training import Adam, Model, evaluate, fit, loss_and_gradients

threadpool_limits(1)  # often the quickest for products this small
my_guess = {"with skips": ..., "skips, gain 1": ..., "without": ...}
task, layers, B = rotated_images.task(), 100, 16
batch = task.batch(np.random.default_rng(0), B)
rungs = {"with skips": Residual(), "skips, gain 1": Residual(),
         "without": Residual(skips=False)}
# of the first weights
gains = {"with skips": 0.1, "skips, gain 1": 1.0, "without": 1.0}
models = {name: Model.create("rnn_tanh", 64, 64, 64, layers=layers, gain=gain)
          for name, gain in gains.items()}
norms = {}
for name, rung in rungs.items():
    _, gradients = loss_and_gradients(models[name], task.loss, batch, rung=rung)
    norms[name] = gradient_norms(models[name].network, gradients)
    print(f"{name}: top {norms[name][-1]:.2g}, middle "
          f"{norms[name][layers // 2]:.2g}, lowest {norms[name][0]:.2g}; "
          f"lowest / top {norms[name][0] / norms[name][-1]:.2g}, you guessed "
          f"{my_guess[name]}")

# %% [folded]
# Draw the gradient norms over the layers.
from rnncourse.figures.picture import canvas, show

figure, axis = canvas()
for name, mark in zip(norms, "os^", strict=True):
    axis.semilogy(range(1, layers + 1), norms[name], mark, ms=3, label=name)
axis.set(xlabel="layer, the lowest first", ylabel="gradient norm of weight_hh")
axis.legend()
spread = norms["with skips"].max() / norms["with skips"].min()
ratio = {name: norm[0] / norm[-1] for name, norm in norms.items()}
show(figure, f"With skips and small weights the gradient norms of {layers} "
     f"layers lie within a factor of {spread:.1f}. With larger weights the "
     f"lowest layer's is {ratio['skips, gain 1']:.0f} times the top layer's; "
     f"without skips it is {ratio['without']:.0e} of it.")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Without skips, each layer multiplies the gradient by something smaller than 1; a hundred layers leave 2·10⁻²² of it. In the lowest layer the norm is about 10⁻²³. A float32 holds such a number, but not its square: a norm summed in float32 would be 0, so `gradient_norms` sums in float64. For training such a gradient is as good as zero: Adam adds ε = 10⁻⁸ to what it divides by, and a gradient so far below ε moves no weight.
#
# A skip hands the gradient down **unchanged**, and the layer adds to it. But 100 layers also add up: with gain 1 the lowest layer's gradient is about 70 times the top one's. (We did not measure why: the gradient may grow on its way down, or y on its way up, until tanh saturates.) Small first weights, gain 0.1, prevent that.
#
# </details>
#
# A norm is not yet learning. The task is that of lesson 03: predict the next picture of a rotating digit. The answer to beat is that the picture stands still. **Predict** which of the three beats it after 30 updates. A fourth network, of one layer, has as many updates.

# %%
my_guess = ...
losses, trained = {}, {}
rungs["one layer"] = Residual()
models["one layer"] = Model.create("rnn_tanh", 64, 64, 64, gain=0.1)
for name, rung in rungs.items():
    trained[name], history = fit(models[name], task, Adam(1e-3), 30, batch=B,
                                 rung=rung, clip=1.0, progress=False)
    losses[name] = evaluate(trained[name], task, rung=rung)
    print(f"{name}: loss {history.losses[0]:.3f} at first, {losses[name]:.4f} "
          f"on held-out pictures; standing still {task.baseline.value:.4f}")
print("better than standing still:",
      [name for name, loss in losses.items() if loss < task.baseline.value],
      "- you guessed", my_guess)

# %% [markdown]
# A loss is a number; what did the network draw? One digit that it was never trained on, at the last step. The truth is the leftmost picture turned by 10°. **Look for** the turn: does a network's picture have it? Above each stands the angle by which the leftmost picture must be turned to come nearest to it, if it then comes nearer than standing still does to the truth.

# %%
from rnnlab.tasks.rotated_images import rotate

held, digit = task.held_out, 1
now, truth = held.x[-1, digit], held.target[-1, digit]
drawn = {"now (stands still)": now, "next (the truth)": truth}
for name, rung in rungs.items():
    answers = trained[name].predict(held.x, rung=rung)[0][-1]
    drawn[name] = answers[digit]
    print(f"{name}: a pixel's standard deviation over {len(answers)} digits "
          f"{answers.std(0).mean():.1g}")
turned = {angle: rotate(now.reshape(1, 8, 8), angle).reshape(64)
          for angle in range(-30, 31, 5)}
distance = lambda one, other: np.mean((one - other) ** 2)

# %% [folded]
# Draw one digit as each of them predicts it.
figure, axes = canvas(1, len(drawn), width=9.6, height=2.3)
words = {}
for axis, (name, picture) in zip(axes, drawn.items(), strict=True):
    angle = min(turned, key=lambda angle: distance(picture, turned[angle]))
    near = distance(picture, turned[angle]) < distance(now, truth)
    words[name] = (f"error {distance(picture, truth):.3f}, "
                   + (f"turn {angle}°" if near else "no turn"))
    axis.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=-0.5, vmax=0.5)
    axis.set_title(f"{name}\n{words[name]}", fontsize=8)
    axis.set_axis_off()
show(figure, "One held-out digit after ten steps. "
     + "; ".join(f"{name}: {said}" for name, said in words.items()))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With skips and small weights the picture turns by 10°: its error is about 0.02, that of standing still 0.036. With gain 1 the loss began at 16.5 and is still about eight times that of standing still; a picture so far from all turns has none. Without skips the network draws the same picture for every digit. So only the first of the three beats standing still after 30 updates. One layer does not, either; but one of its updates is about a hundredth of the work.
#
# </details>
#
# The kernel that Baidu's SVAIL released in 2016 has a skip, too, but it runs through **time**: the state before the step is added inside the nonlinearity, and keeps a path from step to step. It does nothing for depth. Its gradient is your first exercise.
#
# ### Exercise: a skip through time
#
# <!-- exercise: skip_step_backward -->
#
# In [work/19_capstone.ipynb](../work/19_capstone.ipynb).

# %% [markdown]
# ## 2 · Memory
#
# The backward pass reads what the forward pass computed: for each layer its input and its states h. **Recomputation** saves less: cut the layers into segments, save only the input of each segment, and run a segment forward once more just before its gradient is computed. **Predict:** 100 layers in segments of 10. Which share of the activations is in memory at most?

# %%
from rnncourse.capstone.residual import saved_bytes
from rnncourse.notebook import show_source

my_guess = ...
network, T = models["with skips"].network, task.steps
everything = saved_bytes(network, T, B)
for segment in (100, 50, 20, 10, 7, 5, 2, 1):
    share = saved_bytes(network, T, B, segment) / everything
    print(f"segments of {segment:3} layers: "
          f"{saved_bytes(network, T, B, segment) / 1e6:5.2f} MB, {share:6.1%}")
print(f"you guessed {my_guess:.0%} for 10")
show_source(Residual.backward)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With segments of 10 layers it is 14.5 %. Long segments have many activations at a time, short ones many saved inputs. In between there is a best length, near the square root of half the layers.
#
# </details>
#
# **Predict:** does a measurement agree with these counts? `tracemalloc` sees every array that NumPy allocates. What two forward passes hold alike cancels in the difference.

# %%
import gc
import tracemalloc

# so many sequences that Python's own objects weigh little
many = task.batch(np.random.default_rng(0), 16 * B)


def memory_of(segment):
    """Bytes after the forward pass, and at most in the whole pass."""
    rung = Residual(segment=segment)
    gc.collect()
    tracemalloc.start()
    y, _, saved = rung.forward(network, many.x)
    between, _ = tracemalloc.get_traced_memory()
    rung.backward(network, saved, np.ones_like(y))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return between, most


my_guess = ...
measured, most = {}, {}
all_saved, _ = memory_of(None)
for segment in (None, 20, 10, 5):
    between, most[segment] = memory_of(segment)
    measured[segment] = 1 - (all_saved - between) / (16 * everything)
    share = saved_bytes(network, T, B, segment) / everything
    print(f"segment {segment!s:4}: activations {measured[segment]:6.1%}, "
          f"counted {share:6.1%}; whole pass {most[segment] / most[None]:4.0%}")
print(f"you guessed {my_guess:.0%} for 10")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# It agrees. After the forward pass the top segment is in memory, and the inputs of the others. In the backward pass its layers leave one by one, and the next segment takes their place, so there are never more. (The measurement is of the moment after the forward pass.) The whole pass keeps more than activations: the first and the last state of each layer, their gradients, and those of the weights. So with segments of 10 it still takes about a third. The gradients are the same: the tests require equal bits.
#
# </details>
#
# Equal lengths are simple. They are not best if you want to recompute as little as possible: the segments below need their inputs, and the top one is never recomputed.
#
# ### Exercise: segments
#
# <!-- exercise: segment_lengths -->

# %% [markdown]
# ## 3 · What it costs
#
# **Predict** the price of recomputation in time, as a factor, before you measure it. Count products: forward has two for each cell (input and state), backward four. Segments of 10 run 90 of 100 layers forward twice.

# %%
from rnncourse.lab.turns import disturbance, take_turns

my_prediction = ...
counted = (2 + 4 + 2 * 0.9) / (2 + 4)
train_step = lambda segment: lambda: loss_and_gradients(
    models["with skips"], task.loss, batch, rung=Residual(segment=segment))
timings = take_turns({"recomputing": train_step(10),
                      "saving": train_step(None)}, rounds=11, least=11)
pairs = zip(timings["recomputing"].seconds, timings["saving"].seconds,
            strict=True)
ratios = [with_recomputation / without for with_recomputation, without in pairs]
print("measured factors:", " ".join(f"{ratio:.3f}" for ratio in ratios))
print(disturbance(timings) or "no sign of another program")
print(f"counted {counted:.2f}, you predicted {my_prediction}, median "
      f"{np.median(ratios):.3f}")

# %% [markdown]
# Eleven measurements of one factor, and they differ. Is your prediction wrong, or only unlucky? A single median does not say. An **interval** does: two of the measurements, chosen by a rule that catches the true median in a stated share of all such experiments. It needs no assumption about the distribution, only that the measurements are independent and have one common median; other work on your machine breaks that, and turns help against it. One measurement that lies apart does no harm, unless it is an end of the interval.
#
# ### Exercise: an interval for a median
#
# <!-- exercise: median_interval -->

# %%
from rnncourse.capstone.page import coverage

ordered = sorted(ratios)
for k in (1, 2, 3, 4):
    low, high = ordered[k - 1], ordered[-k]
    print(f"from number {k} to number {len(ordered) + 1 - k}: {low:.3f} to "
          f"{high:.3f}, holds the true median with "
          f"{coverage(ratios, low, high):.1%}")
interval = ordered[1], ordered[-2]

# %% [markdown]
# The narrower the interval, the less certain it is. For 95 % with 11 measurements the second from each end is enough. If your prediction lies outside, the measurements contradict it; if it lies inside, they do not, which is less than a proof.
#
# ## 4 · A schedule of your own
#
# Now the large question: in which order, in which streams, with what recomputed should a GPU run this pass? You write the answer as **data**: rows of kind, layer, block of steps, stream. From what each launch reads and writes follow the hazards, the events, the places in memory, and the predicted time. **Predict** what is wrong with each of these four schedules.

# %%
from rnncourse.capstone.launches import BACKWARD, FORWARD, WEIGHTS, Problem
from rnncourse.capstone.schedule_picture import show_schedule
from rnncourse.capstone.score import bounds, try_schedule


def layer_by_layer(layers, steps, minibatch, hidden_size, memory):
    up = [(FORWARD, layer, 0, 0) for layer in range(layers)]
    down = [(kind, layer, 0, 0) for layer in reversed(range(layers))
            for kind in (BACKWARD, WEIGHTS)]
    return steps, np.array(up + down)


my_guess = ...
small = Problem(layers=3, steps=4, minibatch=2, hidden_size=8, memory=40)
block, rows = layer_by_layer(*small)
broken = {"1": rows[[1, 0, *range(2, 9)]], "2": rows[:-1],
          "3": rows[[*range(9), 8]], "4": rows[[0, 1, 2, 7, 3, 4, 5, 6, 8]]}
for name, launches in broken.items():
    schedule = lambda *sizes, launches=launches: (block, launches)
    print(f"{name}. {try_schedule(schedule, small)}")
print("memory 20:", try_schedule(layer_by_layer, small._replace(memory=20)))
print("memory 40:", try_schedule(layer_by_layer, small))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Schedule 1 runs layer 1 before layer 0, 2 forgets a weight gradient, 3 adds one twice, 4 goes backward through layer 0 too early; with `memory=20` the forward pass fits, and the first launch backward finds no room.
#
# </details>
#
# Legality comes first: on a GPU all four would run, and some would give plausible numbers. Are the judge's own rules right? The course's tests run legal schedules in random orders that streams and events allow, and compare all gradients. Here is the simplest such comparison, live: one stream, so only one order. **Predict** the largest difference; the numbers are float32.

# %%
from rnncourse.capstone.launches import read_schedule
from rnncourse.capstone.run import problem_of, run_plan
from rnncourse.capstone.score import planned

my_guess = ...
x = np.random.default_rng(1).normal(size=(T, B, 64)).astype("float32")
dy = np.ones_like(x)
problem = problem_of(network, x, memory=3 * layers * T)
plan, _ = planned(read_schedule(problem, layer_by_layer(*problem)))
result = run_plan(plan, network, x, dy)
_, _, saved = Residual().forward(network, x)
_, _, gradients = Residual().backward(network, saved, dy)
worst = max(np.abs(result.gradients[name] - gradient).max()
            / np.abs(gradient).max() for name, gradient in gradients.items())
print(f"{plan.count()} operations, live in {result.seconds:.2f} s; largest "
      f"relative difference {worst:.0e}, you guessed {my_guess:.0e}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# It is the rounding of float32, below 1e-5: the sums are made in another order, and nothing else differs.
#
# </details>
#
# A live time is shown, never scored: another computer gives another time. The score is the time on the timeline of lesson 14, for an H200 with one CUDA graph, divided by a **lower bound** that no schedule of this model can beat. The bound is the largest of three times: the chain of operations that wait for each other, all arithmetic on a full chip, all bytes of the pointwise operations. This chain exists in every schedule that computes the steps of a layer one after the other, as all schedules here do. (Lesson 18's methods have another chain.) **Predict:** 100 layers of 512 units, 16 steps, 64 sequences: which of the three is the largest, and how many times the bound does the schedule above need?

# %%
my_guess = {"largest": ..., "times": ...}
deep = Problem(100, 16, 64, 512, 4800)
for name, microseconds in bounds(deep).items():
    print(f"{name:11}{microseconds / 1e3:6.2f} ms")
naive = try_schedule(layer_by_layer, deep)
print(f"{naive}; you guessed {my_guess}")
show_schedule({"one stream, one layer at a time": layer_by_layer}, deep)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The chain is the largest, 13.33 ms, and the schedule needs 8.5 times as long: the picture shows one full stream, and a schedule may use 32.
#
# </details>
#
# **Try** to improve it here before you continue. Which launches could run side by side? Change one thing at a time, and predict before you run.

# %%
def my_attempt(layers, steps, minibatch, hidden_size, memory):
    block, launches = layer_by_layer(layers, steps, minibatch, hidden_size,
                                     memory)
    launches[:, 3] = launches[:, 1] % 16  # 16 streams, for the layers in turn
    return block, launches


my_guess = ...
attempt = try_schedule(my_attempt, deep)
print(attempt)
if attempt:  # a schedule that may not be scored says why, and has no time
    print(f"{attempt.microseconds / naive.microseconds:.2f} of the time "
          f"before, you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With 16 streams for the layers in turn it takes 0.90 of the time: a layer still waits until the one below has finished, and only the weight gradients run beside.
#
# </details>
#
# You know what to do from lesson 14. Then comes the memory: this schedule saves 3,200 arrays, two for each step of a layer. They are 1,600 h, 1,584 y (the top layer's is the output and does not count), and 16 arrays of dg, the gradient of what goes into tanh, for one layer. The problem after the exercise has room for 704.
#
# ### Exercise: my schedule
#
# <!-- exercise: my_schedule -->
#
# It is judged by the **worst** ratio over problems that you do not see, because a schedule that is tuned for one size usually loses at another: primes, one step, one layer are among them. Full marks are within reach of a careful standard schedule; the rest is for the board.

# %% needs processes
from rnncourse.capstone.own_numbers import own_schedule

tight = Problem(100, 16, 64, 512, 704)
print(f"{tight.memory / (2 * tight.layers * tight.steps):.0%} of the memory:",
      try_schedule(my_attempt, tight))
show_schedule(own_schedule(tight), tight)

# %% [markdown]
# The cell takes `my_schedule` from your notebook, saved with an answer in it; without one it shows the course's. Each hatched bar is a layer that runs forward again, and the waves in the memory's line are segments: filled, used, freed. **Look for** the places where nothing runs beside a hatched bar. Could the recomputation of the next segment begin there?

# %% [markdown]
# <details><summary>Could it?</summary>Its saved input is in memory, and it waits for no gradient. So it could begin if memory has room for the arrays of two segments at once. Shorter segments make that room.</details>
#
# ## 5 · The board and the page
#
# The board is a folder of programs, one a pseudonym. You need not trust anybody: nobody states a score, because `rnnlab board` runs every program again, in the sandbox, and prints the table. `rnnlab board --add work/19_capstone.ipynb --as NAME` adds yours. Its nine problems differ in kind. The course's best program tries some hundred cuts of the layers and estimates their times; nobody has shown that it is the best. **Predict:** how far above the bound is it in its worst problem?

# %% needs processes
from rnncourse.capstone import board

my_guess = ...
print(board.OWN.read_text(encoding="utf-8"))
print("you guessed", my_guess, "for the best")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 1.64 times the bound, in 100 layers with little memory. The standard program needs 2.08 there.
#
# </details>
#
# The page is your report: one prediction, its measurements, their median and interval, and whether the prediction was inside. `rnnlab page` begins it with a template, `work/19_page.md`. The next time it checks the numbers, not the prose, and then makes one file of it, `work/19_page.html`, with your schedule drawn. The next cell prints the page of section 3 with **two mistakes** in it. Find them before you run the cell after it, which prints what the check finds.

# %%
from rnncourse.capstone.page import TEMPLATE, check_page

low, high = interval
numbers = {"prediction": f"{counted:.3f}",
           "measurements": " ".join(f"{ratio:.4f}" for ratio in ratios),
           "median": f"{np.median(ratios) - 1:.4f}",
           "interval": f"{low:.4f} to {high:.4f}", "confidence": "95 %",
           "verdict": "outside" if low <= counted <= high else "inside"}


def fill_in(numbers):
    page = TEMPLATE.replace("confidence: 95 %", "confidence:")
    for name, value in numbers.items():
        page = page.replace(f"{name}:\n", f"{name}: {value}\n")
    return page


print(fill_in(numbers).partition("##")[0])

# %%
print(*check_page(fill_in(numbers)), sep="\n")

# %% [markdown]
# **Break it:** mend median and verdict in `numbers` until the check finds no mistake. Then claim a `confidence` of 99.9 %, and see what the check says. Your 11 measurements are just enough for that: the smallest and the largest hold the true median with 1 − 2/2¹¹ = 99.90 %, and 10 measurements reach 99.80 %. What you pay is a wider interval. Then choose something of your own for the page: the price of a skip, another segment length, a rung of the ladder that you have never timed.
#
# ## Recap
#
# **A hundred layers can be trained with less than a fifth of their activations in memory, for 30 % more products: skips and small first weights hand the gradient down, and all segments but the top one run forward once more.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("skip through depth", "with small first weights: 100 layers can be "
     "trained"),
    ("skip through time",
     "the released kernel's; from step to step, not up layers"),
    ("recomputation", "saves inputs of segments; the top one is never "
     "recomputed"),
    ("schedule as data",
     "hazards, events, memory, time: from what launches touch"),
    ("lower bound", "chain, arithmetic, bytes: the floor of this model"),
    ("interval", "holds the true median with a stated probability"),
]
for question, answer in rows:
    print(f"{question:20}{answer}")
low, high = interval
verdict = ("holds" if high <= 1.4 else "does NOT hold" if low > 1.4
           else "stays open: the interval is too wide")
if disturbance(timings):
    verdict = "stays open: another program used the cores; run section 3 again"
if losses["with skips"] >= task.baseline.value or measured[10] > 0.2:
    verdict = "does NOT hold"
print(f"\nclaim: {verdict}; here loss {losses['with skips']:.3f} (standing "
      f"still {task.baseline.value:.3f}),\n{measured[10]:.0%} of the "
      f"activations, {low:.2f} to {high:.2f} times the time")
rnnlab.progress("19_capstone")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a skip help the gradient, and not only the forward pass?</summary>dy of a layer's input is dy of its output plus what comes through the layer. The first term is multiplied by nothing.</details>
#
# <details><summary>Which segment is not recomputed, and why?</summary>The top one: when the forward pass ends, its activations are the latest, and its gradient comes first.</details>
#
# <details><summary>Why may a launch not simply overwrite an array that nobody will read later?</summary>Someone in another stream may still be reading it. The launch waits for the last reader: a hazard, write after read.</details>
#
# <details><summary>Why is a schedule judged by its worst ratio and not by the mean?</summary>A mean rewards a schedule that is tuned for the sizes that are tried, and hides where it fails.</details>
#
# <details><summary>Ten measurements, and all are above your prediction. How likely is that if your prediction is the true median?</summary>1/1024.</details>

# %% [markdown]
# ## Sources
#
# - G. Diamos et al., *Persistent RNNs*, ICML 2016: over 100 layers; the authors' blog: 7 to 110 layers in the same memory; their abstract for the ICLR workshop of 2016: up to 108 residual layers. baidu-research/persistent-rnn: the skip of the released kernel, through time, off by default.
# - T. Chen et al., *Training Deep Nets with Sublinear Memory Cost*, arXiv:1604.06174, 2016: segments that are recomputed.
# - T. Hoefler and R. Belli, *Scientific Benchmarking of Parallel Computing Systems*, SC 2015: intervals of the median for measurements of any distribution.
# - GNMT (MLPerf, NVIDIA): residual connections through depth, from the third layer on.
# - No source that we know gives gradient norms over 100 recurrent layers; those above are measured in this notebook.
# - Times of schedules are the model's of `rnnlab/schedule/timeline.py`; docs/timeline_model.md holds it against published figures.

# %% [markdown]
# ## This was the course
#
# It began with the question what your machine can do. You can now say what it could do at best, and why it does not. The next cell counts what you have done; `rnnlab page` makes a file to show: your schedule beside the bound, your prediction with its interval, your words.

# %%
print(rnnlab.progress().total())
print("your page, in a terminal: rnnlab page")

# %% [markdown]
# **What to read next.**
#
# - More on kernels: S. Boehm, *How to Optimize a CUDA Matmul Kernel*; NVIDIA's CUTLASS and its tutorials on Hopper; FlashRNN's source (lesson 16).
# - More on many machines: Hugging Face, *The Ultra-Scale Playbook*; DeepMind, *How to Scale Your Model*.
# - More on recurrence: *Were RNNs All We Needed?*, Mamba and xLSTM; ParaRNN (lesson 18).
# - More on measuring: Hoefler and Belli (above).
#
# What nobody has measured yet: this course's persistent kernels on a GPU. `rnnlab gpu-day 1` tests and times them on a rented one in nine minutes. If you run it, send the record to the course.

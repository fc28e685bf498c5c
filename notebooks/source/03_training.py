# %% [markdown]
# # 03 · Training
#
# **Claim: one loop, one kind of network and one update rule learn four problems from real data, each better than its baseline; and where learning fails, the length of the gradient says why.**
#
# You will train, break, clip, compare, stop and go on. Each training takes seconds.
#
# - **Time:** 100 minutes, exercises included.
# - **You need:** [02 · back through time](02_bptt.ipynb): the gradient that all of this starts from.
# - **Afterwards you can** write the loop, choose an update rule and its learning rate, tell exploding from vanishing gradients by what you measure, and train on after a crash.

# %%
import rnnlab

rnnlab.banner()

# %% [markdown]
# ## 1 · Four problems and what there is to beat
#
# A loss of 0.01: is that good? Nobody can tell without a **baseline**, the loss of an answer that needs no training. Below are the course's tasks, with nothing downloaded: two photographs, handwritten digits, and the source text of your own Python.
#
# Every task keeps some data back. All losses you will compare are on those **held-out** data, which no training ever sees.

# %%
import numpy as np

from rnnlab import drawings
from rnnlab.tasks import adding, frame_differences, image_filters, rotated_images, text
from rnnlab.training import SGD, Adam, Model, evaluate, fit, loss_and_gradients
from rnnlab.picture import canvas, show

drawings.show("training_loop")

tasks = [
    image_filters.task("laplacian"),
    frame_differences.task(),
    rotated_images.task(),
    text.task(steps=32),
]
for task in tasks:
    sizes = f"I = {task.input_size:2}, O = {task.output_size:2}"
    print(f"{task.name:17} {sizes}, baseline {task.baseline.value:.4f}")
    print(f"{'':17} {task.baseline.what}")

# %% [markdown]
# **Predict:** one network of 128 units, one training of a few seconds. For which task will the loss fall furthest below its baseline, and for which the least? Write the two names down; the table at the end of section 4 answers.

# %%
my_guess_furthest = "frame_differences"
my_guess_least = "image_filters"

# %% [markdown]
# ## 2 · The loop
#
# Lesson 02 gave you the gradient of every parameter. The rest is a loop: draw a **minibatch** of sequences, get loss and gradients, make a small step against the gradient. One such step is an **update**, and the factor in front of the gradient is the **learning rate**.
#
# The rule below is gradient descent with **momentum**: it steps along a running sum of gradients. Directions on which the minibatches agree add up, the others cancel.

# %%
rnnlab.show_source(SGD.update)

# %%
task = image_filters.task("laplacian")
model = Model.create("rnn_tanh", task.input_size, 8, task.output_size, seed=0)
rule = SGD(learning_rate=0.1, momentum=0.9)
state = rule.start(model.parameters)
print(f"the baseline to beat on held-out data: {task.baseline.value:.5f}")
for update in range(301):
    batch = task.batch(np.random.default_rng([0, update]), B=32)
    loss, gradients = loss_and_gradients(model, task.loss, batch)
    parameters, state = rule.update(model.parameters, gradients, state)
    model = model.with_parameters(parameters)
    if update % 50 == 0:
        held_out = evaluate(model, task)
        print(f"update {update:3}: loss {loss:.5f}, held out {held_out:.5f}")

# %% [markdown]
# The network reads a row of a photograph pixel by pixel. In grey: what the Laplacian filter makes of it. In red: the network, on the photograph that was kept back. **Look for** pixels where the two differ.


# %%
def show_prediction(model, task):
    """Shows prediction beside target on held-out sequences."""
    batch = task.batch(np.random.default_rng(0), 64, "test")
    prediction = model.predict(batch.x)[0]
    show(task.picture(prediction, batch), task.alt(prediction, batch))


show_prediction(model, task)

# %% [markdown]
# ## 3 · What has it learned?
#
# A filter is known by its answer to one bright pixel in an even row: the numbers of its kernel, one a step. Ask the network the same question while it trains. Here it learns live, and the picture is drawn anew again and again.
#
# **Predict:** in which order will it find the three numbers 1, −2, 1? Watch the red dots, then play it once more with the slider.

# %%
from rnnlab.widgets.learned_filter import explore_learned_filter, watch_learned_filter

recording = watch_learned_filter("laplacian")

# %%
explore_learned_filter(recording)

# %% [markdown]
# For some dozens of updates nearly nothing happens: the best answer without memory is close to 0 everywhere, and the network finds that first. Then the gradient through one step back, and through two, begins to count.
#
# **Break it:** put `"sobel"` in the place of `"laplacian"`, or add `SGD(0.1)`, the rule without momentum, as second argument. Does it still arrive within 300 updates?
#
# ## 4 · The same loop, three more problems
#
# `fit` is the loop of section 2 with a progress bar. A camera pans over a photograph; the network sees one frame at a time and says what changed. Only the data differ from before.


# %%
def train(task, cell="rnn_tanh", hidden_size=128, updates=600, learning_rate=0.003, seed=0, progress=True):
    """(trained model, history) of a fresh model on a task, gradients clipped to length 1."""
    model = Model.create(cell, task.input_size, hidden_size, task.output_size, seed=seed)
    return fit(model, task, Adam(learning_rate), updates, seed=seed, clip=1.0, progress=progress)


trained = {}
for task in tasks:
    trained[task.name], history = train(task)
show_prediction(trained["frame_differences"], tasks[1])

# %% [markdown]
# A digit turns by 10° a step; the network draws what it will see next. This was the final problem of the project at Carnegie Mellon that the first lessons retell, there with photographs of the CIFAR-10 collection.
#
# **Look** at the first frame and at the last: at which one does the network know more, and why?

# %%
show_prediction(trained["rotated_images"], tasks[2])

# %% [markdown]
# Text: one character a step, and the network says how probable each of 97 characters is to come next. Its loss is the **cross-entropy**, the mean of −log p of the character that came. Below the picture it writes by itself. **Find** a character of which it was sure, and one that surprised it.

# %%
show_prediction(trained["text"], tasks[3])
written = text.write(trained["text"], "    return self.", 250, np.random.default_rng(1), temperature=0.9)
print("    return self." + written)

# %% [markdown]
# ### Exercise: the gradient that starts it
#
# <!-- exercise: cross_entropy_gradient -->
#
# For the squared error the sweep starts with 2·(prediction − target)/n. What is it for the cross-entropy? Write it in [work/03_training.ipynb](../work/03_training.ipynb).

# %%
print(f"{'':17} baseline  trained  trained / baseline")
for task in tasks:
    loss = evaluate(trained[task.name], task)
    print(f"{task.name:17} {task.baseline.value:8.4f} {loss:8.2g} {loss / task.baseline.value:14.2%}")
print(f"you guessed: furthest {my_guess_furthest}, least {my_guess_least}")

# %% [markdown]
# The first half of the claim holds if every number in the last column is below 100 %. The bigram table is the strongest opponent: one character tells much about the next, and a network has to find that out before anything else.
#
# ## 5 · A cliff
#
# Now let it fail. One unit, 50 steps, no input: $h' = \tanh(w h + b)$, and the last state should be 0.7. Two parameters, so you can look at the whole loss. Two descents start at the same place; one clips its gradient.
#
# **Predict:** which of them gets nearer to loss 0, the careful one or the fast one? Then move the sliders.

# %%
from rnnlab.widgets.cliff import explore_cliff

explore_cliff()

# %% [markdown]
# At the edge a tiny change of $b$ decides where the unit settles 50 steps later: the gradient is a product of 50 factors, and they are above 1 there. One step along so long a gradient throws the parameters onto a plain where tanh is flat, and no gradient leads back.
#
# **Clipping** keeps the direction and shortens the step. It is a limit on length, not a cure: the gradient at the cliff is right, it just holds for a very small distance only.

# %% [markdown]
# ### Exercise: clip
#
# <!-- exercise: clip_by_global_norm -->
#
# In [work/03_training.ipynb](../work/03_training.ipynb): one factor for all parameters. Why would a factor for each array change the direction?
#
# Now a real network with 24 ReLU units, which bound nothing, on the **adding problem**: among 30 numbers two are marked, and after the last step their sum is asked for. Four starts, each with and without clipping. **Predict** how many of the eight get below half of the baseline.

# %%
task, findings = adding.task(steps=30), []
figure, axes = canvas(1, 2, sharey=True)
for axis, clip in zip(axes, (None, 1.0), strict=True):
    losses, norms = [], []
    for seed in range(4):
        model = Model.create("rnn_relu", 2, 24, 1, seed=seed, init="orthogonal")
        model, history = fit(model, task, Adam(0.01), 500, seed=seed, clip=clip, progress=False)
        losses.append(evaluate(model, task))
        norms.append(max(history.norms))
        axis.semilogy(history.norms, lw=0.8, label=f"start {seed}: loss {losses[-1]:.3f}")
    solved = sum(loss < task.baseline.value / 2 for loss in losses)
    axis.set(xlabel="updates", title=f"clip={clip}, baseline {task.baseline.value:.3f}", ylim=(1e-4, 1e3))
    axis.legend(fontsize=8, loc="lower left")
    findings.append(f"clip={clip}: {solved} of 4 starts solved, gradients up to {max(norms):.0f} long")
axes[0].set_ylabel("gradient norm before clipping")
show(figure, "; ".join(findings) + ".")

# %% [markdown]
# Clipping does not make the gradients short: look at the right picture. It makes the *steps* harmless. The spikes are real, and a run that survives them gets somewhere.
#
# Watch the norm in your own trainings. `fit` writes it into its history, since the loss tells of a bad step only after it was made.
#
# ## 6 · How large a step
#
# Three rules on the filter of section 2, each with nine learning rates, 300 updates each. **Adam** divides every step by the running size of that parameter's own gradient, so that its steps have about the length of the learning rate, however long the gradient is.
#
# **Predict:** which rule works over the widest range of learning rates?


# %%
def outcome(rule):
    """Held-out loss over baseline after 300 updates; NaN if training broke down."""
    model = Model.create("rnn_tanh", 1, 16, 1, seed=0)
    try:
        return (
            evaluate(fit(model, tasks[0], rule, 300, progress=False)[0], tasks[0]) / tasks[0].baseline.value
        )
    except FloatingPointError as stopped:
        print("stopped at", str(stopped).partition(". ")[0])
        return np.nan


rates = [10.0 ** (k / 2) for k in range(-7, 2)]
rules = {"plain descent": SGD, "momentum 0.9": lambda rate: SGD(rate, 0.9), "Adam": Adam}
outcomes = {name: [outcome(rule(rate)) for rate in rates] for name, rule in rules.items()}

# %%
figure, axis = canvas()
for (name, values), marker in zip(outcomes.items(), "os^", strict=True):
    axis.loglog(rates, values, marker=marker, label=name)
axis.axhline(1, color="black", lw=0.8, ls="--", label="baseline")
axis.set(xlabel="learning rate", ylabel="loss / baseline, held out")
axis.legend(fontsize=8)
below = {
    name: [rate for rate, value in zip(rates, values, strict=True) if value < 0.5]
    for name, values in outcomes.items()
}
show(
    figure,
    "Loss below half of the baseline: "
    + "; ".join(f"{name} at {len(found)} of {len(rates)} learning rates" for name, found in below.items())
    + ".",
)

# %% [markdown]
# Where a line ends, training broke down: the loss was no number any more, and `fit` stopped with the step and a remedy. Left of its best rate each rule is only slow. Right of it lies a cliff, often less than a factor of ten away.
#
# **Break it:** give `fit` the option `clip=0.1` and run both cells again. Which breakdowns disappear, and do the runs succeed now?
#
# ### Exercise: Adam
#
# <!-- exercise: adam_update -->
#
# You saw momentum's update; write Adam's, in [work/03_training.ipynb](../work/03_training.ipynb). How far are you?

# %%
rnnlab.progress("training")

# %% [markdown]
# ## 7 · How far back a network learns
#
# Exploding is loud, vanishing is silent. If the gradient from the last step does not reach step 0, nothing complains: the network just does not learn what came then. In the adding problem one number always stands in the first half.
#
# **Predict** the longest of T = 10, 20, 40 that a tanh network learns in 600 updates. Then an LSTM and a GRU: cells with gates, which lesson 04 opens.

# %%
models, share = {}, {}
for cell in ("rnn_tanh", "lstm", "gru"):
    for T in (10, 20, 40):
        task = adding.task(steps=T)
        models[cell, T], _ = train(task, cell, 24, 600, 0.01, seed=1, progress=False)
        share[cell, T] = evaluate(models[cell, T], task) / task.baseline.value
    print(f"{cell:8}", "   ".join(f"T = {T}: {share[cell, T]:6.1%} of the baseline" for T in (10, 20, 40)))

# %% [markdown]
# Now ask each network at T = 40 how much its last state still depends on the input of every step: the size of $\partial y_{T-1}/\partial x_t$, by one reverse sweep. Dashed before training, solid after it.

# %%
from rnnlab import reference
from rnnlab.picture import LINES


def reach(network, T=40):
    """Mean size [T] of the last state's gradient with respect to the input of each step."""
    x = adding.task(T).held_out.x
    y, _, saved = reference.forward(network, x)
    dy = np.zeros_like(y)
    dy[-1] = 1
    return np.abs(reference.backward(network, saved, dy)[0]).mean(axis=(1, 2))


figure, axis = canvas()
for cell, colour in zip(("rnn_tanh", "lstm", "gru"), LINES, strict=False):
    axis.semilogy(reach(Model.create(cell, 2, 24, 1, seed=1).network), "--", color=colour)
    axis.semilogy(reach(models[cell, 40].network), color=colour, label=f"{cell}, trained")
axis.plot([], [], "k--", label="before training")
axis.set(xlabel="time step of the input", ylabel="size of the gradient", ylim=(1e-12, 10))
axis.legend()
first = {cell: reach(models[cell, 40].network)[0] for cell in ("rnn_tanh", "lstm", "gru")}
show(
    figure,
    "At step 0 of 40 the gradient after training is "
    + ", ".join(f"{size:.0e} ({cell})" for cell, size in first.items())
    + ".",
)

# %% [markdown]
# Before training all three forget: a straight dashed line on this axis is a constant factor below 1 for every step back, as in lesson 02's picture of spectral radius. A gate can bring that factor to nearly 1, and the network that has learnt the task did so: its solid line is flat. The others have not received the gradient that would tell them to.
#
# **Find out:** can the LSTM not do it, or not yet? Run `train(adding.task(40), "lstm", 24, 1000, 0.01, seed=1)` and draw its history with `.picture()`. Would you have stopped at update 600? Then try the tanh network.

# %% [markdown]
# ## 8 · Train on after a crash
#
# A training of a week will be killed once: by a power cut, a full queue, a closed laptop. `checkpoint=` names a file for parameters, the rule's state and the history. Each new one is written beside the old and then takes its name: at every moment there is a whole file.
#
# Another Python process trains, and dies at update 130 without a goodbye. **Predict** at which update this notebook goes on.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

path = str(Path(tempfile.mkdtemp()) / "filter.npz")
program = f"""
import os
from rnnlab.tasks import image_filters
from rnnlab.training import Adam, Model, fit

die = lambda update, model: os._exit(9) if update == 130 else None
model, task = Model.create("rnn_tanh", 1, 8, 1), image_filters.task()
fit(model, task, Adam(0.01), 200, checkpoint={path!r}, every=50, watch=die, progress=False)
"""
died = subprocess.run([sys.executable, "-c", program])
print("exit status", died.returncode, "· checkpoint of", Path(path).stat().st_size, "bytes")

# %%
seen = []
start, task = Model.create("rnn_tanh", 1, 8, 1), image_filters.task()
note = lambda update, model: seen.append(update)
resumed, _ = fit(start, task, Adam(0.01), 200, checkpoint=path, every=50, watch=note, progress=False)
never_killed, _ = fit(start, task, Adam(0.01), 200, progress=False)
same = [np.array_equal(resumed.parameters[name], array) for name, array in never_killed.parameters.items()]
print(
    f"went on at update {seen[0]}; {sum(same)} of {len(same)} arrays equal, bit for bit, to the run that was never killed"
)

# %% [markdown]
# Not nearly equal but equal: minibatch $k$ depends on the seed and on $k$ alone, and Adam's running means are in the file as well. Without them the first steps would be as if training had just begun.
#
# ### Exercise: your own loop
#
# <!-- exercise: train_filter -->
#
# Everything together, in [work/03_training.ipynb](../work/03_training.ipynb): rows of a photograph, the same rows after a filter that nobody tells you, and a training that you write. It is judged on another photograph.

# %% [markdown]
# ## Recap

# %%
print("what you see                                  likely cause              remedy")
for row in (
    ("loss jumps up, gradient norm far above usual", "exploding gradient", "clip by global norm"),
    ("loss is no number", "learning rate", "a tenth of it"),
    ("loss falls, but very slowly", "learning rate", "ten times it, or Adam"),
    ("loss stays at the answer without memory", "vanishing gradient", "gates, or a shorter path"),
    ("training loss good, held-out loss not", "learnt by heart", "more data, fewer units"),
):
    print(f"{row[0]:45} {row[1]:25} {row[2]}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a loss say nothing without a baseline?</summary>Its size depends on the task's scale; only beside an answer that needs no training does it tell what was learned.</details>
#
# <details><summary>What does clipping by global norm leave as it is?</summary>The direction of the step, and every gradient that is short enough.</details>
#
# <details><summary>The first Adam update moves every weight by about the same distance. Which?</summary>The learning rate: with the bias corrected, mean and root of the mean square are the gradient and its size.</details>
#
# <details><summary>How do you see a vanishing gradient?</summary>Not in the loss curve alone: measure the gradient with respect to early inputs, step by step.</details>
#
# <details><summary>What must a checkpoint hold besides the parameters?</summary>The rule's state, the number of updates made, and what decides the next minibatches.</details>

# %% [markdown]
# ## Sources
#
# - B. Han and E. Uboweja, *Parallel Training of Recurrent Neural Networks*, CMU 15-418 (eknight7/ParallelRNN): filters, frame differences, images rotated by 10°.
# - R. Pascanu, T. Mikolov, Y. Bengio, *On the difficulty of training recurrent neural networks*, 2013 (arXiv 1211.5063): the cliff of one unit over 50 steps (figure 6, with the logistic function), clipping by norm.
# - S. Hochreiter, J. Schmidhuber, *Long short-term memory*, 1997: the adding problem. Q. Le, N. Jaitly, G. Hinton, *A simple way to initialize recurrent networks of rectified linear units*, 2015 (arXiv 1504.00941): the form used here, and ReLU networks on it.
# - D. Kingma, J. Ba, *Adam*, 2015 (arXiv 1412.6980), algorithm 1.

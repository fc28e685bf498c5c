# Course map: what makes layers overlap, the order or the queue: diagonals, streams, events; two inputs at a time or all

# %% [markdown]
# # 14 · Do four layers take four times as long?
#
# **Claim to test: layers overlap if the host launches them in the order in which they can run. Is it the order that does it?**
#
# Layers can overlap: one can begin before the layer below has finished. Then four take less than four times as long as one. You will find out what makes them overlap, and what delays a layer that could already run: the queue, the batched inputs, or the host. The recap answers the question.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [13 · May it leave the loop?](13_fused_layer.ipynb). No GPU.
# - **Afterwards you can** order a network along its diagonals, give it streams and events that leave no hazard open, and say how many inputs to batch.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("events_between_streams")

# %% [markdown]
# ## 1 · Which cells can run at the same time?
#
# Call the work of one layer in one step a cell. A cell reads two results: that of its own layer from the step before, and that of the layer below from the same step. **Predict:** four layers and ten steps are 40 cells. How many rounds are needed if any number of cells may run at once?

# %%
from rnncourse.figures.picture import canvas, show, steps_as_cells

my_guess = ...
layers, steps = 4, 10

earliest = {}
for t in range(steps):
    for l in range(layers):
        earliest[l, t] = 1 + max(earliest.get((l - 1, t), -1),
                                 earliest.get((l, t - 1), -1))
rounds = 1 + max(earliest.values())

# %% [folded]
# Print and draw the rounds.
print(f"{layers * steps} cells in {rounds} rounds; you guessed {my_guess}")
figure, axis = canvas(height=2.4)
table = [[earliest[l, t] for t in range(steps)] for l in range(layers)]
axis.imshow(table, cmap="Blues", origin="lower", vmax=2 * rounds)
for (l, t), number in earliest.items():
    axis.text(t, l, number, ha="center", va="center")
steps_as_cells(axis)
axis.set(xlabel="step", ylabel="layer")
show(figure, "The first round in which each cell can run: 0 for layer 0 at "
     "step 0, and one more for each layer and for each step, up to "
     f"{rounds - 1}.")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **13.** The numbers are layer + step. Four layers of 100 steps take 103 rounds in place of 400.
#
# </details>
#
# Cells with the same number lie on a **diagonal**, and all cells of a diagonal can run at the same time. Running the diagonals one after the other is called a **wavefront**.
#
# The chip must have room for them. By the model of lesson 11 the grouped product of a cell occupies 32 of an H200's 132 multiprocessors (512 units, 64 sequences), so the recurrent products of four layers need 128.
#
# ### Exercise: along the diagonals
#
# <!-- exercise: wavefront_order -->
#
# In [work/14_network_schedule.ipynb](../work/14_network_schedule.ipynb).

# %%
drawings.show("wavefront")

# %% [markdown]
# ## 2 · Order or queue?
#
# A GPU runs the operations of one **stream** in the order in which they were issued: a stream is a queue (lesson 12). There are two switches now. The order of issue: layer after layer, or along the diagonals. And the queues: one for all, one a layer, or two a layer, one for its recurrence and one for its input products. **Predict:** what do the order and a stream a layer gain alone?

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

base = dict(layers=4, hidden_size=512, minibatch=64, steps=50, device="H200",
            group_gates=True, fuse_pointwise=True, transpose_once=True,
            batch_inputs=2)
my_guess = {"order alone": ..., "a stream a layer alone": ...}

times = {}
for wavefront in (False, True):
    for streams in ("one for all", 1, 2):
        result = prediction(Settings(**base, wavefront=wavefront,
                                     streams=streams))
        times[wavefront, streams] = result.makespan
        print(f"wavefront {wavefront!s:5}, streams: {streams!s:11} "
              f"{result.makespan / 1e3:5.2f} ms, {result.tflops:4.1f} TFLOP/s")

# %% [folded]
# Print what order and streams gain.
none = times[False, "one for all"]
for name, time in {"order alone": times[True, "one for all"],
                   "a stream a layer alone": times[False, 1]}.items():
    print(f"{name} gains {none / time:.2f}; you guessed {my_guess[name]}")
print(f"a second one {times[False, 1] / times[False, 2]:.2f} more; then")
for steps in (10, 50, 100):
    late, early = (prediction(Settings(**base | {"steps": steps}, streams=2,
                                       wavefront=order)).makespan
                   for order in (False, True))
    print(f"the order {late / early:.2f} more, with {steps} steps")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **The order alone gains nothing (1.00), a stream a layer alone gains 2.7.** In one queue each cell waits for the one issued before it, in whatever order. With a stream a layer, layers overlap even if the host issues one layer after the other, as long as it is far enough ahead of the device. (A real host stops when its queue is full; then the order counts more.) A second stream for a layer's inputs (lesson 12) gains 1.24 more. Then the order adds 1.02 to 1.24, more for longer sequences: layer after layer, the host reaches the last layer only when it has issued all steps of the three below.
#
# </details>
#
# How long do four layers take? **Guess** before you look at the title of the picture and at the cell after it. The picture has a row for each stream; `beside` is the stream of a layer's input products.

# %%
my_guess = ...
draw_schedule(Settings(**base | {"steps": 10}, wavefront=True, streams=2),
              launches_shown=60)

# %%
long = base | {"steps": 100, "wavefront": True, "streams": 2}
of_layers = {}
for device, k in (("H200", 2), ("H200", "off"), ("H200", "T"), ("M40", 2)):
    for L in (1, 2, 3, 4):
        result = prediction(Settings(**long | {"layers": L, "device": device,
                                               "batch_inputs": k}))
        of_layers[device, k, L] = result.makespan
    one, *more = (of_layers[device, k, L] for L in (1, 2, 3, 4))
    print(f"{device:4}, k = {1 if k == 'off' else k}: two, three and four "
          "layers take", ", ".join(f"{time / one:.2f}" for time in more),
          "times as long as one")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **1.42 times on an H200**, where the rounds alone would give 103 / 100 = 1.03. A layer here waits for two steps of the layer below (k = 2), which costs 0.03: with k = 1 it is 1.39. The rest is room: two layers nearly fit, 1.07. With four layers the recurrent products fill 128 of 132 multiprocessors, and the input products in the second streams need the same places. An M40 has less room. With k = T, all inputs in one product, layers run in turn (section 4).
#
# </details>
#
# You can measure a queue on your CPU, too. Two independent networks are computed one after the other, then by two threads. **Guess** how many times as fast that is, with your number of cores.

# %%
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from rnncourse.lab.turns import disturbance, take_turns
from rnnlab.resources import usable_cores

my_guess = ...

weights = np.random.default_rng(0).normal(size=(2, 512, 512))
weights = weights.astype("float32") / 30


def layer(U, steps=100):
    h = np.ones((64, 512), "float32")
    for _ in range(steps):
        h = np.tanh(h @ U)
    return h


with threadpool_limits(1, "blas"), ThreadPoolExecutor(2) as threads:
    side_by_side = threads.map if usable_cores() > 1 else map
    ways = {"one queue": lambda: [layer(U) for U in weights],
            "two queues": lambda: [*side_by_side(layer, weights)]}
    timed = take_turns(ways, 3)
print(disturbance(timed) or "nothing disturbed these times:")
one, two = (timing.median for timing in timed.values())
print(f"one queue {one * 1e3:.0f} ms, two {two * 1e3:.0f} ms: {one / two:.2f} "
      f"times as fast, you guessed {my_guess}")

# %% [markdown]
# Near 1, the cores were in use already, or there is only one, as in a browser. Between 1 and 2, a core was free at times, or the threads shared a cache or a core's units. Near 2, it was free. Well above 2: measure again.

# %% [markdown]
# ## 3 · Events
#
# Different streams run independently, if the GPU has a queue for each: by default it has eight (`CUDA_DEVICE_MAX_CONNECTIONS`). Where an operation reads what an operation in another stream writes, an **event** is recorded in the writing stream, and the reading stream waits for it. Too few events give wrong numbers in some runs; too many cost host time, and delay operations that could run.
#
# The course derives events from the regions that operations read and write, by the test that you wrote in lesson 13. **Predict:** 10 steps of 4 layers have 90 dependencies between operations of different streams. How many of them need an event?

# %%
from rnnlab.ladder import layer_wavefront
from rnnlab.schedule import stages
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Sizes

my_guess = ...

plan = stages.plan_for("forward", "lstm", Sizes(10, 64, 512, 512, 4),
                       layer_wavefront.PASSES)
stream = [operation.stream for operation in plan.operations]
crossing = sum(stream[earlier] != stream[later]
               for later, sources in enumerate(dependencies(plan))
               for earlier in sources)
print(f"{plan.count()} operations, {crossing} dependencies between streams, "
      f"{len(events(plan))} events; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **39 of 90.** The other dependencies are satisfied by the order of the streams: a stream that has waited for step 5 of the layer below need not wait for its step 4.
#
# </details>
#
# **Predict:** what happens without events? Here NumPy executes a plan in an order that streams without events would allow: layer 1 first. Buffers hold NaN until they are written.

# %%
from rnnlab import reference
from rnnlab.network import Network
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule.run_numpy import allocate, execute

my_guess = ...
network = Network.create("lstm", 3, 4, layers=2, seed=0)
x = np.random.default_rng(0).normal(size=(6, 2, 3)).astype("float32")
state = tuple(np.zeros((2, 2, 4), "float32") for _ in range(2))
small = stages.plan_for("forward", "lstm", Sizes(6, 2, 3, 4, 2),
                        layer_wavefront.PASSES)
right, _, _ = reference.forward(network, x, state)
layer_1_first = sorted(range(small.count()),
                       key=lambda k: -small.operations[k].layer)
for name, order in (("as issued", None), ("layer 1 first", layer_1_first)):
    arrays = allocate(small, "float32",
                      arrays_of.forward_arrays(network, x, state))
    execute(small, arrays, order)
    y, _ = arrays_of.forward_results(network, arrays, 6, 2)
    print(f"{name:14} right: {np.allclose(y, right, atol=1e-5)}, NaN: "
          f"{int(np.isnan(y).sum())} of {y.size}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# All of layer 1's outputs are NaN. On a GPU there is no NaN to warn you: the buffers hold the numbers of the previous pass, and the result looks plausible. PyTorch's CUDA sanitizer finds a missing event for PyTorch's own tensors; compute-sanitizer does not look for it.
#
# </details>
#
# ### Exercise: streams and events
#
# <!-- exercise: assign_streams -->
#
# It is graded in a small model of a GPU: no operation may read too early, there are two streams a layer, and no operation may wait longer than it must.

# %% [markdown]
# ## 4 · Two steps of inputs, or all?
#
# The sources of lesson 13 made different choices: SVAIL multiplies the inputs of all steps at once, Appleyard and his colleagues those of two steps. Here are three networks with 32 sequences, predicted for an M40. **Predict** the best k for each.

# %%
networks = {"one layer, one stream": (1, "one for all"),
            "one layer, two streams": (1, 2), "four layers": (4, 2)}
my_guess = dict.fromkeys(networks, ...)
print(f"{'ms with k =':22}{'off':>6}{2:6}{4:6}{10:6}{'T':>6}")
for name, (layers, streams) in networks.items():
    more = {"layers": layers, "steps": 50, "minibatch": 32, "device": "M40",
            "streams": streams}
    line = {k: prediction(Settings(**base | more | {"batch_inputs": k},
                                   wavefront=True)).makespan / 1e3
            for k in ("off", 2, 4, 10, "T")}
    best = "/".join(str(k) for k, ms in line.items()
                    if ms < 1.01 * min(line.values()))  # within 1 %
    print(f"{name:22}" + "".join(f"{ms:6.2f}" for ms in line.values()),
          f"best {best}; guess {my_guess[name]}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In one stream the input products delay the recurrence, so few large products are best. In a stream of their own they run beside it, and k matters less; but with k = T nothing runs beside the product, for which the first step waits. With several layers and k = T, the second layer's product begins only when the first layer has finished, so the layers run in turn again; with k = 2 it begins after two steps.
#
# Which k is best depends on streams, layers and minibatch: with 64 sequences and four layers k = 1 is better than k = 2, on an M40 and on an H200 (section 6).
#
# </details>
#
# ### Exercise: how many at a time?
#
# <!-- exercise: choose_input_batch -->

# %%
drawings.show("layers_and_k")

# %% [markdown]
# ## 5 · The host
#
# One more thing can make a layer wait: the host issues every kernel, about two and a half a cell. A **CUDA graph** records the launches of all streams once, with their events, and starts them as one. **Predict:** how many times as fast is that for 128 units and 16 sequences, and for 512 units and 64 sequences?

# %%
my_guess = {(128, 16): ..., (512, 64): ...}

for H, B in ((128, 16), (256, 16), (512, 16), (512, 64)):
    sizes = base | {"hidden_size": H, "minibatch": B}
    launches, graph = (prediction(Settings(**sizes, wavefront=True, streams=2,
                                           graph=is_graph))
                       for is_graph in (False, True))
    guess = f", you guessed {my_guess[H, B]}" if (H, B) in my_guess else ""
    print(f"{H:4} units, {B} sequences: {launches.launches} launches "
          f"{launches.makespan / 1e3:.2f} ms, as a graph "
          f"{graph.makespan / 1e3:.2f} ms: "
          f"{launches.makespan / graph.makespan:.2f} times as fast{guess}")
drawings.show("graph_of_launches")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **5.0, 3.55, 2.1, and nothing**, in the model, for an H200. With 16 sequences the device waits for the host, and the graph removes that. With 64 sequences the host is far ahead, and a graph gains nothing. A graph is recorded for one choice of sizes: another sequence length needs another graph.
#
# </details>
#
# ## 6 · Every switch at once
#
# **Break it:** below, all switches of lessons 12 to 14 for a forward pass are on, except the graph. Turn off one at a time. **Predict** before you do: which single switches more than double the time? One makes the pass *faster* when it is turned off: which one?

# %%
explore_schedule(layers=4, hidden_size=512, minibatch=64, steps=10,
                 device="H200", group_gates=True, fuse_pointwise=True,
                 transpose_once=True, batch_inputs=2, wavefront=True, streams=2)

# %%
my_guess = ...  # these more than double the time

all_on = base | {"steps": 10, "wavefront": True, "streams": 2}
moves = {"group_gates off": {"group_gates": False},
         "fuse_pointwise off": {"fuse_pointwise": False},
         "transpose_once off": {"transpose_once": False},
         "batch_inputs off": {"batch_inputs": "off"},
         "batch_inputs T": {"batch_inputs": "T"},
         "wavefront off": {"wavefront": False},
         "one stream": {"streams": "one for all"}}


def milliseconds(**move):
    """Of a pass with all switches but this move: by launches, as a graph."""
    return [prediction(Settings(**all_on | move | {"graph": graph})).makespan
            / 1e3 for graph in (False, True)]


with_all = milliseconds()
slower = {name: np.divide(milliseconds(**move), with_all)
          for name, move in moves.items()}

# %% [folded]
# Print how many times as long the pass takes.
print("times as long         launches  as a graph")
for name, (launches, graph) in sorted(slower.items(),
                                      key=lambda item: -item[1][0]):
    print(f"{name:19}{launches:11.2f}{graph:12.2f}"
          f"{'  <- your guess' if name in my_guess else ''}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# All switches at once are **not** the fastest way here: without `batch_inputs` the pass takes 0.87 of the time. Grouped gates and streams are worth 3.2 to 3.3 each, since without them products run one after the other. Fused kernels are worth as much only because of the host, which issues 748 launches in 1.9 ms without them; as a graph they are worth 1.6. k = T doubles the time, too (section 4).
#
# </details>
#
# **Predict** for which of the next cases k = 2 pays, against k = 1.

# %%
my_guess = ...

print("                                launches        as a graph")
print("ms with k =                     1       2        1       2")
for steps, device, B in ((10, "H200", 64), (50, "H200", 64), (100, "H200", 64),
                         (50, "M40", 64), (50, "H200", 32), (50, "M40", 32)):
    sizes = {"steps": steps, "device": device, "minibatch": B}
    k_1, k_2 = (milliseconds(**sizes, batch_inputs=k) for k in ("off", 2))
    print(f"{device:4}, {B} sequences, {steps:3} steps{k_1[0]:9.3f}"
          f"{k_2[0]:8.3f}{k_1[1]:9.3f}{k_2[1]:8.3f}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **With 32 sequences.** With k = 2 a layer waits for two steps of the layer below, in place of one. With 64 sequences the larger products do not fully make up for that. With 32 on an H200 the host decides: for k = 1 it issues 608 launches in 1.52 ms, and as a graph k = 1 is as good. On an M40 k = 2 gains as a graph, too, so there it is not the host.
#
# </details>
#
# **Find** a network in which the wavefront's order gains less than 1 %.
#
# <details><summary>Two such networks</summary>One layer: it has no diagonals. And 2,048 units with 256 sequences: one product has 512 tiles there, so the chip is full in any order.</details>
#
# All of this is a model; docs/timeline_model.md holds it against eighteen published figures: sixteen are within a quarter. On a GPU, `rnnlab bench gpu` measures lesson 11's five ways to launch a pass, beside PyTorch and cuDNN.

# %% [folded]
# Print the record of a GPU, if there is one.
from rnncourse import records
from rnncourse.records import gpu_report as report

stored = records.stored("bench gpu")
print(report.page(records.read(stored[-1])) if stored
      else "no GPU has been measured yet: `rnnlab bench gpu --record`")

# %% [markdown]
# ## Recap
#
# **Layers overlap because of queues, not because of the order of launches: in the model a stream a layer alone gains 2.7 times on an H200, the order alone nothing. With 512 units and 64 sequences four layers take 1.4 times as long as one there (with k = T 4.0 times), and on an M40, which has less room, 2.8 times.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("diagonal", "cells with the same layer + step: they can run at once"),
    ("wavefront", "one diagonal after another: L + T − 1 rounds"),
    ("streams and events",
     "queues side by side; one waits for another's result"),
    ("k inputs at a time", "large in one stream, small where layers overlap"),
    ("CUDA graph", "all launches as one; for one choice of sizes"),
    ("what remains", "U, read in every step: 168 of 450 MB in section 2"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")

order, queues = (none / times[key]
                 for key in ((True, "one for all"), (False, 1)))
four_layers = of_layers["H200", 2, 4] / of_layers["H200", 2, 1]
print("\nclaim, the order makes layers overlap: "
      f"{'holds' if order > 1.05 else 'does NOT hold'} in the model; alone "
      f"the order gains {order:.2f}, a stream a layer {queues:.2f}; four "
      f"layers take {four_layers:.2f} times as long on an H200")
rnnlab.progress("14_network_schedule")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Six layers, 100 steps: how many rounds at least?</summary>105.</details>
#
# <details><summary>Why does the wavefront's order gain nothing in one stream?</summary>A stream runs one operation after the other, in whatever order they were issued.</details>
#
# <details><summary>Two operations depend on each other and are in the same stream. Do they need an event?</summary>No: the stream keeps the order of issue.</details>
#
# <details><summary>Why is a missing event worse on a GPU than a crash?</summary>The old numbers of the buffer look like results.</details>
#
# <details><summary>When is k = T right?</summary>In one stream, where nothing could run beside the product.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples: wavefront, two streams a layer, two inputs at a time, 27.8 ms on an M40.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder; docs/timeline_model.md has its errors, and their sources.
#
# Next: [15 · Weights that stay](15_persistent_rnn.ipynb)

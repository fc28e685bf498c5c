# %% [markdown]
# # 14 · Layers side by side
#
# **Claim to test: four layers of an RNN take four times as long as one.**
#
# A layer can begin before the layer below has finished. You will find an order for that, distribute the work over streams, see a chip fill up, and learn when multiplying two steps of inputs at a time is faster than multiplying all of them. The recap tests the claim.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [13 · A layer in few kernels](13_fused_layer.ipynb). No GPU.
# - **Afterwards you can** order a network along its diagonals, give it streams and events that leave no hazard open, say which cost a CUDA graph removes, and choose how many inputs to batch.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("wavefront")

# %% [markdown]
# ## 1 · Which cells can run at the same time?
#
# Cell (layer, step) reads the result of its own layer one step before, and of the layer below at its own step; nothing else. **Predict:** four layers, ten steps: how many rounds are needed if any number of cells may run at once?

# %%
from rnncourse.figures.picture import canvas, show, steps_as_cells

my_guess = 40
layers, steps = 4, 10

earliest = {}
for t in range(steps):
    for l in range(layers):
        earliest[l, t] = 1 + max(earliest.get((l - 1, t), -1), earliest.get((l, t - 1), -1))
rounds = 1 + max(earliest.values())
print(f"{layers * steps} cells in {rounds} rounds; you guessed {my_guess}")
figure, axis = canvas(height=2.4)
table = [[earliest[l, t] for t in range(steps)] for l in range(layers)]
axis.imshow(table, cmap="Blues", origin="lower", vmax=2 * rounds)
for (l, t), number in earliest.items():
    axis.text(t, l, number, ha="center", va="center")
steps_as_cells(axis)
axis.set(xlabel="step", ylabel="layer")
show(figure, f"The first round in which each cell can run: 0 for layer 0 at step 0, and one more for each layer "
     f"and for each step, up to {rounds - 1}.")

# %% [markdown]
# The numbers are layer + step: cells with the same number lie on a **diagonal**, and all cells of a diagonal can run at the same time. Running the diagonals one after the other is called a **wavefront**. For many steps, L layers then take hardly longer than one, if the chip has room for L cells at a time.
#
# An H200 has room for most of it: the grouped product of a cell in lesson 12 occupied 32 of its 132 multiprocessors, and four layers need 4 · 32 = 128 for their recurrent products. The products with the inputs, in streams of their own, need the same places; the recap shows the price, 1.4 in place of 1.03.
#
# ### Exercise: along the diagonals
#
# <!-- exercise: wavefront_order -->
#
# In [work/14_network_schedule.ipynb](../work/14_network_schedule.ipynb).

# %% [markdown]
# ## 2 · Order is not enough
#
# A GPU runs the operations of one stream in the order in which they were issued. So the wavefront's order alone gains nothing: each cell waits for the one issued before it. **Predict** which of the four combinations below takes the shortest time.

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

base = dict(layers=4, hidden_size=512, minibatch=64, steps=50, device="H200",
            group_gates=True, fuse_pointwise=True, transpose_once=True, batch_inputs=2)
times = {}
for wavefront in (False, True):
    for streams in ("one for all", 2):
        result = prediction(Settings(**base, wavefront=wavefront, streams=streams))
        times[wavefront, streams] = result.makespan
        print(f"wavefront {wavefront!s:5}, streams: {streams!s:11} {result.makespan / 1e3:5.2f} ms, "
              f"{result.tflops:4.1f} TFLOP/s")
print(f"with streams, the wavefront's order gains a factor of {times[False, 2] / times[True, 2]:.2f}")

# %% [markdown]
# Predicted. Streams let layers overlap even if the host issues one layer after the other, as long as the host is far enough ahead of the device. The wavefront's order issues first what can run first. That gains 1.19 here; the streams alone gain 3.4. So **the streams decide, and the order adds little**: 1.02 for 10 steps, 1.19 for 50, 1.24 for 100; section 6 has a network where it adds nothing.
#
# The picture has a row for each stream, two streams a layer. The upper panel is the whole pass.

# %%
draw_schedule(Settings(**base | {"steps": 10}, wavefront=True, streams=2), launches_shown=60)

# %% [markdown]
# ## 3 · Events
#
# Different streams run independently. Where an operation reads what an operation in another stream writes, an **event** is recorded in the writing stream, and the reading stream waits for it. Too few events give wrong numbers in some runs; too many cost host time, and delay operations that could run.
#
# The course derives events from the arrays that operations read and write. **Predict:** of all pairs that depend on each other in different streams, how many need an event of their own?

# %%
drawings.show("events_between_streams")

# %%
from rnnlab.ladder import layer_wavefront
from rnnlab.schedule import stages
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Sizes

plan = stages.plan_for("forward", "lstm", Sizes(10, 64, 512, 512, 4), layer_wavefront.PASSES)
stream = [operation.stream for operation in plan.operations]
crossing = sum(stream[earlier] != stream[later]
               for later, sources in enumerate(dependencies(plan)) for earlier in sources)
print(f"{plan.count()} operations, {crossing} dependencies between streams, {len(events(plan))} events")

# %% [markdown]
# The other dependencies are satisfied by the order of the streams: a stream that has waited for step 5 of the layer below need not wait for its step 4.
#
# What happens without events? Here NumPy executes a plan in an order that streams without events would allow: layer 1 first. Buffers hold NaN until they are written.

# %%
import numpy as np

from rnnlab import reference
from rnnlab.network import Network
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule.run_numpy import allocate, execute

network = Network.create("lstm", 3, 4, layers=2, seed=0)
x = np.random.default_rng(0).normal(size=(6, 2, 3)).astype("float32")
state = tuple(np.zeros((2, 2, 4), "float32") for _ in range(2))
small = stages.plan_for("forward", "lstm", Sizes(6, 2, 3, 4, 2), layer_wavefront.PASSES)
right, _, _ = reference.forward(network, x, state)
layer_1_first = sorted(range(small.count()), key=lambda k: -small.operations[k].layer)
for name, order in (("as issued", None), ("layer 1 first", layer_1_first)):
    arrays = allocate(small, "float32", arrays_of.forward_arrays(network, x, state))
    execute(small, arrays, order)
    y, _ = arrays_of.forward_results(network, arrays, 6, 2)
    print(f"{name:14} right: {np.allclose(y, right, atol=1e-5)}, NaN: {int(np.isnan(y).sum())} of {y.size}")

# %% [markdown]
# On a GPU there is no NaN to warn you: the buffers hold the numbers of the previous pass, and the result looks plausible. No checking tool of a GPU reports a missing event between streams reliably, so it pays to derive events instead of writing them by hand.
#
# ### Exercise: streams and events
#
# <!-- exercise: assign_streams -->
#
# It is graded by hazards left open, by the number of streams, and by the time in a small model, in which events delay a stream.

# %% [markdown]
# ## 4 · Two steps of inputs, or all?
#
# Lesson 13 ended with two different choices: SVAIL multiplies the inputs of all steps at once, Appleyard and his colleagues those of two steps. Here are three networks with 32 sequences. **Predict** the best k for each.

# %%
networks = {"one layer, one stream": (1, "one for all"), "one layer, two streams": (1, 2), "four layers": (4, 2)}
my_guess = dict.fromkeys(networks, "T")
for name, (layers, streams) in networks.items():
    more = {"layers": layers, "steps": 50, "minibatch": 32, "device": "M40", "streams": streams}
    line = {k: prediction(Settings(**base | more | {"batch_inputs": k}, wavefront=True)).makespan / 1e3
            for k in ("off", 2, 4, 10, "T")}
    print(f"{name:22}", ", ".join(f"k = {k}: {ms:.2f}" for k, ms in line.items()), "ms;",
          f"best {min(line, key=line.get)}, worst {max(line, key=line.get)}, you guessed {my_guess[name]}")

# %% [markdown]
# Predicted, for an M40. In one stream k = T is best and no batching worst. In two streams, and with four layers, k = 2 is best and k = T worst. Three effects act against each other. In one stream the input products delay the recurrence, so few large products are better. In a stream of their own they run beside the recurrence, and k matters less. With several layers, k = T lets the second layer's product begin only when the first layer has finished, so the layers run one after the other again; with k = 2 it begins after two steps.
#
# A larger k makes the layers above wait longer; a smaller k means emptier products and more launches. Which k is best depends on minibatch, layers and device: on an H200 with 64 sequences and four layers it is k = 1, no batching at all (section 6).
#
# ### Exercise: how many at a time?
#
# <!-- exercise: choose_input_batch -->

# %%
drawings.show("layers_and_k")

# %% [markdown]
# ## 5 · One launch for all
#
# The remaining cost is the host: it still issues every kernel, about two and a half a cell. A **CUDA graph** records the launches of all streams once, with their events, and starts them as one. **Predict:** what does it gain for 512 units, and for 128? This section uses 16 sequences, so that kernels are short and launches matter; the sections before had 32 or 64.

# %%
drawings.show("graph_of_launches")

# %%
for H in (128, 256, 512):
    launches, graph = (prediction(Settings(**base | {"hidden_size": H, "minibatch": 16}, wavefront=True, streams=2,
                                           graph=is_graph)) for is_graph in (False, True))
    print(f"{H:4} units: {launches.launches} launches {launches.makespan / 1e3:5.2f} ms, as a graph "
          f"{graph.makespan / 1e3:5.2f} ms: {launches.makespan / graph.makespan:.2f} times as fast")

# %% [markdown]
# With 16 sequences the device waits for the host, and the graph removes that launch overhead: 5.0, 3.6 and 2.1 times as fast. Where kernels are long it changes little, and may even lose a little in the model, because each node of a graph costs the device some time: section 6 has 22.5 in place of 22.7. A graph is recorded for one choice of sizes and addresses: another sequence length needs another graph.
#
# Every call in a graph must be recordable. CuPy's own products are not, so the course calls cuBLAS directly, with a workspace that was allocated before.

# %% [markdown]
# ## 6 · The whole ladder
#
# All stages on one network, forward and backward. **Predict** the factor from the first stage to the last.

# %%
from rnnlab.ladder import stage_passes
from pocketgpu.devices import DEVICES
from rnnlab.schedule.timeline import predict

for direction in ("forward", "backward"):
    plans = {name: stages.plan_for(direction, "lstm", Sizes(20, 64, 512, 512, 4), passes)
             for name, passes in stage_passes().items()}
    for device in ("M40", "H200"):
        times = {name: predict(plan, DEVICES[device]).makespan for name, plan in plans.items()}
        factors = {name: times["kernel_per_operation"] / time for name, time in times.items()}
        print(f"{device:4} {direction:8}:", ", ".join(f"{name} {factor:.1f}" for name, factor in factors.items()),
              f"-> largest: {max(factors, key=factors.get)}")

# %% [markdown]
# Predicted factors over the naive form, four layers of 512 units, 64 sequences, 20 steps. Three times of four `layer_wavefront` is the largest and not `graph_replay`: for these long kernels the host is already far ahead, so a graph removes nothing and its nodes cost a little.
#
# The article promises its gain "across a range of network sizes". **Predict:** where is it larger, in small networks or in large ones?

# %%
naive, *_, wavefront, replay = stage_passes().values()
gains = {}
for H, B in [(H, B) for H in (128, 512, 2048) for B in (8, 64)]:
    times = [predict(stages.plan_for("forward", "lstm", Sizes(20, B, H, H, 4), passes), DEVICES["H200"]).makespan
             for passes in (naive, wavefront, replay)]
    gains[H, B] = times[0] / min(times)
    print(f"{H:5} units, {B:2} sequences: the better of the last two stages is {gains[H, B]:5.1f} times the naive form")
print("largest gain (units, sequences):", max(gains, key=gains.get), "smallest:", min(gains, key=gains.get))

# %% [markdown]
# Where the products are small, launches and idle multiprocessors cost most, and the stages remove those; where one product fills the chip, less is left to gain. The model agrees: 51 times for 128 units and 8 sequences, 9 times for 2 048 units and 64 sequences.
#
# A second-hand report gives "over 11" for the article's last stage on an M40, forward, 100 steps. The model predicts less, also for 100 steps: lesson 11 printed 270 ms for the naive form and 28.6 ms for this one, a factor of 9.4. (LSTM.cu's 27.8 ms for 100 steps is verified: it stands in the source.) Below is the model beside every published figure that the course has. A figure marked second-hand has no primary source here; neither do those of CuLSTM, which are that project's own report.

# %%
from rnncourse.views.published_timelines import lines

comparisons = lines()
fitted = [line for line in comparisons if "second-hand" in line.source]
tests = [line for line in comparisons if line not in fitted]
print("predicted time / published time: above 1 the model is too slow, below 1 too fast")
for line in comparisons:
    print(f"{line.time_ratio:4.2f} {'' if line.is_close else 'OFF':3} {line.published:6g} {line.unit:7}  {line.what}")
print(f"within a quarter: {sum(line.is_close for line in comparisons)} of {len(comparisons)}; of those that were "
      f"not used to fit the model: {sum(line.is_close for line in tests)} of {len(tests)}")

# %% [markdown]
# One set of constants for all lines. The second-hand ladder was used to fit these constants, so only the other lines test the model: the second count is the honest one. Lines marked OFF are steps of CuLSTM's backward pass; what exactly that project batched is not documented. And the errors are not random: for NVIDIA's sample the model is too fast forward (0.81 to 0.86), and too slow backward (1.02 to 1.11).
#
# A model that agrees with published figures is still a model. With a GPU, `rnnlab bench gpu` measures the five stages on it, beside PyTorch and every algorithm of cuDNN, and stores a record. Without such a record there is no measured line here.

# %%
from rnncourse import records
from rnncourse.records import gpu_report as report

stored = records.stored("bench gpu")
print(report.page(records.read(stored[-1])) if stored else "no GPU has been measured yet: `rnnlab bench gpu --record`")

# %% [markdown]
# Now every switch of lessons 12 to 14 at once. **Break it:** several single moves of one switch more than double the time of this pass. Find them and rank them; the next cell prints the answer. One switch makes the pass *faster* when it is turned off: which one, and why? And find a network in which the wavefront gains nothing at all.

# %%
explore_schedule(layers=4, hidden_size=512, minibatch=64, steps=10, device="H200", group_gates=True,
                 fuse_pointwise=True, transpose_once=True, batch_inputs=2, wavefront=True, streams=2)

# %%
all_on = base | {"steps": 10, "wavefront": True, "streams": 2}
moves = {"group_gates off": {"group_gates": False}, "fuse_pointwise off": {"fuse_pointwise": False},
         "transpose_once off": {"transpose_once": False}, "batch_inputs off": {"batch_inputs": "off"},
         "batch_inputs T": {"batch_inputs": "T"}, "wavefront off": {"wavefront": False},
         "one stream": {"streams": "one for all"}}
with_all = prediction(Settings(**all_on)).makespan
slower = {name: prediction(Settings(**all_on | move)).makespan / with_all for name, move in moves.items()}
for name, factor in sorted(slower.items(), key=lambda item: -item[1]):
    note = "  (more than double)" if factor > 2 else "  (faster without it)" if factor < 0.995 else ""
    print(f"{name:19} {factor:4.2f} times as long{note}")
for steps in (10, 50, 100):
    k_1, k_2 = (prediction(Settings(**all_on | {"steps": steps, "batch_inputs": k})).makespan / 1e3 for k in ("off", 2))
    print(f"{steps:3} steps: k = 1 {k_1:.3f} ms, k = 2 {k_2:.3f} ms")

# %% [markdown]
# All switches at once are **not** the fastest way here. Four switches are worth a factor of 2.3 to 3.3 each, the wavefront 1.02, and `batch_inputs` with k = 2 loses: without it the pass takes 0.87 of the time for 10 steps, 0.97 for 50, 0.98 for 100. With k = 2 a layer waits for two steps of the layer below. On the M40 of section 4 the larger product was worth that wait; on an H200 products of one step run beside the recurrence anyway, in their own stream.
#
# The wavefront gains nothing with one layer, which has no diagonals, and as good as nothing (1.003) for 2 048 units and 256 sequences: one product has 512 tiles there, the chip is full, and the order of work that fills it makes no difference.

# %% [markdown]
# ## Recap

# %%
rows = [
    ("diagonal", "cells with the same layer + step: they can run at once"),
    ("wavefront", "diagonals one after the other: L + T − 1 rounds for L·T cells"),
    ("streams and events", "queues that run side by side; one waits where it reads another's result"),
    ("k inputs at a time", "large k for one layer in one stream, 1 or 2 where layers overlap"),
    ("CUDA graph", "all launches as one; for one choice of sizes"),
    ("what remains", "the weights, read again in every step"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")

one, four = (prediction(Settings(**all_on | {"layers": layers, "steps": 100})).makespan for layers in (1, 4))
print(f"\nclaim, four layers take four times as long: {'holds' if four / one > 3.6 else 'does NOT hold'} in the model; "
      f"{four / one:.1f} times for 512 units, 64 sequences and 100 steps on an H200")
rnnlab.progress("network_schedule")

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
# <details><summary>When is k = T right?</summary>When no operation could use a part of the layer's output earlier: with one layer, or with layers that run one after the other anyway.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples: wavefront, two streams a layer, two inputs at a time, 27.8 ms on an M40. "Over 11": the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - CuLSTM, CMU 15-418, 2017; NVIDIA's RNN sample for cuDNN: figures of section 6. CuLSTM's are as the project states them, not checked against a primary record.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder.
#
# Next: [15 · Weights that stay](15_persistent_rnn.ipynb)

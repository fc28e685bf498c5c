# %% [markdown]
# # 13 · Layers side by side
#
# **Claim: four layers of an RNN take four times as long as one.**
#
# They need not: a layer can begin while the one below is still at work. You will find the order, divide the work among streams, see a chip fill up, and learn why taking two steps of inputs at a time beats taking all of them.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [12 · A layer in few kernels](12_fused_layer.ipynb). No GPU.
# - **Afterwards you can** order a network along its diagonals, give it streams and events that leave no hazard open, say what a CUDA graph takes away, and choose how many inputs to batch.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("wavefront")

# %% [markdown]
# ## 1 · Who can run at the same time?
#
# Cell (layer, step) reads its own layer one step before, and the layer below at its own step. That is all. **Predict:** four layers, ten steps: how many rounds are needed if any number of cells may run at once?

# %%
my_guess = 40
layers, steps = 4, 10

earliest = {}
for t in range(steps):
    for l in range(layers):
        earliest[l, t] = 1 + max(earliest.get((l - 1, t), -1), earliest.get((l, t - 1), -1))
rounds = 1 + max(earliest.values())
print(f"{layers * steps} cells in {rounds} rounds; you guessed {my_guess}")
for l in reversed(range(layers)):
    print(f"layer {l}:", " ".join(f"{earliest[l, t]:2}" for t in range(steps)))

# %% [markdown]
# The numbers are layer + step: cells with the same number lie on a **diagonal**, and a diagonal can run at once. Running one after the other is called a **wavefront**. For many steps, L layers take hardly longer than one, if the chip has room for L cells at a time.
#
# It has: lesson 11's grouped product of a cell filled 32 of an H200's 132 multiprocessors.
#
# ### Exercise: along the diagonals
#
# <!-- exercise: wavefront_order -->
#
# In [work/13_network_schedule.ipynb](../work/13_network_schedule.ipynb).

# %%
rnnlab.progress("network_schedule")

# %% [markdown]
# ## 2 · Order is not enough
#
# A GPU runs what one stream holds in the order of issue. So the wavefront's order alone gains nothing: each cell waits for the one issued before it. **Predict** which of the four combinations below is fast.

# %%
from rnnlab.widgets.schedule_view import Settings, draw_schedule, explore_schedule, prediction

base = dict(layers=4, hidden_size=512, minibatch=64, steps=50, device="H200",
            group_gates=True, fuse_pointwise=True, transpose_once=True, batch_inputs=2)
for wavefront in (False, True):
    for streams in ("one for all", 2):
        told = prediction(Settings(**base, wavefront=wavefront, streams=streams))
        print(f"wavefront {wavefront!s:5}, streams: {streams!s:11} {told.makespan / 1e3:5.2f} ms, "
              f"{told.tflops:4.1f} TFLOP/s")

# %% [markdown]
# Predicted. Streams let layers overlap even when they are issued one layer after the other, as long as the host is far enough ahead; the wavefront's order puts first into the queues what can run first. With launches that cost, the order of issue matters more the shorter the kernels are.
#
# Look at it: a row a stream, two streams a layer. The upper picture is the whole pass.

# %%
draw_schedule(Settings(**base | {"steps": 10}, wavefront=True, streams=2), launches_shown=60)

# %% [markdown]
# ## 3 · Events
#
# Streams run ahead of each other as they like. Where one reads what another writes, an **event** is recorded in the one and waited for in the other. Too few events give wrong numbers, and not always; too many cost host time, and hold things up that could run.
#
# The course derives them from what operations read and write. **Predict:** of all pairs that depend on each other in different streams, how many need an event of their own?

# %%
from rnnlab.ladder import layer_wavefront
from rnnlab.schedule import stages
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Sizes

plan = stages.plan_for("forward", "lstm", Sizes(10, 64, 512, 512, 4), layer_wavefront.PASSES)
stream = [each.stream for each in plan.operations]
crossing = sum(stream[w] != stream[k] for k, waits in enumerate(dependencies(plan)) for w in waits)
print(f"{plan.count()} operations, {crossing} dependencies between streams, {len(events(plan))} events")

# %% [markdown]
# The difference is what streams know already: who waited for step 5 of the layer below need not wait for step 4.
#
# What happens without events? Here is a plan run by NumPy in an order that streams without events would allow: layer 1 first. Buffers hold NaN until somebody has written them.

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
for name, order in (("as issued", None), ("layer 1 first", sorted(range(small.count()), key=lambda k: -small.operations[k].layer))):
    arrays = allocate(small, "float32", arrays_of.forward_arrays(network, x, state))
    execute(small, arrays, order)
    y, _ = arrays_of.forward_results(network, arrays, 6, 2)
    print(f"{name:14} right: {np.allclose(y, right, atol=1e-5)}, NaN: {int(np.isnan(y).sum())} of {y.size}")

# %% [markdown]
# On a GPU there is no NaN to warn you: the buffers hold the numbers of the pass before, and the result looks like an RNN's.
#
# ### Exercise: streams and events
#
# <!-- exercise: assign_streams -->
#
# It is graded by hazards left open, by the number of streams, and by the time in a small model.

# %%
rnnlab.progress("network_schedule")

# %% [markdown]
# ## 4 · Two steps of inputs, or all?
#
# Lesson 12 ended with a contradiction: SVAIL multiplies the inputs of all steps at once, Appleyard and his colleagues those of two. Here are three networks with 32 sequences. **Predict** the best k for each.

# %%
networks = {"one layer, one stream": (1, "one for all"), "one layer, two streams": (1, 2), "four layers": (4, 2)}
my_guess = dict.fromkeys(networks, "T")
for name, (layers, streams) in networks.items():
    more = {"layers": layers, "steps": 100, "minibatch": 32, "device": "M40", "streams": streams}
    line = {k: prediction(Settings(**base | more | {"batch_inputs": k}, wavefront=True)).makespan / 1e3
            for k in ("off", 2, 4, 10, "T")}
    print(f"{name:22}", ", ".join(f"k = {k}: {ms:.2f}" for k, ms in line.items()), "ms;",
          f"best {min(line, key=line.get)}, you guessed {my_guess[name]}")

# %% [markdown]
# Predicted, for an M40. In one stream the products stand in the way of the recurrence, and all at once is best. In a stream of their own they hide beside it, and k hardly matters. With four layers k = T is the worst of all: the second layer's one large product needs all of its inputs, so the layers run one after the other again. With k = 2 it begins after two steps.
#
# The larger k is, the longer everybody above waits; the smaller, the emptier each product and the more launches. The best moves with minibatch, layers and device: try the H200, and 64 sequences.
#
# ### Exercise: how many at a time?
#
# <!-- exercise: choose_input_batch -->

# %%
rnnlab.progress("network_schedule")

# %% [markdown]
# ## 5 · One launch for all
#
# What is left is the host: it still issues every kernel, two and a half a cell. A **CUDA graph** records the launches of all streams once, with their events, and starts them as one. **Predict:** what does it gain for 512 units, and for 128?

# %%
for H in (128, 256, 512):
    told = []
    for graph in (False, True):
        settings = Settings(**base | {"hidden_size": H, "minibatch": 16}, wavefront=True, streams=2, graph=graph)
        told.append(prediction(settings))
    print(f"{H:4} units: {told[0].launches} launches {told[0].makespan / 1e3:5.2f} ms, as a graph "
          f"{told[1].makespan / 1e3:5.2f} ms: {told[0].makespan / told[1].makespan:.2f} times as fast")

# %% [markdown]
# Where the host is what everybody waits for, the graph takes the waiting away; where kernels are long, it changes nothing. A graph is recorded for one choice of sizes and addresses: another sequence length is another graph.
#
# It needs every call to be recordable. CuPy's own products are not, so the course calls cuBLAS by itself, with a workspace that was made before.

# %% [markdown]
# ## 6 · The whole ladder
#
# All stages on one network, forward and back. **Predict** the factor from the first line to the last.

# %%
from rnnlab.ladder import stage_passes
from rnnlab.devices import DEVICES
from rnnlab.schedule.timeline import predict

for device in ("M40", "H200"):
    for direction in ("forward", "backward"):
        first, line = None, []
        for name, passes in stage_passes().items():
            plan = stages.plan_for(direction, "lstm", Sizes(20, 64, 512, 512, 4), passes)
            time = predict(plan, DEVICES[device]).makespan
            first = first or time
            line.append(f"{name} {first / time:.1f}")
        print(f"{device:4} {direction:8}:", ", ".join(line))

# %% [markdown]
# Predicted factors over the naive form, four layers of 512 units. The article says "over 11" for the last stage on an M40, forward (second-hand); LSTM.cu states 27.8 ms for 100 steps, which is verified. Here is what the model says of every figure it could be held against.

# %%
from rnnlab.bench.published_timelines import lines, table

print(table(lines()))

# %% [markdown]
# Sixteen of eighteen within a quarter, with one set of constants. The two that are off are steps of CuLSTM's way back; what exactly that project batched is not told.
#
# A model that agrees with the past is still a model. With a GPU, `rnnlab bench gpu` measures the five stages on it, beside PyTorch and every algorithm of cuDNN, and keeps a record. Until somebody has run it there is no measured line here.

# %%
from rnnlab import records
from rnnlab.bench.gpu import report

kept = records.kept("bench gpu")
print(report.page(records.read(kept[-1])) if kept else "no GPU has been measured yet: `rnnlab bench gpu --record`")

# %% [markdown]
# Now every switch of lessons 11 to 13 at once. **Break it:** one move of one switch more than doubles the time of this pass. Find it; then find the network in which the wavefront gains nothing at all. How full is the chip there?

# %%
explore_schedule(layers=4, hidden_size=512, minibatch=64, steps=20, device="H200", group_gates=True,
                 fuse_pointwise=True, transpose_once=True, batch_inputs=2, wavefront=True, streams=2)

# %% [markdown]
# ## Recap

# %%
rows = [
    ("diagonal", "cells with the same layer + step: they can run at once"),
    ("wavefront", "diagonals one after the other: L + T − 1 rounds for L·T cells"),
    ("streams and events", "queues that run side by side, held where one reads another's result"),
    ("k inputs at a time", "all for one layer, few where layers overlap"),
    ("CUDA graph", "all launches as one; for one choice of sizes"),
    ("what remains", "the weights, read again in every step"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Six layers, 100 steps: how many rounds at least?</summary>105.</details>
#
# <details><summary>Why does the wavefront's order gain nothing in one stream?</summary>A stream runs one thing after the other, whatever the order.</details>
#
# <details><summary>Two operations depend on each other and lie in the same stream. Do they need an event?</summary>No: the stream keeps the order of issue.</details>
#
# <details><summary>Why is a missing event worse on a GPU than a crash?</summary>The old numbers of the buffer look like results.</details>
#
# <details><summary>When is k = T right?</summary>When nobody waits for a part of the layer's output: one layer, or layers that run one after the other anyway.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples: wavefront, two streams a layer, two inputs at a time, 27.8 ms on an M40. "Over 11": the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - CuLSTM, CMU 15-418, 2017; NVIDIA's RNN sample for cuDNN: figures of section 6.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder.
#
# Next: [14 · Weights that stay](14_persistent_rnn.ipynb)

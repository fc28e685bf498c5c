# %% [markdown]
# # 10 · A naive RNN on a GPU
#
# **Claim: written down as its equations stand, an LSTM of 64 units takes as long as its launches take, whatever it computes; one of 512 units computes all the time, and still leaves nineteen twentieths of an H200 empty.**
#
# You will count kernels, write four of them, and look at a timeline to see who waits for whom.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [09 · Shared memory](09_cuda_shared_memory.ipynb), and what an LSTM computes. No GPU.
# - **Afterwards you can** count what a network launches, tell launch-bound from compute-bound on a timeline, and name what each later optimisation takes away.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("launch_timeline")

# %% [markdown]
# ## 1 · A kernel for every operation
#
# Take the equations of an LSTM literally. Each of its four gates has two products, a bias and a sum; then a function:
#
# i = σ(x·W_iᵀ + b_i + h·U_iᵀ), the same for f and o, and g = tanh(…)
#
# c′ = f∘c + i∘g and h′ = o∘tanh(c′)
#
# On a GPU the direct way is a kernel for every product, bias, sum, function and ∘. **Predict:** how many kernels is one step of one layer? Count before you run.

# %%
from collections import Counter

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.plan import Sizes

my_guess = 10

step = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=512, L=1))
print(f"you guessed {my_guess}; the plan has {step.count()} launches")
print(Counter(each.name.split(" →")[0] for each in step.operations))

# %% [markdown]
# `forward_plan` makes a **plan**: a list of operations in the order in which they are issued, each of which says what it reads and what it writes. It comes from the same graph as in lesson 04, a launch for every node.
#
# Nothing has run yet. A plan can be counted, changed, executed, or given to a model that predicts its time. Here are its first operations, with the work in each.

# %%
for each in [*step.operations[:3], *step.operations[-3:]]:
    m_n_k = each.gemm_shape if each.kind == "gemm" else each.writes[0].shape
    print(f"{each.name:22} {'·'.join(map(str, m_n_k)):11} {each.flops / 1e6:7.2f} MFLOP {each.bytes() / 1e6:6.2f} MB")
products = [each for each in step.operations if each.kind == "gemm"]
share = sum(each.flops for each in products) / step.flops
print(f"\nproducts: {len(products) / step.count():.0%} of the launches, {share:.1%} of the FLOPs")

# %% [markdown]
# A third of the launches does nearly all of the arithmetic. The other two thirds read arrays, do one FLOP for each number, and write them back; the next kernel reads them again.
#
# Whether those 17 are cheap is not a question of FLOPs. Keep it in mind until the timeline.
#
# ## 2 · What such kernels look like
#
# Three kernels make a step of a tanh network: two products, the first with the bias, and a kernel that adds and bends. A thread makes one element.

# %%
import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def product_with_bias(x, weights, bias, out):
    """out [B,H] becomes x [B,I] times weights.T [I,H] plus bias [H]."""
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        total = bias[column]
        for k in range(x.shape[1]):
            total += x[row, k] * weights[column, k]
        out[row, column] = total


@cuda.jit
def tanh_of_sum(a, b, out):
    """out [B,H] becomes tanh(a + b)."""
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = math.tanh(a[row, column] + b[row, column])

# %% [markdown]
# The second kernel reads what the first has left in memory. Nothing in the code says *wait*: launches in one **stream** run one after the other, and that is all the order there is.
#
# **Predict:** how many numbers does a step with 4 sequences, 6 inputs and 8 units load and store that never leave the step?

# %%
rng = np.random.default_rng(0)
B, I, H = 4, 6, 8
x, h = rng.normal(size=(B, I)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
W, U, b = (rng.normal(size=size).astype("float32") for size in ((H, I), (H, H), H))
a, u, h_next = np.zeros((3, B, H), "float32")
launches = {
    "W": (product_with_bias, (x, W, b, a)),
    "U": (product_with_bias, (h, U, np.zeros_like(b), u)),
    "tanh": (tanh_of_sum, (a, u, h_next)),
}
for name, (kernel, arguments) in launches.items():
    ran = cuda.observe(kernel, (1, 1), (8, 4), *arguments)
    if ran.counts:
        print(f"{name:5} {ran.counts.global_loads:4} loads, {ran.counts.global_stores:3} stores")
print("right:", np.allclose(h_next, np.tanh(x @ W.T + b + h @ U.T), atol=1e-5))

# %% [markdown]
# `a` and `u` exist only to carry numbers from one kernel to the next: 64 stores and 64 loads. A kernel that did everything would keep them in registers. That is lesson 11.
#
# ### Exercise: a GRU step in four launches
#
# <!-- exercise: step_kernels -->
#
# In [work/10_naive_gpu_rnn.ipynb](../work/10_naive_gpu_rnn.ipynb). The lesson has the tanh network, you write the GRU.

# %%
rnnlab.progress("naive_gpu_rnn")

# %% [markdown]
# ## 3 · What a launch costs
#
# A launch is work for the **host**: the program on the CPU puts the kernel and its arguments into a queue, the driver hands it to the card. And it costs the **device** something beside the work: blocks are sent out, and at the end everybody waits for the last one.
#
# The course's data sheets have a number for both, in microseconds. **Predict:** how many FLOPs could an H200 do while the host launches one kernel?

# %%
from rnnlab.devices import DEVICES

my_guess = 1e6

print(f"you guessed {my_guess:.0e}")
for name in ("M40", "V100", "A100", "H200"):
    device = DEVICES[name]
    known = "assumed" if device.assumed else "see the sources"
    print(f"{name:5} host {device.launch} µs, device {device.node} µs a kernel ({known}); "
          f"{device.peak:4.1f} TFLOP/s: {device.launch * device.peak:4.0f} MFLOP a launch")

# %% [markdown]
# Between 2015 and today the peak grew tenfold, a launch became half as long. So what could be done in the meantime grew: a kernel must bring 148 MFLOP to keep an H200 busy for as long as its own launch took.
#
# How much does one bring? Here is the recurrent product of one gate, 64 sequences, for growing layers: its time if the chip ran at its peak, and what the course's model expects.

# %%
from rnnlab.schedule.timeline import Work

H200 = DEVICES["H200"]
print("  H     MFLOP   at peak   expected   blocks of", H200.multiprocessors, "multiprocessors")
for H in (64, 128, 256, 512, 1024, 2048):
    plan = forward_plan("lstm", Sizes(T=1, B=64, I=H, H=H, L=1))
    product = next(each for each in plan.operations if each.kind == "gemm")
    work = Work.of(product, H200, itemsize=4)
    at_peak = product.flops / H200.peak / 1e6
    print(f"{H:5} {product.flops / 1e6:7.1f} {at_peak:7.2f} µs {work.solo_us:7.1f} µs {work.blocks:6}")

# %% [markdown]
# At its peak the chip would finish the product of 512 units in 0.57 µs, less than a quarter of a launch. The model expects more than fifty times that: libraries cut a product into **tiles**, here of 64 by 64 numbers, a block each. 64 sequences by 512 units are 8 tiles; 124 multiprocessors get none.
#
# So there are two ways to be idle: **in time**, when no kernel is there, and **in space**, when a kernel leaves most of the chip empty.

# %% [markdown]
# ## 4 · The timeline
#
# The picture below is a **prediction** from the plan and the data sheet, not a measurement. Rows are the host, which issues one kernel after the other, and the layers. The upper panel is the whole pass, the lower one a look at some launches; a gap is time in which the device has nothing to do. Point at a bar to read what it is. At the bottom stand five ways to launch this pass; the first is the naive one, lessons 11 to 13 build the others.
#
# **Predict** for 64 units and 16 sequences: which kernels leave a gap behind, the products or the others?

# %%
from rnnlab.widgets.schedule_view import Settings, draw_schedule, explore_schedule, prediction

small = Settings(cell="lstm", layers=1, hidden_size=64, minibatch=16, steps=5, device="H200")
draw_schedule(small, launches_shown=30)

# %% [markdown]
# All of them: every kernel ends before the next one has been issued. The host never rests, the device waits for it after each kernel. A pass like this is **launch-bound**: its time is the number of launches times the time of a launch, whatever the kernels do.
#
# Count how far that carries. The right column is launches × 2.5 µs.

# %%
for H in (16, 32, 64, 128, 256, 512):
    told = prediction(Settings(layers=1, hidden_size=H, minibatch=16, steps=100))
    bound = told.launches * H200.launch / 1e3
    print(f"{H:4} units: {told.makespan / 1e3:6.2f} ms, idle {told.idle:4.0%}; "
          f"launch-bound would be {bound:.2f} ms")

# %% [markdown]
# Up to 128 units the size does not matter: 16 units do a sixty-fourth of the FLOPs in the same time. Beyond, products grow longer than a launch, launched kernels queue up, and the gaps close.
#
# Now move the sliders yourself. **Look for:** the hidden size at which the last gap disappears for 64 sequences, and what the title says about TFLOP/s there. Then take another device: on an M40 a kernel costs the device more than a launch costs the host.

# %%
explore_schedule(passes=(), layers=1, hidden_size=32, minibatch=64, steps=20, launches_shown=25)

# %% [markdown]
# All this is a model's word. If there is a GPU in your machine, the cell below takes its time for a kernel that does nothing, a thousand launches in a row. **Guess** first. The figure contains what Python and Numba add to each launch; a loop in C comes nearer to the data sheet.

# %%
from time import perf_counter

my_guess = 2.5


@cuda.jit
def nothing():
    """Only to be launched."""


if cuda.is_simulated:
    print("no GPU here: nothing to measure, the simulator has no launches that cost")
else:
    nothing[1, 1]()  # compiles
    cuda.synchronize()
    start = perf_counter()
    for _ in range(1000):
        nothing[1, 1]()
    cuda.synchronize()
    print(f"you guessed {my_guess} µs; measured {(perf_counter() - start) * 1e3:.1f} µs a launch")

# %% [markdown]
# ### Exercise: count before it runs
#
# <!-- exercise: launch_count -->
#
# In [work/10_naive_gpu_rnn.ipynb](../work/10_naive_gpu_rnn.ipynb): launches, FLOPs and launch-bound time of any naive forward pass. Count a GRU's kernels on paper first.

# %%
rnnlab.progress("naive_gpu_rnn")

# %% [markdown]
# ## 5 · Busy, and still empty
#
# At 512 units the gaps are gone. **Predict:** what share of its 59 TFLOP/s does the H200 reach? Guess a percentage, then run.

# %%
my_guess = 50

large = Settings(cell="lstm", layers=4, hidden_size=512, minibatch=64, steps=100)
told = prediction(large)
share = told.tflops / H200.peak
print(f"you guessed {my_guess} %; predicted {told.tflops:.2f} TFLOP/s, {share:.1%} of the peak")
print(f"time without a kernel: {told.idle:.0%}")
in_products = (told.bars.end - told.bars.start)[told.bars.kind == 0].sum() / told.makespan
print(f"time in products: {in_products:.0%}, each on {8 / H200.multiprocessors:.0%} of the chip")
draw_schedule(large, launches_shown=50)

# %% [markdown]
# The device is never without a kernel, and a tool that reports "GPU utilisation" as the time in which something runs would show 100 %. But 8 of 132 multiprocessors hold a tile, and each of those holds just one, so that nothing hides its latencies.
#
# **Break it:** make launches free. `replace(H200, launch=0, node=0)` is a card that costs nothing to use. How much of the time is left?

# %%
from dataclasses import replace

from rnnlab.schedule.timeline import predict

free = replace(H200, launch=0.0, node=0.0)
for H in (64, 512):
    plan = forward_plan("lstm", Sizes(T=20, B=64, I=H, H=H, L=1))
    with_cost, without = predict(plan, H200), predict(plan, free)
    print(f"{H:4} units: {with_cost.makespan:6.0f} µs, with free launches "
          f"{without.makespan:6.0f} µs, {without.tflops / H200.peak:.1%} of the peak")

# %% [markdown]
# Even then 512 units stay below two percent. Launches are the smaller part of the problem there; the shape of the products is the larger one. Both have one cure: fewer, larger kernels, and several at once.
#
# ## 6 · Other cells, and the way back
#
# The same count for all cells. **Predict:** does the way back launch more kernels, and why?

# %%
print("cell         forward = products + others    backward = products + others + sums")
for cell in ("rnn_tanh", "gru_before", "gru_after", "lstm"):
    one = Sizes(T=1, B=2, I=3, H=4, L=1)
    there, back = ([plan.count(kind) for kind in (None, "gemm", "pointwise", "reduce")]
                   for plan in (forward_plan(cell, one), backward_plan(cell, one)))
    print("{:12} {:7} = {:8} + {:6}".format(cell, *there), end="")
    print("{:12} = {:8} + {:6} + {:4}".format(*back))

# %% [markdown]
# For every product forward there are two on the way back: one for the gradient of its input, one for that of its weights. Biases want a sum over the sequences. And a wire that several nodes read collects several gradients, one more addition each (lesson 04).
#
# A training step of 4 layers over 100 steps therefore launches this many kernels:

# %%
whole = Sizes(T=100, B=64, I=512, H=512, L=4)
there, back = forward_plan("lstm", whole), backward_plan("lstm", whole)
launches = there.count() + back.count()
gflops = (there.flops + back.flops) / 1e9
print(f"{there.count()} + {back.count()} = {launches} launches")
print(f"at {H200.launch} µs each {launches * H200.launch / 1e3:.0f} ms")
print(f"{gflops:.0f} GFLOP, at the peak {gflops / H200.peak:.1f} ms")

# %% [markdown]
# ## 7 · What is to come
#
# Appleyard, Kočiský and Blunsom went this way in 2016, on an M40, with an LSTM of 512 units and 64 sequences; their work went into cuDNN 5. Each line below adds one idea. The factors over the naive form are **second-hand**: a student's report on the paper gives them. Beside them stands what the course's model predicts for the same network; its few constants were fitted to these very lines, so that they agree proves little.
#
# **Guess** which of the lines is worth most.

# %%
from rnnlab.widgets.schedule_published import FIGURES

ladder = [(where | switches, figure) for where, switches, figure in FIGURES if figure.times_naive]
naive = prediction(Settings(**{key: ladder[0][0][key] for key in ("device", "layers")}))
print(f"M40, one layer, naive: {naive.launches} launches, {naive.tflops:.2f} TFLOP/s predicted")
ideas = "gates in one product", "two streams", "one pointwise kernel", "transposed once"
for idea, (switches, figure) in zip(ideas, ladder[:4], strict=True):
    told = prediction(Settings(**switches))
    print(f"{idea:22} published {figure.times_naive:4.1f} ×, "
          f"predicted {naive.makespan / told.makespan:4.1f} ×, {told.launches:4} launches")

# %% [markdown]
# With four layers side by side their own program, LSTM.cu, states 27.8 ms on an M40 for 100 steps. That one is **verified**: it stands in the source, and its FLOPs over that time give 3.87 TFLOP/s. A factor of "over 11" for it is second-hand again; GFLOP/s for the single lines circulate too, but nobody on this course has seen their source, so you do not find them here.

# %%
(where, switches, lstm_cu), = [each for each in FIGURES if each[2].source.startswith("LSTM.cu")]
told = prediction(Settings(**where, **switches))
flops = 4 * 100 * 8 * 2 * 512 * 64 * 513  # as LSTM.cu's author counts them
known = lstm_cu.milliseconds
print(f"four layers: published {known} ms = {flops / known / 1e9:.2f} TFLOP/s")
print(f"predicted {told.makespan / 1e3:.1f} ms = {told.tflops:.2f} TFLOP/s, "
      f"off by {told.makespan / 1e3 / known - 1:+.0%}; naive {4 * naive.makespan / 1e3:.0f} ms")

# %% [markdown]
# ## Recap

# %%
rows = [
    ("kernels a step, forward", "5 tanh network, 21 GRU, 25 LSTM"),
    ("launch-bound", "time = launches × time of a launch"),
    ("idle in time", "the host has not issued the next kernel"),
    ("idle in space", "fewer tiles than multiprocessors"),
    ("the cure", "fewer, larger kernels; several at once"),
]
for question, answer in rows:
    print(f"{question:28}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which 17 operations of an LSTM step are no product?</summary>4 biases, 4 sums of products, 4 functions of the gates, 3 ∘, the sum in c′ and the tanh of c′.</details>
#
# <details><summary>A pass is launch-bound. What does halving its FLOPs gain?</summary>Nothing. Halving its launches halves its time.</details>
#
# <details><summary>A tool shows 100 % utilisation. Is the GPU busy?</summary>Something runs all the time; how much of the chip it fills, the figure does not say.</details>
#
# <details><summary>Why do 64 sequences of 512 units fill so little of an H200?</summary>Tiles of 64 by 64: one gate's product is 8 blocks for 132 multiprocessors.</details>
#
# <details><summary>Why has an M40 no gaps at 64 units?</summary>In the model a kernel costs the device 8 µs and the host 5: the device is the slower one.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples, with its 27.8 ms. The factors of section 7: the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - E. Elsen, *Optimizing RNN Performance*, 2015 (svail/rnn_perf): launches of about 5 µs on GPUs of that time.
# - te42kyfo/gpu-benches, gpu-small-kernels: launch and node of an H200. Where the table says *assumed*, they are a neighbour's.
# - NVIDIA's data sheets: multiprocessors, clocks, bandwidths. Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the ladder of section 7.
#
# Next: [11 · A cell in few kernels](11_fused_cell.ipynb)

# %% [markdown]
# # 11 · A naive RNN on a GPU
#
# **Claim to test: if every operation of an LSTM is a kernel of its own, 64 units take as long as their launches take, whatever they compute; with 512 units the GPU always runs a kernel, and still leaves nineteen twentieths of an H200 empty.**
#
# You will count kernels, write four of them, and read from a timeline whether the host or the device waits. The recap prints whether both halves of the claim hold in the course's model.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [10 · Shared memory](10_cuda_shared_memory.ipynb), and what an LSTM computes. No GPU.
# - **Afterwards you can** count what a network launches, tell launch-bound from compute-bound on a timeline, and name what each later optimisation takes away.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

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
print(Counter(operation.name.split(" →")[0] for operation in step.operations))

# %% [markdown]
# `forward_plan` makes a **plan**: a list of operations in the order in which they are issued, each with the arrays that it reads and writes. It comes from the same graph as in lesson 04, a launch for every node.
#
# Nothing has run yet. A plan can be counted, changed, executed, or given to a model that predicts its time. Here are its first operations, with the work in each.

# %%
for operation in [*step.operations[:3], *step.operations[-3:]]:
    sizes = operation.gemm_shape if operation.kind == "gemm" else operation.writes[0].shape
    print(f"{operation.name:22} {'·'.join(map(str, sizes)):11} {operation.flops / 1e6:7.2f} MFLOP "
          f"{operation.bytes() / 1e6:6.2f} MB")
products = [operation for operation in step.operations if operation.kind == "gemm"]
share = sum(operation.flops for operation in products) / step.flops
print(f"\nproducts: {len(products) / step.count():.0%} of the launches, {share:.1%} of the FLOPs")

# %% [markdown]
# A third of the launches do nearly all of the arithmetic. The other two thirds read arrays, do about one FLOP for each number, and write the results back; the next kernel reads them again.
#
# FLOPs do not decide whether those 17 kernels are cheap. The timeline of section 4 shows what does.
#
# ## 2 · What such kernels look like
#
# A step of a tanh network has five operations in the plan: two products, a bias, a sum, and tanh. Here they are written as two kernels in three launches: a product that begins with its bias, launched twice, and a kernel that adds two arrays and applies tanh. Each thread computes one element.
#
# The second product has no bias of its own, so it gets a bias of zeros; loading those zeros is the price of using one kernel twice.

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
# **Predict:** for 4 sequences, 6 inputs and 8 units, how many loads and stores move numbers that only this step uses?

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
    observation = cuda.observe(kernel, (1, 1), (8, 4), *arguments)
    if observation.counts:
        print(f"{name:5} {observation.counts.global_loads:4} loads, {observation.counts.global_stores:3} stores")
print(f"a and u together: {a.size + u.size} stores and as many loads")
print("right:", np.allclose(h_next, np.tanh(x @ W.T + b + h @ U.T), atol=1e-5))
drawings.show("numbers_between_kernels")

# %% [markdown]
# `a` and `u` exist only to carry numbers from one kernel to the next: 64 stores and 64 loads. A single kernel would keep those numbers in registers; lesson 12 writes it.
#
# ### Exercise: a GRU step in four launches
#
# <!-- exercise: step_kernels -->
#
# In [work/11_naive_gpu_rnn.ipynb](../work/11_naive_gpu_rnn.ipynb). The lesson shows the tanh network; you write the GRU.

# %% [markdown]
# ## 3 · What a launch costs
#
# A launch is work for the **host**: the program on the CPU puts the kernel and its arguments into a queue, the driver passes it to the GPU. A launch also costs the **device** time beside the work: blocks are distributed over the multiprocessors, and the kernel ends only when its last block has ended.
#
# The course's data sheets have a number for both, in microseconds. **Predict:** how many FLOPs could an H200 do while the host launches one kernel?

# %%
from pocketgpu.devices import DEVICES

my_guess = 1e6

print(f"you guessed {my_guess:.0e}")
for name in ("M40", "V100", "A100", "H200"):
    device = DEVICES[name]
    origin = "assumed" if device.assumed else "published or fitted, see the sources"
    print(f"{name:5} host {device.launch} µs, device {device.node} µs a kernel ({origin}); "
          f"{device.peak:4.1f} TFLOP/s: {device.launch * device.peak:4.0f} MFLOP a launch")

# %% [markdown]
# From the M40 (2015) to the H200 the peak grew about tenfold, while a launch became half as long. The last column says how many MFLOP a kernel needs to keep the GPU busy for as long as its own launch takes: 29, 63, 49 and 148. From the first to the last that is five times as many, though not each generation asks for more. (The M40's 8 µs a kernel are not published: they were fitted to the figures of section 7. The peak follows from the clock in the course's data sheet; other clocks are quoted for some of these GPUs, so take it as good to about an eighth.)
#
# How much work does a kernel have? Here is the recurrent product of one gate, 64 sequences, for growing layers: its time if the chip ran at its peak, and what the course's model predicts.

# %%
from rnnlab.schedule import timeline
from rnnlab.schedule.timeline import Work

H200 = DEVICES["H200"]
print("  H     MFLOP   at peak   predicted  blocks for", H200.multiprocessors, "multiprocessors")
for H in (64, 128, 256, 512, 1024, 2048):
    plan = forward_plan("lstm", Sizes(T=1, B=64, I=H, H=H, L=1))
    product = next(operation for operation in plan.operations if operation.kind == "gemm")
    work = Work.of(product, H200, itemsize=4)
    at_peak = product.flops / H200.peak / 1e6
    print(f"{H:5} {product.flops / 1e6:7.1f} {at_peak:7.2f} µs {work.solo_us:7.1f} µs {work.blocks:6}")
    if H == 512:
        ratio, lone = work.solo_us / at_peak, (1 + timeline.HALF) / 1
        reasons = {"multiprocessors / blocks": H200.multiprocessors / work.blocks, "one block on each": lone,
                   "1 / best share of the peak": 1 / timeline.BEST, "U read transposed": timeline.TRANSPOSED}
print(f"\n512 units, predicted / at peak: {ratio:.1f} =",
      " · ".join(f"{factor:.3g} ({name})" for name, factor in reasons.items()))
drawings.show("empty_chip")

# %% [markdown]
# At its peak the chip would finish the product of 512 units in less than a quarter of a launch. The model predicts 54 times that, for four reasons. Libraries cut a product into **tiles**, here of 64 by 64 numbers, a block each. 64 sequences by 512 units are 8 tiles, so 124 multiprocessors get none: 16.5 times. A block alone on its multiprocessor has no neighbour that computes while it waits for memory: 2.5 times, because the model gives c blocks on a multiprocessor c / (c + 1.5) of the best rate. That best rate is 85 % of the peak, and U is read transposed, which costs 12 %.
#
# All four numbers are the model's; section 7 says what they were fitted to. A library has a remedy that this model leaves out: **split-K** gives several blocks a part of the inner sum of one tile, and adds the parts afterwards.
#
# So a GPU can be idle in two ways: **in time**, while no kernel runs, and **in space**, while a kernel leaves most of the chip empty.

# %% [markdown]
# ## 4 · The timeline
#
# The picture below is a **prediction** from the plan and the data sheet, not a measurement. Rows are the host, which issues one kernel after the other, and the layers. The upper panel is the whole pass, the lower one shows a part of the launches; a gap is time in which the device runs nothing. Point at a bar to read its name. The bottom panel compares five ways to launch the same pass: `kernel_per_operation` is the naive one of this lesson, lessons 12 to 14 build the others.
#
# **Predict** for 64 units and 16 sequences: after which kernels is there a gap, the products or the others?

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

small = Settings(cell="lstm", layers=1, hidden_size=64, minibatch=16, steps=5, device="H200")
draw_schedule(small, launches_shown=30)

# %% [markdown]
# After nearly all of them: a kernel ends before the next one has been issued. The host never rests, and the device waits for the host after each kernel. Such a pass is **launch-bound**: its time is the number of launches times the time of a launch, whatever the kernels compute.
#
# For which sizes is that true? The right column is launches × the time of a launch.

# %%
for H in (16, 32, 64, 128, 256, 512):
    result = prediction(Settings(layers=1, hidden_size=H, minibatch=16, steps=100))
    launch_bound = result.launches * H200.launch / 1e3
    kind = "launch-bound" if result.makespan / 1e3 < 1.05 * launch_bound else "kernels take longer"
    print(f"{H:4} units: {result.makespan / 1e3:6.2f} ms, idle {result.idle:4.0%}; "
          f"launches alone {launch_bound:.2f} ms: {kind}")

# %% [markdown]
# Up to 128 units the size hardly matters: 16 units do a sixty-fourth of the FLOPs in the same time. For larger layers a product takes longer than a launch, launched kernels queue up, and the gaps close.
#
# Now move the sliders yourself. **Look for:** the hidden size at which the last gap disappears for 64 sequences, and the TFLOP/s in the title there. The last gap disappears at 64 units, where the title says 0.07 TFLOP/s, a thousandth of the peak: no gap is no sign of work. Then choose another device: on an M40 a kernel costs the device more than a launch costs the host.

# %%
explore_schedule(passes=(), layers=1, hidden_size=32, minibatch=64, steps=20, launches_shown=25)

# %% [markdown]
# All of this is predicted by a model. If your machine has a GPU, the cell below measures a kernel that does nothing, a thousand launches in a row. **Guess** first. The result contains what Python and Numba add to each launch; a loop in C comes nearer to the published figure. A **profiler** shows the real timeline of a GPU: `nsys profile python script.py` (Nsight Systems) draws launches, kernels and gaps like the picture above, and `ncu` (Nsight Compute) counts what one kernel does.

# %%
from time import perf_counter

my_guess = 2.5


@cuda.jit
def empty_kernel():
    """No work: its time is the launch's."""


if cuda.is_simulated:
    print("no GPU here: nothing to measure, the simulator has no launches that cost")
else:
    empty_kernel[1, 1]()  # compiles
    cuda.synchronize()
    start = perf_counter()
    for _ in range(1000):
        empty_kernel[1, 1]()
    cuda.synchronize()
    print(f"you guessed {my_guess} µs; measured {(perf_counter() - start) * 1e3:.1f} µs a launch")

# %% [markdown]
# ### Exercise: count before it runs
#
# <!-- exercise: launch_count -->
#
# In [work/11_naive_gpu_rnn.ipynb](../work/11_naive_gpu_rnn.ipynb): launches, FLOPs and launch-bound time of any naive forward pass. Count a GRU's kernels on paper first.

# %% [markdown]
# ## 5 · Busy, and still empty
#
# At 512 units the gaps are gone. **Predict:** what share of its 59 TFLOP/s does the H200 reach? Guess a percentage, then run.

# %%
my_guess = 50

large = Settings(cell="lstm", layers=4, hidden_size=512, minibatch=64, steps=100)
at_512 = prediction(large)
share = at_512.tflops / H200.peak
print(f"you guessed {my_guess} %; predicted {at_512.tflops:.2f} TFLOP/s, {share:.1%} of the peak")
print(f"time without a kernel: {at_512.idle:.0%}")
in_products = (at_512.bars.end - at_512.bars.start)[at_512.bars.kind == 0].sum() / at_512.makespan
print(f"time in products: {in_products:.0%}, each on {8 / H200.multiprocessors:.0%} of the chip")
draw_schedule(large, launches_shown=50)

# %% [markdown]
# The device is never without a kernel, and a tool that reports "GPU utilisation" as the time in which something runs would show 100 %. But 8 of 132 multiprocessors hold a tile, and each of those holds just one, so that nothing hides its latencies.
#
# **Break it:** make launches free. `replace(H200, launch=0, node=0)` is a GPU on which launches cost nothing. How much of the time is left?

# %%
from dataclasses import replace

from rnnlab.schedule.timeline import predict

free = replace(H200, launch=0.0, node=0.0)
for H in (64, 512):
    plan = forward_plan("lstm", Sizes(T=20, B=64, I=H, H=H, L=1))
    real_launches, free_launches = predict(plan, H200), predict(plan, free)
    print(f"{H:4} units: {real_launches.makespan:6.0f} µs, with free launches "
          f"{free_launches.makespan:6.0f} µs, {free_launches.tflops / H200.peak:.1%} of the peak")

# %% [markdown]
# Even then 512 units stay at a few percent of the peak. There, launches are the smaller part of the problem; the shape of the products is the larger one. Both have the same cure: fewer, larger kernels, and several of them at the same time.
#
# ## 6 · Other cells, and the backward pass
#
# The same count for all cells. **Predict:** does the backward pass launch more kernels, and why?

# %%
print("cell         forward = products + others    backward = products + others + sums")
for cell in ("rnn_tanh", "gru_before", "gru_after", "lstm"):
    one_step = Sizes(T=1, B=2, I=3, H=4, L=1)
    forward, backward = ([plan.count(kind) for kind in (None, "gemm", "pointwise", "reduce")]
                         for plan in (forward_plan(cell, one_step), backward_plan(cell, one_step)))
    print("{:12} {:7} = {:8} + {:6}".format(cell, *forward), end="")
    print("{:12} = {:8} + {:6} + {:4}".format(*backward))

# %% [markdown]
# Each product of the forward pass has two in the backward pass: one for the gradient of its input, one for the gradient of its weights. The gradient of a bias is a sum over the sequences. And a value that several nodes read collects several gradients, one more addition each (lesson 04).
#
# A training step of 4 layers over 100 steps therefore launches this many kernels:

# %%
whole = Sizes(T=100, B=64, I=512, H=512, L=4)
forward, backward = forward_plan("lstm", whole), backward_plan("lstm", whole)
launches = forward.count() + backward.count()
gflops = (forward.flops + backward.flops) / 1e9
print(f"{forward.count()} + {backward.count()} = {launches} launches")
print(f"at {H200.launch} µs each {launches * H200.launch / 1e3:.0f} ms")
print(f"{gflops:.0f} GFLOP, at the peak {gflops / H200.peak:.1f} ms")

# %% [markdown]
# ## 7 · What is to come
#
# In 2016 Appleyard, Kočiský and Blunsom optimised an LSTM of 512 units with 64 sequences on an M40 in these steps; their work went into cuDNN 5. Each line below adds one idea. The factors over the naive form are **second-hand**: a student's report on the paper gives them. Beside them stands what the course's model predicts for the same network. The model's constants were fitted to these very lines, so their agreement is no test of the model.
#
# **Guess** which of the lines is worth most.

# %%
from rnncourse.views.published_timelines import FIGURES

ladder = [(where | switches, figure) for where, switches, figure in FIGURES if figure.times_naive]
naive = prediction(Settings(**{key: ladder[0][0][key] for key in ("device", "layers")}))
print(f"M40, one layer, naive: {naive.launches} launches, {naive.tflops:.2f} TFLOP/s predicted")
ideas = "gates in one product", "two streams", "one pointwise kernel", "transposed once"
for idea, (switches, figure) in zip(ideas, ladder[:4], strict=True):
    result = prediction(Settings(**switches))
    print(f"{idea:22} published {figure.times_naive:4.1f} × (second-hand), "
          f"predicted {naive.makespan / result.makespan:4.1f} ×, {result.launches:4} launches")

# %% [markdown]
# With four layers side by side their own program, LSTM.cu, states 27.8 ms on an M40 for 100 steps. This figure is **verified**: it stands in the source of the program, and its FLOPs divided by that time give 3.87 TFLOP/s. A factor of "over 11" for it is second-hand again. GFLOP/s for the single lines are quoted elsewhere, too; the course has no primary source for them and leaves them out.

# %%
(where, switches, lstm_cu), = [line for line in FIGURES if line[2].source.startswith("LSTM.cu")]
result = prediction(Settings(**where, **switches))
flops = 4 * 100 * 8 * 2 * 512 * 64 * 513  # as LSTM.cu's author counts them
published = lstm_cu.milliseconds
print(f"four layers: published {published} ms = {flops / published / 1e9:.2f} TFLOP/s")
print(f"predicted {result.makespan / 1e3:.1f} ms = {result.tflops:.2f} TFLOP/s, "
      f"off by {result.makespan / 1e3 / published - 1:+.0%}; naive {4 * naive.makespan / 1e3:.0f} ms")

# %% [markdown]
# ## Recap

# %%
rows = [
    ("kernels a step, forward", "one for each operation: 5 tanh network, 21 GRU, 25 LSTM"),
    ("launch-bound", "time = launches × time of a launch"),
    ("idle in time", "the host has not issued the next kernel"),
    ("idle in space", "fewer tiles than multiprocessors"),
    ("the cure", "fewer, larger kernels; several at once"),
]
for question, answer in rows:
    print(f"{question:28}{answer}")

at_64 = prediction(Settings(layers=1, hidden_size=64, minibatch=16, steps=100))
is_launch_bound = at_64.makespan < 1.05 * at_64.launches * H200.launch
is_empty = at_512.idle < 0.01 and at_512.tflops < 0.05 * H200.peak
print(f"\nclaim, 64 units are launch-bound: {'holds' if is_launch_bound else 'does NOT hold'} in the model")
print(f"claim, 512 units run all the time and use less than a twentieth of the peak: "
      f"{'holds' if is_empty else 'does NOT hold'} in the model")
rnnlab.progress("naive_gpu_rnn")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which 17 operations of an LSTM step are no product?</summary>4 biases, 4 sums of products, 4 functions of the gates, 3 ∘, the sum in c′ and the tanh of c′.</details>
#
# <details><summary>A pass is launch-bound. What does halving its FLOPs gain?</summary>Nothing. Halving its launches halves its time.</details>
#
# <details><summary>A tool shows 100 % utilisation. Is the GPU busy?</summary>Some kernel runs all the time. The figure does not say how much of the chip it fills.</details>
#
# <details><summary>Why do 64 sequences of 512 units fill so little of an H200?</summary>Tiles of 64 by 64: one gate's product is 8 blocks for 132 multiprocessors.</details>
#
# <details><summary>Why does an M40's timeline have no gaps at 64 units?</summary>In the model a kernel costs the device 8 µs and the host 5: the device is the slower one.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples, with its 27.8 ms. The factors of section 7: the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - E. Elsen, *Optimizing RNN Performance*, 2015 (svail/rnn_perf): launches of about 5 µs on GPUs of that time.
# - te42kyfo/gpu-benches, gpu-small-kernels: launch and node of an H200. Where the table says *assumed*, they are those of a similar GPU; the M40's are fitted.
# - NVIDIA's data sheets: multiprocessors, clocks, bandwidths. Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the ladder of section 7.
#
# Next: [12 · A cell in few kernels](12_fused_cell.ipynb)

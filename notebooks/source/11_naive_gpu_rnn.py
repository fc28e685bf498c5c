# Course map: a kernel for every operation, what launching them costs, and the model of a kernel's time that you write yourself

# %% [markdown]
# # 11 · Is a busy GPU a full GPU?
#
# **Claim to test: a GPU that runs a kernel at every moment is in full use. Is that true?**
#
# You will count the kernels of an LSTM, write a GRU step in four launches and a model of a product's time, and read from a timeline who waits for whom. The recap answers the question for the course's model of an H200.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [10 · Shared memory](10_cuda_shared_memory.ipynb), and what an LSTM computes (section 4 of [lesson 04](04_differentiable_graphs.ipynb)). No GPU.
# - **Afterwards you can** count what a network launches, predict the time of a product by hand, and tell a GPU that is idle in time from one that is idle in space.

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
# On a GPU the direct way is a kernel for every product, bias, sum, function and ∘. **Predict:** how many kernels does one step of one layer need?

# %%
from collections import Counter

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.plan import Sizes

my_guess = ...

step = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=512, L=1))
print(f"you guessed {my_guess}; the plan has {step.count()} launches")
print(Counter(operation.name.split(" →")[0] for operation in step.operations))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **25**: 8 products, 4 biases, 4 sums of two products, 4 functions of the gates, and 5 kernels for c′ and h′.
#
# </details>
#
# `forward_plan` makes a **plan**: a list of operations in the order in which they are issued, each with the arrays that it reads and writes. It comes from the same graph as in lesson 04, a launch for every node.
#
# A plan can be counted, changed, executed, or given to a model that predicts its time. Here are its first and last operations, with the work in each.

# %% [folded]
# Print the first and last operations, and the products' share.
for operation in [*step.operations[:3], *step.operations[-3:]]:
    sizes = (operation.gemm_shape if operation.kind == "gemm"
             else operation.writes[0].shape)
    print(f"{operation.name:22} {'·'.join(map(str, sizes)):11} "
          f"{operation.flops / 1e6:7.2f} MFLOP {operation.bytes() / 1e6:6.2f} "
          "MB")
products = [operation for operation in step.operations
            if operation.kind == "gemm"]
share = sum(operation.flops for operation in products) / step.flops
print(f"\nproducts: {len(products) / step.count():.0%} of the launches, "
      f"{share:.1%} of the FLOPs")

# %% [markdown]
# A third of the launches do 99.8 % of the arithmetic. Each of the other 17 reads arrays, counts as one FLOP for each number (σ and tanh take more), and writes its result to memory, where the next kernel reads it again.
#
# In the model (section 4) those 17 take the device 23 of a step's 280 µs for the layer above, 8 %. For small layers launches are the step's time (section 5): these take the host 42.5 of 62.5 µs, 2.5 each (section 3).
#
# ## 2 · What such kernels look like
#
# A step of a tanh network has five operations in the plan: two products, a bias, a sum, and tanh. Here two kernels do the step in three launches. The first computes a product that begins with its bias. It is launched twice: for x and, with a bias of zeros, for h. The second adds two arrays and applies tanh. Each thread computes one element.

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
        # lanes read far apart in weights; libraries load tiles (lesson 10)
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
# The second kernel reads what the first has left in memory. Nothing in the code says *wait*: launches in one **stream** run one after the other. (On a GPU a launch with NumPy arrays also copies them there and back, and waits; real programs keep arrays on the device.)
#
# The arrays `a` and `u` carry numbers from the first kernel to the second, and nobody reads them afterwards. **Predict:** for 4 sequences and 8 units, how many loads and stores are spent on `a` and `u`?

# %%
my_guess = ...

rng = np.random.default_rng(0)
B, I, H = 4, 6, 8
x, h = (rng.normal(size=(B, I)).astype("float32"),
        rng.normal(size=(B, H)).astype("float32"))
W, U, b = (rng.normal(size=size).astype("float32")
           for size in ((H, I), (H, H), H))
a, u, h_next = np.zeros((3, B, H), "float32")
launches = {
    "W": (product_with_bias, (x, W, b, a)),
    "U": (product_with_bias, (h, U, np.zeros_like(b), u)),
    "tanh": (tanh_of_sum, (a, u, h_next)),
}
for name, (kernel, arguments) in launches.items():
    observation = cuda.observe(kernel, (1, 1), (8, 4), *arguments)
    if observation.counts:
        print(f"{name:5} {observation.counts.global_loads:4} loads, "
              f"{observation.counts.global_stores:3} stores")
print(f"a and u: {2 * (a.size + u.size)} loads and stores; you guessed "
      f"{my_guess}")
print("right:", np.allclose(h_next, np.tanh(x @ W.T + b + h @ U.T), atol=1e-5))
drawings.show("numbers_between_kernels")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 128: two arrays of 32 numbers, each stored once and loaded once.
#
# </details>
#
# A single kernel for the whole step would keep those numbers in registers. Lesson 12 first joins all that follows the products; `a` and `u` stay in memory.
#
# ### Exercise: a GRU step in four launches
#
# <!-- exercise: step_kernels -->
#
# In [work/11_naive_gpu_rnn.ipynb](../work/11_naive_gpu_rnn.ipynb).

# %% [markdown]
# ## 3 · What a launch costs
#
# A launch is work for the **host**: the program on the CPU puts the kernel and its arguments into a queue, and the driver passes it to the GPU. A launch also costs the **device** some time: blocks are distributed over the multiprocessors, and the kernel ends only when its last block has ended.
#
# The course's data sheets state both in microseconds, as `launch` and `node`; this `node` is a time, not a node of lesson 04's graph. **Predict:** how many FLOPs could an H200 do while the host launches one kernel?

# %%
from pocketgpu.devices import DEVICES

my_guess = ...

# %% [folded]
# Print the prices of a launch on four GPUs.
for name in ("M40", "V100", "A100", "H200"):
    device = DEVICES[name]
    print(f"{name:5}{'*' * device.assumed:2} host {device.launch} µs, device "
          f"{device.node} µs a kernel; {device.peak:4.1f} TFLOP/s: "
          f"{device.launch * device.peak:4.0f} MFLOP a launch")
print("* assumed; the others are published or fitted, see the sources")
print(f"an H200: {DEVICES['H200'].launch * DEVICES['H200'].peak * 1e6:.1e} "
      f"FLOPs; you guessed {my_guess:.0e}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **148 million.** The last column is the work that a GPU could do at its peak during one launch; far less keeps it busy (section 4). From the M40 (2015) to the H200 peaks (float32 on ordinary cores; tensor cores are left out) grew about tenfold; the host's part of a launch fell to a half, the device's to a sixth. (Sources state different clocks for some of these GPUs, so a peak may be off by up to a fifth.)
#
# </details>
#
# The effect exists on your CPU, too: each call of NumPy costs time, however small the array is. **Predict:** how many times as long does an addition of 1,024 numbers take as one of 16?

# %%
from rnncourse.lab.turns import disturbance, take_turns

my_guess = ...

arrays = {size: np.ones(size, "float32") for size in (16, 1024, 16384)}


def often(array):
    for _ in range(200):
        np.add(array, array)


calls = {str(size): (lambda array=array: often(array))
         for size, array in arrays.items()}
timed = take_turns(calls, 5)

# %% [folded]
# Print the time of a call.
print(disturbance(timed) or "measured here, nothing disturbed it:")
for size, timing in timed.items():
    print(f"{size:>7} numbers: {timing.median / 200 * 1e6:7.2f} µs a call")
print(f"1,024 against 16: {timed['1024'].median / timed['16'].median:.1f} "
      f"times, you guessed {my_guess}")

# %% [markdown]
# If 64 times the numbers take less than 2 times as long, the call is most of the price, and this is a **launch-bound** operation on your own machine. Above 2, the numbers cost more than the call. 16,384 numbers take longer in any case: they are read, added and written to a new array.

# %% [markdown]
# ## 4 · The model that predicts a kernel's time
#
# So that everybody sees the same numbers, with a GPU or without, lessons 11 to 14 use a model. **One gate's recurrent product:** 64 sequences, 512 units in, 512 units out. How long does it take on the model's H200?
#
# 1. *Work.* 2 · 64 · 512 · 512 = 33.6 MFLOP. At the peak of 59.3 TFLOP/s that is 0.566 µs.
# 2. *Tiles.* In the model each block has a **tile** of 64 by 64 results; libraries choose among several sizes. Here that makes 8 blocks for 132 multiprocessors; 124 stay empty. 132 / 8 = 16.5 times as long.
# 3. *A lone block.* A multiprocessor hides waits by running other warps meanwhile, best another block's. The model gives c blocks on a multiprocessor c / (c + 1.5) of the best rate. With c = 1: 2.5 times.
# 4. *The rest.* The best rate is 0.85 of the peak, and reading U transposed costs 1.12: 1.32 times.

# %%
drawings.show("empty_chip")

# %% [markdown]
# 0.566 · 16.5 · 2.5 · 1.32 = **30.8 µs**, 54 times the time at the peak. A timeline adds the 1.3 µs that each kernel costs the device: 32.1 µs. Tiles of 64 by 64 are an assumption; with them the 16.5 can be counted. The constants 1.5, 0.85 and 1.12 were fitted to published times, so they are assumptions, too; docs/timeline_model.md says how well they do elsewhere. Libraries have a remedy that the model leaves out: **split-K** gives several blocks a part of one tile's inner sum, and adds the parts afterwards.
#
# ### Exercise: the model, written
#
# <!-- exercise: product_time -->
#
# In [work/11_naive_gpu_rnn.ipynb](../work/11_naive_gpu_rnn.ipynb). Your function must give 30.8 for the product above.
#
# **Predict with it:** four gates at once are four times the work, 2,048 rows of weights. How many times as long do they take? (`Work.of` is the course's own model; `solo_us` is the time in µs of a kernel that runs alone.)

# %%
from rnnlab.schedule.timeline import Work

my_guess = ...

H200 = DEVICES["H200"]
times = {}
for rows in (512, 2048, 8448, 16896):
    plan = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=rows, L=1))
    # one gate of a layer with so many units: the same shape
    product = plan.operations[0]
    work = Work.of(product, H200, itemsize=4)
    times[rows] = work.solo_us
    print(f"{rows:5} rows: {product.flops / 1e6:7.1f} MFLOP, {work.blocks:3} "
          f"blocks, {work.solo_us:5.1f} µs, "
          f"{product.flops / work.solo_us / 1e6 / H200.peak:5.1%} of the peak")
print(f"four gates: {times[2048] / times[512]:.2f} times as long; you guessed "
      f"{my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **1.00 times.** In the model 32 blocks find an empty multiprocessor each, as 8 did, so the other three gates cost no time. That holds up to 132 blocks, 8,448 rows: 16.5 times the work in the same 30.8 µs. Twice as many blocks take 1.4 times the time, because two blocks on a multiprocessor hide each other's waits.
#
# </details>
#
# Lesson 12 builds this. So a GPU can be idle in two ways: **in time**, while no kernel runs, and **in space**, while a kernel leaves most of the chip empty.

# %% [markdown]
# ## 5 · The timeline
#
# The picture below is a **prediction** of that model, not a measurement. Its rows are the host, which issues kernels, and the layer. The upper panel is the whole pass, the panel below it a part of the launches; a gap is time in which the device runs nothing. Point at a bar to read its name. TFLOP/s are those of the products. At the bottom five ways to launch the same pass are compared: `kernel_per_operation` is the naive one of this lesson, lessons 12 to 14 build the others.
#
# **Predict** for 64 units and 16 sequences: after which kernels is there a gap, the products or the others?

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

my_guess = ...
small = Settings(cell="lstm", layers=1, hidden_size=64, minibatch=16, steps=5,
                 device="H200")
draw_schedule(small, launches_shown=30)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# After all of them: a launch takes 2.5 µs, a product 2.26 µs and another kernel 1.3 µs. So a kernel ends before the next one is issued; the gaps after products are the short ones.
#
# </details>
#
# Such a pass is **launch-bound**: its time is the number of launches times the time of a launch, as long as a step's kernels together take less than their launches.
#
# **Predict:** 100 steps with 16 units take how many milliseconds? And with 128 units, 64 times the FLOPs? One launch takes 2.5 µs.

# %%
my_guess = {16: ..., 128: ...}

for H in (16, 32, 64, 128, 256, 512):
    result = prediction(Settings(layers=1, hidden_size=H, minibatch=16,
                                 steps=100))
    launch_bound = result.launches * H200.launch / 1e3
    kind = "launch-bound" if result.idle > 0.01 else "kernels take longer"
    guess = f"; you guessed {my_guess[H]}" if H in my_guess else ""
    print(f"{H:4} units: {result.makespan / 1e3:5.2f} ms, idle "
          f"{result.idle:3.0%}; launches {launch_bound:.2f} ms: {kind}{guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **6.25 ms, for 16 units as for 128**: 2,500 launches of 2.5 µs. From 256 units on a step's 25 kernels take longer than their launches: they queue up, and the gaps close.
#
# </details>
#
# Now move the sliders. **Look for** the hidden size at which the last gap disappears for 64 sequences, and read the TFLOP/s in the title there.
#
# <details><summary>What you find</summary>At 64 units, with 0.07 TFLOP/s: a thousandth of the peak. A pass without gaps need not do much work.</details>

# %%
explore_schedule(passes=(), layers=1, hidden_size=32, minibatch=64, steps=20,
                 launches_shown=25)

# %% [markdown]
# If your machine has a GPU, the next cell measures a kernel that does nothing, a thousand launches in a row. **Guess** first. The result contains what Python and Numba add to each launch. A **profiler** shows the real timeline: `nsys profile python script.py` records launches, kernels and gaps, Nsight Systems draws them, and `ncu` counts what one kernel does.

# %%
from time import perf_counter

my_guess = ...


@cuda.jit
def empty_kernel():
    """No work: its time is the launch's."""


if cuda.is_simulated:
    print("simulated: nothing to measure")
else:
    empty_kernel[1, 1]()  # compiles
    cuda.synchronize()
    start = perf_counter()
    for _ in range(1000):
        empty_kernel[1, 1]()
    cuda.synchronize()
    print(f"you guessed {my_guess} µs; measured "
          f"{(perf_counter() - start) * 1e3:.1f} µs a launch")

# %% [markdown]
# ## 6 · A pass without gaps
#
# At 512 units and 64 sequences the gaps are gone. **Predict:** what share of its 59 TFLOP/s does the model's H200 reach? The figures are for 100 steps, the picture for 14.

# %%
from dataclasses import replace

my_guess = ...

large = Settings(cell="lstm", layers=4, hidden_size=512, minibatch=64,
                 steps=100)
at_512 = prediction(large)
share = at_512.tflops / H200.peak
print(f"predicted {at_512.tflops:.2f} TFLOP/s, {share:.1%} of the peak; you "
      f"guessed {my_guess} %")
print(f"time without a kernel: {at_512.idle:.0%}")
bars = at_512.bars
products_us = (bars.end - bars.start)[bars.kind == 0].sum()
in_products = products_us / at_512.makespan
print(f"time in products: {in_products:.0%}, each on "
      f"{8 / H200.multiprocessors:.0%} of the chip")
draw_schedule(replace(large, steps=14), launches_shown=50)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **1.6 %.** A tool that reports "GPU utilisation" as the time in which something runs would show 100 %. But in the model, while a product runs, 8 of 132 multiprocessors hold a block, and none of those has a second one that hides its waits.
#
# </details>
#
# **Break it:** `replace(H200, launch=0, node=0)` is a GPU on which launches cost nothing. How much of the time is left for 64 units, and for 512? Guess two percentages.

# %%
from rnnlab.schedule.timeline import predict

my_guess = {64: ..., 512: ...}

free = replace(H200, launch=0.0, node=0.0)
for H in (64, 512):
    plan = forward_plan("lstm", Sizes(T=20, B=64, I=H, H=H, L=1))
    real_launches, free_launches = predict(plan, H200), predict(plan, free)
    print(f"{H:4} units: {real_launches.makespan:5.0f} µs, with free launches "
          f"{free_launches.makespan:5.0f} µs, "
          f"{free_launches.makespan / real_launches.makespan:.0%} of it; "
          f"guess: {my_guess[H]} %")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 49 % and 88 %. At 64 units launches are half of the problem, at 512 units an eighth, nearly all of it the device's 1.3 µs a kernel; there the shape of the products is the larger part. Both have the same cure: fewer, larger kernels, and several of them at the same time (section 8).
#
# </details>
#
# ## 7 · Other cells, and the backward pass
#
# The same count for all cells. **Predict:** an LSTM step launches 25 kernels forward; how many backward?

# %%
my_guess = ...

# %% [folded]
# Print the launches of one step, by cell.
print(f"you guessed {my_guess} for the LSTM")
print("cell         forward = products + others   backward = products + others "
      "+ sums")
for cell in ("rnn_tanh", "gru_before", "gru_after", "lstm"):
    one_step = Sizes(T=1, B=2, I=3, H=4, L=1)
    forward, backward = ([plan.count(kind)
                          for kind in (None, "gemm", "pointwise", "reduce")]
                         for plan in (forward_plan(cell, one_step),
                                      backward_plan(cell, one_step)))
    print("{:12} {:7} = {:8} + {:6}".format(cell, *forward), end="")
    print("{:11} = {:8} + {:6} + {:4}".format(*backward))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **36.** Each product of the forward pass has two in the backward pass: one for the gradient of its input, one for the gradient of its weights. The gradient of a bias is a sum over the sequences. The other 16 are 11 local derivatives (two for each ∘, one for each function), tanh(c′) once more, and 4 sums: x, h, c′ and h′ each collect several gradients (lesson 04).
#
# </details>
#
# So the forward and backward pass of 4 layers over 100 time steps launch this many kernels, loss and update not counted:

# %%
whole = Sizes(T=100, B=64, I=512, H=512, L=4)
forward, backward = forward_plan("lstm", whole), backward_plan("lstm", whole)
launches = forward.count() + backward.count()
gflops = (forward.flops + backward.flops) / 1e9

# %% [folded]
# Print the launches and the least times of a pass.
print(f"{forward.count()} + {backward.count()} = {launches} launches")
print(f"at {H200.launch} µs each {launches * H200.launch / 1e3:.0f} ms")
print("all kernels of the forward pass alone, in the model: "
      f"{predict(forward, H200).makespan / 1e3:.0f} ms")
print(f"{gflops:.0f} GFLOP, at the peak {gflops / H200.peak:.1f} ms")

# %% [markdown]
# The 24,400 launches take 61 ms even if they do nothing; the arithmetic would take 5.4 ms at the peak. In the model the two passes take longer than either: their products leave the chip nearly empty.
#
# ## 8 · What is to come
#
# In 2016 Appleyard, Kočiský and Blunsom optimised an LSTM of 512 units with 64 sequences on an M40 in these steps. Each line below adds one idea to the line above: the products of x and h side by side in two streams, say, or weights transposed once, before the steps. The published factors are **second-hand**, from a student's report. The model's constants were fitted to these very lines, so the agreement is not a test of the model.
#
# **Guess** which idea is worth most.

# %%
from rnncourse.views.published_timelines import FIGURES

my_guess = ...

ladder = [(where | switches, figure) for where, switches, figure in FIGURES
          if figure.times_naive]
times = [prediction(Settings(**{key: ladder[0][0][key]
                                for key in ("device", "layers")})).makespan]
ideas = ("gates in one product", "two streams", "one pointwise kernel",
         "transposed once")
for idea, (switches, figure) in zip(ideas, ladder[:4], strict=True):
    times.append(prediction(Settings(**switches)).makespan)
    print(f"{idea:20}  published {figure.times_naive:.1f} × naive, predicted "
          f"{times[0] / times[-1]:.1f}, {times[-2] / times[-1]:.2f} × line "
          "above")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In the published figures two ideas gain 1.9 times over the line above: gates in one product, and one pointwise kernel (5.3 after 2.8). The fitted model gives both more, and two streams less: 1.27 against 2.8 / 1.9 = 1.5.
#
# </details>
#
# ## Recap
#
# **A GPU that always runs a kernel can be nearly empty: in the model, 512 units and 64 sequences keep an H200 busy all the time and reach 1.6 % of its peak.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("kernels a step, forward",
     "one per operation: 5 tanh, 20 or 21 GRU, 25 LSTM"),
    ("launch-bound", "time = launches × time of a launch"),
    ("idle in time", "the host has not issued the next kernel"),
    ("idle in space", "fewer tiles than multiprocessors"),
    ("a product of 8 tiles", "0.566 µs · 132/8 · 2.5 · 1.12/0.85 = 30.8 µs"),
    ("the cure", "fewer, larger kernels; several at once"),
]
for question, answer in rows:
    print(f"{question:28}{answer}")

full = at_512.tflops > 0.5 * H200.peak
print("\nclaim, always busy means in full use: "
      f"{'holds' if full else 'does NOT hold'} in the model; 512 units run a "
      f"kernel {1 - at_512.idle:.0%} of the time and reach {share:.1%} of the "
      "peak")
rnnlab.progress("11_naive_gpu_rnn")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which 17 operations of an LSTM step are not products?</summary>4 biases, 4 sums of products, 4 functions of the gates, 3 ∘, the sum in c′ and the tanh of c′.</details>
#
# <details><summary>A pass is launch-bound. What does halving its FLOPs gain?</summary>Nothing. Halving its launches saves up to half of its time, until the kernels take longer than their launches.</details>
#
# <details><summary>A tool shows 100 % utilisation. Is the GPU busy?</summary>Some kernel runs all the time. The figure does not say how much of the chip it fills.</details>
#
# <details><summary>Why do 64 sequences of 512 units fill so little of an H200?</summary>In the model tiles are 64 by 64: one gate's product is 8 blocks for 132 multiprocessors.</details>
#
# <details><summary>Why does an M40's timeline have no gaps at 64 units?</summary>In the model a kernel costs the device 8 µs and the host 5: the device is the slower one.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946; LSTM.cu in NVIDIA's code samples. The factors of section 8: the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - E. Elsen, *Optimizing RNN Performance*, 2015 (svail/rnn_perf): launches of about 5 µs on GPUs of that time.
# - te42kyfo/gpu-benches, gpu-small-kernels: launch and node of an H200. Where the table says *assumed*, they are those of a similar GPU; the M40's are fitted.
# - NVIDIA's data sheets: multiprocessors, clocks, bandwidths. Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the ladder of section 8; docs/timeline_model.md holds it against eighteen published figures.
#
# Next: [12 · A cell in few kernels](12_fused_cell.ipynb)

# %% [markdown]
# # 12 · A cell in few kernels
#
# **Claim to test: an LSTM step takes three launches in place of twenty-five, and is faster by the same factor.**
#
# You will group its products, launch two of them in two streams, and write one kernel for everything else, forward and backward. The three gain different things, and the timeline shows which. The recap tests the claim.
#
# - **Time:** 100 minutes, exercises included.
# - **You need:** [11 · A naive RNN on a GPU](11_naive_gpu_rnn.ipynb). No GPU.
# - **Afterwards you can** say how much grouping, streams and fusing gain on which device, and write a fused pointwise kernel with its gradient and count its bytes.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("fused_cell")

# %% [markdown]
# ## 1 · Products that share a factor
#
# The four gates of an LSTM multiply the same x with four matrices, and the same h with four others. Stack the matrices, and four products become one with four times as many columns: **grouped** gates. The FLOPs stay the same.
#
# **Predict:** on an H200, 512 units and 64 sequences, how many times as long does the stacked product take as one gate's?

# %%
drawings.show("grouped_gates")

# %%
from pocketgpu.devices import DEVICES
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import Work

my_guess = 4

naive = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=512, L=1))
grouped = group_gates(naive)
for device in (DEVICES["M40"], DEVICES["H200"]):
    products = [next(operation for operation in plan.operations if operation.kind == "gemm")
                for plan in (naive, grouped)]
    one, four = (Work.of(product, device, itemsize=4) for product in products)
    print(f"{device.name:4}: {one.blocks} blocks {one.solo_us:5.1f} µs, {four.blocks} blocks {four.solo_us:5.1f} µs "
          f"for four gates: {four.solo_us / one.solo_us:.2f} times, you guessed {my_guess}")

# %% [markdown]
# These are the model's times. A product is cut into tiles of 64 by 64, a block each. On an H200, 8 blocks leave 124 multiprocessors empty and 32 leave 100: the larger product takes the same time. An M40 has 24 multiprocessors. 8 blocks occupy a third of them; 32 blocks fill all and share them, 1.33 each. The model counts no rounds: several blocks on a multiprocessor hide each other's waits, so four times the work takes 1.13 times as long.
#
# So grouping gains in two ways: fewer launches, and a fuller chip. What share of a chip four gates fill depends on the chip.

# %%
for name, plan in (("naive", naive), ("grouped", grouped)):
    print(f"{name:8} {plan.count('gemm')} products, {plan.count('pointwise')} others, "
          f"{plan.flops / 1e6:.0f} MFLOP, {plan.bytes() / 1e6:.1f} MB")

# %% [markdown]
# The FLOPs are the same. A few bytes are saved, because x and h are each read once and not four times. Most of the remaining bytes are weights.
#
# ### Exercise: group the gates
#
# <!-- exercise: group_gates -->
#
# In [work/12_fused_cell.ipynb](../work/12_fused_cell.ipynb).

# %% [markdown]
# ## 2 · Two streams
#
# x·Wᵀ of a step does not wait for the step before; h·Uᵀ does. In one stream the two still run one after the other, because a **stream** is a queue. In two streams they may run at the same time, each on its part of the chip. Where the sum needs both results, an **event** makes one stream wait until the other has reached a certain operation.
#
# **Predict:** which of the two streams will have gaps?

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

start = dict(layers=1, hidden_size=512, minibatch=64, steps=10, device="M40", group_gates=True)
draw_schedule(Settings(**start, streams=2), launches_shown=40)

# %%
drawings.show("two_streams")

# %% [markdown]
# Predicted, for an M40: the picture has a row for each stream. The second stream, that of the input products, has the gaps: it runs ahead of the recurrence, and then waits until the host, which also issues all of a step's other kernels, has issued its next product.
#
# On a chip that one product fills many times over, streams gain nothing: two products at the same time take as long as one after the other. **Predict** the gain on both devices, then run.

# %%
for device in ("M40", "H200"):
    one, two = (prediction(Settings(**start | {"device": device}, streams=streams)).makespan
                for streams in ("one for all", 2))
    print(f"{device:4}: one stream {one / 1e3:.2f} ms, two {two / 1e3:.2f} ms: {one / two:.2f} times as fast")

# %% [markdown]
# Predicted again. Where the H200 has the larger factor, the reason is room: its 132 multiprocessors can run both products at once (32 blocks each). The 24 of an M40 have no room left, for one product already gives each of them 1.33 blocks. That the second stream gains there, too, is the effect of section 1: with 2.67 blocks on a multiprocessor more waits are hidden.

# %% [markdown]
# ## 3 · One kernel for the rest
#
# Seventeen of a naive step's launches are not products. Each reads an array, does one operation for each number, and writes an array that the next one reads again. If they are **fused** into one kernel, the numbers in between stay in registers.
#
# Here is a GRU's pointwise work as one kernel; you write the LSTM's. A thread computes one unit of one sequence, and stores each of its results once. The sigmoid is written as σ(a) = (1 + tanh(a/2)) / 2, which cannot overflow: tanh stays between −1 and 1, while exp(−a) becomes infinite for a = −100.

# %%
import math

import numpy as np

from rnnlab import cuda


@cuda.jit
def gru_pointwise(from_x, from_h, h, h_next):
    """h_next [B,H] from the products with biases from_x, from_h [B,3·H] (r, z, n) and h [B,H]."""
    unit, row = cuda.grid(2)
    B, H = h.shape
    if row < B and unit < H:
        half, one = np.float32(0.5), np.float32(1)
        r = half * math.tanh(half * (from_x[row, unit] + from_h[row, unit])) + half
        z = half * math.tanh(half * (from_x[row, H + unit] + from_h[row, H + unit])) + half
        n = math.tanh(from_x[row, 2 * H + unit] + r * from_h[row, 2 * H + unit])
        h_next[row, unit] = (one - z) * n + z * h[row, unit]


# %% [markdown]
# **Predict:** how many numbers does it load and store for each unit? And how many do the fifteen kernels of the naive GRU?

# %%
rng = np.random.default_rng(0)
B, H = 4, 8
from_x, from_h = (rng.normal(size=(B, 3 * H)).astype("float32") for _ in range(2))
h, h_next = rng.normal(size=(B, H)).astype("float32"), np.zeros((B, H), "float32")
observation = cuda.observe(gru_pointwise, (1, 1), (8, 4), from_x, from_h, h, h_next)
counts = observation.counts
if counts:
    print(f"fused: {counts.global_loads / h.size:.0f} loads and {counts.global_stores / h.size:.0f} store a unit")
naive_gru = forward_plan("gru_after", Sizes(T=1, B=B, I=H, H=H, L=1))
others = [operation for operation in naive_gru.operations if operation.kind == "pointwise"]
moved = sum(operation.bytes() for operation in others) / 4 / h.size
print(f"naive: {len(others)} kernels move {moved:.0f} numbers a unit, {moved / 8:.1f} times 7 + 1")
drawings.show("one_thread_one_unit")

# %% [markdown]
# Seven loads and one store, and one launch. For training the kernel would also store numbers for the backward pass: r, z, n, and the candidate's recurrent part. The naive kernels move several times as much, and each of their launches costs more than its work.
#
# ### Exercise: the LSTM's kernel
#
# <!-- exercise: lstm_pointwise_kernel -->
#
# It is graded by its numbers, its loads and its stores. Inputs of ±100 are among the numbers.

# %% [markdown]
# Why does the recurrent product stay outside of that kernel? A product needs all of h, and the kernel replaces h. Here is a step of a tanh network in one kernel and one array; a line is missing.
#
# **Predict:** which thread reads a number that another one has already replaced? Press *show step* of the two accesses. Then add `cuda.syncthreads()` before the last line, and run the cell again.

# %%
@cuda.jit
def step_in_place(weights, h):
    """h [H] becomes tanh(weights [H,H] h): one block, a thread for each unit."""
    unit = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(h.size):
        total += weights[unit, k] * h[k]
    h[unit] = math.tanh(total)


cuda.replay(step_in_place[1, 8], np.eye(8, dtype="float32"), np.ones(8, "float32"))

# %% [markdown]
# In this run thread 0 has written its unit before thread 1 reads it. A barrier orders the threads of one block; a layer needs many blocks, and a barrier between them is lesson 15.
#
# Such kernels need not be written by hand. A plan stores the function of every pointwise operation, and `fuse_pointwise` joins those of a step into one operation. From it the course generates a kernel, in CUDA C++ for a GPU and in Python for the simulator. Below are lines of the LSTM's CUDA C++; a generator numbers its registers (r21, r22, …), so the names of the equations are lost.

# %%
from rnnlab.gpu.pointwise import cuda_source, launch_of

fused = fuse_pointwise(grouped)
kernel = next(operation for operation in fused.operations if operation.kind == "pointwise")
print(f"{fused.count()} launches a step; {len(kernel.body)} functions in one of them")
source = cuda_source(launch_of(kernel).work, "float32")
print("\n".join(line for line in source.splitlines() if "tanh" in line or line.startswith("  for")))

# %% [markdown]
# ## 4 · The backward pass
#
# In the backward pass, too, a step's pointwise work is one kernel. It reads the gates and the cells that the forward kernel stored; it writes the gradients of the sums, which the two following products read.
#
# Look at the tanh network, the smallest case. **Predict:** how many numbers does it load and store a unit?

# %%
@cuda.jit
def tanh_backward(h_next, dh, dsum):
    """dsum [B,H] = dh ∘ (1 − h_next²): the slope of tanh, written on its output."""
    unit, row = cuda.grid(2)
    if row < dh.shape[0] and unit < dh.shape[1]:
        tanh_of_sum = h_next[row, unit]
        dsum[row, unit] = dh[row, unit] * (np.float32(1) - tanh_of_sum * tanh_of_sum)


dsum = np.zeros_like(h)
counts = cuda.observe(tanh_backward, (1, 1), (8, 4), np.tanh(h), h, dsum).counts
if counts:
    print(f"{(counts.global_loads + counts.global_stores) / h.size:.0f} numbers a unit")
nudge = 1e-3
slope = (np.tanh(h + nudge) - np.tanh(h - nudge)) / (2 * nudge)
print("agrees with the finite difference:", np.allclose(dsum, h * slope, atol=1e-3))

# %% [markdown]
# ### Exercise: the LSTM's backward pass
#
# <!-- exercise: lstm_pointwise_backward_kernel -->
#
# Two gradients come in, five go out. Below its check the notebook compares your two kernels with each other.

# %% [markdown]
# In the backward pass products are not only grouped by a common factor. The gradient of h is a sum of four products, one for each gate, and **one product with a longer inner dimension** computes that sum by itself: [B, 4H] times [4H, H]. `group_gates` also replaces other sums by products that add to an array. Count the remaining launches of a step.

# %%
from rnnlab.schedule.build import backward_plan

for cell in ("rnn_tanh", "gru_after", "lstm"):
    counts = []
    for make_plan in (forward_plan, backward_plan):
        plan = make_plan(cell, Sizes(T=4, B=64, I=512, H=512, L=1))
        last = fuse_pointwise(group_gates(plan))
        counts.append(f"{plan.count() / 4:.0f} → {last.count() / 4:.0f}")
    print(f"{cell:10} forward {counts[0]} launches a step, backward {counts[1]}")
remaining = [operation for operation in last.operations if operation.steps == (1, 2)]
print("an LSTM's backward step:", ", ".join(operation.name for operation in remaining))

# %% [markdown]
# The last line names what is left of an LSTM's backward step: the pointwise kernel, products for the gradients of x, h and the weights, and sums for the biases. A GRU has more, because its candidate treats the recurrent part differently from the other gates.

# %% [markdown]
# ## 5 · Switch by switch
#
# Now all three, one after the other, in the model, for 512 units and for 2 048. **Predict** which of them gains most: on an M40, and on an H200? And what is left of each gain at 2 048 units?

# %%
steps = {
    "naive": {},
    "grouped gates": {"group_gates": True},
    "two streams": {"group_gates": True, "streams": 2},
    "fused pointwise": {"group_gates": True, "streams": 2, "fuse_pointwise": True},
}
gains = {}
for H, T in ((512, 100), (2048, 20)):
    for device in ("M40", "H200"):
        times = []
        for name, switches in steps.items():
            result = prediction(Settings(device=device, layers=1, hidden_size=H, steps=T, **switches))
            times.append(result.makespan)
            gains[H, device, name] = times[0] / times[-1]
            print(f"{H:4} units, {device:4} {name:16} {times[-1] / 1e3:6.2f} ms, {times[0] / times[-1]:4.1f} × naive, "
                  f"{times[max(0, len(times) - 2)] / times[-1]:4.2f} × the line above, {result.launches:4} launches")

# %% [markdown]
# Predicted. For the M40 the article's figures are known at second hand: 1.9 with grouped gates, 2.8 with streams, 5.3 with fused pointwise kernels, each over the naive form, for 512 units. Move the switches yourself; where the settings are those of the article, its figure stands in the title.
#
# **Break it:** take 2 048 units and a minibatch of 256. Which of the gains is left, and why?

# %%
explore_schedule(passes=("group_gates", "fuse_pointwise", "streams"), layers=1, steps=20, device="M40",
                 group_gates=True)

# %% [markdown]
# The gains have different causes, so they disappear at different sizes. Fusing saves launches and bytes of pointwise kernels; once products take much longer than these, its gain is small (compare the last lines of 512 and of 2 048 units). Grouping and streams fill multiprocessors; their gain becomes small only when a single gate's product fills the chip several times. For 64 sequences and 2 048 units that product has 32 tiles: they occupy a quarter of an H200's 132 multiprocessors, and even an M40's 24 are only filled one and a third times.
#
# With 256 sequences that product has 128 tiles. On an M40 grouping still gains 1.19, streams 1.12, fusing 1.02; on an H200 1.81, 1.21 and 1.03. What is left is what fills the chip.
#
# The claim said "by the same factor". Three launches in place of twenty-five make a step faster by what the other twenty-two cost, and that is a different factor on each device and for each size. One of the four below is 25/3 = 8.3 all the same, by chance: 512 units on an H200.
#
# ## Recap

# %%
rows = [
    ("grouped gates", "products that share a factor are one: fewer launches, a fuller chip"),
    ("stream", "a queue; two of them may run at once"),
    ("event", "makes one stream wait until another has reached an operation"),
    ("fused kernel", "numbers between operations stay in registers"),
    ("backward", "one product with a longer inner dimension sums the gates' gradients"),
    ("left of a step", "two products and one kernel forward"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

factors = {(H, device): gains[H, device, "fused pointwise"] for H in (512, 2048) for device in ("M40", "H200")}
holds = all(abs(factor / (25 / 3) - 1) < 0.05 for factor in factors.values())
print(f"\nclaim, faster by 25/3 = {25 / 3:.1f}: {'holds' if holds else 'does NOT hold'} in the model;",
      ", ".join(f"{H} units on an {device}: {factor:.1f}" for (H, device), factor in factors.items()))
rnnlab.progress("fused_cell")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a product of four gates take no longer than one gate's on an H200, at 512 units?</summary>32 blocks still leave 100 of 132 multiprocessors empty; all run at once.</details>
#
# <details><summary>Which product may run ahead of the recurrence, and which may not?</summary>x·Wᵀ may, because all x are known; h·Uᵀ waits for the step before.</details>
#
# <details><summary>How many numbers does an LSTM's fused forward kernel load and store for each unit?</summary>11: it loads four sums and c, and stores four gates, c and h.</details>
#
# <details><summary>Why is the derivative of tanh computed from its output?</summary>The output is stored anyway, for the next step or for a product; the input is not.</details>
#
# <details><summary>When does fusing gain nothing?</summary>When products take so long that the pointwise kernels and their launches do not count.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu in NVIDIA's code samples. The factors 1.9, 2.8 and 5.3 are second-hand, from the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - All times are the model's of `rnnlab/schedule/timeline.py`; its constants were fitted to the M40 ladder. `python -m rnncourse.views.published_timelines` holds it against eighteen published figures.
#
# Next: [13 · A layer in few kernels](13_fused_layer.ipynb)

# Course map: gates in one product, two streams, one kernel for the rest, forward and backward

# %% [markdown]
# # 12 · A cell in few kernels
#
# **Claim to test: an LSTM step in three launches in place of twenty-five is 25/3 times as fast, on every device and for every size. Is it?**
#
# You will group its products, launch them in two streams, and write one kernel for everything else, forward and backward. The recap answers the question.
#
# - **Time:** 100 minutes, exercises included.
# - **You need:** [11 · Is a busy GPU a full GPU?](11_naive_gpu_rnn.ipynb). No GPU.
# - **Afterwards you can** say how much grouping, streams and fusing gain on which device, and write a fused pointwise kernel with its gradient and count its bytes.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("kernels_of_a_step")

# %% [markdown]
# ## 1 · Products that share a factor
#
# The four gates of an LSTM multiply the same x with four matrices, and the same h with four others. Stack the matrices, and four products become one with four times as many columns: **grouped** gates.
#
# Lesson 11 found that four gates take 1.00 times as long as one on an H200: 32 blocks, 132 multiprocessors. An M40 has 24 multiprocessors. **Predict** with your `product_time`: how many times as long do four gates take there?

# %%
drawings.show("grouped_gates")

# %%
from pocketgpu.devices import DEVICES
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import Work

my_guess = ...

naive = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=512, L=1))
grouped = group_gates(naive)
for device in (DEVICES["M40"], DEVICES["H200"]):
    products = [next(operation for operation in plan.operations
                     if operation.kind == "gemm") for plan in (naive, grouped)]
    one, four = (Work.of(product, device, itemsize=4) for product in products)
    print(f"{device.name:4}: {one.blocks} blocks {one.solo_us:5.1f} µs, "
          f"{four.blocks} blocks {four.solo_us:5.1f} µs for four gates: "
          f"{four.solo_us / one.solo_us:.2f} times")
print(f"you guessed {my_guess} for the M40")
for name, plan in (("naive", naive), ("grouped", grouped)):
    print(f"{name:8} {plan.count('gemm')} products, {plan.count('pointwise')} "
          f"others, {plan.flops / 1e6:.0f} MFLOP, {plan.bytes() / 1e6:.1f} MB")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **1.13 times.** 8 blocks occupy a third of the M40's 24 multiprocessors; 32 blocks fill all and share them, in the model 1.33 each, as if blocks could be divided. By hand: 4 times the work, on 3 times as many multiprocessors, each at 1.33 / 2.83 = 0.47 of the best rate in place of 0.4: 4 / 3 / 1.18 = 1.13. Several blocks on a multiprocessor hide each other's waits.
#
# </details>
#
# The FLOPs are the same, and of 16.0 MB 15.2 are left: x and h are read once, and most of the bytes are weights. So grouping gains in two ways, fewer launches and a fuller chip.
#
# On a CPU larger products can gain, too. **Guess** the factor on your machine: four products of 16 sequences and 256 units, against one with the stacked weights.

# %%
import numpy as np

from rnncourse.lab.turns import disturbance, take_turns

my_guess = ...

h, U = (np.random.default_rng(0).normal(size=size).astype("float32")
        for size in ((16, 256), (4, 256, 256)))
stacked = np.ascontiguousarray(U.reshape(1024, 256))
ways = {"four products": lambda: [h @ gate.T for gate in [*U] * 20],
        "one product": lambda: [h @ stacked.T for _ in range(20)]}
timed = take_turns(ways, 5)
print(disturbance(timed) or "nothing disturbed these times:")
four, one = (timing.median / 20 * 1e6 for timing in timed.values())
print(f"four products {four:.0f} µs, one {one:.0f} µs: {four / one:.2f} times "
      f"as fast, you guessed {my_guess}")

# %% [markdown]
# Near 1 or below, more columns do not help your BLAS. The cores need not be full: with 16 rows each weight is used only 16 times. Well above 1, one gate's product was too small, as on the H200. In between, the costs of four calls may be the cause.
#
# ### Exercise: group the gates
#
# <!-- exercise: group_gates -->
#
# In [work/12_fused_cell.ipynb](../work/12_fused_cell.ipynb).

# %% [markdown]
# ## 2 · Two streams
#
# x·Wᵀ of a step does not wait for the step before; h·Uᵀ does. In one stream the two still run one after the other, because a **stream** is a queue. In two streams they may run at the same time, each on its part of the chip. Where the sum needs both results, an **event** makes one stream wait until the other has finished a certain operation.
#
# **Predict** before you look at the picture, for an M40: which of the two streams will have gaps, that of the recurrence or that of the input products? The picture has a row for each; `beside` is the stream of the input products. The bars below it are the forms of lessons 11 to 14; not each of them gains with one layer.

# %%
from rnncourse.views.schedule_view import (
    Settings,
    draw_schedule,
    explore_schedule,
    prediction,
)

my_guess = ...
start = dict(layers=1, hidden_size=512, minibatch=64, steps=10, device="M40",
             group_gates=True)
drawings.show("two_streams")
draw_schedule(Settings(**start, streams=2), launches_shown=40)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **The input products.** Their stream runs ahead of the recurrence and then waits for the host, which issues 19 kernels a step and only one of them for this stream.
#
# </details>
#
# **Predict** the gain of the second stream on both devices.

# %%
my_guess = {"M40": ..., "H200": ...}

for device in ("M40", "H200"):
    one, two = (prediction(Settings(**start | {"device": device},
                                    streams=streams)).makespan
                for streams in ("one for all", 2))
    sheet = DEVICES[device]
    inputs = Work.of(products[1], sheet, itemsize=4).solo_us + sheet.node
    share = start["steps"] * inputs / one
    print(f"{device:4}: one stream {one / 1e3:.2f} ms, two {two / 1e3:.2f} ms: "
          f"{one / two:.2f} times as fast, you guessed {my_guess[device]}")
    print(f"      input products take {share:.0%} of the one stream: hidden "
          f"completely, they gain {1 / (1 - share):.2f}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **1.26 and 1.57.** A second stream can hide no more than the input products. They are a larger share of a step on the H200, because its small kernels are short. It hides nearly all of them: two products have 32 blocks each, and it has 132 multiprocessors. The M40 has no free multiprocessor, since one product has 32 blocks for its 24. But most input products run beside the small kernels, which leave the chip nearly idle.
#
# </details>
#
# ## 3 · One kernel for the rest
#
# Only 8 of a naive step's 25 launches are products. Each of the other 17 reads arrays, does one operation for each number, and writes an array that the next one reads again. If they are **fused** into one kernel, the numbers in between stay in registers.
#
# Here is a GRU's pointwise work as one kernel; you write the LSTM's. A thread computes one unit of one sequence, and stores each of its results once. The sigmoid is written as σ(a) = (1 + tanh(a/2)) / 2, which cannot overflow: tanh stays between −1 and 1, while exp(−a) in float32 becomes infinite for a = −100.

# %%
import math

from rnnlab import cuda


@cuda.jit
def gru_pointwise(from_x, from_h, h, h_next):
    """h_next [B,H] from the products with biases from_x, from_h [B,3·H] (r, z,
    n) and h [B,H]."""
    unit, row = cuda.grid(2)
    B, H = h.shape
    if row < B and unit < H:
        half, one = np.float32(0.5), np.float32(1)
        a_r = from_x[row, unit] + from_h[row, unit]
        r = half * math.tanh(half * a_r) + half
        a_z = from_x[row, H + unit] + from_h[row, H + unit]
        z = half * math.tanh(half * a_z) + half
        n = math.tanh(from_x[row, 2 * H + unit] + r * from_h[row, 2 * H + unit])
        h_next[row, unit] = (one - z) * n + z * h[row, unit]


# %% [markdown]
# **Predict:** how many numbers does it load and store for each unit? And how many do the kernels of the naive GRU move? Its four kernels that add biases are left out, since here the biases are in the products.

# %%
my_guess = {"fused": ..., "naive": ...}

rng = np.random.default_rng(0)
B, H = 4, 8
from_x, from_h = (rng.normal(size=(B, 3 * H)).astype("float32")
                  for _ in range(2))
h, h_next = (rng.normal(size=(B, H)).astype("float32"),
             np.zeros((B, H), "float32"))
observation = cuda.observe(gru_pointwise, (1, 1), (8, 4), from_x, from_h, h,
                           h_next)
counts = observation.counts
if counts:
    print(f"fused: {counts.global_loads / h.size:.0f} loads and "
          f"{counts.global_stores / h.size:.0f} store a unit")
naive_gru = forward_plan("gru_after", Sizes(T=1, B=B, I=H, H=H, L=1))
others = [operation for operation in naive_gru.operations
          if operation.kind == "pointwise" and "bias" not in operation.name]
moved = sum(operation.bytes() for operation in others) / 4 / h.size
print(f"naive: {len(others)} kernels move {moved:.0f} numbers a unit, "
      f"{moved / 8:.1f} times as many; you guessed {my_guess}")
drawings.show("one_thread_one_unit")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **7 + 1 against 29.** For training the kernel would also store numbers for the backward pass: r, z, n, and the candidate's recurrent part. The 11 naive kernels move 3.6 times as much, and with 512 units and 64 sequences, by the model of lesson 11, the launch of each costs more than its work.
#
# </details>
#
# ### Exercise: the LSTM's kernel
#
# <!-- exercise: lstm_pointwise_kernel -->
#
# It is graded by its numbers, its loads and its stores. Inputs of ±100 are among the numbers.

# %% [markdown]
# Why does the recurrent product stay outside of that kernel? A library's tiled product is fast, and the next step needs the new h of *all* blocks: without a barrier of the whole grid (lesson 15) only the next launch may read it. Here is a step of a tanh network in one kernel and one array; a line is missing.
#
# **Predict:** which thread reads a number that another one has already replaced? Then press *show step*: it shows two accesses whose order is not fixed. Add `cuda.syncthreads()` before the last line, and run the cell again.

# %%
@cuda.jit
def step_in_place(weights, h):
    """h [H] becomes tanh(weights [H,H] h): one block, a thread for each
    unit."""
    unit = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(h.size):
        total += weights[unit, k] * h[k]
    h[unit] = math.tanh(total)


my_guess = ...
cuda.replay(step_in_place[1, 8], np.full((8, 8), 0.125, "float32"),
            np.ones(8, "float32"))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Here thread 0 comes first, so thread 1 and all later threads read an h[0] that is already replaced. The finding names another pair: thread 0 still read the old h[1], and on a GPU thread 1 may replace it first. A barrier orders the threads of one block; a layer needs many blocks, and a barrier between them is lesson 15.
#
# </details>
#
# Such kernels need not be written by hand. A plan stores the function of every pointwise operation; `fuse_pointwise` joins those of a step, and `rnnlab.gpu.card` writes the kernel, in CUDA C++ for a GPU and in Python for the simulator. An LSTM's step then has 3 launches, one of them with 17 functions.

# %% [markdown]
# ## 4 · The backward pass
#
# In the backward pass, too, a step's pointwise work is one kernel. It reads the gates and the cells that the forward kernel stored; it writes the gradients of the sums, which all other operations of the step read.
#
# Look at the tanh network, the smallest case. **Predict:** how many numbers does its kernel load and store for each unit?

# %%
@cuda.jit
def tanh_backward(h_next, dh, dsum):
    """dsum [B,H] = dh ∘ (1 − h_next²): the slope of tanh, written on its
    output."""
    unit, row = cuda.grid(2)
    if row < dh.shape[0] and unit < dh.shape[1]:
        tanh_of_sum = h_next[row, unit]
        slope = np.float32(1) - tanh_of_sum * tanh_of_sum
        dsum[row, unit] = dh[row, unit] * slope


my_guess = ...

dsum = np.zeros_like(h)
counts = cuda.observe(tanh_backward, (1, 1), (8, 4), np.tanh(h), h, dsum).counts
if counts:
    print(f"{(counts.global_loads + counts.global_stores) / h.size:.0f} "
          f"numbers a unit, you guessed {my_guess}")
nudge = 1e-3
slope = (np.tanh(h + nudge) - np.tanh(h - nudge)) / (2 * nudge)
print("agrees with the finite difference:",
      np.allclose(dsum, h * slope, atol=1e-3))

# %% [markdown]
# ### Exercise: the LSTM's backward pass
#
# <!-- exercise: lstm_pointwise_backward_kernel -->
#
# Two gradients come in, five go out.

# %% [markdown]
# Backward, products can be joined in a second way. The gradient of h is a sum of four products, one for each gate. Put the four factors side by side, [B, 4H], and the four weight matrices on top of each other, [4H, H]: **one product with a longer inner size** then computes the products and their sum. **Predict:** an LSTM's backward step has 36 launches; how many are left?

# %%
my_guess = ...

print(f"you guessed {my_guess}")
for cell in ("rnn_tanh", "gru_after", "lstm"):
    counts = []
    for make_plan in (forward_plan, backward_plan):
        plan = make_plan(cell, Sizes(T=4, B=64, I=512, H=512, L=1))
        last = fuse_pointwise(group_gates(plan))
        counts.append(f"{plan.count() / 4:.0f} → {last.count() / 4:.0f}")
    print(f"{cell:10} forward {counts[0]} launches a step, backward "
          f"{counts[1]}")
remaining = [operation for operation in last.operations
             if operation.steps == (1, 2)]
print("an LSTM's backward step:",
      ", ".join(operation.name for operation in remaining))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **6:** the pointwise kernel, the products for the gradients of x, h and the two weights, and the sum for the biases. A GRU has 9: in this course's plans the gradient of its candidate's recurrent part has a buffer of its own, so three of these take two launches.
#
# </details>

# %% [markdown]
# ## 5 · Switch by switch
#
# Now all three, one after the other, in the model, for 512 units and for 2,048. **Predict:** which of them gains most for 512 units, on an M40 and on an H200?

# %%
steps = {
    "naive": {},
    "grouped gates": {"group_gates": True},
    "two streams": {"group_gates": True, "streams": 2},
    "fused pointwise": {"group_gates": True, "streams": 2,
                        "fuse_pointwise": True},
}
my_guess = {"M40": ..., "H200": ...}

gains = {}
print("units  GPU   ideas so far         ms  × naive  × line above  launches")
for H, T in ((512, 100), (2048, 20)):
    for device in ("M40", "H200"):
        where = dict(device=device, layers=1, steps=T, hidden_size=H)
        times = []
        for name, switches in steps.items():
            result = prediction(Settings(**where, **switches))
            times.append(result.makespan)
            gains[H, device, name] = times[0] / times[-1]
            print(f"{H:5}  {device:4}  {name:16}{times[-1] / 1e3:7.2f}"
                  f"{times[0] / times[-1]:9.1f}"
                  f"{times[max(0, len(times) - 2)] / times[-1]:14.2f}"
                  f"{result.launches:10}")
        alone = [times[0] / prediction(Settings(**where | {name: on})).makespan
                 for name, on in switches.items()]
        print(f"{H:5}  {device:4}  each alone:",
              ", ".join(f"{name} {factor:.2f}"
                        for name, factor in zip(switches, alone, strict=True)))
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **Grouped gates:** on the H200 clearly, 3.20 against 1.64 of the fused kernel; on the M40 by too little to count, 2.25 against 2.15. Another order gives other factors: each alone, fusing gains only 1.26 and 1.08. At 2,048 units, as the last step, it gains 1.07 and 1.10: products take long, and input products of the second stream already run beside the small kernels. For the M40 published factors are known at second hand: 1.9, 2.8 and 5.3 times the naive form, so grouping and fusing gain 1.9 each. The model has 2.2, 2.9 and 6.1; its constants were fitted to these figures, so this is not a test of it.
#
# </details>
#
# **Break it:** take 2,048 units and a minibatch of 256. Which of the gains is left? **Guess**, then move the switches.

# %%
explore_schedule(passes=("group_gates", "fuse_pointwise", "streams"), layers=1,
                 steps=20, device="M40", group_gates=True)

# %% [markdown]
# <details><summary>What is left, and why</summary>On an M40 grouping still gains 1.19, streams 1.12, fusing 1.02, together 1.4; on an H200 1.81, 1.21 and 1.03, together 2.3. Grouped, a product has 21 blocks a multiprocessor in place of 5 on an M40, 3.9 in place of 1 on an H200. Blocks hide each other's waits; the fewer at first, the more grouping gains.</details>
#
# So 25/3 = 8.3 is not a rule: 512 units on an H200 give it by chance.
#
# ## Recap
#
# **Three launches in place of twenty-five gain what 22 launches and a fuller chip are worth, not 25/3 everywhere: in the model 2.1 to 8.3 times in the table's four cases, and 1.4 with 2,048 units and 256 sequences on an M40.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("grouped gates", "products that share a factor are one, on a fuller chip"),
    ("stream", "a queue; two of them may run at once"),
    ("event", "a stream waits until another has finished an operation"),
    ("fused kernel", "numbers between operations stay in registers"),
    ("backward", "one longer product sums the gates' gradients"),
    ("left of a step", "two products and one kernel forward"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

factors = {(H, device): gains[H, device, "fused pointwise"] for H in (512, 2048)
           for device in ("M40", "H200")}
holds = all(abs(factor / (25 / 3) - 1) < 0.05 for factor in factors.values())
print(f"\nclaim, faster by 25/3 = {25 / 3:.1f}: "
      f"{'holds' if holds else 'does NOT hold'} in the model;",
      ", ".join(f"{H} units on an {device}: {factor:.1f}"
                for (H, device), factor in factors.items()))
rnnlab.progress("12_fused_cell")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a product of four gates take no longer than one gate's on an H200, at 512 units and 64 sequences?</summary>32 blocks still leave 100 of 132 multiprocessors empty; all run at once.</details>
#
# <details><summary>Which product may run ahead of the recurrence, and which may not?</summary>x·Wᵀ may, because all x are known; h·Uᵀ waits for the step before.</details>
#
# <details><summary>How many numbers does an LSTM's fused forward kernel load and store for each unit?</summary>The exercise's kernel, whose products are added up already, 11: it loads four sums and c, and stores four gates, c and h.</details>
#
# <details><summary>Why is the derivative of tanh computed from its output?</summary>The output is stored anyway, for the next step or for a product; the input is not.</details>
#
# <details><summary>When does fusing gain almost nothing?</summary>When products take so long that the pointwise kernels and their launches do not count.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu in NVIDIA's code samples. The factors 1.9, 2.8 and 5.3 are second-hand, from the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - Predicted times are the model's of `rnnlab/schedule/timeline.py`; its constants were fitted to the M40 ladder. docs/timeline_model.md holds it against eighteen published figures.
#
# Next: [13 · May it leave the loop?](13_fused_layer.ipynb)

# %% [markdown]
# # 11 · A cell in few kernels
#
# **Claim: an LSTM step takes three launches in place of twenty-five, and is faster by as much.**
#
# You will group its products, send two of them off at the same time, and write one kernel for all the rest, forward and backward. The three gain different things, and the timeline shows which.
#
# - **Time:** 100 minutes, exercises included.
# - **You need:** [10 · A naive RNN on a GPU](10_naive_gpu_rnn.ipynb). No GPU.
# - **Afterwards you can** say what grouping, streams and fusing take away on which device, and write a fused pointwise kernel with its gradient and count its bytes.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("fused_cell")

# %% [markdown]
# ## 1 · Products that share a factor
#
# The four gates of an LSTM multiply the same x with four matrices, and the same h with four others. Stack the matrices, and four products become one with four times as many columns: **grouped** gates. Nothing is computed that was not computed before.
#
# **Predict:** on an H200, 512 units and 64 sequences, how many times as long does the stacked product take as one gate's?

# %%
from rnnlab.devices import DEVICES
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import Work

my_guess = 4

naive = forward_plan("lstm", Sizes(T=1, B=64, I=512, H=512, L=1))
grouped = group_gates(naive)
for device in (DEVICES["M40"], DEVICES["H200"]):
    first = [next(each for each in plan.operations if each.kind == "gemm") for plan in (naive, grouped)]
    one, four = (Work.of(each, device, itemsize=4) for each in first)
    print(f"{device.name:4}: {one.blocks} blocks {one.solo_us:5.1f} µs, {four.blocks} blocks {four.solo_us:5.1f} µs "
          f"for four gates: {four.solo_us / one.solo_us:.2f} times, you guessed {my_guess}")

# %% [markdown]
# These are the model's times. A product is cut into tiles of 64 by 64, a block each. On an H200 8 blocks leave 124 multiprocessors empty, and 32 leave 100: the larger product takes the same time. An M40 has 24 multiprocessors; 8 blocks fill a third of it, 32 fill it once and a third.
#
# So grouping gains in two ways: fewer launches, and a fuller chip. How much of a chip four gates fill depends on the chip.

# %%
for name, plan in (("naive", naive), ("grouped", grouped)):
    print(f"{name:8} {plan.count('gemm')} products, {plan.count('pointwise')} others, "
          f"{plan.flops / 1e6:.0f} MFLOP, {plan.bytes() / 1e6:.1f} MB")

# %% [markdown]
# The FLOPs are the same; a few bytes are saved, because x and h are read twice and not eight times. Most of what is left to move is weights.
#
# ### Exercise: group the gates
#
# <!-- exercise: group_gates -->
#
# In [work/11_fused_cell.ipynb](../work/11_fused_cell.ipynb).

# %%
rnnlab.progress("fused_cell")

# %% [markdown]
# ## 2 · Two streams
#
# x·Wᵀ of a step does not wait for the step before; h·Uᵀ does. In one stream the two run one after the other all the same, because a **stream** is a queue. In two streams they may run at once, each on its part of the chip. Where the sum needs both, an **event** holds one stream until the other has come so far.
#
# **Predict:** which of the two streams will have gaps?

# %%
from rnnlab.widgets.schedule_view import Settings, draw_schedule, explore_schedule, prediction

start = dict(layers=1, hidden_size=512, minibatch=64, steps=10, device="M40", group_gates=True)
draw_schedule(Settings(**start, streams=2), launches_shown=40)

# %% [markdown]
# Predicted, for an M40: the picture has a row for each stream. The input products run ahead of the recurrence as long as the host issues them in time, and pack into places the recurrence leaves empty.
#
# On a chip that one product fills, streams gain nothing: two products at once take as long as two in a row. **Predict** the gain on both devices, then run.

# %%
for device in ("M40", "H200"):
    one, two = (prediction(Settings(**start | {"device": device}, streams=streams)).makespan
                for streams in ("one for all", 2))
    print(f"{device:4}: one stream {one / 1e3:.2f} ms, two {two / 1e3:.2f} ms: {one / two:.2f} times as fast")

# %% [markdown]
# ## 3 · One kernel for the rest
#
# Seventeen of a naive step's launches are no product. Each reads an array, does one operation for each number, and writes an array that the next one reads again. **Fused** into one kernel, what lies between stays in registers.
#
# Here is a GRU's pointwise work as one kernel; the LSTM's is yours. A thread has one unit of one sequence, and everything it makes for later use is stored once.

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
ran = cuda.observe(gru_pointwise, (1, 1), (8, 4), from_x, from_h, h, h_next)
if ran.counts:
    print(f"fused: {ran.counts.global_loads / h.size:.0f} loads and {ran.counts.global_stores / h.size:.0f} store a unit")
naive_gru = forward_plan("gru_after", Sizes(T=1, B=B, I=H, H=H, L=1))
others = [each for each in naive_gru.operations if each.kind == "pointwise"]
moved = sum(each.bytes() for each in others) / 4 / h.size
print(f"naive: {len(others)} kernels move {moved:.0f} numbers a unit")

# %% [markdown]
# Seven loads and one store, and one launch. For training it would also store the gates: three more. The naive kernels move nearly five times as much, and each of their launches costs more than its work.
#
# ### Exercise: the LSTM's kernel
#
# <!-- exercise: lstm_pointwise_kernel -->
#
# It is graded by its numbers, its loads and its stores.

# %%
rnnlab.progress("fused_cell")

# %% [markdown]
# Nobody has to write these by hand. A plan knows the function of every pointwise operation, and `fuse_pointwise` puts a step's into one; from that the course writes a kernel, in CUDA C++ for a GPU and in Python for the simulator. This is the LSTM's, as a GPU would compile it.

# %%
from rnnlab.schedule.pointwise import cuda_source, launch_of

fused = fuse_pointwise(grouped)
kernel = next(each for each in fused.operations if each.kind == "pointwise")
print(f"{fused.count()} launches a step; {len(kernel.body)} functions in one of them")
source = cuda_source(launch_of(kernel).work, "float32")
print("\n".join(line for line in source.splitlines() if "tanh" in line or line.startswith("  for")))

# %% [markdown]
# ## 4 · The way back
#
# Backward, a step's pointwise work is one kernel too. What it reads are the gates and the cells that the forward kernel stored; what it writes are the gradients of the sums, for the two products that follow.
#
# Look at the tanh network, the smallest case. **Predict:** how many numbers move a unit?

# %%
@cuda.jit
def tanh_backward(h_next, dh, dsum):
    """dsum [B,H] = dh ∘ (1 − h_next²): the slope of tanh, written on its output."""
    unit, row = cuda.grid(2)
    if row < dh.shape[0] and unit < dh.shape[1]:
        bent = h_next[row, unit]
        dsum[row, unit] = dh[row, unit] * (np.float32(1) - bent * bent)


dsum = np.zeros_like(h)
ran = cuda.observe(tanh_backward, (1, 1), (8, 4), np.tanh(h), h, dsum)
if ran.counts:
    print(f"{(ran.counts.global_loads + ran.counts.global_stores) / h.size:.0f} numbers a unit")
nudge = 1e-3
slope = (np.tanh(h + nudge) - np.tanh(h - nudge)) / (2 * nudge)
print("as the difference says:", np.allclose(dsum, h * slope, atol=1e-3))

# %% [markdown]
# ### Exercise: the LSTM's way back
#
# <!-- exercise: lstm_pointwise_backward_kernel -->
#
# Two gradients arrive, five leave. Below its check the notebook compares your two kernels with each other.

# %%
rnnlab.progress("fused_cell")

# %% [markdown]
# On the way back products are not grouped by a factor alone: the four gradients of h meet in a sum, and **one product with a taller factor** adds them up by itself. `group_gates` turns the sum into products that add to what is there already. Count what is left of a step.

# %%
from rnnlab.schedule.build import backward_plan

for cell in ("rnn_tanh", "gru_after", "lstm"):
    told = []
    for make in (forward_plan, backward_plan):
        plan = make(cell, Sizes(T=4, B=64, I=512, H=512, L=1))
        told.append(f"{plan.count() // 4:2} → {fuse_pointwise(group_gates(plan)).count() // 4}")
    print(f"{cell:10} forward {told[0]} launches a step, backward {told[1]}")

# %% [markdown]
# ## 5 · Switch by switch
#
# Now all three, one after the other, in the model. **Predict** which of them is worth most: on an M40, and on an H200?

# %%
steps = {
    "naive": {},
    "grouped gates": {"group_gates": True},
    "two streams": {"group_gates": True, "streams": 2},
    "fused pointwise": {"group_gates": True, "streams": 2, "fuse_pointwise": True},
}
for device in ("M40", "H200"):
    naive_time = None
    for name, switches in steps.items():
        told = prediction(Settings(device=device, layers=1, steps=100, **switches))
        naive_time = naive_time or told.makespan
        print(f"{device:4} {name:16} {told.makespan / 1e3:6.2f} ms, {naive_time / told.makespan:4.1f} ×, "
              f"{told.launches:4} launches, idle {told.idle:.0%}")

# %% [markdown]
# Predicted. For the M40 the article's figures are known at second hand: 1.9 with grouped gates, 2.8 with streams, 5.3 with fused pointwise kernels, each over the naive form. Play with the switches yourself; where the settings are those of the article, its figure stands in the title.
#
# **Break it:** take 2 048 units. What is left of each gain, and why?

# %%
explore_schedule(passes=("group_gates", "fuse_pointwise", "streams"), layers=1, steps=20, device="M40",
                 group_gates=True)

# %% [markdown]
# At 2 048 units one gate's product fills the M40 and takes longer than all launches of the step: grouping, streams and fusing have little left to take away. All three are cures for *small* steps.
#
# The claim at the top was wrong, then, in one word: three launches in place of twenty-five make a step faster by what the twenty-two cost, and that is another factor on each device.
#
# ## Recap

# %%
rows = [
    ("grouped gates", "products that share a factor are one: fewer launches, a fuller chip"),
    ("stream", "a queue; two of them may run at once"),
    ("event", "holds one stream until another has come so far"),
    ("fused kernel", "what lies between operations stays in registers"),
    ("backward", "one product with a taller factor adds the gates' gradients up"),
    ("left of a step", "two products and one kernel forward"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a product of four gates take no longer than one gate's on an H200, at 512 units?</summary>32 blocks still leave 100 of 132 multiprocessors empty; all run at once.</details>
#
# <details><summary>Which product may run ahead of the recurrence, and which not?</summary>x·Wᵀ may, all x are known; h·Uᵀ waits for the step before.</details>
#
# <details><summary>An LSTM's fused forward kernel: how many numbers move a unit?</summary>11: four sums and c in, four gates, c and h out.</details>
#
# <details><summary>Why is the slope of a function written on its output?</summary>The output is stored anyway, for the next step or for a product; the input is not.</details>
#
# <details><summary>When does fusing gain nothing?</summary>When products take so long that the pointwise kernels and their launches do not count.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu in NVIDIA's code samples. The factors 1.9, 2.8 and 5.3 are second-hand, from the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - All times are the model's of `rnnlab/schedule/timeline.py`; its constants were fitted to the M40 ladder. `python -m rnnlab.bench.published_timelines` holds it against eighteen published figures.
#
# Next: [12 · A layer in few kernels](12_fused_layer.ipynb)

# %% [markdown]
# # 13 · A layer in few kernels
#
# **Claim to test: whatever can be taken out of the loop over time should be.**
#
# Three operations can: transposing the weights, the products with the inputs, and the products for the weights' gradients. You will take each of them out, count launches, bytes and memory, and see which of them gains most in which direction. The recap tests the claim for one layer, lesson 14 for several.
#
# - **Time:** 85 minutes, exercises included.
# - **You need:** [12 · A cell in few kernels](12_fused_cell.ipynb), [05 · Shapes of products](05_gemm_shapes.ipynb). No GPU.
# - **Afterwards you can** say which operations of a layer wait for the previous step, move those that do not, show that nothing is read too early, and say what moving them costs in memory.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("fused_layer")

# %% [markdown]
# ## 1 · What waits for whom
#
# A step of the grouped, fused LSTM of lesson 12 has three launches forward and six backward. **Predict:** which of the nine wait for another step: for the one before in the forward pass, for the one after in the backward pass?

# %%
from rnnlab.schedule import stages
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes

T = 3
plans = {}
for make_plan in (forward_plan, backward_plan):
    plan = fuse_pointwise(group_gates(make_plan("lstm", Sizes(T=T, B=64, I=512, H=512, L=1))))
    plans[plan.direction] = plan
    for operation, sources in zip(plan.operations, dependencies(plan), strict=True):
        if operation.steps != (1, 2):
            continue
        others = sorted({plan.operations[k].steps[0] for k in sources} - {1})
        result = f"waits for step {others[0]}" if others else "waits for no step"
        only_adds = others and operation.accumulates and operation.writes[0].buffer.startswith(("dweight", "dbias"))
        print(f"{plan.direction:8} {operation.name:24} {result}{', only to add to the same sum' if only_adds else ''}")

# %% [markdown]
# A plan records which operation reads what another one writes, so these lines are derived from it. In the forward pass the product with the inputs waits for no other step. In the backward pass two operations must stay in the loop: the pointwise kernel, and the product that computes the gradient for the step before. The other products wait for no step, or only because they add to the same sum one after the other.
#
# An operation that waits for no other step, or only to add to a sum, can be done once for all steps.

# %% [markdown]
# ## 2 · Weights transposed once
#
# A product reads a factor as it is stored, or transposed. The forward product h·Uᵀ reads U transposed; the libraries' kernels for that are a little slower: twelve percent in the course's model (fitted, not measured), up to a factor of two for some sizes in Elsen's measurements (lesson 05). Transposing U once reads and writes its 4·H² numbers, those of all four gates.
#
# **Predict:** after how many steps is the transposition cheaper than not transposing, for 512 units?

# %%
drawings.show("transposed_once")

# %%
from math import ceil

from pocketgpu.devices import DEVICES
from rnnlab.schedule.passes import transpose_once
from rnnlab.schedule.timeline import Work

my_guess = 10
M40 = DEVICES["M40"]
plan = plans["forward"]
transposed = transpose_once(plan)
slow, fast = ([operation for operation in way.operations if operation.kind == "gemm"][-1] for way in (plan, transposed))
gain = Work.of(slow, M40, 4).solo_us - Work.of(fast, M40, 4).solo_us
transposition = next(operation for operation in transposed.operations if operation.kind == "transpose")
price = Work.of(transposition, M40, 4).solo_us + M40.node
print(f"transposing costs {price:.0f} µs, each product gains {gain:.1f} µs: "
      f"{price / gain:.1f} times as much, so it pays off from {ceil(price / gain)} steps on; you guessed {my_guess}")

# %% [markdown]
# Predicted, for an M40. Transposing pays off for sequences and not for a single step. Why not store the weights transposed for ever? Because the backward pass multiplies with U as it is stored, and would then be the slower one.
#
# ### Exercise: transpose once
#
# <!-- exercise: transpose_once -->
#
# In [work/13_fused_layer.ipynb](../work/13_fused_layer.ipynb).

# %% [markdown]
# ## 3 · Inputs of several steps
#
# All inputs of the layer are known before its loop starts. k steps of B sequences are one product with k·B rows. **Predict:** how many times as fast is one product of 100 steps as 100 products, on an H200 with 64 sequences and 512 units?

# %%
from functools import partial

from rnnlab.schedule.passes import batch_inputs

H200, long = DEVICES["H200"], fuse_pointwise(group_gates(forward_plan("lstm", Sizes(100, 64, 512, 512, 1))))
my_guess = 5
times = {}
for k in (1, 2, 4, 10, 100):
    batched = batch_inputs(long, steps=k)
    products = [operation for operation in batched.operations
                if operation.kind == "gemm" and operation.reads[1].buffer == "weight_ih_l0"]
    work = [Work.of(product, H200, 4) for product in products]
    times[k] = sum(product.solo_us for product in work)
    print(f"k = {k:3}: {len(products):3} products, {work[0].blocks:4} blocks each, {times[k] / 1e3:5.2f} ms together")
print(f"all at once {times[1] / times[100]:.1f} times as fast; you guessed {my_guess}")

# %% [markdown]
# The 32 blocks of one step fill a quarter of the chip, those of a hundred steps fill it many times over. That is the gain of lesson 05, and it has the price of lesson 05: the products of all steps are stored in memory before the first step needs them.
#
# **Predict:** how many megabytes are that for 4 layers, 100 steps, 64 sequences, 512 units?

# %%
drawings.show("inputs_of_k_steps")

# %%
gates_of_all_steps = 100 * 64 * 4 * 512 * 4
print(f"{gates_of_all_steps / 1e6:.0f} MB a layer with k = T, {2 * gates_of_all_steps / 100 / 1e6:.1f} MB with k = 2")
saved = 100 * 64 * (4 + 1 + 1) * 512 * 4
print(f"a layer saves {saved / 1e6:.0f} MB for its backward pass anyway: gates, c and h")
print(f"four layers: {4 * gates_of_all_steps / 1e6:.0f} MB of products, {4 * saved / 1e6:.0f} MB saved")

# %% [markdown]
# In training the gates are saved anyway, and the products can be written directly into the memory of the gates: then k = T needs no additional memory. If nothing is saved for a backward pass, k decides how much memory a layer needs.
#
# The pass does the same backward: dx of k steps, the gradients that go to the layer below, is one product for these steps, because within a layer no step waits for another one's dx. Section 6 shows what that gains.
#
# ### Exercise: k steps at a time
#
# <!-- exercise: batch_inputs -->

# %% [markdown]
# ## 4 · May it be moved?
#
# Moving a product needs a reason, and a proof that no array is read too early or overwritten too early: a **hazard** is a pair of operations whose order matters. Let us move an operation that must not be moved: the product of step 1, to a place before the state it reads has been written.

# %%
drawings.show("hazard")

# %%
from rnnlab.schedule.order import reorder

names = [str(operation) for operation in plan.operations]
recurrent = next(k for k, name in enumerate(names) if name.startswith("gemm → ~hU") and "step 1" in name)
order = [recurrent, *(k for k in range(len(names)) if k != recurrent)]
try:
    reorder(plan, order)
except ValueError as hazard:
    print(hazard)

# %% [markdown]
# Every pass of the course goes through this check. It compares the regions of memory that operations read and write, and needs no knowledge of RNNs. A buffer that two steps use in turn causes hazards like any other: the second step may not write before the first step's numbers have been read.
#
# **Break it:** batch the inputs of *layer 1* over all steps, while layer 0 runs step by step. **Predict:** is the pass refused? And which step of layer 0 does the first product of layer 1 wait for, before and after?

# %%
two = fuse_pointwise(group_gates(forward_plan("lstm", Sizes(4, 2, 3, 5, 2))))
for name, way in (("step by step", two), ("all steps at once", batch_inputs(two))):
    first = next(k for k, operation in enumerate(way.operations) if operation.layer == 1)
    awaited = [way.operations[k] for k in dependencies(way)[first] if way.operations[k].layer == 0]
    last = max(operation.steps[1] for operation in awaited) - 1
    print(f"{name}: the first product of layer 1 waits for layer 0 up to step {last} of 0 to {two.sizes.T - 1}")

# %% [markdown]
# It is not refused. Before, layer 1 could begin as soon as layer 0 had computed step 0; now its product over all steps waits for the last one. That is legal, but the layers can no longer overlap. Lesson 14 is about that price.

# %% [markdown]
# ## 5 · Weight gradients after the loop
#
# dU is the sum over all steps of dₜᵀ·hₜ₋₁. Step by step that is T products, and each adds to an array that it has to read and write. As one product over all steps, the product itself computes the sum.
#
# **Predict:** which share of a backward pass's bytes is spent on the gradients of the weights if they are computed in the loop? 512 units, 64 sequences.

# %%
drawings.show("gradient_after_loop")

# %%
from rnnlab.schedule.passes import weight_gradient_after_loop

sizes = Sizes(20, 64, 512, 512, 1)
in_loop = fuse_pointwise(group_gates(backward_plan("lstm", sizes)))
for name, way in (("in the loop", in_loop), ("after it", weight_gradient_after_loop(in_loop))):
    products = [operation for operation in way.operations if operation.writes[0].buffer.startswith("dweight")]
    share = sum(operation.bytes() for operation in products) / way.bytes()
    print(f"{name:12} {way.count():3} launches, {way.bytes() / 1e6:6.0f} MB, {share:.0%} for weight gradients, "
          f"{way.flops / 1e9:.1f} GFLOP")

# %% [markdown]
# The number of FLOPs is exactly the same; launches and bytes are not. A project at Carnegie Mellon (CuLSTM, 2017) reports that this alone made its whole backward pass 1.47 times as fast on a GTX 1080: 159.0 ms became 107.8 (the project's report; not checked by this course). The course's model does not reproduce that: it predicts 155.5 ms there, a gain of 1.25, and in section 6, beside the other two ideas, a few percent.
#
# ### Exercise: the gradients after the loop
#
# <!-- exercise: weight_gradient_after_loop -->

# %% [markdown]
# ## 6 · All together
#
# Now use the switches. **Predict** before you move one: does it gain time on the M40, on the H200, forward, backward?

# %%
from rnncourse.views.schedule_view import Settings, explore_schedule, prediction

explore_schedule(passes=("transpose_once", "batch_inputs", "weight_gradient_after_loop"), layers=1, steps=20,
                 group_gates=True, fuse_pointwise=True, streams=2, device="M40", direction="backward")

# %%
gains = {}
for direction in ("forward", "backward"):
    base = {"direction": direction, "layers": 1, "steps": 100, "group_gates": True, "fuse_pointwise": True}
    more = {"transposed once": {"transpose_once": True}, "inputs of all steps": {"batch_inputs": "T"},
            "weight gradient once": {"weight_gradient_after_loop": True}}
    for device in ("M40", "H200"):
        switches, before = {}, prediction(Settings(device=device, **base)).makespan
        line = [f"{before / 1e3:6.2f} ms"]
        for name, switch in more.items():
            switches |= switch
            time = prediction(Settings(device=device, **base, **switches)).makespan
            gains[direction, device, name], before = before / time, time
            line.append(f"{name} {time / 1e3:6.2f} ({gains[direction, device, name]:.2f} times as fast)")
        print(f"{direction:8} {device:4}", ", ".join(line))

# %% [markdown]
# Predicted milliseconds, each with the switches to its left. There is one layer and one stream here, so nothing runs at the same time. For the M40 a second-hand report on the article gives 6.2 times the naive form once the weights are transposed, after 5.3 with fused kernels.
#
# And the claim? Batching the inputs gains most in all four lines, forward 1.35 and 1.78, backward, where it batches dx, 1.53 and 1.83. Transposing once gains about a tenth forward, and nothing backward, where U is read as it is stored. The weight gradient after the loop gains 8 and 3 % backward, and forward there is none. It halves the bytes, but in the model a product takes the longer of its arithmetic and its bytes, and here the arithmetic is longer. Nothing gets slower.
#
# For several layers the inputs are different: SVAIL (Baidu's lab, lesson 05) and Haste (a library of RNN kernels) multiply the inputs of all steps at once, one layer after the other. Appleyard and his colleagues take **two** steps, because a layer above should not wait for the end of the sequence. Lesson 14 shows that both can be right.
#
# ## Recap

# %%
rows = [
    ("waits for another step", "the recurrent product and the pointwise kernel, forward and backward"),
    ("waits for no step", "input products, weight gradients, transposing the weights"),
    ("transposed once", f"pays off from {ceil(price / gain)} steps on in the model, 512 units on an M40"),
    ("k steps of inputs", "larger products; memory for k steps"),
    ("weight gradient after the loop", "same FLOPs, T times fewer reads and writes of dW"),
    ("hazard", "two operations whose order matters; a pass that reverses one is refused"),
]
for question, answer in rows:
    print(f"{question:32}{answer}")

losing = [" ".join(key) for key, factor in gains.items() if factor < 0.995]
print(f"\nclaim, for one layer: {'does NOT hold' if losing else 'holds'} in the model;",
      f"slower: {', '.join(losing)}" if losing else "nothing that leaves the loop makes it slower")
print("for several layers lesson 14 tests it")
rnnlab.progress("fused_layer")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which of the backward products has to stay in the loop?</summary>The one with U that computes the gradient for the step before.</details>
#
# <details><summary>Why does the weight gradient in the loop move so many bytes?</summary>Each step reads and writes all of dW and dU to add to them.</details>
#
# <details><summary>What does k = T cost in memory when training?</summary>No additional memory, if the products are written where the gates are saved.</details>
#
# <details><summary>How does a plan know that a pass is illegal?</summary>Each operation lists the regions that it reads and writes; if two touch the same region and one of them writes, they must keep their order.</details>
#
# <details><summary>Why is the product with a transposed factor slower at all?</summary>Neighbouring threads then read numbers that are not neighbours in memory, or the library rearranges them first.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu: two input products at a time. The factors 5.3 and 6.2 are second-hand, from the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - E. Elsen, *Optimizing RNN performance*, 2015 (svail/rnn_perf): transposed and not transposed; products over time.
# - CuLSTM, CMU 15-418, 2017: the backward pass of an LSTM with peepholes, GTX 1080; as the project states it.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder.
#
# Next: [14 · Layers side by side](14_network_schedule.ipynb)

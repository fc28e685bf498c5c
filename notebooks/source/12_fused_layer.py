# %% [markdown]
# # 12 · A layer in few kernels
#
# **Claim: whatever can be taken out of the loop over time should be.**
#
# Three things can: turning the weights, the products with the inputs, and the products that give the weights' gradients. You will take each of them out, count launches, bytes and memory, and meet the first one that you had better leave partly inside.
#
# - **Time:** 90 minutes, exercises included.
# - **You need:** [11 · A cell in few kernels](11_fused_cell.ipynb), [05 · Shapes of products](05_gemm_shapes.ipynb). No GPU.
# - **Afterwards you can** say what of a layer waits for the step before and what does not, move it, show that nothing is read too early, and say what it costs in memory.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("fused_layer")

# %% [markdown]
# ## 1 · What waits for whom
#
# A step of the grouped, fused LSTM of lesson 11 has three launches forward and six backward. **Predict:** which of the nine wait for the step before them, or after them on the way back?

# %%
from rnnlab.schedule import stages
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes

T = 3
plans = {}
for make in (forward_plan, backward_plan):
    plan = fuse_pointwise(group_gates(make("lstm", Sizes(T=T, B=64, I=512, H=512, L=1))))
    plans[plan.direction] = plan
    middle = [k for k, each in enumerate(plan.operations) if each.steps == (1, 2)]
    for k, waits in enumerate(dependencies(plan)):
        others = {plan.operations[w].steps[0] for w in waits} - {1}
        if k in middle:
            print(f"{plan.direction:8} {plan.operations[k].name:24}", "waits for step" if others else "waits for no step",
                  *sorted(others))

# %% [markdown]
# The plan knows who reads what somebody else writes, so nobody has to tell it. Forward, the product with the inputs waits for nothing. Backward, only the product that sends the gradient to the step before has to stay; those for the weights read what the sweep leaves behind, and add to the same place one after the other.
#
# What waits for no step, or only for its turn to add to a sum, can be one operation for all steps.

# %% [markdown]
# ## 2 · Weights turned once
#
# A product reads its factors as they lie or turned. Forward, h·Uᵀ turns U; the kernels that libraries have for that are a little slower: twelve percent in the course's model, up to a factor of two for some sizes in Elsen's measurements (lesson 05). Turning U is a pass over H² numbers.
#
# **Predict:** after how many steps has it paid, for 512 units?

# %%
from rnnlab.devices import DEVICES
from rnnlab.schedule.passes import transpose_once
from rnnlab.schedule.timeline import Work

my_guess = 10
M40 = DEVICES["M40"]
plan = plans["forward"]
turned = transpose_once(plan)
slow, fast = ([each for each in p.operations if each.kind == "gemm"][-1] for p in (plan, turned))
gain = Work.of(slow, M40, 4).solo_us - Work.of(fast, M40, 4).solo_us
price = Work.of(next(each for each in turned.operations if each.kind == "transpose"), M40, 4).solo_us + M40.node
print(f"turning costs {price:.0f} µs, each product gains {gain:.1f} µs: "
      f"it has paid after {price / gain:.0f} steps; you guessed {my_guess}")

# %% [markdown]
# A model's numbers again, for an M40. What they say holds more widely: it pays for sequences and not for single steps, which is why nobody keeps weights turned for good. The way back reads them as they lie.
#
# ### Exercise: turn once
#
# <!-- exercise: transpose_once -->
#
# In [work/12_fused_layer.ipynb](../work/12_fused_layer.ipynb).

# %%
rnnlab.progress("fused_layer")

# %% [markdown]
# ## 3 · Inputs of several steps
#
# The products with the inputs are known before the loop starts. k steps of B sequences are one product with k·B rows. **Predict:** what does a product of 100 steps gain over 100 products, on an H200 with 64 sequences and 512 units?

# %%
from functools import partial

from rnnlab.schedule.passes import batch_inputs

H200, long = DEVICES["H200"], fuse_pointwise(group_gates(forward_plan("lstm", Sizes(100, 64, 512, 512, 1))))
my_guess = 5
times = {}
for k in (1, 2, 4, 10, 100):
    batched = batch_inputs(long, steps=k)
    products = [each for each in batched.operations if each.kind == "gemm" and each.reads[1].buffer == "weight_ih_l0"]
    work = [Work.of(each, H200, 4) for each in products]
    times[k] = sum(each.solo_us for each in work)
    print(f"k = {k:3}: {len(products):3} products, {work[0].blocks:4} blocks each, {times[k] / 1e3:5.2f} ms together")
print(f"all at once {times[1] / times[100]:.1f} times as fast; you guessed {my_guess}")

# %% [markdown]
# Thirty-two blocks fill a quarter of the chip, a hundred steps fill it many times over. That is the gain of lesson 05, and it has a price that lesson 05 named as well: the products of all steps lie in memory before the first step needs them.
#
# **Predict:** how many megabytes are that for 4 layers, 100 steps, 64 sequences, 512 units?

# %%
gates_of_all_steps = 100 * 64 * 4 * 512 * 4
print(f"{gates_of_all_steps / 1e6:.0f} MB a layer with k = T, {2 * gates_of_all_steps / 100 / 1e6:.1f} MB with k = 2")
kept = 100 * 64 * (4 + 1 + 1) * 512 * 4
print(f"a layer keeps {kept / 1e6:.0f} MB for its gradient anyway: gates, c and h")

# %% [markdown]
# In training the gates are kept anyway, and the products can be written straight into their place: then k = T costs nothing more. Where nothing is kept for a gradient, k decides what a layer needs.
#
# ### Exercise: k steps at a time
#
# <!-- exercise: batch_inputs -->

# %%
rnnlab.progress("fused_layer")

# %% [markdown]
# ## 4 · May it be moved?
#
# Moving a product needs a reason, and a proof that nobody reads or overwrites too early: a **hazard** is a pair of operations whose order matters. Let us move something that must not be moved: the product of step 1 before the state it reads has been written.

# %%
from rnnlab.schedule.order import reorder

names = [str(each) for each in plan.operations]
recurrent = next(k for k, name in enumerate(names) if name.startswith("gemm → ~hU") and "step 1" in name)
order = [recurrent, *(k for k in range(len(names)) if k != recurrent)]
try:
    reorder(plan, order)
except ValueError as hazard:
    print(hazard)

# %% [markdown]
# Every pass of the course goes through this check. It reads the regions that operations read and write; it does not know what an RNN is. A buffer that two steps use in turn is a hazard like any other: the second may not write before the first has been read.
#
# **Break it:** which of the passes is refused when the inputs of *layer 1* are batched over all steps, while layer 0 runs step by step beside it? Try to guess, then read.

# %%
two = fuse_pointwise(group_gates(forward_plan("lstm", Sizes(4, 2, 3, 5, 2))))
batched = batch_inputs(two)
layer_1 = next(k for k, each in enumerate(batched.operations) if each.layer == 1)
last_0 = max(k for k, each in enumerate(batched.operations) if each.layer == 0)
print("layer 1 begins at operation", layer_1, "and layer 0 ends at", last_0)

# %% [markdown]
# None is refused: the product over all steps of layer 1 simply has to wait until layer 0 has made its last step. It is legal, and it serialises the layers. Lesson 13 is about that price.

# %% [markdown]
# ## 5 · Weight gradients after the loop
#
# dU is the sum over all steps of dₜᵀ·hₜ₋₁. Step by step that is T products, each adding to H² numbers it has to read and write. As one product of all steps the sum is inside it.
#
# **Predict:** what part of the bytes of a backward pass does the naive way spend on the gradients of the weights, 512 units, 64 sequences?

# %%
from rnnlab.schedule.passes import weight_gradient_after_loop

sizes = Sizes(20, 64, 512, 512, 1)
sweep = fuse_pointwise(group_gates(backward_plan("lstm", sizes)))
once = weight_gradient_after_loop(sweep)
for name, each in (("in the loop", sweep), ("after it", once)):
    grads = [op for op in each.operations if op.writes[0].buffer.startswith("dweight")]
    share = sum(op.bytes() for op in grads) / each.bytes()
    print(f"{name:12} {each.count():3} launches, {each.bytes() / 1e6:6.0f} MB, {share:.0%} for weight gradients, "
          f"{each.flops / 1e9:.1f} GFLOP")

# %% [markdown]
# The FLOPs are the same to the last one; launches and bytes are not. In 2017 a project at Carnegie Mellon (CuLSTM) measured 1.47 times the speed of the whole way back from this alone, on a GTX 1080: 159.0 ms became 107.8.
#
# ### Exercise: the gradients after the loop
#
# <!-- exercise: weight_gradient_after_loop -->

# %%
rnnlab.progress("fused_layer")

# %% [markdown]
# ## 6 · All together
#
# Now the switches. **Predict** before you move each: will it gain on the M40, on the H200, forward, backward?

# %%
from rnnlab.widgets.schedule_view import Settings, explore_schedule, prediction

explore_schedule(passes=("transpose_once", "batch_inputs", "weight_gradient_after_loop"), layers=1, steps=20,
                 group_gates=True, fuse_pointwise=True, streams=2, device="M40", direction="backward")

# %%
for direction in ("forward", "backward"):
    base = {"direction": direction, "layers": 1, "steps": 100, "group_gates": True, "fuse_pointwise": True}
    more = {"transposed once": {"transpose_once": True}, "inputs of all steps": {"batch_inputs": "T"},
            "weight gradient once": {"weight_gradient_after_loop": True}}
    for device in ("M40", "H200"):
        at, told = {}, prediction(Settings(device=device, **base))
        line = [f"{told.makespan / 1e3:6.2f} ms"]
        for name, switch in more.items():
            at |= switch
            line.append(f"{name} {prediction(Settings(device=device, **base, **at)).makespan / 1e3:6.2f}")
        print(f"{direction:8} {device:4}", ", ".join(line))

# %% [markdown]
# Predicted milliseconds, each with the switches before it. The model has one stream here, so that only the work itself counts. For the M40 the article has a figure at second hand: 6.2 times the naive form once the weights are turned, after 5.3 with fused kernels.
#
# And the claim? Two of the three should leave the loop in any case. The third, the inputs, depends on who waits for them: SVAIL and Haste take all steps at once, for one layer after the other; Appleyard and his colleagues take **two**, since a layer above must not wait for the end of the sequence. Both are right.
#
# ## Recap

# %%
rows = [
    ("waits for a step", "the recurrent product, and the sweep back"),
    ("waits for none", "input products, weight gradients, turning"),
    ("turned once", "pays after a few steps"),
    ("k steps of inputs", "larger products; memory for k steps"),
    ("weight gradient after the loop", "same FLOPs, T times fewer reads and writes of dW"),
    ("hazard", "two operations whose order matters; passes that break one are refused"),
]
for question, answer in rows:
    print(f"{question:32}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which of the backward products has to stay in the loop?</summary>The one with U that sends the gradient to the step before.</details>
#
# <details><summary>Why does the weight gradient in the loop move so many bytes?</summary>Each step reads and writes all of dW and dU to add to them.</details>
#
# <details><summary>What does k = T cost in memory when training?</summary>Nothing more, if the products are written where the gates are kept.</details>
#
# <details><summary>How does a plan know that a pass is illegal?</summary>Each operation says which regions it reads and writes; two that touch the same one, one of them writing, must keep their order.</details>
#
# <details><summary>Why is the turned product slower at all?</summary>Neighbouring threads then read numbers that do not lie side by side, or the library rearranges them first.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu: two input products at a time. The factors 5.3 and 6.2 are second-hand, from the report of Shubodh/Optimizing-LSTMs-on-GPU.
# - E. Elsen, *Optimizing RNN performance*, 2015 (svail/rnn_perf): turned and not turned; products over time.
# - CuLSTM, CMU 15-418, 2017: the way back of an LSTM with peepholes, GTX 1080.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder.
#
# Next: [13 · Layers side by side](13_network_schedule.ipynb)

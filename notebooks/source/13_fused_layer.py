# Course map: what may leave the loop over time: the test from reads and writes, and what each move gains, predicted and measured

# %% [markdown]
# # 13 · May it leave the loop?
#
# **Claim to test: of all operations that can leave the loop over time, those that move the most bytes gain most. Is that true?**
#
# A loop over time repeats the same operations in every step. You will write the test that tells which of them may be taken out of the loop and done once for all steps, and then see what each of them gains. The recap answers the question for one layer.
#
# - **Time:** 85 minutes, exercises included.
# - **You need:** [12 · A cell in few kernels](12_fused_cell.ipynb), [05 · Shapes of products](05_gemm_shapes.ipynb). No GPU.
# - **Afterwards you can** decide from what operations read and write whether they may be moved, and say what moving them gains and costs.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("hazard")

# %% [markdown]
# ## 1 · Which of these nine may leave?
#
# After lesson 12 a step of an LSTM has three launches forward and six backward. The cell below prints what each of them reads and writes in step 1. A buffer's name ends in the number of its layer, `_l0`; `~hU_l0` is a small buffer that every step overwrites. `h_l0[0]` and `c_l0[0]` are the initial states, so step 1 writes place 2. `dh_l0` and `dc_l0` have two places, which the steps use in turn. Of `x` and `dy`, printed without a step, each step reads its own rows.
#
# **Predict** from the printed lines, before you go on to the next cell: which of the nine could be done once for all steps?

# %%
from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.passes import fuse_pointwise, group_gates
from rnnlab.schedule.plan import Sizes

T, B = 4, 64
sizes = Sizes(T, B, 512, 512, 1)
plans = {"forward": forward_plan("lstm", sizes),
         "backward": backward_plan("lstm", sizes)}
plans = {direction: fuse_pointwise(group_gates(plan))
         for direction, plan in plans.items()}


def named(region):
    """The region's buffer, with its step where it has one for each step."""
    whole = region.buffer.startswith(("weight", "bias", "dweight", "dbias"))
    if whole or not region.buffer.endswith("_l0"):
        return region.buffer
    return f"{region.buffer}[{region.rows[0] // B}]"

# %% [folded]
# Print what the operations of step 1 read and write.
for direction, plan in plans.items():
    for operation in plan.operations:
        if operation.steps == (1, 2):
            reads, writes = (sorted(set(map(named, regions))) for regions in
                             (operation.reads, operation.writes))
            print(f"{direction}, {operation.name}: reads {', '.join(reads)}; "
                  f"writes {', '.join(writes)}")

# %% [markdown]
# What decides? A recurrent product waits for the state, the state waits for the pointwise kernel, and that one waits for the recurrent product of the step before. So the recurrent product waits, through others, **for itself**. An operation that waits for itself must be done step by step. An operation that never does can be done once for all steps, outside the loop.
#
# Two operations must keep their order if one of them changes a region that the other one reads or changes: a **hazard**. There is one exception. Two operations that only add to the same sum may change places: one still runs after the other, and only the rounding may differ.
#
# ### Exercise: must it wait?
#
# <!-- exercise: must_wait -->
#
# In [work/13_fused_layer.ipynb](../work/13_fused_layer.ipynb).
#
# ### Exercise: may it leave?
#
# <!-- exercise: leaves_loop -->
#
# The check has loops that you have not seen, among them a network that reads its own output.

# %%
from rnnlab.schedule.hazards import dependencies
from rnnlab.schedule.passes import batch_inputs, weight_gradient_after_loop

my_guess = {...}  # names such as "gemm → gates_l0"

leaving = set()
for direction, plan in plans.items():
    moved = weight_gradient_after_loop(batch_inputs(plan))
    leaving |= {operation.name for operation in moved.operations
                if operation.steps == (0, T)}
    stay = {operation.name for operation in moved.operations} - leaving
    print(f"{direction:8} stay in the loop: {', '.join(sorted(stay))}")
print("may leave:", ", ".join(sorted(leaving)))
print(f"{len(leaving)} of 9; you guessed {len(leaving & my_guess)} of them")
drawings.show("products_of_a_loop")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **Five of nine:** the product with the inputs forward, and backward the gradients of the inputs, of both weights and of the biases. The gradient of U grows step by step, so it seems to need the loop; but nothing waits for the sum before all of it is there.
#
# </details>
#
# **Break it:** the course's plans refuse what your test forbids. Here the recurrent product of step 1 is moved to the front. **Predict:** which region does the message name?

# %%
from rnnlab.schedule.order import reorder

my_guess = ...
plan = plans["forward"]
names = [str(operation) for operation in plan.operations]
recurrent = next(k for k, name in enumerate(names)
                 if name.startswith("gemm → ~hU") and "step 1" in name)
try:
    reorder(plan, [recurrent, *(k for k in range(len(names))
                                if k != recurrent)])
except ValueError as hazard:
    print(hazard)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The region is the state after step 0, h_l0[64:128], which is not written yet. This check reads only regions; it needs no knowledge of RNNs.
#
# </details>
#
# ## 2 · The inputs of all steps
#
# k steps of B sequences are one product with k·B rows. **Predict:** how many times as fast is one product of 100 steps as 100 products, on an H200 with 64 sequences and 512 units? The model of lesson 11 answers: one step has 32 blocks, 100 steps have 3,200.

# %%
drawings.show("inputs_of_k_steps")

# %%
from pocketgpu.devices import DEVICES
from rnnlab.schedule.timeline import Work

my_guess = ...

H200 = DEVICES["H200"]
long = forward_plan("lstm", Sizes(100, 64, 512, 512, 1))
long = fuse_pointwise(group_gates(long))
times = {}
for k in (1, 2, 4, 10, 100):
    operations = batch_inputs(long, steps=k).operations
    products = [operation for operation in operations
                if operation.kind == "gemm"
                and operation.reads[1].buffer == "weight_ih_l0"]
    work = [Work.of(product, H200, 4) for product in products]
    times[k] = sum(product.solo_us for product in work)
    print(f"k = {k:3}: {len(products):3} products, {work[0].blocks:4} blocks "
          f"each, {times[k] / 1e3:5.2f} ms together")
print(f"all at once {times[1] / times[100]:.1f} times as fast; you guessed "
      f"{my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **9.7 times.** By hand: 32 blocks fill 32/132 of the chip and reach 0.4 of the best rate there; 3,200 blocks fill all of it, 24.2 on each multiprocessor, and reach 24.2 / 25.7 = 0.94. That is 4.1 times 2.35.
#
# </details>
#
# The price is memory: the products of all steps lie there before the first step needs them, 52 MB for a layer of this size. In training they cost nothing more, because the gates are saved anyway, and the products can be written where the gates will stand. Backward the same switch, `batch_inputs`, does **dx** of all steps at once.
#
# **Break it:** batch the inputs of both layers of a network. Layer 1 reads what layer 0 computes step by step. **Predict:** is that refused? Which step of layer 0 does the first product of layer 1 wait for, before and after?

# %%
my_guess = ...
two = fuse_pointwise(group_gates(forward_plan("lstm", Sizes(4, 2, 3, 5, 2))))
for name, way in (("step by step", two),
                  ("all steps at once", batch_inputs(two))):
    first = next(k for k, operation in enumerate(way.operations)
                 if operation.layer == 1)
    awaited = [way.operations[k] for k in dependencies(way)[first]
               if way.operations[k].layer == 0]
    last = max(operation.steps[1] for operation in awaited) - 1
    print(f"{name}: the first product of layer 1 waits for layer 0 up to step "
          f"{last} of 0 to {two.sizes.T - 1}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# It is legal, but now layer 1 waits for the last step of layer 0. So the layers can no longer overlap: lesson 14.
#
# </details>
#
# ## 3 · The gradients of the weights
#
# dU is the sum over all steps of daₜᵀ·hₜ₋₁. Step by step that is T products, and each adds to an array that it has to read and write. As one product over all steps, the product itself computes the sum.
#
# **Predict:** which share of a backward pass's bytes do the gradients of the weights take in the loop? 512 units, 64 sequences.

# %%
drawings.show("gradient_after_loop")

# %%
my_guess = ...

in_loop = backward_plan("lstm", Sizes(20, 64, 512, 512, 1))
in_loop = fuse_pointwise(group_gates(in_loop))
shares = []
for name, way in (("in the loop", in_loop),
                  ("after it", weight_gradient_after_loop(in_loop))):
    products = [operation for operation in way.operations
                if operation.writes[0].buffer.startswith("dweight")]
    shares.append(sum(operation.bytes()
                      for operation in products) / way.bytes())
    print(f"{name:12} {way.count():3} launches, {way.bytes() / 1e6:6.0f} MB, "
          f"{shares[-1]:.0%} for weight gradients, {way.flops / 1e9:.1f} GFLOP")
print(f"in the loop {shares[0]:.0%} of the bytes; you guessed {my_guess} %")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 59 %. 595 MB become 276, and the FLOPs stay the same.
#
# </details>
#
# So this should be the switch that gains most. Should it? The model takes for a product the longer of its arithmetic and its bytes.
#
# ## 4 · Transposed once
#
# One more cost leaves the loop, and neither list shows it: h·Uᵀ reads U transposed in every step, which takes 12 % longer in the model. Making a transposed copy once, a new operation before the loop, reads 4·H² numbers and writes as many. (The switch copies W, too.) **Predict:** from how many steps on is that cheaper on an M40, for 512 units and 64 sequences?

# %%
from math import ceil

from rnnlab.schedule.passes import transpose_once

my_guess = ...

M40 = DEVICES["M40"]
transposed = transpose_once(plan)
slow, fast = ([operation for operation in way.operations
               if operation.kind == "gemm"][-1] for way in (plan, transposed))
gain = Work.of(slow, M40, 4).solo_us - Work.of(fast, M40, 4).solo_us
transposition = next(operation for operation in transposed.operations
                     if operation.kind == "transpose")
price = Work.of(transposition, M40, 4).solo_us + M40.node
print(f"transposing costs {price:.0f} µs, each product gains {gain:.1f} µs: it "
      f"costs the gain of {price / gain:.1f} products, so it pays off from "
      f"{ceil(price / gain)} steps on; you guessed {my_guess}")
drawings.show("transposed_once")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **6 steps.** The backward pass multiplies with U as it is stored, so it would pay the 12 % if U were kept in transposed form alone.
#
# </details>
#
# ## 5 · Which of the three gains most?
#
# All switches in the model, one after the other: 100 steps, one layer, 512 units, 64 sequences. **Guess** which one gains most backward, in one stream: `"transposed"`, `"inputs"` or `"gradients"`.

# %%
from rnncourse.views.schedule_view import Settings, explore_schedule, prediction

my_guess = ...

moves = {"transposed": {"transpose_once": True},
         "inputs": {"batch_inputs": "T"},
         "gradients": {"weight_gradient_after_loop": True}}
gains = {}
print(f"{'times as fast by':34}", *(f"{name:>10}" for name in moves))
for direction in ("forward", "backward"):
    for device in ("M40", "H200"):
        for streams in ("one for all", 2):
            settings = {"direction": direction, "device": device, "layers": 1,
                        "group_gates": True, "fuse_pointwise": True,
                        "streams": streams}
            before = prediction(Settings(**settings)).makespan
            line = []
            for name, move in moves.items():
                settings |= move
                time = prediction(Settings(**settings)).makespan
                line.append(before / time)
                gains[direction, device, streams, name] = line[-1]
                before = time
            print(f"{direction:8} {device:4}  streams: {streams!s:11}",
                  *(f"{gain:10.2f}" for gain in line))
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **The inputs, in one stream:** 1.53 and 1.83 backward, where they are the dx of all steps. The gradients of the weights gain 8 and 3 %. (Forward there is no gradient to compare with.) In two streams, with 64 sequences, little of both is left, and several moves lose: what leaves the loop no longer runs beside the recurrence.
#
# </details>
#
# **Predict:** which backward products of one step fill an M40's 24 multiprocessors, `"dx"` or `"dweight"`? And up to which of 1, 16, 32 and 64 sequences does moving the gradients *alone* gain more there than moving the inputs alone?

# %%
my_guess = (..., ...)

for count in (64, 16, 1):
    step = backward_plan("lstm", Sizes(3, count, 512, 512, 1))
    for operation in fuse_pointwise(group_gates(step)).operations:
        if operation.steps == (1, 2) and operation.name in (
                "gemm → dweight_hh_l0", "gemm → dx_l0"):
            work = [Work.of(operation, device, 4) for device in (M40, H200)]
            print(f"{count:2} sequences, {operation.name:20} "
                  f"{work[0].blocks:3} blocks, M40 {work[0].solo_us:5.1f} µs, "
                  f"H200 {work[1].solo_us:5.1f} µs")
for device in ("M40", "H200"):
    for count in (1, 16, 32, 64):
        settings = {"direction": "backward", "device": device, "layers": 1,
                    "minibatch": count, "group_gates": True,
                    "fuse_pointwise": True}
        before = prediction(Settings(**settings)).makespan
        alone = {name: before / prediction(Settings(**settings | move)).makespan
                 for name, move in moves.items()}
        print(f"{device:4} {count:3} sequences, each alone: inputs "
              f"{alone['inputs']:.2f}, gradients {alone['gradients']:.2f}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **A gradient of the weights has 256 blocks, dx has 8.** In the loop the gradient already fills either chip, so moving it saves only bytes and launches. Moved, it costs its arithmetic: on an M40 31 µs a step with 64 sequences, as long as its bytes took in the loop, and a quarter of that with 16. With few sequences dx is shorter, too, and the gradients win: on an M40 with 16 or 1, on an H200 with 1.
#
# </details>
#
# A published measurement disagrees. CuLSTM (Carnegie Mellon, 2017) reports that the gradients alone made its backward pass 1.47 times as fast on a GTX 1080: 159.0 ms became 107.8. With its four layers, 512 units and 64 sequences the model goes from 195 ms to 155.5, 1.25 times. The project does not say exactly what it batched.
#
# Now **measure** both on your machine, with NumPy: the products of 50 steps one by one, and as one product. Guess two factors.

# %%
import numpy as np

from rnncourse.lab.turns import disturbance, take_turns

my_guess = {"inputs": ..., "gradients": ...}
rng = np.random.default_rng(0)
x, states = rng.normal(size=(2, 50, 16, 256)).astype("float32")
d, W = (rng.normal(size=(50, 16, 1024)).astype("float32"),
        rng.normal(size=(1024, 256)).astype("float32"))


def gradients_in_loop():
    total = np.zeros((1024, 256), "float32")
    for d_t, h_t in zip(d, states, strict=True):
        total += d_t.T @ h_t
    return total


d_rows, state_rows = d.reshape(800, 1024), states.reshape(800, 256)
ways = {"inputs": (lambda: [x_t @ W.T for x_t in x],
                   lambda: x.reshape(800, 256) @ W.T),
        "gradients": (gradients_in_loop, lambda: d_rows.T @ state_rows)}
timed = {name: take_turns({"loop": loop, "once": once}, 5)
         for name, (loop, once) in ways.items()}

# %% [folded]
# Print both times, and what is saved.
print(" ".join(disturbance(timing) for timing in timed.values()).strip()
      or "nothing disturbed these times:")
for name, timing in timed.items():
    loop, once = (1e3 * timing[way].median for way in ("loop", "once"))
    print(f"{name}: loop {loop:.2f}, once {once:.2f}, saved {loop - once:.2f} "
          f"ms, {loop / once:.1f} times as fast; you guessed {my_guess[name]}")

# %% [markdown]
# Both loops use 1 MB 50 times, W or the sum, with 16 rows each time; the sum is also written. If your `gradients` save more milliseconds than your `inputs` by a fifth or more, the claim holds on your CPU; if your `inputs` do, it does not. In between, it is not decided. (NumPy also writes each step's product to a new array of 1 MB.)
#
# Move the switches yourself, in two streams. The bars show fused_layer, the form with all three moves, slower than fused_cell. **Look for** a minibatch for which the gradients alone make the pass more than 1.5 times as fast in the model, with 512 units on an M40.

# %%
explore_schedule(passes=("transpose_once", "batch_inputs",
                         "weight_gradient_after_loop"), layers=1, steps=20,
                 group_gates=True, fuse_pointwise=True, streams=2, device="M40",
                 direction="backward")

# %% [markdown]
# <details><summary>What you find</summary>16 sequences: 1.65 times as fast; 1 sequence: 3.1 times. With 64 it is 1.03.</details>
#
# ## Recap
#
# **An operation may leave the loop if it never waits for itself; here five of nine may. In the model, in one stream and with 64 sequences, the inputs gain most: their products have 8 or 32 blocks in a step, those of the weight gradients 256 already. With few sequences the weight gradients do: on an M40 with 16 or 1, on an H200 with 1.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("waits for itself", "recurrent products and pointwise kernels: they stay"),
    ("never waits for itself", "x·Wᵀ, dx, dW, dU, db: 5 of 9 may leave"),
    ("hazard", "one operation changes what another one touches"),
    ("inputs of k steps", "gain most in one stream, 64 sequences; need memory"),
    ("gradients after the loop", "same FLOPs, half of the bytes; gain a few "
     "% there"),
    ("transposed once", f"pays from {ceil(price / gain)} steps on: M40, "
     "512 units, 64 sequences"),
]
for question, answer in rows:
    print(f"{question:26}{answer}")

one_stream = {device: {name: gains["backward", device, "one for all", name]
                       for name in moves} for device in ("M40", "H200")}
largest = {device: max(gain, key=gain.get)
           for device, gain in one_stream.items()}
holds = all(name == "gradients" for name in largest.values())
print("\nclaim, what moves the most bytes gains most: "
      f"{'holds' if holds else 'does NOT hold'} in the model, backward, one "
      "stream, 64 sequences;",
      ", ".join(f"{device}: {name} {one_stream[device][name]:.2f}"
                for device, name in largest.items()))
rnnlab.progress("13_fused_layer")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Which of the backward products has to stay in the loop?</summary>The one with U that computes the gradient for the step before: it waits for itself.</details>
#
# <details><summary>A network reads its own last output as its next input. May x·Wᵀ leave the loop?</summary>No: it waits for the output, which waits for the state, which waits for x·Wᵀ of the step before.</details>
#
# <details><summary>Why may the gradient of the weights leave, though each step changes it?</summary>Each step only adds. Two additions may change places, and nothing reads the sum before the end.</details>
#
# <details><summary>What does k = T cost in memory when training?</summary>No additional memory, if the products are written where the gates are saved.</details>
#
# <details><summary>All steps write x·Wᵀ into the same small buffer. May that product leave the loop?</summary>Only with a larger buffer. As it stands, a step may overwrite the buffer only after the previous step has read it, so the product waits for itself.</details>

# %% [markdown]
# ## Sources
#
# - J. Appleyard, T. Kočiský, P. Blunsom, *Optimizing Performance of Recurrent Neural Networks on GPUs*, 2016, arXiv 1604.01946, and LSTM.cu: weights transposed once, two input products at a time.
# - E. Elsen, *Optimizing RNN performance*, 2015 (svail/rnn_perf): transposed and not transposed; products over time.
# - CuLSTM, CMU 15-418, 2017: the backward pass of an LSTM with peepholes, GTX 1080; as the project states it, not checked by this course.
# - Times are the model's of `rnnlab/schedule/timeline.py`, fitted to the M40 ladder; docs/timeline_model.md holds it against published figures.
#
# Next: [14 · Do four layers take four times as long?](14_network_schedule.ipynb)

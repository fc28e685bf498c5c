# Course map: weights that stay on the chip: what fits, which thread holds which weight, blocks that synchronise, a persistent kernel

# %% [markdown]
# # 15 · Weights that stay
#
# **Claim to test: a recurrent step must load its weights from memory, so for small minibatches memory bandwidth limits its speed. Must it?**
#
# In 2016 a group at Baidu published two rates of a recurrent step, before and after a change of the kernel. You will compare them with the time of one reading of the weights, write such a kernel in Python, and count its loads. The recap tests the claim.
#
# - **Time:** 145 minutes, exercises included.
# - **You need:** [14 · Do four layers take four times as long?](14_network_schedule.ipynb), [10 · Shared memory](10_cuda_shared_memory.ipynb). No GPU.
# - **Afterwards you can** say whether a layer fits on a chip, distribute its weights over threads, write a barrier between blocks and a persistent kernel in Python, and count what it never loads.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · What a step loads
#
# A layer of 1,152 units in float32 has 5.3 MB of recurrent weights, and every step multiplies with all of them. **Predict:** how long does a TitanX, 336 GB/s, need to read them once? And how long does its arithmetic need with four sequences?

# %%
from pocketgpu.devices import DEVICES

my_guess = {"read": ..., "compute": ...}
titan, H, B = DEVICES["TitanX"], 1152, 4
read = 4 * H * H / titan.bandwidth * 1e-3
compute = 2 * B * H * H / titan.peak / 1e6
print(f"read {read:.1f} µs, compute {compute:.1f} µs a step: "
      f"{read / compute:.0f} times as long; you guessed {my_guess}")
print(f"reading bounds it to {2 * B * H * H / read / 1e6:.2f} of "
      f"{titan.peak:.1f} TFLOP/s")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# At the peak rates of the data sheet, reading takes nine times as long as computing.
#
# </details>
#
# More sequences share one reading of the weights; with four sequences, sharing is not enough. But a minibatch of 64 needs sixteen times the memory of a minibatch of 4 for everything that is saved for the backward pass. That is one reason why the group wanted small minibatches; lesson 17 has the other.
#
# The group's text states about 90 GFLOP/s before and 2.8 TFLOP/s after, at a minibatch of 4, with 1,152 units on a TitanX. **Predict:** how long is one step at these two rates, beside one reading of the weights?

# %%
from rnncourse import drawings

my_guess = {"before": ..., "after": ...}
for name, rate in {"before": 0.09, "after": 2.8}.items():  # TFLOP/s, stated
    step = 2 * B * H * H / rate / 1e6
    print(f"{name:6}: {step:5.1f} µs a step, {step / read:.2f} of one reading; "
          f"you guessed {my_guess[name]} µs")
drawings.show("weights_on_chip")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Published, Diamos and others 2016; the kernel was written in assembly. After, a step takes a quarter of one reading of the weights: so this kernel does not read them in each step. It leaves them where the arithmetic is, as in the drawing on the right. Before, a step took as long as seven and a half readings, probably because those products were written for larger minibatches. (The source's figure shows 0.05 and 0.12 TFLOP/s at 4 sequences for two older libraries.)
#
# </details>

# %% [markdown]
# ## 2 · What fits
#
# A multiprocessor has 256 KiB of registers, and a chip has many multiprocessors. On a TitanX or a V100 registers, normally the smallest memory, are all together larger than the second-level cache (the authors call this an *inverted memory hierarchy*). On an A100 or an H200 they are smaller than that cache. **Predict:** how many MiB of registers has an H200 in all, and how many units may an LSTM have if its recurrent weights fit into half of them?

# %%
my_guess = {"MiB": ..., "units": ...}
print(f"{'float32':7}{'registers, MiB':>16}{'half: units of a plain RNN':>30}"
      f"{'of an LSTM':>13}")
for name in ("TitanX", "V100", "A100", "H200"):
    device = DEVICES[name]
    half = device.registers / 2
    print(f"{name:7}{device.registers / 2**20:16.1f}{int((half / 4) ** 0.5):30}"
          f"{int((half / 16) ** 0.5):13}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# An H200 has 33 MiB of registers, and half of them hold an LSTM of 1,039 units. Half is a cautious rule: a thread also needs registers for sums, addresses and loads in flight, in lesson 16's kernels 48 to 135. In assembly the group used 216 of a thread's 255 registers for weights, 85 %. So their 1,152 units fit on a TitanX, where half holds 886.
#
# </details>
#
# Shared memory adds room. From Hopper on, the blocks of a **cluster** can access each other's shared memory, so that a small layer need not spread over the whole chip. Portable programs use clusters of up to 8 blocks; 16 blocks are possible on an H200, but a kernel has to request this *non-portable* size. All blocks of a cluster run in one GPC, a group of about 16 multiprocessors, so fewer than the 8 that 132 / 16 suggests may run at once; `cudaOccupancyMaxActiveClusters` returns how many.
#
# Move the sliders. **Look for:** the largest LSTM that fits into one cluster, and what two bytes a weight change.

# %%
from rnncourse.views.chip_view import explore_chip

explore_chip()

# %% [markdown]
# <details><summary>What you find, on an H200</summary>With float32 weights an LSTM of 512 units fits into a cluster of 16 multiprocessors, and one of 768 does not: the limit is 579. The view counts half of the registers and 200 of the 228 KiB of shared memory: 16 · (128 + 200) KiB hold 4 · 579² numbers of 4 bytes. With two bytes a weight 768 units fit: the limit is 819, √2 times 579. (Lesson 16's cluster kernel uses registers alone, and refuses 768.)</details>

# %% [markdown]
# ### The same on your CPU
#
# A core has few registers, but caches: near ones, and a last one that all cores share. `Inference(network, weights="bfloat16")` steps with 2 bytes a weight, `"int8"` with one byte and a scale a row. **Predict:** up to how many units do the recurrent weights of an LSTM fit into the last cache, with 4, 2 and 1 bytes a weight? Where they no longer fit, a step takes longer *for each weight*.

# %% needs a compiler
from functools import partial

import numpy as np

from rnncourse.lab.turns import disturbance, take_turns
from rnnlab import Inference, Network
from rnnlab.resources import caches

my_guess = {"float32": ..., "bfloat16": ..., "int8": ...}
cache, x = max(caches().values(), default=2**25), np.ones((1, 1), "float32")
limits = [int((cache / 4 / size) ** 0.5) for size in (4, 2, 1)]
print(f"{cache / 2**20:.0f} MiB hold {limits} units; you guessed {my_guess}")
for H in (256, 512, 1024, 2048):
    network = Network.create("lstm", 1, H)
    ways = {weights: partial(Inference(network.astype("float32"),
                                       weights).step, x, network.zero_state(1))
            for weights in my_guess}
    times = take_turns(ways)
    print(f"{H:5} units, ps a weight:", "".join(
        f"{name:>10}{1e12 * min(time.seconds) / (4 * H * H):7.0f}"
        for name, time in times.items()))
print(disturbance(times))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Half the bytes move the limit by √2, a quarter by 2: for 32 MiB from 1,448 units to 2,048 and 2,896.
#
# </details>
#
# Each time is the shortest of its runs. Read each column downwards. Small layers pay for the call, so the time falls at first. If it rises again, the weights have left a cache between those two sizes, and the columns to the right should rise later or not at all. If no column rises, your last cache or your memory keeps up. A GPU's registers end in the same way, only more abruptly: there the kernel refuses.

# %% [markdown]
# ## 3 · Which thread stores which weight
#
# The kernels here store each weight in the registers of exactly one thread. Diamos and his colleagues cut the matrix in both directions: 1,152 by 1,152 weights over 24 blocks of 256 threads are 216 weights a thread; 1,792 by 1,792 over 56 blocks, on a P100, are 224.
#
# The course's kernel gives each warp whole units, with all gates of each unit, so that the warp alone can compute the unit. The columns are distributed over the 32 lanes. **Predict:** which columns has lane 3 for 100 units?
#
# In a Numba kernel, `cuda.local.array(n, np.float32)` declares an array that each thread has for itself. The size must be a constant, as for a shared array. If the compiler can unroll every loop over the array, the array lives in registers; else it lives in *local memory*, which is as slow as global memory.

# %%
from rnnlab.kernels.persistence.tiles import weights_of_thread
from rnnlab.kernels.persistence.tiles import Tiles

my_guess = [...]
print("published tilings:", weights_of_thread(1152, 1152, 24, 256),
      weights_of_thread(1792, 1792, 56, 256))
tiles = Tiles(gates=1, hidden=100, units=2, warps=4)
mine = [column for column in range(100) if tiles.owner(0, column)[1] == 3]
print(f"lane 3 of the first warp stores columns {mine} of unit 0; you guessed "
      f"{my_guess}")
print(f"{tiles.blocks} blocks of {tiles.threads} threads, {tiles.weights} "
      "weights each")
drawings.show("weights_of_threads")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Lane 3 has the columns 3, 35, 67 and 99. Neighbouring lanes have neighbouring columns: when all lanes read h, they read 32 neighbouring numbers, a coalesced access (lesson 09).
#
# </details>
#
# ### Exercise: the tile of a thread
#
# <!-- exercise: tile_for_thread -->
#
# In [work/15_persistent_rnn.ipynb](../work/15_persistent_rnn.ipynb).

# %% [markdown]
# ## 4 · Blocks that synchronise
#
# The end of a kernel is a barrier: the next kernel in the stream sees everything that was written before. Inside one kernel the blocks have to synchronise by themselves, and CUDA promises no order between blocks. Here is an obvious attempt: a counter that each block increments.
#
# **Predict:** will the numbers be right, and what will the simulator report?

# %%
import numpy as np

from rnnlab import cuda


@cuda.jit
def synchronise_by_counter(history, counter, steps):
    i = cuda.grid(1)
    for t in range(steps):
        # thread 0 reads the last column
        history[t + 1, i] = history[t, i - 1] + np.float32(1)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(counter, 0, 1)
            while cuda.atomic.add(counter, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
        cuda.syncthreads()


my_guess = ...
history = np.zeros((4, 8), "float32")
observation = cuda.observe(synchronise_by_counter, 2, 4, history,
                           np.zeros(1, "int32"), 3)
for finding in observation.findings:
    print(finding)
print("the numbers:", history[-1], "right" if (history[-1] == 3).all()
      else "WRONG", "- you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# On the simulator: right numbers and a race. The kernel is wrong all the same: other threads of the block may still be writing when thread 0 increments the counter, and nothing makes their writes visible to other blocks first. On a GPU such a kernel may work nearly always.
#
# </details>
#
# Three lines are missing. **Change** the cell: add `cuda.threadfence()` before the `atomic.add`, and run it again. The simulator still reports a finding, because thread 0 does not wait for the other threads of its block. Then add `cuda.syncthreads()` before `if cuda.threadIdx.x == 0:`, and run it: now the simulator reports a missing fence on the reader's side. Last, add a `cuda.threadfence()` after the `while`; no finding remains.
#
# ### The memory model, in short

# %% [markdown]
# - **Order.** A thread sees its own writes in order. Another thread may see them in any order, unless both synchronise.
# - **Release.** `cuda.threadfence()`, then an atomic write to a flag: everything that the thread wrote before is published with the flag.
# - **Acquire.** An atomic read that sees the flag, then `cuda.threadfence()`: everything that was published with the flag is visible to later reads. Both sides need their fence.
# - **Scope.** `syncthreads` orders the threads of one block. `threadfence` orders memory for the whole device.

# %% [markdown]
# - **Cumulativity.** After `syncthreads`, what the whole block wrote counts as written before thread 0's fence. So one fence, by the thread that sets the flag, publishes the writes of its block.
# - **L1.** Each multiprocessor has a first-level cache that other multiprocessors do not update. A plain read in a loop may return an old value forever. `cuda.ldcv` does not take the cached value. But the compiler may move even this read out of the loop, or remove a loop that only reads ([docs/simulator.md](../docs/simulator.md)). So a loop that waits reads its flag with an atomic: `cuda.atomic.add(flags, i, 0)`.
#
# With one flag for each block, in place of one counter, no block waits for its turn to add. Flags count steps and are compared with `<`, not with `!=`: a fast block may already have set the flag of the next step before a slow one has read it.

# %%
drawings.show("barrier_of_flags")

# %% [markdown]
# **Break it:** what if there are more blocks than the chip can run at once? **Predict** what 40 and what 100 blocks do on a T4, which has 40 multiprocessors and room for one block of 1,024 threads on each.

# %%
@cuda.jit
def wait_for_all(flags):
    if cuda.threadIdx.x == 0:
        cuda.atomic.exch(flags, cuda.blockIdx.x, 1)
        for block in range(cuda.gridDim.x):
            while cuda.atomic.add(flags, block, 0) < 1:
                pass


my_guess = {40: ..., 100: ...}
if cuda.is_simulated:
    for blocks in (40, 100):
        with cuda.settings(checks=False, device="T4"):
            try:
                wait_for_all[blocks, 1024](np.zeros(blocks, "int32"))
                print(f"{blocks} blocks of 1024 threads: all flags were seen")
            except RuntimeError as fault:
                print(f"{blocks} blocks:", str(fault).splitlines()[1])
print("you guessed", my_guess)
drawings.show("not_resident")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 40 blocks end, 100 wait forever: the running blocks wait for blocks that cannot start.
#
# </details>
#
# Blocks that run at the same time are called **co-resident**. A persistent kernel therefore launches no more blocks than fit; an *occupancy query* (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`) returns how many fit on one multiprocessor. A **cooperative launch** guarantees co-residency or fails, and allows CUDA's own grid-wide barrier, `cuda.cg.this_grid().sync()`; another kernel, from another stream or (under MPS) another process, can still take room away from an ordinary launch. The course's kernels also wait for a flag for a limited time only, then end with an error code: a mistake must not hang the device.
#
# On a GPU, `compute-sanitizer --tool racecheck` looks for races in *shared* memory and `--tool synccheck` for wrong barriers; neither finds a missing fence between blocks.
#
# ### Exercise: a barrier of flags
#
# <!-- exercise: flag_barrier -->
#
# The simulator reports a missing fence on either side, a flag that is set too early, and threads that wait forever.

# %% [markdown]
# ## 5 · The kernel
#
# Now everything together: weights into registers, a loop over time, an exchange of h, a barrier a step. h is exchanged through the history of all states, which the backward pass needs anyway: each element is written once, so no block overwrites a number that is still needed. The barrier keeps a block from reading too early.
#
# Below is the barrier of the course's kernels. `load_acquire` is an atomic read with a fence in it; `syncthreads_or` is a barrier that also returns whether any thread passed a value other than 0, here `late`: whether a thread waited too long for one of the flags that it reads.
#
# **Predict:** how many loads of weights does a persistent kernel make in all, for 12 by 12 weights and 8 steps?

# %%
from rnnlab.kernels.persistence import kernels
from rnncourse.notebook import show_source

show_source(kernels.grid_barrier)

# %%
from inspect import getsource

my_guess = ...
tiles = Tiles(gates=1, hidden=12, units=1, warps=1)
source = getsource(kernels).splitlines()
reads_weights = next(number for number, text in enumerate(source, 1)
                     if "= weights[" in text)
kernel = kernels.forward_kernel("rnn_tanh", tiles, "float32")
rng = np.random.default_rng(0)
weights = rng.normal(size=(12, 12)).astype("float32") / 4
for steps in (1, 8):
    gates, h = (rng.normal(size=steps * 12).astype("float32"),
                np.zeros((steps + 1) * 12, "float32"))
    flags, failed = np.zeros(tiles.blocks, "int32"), np.zeros(1, "int32")
    observation = cuda.observe(kernel, tiles.blocks, tiles.threads, weights,
                               np.zeros(12, "float32"), gates, h,
                               np.zeros(steps * 12, "float32"), flags, failed,
                               steps, 1)
    if observation.counts:
        weight_loads = observation.lines[reads_weights].global_loads
        print(f"{steps} steps on {tiles.blocks} blocks: {weight_loads} loads "
              f"of weights, with a launch a step {steps * 12 * 12}; findings: "
              f"{len(observation.findings)}")
print("you guessed", my_guess, "for 8 steps")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# On the simulator, 144 loads for one step and 144 for eight: each weight is loaded once, however long the sequence is. The loads of h, inputs and flags grow with the steps. Here h is loaded as often as weights would be, since a block has only one unit. The 24 blocks of Diamos and his colleagues read at most 24 · 4 · H numbers of h a step for 4 sequences, a twelfth of the H² weights. With more blocks or sequences that share grows.
#
# </details>
#
# The replay shows two steps of a smaller one: 4 units, a block for each. Choose an element of `flags` and press *next access*. **Look for:** who sets it, who polls it, and what do the other threads of those blocks do meanwhile?

# %%
few = Tiles(gates=1, hidden=4, units=1, warps=1)
four, flags = kernels.forward_kernel("rnn_tanh", few,
                                     "float32"), np.zeros(few.blocks, "int32")
# bias, sums, h, activations
arrays = [np.zeros(size, "float32") for size in (4, 8, 12, 8)]
cuda.replay(four[few.blocks, few.threads], weights[:4, :4].copy(), *arrays,
            flags, failed, 2, 1)

# %% [markdown]
# <details><summary>What you find</summary>Thread 0 of block k sets `flags[k]`. Thread k of every block polls it. The threads without a flag to poll wait at the barrier of their block, `syncthreads_or`.</details>
#
# ### Exercise: a persistent RNN
#
# <!-- exercise: persistent_rnn_kernel -->
#
# The smallest one: 16 units, one thread for each. It is graded by its loads.

# %% [markdown]
# Two of the changes between that kernel and the course's own: the **lanes of a warp share a row**, and there are several sequences. Below, a warp computes a unit and each of its 32 lanes stores one weight. Every lane multiplies, and the 32 products are added by shuffles (lesson 10). One weight in a register serves all B sequences.
#
# **Predict:** with 3 sequences instead of 1, how many times as many loads of weights, and of h and inputs?

# %%
import math


@cuda.jit
def lanes_share_a_row(h, weights, inputs):
    """h [T+1,B,32] from h[0], weights [32,32], inputs [T,B,32]; a warp for each
    unit."""
    lane, unit = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    weight = weights[unit, lane]
    for t in range(inputs.shape[0]):
        for b in range(inputs.shape[1]):
            part = weight * h[t, b, lane]
            for step in (16, 8, 4, 2, 1):
                part += cuda.shfl_down_sync(0xFFFFFFFF, part, step)
            if lane == 0:
                h[t + 1, b, unit] = math.tanh(part + inputs[t, b, unit])
        cuda.cg.this_grid().sync()

# %%
my_guess = {"weights": ..., "h, inputs": ...}
shared_row = rng.normal(size=(32, 32)).astype("float32") / 6
for B in (1, 3):
    a, h = (rng.normal(size=(4, B, 32)).astype("float32"),
            np.zeros((5, B, 32), "float32"))
    launch = cuda.observe(lanes_share_a_row, 4, 256, h, shared_row, a)
    want = np.zeros_like(h)
    for t in range(4):
        want[t + 1] = np.tanh(a[t] + want[t] @ shared_row.T)
    counted = "not counted on a GPU"
    if launch.counts:
        # the first line of the kernel that loads reads the weights
        of_weights, *others = [launch.lines[line].global_loads
                               for line in sorted(launch.lines)
                               if launch.lines[line].global_loads]
        counted = f"loads: {of_weights} of weights, {sum(others)} of h, inputs"
    print(f"B = {B}: right: {np.allclose(h, want, atol=1e-5)}, findings: "
          f"{len(launch.findings)}, {counted}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 1,024 loads of weights for one sequence and for three; three times as many of h and inputs, 12,672 against 4,224.
#
# </details>
#
# **Change** the kernel for 64 units: two weights a lane, and twice as many warps. For any size and any cell, with the flags in place of `sync()`, that is the course's kernel.

# %% [markdown]
# The course's own kernels do more: LSTM and GRU, any size that fits, forward and backward. An H200 has 132 multiprocessors, with 8 warps each. For 1,100 units a warp takes two whole units: 4 gates · 2 units · 35 columns are 280 weights a lane, and 128 fit. So on an H200 this kernel stops at 1,024 units, just below section 2's 1,039.
#
# The kernels were compiled without a GPU: with up to 64 weights a thread for a T4 or an A100 and 128 for an H200, the compiler spills nothing, and a test checks that. How fast they are is **not known yet**: no GPU has run them so far. `rnnlab bench gpu --suite persistent` measures it.

# %% [markdown]
# ## 6 · What small minibatches are for
#
# A layer saves its inputs and states for the backward pass. This memory grows with the minibatch; the weights do not. The group states: with 64 sequences 7 layers fit, with 4 sequences 110, trained as a residual network.
#
# That is 110 / 7 = 15.7 times as many layers with a sixteenth of the sequences, as if only activations needed memory. But each layer also has weights, gradients and momenta. **Predict:** how many times as many layers fit then?

# %%
my_guess = ...
layers_held = []
for B in (64, 16, 4):
    saved_bytes = 2 * 700 * B * 1152 * 4
    layers = 6 * 10**9 / (saved_bytes + 3 * 2 * 1152**2 * 4)
    print(f"minibatch {B}: {saved_bytes / 1e6:.0f} MB a layer for 700 steps of "
          f"1152 units, two arrays; 6 GB hold {layers:.1f} layers, "
          f"{layers * 2 * 1152**2 / 1e6:.0f} million weights")
    layers_held.append(layers)
print(f"from 64 sequences to 4: {layers_held[-1] / layers_held[0]:.1f} times "
      f"the layers; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 7.7 times: the 32 MB of weights, gradients and momenta of a layer take as much memory as the activations of five sequences. (The 700 steps are the group's; 6 GB and two arrays are assumptions, and give 13 layers at 64 sequences where the group states 7.) The paper reports twelve times the parameters in the same memory, and does not say what it counts.
#
# </details>
#
# ### Exercise: choose the minibatch
#
# <!-- exercise: choose_minibatch -->
#
# Depth fixes the minibatch, and the minibatch decides whether reading the weights or computing takes longer.

# %% [markdown]
# The group's text names the alternatives that it rejected: cutting sequences, as in lesson 02, made the network about 20 % less accurate; moving activations to the CPU's memory made training 2 to 4 times slower; and splitting a layer over four GPUs pays only from about 5,000 units on.
#
# And today? On their GPU, weights came from memory at 336 GB/s. An H200 has 50 MB of second-level cache, which can hold such weights for the whole sequence. A step by a CUDA graph needs two nodes, 2.6 µs there, and a barrier of all blocks takes 1.05 µs (published, lesson 16). So on paper a persistent kernel with a barrier a step gains two to three times for small layers, not thirty.
#
# ## Recap
#
# **A recurrent step need not load its weights: in one launch for all steps they stay in registers, and each is loaded once. In this lesson's kernel a step pays a barrier of all blocks instead.** Must bandwidth limit small minibatches? No: for 4 sequences on a TitanX, reading the weights in each step would allow 0.67 TFLOP/s, and 2.8 were published.

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("persistent", "one launch for a sequence; weights stay in registers"),
    ("room", "about half of the registers, most of the shared memory"),
    ("tile", "every weight is stored by exactly one thread"),
    ("barrier of flags", "block barrier, fence, flag; all flags, fence, block "
     "barrier"),
    ("co-resident", "no more blocks than can run at once"),
    ("history", "each element is written once: nothing is overwritten"),
    ("small minibatch", "leaves memory for depth, and sequences for more GPUs"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

if observation.counts:
    holds = weight_loads > 12 * 12
    print("\nclaim, weights must be loaded in each step: "
          f"{'holds' if holds else 'does NOT hold'};", f"{weight_loads} loads "
          f"for {steps} steps")
else:
    print("\nclaim: not counted on a GPU; the simulator counts 144 loads")
rnnlab.progress("15_persistent_rnn")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a minibatch of 64 hide the problem?</summary>64 sequences share one reading. On the TitanX their arithmetic takes 28 µs, the reading still 15.8.</details>
#
# <details><summary>What is wrong if thread 0 increments a counter without a barrier of its block?</summary>Other threads of the block may not have written yet, and without a fence their writes may not be visible to other blocks.</details>
#
# <details><summary>Why must all blocks be co-resident?</summary>A waiting block does not end, so a block that has not started never gets a multiprocessor.</details>
#
# <details><summary>Why does the reader need a fence, too?</summary>Without it, its plain reads of the data may happen before its read of the flag, or return old values from the L1 cache.</details>
#
# <details><summary>Why is h exchanged through the whole history, and not through two buffers in turn?</summary>The backward pass needs the history anyway, and an element that is written once cannot be overwritten too early.</details>
#
# <details><summary>A thread stores 216 weights. Why not 255?</summary>It has 255 registers in all, and needs some for sums, addresses and loads.</details>

# %% [markdown]
# ## Sources
#
# - G. Diamos and others, *Persistent RNNs: Stashing Recurrent Weights On-Chip*, ICML 2016; blog and figure: svail/persistent_rnns; tilings: baidu-research/persistent-rnn. 90 GFLOP/s, 2.8 TFLOP/s, 30 times, and 7 and 110 layers are stated; TitanX, 1,152 units.
# - NVIDIA, *PTX ISA*, chapter on the memory consistency model: scopes, release and acquire patterns, `fence`.
# - NVIDIA's data sheets: registers, shared memory, bandwidths. Caches: what your system reports.
#
# Next: [16 · Tensor cores, registers, clusters](16_persistent_cuda.ipynb)

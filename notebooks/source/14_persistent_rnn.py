# %% [markdown]
# # 14 · Weights that stay
#
# **Claim: a recurrent step must read its weights; on a GPU with 4 800 GB/s that is what bounds small minibatches.**
#
# It need not read them at all. In 2016 a group at Baidu kept them in the registers of the chip, for a whole sequence. You will find out what fits, who keeps which weight, how blocks meet without a new launch, and write the kernel.
#
# - **Time:** 120 minutes, exercises included.
# - **You need:** [13 · Layers side by side](13_network_schedule.ipynb), [09 · Shared memory](09_cuda_shared_memory.ipynb). No GPU.
# - **Afterwards you can** say whether a layer fits on a chip, share its weights out, write a barrier between blocks and a persistent kernel in Python, and count what it never loads.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("weights_on_chip")

# %% [markdown]
# ## 1 · What a step loads
#
# A layer of 1 152 units in float32 has 5.3 MB of recurrent weights, and every step multiplies with all of them. **Predict:** how long does a TitanX, 336 GB/s, need to read them once? And how long does its arithmetic need with four sequences?

# %%
from rnnlab.devices import DEVICES

my_guess = {"read": 1.0, "compute": 1.0}
titan, H, B = DEVICES["TitanX"], 1152, 4
read = 4 * H * H / titan.bandwidth * 1e-3
compute = 2 * B * H * H / titan.peak / 1e6
print(f"read {read:.1f} µs, compute {compute:.1f} µs a step; you guessed {my_guess}")
print(f"reading bounds it to {2 * B * H * H / read / 1e6:.2f} of {titan.peak:.1f} TFLOP/s")

# %% [markdown]
# Reading takes seven times as long as computing. With more sequences a minibatch shares one reading; with four it does not help. And a minibatch of 64 needs sixteen times the memory for everything that is kept for the gradient: that is why they wanted small ones.
#
# What they measured, read off their figure: TFLOP/s of a step with 1 152 units on that card.

# %%
from rnnlab.widgets.minibatch_view import PUBLISHED

for name, rates in PUBLISHED.items():
    for B, rate in rates.items():
        print(f"{name:10} minibatch {B:2}: {rate:.2f} TFLOP/s, {2 * B * H * H / rate / 1e6:6.1f} µs a step")

# %% [markdown]
# Published, Diamos and others 2016; the kernel was written in assembly. A step of 3.8 µs with four sequences is four times faster than reading the weights once would allow. The other two are far from that bound: their products were made for larger minibatches.

# %% [markdown]
# ## 2 · What fits
#
# A multiprocessor has 256 KiB of registers. A chip has many multiprocessors. **Predict:** how many MiB of registers has an H200 in all, and how many units may an LSTM have whose recurrent weights stay in half of them?

# %%
my_guess = {"MiB": 4, "units": 500}
for name in ("TitanX", "V100", "A100", "H200"):
    device = DEVICES[name]
    half = device.registers / 2
    print(f"{name:7} {device.registers / 2**20:5.1f} MiB of registers; half of them keep "
          f"{(half / 4) ** 0.5:5.0f} units of a plain RNN, {(half / 16) ** 0.5:4.0f} of an LSTM (float32)")
print("you guessed", my_guess)

# %% [markdown]
# Half, since the other half is sums, addresses and numbers on their way. Shared memory adds to it; from Hopper on a **cluster** of 16 blocks can reach each other's shared memory, so that a small layer need not spread over the whole chip.
#
# Move the sliders. **Look for:** the largest LSTM that fits into one cluster, and what two bytes a weight change.

# %%
from rnnlab.widgets.chip_view import explore_chip

explore_chip()

# %% [markdown]
# ### Exercise: does it fit?
#
# <!-- exercise: fits_on_chip -->
#
# In [work/14_persistent_rnn.ipynb](../work/14_persistent_rnn.ipynb).

# %%
rnnlab.progress("persistent_rnn")

# %% [markdown]
# ## 3 · Who keeps which weight
#
# Registers belong to threads. So every weight needs a thread that keeps it, exactly one. Diamos and his colleagues cut the matrix in both directions: 1 152 by 1 152 over 24 blocks of 256 threads are 216 weights each, with no rest.
#
# The course's kernel gives each warp whole units, with all gates of each, so that a unit's gates meet without leaving the warp. The 32 lanes share the columns out. **Predict:** which columns has lane 3 for 100 units?

# %%
from rnnlab.ladder.persistence.capacity import weights_of_thread
from rnnlab.ladder.persistence.tiles import Tiles

print("published tilings:", weights_of_thread(1152, 1152, 24, 256), weights_of_thread(1792, 1792, 56, 256))
tiles = Tiles(gates=1, hidden=100, units=2, warps=4)
mine = [column for column in range(100) if tiles.owner(0, column)[1] == 3]
print(f"lane 3 of the first warp keeps columns {mine} of unit 0")
print(f"{tiles.blocks} blocks of {tiles.threads} threads, {tiles.weights} weights each")

# %% [markdown]
# Neighbouring lanes have neighbouring columns: when all lanes read h, they read 32 numbers side by side, as lesson 08 wants it.
#
# ### Exercise: the tile of a thread
#
# <!-- exercise: tile_for_thread -->

# %%
rnnlab.progress("persistent_rnn")

# %% [markdown]
# ## 4 · Blocks that meet
#
# A launch is a barrier: what comes after it sees all that came before. Without launches the blocks have to meet by themselves, and CUDA has no order between blocks. Here is the obvious attempt: a counter that everybody raises.
#
# **Predict:** what will the simulator say?

# %%
import numpy as np

from rnnlab import cuda


@cuda.jit
def meet_by_counter(history, counter, steps):
    i = cuda.grid(1)
    for t in range(steps):
        history[t + 1, i] = history[t, (i + 1) % history.shape[1]] + np.float32(1)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(counter, 0, 1)
            while cuda.atomic.add(counter, 0, 0) < (t + 1) * cuda.gridDim.x:
                pass
        cuda.syncthreads()


history = np.zeros((4, 8), "float32")
ran = cuda.observe(meet_by_counter, 2, 4, history, np.zeros(1, "int32"), 3)
for finding in ran.findings:
    print(finding)
print("the numbers:", history[-1])

# %% [markdown]
# The numbers are right, and the kernel is wrong: other threads of the block may still be writing when the counter goes up, and nothing makes what they wrote visible to other blocks before it. On a GPU it works nearly always.
#
# What is missing is a **fence**: whoever sees the flag sees what was written before. And a barrier of the block before it. A flag for each block, in place of one counter, needs no addition, so nobody waits for his turn at it.

# %% [markdown]
# **Break it:** what if there are more blocks than the chip can run at once? Those that run wait for those that cannot start.

# %%
@cuda.jit
def wait_for_all(flags):
    if cuda.threadIdx.x == 0:
        cuda.atomic.exch(flags, cuda.blockIdx.x, 1)
        for block in range(cuda.gridDim.x):
            while cuda.atomic.add(flags, block, 0) < 1:
                pass


if cuda.is_simulated:
    for blocks in (40, 100):
        with cuda.settings(checks=False, device="T4"):
            try:
                wait_for_all[blocks, 1024](np.zeros(blocks, "int32"))
                print(f"{blocks} blocks of 1024 threads: all came")
            except RuntimeError as fault:
                print(f"{blocks} blocks:", str(fault).splitlines()[1][:180])

# %% [markdown]
# A T4 runs 40 such blocks at once. A persistent kernel therefore launches no more than fit, and asks before it does. Even so the course's kernels look at a flag a limited number of times only, and give up with a message: a mistake must not hang the device.
#
# ### Exercise: a barrier of flags
#
# <!-- exercise: flag_barrier -->
#
# The simulator sees a missing fence, a flag that goes up too early, and who waits for whom for ever.

# %%
rnnlab.progress("persistent_rnn")

# %% [markdown]
# ## 5 · The kernel
#
# Now everything together: weights into registers, a loop over time, an exchange of h, a barrier a step. h goes through the history that the way back wants anyway: each place is written once, so nobody can read a stale number or overwrite one that is still needed.
#
# **Predict:** how many times does a persistent kernel load the weights, for 8 steps?

# %%
from rnnlab.ladder.persistence import kernels
from rnnlab.notebook import show_source

show_source(kernels.meet)

# %%
from inspect import getsource

tiles = Tiles(gates=1, hidden=12, units=1, warps=1)
source = getsource(kernels).splitlines()
reads_weights = next(number for number, text in enumerate(source, 1) if "= weights[" in text)
kernel = kernels.forward_kernel("rnn_tanh", tiles, "float32")
rng = np.random.default_rng(0)
weights = rng.normal(size=(12, 12)).astype("float32") / 4
for steps in (1, 8):
    gates, h = rng.normal(size=steps * 12).astype("float32"), np.zeros((steps + 1) * 12, "float32")
    flags, failed = np.zeros(tiles.blocks, "int32"), np.zeros(1, "int32")
    ran = cuda.observe(kernel, tiles.blocks, tiles.threads, weights, np.zeros(12, "float32"), gates, h,
                       np.zeros(steps * 12, "float32"), flags, failed, steps, 1)
    if ran.counts:
        once = ran.lines[reads_weights].global_loads
        print(f"{steps} steps on {tiles.blocks} blocks: {once} loads of weights, "
              f"with a launch a step {steps * 12 * 12}; findings: {len(ran.findings)}")

# %% [markdown]
# The 144 weights come once, however long the sequence is; what grows are h, inputs and looks at flags. On a real layer the weights are nearly everything: H² a step against H for each block.
#
# ### Exercise: a persistent RNN
#
# <!-- exercise: persistent_rnn_kernel -->
#
# The smallest one: 16 units, a thread each. It is graded by its loads.

# %%
rnnlab.progress("persistent_rnn")

# %% [markdown]
# The course's own kernels go further: LSTM and GRU, any size that fits, forward and backward, the same bits in every run. They are a rung of the ladder like any other.

# %%
from rnnlab import reference
from rnnlab.ladder import find, persistent
from rnnlab.network import Network

network = Network.create("lstm", 3, 8, seed=0)
x = rng.normal(size=(5, 2, 3)).astype("float32")
y, _, saved = persistent.forward(network, x)
dx, _, gradients = persistent.backward(network, saved, np.ones_like(y))
want, _, kept = reference.forward(network, x)
print("right:", np.allclose(y, want, atol=1e-5),
      np.allclose(dx, reference.backward(network, kept, np.ones_like(y))[0], atol=1e-4))
print(find("persistent").refuses(Network.create("lstm", 3, 1100), 5, 2))

# %% [markdown]
# What compilers make of them was asked without a GPU: up to 64 weights a thread on a T4 or an A100, 128 on an H200, nothing spilled; the tests hold them to it. How fast they are is **not known yet**: nobody has run them on a GPU. `rnnlab bench gpu --suite persistent` does.

# %% [markdown]
# ## 6 · What small minibatches are for
#
# A layer keeps its inputs and states for the gradient: memory that grows with the minibatch, while the weights do not. At 64 sequences the group had room for 7 layers; at 4, they report more than 100, trained as a residual network.
#
# ### Exercise: memory for depth
#
# <!-- exercise: activation_memory -->

# %%
rnnlab.progress("persistent_rnn")

# %%
for B in (64, 16, 4):
    kept = 2 * 700 * B * 1152 * 4
    print(f"minibatch {B:2}: {kept / 1e6:5.0f} MB a layer for 700 steps of 1152 units")

# %% [markdown]
# And today? Their weights came from memory at 336 GB/s. An H200 has 50 MB of second-level cache, which holds such weights all the time, and a CUDA graph brings a launch down to little more than a barrier costs. So less can be gained by staying: no launch, no reading from the cache, and, in a cluster, no way through the cache at all. How much, a measurement has to say.
#
# ## Recap

# %%
rows = [
    ("persistent", "one launch for a sequence; weights stay in registers"),
    ("room", "half of the registers, most of the shared memory"),
    ("tile", "every weight has exactly one thread that keeps it"),
    ("barrier of flags", "barrier, fence, flag; look at everybody's; fence, barrier"),
    ("resident", "no more blocks than can run at once"),
    ("history", "written once a place: no stale reads, no early overwriting"),
    ("small minibatch", "memory for depth, and for more GPUs"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does a minibatch of 64 hide the problem?</summary>64 sequences share one reading of the weights.</details>
#
# <details><summary>What is wrong with a counter that threads raise when their block has not met?</summary>Other threads of the block may not have written yet, and without a fence what they wrote may not be visible.</details>
#
# <details><summary>Why must all blocks be resident?</summary>A block that waits never ends, so one that has not started never gets a place.</details>
#
# <details><summary>Why is h exchanged through the whole history, and not through two buffers in turn?</summary>The way back needs the history anyway, and a place that is written once can be neither stale nor overwritten early.</details>
#
# <details><summary>A thread keeps 216 weights. Why not 255?</summary>It has 255 registers in all, and needs some for sums, addresses and what it reads.</details>

# %% [markdown]
# ## Sources
#
# - G. Diamos and others, *Persistent RNNs: Stashing Recurrent Weights On-Chip*, ICML 2016; blog and figure: svail/persistent_rnns; tilings: baidu-research/persistent-rnn. TFLOP/s are read off the figure; TitanX, 1 152 units.
# - NVIDIA's data sheets: registers, shared memory, bandwidths.
#
# Next: [15 · Tensor cores, registers, clusters](15_persistent_cuda.ipynb)

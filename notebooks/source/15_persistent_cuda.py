# %% [markdown]
# # 15 · Tensor cores, registers, clusters
#
# **Claim: once weights stay in registers, a step waits for h to reach the other blocks; a barrier of the whole chip takes three times as long as waiting for h itself.**
#
# The claim rests on paper: nobody has run these kernels on a GPU yet. You will read them, find what bounds them, and predict what a GPU will say.
#
# - **Time:** 110 minutes, exercises included.
# - **You need:** [14 · Weights that stay](14_persistent_rnn.ipynb), [13 · Layers side by side](13_network_schedule.ipynb). No GPU.
# - **Afterwards you can** say what a lane holds of a tensor core's tile, what a thread can keep, why two rows in turn need no second barrier, and how fast a step can be at best.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · What a step costs
#
# Six prices, for an H200: a launch by the host, a node of a CUDA graph, a barrier of all blocks, an **exchange** in which every block reads a number until it is there, a read from the second-level cache, and a **push**, by which a block writes into another block's shared memory. **Predict:** order them, the dearest first. How many pushes does a barrier cost?

# %%
from rnnlab import drawings
from rnnlab.ladder.persistence.floor import H200

drawings.show("cluster_exchange")

my_guess = {"order": "launch, ...", "pushes for a barrier": 1}
prices = {"launch": H200.launch, "graph node": H200.node, "barrier of the chip": H200.grid_barrier,
          "exchange": H200.grid_exchange, "push": H200.push, "read of the second-level cache": H200.l2}
for name, price in sorted(prices.items(), key=lambda item: -item[1]):
    print(f"{name:31}{price:6.3f} µs")
print(f"a barrier costs {H200.grid_barrier / H200.push:.1f} pushes; you guessed {my_guess}")
print("measured on this machine:", H200.measured)

# %% [markdown]
# None of them was measured by this course. Launch, node, barrier and cache bandwidth are published measurements on an H200, the cache's latency one on an H100. The exchange, twice that latency, and the push are estimates.
#
# A **floor** is a lower bound. It adds what must follow one another in a step: the exchange, the bytes of h beyond that, the product. A real step takes longer: the floor leaves out tanh, sums in shared memory, and barriers of a block. **Predict:** an LSTM of 512 units, 8 sequences: how many µs a step over the whole chip, and in a cluster of 16 blocks?

# %%
from rnnlab.ladder.persistence.floor import floor
from rnnlab.ladder.persistence.shapes import cluster_shape, grid_shape
from rnnlab.devices import find

my_guess = {"grid": 2.0, "cluster": 1.0}
gpu = find("H200")
for hidden, B in ((256, 8), (512, 8), (512, 64), (1024, 8), (1024, 64)):
    ways = {"grid": grid_shape("lstm", hidden, "bfloat16", B, gpu)}
    if hidden <= 512:
        ways["cluster"] = cluster_shape("lstm", hidden, "bfloat16", gpu)
    for name, shape in ways.items():
        parts = floor(shape, B, gpu)
        told = " + ".join(f"{part} {time:.2f}" for part, time in parts._asdict().items())
        print(f"LSTM {hidden:4}, {B:2} sequences, {name:8}{told} = {parts.step:.2f} µs, predicted")
print("you guessed", my_guess)

# %% [markdown]
# With 8 sequences the grid's step is nearly all exchange. With 64, each of its blocks reads all of h, and that costs twice as much again. A cluster keeps 8 sequences and all weights, whatever other clusters do; its price is the bytes of h that are pushed into every block.
#
# Move the sliders. **Look for:** the size from which the cluster kernel refuses, and the minibatch from which its floor is below the grid's.

# %%
from rnnlab.widgets.step_view import explore_step

explore_step()

# %% [markdown]
# ## 2 · Tensor cores
#
# A tensor core multiplies small tiles. The instruction `mma.m16n8k16` takes 16 rows by 16 numbers of the weights, 16 numbers by 8 sequences of h, and adds to 16 rows by 8 sequences. Two 16-bit numbers share a **word** of 32 bits. A warp's 32 lanes hold the tiles together.
#
# **Predict:** how many words of each tile does a lane hold? Here is how the kernels say it.

# %%
from rnnlab.ladder.persistence.shapes import FOLDER

my_guess = {"weights": 1, "h": 1, "sums": 1}
text = (FOLDER / "persistence/instructions.cuh").read_text(encoding="utf-8")
print(text[text.index("// sum [16,8]"):text.index("DEVICE float from_lane")].strip())
print(f"\nwords a lane: weights {16 * 8 // 32}, h {8 * 8 // 32}, sums {16 * 8 // 32}; you guessed {my_guess}")

# %% [markdown]
# Which words those are is fixed by the hardware: the PTX manual has a drawing of each tile. Write a lane's number as 4g + t. Of h it holds words t and t + 4 of sequence g; of the sums, rows g and g + 8 of sequences 2t and 2t + 1. **Predict:** which lane holds word 5 of sequence 2?

# %%
my_guess = 0
print("h: the lane that holds each word, its two registers a and b")
for word in range(8):
    print(f"  word {word}", *(f"{4 * sequence + word % 4:3}{'ab'[word // 4]}" for sequence in range(8)))
print("sums: the lane of each row, its four registers a to d")
for row in (0, 1, 7, 8, 15):
    print(f"  row {row:3}", *(f"{4 * (row % 8) + sequence // 2:3}{'abcd'[2 * (row // 8) + sequence % 2]}"
                              for sequence in range(8)))
print("you guessed lane", my_guess)

# %% [markdown]
# The lane that has a unit's sum is not the one that needs its h in the next step. So h has to travel through memory even inside a warp.
#
# Lane t needs words t and t + 4 of a tile: two reads of 4 bytes, four for two tiles. But a sum may run over its terms in any order. The kernels take tiles in **pairs** over 16 words: lane t reads words 4t to 4t + 3 at once, two for each tile. **Predict:** does the product change?

# %%
import numpy as np

rng = np.random.default_rng(0)
weights, h = rng.integers(-8, 8, (16, 16)), rng.integers(-8, 8, (16, 8))
tiles = [[4 * t + 2 * which + k for k in (0, 1) for t in range(4)] for which in (0, 1)]
paired = sum(weights[:, words] @ h[words] for words in tiles)
for which, words in enumerate(tiles):
    print(f"tile {which} takes words {words}; lane t = 1 holds {words[1]} and {words[5]}")
print("the same product:", np.array_equal(paired, weights @ h))

# %% [markdown]
# The same: weights and h are put in the same order, and a sum does not mind. Weights are arranged once, before the launch; h then comes in reads of 16 bytes. With rounded numbers another order changes the last bits, in every run in the same way.
#
# ### Exercise: a fragment of weights
#
# <!-- exercise: pack_fragment -->
#
# In [work/15_persistent_cuda.ipynb](../work/15_persistent_cuda.ipynb).

# %%
rnnlab.progress("persistent_cuda")

# %% [markdown]
# ## 3 · Registers
#
# A thread has at most 255 registers. Weights must leave room for sums, addresses, and what is on its way from memory. What does not fit goes to shared memory, if the kernel's author sends it there; else the compiler **spills** it to local memory, and every step waits for it.
#
# **Predict:** a thread that keeps 128 words of weights needs how many registers in all?

# %%
from rnnlab.bench import register_table

my_guess, beside = 200, []
page = register_table.PAGE.read_text(encoding="utf-8").splitlines()
forward = [line.strip("| ").split(" | ") for line in page if " | forward | " in line]
for (arch, shape), told in zip(register_table.shapes(), forward, strict=True):
    launch, away, rows = shape.launch("forward", 8), 0, 1
    words = (1 if shape.gates == 1 else 4) * shape.hidden**2 * (4 if shape.precision == "tf32" else 2) // 4
    words //= launch.blocks * launch.threads
    if told[0] == "persistent_grid":
        away = 8 * shape.away[0] * shape.units[0] // shape.tile_units
    beside.append(int(told[7]) - words + away)
    if (arch, shape.cell) == ("sm_90", "lstm"):
        print(f"{told[0]:19}{shape.hidden:5} {shape.precision:9}{told[5]:>10}: {words - away:3} words in registers, "
              f"{away:3} in shared memory; {told[7]:>3} registers, {told[8]} bytes spilled")
print(f"beside weights: {min(beside)} to {max(beside)} registers; you guessed {my_guess} in all")

# %% [markdown]
# This is [docs/registers.md](../docs/registers.md): compiled, not run. A GRU's tiles leave every fourth row empty, so that it takes as much room as an LSTM. Beside its weights the grid kernel needs more than the cluster kernel: it has up to eight reads of h on their way, since the cache is far, and what a step needs of the input is loaded before the wait.
#
# **Break it:** ask for two blocks on each multiprocessor, so that one works while the other waits. What will the compiler do with a limit of 65 536 / 512 registers?

# %%
from rnnlab.compiling import compilers
from rnnlab.compiling.report import compile_report

my_guess = {"bytes spilled": 0}
shape = cluster_shape("lstm", 512, "bfloat16", gpu)
print(compilers.missing() or f"compiled here, not run: {register_table.compilers()}")
for blocks in () if compilers.missing() else (1, 2):
    source = shape.source.replace("__launch_bounds__(THREADS, 1)", f"__launch_bounds__(THREADS, {blocks})")
    found = compile_report(source, arch="sm_90", options=shape.options)["persistent_forward", "sm_90"]
    print(f"{blocks} on a multiprocessor: {found.registers} registers, {found.spill_stores} bytes spilled, "
          f"{found.spill_loads} read back; you guessed {my_guess}")

# %% [markdown]
# Where the compilers are installed, you see it spill: 128 words of weights alone would fill the 128 registers that are left to a thread. A GPU would show the price of it, too. Without one the rule stands: no spill, and a test holds every line of the table to it.
#
# ### Exercise: a budget of registers
#
# <!-- exercise: register_budget -->

# %%
rnnlab.progress("persistent_cuda")

# %% [markdown]
# ## 4 · Across blocks
#
# In lesson 14 blocks synchronise by flags: a block writes h, then a fence, then its flag; the others see the flag, then read h. That is two trips to the cache and two barriers of the block. But h itself can say that it is there. Its memory is filled with one special NaN before the launch, and each lane **polls** its own words until none is that NaN.
#
# Nothing but the word's value is taken from it, so no fence is needed. **Look for** what keeps a real NaN from being waited for, and for what ends a wait that would never end.

# %%
exchange = (FOLDER / "persistence/exchange.cuh").read_text(encoding="utf-8")
print(exchange[exchange.index("constexpr Word UNWRITTEN"):])
print(text[text.index("DEVICE void push"):text.index("DEVICE void make_barrier")])

# %% [markdown]
# A cluster needs no polling. `push` writes 16 bytes into another block's shared memory and tells a barrier there, which **counts bytes**. Data and message travel together; who waits, waits for bytes, not for blocks. Two warps share a packet, since each has only four units.
#
# Each block has two buffers for h. May a push overwrite one that somebody still reads? h(t+2) goes where h(t) lay. To push it, a warp must have all of h(t+1); every warp of the cluster has pushed its part of that, and it does so after reading h(t). So by then nobody reads h(t). Two buffers and one wait a step are enough.

# %% [markdown]
# ### A race that we found
#
# Backward, a block writes gradients of its own gates into a row, and its warps multiply them. What a warp sums belongs to some units, so to **one** block: it pushes there only. The first version had a single row. It compiled without a spill; registers looked fine.
#
# Here is its skeleton: two blocks, two warps each, whose turn it is is drawn by lot. **Predict:** in how many of 500 runs does a warp read a number of another step?

# %%
def warp(block, number, rows, row, met, came, stale):
    """Backward, 6 steps; what this warp sums belongs to block `number`."""
    for step in range(6):
        while came[block] < 2 * step:  # until all bytes have come that are pushed to this block
            yield
        row[block, step % rows, number] = step  # its half of the gates' gradients
        met[block] += 1
        while met[block] < 2 * (step + 1):  # __syncthreads()
            yield
        for half in (0, 1):  # the product
            yield
            stale.append(row[block, step % rows, half] != step)
        came[number] += 1  # push

# %%
import random

def goes_wrong(rows, seed):
    lot, shared = random.Random(seed), (np.zeros((2, rows, 2)), [0, 0], [0, 0], [])
    ready = [warp(block, number, rows, *shared) for block in (0, 1) for number in (0, 1)]
    while ready:
        chosen = lot.choice(ready)
        if next(chosen, "end") == "end":
            ready.remove(chosen)
    return any(shared[-1])

my_guess = 100
print("one row: wrong in", sum(goes_wrong(1, seed) for seed in range(500)), "of 500 runs; you guessed", my_guess)

# %% [markdown]
# A block's barrier counts bytes pushed **to** it. Its late warp owes bytes to the **other** block, so nobody here waits for it: the quick warp begins the next step and writes gradients over those that the late one still reads. Forward, each warp pushes to every block, so whoever waits there waits for all.
#
# **Change** one row to two, as the kernel now has it, and say why it is enough before you run.

# %%
my_guess = "two rows are enough because ..."
print("two rows: wrong in", sum(goes_wrong(2, seed) for seed in range(500)), "of 500 runs")
kernel = (FOLDER / "persistent_cluster.cu").read_text(encoding="utf-8")
print(next(line.strip() for line in kernel.splitlines() if "Word *row = " in line))

# %% [markdown]
# A warp cannot get two steps ahead: between two writes to the same row lies a barrier of its block, at which the late warp must have come, after its reads.
#
# To be honest about how we know: the compilers said nothing, and the register table was perfect. We saw it when the tests began to **run** the kernels, every thread a coroutine on the CPU, whose turn it is drawn by lot. Is that proof for a GPU? No; it is the best one can do without one.

# %% [markdown]
# ## 5 · The floor, by hand
#
# Now you have all parts: exchange or push, who reads how much of h from where, who multiplies. **Write** the floor of both kernels yourself.
#
# ### Exercise: what a step cannot be faster than
#
# <!-- exercise: steps_floor -->

# %%
rnnlab.progress("persistent_cuda")

# %% [markdown]
# ## 6 · Which way for which shape
#
# The course has five ways to run a layer. A way either refuses, with its reason, or has a predicted step; the quickest runs. **Predict** which one wins, with 64 sequences: an LSTM of 512 units and one of 1 024 on an H200; both on an H200 whose driver does not promise that all blocks run at once. And one of 256 in float32 on a T4, with 4 sequences?

# %%
from rnnlab.ladder.persistence.chooser import Abilities, choose

my_guess = ["persistent_cluster", "?", "?", "?"]
print(choose("lstm", 512, "bfloat16", (1024, 64), Abilities(gpu)), "\n")
print(choose("lstm", 1024, "bfloat16", (1024, 64), Abilities(gpu)), "\n")
print(choose("lstm", 1024, "bfloat16", (1024, 64), Abilities(gpu, cooperative=False)).name, "without cooperative launch,")
print(choose("lstm", 512, "bfloat16", (1024, 64), Abilities(gpu, cooperative=False)).name, "for 512 units\n")
print(choose("lstm", 256, "float32", (1024, 4), Abilities(find("T4"))))
print("you guessed", my_guess)

# %% [markdown]
# A cluster is launched as one: the hardware starts all its blocks together or none. So it needs no promise about the whole chip.
#
# Mind what is compared: the persistent kernels are shown at their floor, which nothing reaches; the graph's product is the timeline's model of cuBLAS. The order is a guess with reasons. **Try** 4 096 units, and a single step: who refuses, and why?

# %%
for hidden, steps in ((4096, 1024), (512, 1)):
    for way in choose("lstm", hidden, "bfloat16", (steps, 16), Abilities(gpu)).ways:
        print(f"{hidden} units, {steps} steps, {way.name}: {way.why_not or 'runs'}")

# %% [markdown]
# ## 7 · What others reach
#
# The figure to beat is cuDNN's persistent LSTM. FlashRNN's authors published it beside their own: one layer of 768 units, 16 sequences, 1 024 steps, forward, on an H100. **Predict:** how far above our grid kernel's floor is it?

# %%
my_guess = {"cuDNN over floor": 1.0}
published = {"cuDNN, nn.LSTM in float16": 2.01, "FlashRNN, fused, bfloat16": 4.87,
             "FlashRNN, alternating, bfloat16": 10.79, "Haste, float32": 18.41}
h100 = find("H100")
least = floor(grid_shape("lstm", 768, "bfloat16", 16, h100), 16, h100).step
for name, milliseconds in published.items():
    step = milliseconds * 1000 / 1024
    print(f"{name:32}{milliseconds:6.2f} ms, {step:5.2f} µs a step (published), {step / least:4.1f} times the floor")
print(f"{'persistent_grid, at best':32}{least * 1.024:6.2f} ms, {least:5.2f} µs a step (predicted); you guessed {my_guess}")

# %% [markdown]
# A step with a barrier of the whole chip takes 1.05 µs and its product, so cuDNN is near what flags allow. Polling lowers the floor; how much of that a kernel keeps, only a GPU can tell, since the floor leaves out what happens inside a block. cuDNN's time also holds the product with the inputs. And PyTorch takes that cuDNN kernel only for float16, one layer, one direction, an LSTM or plain RNN of at most 1 024 units in multiples of 128.
#
# Move the sliders: throughput over the minibatch, with what is recorded, published, predicted. **Look for** the rate of 1 sequence and of 8: the step is the same, so what does the larger one gain?

# %%
from rnnlab.widgets.minibatch_view import explore_minibatch

explore_minibatch()

# %% [markdown]
# On a machine with a GPU, `rnnlab bench gpu --suite persistent --record` measures the prices of section 1 first, then our kernels beside graphs, PyTorch and cuDNN's algorithms, after checking that all compute the same. Until somebody has, every figure of ours here is a prediction. Which of them do you trust least? The push and its bandwidth: they are estimates, and the cluster's step hangs on them.
#
# ## Recap

# %%
rows = [
    ("floor", "exchange, broadcast and product, one after another"),
    ("fragment", "what a lane holds of a tile; fixed by the hardware"),
    ("pairs of tiles", "any order of a sum is right; 16 bytes come in one read"),
    ("255 registers", f"weights, and {min(beside)} to {max(beside)} beside them; a spill is paid at every step"),
    ("polling", "h itself says that it is there; no fence, no flag"),
    ("push", "data and message together; the barrier counts bytes"),
    ("two rows in turn", "who is two steps ahead has waited for all who read"),
    ("run it", "a race shows in no table of registers"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does the grid's step grow with the minibatch before its product does?</summary>Each block reads all of h through the second-level cache.</details>
#
# <details><summary>Why may the kernels pair tiles over 16 words?</summary>A sum may run over its terms in any order, as long as weights and h are in the same.</details>
#
# <details><summary>Why not two blocks on a multiprocessor?</summary>They share 65 536 registers; each thread would have half, and spill.</details>
#
# <details><summary>Why was a single row a race backward, though the block waits for its bytes?</summary>A block's barrier counts what is pushed to it; its own late warp pushes elsewhere.</details>
#
# <details><summary>Why is no fence needed where blocks poll h?</summary>A reader takes nothing from a word but its value; what it sees is what was published, or not yet.</details>
#
# <details><summary>What would change most if the push took 0.5 µs?</summary>The cluster's step: twice its exchange. The grid's would not change.</details>

# %% [markdown]
# ## Sources
#
# - NVIDIA, *PTX ISA*: fragments of `mma.m16n8k16`, `st.async`, `mbarrier`; *CUDA C++ Programming Guide*: registers, clusters.
# - te42kyfo/gpu-benches: launch, graph node, barrier, cache bandwidth on an H200; cache latency on an H100. Exchange and push are our estimates; the push's bandwidth follows W. Luo and others, arXiv 2402.13499.
# - K. Pöppel and others, *FlashRNN*, arXiv 2412.07752: times read off the figure of its README (H100).
# - PyTorch, `aten/src/ATen/native/cudnn/RNN.cpp`: when cuDNN's persistent kernels are taken.
# - `rnnlab/ladder/persistent_grid.cu`, `persistent_cluster.cu`; how they are run without a GPU: `tests/emulated_gpu.py`.
#
# Next: 16 · Scaling out (planned)

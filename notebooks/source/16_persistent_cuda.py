# Course map: tensor cores, registers, clusters: the kernels in CUDA C++ read, their floor, and what others reach

# %% [markdown]
# # 16 · Tensor cores, registers, clusters
#
# **Claim to test: once weights stay in registers, a step spends most of its time in the exchange, waiting for the first h of the other blocks. Is this true, and for which sizes?**
#
# The claim rests on published latencies and estimates: no GPU has run these kernels yet. You will round to 16 bits, write the address of a register in CUDA C++, make a race and mend it, and compare a lower bound of a step with published times.
#
# - **Time:** 100 minutes, exercises included.
# - **You need:** [15 · Weights that stay](15_persistent_rnn.ipynb), [14 · Do four layers take four times as long?](14_network_schedule.ipynb). No GPU.
# - **Afterwards you can** say why sums stay in 32 bits, which part of a tensor core's tile a lane holds, how many weights a thread can store, why two alternating rows need no second barrier, and what bounds the time of a step.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## 1 · What a step costs
#
# Six prices, for an H200 (the cache's latency is an H100's): a launch by the host, a node of a CUDA graph, a barrier of all blocks, an **exchange** in which every block reads a number until it has been written, a read from the second-level cache, and a **push**, by which a block writes into another block's shared memory. **Predict:** order them, the slowest first. How many pushes does a barrier cost?

# %%
from rnncourse import drawings
from rnnlab.kernels.persistence.floor import H200

drawings.show("cluster_exchange")

my_guess = {"order": ..., "pushes for a barrier": ...}
prices = {"launch": H200.launch, "graph node": H200.node,
          "barrier of the chip": H200.grid_barrier,
          "exchange": H200.grid_exchange, "push": H200.push,
          "read of the second-level cache": H200.l2}

# %% [folded]
# Print the prices, the highest first.
for name, price in sorted(prices.items(), key=lambda item: -item[1]):
    print(f"{name:31}{price:6.3f} µs")
print(f"bandwidths: second-level cache {H200.l2_bandwidth} GB/s for all "
      f"blocks, {H200.l2_bandwidth / 132:.0f} for each of 132; push "
      f"{H200.push_bandwidth} GB/s into each block")
print(f"a barrier costs {H200.grid_barrier / H200.push:.1f} pushes; you "
      f"guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The launch is the slowest, and by these prices a barrier costs four pushes.
#
# </details>
#
# This course measured none of them. Four are published measurements (sources). The exchange is an estimate: twice the cache's latency. The push is a guess.
#
# The measured barrier takes 3.5 times as long as the estimated exchange. So these kernels have no barrier of the chip. Only a GPU can tell how much that saves.
#
# A **floor** is an estimated lower bound of a step's time. It adds three parts:
#
# - **exchange**: from the moment at which a block writes the first number of h until the others see it;
# - **broadcast**: all other numbers of h reach every block. In a cluster this takes the bytes of h divided by the push's bandwidth. Over the whole chip it takes the bytes that all blocks read divided by the cache's bandwidth. One load's latency is subtracted (never below 0): the exchange contains it;
# - **product**: the weights times h. A cluster begins it while h still arrives; only the rest counts.
#
# If the prices hold, a real step takes longer: the floor leaves out tanh, sums in shared memory, and barriers of a block.

# %% [markdown]
# The product runs on **tensor cores**, which multiply small tiles; section 2 shows how. The floor counts with 65 % of the data sheet's peak: what the instruction `mma`, of one warp, reached on an H800 (published). Hopper's `wgmma`, of four warps, reached 95 % with 64 columns but only 29 % with 8. A tile here has 8 columns, one for each sequence, so these kernels use `mma`. (With 64 sequences `wgmma` would do more.) Numbers are **bfloat16**: 16 bits, with the range of float32 and 8 bits of precision. **Predict:** an LSTM of 512 units, 8 sequences: how many µs a step over the whole chip, and in a cluster of 16 blocks?

# %%
from rnnlab.kernels.persistence.floor import floor
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape
from pocketgpu.devices import find

my_guess = {"grid": ..., "cluster": ...}
gpu, ratios, arrivals = find("H200"), {}, {}
print("units   B  way        exchange  broadcast    product   step, µs "
      "exchange/step")
for hidden, B in ((256, 8), (512, 8), (512, 64), (1024, 8), (1024, 64)):
    ways = {"grid": grid_shape("lstm", hidden, "bfloat16", B, gpu)}
    if hidden <= 512:
        ways["cluster"] = cluster_shape("lstm", hidden, "bfloat16", gpu)
    for name, shape in ways.items():
        parts = floor(shape, B, gpu)
        ratios[hidden, B, name] = parts.exchange / parts.step
        arrivals[hidden, B, name] = 1 - parts.product / parts.step
        print(f"{hidden:5}{B:4}  {name:8}"
              + "".join(f"{time:11.2f}" for time in (*parts, parts.step)),
              f"{parts.exchange / parts.step:12.0%}")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With 512 units and 8 sequences the grid is ahead, 0.33 µs against 0.61. With 64 sequences the cluster is ahead, 0.61 µs against 1.22.
#
# </details>
#
# The last column is the exchange's share of the floor. With 8 sequences the grid mostly waits: its share is 64 to 96 %. With 64 it mostly reads: each block reads the h of all sequences through the second-level cache, eight times as many bytes.
#
# If the prices hold, a real step takes longer than its floor, and the share is smaller. With 1,024 units and 8 sequences, 0.14 µs more bring it below one half, and so does an exchange below 0.17 µs. One of 1.05 µs would be 53 % for 512 units and 64 sequences.
#
# A cluster takes 8 sequences and waits for no other cluster. So 64 sequences take as long as 8 if 8 clusters run at once. If only 7 fit on the chip (lesson 15), they take two turns, 1.21 µs: hardly a gain over the grid.
#
# Move the sliders. **Look for:** the size from which the cluster kernel refuses to run, and the minibatch from which its floor is below the grid's.

# %%
from rnncourse.views.step_view import explore_step

explore_step()

# %% [markdown]
# <details><summary>What you find, for an LSTM in bfloat16 on an H200</summary>The cluster kernel runs 512 units and refuses 768: their weights do not stay in the registers of 16 blocks. With 512 units its floor is below the grid's from 32 sequences on, 0.61 against 0.69 µs; with 256 units from 64 on, 0.43 against 0.47 µs.</details>
#
# ## 2 · Tensor cores
#
# A tensor core multiplies numbers of 16 bits and adds in float32. Newer CPUs do the same on a smaller scale: one instruction multiplies **pairs** of bfloat16 numbers, and adds both products of a pair to a float32 sum. Elsewhere the course's function widens the pairs. **Predict:** what do 4,096 ones add up to if each sum is rounded to bfloat16? What do they add up to in pairs? And how many times as fast as NumPy's float32 product is a product of pairs?

# %% needs a compiler
import numpy as np

from rnncourse.lab.pair_products import WAY, multiply_pairs
from rnncourse.lab.turns import disturbance, take_turns
from rnnlab.narrow import from_bfloat16, to_bfloat16

my_guess = {"rounded sums": ..., "in pairs": ..., "times": ...}
total, ones = np.zeros(1, "float32"), np.ones((1, 4096), "float32")
for one in ones[0]:
    total = from_bfloat16(to_bfloat16(total + one))
print(f"rounded sums: {total[0]:.0f}; in pairs: "
      f"{multiply_pairs(ones, ones.T)[0, 0]:.0f}; you guessed {my_guess}")
a = np.random.default_rng(0).normal(size=(512, 512)).astype("float32")
times = take_turns({"float32": lambda: a @ a,
                    "pairs": lambda: multiply_pairs(a, a)})
gain = times["float32"].median / times["pairs"].median
print(f"{gain:.2f} times as fast ({WAY}), rounding and packing included")
print(disturbance(times))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Rounded sums end at 256. Eight bits of precision hold the whole numbers up to 256; 257 lies halfway between 256 and 258, and a tie goes to the even mantissa, back to 256. In pairs the sum is 4,096.
#
# Libraries differ: NumPy's sum of 4,096 ones in bfloat16 (of the package ml_dtypes) is 256, and their mean 0.0625. PyTorch and JAX add in float32 and return 4,096.
#
# </details>
#
# So sums stay in 32 bits, and so do a training run's **master weights**: an update below a 512th of a weight would be lost in bfloat16.
#
# NumPy's product above may use all cores, that of pairs uses one. Above 1, pairs are faster all the same.
#
# ### Exercise: round to 16 bits
#
# <!-- exercise: round_bits -->
#
# In [work/16_persistent_cuda.ipynb](../work/16_persistent_cuda.ipynb).

# %% [markdown]
# The instruction `mma.m16n8k16` has three tiles: of the weights [16,16], of h [16,8] and of sums [16,8]. It multiplies the first two and adds the result to the third, for 16 rows of the weights and 8 sequences. Two 16-bit numbers share a **word** of 32 bits. (For float32 there is **TF32**: the same range, 11 bits of precision, a word for each number.) The words of each tile are distributed over a warp's 32 lanes.
#
# **Predict:** how many words of each tile does a lane hold? Below is the CUDA C++ of the kernels: `asm` inserts the instruction, `"+f"` are registers with float that are read and written, `"r"` are registers with words that are read.

# %%
from rnnlab.kernels.persistence.shapes import SOURCES

my_guess = {"weights": ..., "h": ..., "sums": ...}
text = (SOURCES / "instructions.cuh").read_text(encoding="utf-8")
begin, end = map(text.index, ("// sum [16,8]", "DEVICE float from_lane"))
print(text[begin:end].strip())
print(f"\nwords a lane: weights {16 * 8 // 32}, h {8 * 8 // 32}, sums "
      f"{16 * 8 // 32}; you guessed {my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Four words of the weights, two of h, four sums.
#
# </details>
#
# The hardware fixes which words those are: the PTX manual has a drawing of each tile. Write a lane's number as 4g + t, with g from 0 to 7 and t from 0 to 3. Of h it holds words t and t + 4 of sequence g; of the sums, rows g and g + 8 of sequences 2t and 2t + 1. **Predict:** which lane holds word 5 of sequence 2?

# %%
my_guess = ...

# %% [folded]
# Print which lane holds what.
print("h: the lane that holds each word, its two registers a and b")
for word in range(8):
    print(f"  word {word}", *(f"{4 * sequence + word % 4:3}{'ab'[word // 4]}"
                              for sequence in range(8)))
print("sums: the lane of each row, its four registers a to d")
for row in (0, 1, 7, 8, 15):
    print(f"  row {row:3}", *(f"{4 * (row % 8) + sequence // 2:3}"
                              f"{'abcd'[2 * (row // 8) + sequence % 2]}"
                              for sequence in range(8)))
print("you guessed lane", my_guess)
both = [4 * sequence + row // 2 % 4
        for row in range(16) for sequence in range(8)
        if 4 * (row % 8) + sequence // 2 == 4 * sequence + row // 2 % 4]
print(f"plain RNN: sums in the lane that needs their unit's h: {len(both)} of "
      f"{16 * 8}, in lanes {sorted(set(both))}")
drawings.show("fragment_of_a_lane")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Lane 9 holds word 5 of sequence 2, in its second register: g = 2, and t = 5 mod 4 = 1.
#
# </details>
#
# Now write a line of CUDA C++ yourself: where does each register of each lane belong, if the sums go to shared memory? The exercise emulates your line for all 128 registers.
#
# ### Exercise: a line of CUDA C++
#
# <!-- exercise: index_of_sums -->

# %% [markdown]
# The lane that has a unit's sum is mostly not the lane that needs its h in the next step: only 16 of 128 coincide for a plain RNN, where a row is a unit. So h must move between lanes, by shuffles or through memory. Since all blocks need h, it goes through memory.
#
# Lane 4g + t needs words t and t + 4 of sequence g: two reads of 4 bytes, four reads for two tiles. One read of 16 bytes would do, if those four words were neighbours. The hardware does not know which number of h a word is, and a sum may add its terms in any order. So the kernels take tiles in **pairs** over 16 words: the lane reads words 4t to 4t + 3, and gives the first two to one tile, the others to the second. **Predict:** does the product change? (In the cell a word is one number.)

# %%
import numpy as np

my_guess = ...
rng = np.random.default_rng(0)
weights, h = rng.integers(-8, 8, (16, 16)), rng.integers(-8, 8, (16, 8))
tiles = [[4 * t + 2 * which + k for k in (0, 1) for t in range(4)]
         for which in (0, 1)]
paired = sum(weights[:, words] @ h[words] for words in tiles)
for which, words in enumerate(tiles):
    print(f"tile {which} takes words {words}; lane t = 1 holds {words[1]} and "
          f"{words[5]}")
print("the same product:", np.array_equal(paired, weights @ h))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The product is the same, because weights and h are reordered in the same way.
#
# </details>
#
# Weights are arranged once, before the launch; h is then read 16 bytes at a time. With rounded numbers another order changes the last bits, but in the same way in every run.
#
# ### Exercise: a fragment of weights
#
# <!-- exercise: pack_fragment -->

# %% [markdown]
# ## 3 · Registers
#
# A thread has at most 255 registers. Weights must leave room for sums, addresses, and loads in flight. Weights that do not fit can be stored in shared memory, if the kernel's author writes that; else the compiler **spills** them to local memory, and every step reads them from there. (The hardware allocates registers in groups of 8 a thread: with 384 threads 65,536 / 384 = 170 are available, and 168 usable.)
#
# **Predict:** how many registers does a thread need in all if it stores 128 words of weights?

# %%
from pocketgpu.compiling import compilers
from rnncourse.records import register_table

my_guess = ...
beside, totals, by_kernel = [], [], {}

# %% [folded]
# Print the registers that each kernel has, from the stored table.
print("words: weights of a thread in registers, and in shared memory")
print("kernel       units dtype      threads words  shared  registers  spilled")
page = register_table.PAGE.read_text(encoding="utf-8").splitlines()
forward = [line.strip("| ").split(" | ") for line in page
           if " | forward | " in line]
for (arch, shape), row in zip(register_table.shapes(), forward, strict=True):
    launch, away = shape.launch("forward", 8), 0
    matrices = 1 if shape.gates == 1 else 4
    itemsize = 4 if shape.dtype == "tf32" else 2
    words = matrices * shape.hidden**2 * itemsize // 4
    words //= launch.blocks * launch.threads
    if row[0] == "persistent_grid":
        away = 8 * shape.away[0] * shape.units[0] // shape.tile_units
    beside.append(int(row[7]) - words + away)
    if (arch, shape.cell) == ("sm_90", "lstm"):
        print(f"{row[0].removeprefix('persistent_'):13}{shape.hidden:5} "
              f"{shape.dtype:9}{row[5]:>9}{words - away:6}{away:8}{row[7]:>11}"
              f"{row[8]:>9}")
        totals += [int(row[7])] if words - away == 128 else []
        by_kernel.setdefault(row[0].split("_")[1], []).append(beside[-1])
print(f"with 128 words: {min(totals)} to {max(totals)} registers in all; you "
      f"guessed {my_guess}")
print(f"beside the weights, all forward kernels: {min(beside)} to "
      f"{max(beside)}",
      *(f"{name} kernel above: {min(registers)} to {max(registers)}"
        for name, registers in by_kernel.items()), sep="; ")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With 128 words of weights in registers a thread needs 197 to 201 registers in all; the grid kernel for 2,048 units, which also has 128 words in shared memory, needs 218. The table is [docs/registers.md](../docs/registers.md): compiled, not run. A GRU's tiles leave every fourth row empty, so that it takes as much room as an LSTM. Beside its weights the grid kernel mostly needs more registers than the cluster kernel, 70 to 109 against 48 to 73 in the table. Probable causes are the reads of h, of which it has up to eight in flight, and a step's inputs, which it loads before it waits. Beside more than 64 words of weights it loads fewer inputs ahead, and needs 70 to 90.
#
# </details>
#
# **Break it:** take the cluster kernel for an LSTM of 512 units, and ask for two blocks of 256 threads on each multiprocessor, so that one can work while the other waits. What will the compiler do with a limit of 65,536 / 512 = 128 registers a thread?

# %%
my_guess = {"bytes spilled": ...}

# %% [folded]
# Print what a kernel spills that has too many weights.
print("cluster kernel, lstm, 512 units, bfloat16")
if compilers.missing():
    print("recorded:", next(line for line in page if line.startswith("with ")),
          *register_table.recorded_crowded(), compilers.missing(), sep="\n")
else:
    print(f"compiled here, not run: {register_table.compilers()}",
          *map(register_table.crowded, (1, 2)), sep="\n")
print("you guessed", my_guess)
drawings.show("registers_of_a_thread")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# One block has 201 registers a thread and spills nothing. With two the limit is 128, which the 128 words of weights alone would fill: 244 bytes are spilled and 260 read back (with the compilers that the page names; others may choose otherwise). The course's rule is: no spill; a test checks every line of the table. On a GPU, `ncu` (Nsight Compute) shows registers, spills and achieved occupancy of a kernel, and `compute-sanitizer` checks its memory accesses.
#
# </details>
#
# ### Exercise: a budget of registers
#
# <!-- exercise: register_budget -->

# %% [markdown]
# ## 4 · Across blocks
#
# In lesson 15 blocks synchronise by flags: a block writes h, then a fence, then its flag; the other blocks see the flag, then read h. That is two round trips to the cache and two barriers of the block. But h itself can be its own flag. Each step's h has a place of its own, which holds one special NaN before the launch. (No floor counts that.) Each lane **polls** its own words, that is, reads them again and again until none is that NaN.
#
# A reader uses nothing but the value of the word that it has read, so no fence is needed. **Look for** the line that prevents a computed NaN from being taken for the special one, and for the line that ends a wait that would never end.

# %%
from textwrap import fill

drawings.show("flag_or_value")

exchange = (SOURCES / "exchange.cuh").read_text(encoding="utf-8")
print(exchange[exchange.index("constexpr Word UNWRITTEN"):])
kernel = (SOURCES / "persistent_grid.cu").read_text(encoding="utf-8")
loop = next(line for line in kernel.splitlines() if "for (Watch watch" in line)
print("the loop that polls:", fill(loop.strip(), 76), sep="\n", end="\n\n")
begin = text.index("DEVICE void push")
print(text[begin:text.index("DEVICE void push(Remote to, uint2")])

# %% [markdown]
# <details><summary>The two lines</summary>`min(…, UNWRITTEN - 1)`, or `(UNWRITTEN >> 16) - 1` for 16 bits: a computed NaN with the bits of the special one becomes the NaN with the next smaller bits. `return now - start > MOST_WAIT;` ends a wait that takes longer than about 50 ms, `MOST_WAIT`. (`each_read` reads the lane's words again.)</details>
#
# A cluster need not poll h. `push` writes 16 bytes into another block's shared memory and reports them to a barrier there, which **counts bytes**. Data and notification arrive together; a waiting thread waits for a number of bytes, not for blocks.
#
# Each block has two buffers for h. Can a push overwrite a buffer that a warp still reads? h(t+2) is written over h(t). Before a warp pushes a part of h(t+2), it must have all of h(t+1). Every warp of the cluster has pushed its part of h(t+1), and did so after it had read h(t). So at that time no warp reads h(t) any more. Two buffers and one wait a step are enough. At the end, no block may return while others still push into its shared memory, so a cluster barrier stands there.

# %% [markdown]
# ### A race that we found
#
# In the backward pass a block writes the gradients of its own gates into a row of its shared memory, and each of its warps multiplies this row with weights. The sums of one warp belong to units of **one** block, and the warp pushes them to that block only. In the next step the block fills the row again: the first version had a single one. It compiled without a spill.
#
# Here is its skeleton: two blocks with two warps each, which run in random order; at each `yield` another warp may continue. **Predict:** in how many of 500 runs does a warp read a number of another step?

# %%
def warp(block, number, rows, row, arrivals, pushes, is_wrong):
    """Backward, 6 steps; the sums of this warp belong to block `number`."""
    for step in range(6):
        # wait for all bytes that are pushed to this block
        while pushes[block] < 2 * step:
            yield
        # its half of the gates' gradients
        row[block, step % rows, number] = step
        arrivals[block] += 1
        while arrivals[block] < 2 * (step + 1):  # __syncthreads()
            yield
        for half in (0, 1):  # the product
            yield
            is_wrong.append(row[block, step % rows, half] != step)
        pushes[number] += 1  # push

# %%
import random

def goes_wrong(rows, seed):
    order = random.Random(seed)
    shared = np.zeros((2, rows, 2)), [0, 0], [0, 0], []
    running = [warp(block, number, rows, *shared) for block in (0, 1)
               for number in (0, 1)]
    while running:
        turn = order.choice(running)
        if next(turn, "end") == "end":
            running.remove(turn)
    return any(shared[-1])

my_guess = ...
print("one row: wrong in", sum(goes_wrong(1, seed) for seed in range(500)),
      "of 500 runs; you guessed", my_guess)
drawings.show("row_overwritten")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In nearly all of them, 467 of 500. A block waits for the bytes that are pushed **to** it. Its slow warp still has to push bytes to the **other** block, so no warp of its own block waits for it. The fast warp begins the next step, and overwrites gradients that the slow warp still reads. In the forward pass each warp pushes to every block, so a waiting warp waits for all warps.
#
# </details>
#
# The kernel now has two rows and uses them in turn. **Explain** why two are enough, then run the cell.

# %%
my_guess = ...
print("two rows: wrong in", sum(goes_wrong(2, seed) for seed in range(500)),
      "of 500 runs")
kernel = (SOURCES / "persistent_cluster.cu").read_text(encoding="utf-8")
print(next(line.strip() for line in kernel.splitlines()
           if "Word *row = " in line))

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# In none of them. In each step the warps of a block meet at one barrier, `__syncthreads()`. It comes after the writing of the row and before the reading.
#
# - **Two rows:** the row of step t is written again in step t + 2. Before that comes the barrier of step t + 1. The slow warp reaches it only after it has read the row.
# - **One row:** it is written again in step t + 1. The last barrier is that of step t. The slow warp passes it before it reads.
#
# </details>
#
# The compilers reported nothing, and the register table was perfect. We saw the race when the tests began to **run** the kernels on the CPU, every thread a coroutine, in random order. That proves nothing for a GPU.

# %% [markdown]
# ## 5 · Published times
#
# The fastest published time here is that of cuDNN's LSTM, in its persistent algorithm by PyTorch's rules (sources). FlashRNN's authors published it beside their own: one layer of 768 units, 16 sequences, 1,024 steps, forward, on an H100. **Predict:** how many times our grid kernel's floor is it?

# %%
my_guess = {"cuDNN over floor": ...}
published = {"cuDNN, nn.LSTM in float16": 2.01,
             "FlashRNN, fused, bfloat16": 4.87,
             "FlashRNN, alternating, bfloat16": 10.79,
             "Haste, float32": 18.41}
h100 = find("H100")
parts = floor(grid_shape("lstm", 768, "bfloat16", 16, h100), 16, h100)
least = parts.step
# no barrier was measured on an H100
by_flags = least - parts.exchange + H200.grid_barrier + H200.l2  # reads h

# %% [folded]
# Print the published times beside the floor.
for name, milliseconds in published.items():
    step = milliseconds * 1000 / 1024
    print(f"{name:32}{milliseconds:6.2f} ms,{step:6.2f} µs a "
          f"step,{step / least:5.1f} × the floor")
print(f"{'persistent_grid, predicted':32}{least * 1.024:6.2f} ms,{least:6.2f} "
      "µs a step")
print(f"{'the same with a barrier':32}{by_flags * 1.024:6.2f} "
      f"ms,{by_flags:6.2f} µs a step")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# cuDNN takes 3.5 times our floor. The published times are the labels of a figure, and Haste's float32 cannot be compared with a floor of bfloat16. If each step had a barrier of the whole chip (1.05 µs on an H200) in place of the exchange, the floor would be 1.45 µs, and cuDNN would take 1.4 times that. cuDNN's time also contains the product with the inputs, and a floor leaves out what happens inside a block.
#
# </details>

# %% [markdown]
# Move the sliders: throughput over the minibatch, with recorded, published and predicted values. **Look for** the rate of 1 sequence and of 8: what does the larger minibatch gain?

# %%
from rnncourse.views.minibatch_view import explore_minibatch

explore_minibatch()

# %% [markdown]
# <details><summary>What you find</summary>By the floor a step takes as long for 8 sequences as for 1: eight times the rate.</details>
#
# On a machine with a GPU, `rnnlab bench gpu --suite persistent --record` measures the latencies of section 1 first, then our kernels beside graphs, PyTorch and cuDNN's algorithms, after checking that all compute the same. Without such a record, every time of ours here is a prediction. Three prices are the least certain: the exchange and the push, both estimates, and the push's bandwidth, published for other packets and smaller clusters. The claim depends on the exchange, the cluster's step on the other two.
#
# Floors also choose the fastest way for a shape: `rnnlab.ladder.chooser`, shown in [docs/persistent_kernels.md](../docs/persistent_kernels.md).
#
# ## Recap
#
# **By its floor, a step over the whole chip spends most of its time in the exchange with 8 sequences, and reading h with 64. In a cluster the exchange is 41 to 58 % of the floor, the broadcast the rest. A real step has more parts, so its share is smaller for the same exchange.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("floor", "exchange, broadcast, product; a cluster overlaps the last"),
    ("bfloat16", "8 bits: sums and master weights stay in 32"),
    ("fragment", "the words of a tile that a lane holds; fixed by the "
     "hardware"),
    ("pairs of tiles", "any order of a sum is right; 16 bytes in one read"),
    ("255 registers", f"weights, and {min(beside)} to {max(beside)} beside "
     "them; a spill costs time"),
    ("polling", "h is its own flag: no fence, and no barrier of the chip"),
    ("push", "data and notification together; the barrier counts bytes"),
    ("two rows in turn", "between reading a row and writing it again lies a "
     "barrier"),
    ("run it", "a table of registers shows no race"),
]
for question, answer in rows:
    print(f"{question:18}{answer}")

grid = {key: share for key, share in ratios.items() if key[2] == "grid"}
mostly = [f"{hidden} units, {B} sequences"
          for (hidden, B, _), share in grid.items() if share > 0.5]
print("\nclaim, a grid's step is mostly exchange: holds for the floor of "
      f"{len(mostly)} of {len(grid)} sizes ({'; '.join(mostly)}); a real step "
      "has more parts, and no GPU has measured it")
late = [share > 0.5 for key, share in arrivals.items() if key[2] == "grid"]
clusters = [share > 0.5 for key, share in ratios.items()
            if key[2] == "cluster"]
print(f"with the broadcast: {sum(late)} of {len(late)}; clusters, exchange "
      f"alone: {sum(clusters)} of {len(clusters)}")
rnnlab.progress("16_persistent_cuda")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does the grid's step grow with the minibatch by more than its product does?</summary>Each block reads all of h through the second-level cache.</details>
#
# <details><summary>Why does a sum of ones in bfloat16 end at 256?</summary>257 lies halfway between 256 and 258, and a tie goes to the even one.</details>
#
# <details><summary>Why may the kernels pair tiles over 16 words?</summary>A sum may add its terms in any order, as long as weights and h have the same order.</details>
#
# <details><summary>Why not two blocks on a multiprocessor, with 128 words of weights a thread?</summary>They share 65,536 registers; each of 512 threads would have 128, and spill.</details>
#
# <details><summary>Why was a single row a race in the backward pass, though the block waits for its bytes?</summary>It waits for the bytes that are pushed to it; its own slow warp pushes to another block.</details>
#
# <details><summary>Why is no fence needed where blocks poll h?</summary>A reader uses only the value of the word that it polls. It sees either the new value or still the special NaN.</details>
#
# <details><summary>What would change most if the push took 0.5 µs?</summary>The cluster's step: twice its exchange. The grid's would not change.</details>

# %% [markdown]
# ## Sources
#
# - NVIDIA, *PTX ISA*: fragments of `mma.m16n8k16`, `st.async`, `mbarrier`; *CUDA C++ Programming Guide*: registers, clusters.
# - te42kyfo/gpu-benches: launch, graph node, barrier, cache bandwidth on an H200; cache latency on an H100. Exchange and push are our estimates; the push's bandwidth and the rates of `mma` and `wgmma` are from W. Luo and others, arXiv 2402.13499 (H800).
# - K. Pöppel and others, *FlashRNN*, arXiv 2412.07752: times from the labels of a figure of its README (H100).
# - The sums of ones were computed with NumPy 2.4.6 and ml_dtypes 0.6.0, PyTorch 2.13.0, JAX 0.10.2.
# - PyTorch, `aten/src/ATen/native/cudnn/RNN.cpp`: when cuDNN's two persistent kernels are used.
# - `rnnlab/kernels/persistence/persistent_grid.cu`, `persistent_cluster.cu`; how they are run without a GPU: `tests/emulated_gpu.py`.
#
# Next: [17 · Many machines](17_scaling_out.ipynb)

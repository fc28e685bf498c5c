# Course map: what your machine can do, measured; how checks and hints work

# %% [markdown]
# # 00 · Start here
#
# **Claim to test: time follows arithmetic. A matrix product for two sequences takes twice as long as for one, and a product for 64 sequences takes 64 times as long. Is that so?**
#
# You guess two numbers, measure them on your machine, and find the reason. You also learn how the checks of this course work.
#
# - **Time:** 65 minutes, exercises included.
# - **You need:** Python, and NumPy as far as `a @ b` and `a.shape`.
# - **Afterwards you can** read a check's verdict, count the FLOP of a network, measure a rate, and say whether arithmetic, memory or neither holds a product back.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# ## How to work
#
# The **banner** above says what is live (runs here), simulated (on the CPU) and recorded (measured earlier).
#
# Run a cell with **Shift + Enter**, then the next one. You may change cells and run them again. If a cell does not end, stop it with the **■** above the notebook. If Python is started anew, it has forgotten every cell: run those above yours again (menu *Run*, *Run All Above Selected Cell*).
#
# Each lesson has the same steps: you **predict** a result, you run the cell, you compare, and you find the reason. Write your prediction down first. The exercises are in a notebook of your own, in the folder `work`. Nothing that you write there is ever overwritten.

# %%
from rnncourse import drawings

drawings.show("one_row_or_64")

# %% [markdown]
# ## First, a race
#
# Eight threads of a GPU reverse eight numbers, through a memory that all of them share. Run the cell: it shows the launch step by step. Move its slider to the left end and press *next*. **Which thread is the first to read a number that nobody has written yet?** Then replace the comment by `cuda.syncthreads()`, at which every thread waits for all others, and run it again. (The GPU is simulated, unless you have one. Lesson 09 explains every word.)

# %%
import numpy as np

from rnnlab import cuda


@cuda.jit
def reverse(x):
    part = cuda.shared.array(8, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    # a line is missing here
    x[i] = part[7 - i]


cuda.replay(reverse[1, 8], np.arange(8, dtype="float32"))

# %% [markdown]
# <details><summary>Answer</summary>Thread 0: in step 3 it reads <code>part[7]</code>, which thread 7 writes later. Threads 1 to 3 do the same with <code>part[6]</code> to <code>part[4]</code>. The finding below the replay names another pair: thread 0 writes <code>part[0]</code>, and thread 7 reads it. Here the write came first, but nothing orders the two, so on a GPU the read may. The barrier orders both pairs.</details>
#
# ## Three paths
#
# You need not take every lesson. The next cell prints three paths: which one is yours? Then it asks four questions about the first. Put your numbers in place of `...` and run it again: it says what you may skip. Lessons 05 and 09 ask about the other two.

# %%
from rnncourse import paths

paths.show()
paths.test("understand")

# %% [markdown]
# ## 1 · What this machine is
#
# Lessons from 05 on are all about speed, and speed depends on the machine. The **doctor** examines yours: processor, memory, the library that multiplies matrices for NumPy (its **BLAS**), and a GPU if there is one. Where something is missing, it names the command that installs it.

# %%
from rnncourse.lab import doctor

doctor.report(measured=False)

# %% [markdown]
# ## 2 · A check that says no
#
# The outputs of a network are one array, `y [T,B,H]`: `T` steps in time, `B` sequences that are computed together (a **minibatch**), `H` hidden units. A **unit** is one number that the network computes at every step. After a name and a space, square brackets give a shape; without the space, as in `y[0]`, they pick a part.
#
# The function below should return the outputs at the **last step**, but it contains a mistake. Run it, and then the check after it.

# %%
def last_step(y):
    """The outputs [B,H] at the last step of y [T,B,H]."""
    return y[:, -1]


# %%
rnnlab.check(last_step, practice=True)

# %% [markdown]
# A verdict has three parts, always in this order: **what differs** first, in a small case; the **likely mistake**, if it is a known one; and **what to do next**.
#
# The check drew random arrays, ran the function on copies of them, and compared the results. It examines only what the function returns, not how you wrote it. If you are stuck, ask for a hint. There are three hints for each exercise; run the cell again for the next one.

# %%
rnnlab.hint(last_step)

# %% [markdown]
# **Now correct it.** Go back to the cell that defines `last_step`, change its last line, run it, and run the check again until it turns green. Below a right answer you see counts: what your function cost, what the course's own cost, and what a better one takes. There you can also unfold the course's own. (`practice=True` means that this verdict is not stored: the mistake was ours.)
#
# <details><summary>Question: would the wrong version give the right number for T=1, B=1, H=1?</summary>
#
# Yes: with one step, one sequence and one unit, the last step, the last sequence and the last unit are the same number. Even the shape would be right. A test whose sizes are equal, or 1, cannot tell axes apart. That is why checks use several shapes.
# </details>
#
# ## Exercise: last_step
#
# <!-- exercise: last_step -->
#
# Open your own notebook for this lesson with the link above, and write the answer there too. Your progress is stored in one file on this machine; nothing is sent anywhere. The next cell shows it.

# %%
rnnlab.progress("00_start_here")

# %% [markdown]
# ## 3 · Count before you measure
#
# A **FLOP** is one operation on floating-point numbers: one multiplication or one addition. A product of an [m,k] array with a [k,n] array has m·n results, and each of them is a sum of k products: k multiplications and about k additions.
#
# So a product takes **2·m·n·k FLOP**. At every step, a recurrent network multiplies all states `h [B,H]` by the weights `weight_hh [H,H]`, transposed; its inputs need another product. (A **state** `h [B,H]` is what the network remembers: H numbers for each sequence. The **weights** are the numbers that training changes. See lesson 01.)

# %%
H = 1024
for B in (1, 64):
    print(f"B = {B:2}: {2 * B * H * H / 1e6:7.2f} MFLOP for the states")

# %% [markdown]
# ## Exercise: count_rnn_flops
#
# <!-- exercise: count_rnn_flops -->
#
# Count a whole network: every step, every sequence, every layer. Recurrent networks can be stacked, and each network of such a stack is called a **layer**: the outputs of one layer are the inputs of the next.

# %% [markdown]
# ## 4 · Predict, then measure
#
# How many times as long as the product for one sequence will those for two and for 64 take? Put your guesses in place of `...` in the next cell. Until you do, a line covers the outcome; a click opens it. Think of the weights, too: how many numbers of `weight_hh` must the processor read for one sequence, and how many for 64?
#
# The cell measures. Each product runs 32 times; the first run is not counted, because it also fills caches and starts threads. The products take turns, so that a busy minute slows all of them and not one. From the other 31 runs we take the **median**: half of the runs were faster, half slower.
#
# The **spread** is the distance between the first and the third quartile: half of all runs lie between these two. If it is larger than the median itself, or if more than two threads for each core wanted to run, another program was probably using the cores. Then the first line of the output is a warning: do not believe the numbers below it, and run the cell again later.

# %%
my_guess = {2: ..., 64: ...}  # times as long as for one sequence

import timeit
from functools import partial

from rnncourse.lab.turns import disturbance, take_turns, verdict

rng = np.random.default_rng(0)
weight_hh = rng.standard_normal((H, H), dtype=np.float32)
minibatches = [1, 2, 4, 8, 16, 32, 64, 128, 256]
products = {}
for B in minibatches:
    h = rng.standard_normal((B, H), dtype=np.float32)
    products[f"B = {B}"] = partial(np.matmul, h, weight_hh.T)
timings = take_turns(products, rounds=31)
seconds = {B: timings[f"B = {B}"].median for B in minibatches}

# %% [folded]
# Print the times and a warning, and draw what the rows share.
print(disturbance(timings))
for B in minibatches:
    microseconds, spread = 1e6 * seconds[B], timings[f"B = {B}"].relative_spread
    print(f"B = {B:3}: {microseconds:7.0f} µs, {microseconds / B:6.1f} µs per "
          f"sequence, spread {spread:.0%}")
ratios = {B: seconds[B] / seconds[1] for B in (2, 64)}
for B, guess in my_guess.items():
    print(f"{B:2} sequences took {ratios[B]:.1f} times as long as one. Your "
          f"guess was {guess}.")
drawings.show("shared_weights")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 64 sequences usually take far less than 64 times as long: the weights are the same for all rows. For one sequence all H² numbers of `weight_hh` (a million) are read, from memory or from a cache (section 6), for one row; for 64, one such reading serves 64 rows. A library may also use more cores.
#
# The factor for two sequences differs from machine to machine. If it is below 2, the two rows share the reading, as in the drawing, or the cost of the call. If it is well **above 2**, the library probably computes two rows with another routine than one row. See section 5.
#
# </details>

# %% [markdown]
# ## 5 · The same as a rate
#
# A **rate** says how well the processor is used: FLOP divided by seconds. One GFLOP/s is 10⁹ FLOP a second. The next picture shows the rate against the minibatch. If time depended on arithmetic alone, the line would be level.

# %% [folded]
# Draw the rate against the minibatch.
from rnncourse.figures.picture import PALETTE, canvas, show

rate = {B: 2 * B * H * H / seconds[B] / 1e9 for B in minibatches}
figure, axis = canvas()
axis.plot(minibatches, list(rate.values()), "o-", color=PALETTE["blue"],
          label="measured")
axis.axhline(rate[1], color=PALETTE["red"], linestyle="--",
             label="if only arithmetic counted")
axis.set(xscale="log", xlabel="minibatch B (sequences)",
         ylabel="rate (GFLOP/s)", ylim=0)
axis.set_xticks(minibatches, minibatches)
axis.minorticks_off()
axis.legend(frameon=False)
best = max(rate, key=rate.get)
change = "falls" if rate[2] < rate[1] else "grows"
finding = (f"The rate is {rate[1]:.3g} GFLOP/s for one sequence, {change} to "
           f"{rate[2]:.3g} for two")
show(figure, f"{finding}, and is best for {best}: {rate[best]:.3g} GFLOP/s.")

# %% [markdown]
# Look at the left end. Where the rate **falls** from one sequence to two, two sequences took more than twice as long as one. A product with a single row is a product of a matrix and a vector, which reads the weights in the order in which they are stored. With two rows or more, many BLAS libraries first copy the weights into an order that suits their inner loop. For few rows that copy can cost more than the product itself. Where the rate **grows** from the beginning, two rows cost less than twice one row.

# %% [markdown]
# ## Exercise: measure_gemm
#
# <!-- exercise: measure_gemm -->
#
# Write the measurement yourself. **GEMM** is the usual name for a matrix product in a BLAS: *general matrix multiply*. The course never grades the speed of your machine: the check passes a clock of its own, whose readings it knows.
#
# ## 6 · Why: two roofs
#
# A product needs arithmetic, and its numbers must be read from memory. So there are two limits: the **peak** in GFLOP/s, and the **bandwidth**, the number of GB (10⁹ bytes) that memory delivers in a second. Both are measured here. The peak is what your BLAS reaches with a large product, not what the processor could reach at best.

# %%
drawings.show("two_roofs")

# %%
from rnncourse.lab import roofline

roof = roofline.measure(seconds=1.0)
print(f"peak       {roof.peak:7.1f} GFLOP/s")
print(f"bandwidth  {roof.bandwidth:7.1f} GB/s")
print(f"balance    {roof.balance:7.1f} FLOP for each byte")
print(roof.disturbed)

# %% [markdown]
# The **arithmetic intensity** of a product is its FLOP divided by the bytes that it must read and write. The states and the result have B·H numbers each, the weights H·H, and a float32 number has 4 bytes:
#
# $$\text{intensity} = \frac{2\,B\,H^2}{4\,(H^2 + 2\,B\,H)}\ \text{FLOP/byte}.$$
#
# Below the machine's balance, memory sets the highest rate that is possible; above it, arithmetic does. **By hand, before you run the cell:** what is the intensity for one sequence, if H² is much larger than H? Multiply it by your bandwidth: that is the highest rate that memory allows.

# %%
my_guess = ...  # FLOP/byte for one sequence: put your own number here
intensity = {B: 2 * B * H * H / (4 * (H * H + 2 * B * H)) for B in minibatches}
most = {B: roof.attainable(intensity[B]) for B in minibatches}
print(f"your guess {my_guess}, the formula {intensity[1]:.3f} FLOP/byte")

# %% [folded]
# Print intensity and rate of each minibatch.
for B in minibatches:
    print(f"B = {B:3}: {intensity[B]:5.1f} FLOP/byte, at most {most[B]:4.0f} "
          f"GFLOP/s; measured {rate[B]:5.3g}")
for B in (2, 64):
    print(f"{B:2} sequences, by the roofs alone: {B * most[1] / most[B]:.1f} "
          f"times as long as one; measured {ratios[B]:.1f}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# For one sequence the intensity is nearly ½ for every large H: two FLOP for each weight of four bytes. With 64 sequences it is about 28; compare that with your balance to see which limit holds there. The last two lines say how much of section 4 the roofs explain.
#
# </details>
#
# Drawn against intensity, the two limits look like a **roof**: a slope where memory is the limit, level where arithmetic is. The crosses are your measurements, each with its minibatch. Move the sliders: which minibatch carries the product from the slope to the level part? Does a larger network change that?
#
# <details><summary>Answer</summary>The minibatch at which the intensity reaches your machine's balance. Intensity is about B/2 while B is small beside H, so that minibatch is about twice the balance. A larger H hardly changes it: the weights and the work grow together.</details>

# %%
from rnncourse.views.roofline_view import explore_roofline

explore_roofline(roof, measured={(B, H): rate[B] for B in minibatches})

# %% [markdown]
# A point **above** the slope is not an error. The slope was measured with arrays far too large for the processor's **caches**, small and fast memories close to its cores. The weights here take 4·H² bytes, 4.2 MB. If they stay in a cache from one run to the next, they need not be read from memory, and the product may be faster than the slope allows.
#
# A point far **below** both limits pays a cost that the roofs leave out, such as the copy of the weights (section 5) or the start of threads. Another program can also be the reason, and a steady one may give no warning: run section 4 again and compare. If points lie far above the **level** part, something may have slowed the measurement of the roof: repeat it.
#
# Keeping weights close to the arithmetic is the idea of this whole course; lesson 15 does it by hand, on a GPU.

# %% [markdown]
# ## 7 · Break it
#
# How far can you trust a single run? The next cell draws 15 runs for one sequence and 15 for 64 sequences. Run it again, then once more while you scroll quickly through another window. **Predict:** which of the three values changes least, first run, mean or median?

# %%
my_guess = ...
runs, alone = {}, {}
for B in (1, 64):
    h = rng.standard_normal((B, H), dtype=np.float32)
    runs[B] = timeit.repeat("h @ weight_hh.T", globals=globals(), number=1,
                            repeat=15)
    alone[B] = 1e6 * np.median(runs[B])

# %% [folded]
# Draw the runs, and print what each of the three values says.
figure, axes = canvas(1, 2, width=7.4, height=2.8)
for axis, B in zip(axes, (1, 64), strict=True):
    relative = np.array(runs[B]) / np.median(runs[B])
    axis.plot(range(1, 16), relative, "o", color=PALETTE["blue"])
    axis.axhline(relative.mean(), color=PALETTE["red"], linestyle="--",
                 label="mean")
    axis.axhline(1, color=PALETTE["black"], label="median")
    axis.set(title=f"B = {B}", xlabel="run", xticks=(1, 5, 10, 15))
    axis.set(ylabel="time / median", ylim=0)
    first, mean = 1e6 * runs[B][0], 1e6 * np.mean(runs[B])
    print(f"B = {B:2}: first {first:5.0f} µs, mean {mean:5.0f} µs, median "
          f"{alone[B]:5.0f} µs")
print(f"By these medians, 64 sequences take {alone[64] / alone[1]:.0f} times "
      f"as long as one; it was {ratios[64]:.0f} times in section 4.")
print("you guessed", my_guess)
axes[0].legend(frameon=False)
show(figure, "Fifteen runs for one sequence and fifteen for 64 sequences, as "
     "multiples of their median.")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Usually the median changes least. One slow run, often the first one, moves the mean, but hardly the median. If times still fall from run to run, the median depends on how many runs you take. A program that keeps the cores busy slows **every** run: only a later measurement can show that.
#
# One sequence usually takes less time here than in section 4. There, other products ran between two runs for one sequence. Their data may have pushed the weights out of the caches, and threads may have had to wake up. So a time depends on what ran just before, and so does the factor in the last line.
#
# </details>

# %% [markdown]
# ## Recap
#
# Time does not follow arithmetic. **A product for 64 sequences takes less than 64 times as long as for one: one reading of the weights serves all rows, and more cores may share the work; a product for two may take more than twice as long, where another routine computes it.** Below is what your machine says about both halves.
#
# The next cell also opens a **scoreboard**. From lesson 01 to 08 you compute networks of one size (16 steps, 64 sequences, 256 units) in different ways; each lesson adds its rows, measured by you: on one core, and in lessons 07 and 08 on all cores, too. 100 % is the rate of one large product on one core. The amounts of work differ: compare times within a lesson, percentages between lessons. Different runs of the same code may differ by a third.

# %% [folded]
# Print what this run says of the claim, and your progress.
from rnncourse import scoreboard

print("sequences      MFLOP    time (µs)    µs a sequence  GFLOP/s")
for B in (1, 64):
    microseconds = 1e6 * seconds[B]
    print(f"{B:9}{2 * B * H * H / 1e6:11.1f}{microseconds:13.0f}"
          f"{microseconds / B:15.1f}{rate[B]:11.3g}")
for B, holds in ((64, ratios[64] < 64), (2, ratios[2] > 2)):
    disturbed = disturbance({name: timings[name]
                             for name in ("B = 1", f"B = {B}")})
    close = 0.75 < ratios[B] / B < 1.25 and not disturbed
    result = "is too close to call" if close else verdict(holds, disturbed)
    words = (f"{B} sequences take {'less' if B == 64 else 'more'} than {B} "
             "times as long as one")
    print(f"{words}: this {result}; {ratios[B]:.1f} times in this run")
scoreboard.measure_product()
print(scoreboard.table())
rnnlab.progress("00_start_here")

# %% [markdown]
# ## Recall
#
# Answer each in a sentence before you open it.
#
# <details><summary>What are T, B and H in y [T,B,H]?</summary>Steps in time, sequences in the minibatch, hidden units.</details>
# <details><summary>How many FLOP does a product [m,k] × [k,n] need?</summary>2·m·n·k: a multiplication and an addition for each of k terms in m·n results.</details>
# <details><summary>Why the median of several runs, and why is the first run left out?</summary>One disturbed run moves a mean but hardly a median; the first run also pays for filling caches and starting threads.</details>
# <details><summary>What is arithmetic intensity, and what does a larger minibatch do to it?</summary>FLOP per byte moved. The weights are read once for all sequences, so intensity grows with B.</details>
# <details><summary>When may a product run faster than bandwidth × intensity?</summary>When its numbers come from a cache instead of memory.</details>

# %% [markdown]
# ## Sources
#
# - The effect on a GPU: Erich Elsen, *Optimizing RNN Performance* (2015, svail/rnn_perf), reports 14 times the throughput when the minibatch grows from 1 to 32 at weights of one size, with cuBLAS on a TitanX.
# - The two roofs: S. Williams, A. Waterman, D. Patterson, *Roofline: An Insightful Visual Performance Model for Multicore Architectures*, Communications of the ACM 52 (2009).
#
# Next: [01 · A recurrent network runs](01_rnn_forward.ipynb)

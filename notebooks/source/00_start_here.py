# %% [markdown]
# # 00 · Start here
#
# **Claim: a matrix product that serves 64 sequences at once takes less than 64 times as long as the same product for one sequence.**
#
# You will measure whether that holds on your machine, and learn how this course answers you.
#
# - **Time:** 40 minutes, exercises included.
# - **You need:** Python, and NumPy as far as `a @ b` and `a.shape`.
# - **Afterwards you can** read a check's verdict, count the FLOP of a network, measure a rate, and say whether arithmetic or memory holds a product back.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnnlab import drawings

drawings.show("shared_weights")

# %% [markdown]
# ## How to work
#
# Run a cell with **Shift + Enter** and go on to the next one. Cells may be changed and run again, as often as you like. A cell that does not come to an end is stopped by the **■** above the notebook.
#
# Each lesson goes the same way: you **predict**, you run, you are surprised, you find out why. Do write your prediction down: a surprise needs something to be surprised against. Exercises stand in a notebook of your own, in the folder `work`; nothing you write there is ever overwritten.

# %% [markdown]
# ## 1 · What this machine is
#
# Everything from lesson 05 on is about speed, and speed depends on the machine. The **doctor** examines yours: processor, memory, the library that multiplies matrices for NumPy (its **BLAS**), a GPU if there is one. Where something is missing, it names the command that mends it. You can also call it from a shell: `rnnlab doctor`.

# %%
from rnnlab.machine import doctor

doctor.report()

# %% [markdown]
# ## 2 · A check that says no
#
# The outputs of a network are one array, `y [T,B,H]`: `T` steps in time, `B` sequences that are worked on together (a **minibatch**), `H` units. Square brackets after a name always give its shape, in this course and in its code.
#
# Here is a function that ought to give the outputs at the **last step**. Something is wrong with it. Run it, and the check after it.

# %%
def last_step(y):
    """The outputs [B,H] at the last step of y [T,B,H]."""
    return y[:, -1]


# %%
rnnlab.check(last_step)

# %% [markdown]
# A verdict has three parts, always in this order: **what differs** first, in the smallest case that shows it; the **likely mistake**, if it is a known one; and **what to do next**.
#
# The check drew random arrays, ran the function on copies of them, and compared. It looks at what comes out, never at how you wrote it. If you are stuck, ask for a hint. There are three for each exercise; run the cell again for the next one.

# %%
rnnlab.hint(last_step)

# %% [markdown]
# **Now mend it.** Go back to the cell that defines `last_step`, change its last line, run it, and run the check again until it turns green.
#
# <details><summary>Question: why did the wrong version pass the case T=1, B=1, H=1?</summary>
#
# With one step, one sequence and one unit, the last step, the last sequence and the last unit are the same number. A test with sizes that are equal, or 1, cannot tell axes apart. That is why checks use several shapes.
# </details>

# %% [markdown]
# ## Exercise: last_step
#
# <!-- exercise: last_step -->
#
# Open your own notebook for this lesson with the link above, and write the answer there too. This is how every exercise goes: read here, write there, come back. Your progress is kept in one file on this machine, and nothing leaves it.

# %%
rnnlab.progress("start_here")

# %% [markdown]
# ## 3 · Count before you measure
#
# A **FLOP** is one operation on floating-point numbers: one multiplication or one addition. A product of an [m,k] array with a [k,n] array has m·n results, and each of them is a sum of k products: k multiplications and about k additions.
#
# So a product takes **2·m·n·k FLOP**. In a recurrent network one product comes back at every step: all states `h [B,H]` times the weights `weight_hh [H,H]`, transposed.

# %%
H = 1024
for B in (1, 64):
    print(f"B = {B:2}: {2 * B * H * H / 1e6:7.2f} MFLOP a step")

# %% [markdown]
# ## Exercise: count_rnn_flops
#
# <!-- exercise: count_rnn_flops -->
#
# Count a whole network: every step, every sequence, every layer.

# %% [markdown]
# ## 4 · Predict, then measure
#
# 64 sequences are 64 times the arithmetic of one. How many times as long will the product take? Put your guess into the next cell before you go on. Think of the weights, too: how many numbers of `weight_hh` must the processor read for one sequence, and how many for 64?

# %%
guess = 64  # times as long as for one sequence: put your own number here

# %% [markdown]
# The next cell measures. Each product runs 52 times; the first run is thrown away, because it also fills caches and starts threads. From the other 51 we take the **median**: the run in the middle. Half of the runs were faster, half slower, and a few disturbed runs change nothing.

# %%
import timeit

import numpy as np

rng = np.random.default_rng(0)
weight_hh = rng.standard_normal((H, H), dtype=np.float32)
minibatches = [1, 2, 4, 8, 16, 32, 64, 128, 256]
runs = {}
for B in minibatches:
    h = rng.standard_normal((B, H), dtype=np.float32)
    runs[B] = timeit.repeat("h @ weight_hh.T", globals=globals(), number=1, repeat=52)[1:]
seconds = {B: np.median(runs[B]) for B in minibatches}
for B in minibatches:
    microseconds = 1e6 * seconds[B]
    print(f"B = {B:3}: {microseconds:7.0f} µs, {microseconds / B:6.1f} µs for each sequence")

# %%
ratio = seconds[64] / seconds[1]
print(f"64 sequences took {ratio:.1f} times as long as one. Your guess was {guess}.")

# %% [markdown]
# ## 5 · The same as a rate
#
# A **rate** says how well the processor is used: FLOP divided by seconds. One GFLOP/s is 10⁹ FLOP a second. The next picture shows the rate against the minibatch. If time depended on arithmetic alone, the line would be level.

# %%
from rnnlab.picture import PALETTE, canvas, show

rate = {B: 2 * B * H * H / seconds[B] / 1e9 for B in minibatches}
figure, axis = canvas()
axis.plot(minibatches, list(rate.values()), "o-", color=PALETTE["blue"], label="measured")
axis.axhline(rate[1], color=PALETTE["red"], linestyle="--", label="if only arithmetic counted")
axis.set(xscale="log", xlabel="minibatch B (sequences)", ylabel="rate (GFLOP/s)", ylim=0)
axis.set_xticks(minibatches, minibatches)
axis.minorticks_off()
axis.legend(frameon=False)
best = max(rate, key=rate.get)
finding = f"The rate is {rate[1]:.0f} GFLOP/s for one sequence"
show(figure, f"{finding}, and best for {best}: {rate[best]:.0f} GFLOP/s.")

# %% [markdown]
# Look at the left end. On many machines the rate first **falls** from one sequence to two. A product with a single row is a product of a matrix and a vector, which reads the weights as they lie. With two rows or more, the BLAS first copies the weights into an order that suits its inner loop; for few rows that copy costs more than the product itself.
#
# Not every machine shows it. Trust your picture, not this text.

# %% [markdown]
# ## Exercise: measure_gemm
#
# <!-- exercise: measure_gemm -->
#
# Write the measurement yourself. **GEMM** is the usual name for a matrix product in a BLAS: *general matrix multiply*. Speed in this course is never graded by a clock that depends on luck: the check brings a clock whose readings it knows.

# %% [markdown]
# ## 6 · Why: two roofs
#
# A product needs arithmetic, and it needs its numbers brought from memory. Two limits of your machine follow: its **peak** in GFLOP/s, and its **bandwidth**, the GB (10⁹ bytes) a second that come from memory. Both are measured, not looked up.

# %%
from rnnlab.machine import roofline

roof = roofline.measure()
print(f"peak       {roof.peak:7.1f} GFLOP/s")
print(f"bandwidth  {roof.bandwidth:7.1f} GB/s")
print(f"balance    {roof.balance:7.1f} FLOP for each byte")

# %% [markdown]
# The **arithmetic intensity** of a product is its FLOP divided by the bytes that it must read and write. The states and the result have B·H numbers each, the weights H·H, and a float32 number has 4 bytes:
#
# $$\text{intensity} = \frac{2\,B\,H^2}{4\,(H^2 + 2\,B\,H)}\ \text{FLOP/byte}.$$
#
# For one sequence that is about ½, however large H is. Below the machine's balance, memory is the limit; above it, arithmetic is.

# %%
for B in minibatches:
    intensity = 2 * B * H * H / (4 * (H * H + 2 * B * H))
    most = roof.attainable(intensity)
    print(f"B = {B:3}: {intensity:5.1f} FLOP/byte, at most {most:4.0f} GFLOP/s; measured {rate[B]:4.0f}")

# %% [markdown]
# Drawn against intensity, the two limits look like a **roof**: a slope where memory is the limit, level where arithmetic is. The crosses are your measurements, each with its minibatch. Move the sliders: which minibatch carries the product from the slope to the level part? Does a larger network change that?

# %%
from rnnlab.widgets.roofline_view import explore_roofline

explore_roofline(roof, measured={(B, H): rate[B] for B in minibatches})

# %% [markdown]
# A point **above** the slope is no mistake. The slope was measured with arrays far too large for the processor's **caches**, small and fast memories close to its cores. The weights here take 4·H² bytes, 4.2 MB. If they stay in a cache from one run to the next, they need not come from memory, and the product may be faster than the slope allows.
#
# Keeping weights close to the arithmetic is the idea of this whole course; lesson 14 does it by hand, on a GPU.

# %% [markdown]
# ## 7 · Break it
#
# How much would you trust a single run? The next cell draws all 15 runs for one sequence and for 64. Run it again, then once more while you scroll quickly through another window. Which of the three values, first run, mean or median, moves least?

# %%
figure, axes = canvas(1, 2, sharey=True, width=7.4, height=2.8)
for axis, B in zip(axes, (1, 64), strict=True):
    h = rng.standard_normal((B, H), dtype=np.float32)
    again = timeit.repeat("h @ weight_hh.T", globals=globals(), number=1, repeat=15)
    relative = np.array(again) / np.median(again)
    axis.plot(relative, "o", color=PALETTE["blue"])
    axis.axhline(relative.mean(), color=PALETTE["red"], linestyle="--", label="mean")
    axis.axhline(1, color=PALETTE["black"], label="median")
    axis.set(title=f"B = {B}", xlabel="run")
    first, mean, median = 1e6 * again[0], 1e6 * np.mean(again), 1e6 * np.median(again)
    print(f"B = {B:2}: first {first:5.0f} µs, mean {mean:5.0f} µs, median {median:5.0f} µs")
axes[0].set(ylabel="time / median", ylim=(0, None))
axes[0].legend(frameon=False)
show(figure, "Fifteen runs each, for one sequence and for 64, as multiples of their median; some stray.")

# %% [markdown]
# ## Recap

# %%
print("sequences      MFLOP    time (µs)    µs for each    GFLOP/s")
for B in (1, 64):
    microseconds = 1e6 * seconds[B]
    print(f"{B:9}{2 * B * H * H / 1e6:11.1f}{microseconds:13.0f}{microseconds / B:15.1f}{rate[B]:11.0f}")
claim = "holds" if ratio < 64 else "does NOT hold"
disturbed = "  Less than once? Measure again, from section 4." if ratio < 1 else ""
print(f"claim: {claim} on this machine, {ratio:.1f} times as long for 64 times the work.{disturbed}")

# %% [markdown]
# ## Recall
#
# Answer each in a sentence before you open it.
#
# <details><summary>What are T, B and H in y [T,B,H]?</summary>Steps in time, sequences in the minibatch, hidden units.</details>
# <details><summary>How many FLOP has a product [m,k] × [k,n]?</summary>2·m·n·k: a multiplication and an addition for each of k terms in m·n results.</details>
# <details><summary>Why the median of several runs, and why is the first run left out?</summary>One disturbed run moves a mean but not a median; the first run also pays for filling caches and starting threads.</details>
# <details><summary>What is arithmetic intensity, and what does a larger minibatch do to it?</summary>FLOP per byte moved. The weights are read once for all sequences, so intensity grows with B.</details>
# <details><summary>When may a product run faster than bandwidth × intensity?</summary>When its numbers come from a cache instead of memory.</details>

# %% [markdown]
# ## Sources
#
# - The effect on a GPU: Erich Elsen, *Optimizing RNN Performance* (2015, svail/rnn_perf), reports 14 times the throughput when the minibatch grows from 1 to 32 at fixed weights, with cuBLAS on a TitanX.
# - The two roofs: S. Williams, A. Waterman, D. Patterson, *Roofline: An Insightful Visual Performance Model for Multicore Architectures*, Communications of the ACM 52 (2009).
#
# Next: [01 · A recurrent network runs](01_rnn_forward.ipynb)

# %%
rnnlab.progress("start_here")

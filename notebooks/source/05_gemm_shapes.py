# Course map: minibatch, layout, products over time; what limits the speed of a product

# %% [markdown]
# # 05 · Shapes of products
#
# **Claim to test: a product of two matrices takes the time of its multiply-adds, whatever the shape. Is that so?**
#
# You will measure shapes with the same arithmetic, and look for the shapes that a network can choose. The recap prints the verdict for your machine.
#
# - **Time:** 60 minutes, exercises included.
# - **You need:** [04 · Gradients read off a picture](04_differentiable_graphs.ipynb): which products an RNN has.
# - **Afterwards you can** tell from B, H and two numbers of a machine which of a product's two bounds is the lower one, choose a minibatch, and say which products to batch over time.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# **May you skip lessons 05 to 08?** The cell asks four questions. To answer, put four numbers after the path's name, `...` for one that you leave out, and run it again.

# %%
from rnncourse import paths

paths.test("cpu")

# %% [markdown]
# ## 1 · The same work in different shapes
#
# A recurrent product is h [B,H] times weights [H,H]: B·H² multiply-adds. Lesson 00 kept H, so its work grew with B. Here the work is kept: four products of 67 million multiply-adds, each with a quarter of the sequences and twice the units of the one before.
#
# **Predict:** how many times as long does the last one, 4 sequences and 4,096 units, take as the first one, 256 sequences and 512 units?

# %%
import numpy as np

from rnncourse.lab.turns import disturbance, take_turns, verdict

rng = np.random.default_rng(0)


def product_of(B, n):
    """One product of [B,n] with [n,n], ready to run."""
    a, b = (rng.random(shape, "float32") for shape in ((B, n), (n, n)))
    return lambda: a @ b


my_guess = ...
shapes = (256, 512), (64, 1024), (16, 2048), (4, 4096)  # B and H of each
timings = take_turns({f"B = {B:3}, H = {H:4}": product_of(B, H)
                      for B, H in shapes}, 15)
disturbed = disturbance(timings)
print(disturbed)
for (B, H), (name, timing) in zip(shapes, timings.items(), strict=True):
    rate = 2e-9 * B * H * H / timing.median
    print(f"{name}: {1e3 * timing.median:7.2f} ms, {rate:6.3g} GFLOP/s; the "
          f"weights are {4e-6 * H * H:4.0f} MB")
first, *_, last = (timing.median for timing in timings.values())
print(f"the last takes {last / first:.1f} times as long as the first; you "
      f"guessed {my_guess}")

# %% [markdown]
# If that factor is near 1, shapes do not matter here. If it is well above 1, the last product waits for something other than its arithmetic. The next drawing counts, for three small products of equal work, the numbers that each must read or write.

# %%
from rnncourse import drawings

drawings.show("equal_arithmetic")

# %% [markdown]
# The weights of the first product are 1 MB, those of the last one 67 MB. However few sequences there are, all weights must come from memory, or from a cache, into the arithmetic units. A product with few sequences is finished no sooner than all weights have been read.

# %% [markdown]
# ## 2 · Work for each byte
#
# **Arithmetic intensity** is FLOP for each byte moved. If every array of the recurrent product moves once, in float32:
#
# 2·B·H² / (4·(H² + 2·B·H))
#
# For B much smaller than H that is about B/2 FLOP a byte. A machine has two upper bounds, as in lesson 00: the highest rate of its BLAS, here called the peak, and its bandwidth times the intensity. For arrays that come from memory the lower one holds.
#
# **Predict** for H = 1024: from which minibatch on does your machine reach four fifths of its best rate at this H? Then move the slider: where do the bounds meet? The crosses are your measurements.

# %%
from rnncourse.lab import roofline
from rnncourse.views.roofline_view import explore_roofline

my_guess = ...
H, minibatches = 1024, (1, 2, 4, 8, 16, 32, 64, 128, 256)
weights = rng.random((H, H), "float32")
rows = {B: rng.random((B, H), "float32") for B in minibatches}
by_minibatch = take_turns({B: lambda h=h: h @ weights for B, h in rows.items()},
                          21)
rates = {B: 2e-9 * B * H * H / timing.median
         for B, timing in by_minibatch.items()}
print(disturbance({f"B = {B}": timing for B, timing in by_minibatch.items()}))
roof = roofline.measure(seconds=1.0)
print(f"peak {roof.peak:.3g} GFLOP/s, bandwidth {roof.bandwidth:.3g} GB/s: "
      f"they meet at {roof.balance:.1f} FLOP a byte")
print(roof.disturbed)

# %% [folded]
# Print the rates, and draw them under the roof of your machine.
best = max(rates.values())
enough = next(B for B in minibatches if rates[B] >= 0.8 * best)
print("GFLOP/s:", ", ".join(f"B = {B}: {rates[B]:.3g}" for B in minibatches))
print(f"four fifths of the best rate at H = {H}, {0.8 * best:.3g} of "
      f"{best:.3g}, from {enough} sequences on; you guessed {my_guess}")
print(f"reading 67 MB of weights takes {67 / roof.bandwidth:.2g} ms at this "
      f"bandwidth, the arithmetic {134 / roof.peak:.2g} ms at the peak;\n"
      f"the last product of section 1 took {1e3 * last:.2g} ms")
explore_roofline(roof, {(B, H): rate for B, rate in rates.items()})

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Some crosses may lie above the slope, mostly that of one row: weights that stay in a cache do not come from memory, and the cache is faster. Others may lie below both bounds: for more than one row most BLAS libraries first copy (*pack*) the weights into an order of their own, at every call. With few rows the copying can take longer than the product (lesson 00). So the bounds can meet at few sequences (5 to 9 on two cores that we tried), and four fifths of the best rate can need many more (32 or 64 there: a few percent move the answer to the next size). The last lines show how much of section 1's last product can be reading and arithmetic. Unless another program disturbed it, we take the rest for copying, but have not measured that.
#
# </details>
#
# ### Exercise: FLOP a byte
#
# <!-- exercise: arithmetic_intensity -->
#
# In [work/05_gemm_shapes.ipynb](../work/05_gemm_shapes.ipynb): compute the FLOP a byte, and the minibatch from which memory is not the limit.

# %% [markdown]
# ## 3 · What it looked like on a GPU
#
# In 2015 Erich Elsen measured such products on a TitanX: float32, weights of M = K rows and columns, minibatches (his N) from 32 to 256, two libraries.
#
# **Predict:** what part of its peak does that GPU reach with 32 sequences and 2,560 units? And how much longer does each sequence take if there are 125 of them, 2 % fewer than 128?

# %%
from rnncourse.lab import svail_gemm

my_guess = {"32 sequences": ..., "125 for 128": ...}
measured = dict(zip(svail_gemm.MINIBATCHES, svail_gemm.FORWARD[2560],
                    strict=True))

# %% [folded]
# Print the rates of the libraries of 2016.
for k, library in enumerate(svail_gemm.LIBRARIES):
    print(f"{library:8}: {measured[32][k] / svail_gemm.PEAK:.0%} of the peak "
          "with 32 sequences; with 125 a sequence takes "
          f"{measured[128][k] / svail_gemm.ODD_2560[125][k]:.2f} times as long "
          "as with 128")
print("you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 24 % and 51 %: memory would allow about 85 % (15.6 FLOP a byte times 336 GB/s, of 6.14 TFLOP/s). So for cuBLAS the library must explain most of the rest, and the two differ by a factor of two on the same chip. And 4.78 or 1.19 times as long for sizes that differ by 2 %: most of the price of an odd size comes from the library, too.
#
# </details>
#
# **Look for** a sawtooth in cuBLAS's curve: at which minibatches are its peaks? Choose 2,560 units; the dashed curve is your machine's, at 1,024 units.

# %%
from rnncourse.views.gemm_view import explore_gemm

peak = max(roof.peak, *rates.values())
explore_gemm(rates, peak)

# %% [markdown]
# <details><summary>Answer</summary>At multiples of 64 sequences: 75 % of the chip's peak with 128, 192 and 256, but 25, 33 and 42 % with 96, 160 and 224.</details>
#
# A size that does not suit can be made to suit: add rows or columns of zeros, a **padding**. Zeros in the inner dimension change no sum. Further rows or columns, as when 125 sequences become 128, give further results, which you leave out. 1,024 units for 1,000 cost 5 % more arithmetic.
#
# **Predict:** which of the sizes below reaches the highest rate on your machine, and which the lowest?

# %%
drawings.show("padding_with_zeros")

# %%
my_guess = {"highest": ..., "lowest": ...}
sizes = (960, 992, 1000, 1008, 1023, 1024, 1025, 1056)
timings = take_turns({n: product_of(64, n) for n in sizes}, 15)
print(disturbance({f"n = {n}": timing for n, timing in timings.items()}))
rate_of = {n: 2e-9 * 64 * n * n / timings[n].median for n in sizes}
print(", ".join(f"{n}: {rate:.3g} GFLOP/s" for n, rate in rate_of.items()))
high, low = max(sizes, key=rate_of.get), min(sizes, key=rate_of.get)
print(f"highest at {high}, {rate_of[high] / rate_of[low]:.2f} times the lowest "
      f"at {low}; you guessed {my_guess}")

# %% [markdown]
# The same product can differ by a third between the sections of this lesson, so small factors mean nothing. If yours is below 1.3, no size stands out: your library handles the numbers left over at the end of a row well, and padding buys nothing. If 1,023 and 1,025 are both more than 30 % below 1,024, your library has a price for odd sizes, too. If 1,024 is lowest, its rows, 4,096 bytes apart, may compete for the same few places of a cache. Otherwise measure again before you pad. **Break it:** try 1,500 and 1,504 units: do they differ by more than 30 %?
#
# ## 4 · Which way the weights lie
#
# PyTorch and this course store a row of U for each unit, so the forward product h Uᵀ reads U transposed. With U transposed in memory it would read the rows as they are stored.
#
# **Predict:** 20 steps read the weights transposed. How many times as long do they take as 20 steps that read them as they are stored?

# %%
my_guess = ...
B, T = 64, 20
weights, h = rng.random((H, H), "float32"), rng.random((B, H), "float32")
transposed = np.ascontiguousarray(weights.T)
loops = {
    "transposed, at every step": lambda: [h @ weights.T for _ in range(T)],
    "as it is stored": lambda: [h @ transposed for _ in range(T)],
    "transposed once, then as stored": lambda:
        [h @ copy for copy in [np.ascontiguousarray(weights.T)] * T],
}
layouts = take_turns(loops, 9)
print(disturbance(layouts))
for name, timing in layouts.items():
    print(f"{name:32} {1e3 * timing.median:6.2f} ms for {T} steps")
turned, stored, _ = (timing.median for timing in layouts.values())
print(f"transposed at every step: {turned / stored:.2f} times as long; you "
      f"guessed {my_guess}")
print("same numbers:", np.allclose(h @ weights.T, h @ transposed, rtol=1e-4))

# %% [markdown]
# On the TitanX the transposed read doubled the time: 1.28 TFLOP/s against 2.60, for 2,560 units and 64 sequences in cuBLAS. There it can pay to transpose U once a pass. With 64 rows most BLAS libraries copy the weights into an order of their own at every call, however they are stored; a factor near 1 says that both orders cost the same, any other that one costs more, in the copy or in the product. The third way includes our own copy, made once. If it is faster than the first, transposing pays within 20 steps.
#
# ## 5 · Products over time
#
# The inputs of all steps are known before the first one. Their products are one product with T·B rows, and T·B is a good minibatch even where B is not. The weight gradient after the backward pass is one product, too, with sums of T·B terms; the recurrent product is not.
#
# **Predict:** B = 4, T = 64. How much faster is one product of 256 rows than 64 of 4?

# %%
drawings.show("inputs_over_time")

# %%
my_guess = ...
T, B = 64, 4
x, weights = rng.random((T, B, H), "float32"), rng.random((H, H), "float32")
ways = {
    "64 products of 4 rows": lambda: [x_t @ weights for x_t in x],
    "16 products of 16 rows": lambda:
        [part @ weights for part in x.reshape(16, 16, H)],
    "1 product of 256 rows": lambda: x.reshape(T * B, H) @ weights,
}
over_time = take_turns(ways, 9)
print(disturbance(over_time))
for name, timing in over_time.items():
    print(f"{name:24} {1e3 * timing.median:7.2f} ms")
slow, fast = (over_time[name].median for name in (*ways,)[::2])
print(f"{slow / fast:.1f} times as fast; you guessed {my_guess}")

# %% [markdown]
# The arithmetic is the same in all three lines. A product of 4 or 16 rows may take up to twice as long here as in section 2; we do not know why. The price of this gain is memory: all T input products are stored before the first step needs them. Elsen measured 79 to 93 % of the TitanX's peak with 4,096 rows.
#
# ### Exercise: several steps at a time
#
# <!-- exercise: batch_input_gemm -->
#
# Compute the input products of all steps, a given number of steps to a call.

# %% [markdown]
# ## 6 · What remains
#
# Batch what can be batched, and one product is left that cannot: the recurrent one, B rows, T times, and each time the same weights are read again. From here on the course is about that product.
#
# **Predict:** of the time of both products of a forward pass, with B = 4 and H = 1024, which part is the recurrent one's?

# %%
my_guess = ...
# x stands for the states, so no product waits for the one before
parts = take_turns({"inputs": ways["1 product of 256 rows"],
                    "recurrent": lambda: [h_t @ weights for h_t in x]}, 9)
fast, recurrent = (parts[name].median for name in ("inputs", "recurrent"))

# %% [folded]
# Print the time of each kind of product.
print(disturbance(parts))
print(f"input products, all at once: {1e3 * fast:.2f} ms; recurrent, one by "
      f"one: {1e3 * recurrent:.2f} ms")
print(f"the recurrent part is {recurrent / (recurrent + fast):.0%}; you "
      f"guessed {my_guess:.0%}")

# %% [markdown]
# Both have the same number of operations, so the share beyond one half is the price of small products here. On the scoreboard a step has 64 sequences, not 4. **Predict:** does batching the inputs gain more there than in section 5, or less?

# %%
from rnncourse import scoreboard
from rnnlab.ladder import one_big_gemm, one_step_at_a_time

my_guess = ...
network, x, state, _ = scoreboard.problem("rnn_tanh")
ways = {
    "inputs step by step": lambda:
        one_step_at_a_time.forward(network, x, state),
    "inputs batched over time": lambda: one_big_gemm.forward(network, x, state),
}
timings = scoreboard.measure("05", ways, network)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Less, usually (rows 05: a forward pass, 256 units, one core). With 64 rows a product has already come nearer to the best rate (section 2), and half of the products, the recurrent ones, gain nothing.
#
# </details>
#
# Three things help the recurrent product: a larger minibatch where the task allows it, code that suits small products (08 on a CPU, 09 to 14 on a GPU), and weights that never leave the chip (15 and 16).
#
# ## Recap
#
# **However few its multiply-adds, a product takes no less time than bringing its weights from memory, or from a cache. With few rows that, and probably the library's copying, can take longer than the arithmetic. What an odd size or a transposed layout costs depends on the library.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("arithmetic intensity", "FLOP a byte moved; about B/2 for a recurrent "
     "product"),
    ("balance", "peak over bandwidth: below it memory is the lower bound"),
    ("an odd size", "its price is the library's; measure before you pad"),
    ("layout", "as stored, or transposed once if that is faster"),
    ("batched over time",
     "input products: T·B rows in one; weight gradients, too"),
    ("what remains", "the recurrent product: B rows, T times, the same "
     "weights"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")
says = verdict(0.8 < last / first < 1.25, disturbed)
print(f"\nclaim: {says}; of four products of equal work the last takes "
      f"{last / first:.1f} times as long as the first")
rnnlab.progress("05_gemm_shapes")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>B = 16, H = 1024, float32: about how many FLOP a byte?</summary>About 8: B/2, and a little less because h moves too.</details>
#
# <details><summary>A machine does 60 TFLOP/s and moves 4,800 GB/s. From which minibatch on is memory no longer the limit?</summary>12.5 FLOP a byte: B/2 reaches it at 25 sequences. With h and the result counted, too, it takes 27 for 1,024 units and 42 for 128.</details>
#
# <details><summary>Why can the weight gradient be batched over time, though the backward pass over time cannot?</summary>It is only a sum: no step of the backward pass waits for it.</details>
#
# <details><summary>Which product cannot be batched over time? Can it be batched over gates?</summary>The recurrent one: each step needs the state of the step before. Over gates it can in an LSTM, where all gates read the same h. In a GRU all three can only if the reset gate acts after the product; otherwise only r and z (lesson 04).</details>

# %% [markdown]
# ## Sources
#
# - E. Elsen, *Optimizing RNN performance*, Baidu SVAIL, November 2015 (svail/rnn_perf): all TitanX figures, read off the plots; TitanX without boost, CUDA 7.0.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, CACM 2009.
#
# Next: [06 · One pass over memory](06_numba_cpu.ipynb)

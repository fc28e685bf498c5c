# %% [markdown]
# # 05 · Shapes of products
#
# **Claim to test: a product of two matrices takes the time of its multiply-adds, whatever the shape.**
#
# You will measure shapes with the same arithmetic, and learn three ways to give a network better ones. The recap prints the verdict for your machine.
#
# - **Time:** 80 minutes, exercises included.
# - **You need:** [04 · Gradients read off a picture](04_differentiable_graphs.ipynb): which products an RNN has.
# - **Afterwards you can** tell from B, H and two numbers of a machine whether a product waits for memory, choose a minibatch, a layout and a padding, and say which products to batch over time.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("equal_arithmetic")

# %% [markdown]
# ## 1 · The same work in different shapes
#
# A recurrent product is h [B,H] times weights [H,H]. With B = 1 each weight is used for one multiply-add; with B = 64 for 64. The operations for each sequence are the same.
#
# **Predict:** H = 1024. How many times as long does a product take with 64 sequences as with one?

# %%
from functools import partial

import numpy as np

from rnncourse.lab.turns import disturbance, take_turns, verdict

my_guess = 64
H, minibatches, rng = 1024, (1, 2, 4, 8, 16, 32, 64, 128, 256), np.random.default_rng(0)
weights = rng.random((H, H), "float32")
products = {B: partial(np.matmul, rng.random((B, H), "float32"), weights) for B in minibatches}
timings = take_turns(products, 21)
times = {B: timings[B].median for B in minibatches}
rates = {B: 2e-9 * B * H * H / times[B] for B in minibatches}
print(disturbance({f"B = {B}": timing for B, timing in timings.items()}))
for B in minibatches:
    print(f"B = {B:3}: {1e6 * times[B]:8.0f} µs, {rates[B]:6.3g} GFLOP/s")
disturbed = disturbance({f"B = {B}": timings[B] for B in (1, 64)})
work_over_time = 64 * times[1] / times[64]
print(f"64 sequences take {times[64] / times[1]:.1f} times as long as one; you guessed {my_guess}")
print(f"one sequence takes {work_over_time:.1f} times as long as its multiply-adds do with 64")

# %% [markdown]
# If the last number is well above 1, the first sequences cost more than their arithmetic. What do they wait for? If it is not, and a line above names a large spread, run the cell again.
#
# The weights are 4 MB. However small the minibatch is, they must come from memory, or from a cache, into the arithmetic units. A product with one sequence is finished as soon as they have been read. If two sequences take more than twice as long as one, the library calls another routine for them; section 2 says what it does first.

# %% [markdown]
# ## 2 · Work for each byte
#
# **Arithmetic intensity** is FLOP for each byte moved. If every array of the recurrent product moves once, in float32:
#
# 2·B·H² / (4·(H² + 2·B·H))
#
# For B much smaller than H that is about B/2 FLOP a byte. A machine has two upper bounds, as in lesson 00: the rate that its BLAS reaches at best (printed as the peak), and its bandwidth times the intensity. The lower one holds.
#
# **Predict:** from which minibatch on is arithmetic the limit on your machine? Move the slider and see.

# %%
from rnncourse.lab import roofline
from rnncourse.views.roofline_view import explore_roofline

roof = roofline.measure(seconds=1.0)
print(f"{roof.peak:.3g} GFLOP/s, {roof.bandwidth:.3g} GB/s: they meet at {roof.balance:.1f} FLOP a byte")
explore_roofline(roof, {(B, H): rate for B, rate in rates.items()})

# %% [markdown]
# The crosses are your measurements. Some may lie above the slope: weights that stay in a cache do not come from memory, and the cache is faster. Others may lie below both bounds: a BLAS first copies (*packs*) the weights into an order of its own, at every call. With few rows the copying takes longer than the product (lesson 00).
#
# ### Exercise: FLOP a byte
#
# <!-- exercise: arithmetic_intensity -->
#
# In [work/05_gemm_shapes.ipynb](../work/05_gemm_shapes.ipynb).

# %% [markdown]
# ## 3 · What it looked like on a GPU
#
# In 2015 Erich Elsen of Baidu's lab in Silicon Valley measured such products on a TitanX: float32, weights of M = K rows and columns, minibatches from 32 to 256, two libraries. They call the minibatch N.
#
# **Predict:** what part of its peak does a GPU reach with 32 sequences? Choose the size of the weights; your machine's own curve is the dashed one.

# %%
from rnncourse.views.gemm_view import explore_gemm

peak = max(roof.peak, *rates.values())
explore_gemm(rates, peak)

# %% [markdown]
# A GPU needs a larger minibatch than a CPU: it has more arithmetic for each byte, and more places to fill. And its curve is a sawtooth. A library cuts the product into pieces, and the last one may be partly empty. Empty places alone would make 96 sequences take as long as 128 at most, if the pieces are 64 wide. The cell below compares this with the measured times.
#
# Their post gives the price of a size that does not suit in one line. **Predict:** 125 sequences are 2 % fewer than 128. How much longer does each take?

# %%
drawings.show("pieces_of_a_product")

# %%
from rnncourse.lab import svail_gemm

my_guess = {"cuBLAS": 1.02, "Nervana": 1.02}
full = dict(zip(svail_gemm.MINIBATCHES, svail_gemm.FORWARD[2560], strict=True))[128]
odd = svail_gemm.ODD_2560[125]
for library, fast, slow in zip(svail_gemm.LIBRARIES, full, odd, strict=True):
    print(f"{library:8}: {fast} TFLOP/s with 128, {slow} with 125: {fast / slow:.2f} times as long a "
          f"sequence; you guessed {my_guess[library]}")
for library in svail_gemm.LIBRARIES:
    ratios = []
    for size in svail_gemm.FORWARD:
        rate_of = dict(zip(svail_gemm.MINIBATCHES, svail_gemm.forward(size, library), strict=True))
        ratios.append(96 / rate_of[96] / (128 / rate_of[128]))
    print(f"{library:8}: 96 sequences take", ", ".join(f"{ratio:.2f}" for ratio in ratios), "of the time of 128, for",
          ", ".join(map(str, svail_gemm.FORWARD)), "units")

# %% [markdown]
# Published, TitanX, 2560 by 2560. One library takes more than four times as long for a sequence, the other a fifth longer: the sawtooth comes from the library, not from the hardware. In cuBLAS 96 sequences took longer than 128, by a third to more than twice, and empty places cannot explain that: 125 sequences leave 2 % of the places empty. We believe that sizes that are no multiple of 64 got a slower routine of the library; the post does not say so. In Nervana's kernels 96 took less time than 128.
#
# ## 4 · Padding
#
# A size that does not suit can be made to suit: add rows or columns of zeros, a **padding**. A sum does not notice zeros. 125 sequences become 128, 1 000 units become 1 024, the letters of an alphabet of 90 become 96.
#
# **Predict:** does your machine have a sawtooth, too? And is 1 024 a good size on it?

# %%
drawings.show("padding_with_zeros")

# %%
def product_of(B, n):
    """One product of [B,n] with [n,n], ready to run."""
    a, b = (rng.random(shape, "float32") for shape in ((B, n), (n, n)))
    return lambda: a @ b


sizes = (960, 992, 1000, 1008, 1023, 1024, 1025, 1056)
timings = take_turns({n: product_of(64, n) for n in sizes}, 15)
print(disturbance({f"n = {n}": timing for n, timing in timings.items()}))
for n in sizes:
    seconds = timings[n].median
    print(f"n = {n:4}: {1e6 * seconds:6.0f} µs, {2e-9 * 64 * n * n / seconds:6.3g} GFLOP/s")

# %% [markdown]
# What you see depends on the processor and on its BLAS. Vectors have 8 or 16 numbers, pieces some multiple of that; today's libraries handle the rest of a row well. A power of two can even be the slowest size: rows 4 096 bytes apart compete for the same few places of a cache.
#
# So padding is no rule but a question to be measured. **Break it:** try 1 500 and 1 504, or 250 and 256 for the sequences.
#
# ### Exercise: padding that nobody notices
#
# <!-- exercise: pad_dimension -->

# %% [markdown]
# ## 5 · Which way the weights lie
#
# A library reads each factor as it is stored (**N**), or transposed (**T**). The forward product h Uᵀ reads U transposed, since PyTorch and this course store a row for each unit; the product of the backward pass, d U, reads it as it is stored; the weight gradient transposes its first factor. Elsen's letters are those of column order, in which our arrays read as their transposes: our h Uᵀ is a TN there, and the fast NN is what we write `h @ weights`, with the weights as they are stored.
#
# The numbers are the same. **Predict:** does the layout change the time?

# %%
B, T = 64, 20
weights, h = rng.random((H, H), "float32"), rng.random((B, H), "float32")
transposed = np.ascontiguousarray(weights.T)
loops = {
    "transposed, at every step": lambda: [h @ weights.T for _ in range(T)],
    "as it is stored": lambda: [h @ weights for _ in range(T)],
    "transposed once, then as stored": lambda: [h @ copy for copy in [np.ascontiguousarray(weights.T)] * T],
}
layouts = take_turns(loops, 9)
for name, timing in layouts.items():
    print(f"{name:32} {1e3 * timing.median:6.2f} ms for {T} steps")
print("same numbers:", np.allclose(h @ weights.T, h @ transposed, rtol=1e-4), disturbance(layouts))

# %% [markdown]
# On the TitanX it did: 2.60 TFLOP/s against 1.28 for 2560 by 2560 and 64 sequences, cuBLAS, so transposing U once a pass costs nothing beside what it gives. NumPy's BLAS packs the weights into an order of its own at every call, however they are stored; what is left of the difference you see above. The last line contains the copy, made once for all steps. If it is the slowest, the copy took longer than it saved in so few steps: NumPy transposes 4 MB in small pieces, each far from the next.
#
# ## 6 · Products over time
#
# The inputs of all steps are known before the first one. Their products are one product with T·B rows, and T·B is a good minibatch even where B is not. The same holds for the weight gradient after the last step. Only the recurrent product has to take B rows at a time.
#
# **Predict:** B = 4, T = 64. How much faster is one product of 256 rows than 64 of 4?

# %%
drawings.show("inputs_over_time")

# %%
my_guess = 64
T, B = 64, 4
x, weights = rng.random((T, B, H), "float32"), rng.random((H, H), "float32")
ways = {
    "64 products of 4 rows": lambda: [x_t @ weights for x_t in x],
    "16 products of 16 rows": lambda: [part @ weights for part in x.reshape(16, 16, H)],
    "1 product of 256 rows": lambda: x.reshape(T * B, H) @ weights,
}
over_time = take_turns(ways, 9)
for name, timing in over_time.items():
    print(f"{name:24} {1e3 * timing.median:7.2f} ms")
slow, fast = (over_time[name].median for name in (*ways,)[::2])
print(f"{slow / fast:.1f} times as fast; you guessed {my_guess}. {disturbance(over_time)}")

# %% [markdown]
# That is the most valuable line of this lesson, and it costs memory: all T input products are stored before the first step needs them. Elsen's measurements for 4 096 rows reach eight to nine tenths of the TitanX's peak, nearly whatever the size of the weights. Lesson 13 shows when two steps at a time are better than all.
#
# ### Exercise: several steps at a time
#
# <!-- exercise: batch_input_gemm -->

# %%
for size, rates_over_time in svail_gemm.OVER_TIME.items():
    shares = ", ".join(f"{name} {100 * rate / svail_gemm.PEAK:.0f} %"
                     for name, rate in zip(svail_gemm.LIBRARIES, rates_over_time, strict=True))
    print(f"4096 rows, weights {size:4} × {size:4}: {shares} of the peak (published)")

# %% [markdown]
# ## 7 · What remains
#
# Batch what can be batched, and one product is left that cannot: the recurrent one, B rows, T times, and each time the same weights are read again. From here on the course is about that product, and about everything that stands between two of them.
#
# **Predict:** of the time of a forward pass with B = 4, H = 1024, which part is the recurrent product's?

# %%
my_guess = 0.5
parts = take_turns({"inputs": ways["1 product of 256 rows"], "recurrent": lambda: [h_t @ weights for h_t in x]}, 9)
fast, recurrent = (parts[name].median for name in ("inputs", "recurrent"))
print(f"input products, all at once: {1e3 * fast:.2f} ms; recurrent, one by one: {1e3 * recurrent:.2f} ms")
print(f"the recurrent part is {recurrent / (recurrent + fast):.0%}; you guessed {my_guess:.0%}. {disturbance(parts)}")

# %% [markdown]
# Both have the same number of operations. There are three ways out, and each has its lessons: a larger minibatch where the task allows it, kernels that suit small products (09 to 14), and weights that never leave the chip (15 and 16).
#
# ## Recap

# %%
rows = [
    ("arithmetic intensity", "FLOP for each byte moved; about B/2 for a recurrent product"),
    ("balance", "peak over bandwidth: above it arithmetic is the limit"),
    ("a sawtooth", "a library's pieces that a size does not fill"),
    ("padding", "zeros that make a size suit; measure before and after"),
    ("layout", "as stored, or transposed; transpose once if that is faster"),
    ("batched over time", "input products and weight gradients: T·B rows in one"),
    ("what remains", "the recurrent product: B rows, T times, the same weights"),
]
for question, answer in rows:
    print(f"{question:24}{answer}")
says = verdict(work_over_time < 1.25, disturbed)
print(f"\nclaim: {says}; here one sequence takes {work_over_time:.1f} times as long as 64, for the same work")
rnnlab.progress("gemm_shapes")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>B = 16, H = 1024, float32: about how many FLOP a byte?</summary>About 8: B/2, and a little less because h moves too.</details>
#
# <details><summary>A machine does 60 TFLOP/s and moves 4 800 GB/s. From which minibatch on is arithmetic the limit?</summary>12.5 FLOP a byte: about 25 sequences, a few more for small H.</details>
#
# <details><summary>With pieces 64 sequences wide, how long would 96 sequences take beside 128, and how long did they take in cuBLAS of 2015?</summary>As long: both need two pieces. Measured were 1.3 to 2.2 times as long, so empty places were not the reason.</details>
#
# <details><summary>Why can the weight gradient be batched over time, though the backward pass over time cannot?</summary>It is only a sum: no step of the backward pass waits for it.</details>
#
# <details><summary>Which product cannot be batched over time? Can it be batched over gates?</summary>The recurrent one: each step needs the state of the step before. Over gates it can, since all gates read the same h.</details>

# %% [markdown]
# ## Sources
#
# - E. Elsen, *Optimizing RNN performance*, Baidu SVAIL, November 2015 (svail/rnn_perf): all TitanX figures, read off the plots; TitanX without boost, CUDA 7.0.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, CACM 2009.
#
# Next: [06 · One pass over memory](06_numba_cpu.ipynb)

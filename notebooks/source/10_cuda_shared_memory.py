# Course map: tiles in shared memory and in registers, sums by halving and by shuffles, bank conflicts, on a GPU and on your CPU

# %% [markdown]
# # 10 · Shared memory
#
# **Claim to test: a tile of 8 by 8 numbers in shared memory divides the loads of a matrix product by 64, the numbers in it. Does it?**
#
# You will count the loads with and without tiles, cause bank conflicts and remove them, and add up numbers without shared memory. The recap answers the question.
#
# - **Time:** 120 minutes, exercises included.
# - **You need:** [09 · First kernels](09_cuda_first_kernels.ipynb): grids, sectors, barriers. No GPU.
# - **Afterwards you can** write a tiled product and sums by halving and by shuffles, and say how long rows must be to avoid bank conflicts and what a barrier is for.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("tiled_product")

# %% [markdown]
# ## 1 · The naive product, counted
#
# One thread makes one element of `c = a b`: it walks along a row of `a` and down a column of `b`. For matrices of 32 by 32 that is 1,024 threads, each with 32 steps.
#
# **Predict:** the two matrices hold 2,048 numbers. How many numbers do all threads together load from global memory?

# %%
import numpy as np

from rnnlab import cuda
from rnncourse.figures.picture import show

my_guess = ...


@cuda.jit
def naive_matmul(a, b, c):
    """c [M,N] becomes a [M,K] times b [K,N], an element a thread."""
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


rng = np.random.default_rng(0)
a, b = rng.normal(size=(2, 32, 32)).astype("float32")
c = np.zeros((32, 32), "float32")
naive = cuda.observe(naive_matmul, (4, 4), (8, 8), a, b, c)
print("right:", np.allclose(c, a @ b, atol=1e-5))
naive

# %% [folded]
# Print how many numbers were loaded.
different = a.size + b.size
if naive.counts:
    loads = naive.counts.global_loads
    print(f"you guessed {my_guess}; loaded were {loads} numbers, {different} "
          "of them different")
    print(f"each number was loaded {loads / different:g} times")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **65,536**: every number is loaded once for each element of `c` that needs it, 32 times. A GPU's caches (L1 in each multiprocessor, L2 for all) serve many of these loads, so not all of them reach memory; each warp's load still takes an instruction, a request and its latency.
#
# </details>
#
# The 64 threads of a block together need only 8 rows of `a` and 8 columns of `b`. If each thread loads a few of those numbers and stores them where all can read them, each block loads each of them once.

# %% [markdown]
# ## 2 · Shared memory
#
# **Shared memory** belongs to a block and lives on the chip, next to the arithmetic: on an H200 up to 227 KiB of it a block. It shares its place with the L1 cache, which answers in about an eighth of the L2 cache's time (measured on an H100; memory is slower still). An array of fixed size, as below, may take up to 48 KiB; more needs an array whose size is given at the launch. The size must be a number or the name of a constant; on a GPU even `2 * TILE` does not compile, though the simulator takes it.
#
# `cuda.shared.array((8, 8), np.float32)` declares a **tile**: one for each block, not one for each thread. The plan of a tiled product, 8 numbers of the inner size at a time:
#
# 1. every thread loads one number of `a` and one of `b` into the tiles;
# 2. all wait: the tiles are full;
# 3. every thread adds 8 products from the tiles;
# 4. all wait: no thread fills the tiles again while another one still reads.

# %% [markdown]
# **Predict:** with tiles of 8 by 8, how often is each number loaded from global memory? And with tiles of 16 by 16? The kernel after the exercise shows the first.
#
# ### Exercise: the tiled product
#
# <!-- exercise: tiled_matmul_kernel -->
#
# In [work/10_cuda_shared_memory.ipynb](../work/10_cuda_shared_memory.ipynb). The four steps above, and the edges.

# %% [markdown]
# The kernel below puts only the tiles of `a` into shared memory; it still loads `b` from global memory for every product, and its sizes must be multiples of 8. The loads of `a` have moved to *shared loads*.

# %%
@cuda.jit
def matmul_with_one_tile(a, b, c):
    """c [M,N] becomes a [M,K] times b [K,N]; all sizes are multiples of 8."""
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile[y, x] = a[row, start + x]
        cuda.syncthreads()
        for k in range(8):
            total += tile[y, k] * b[start + k, column]
        cuda.syncthreads()
    c[row, column] = total


my_guess = ...
one_tile = cuda.observe(matmul_with_one_tile, (4, 4), (8, 8), a, b, c)
print("right:", np.allclose(c, a @ b, atol=1e-5))
if one_tile.counts:
    for name, counts in (("naive", naive.counts),
                         ("a in tiles", one_tile.counts)):
        print(f"{name:10}: {counts.global_loads:6} loads, "
              f"{counts.global_load_sectors:5} sectors, "
              f"{counts.shared_loads:6} shared, {counts.barriers:3} barriers")
    of_a = one_tile.counts.global_loads - naive.counts.global_loads // 2
    print(f"a: {of_a} loads where the naive kernel has "
          f"{naive.counts.global_loads // 2}, each number {of_a / a.size:g} "
          f"times; you guessed {my_guess}")
drawings.show("shared_tile")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **4 times instead of 32**, an eighth: a number of `a` is loaded once for every tile of `c` in its rows, and 32 / 8 of them lie side by side. Tiles of 16 by 16 would give 2. Your kernel of the exercise does the same for `b`. In sectors `a` falls to an eighth as well, 512 of 4,096. The naive kernel already reads `b` in whole sectors, 1,024; tiles of `b` would leave half of those: 16 blocks · 4 tiles · 8 sectors = 512. So a whole tiled product reads 1,024 in place of 5,120 sectors, a fifth.
#
# </details>
#
# The price is two barriers a tile. At a barrier a warp may have to wait. That is one reason to have several blocks on a multiprocessor: another block's warps can work meanwhile.
#
# The same idea works one level further in. A thread may compute a small tile of `c` in its **registers**. Below, a thread computes 2 by 2 elements, without shared memory. **Predict:** how many loads are left of 65,536?

# %%
my_guess = ...


@cuda.jit
def matmul_with_register_tiles(a, b, c):
    """c [M,N] becomes a [M,K] times b [K,N], 2 by 2 elements a thread; M and N
    are even."""
    column, row = cuda.grid(2)
    column, row = 2 * column, 2 * row
    c00 = c01 = c10 = c11 = np.float32(0)
    for k in range(a.shape[1]):
        a0, a1, b0, b1 = (a[row, k], a[row + 1, k], b[k, column],
                          b[k, column + 1])
        c00, c01 = c00 + a0 * b0, c01 + a0 * b1
        c10, c11 = c10 + a1 * b0, c11 + a1 * b1
    c[row, column], c[row, column + 1] = c00, c01
    c[row + 1, column], c[row + 1, column + 1] = c10, c11


registers = cuda.observe(matmul_with_register_tiles, (2, 2), (8, 8), a, b, c)
print("right:", np.allclose(c, a @ b, atol=1e-5))

# %% [folded]
# Print the loads of both kernels.
if registers.counts:
    print(f"{registers.counts.global_loads} loads, "
          f"{registers.counts.global_load_requests} requests of warps; naive "
          f"{naive.counts.global_loads} and "
          f"{naive.counts.global_load_requests}; you guessed {my_guess} loads")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **32,768, half:** four loads for four products, where the naive kernel has two loads for each. A thread tile of w by w needs 2·w loads for w² products; libraries often use 8 by 8 in registers *and* tiles in shared memory, so that a product costs a quarter of a load from shared memory.
#
# </details>
#
# A third step is left, **vector loads**: one instruction may load four neighbouring numbers into a thread's registers. A warp then moves 128 numbers a request in place of 32. For the 1,024 numbers of `a`, each loaded once, that is 8 requests in place of 32. The sectors stay 128: the same bytes with fewer instructions. (With these steps, tuned tile sizes and tiles for warps S. Boehm's worklog reaches 94 % of cuBLAS. Numba makes no such load of global memory, so it is counted on paper; of shared memory numba-cuda does, where an array has `alignment=16`.)

# %% [markdown]
# ## 3 · Adding up together
#
# 32 numbers need 31 additions in any order. One thread takes 31 steps; 16 threads that add a pair each, then 8, 4, 2 and 1, take 5 steps. After each barrier half as many threads have something to do.
#
# **Predict:** what happens if the barrier stands inside the `if`, which only the threads with something to add reach?

# %%
drawings.show("sum_by_halving")

# %%
@cuda.jit
def sum_with_a_lonely_barrier(x, out):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    step = 16
    while step > 0:
        if i < step:
            part[i] += part[i + step]
            cuda.syncthreads()
        step //= 2
    if i == 0:
        out[0] = part[0]


x, out = np.ones(32, "float32"), np.zeros(1, "float32")
try:
    if cuda.is_simulated:
        sum_with_a_lonely_barrier[1, 32](x, out)
    else:
        print("not launched on a GPU, where it may hang; "
              "RNNLAB_CUDA=simulator shows this launch")
except RuntimeError as fault:
    print(fault)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# As in lesson 09, 16 threads never reach the barrier.
#
# </details>
#
# In your own version, put it outside the `if`.
#
# ### Exercise: the sum of a block
#
# <!-- exercise: block_sum_kernel -->
#
# There is a second way to pair the numbers: neighbours first. Thread 0 adds the numbers 0 and 1, thread 2 adds 2 and 3, and so on; then 0 and 2, 4 and 6, … It needs the same 255 additions and the same 8 rounds for 256 numbers. **Predict:** halving takes 45 requests to shared memory, because a warp without work makes none. How many does neighbours first take?

# %%
my_guess = ...


@cuda.jit
def sum_of_neighbours(x, out):
    part = cuda.shared.array(256, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    step = 1
    while step < 256:
        if i % (2 * step) == 0:
            part[i] += part[i + step]
        cuda.syncthreads()
        step *= 2
    if i == 0:
        out[0] = part[0]


# fill, add, read the sum
halving = 8 + 3 * sum(max(1, 256 // 2**k // 32) for k in range(1, 9)) + 1
neighbours = cuda.observe(sum_of_neighbours, 1, 256, np.ones(256, "float32"),
                          out).counts

# %% [folded]
# Print the requests of both orders.
print(f"sum {out[0]:g}; halving takes {halving} requests")
if neighbours:
    print(f"neighbours first takes {neighbours.shared_requests}, "
          f"{neighbours.shared_requests / halving:.1f} times; you guessed "
          f"{my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **150, 3.3 times as many.** In the first five rounds the threads that add are spread over all eight warps, in the end one in each, and a warp makes its requests even for one thread. This is the first of seven kernels in Harris' talk of 2007; halving is the third. The check of your kernel counts requests, too.
#
# </details>

# %% [markdown]
# ## 4 · From register to register
#
# The last five halvings happen within one warp, whose 32 lanes run mostly, but not always, in step. They need neither shared memory nor a barrier: a **shuffle** copies the register of another lane. The lanes in its mask wait for one another, hence `_sync`. A shuffle does not order what they write to memory; `cuda.syncwarp()` does. `cuda.shfl_down_sync(mask, value, step)` gives lane `i` the `value` of lane `i + step`; `mask` says which lanes take part, here all 32.

# %%
drawings.show("shuffle_down")

# %%
@cuda.jit
def look_down(x, out, step):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], step)


numbers, seen = np.arange(32, dtype="float32"), np.zeros(32, "float32")
look_down[1, 32](numbers, seen, 8)
print(seen)

# %% [markdown]
# The last 8 lanes have no lane 8 places on, and keep their own value. So which lane ends up with the sum of all 32, after steps of 16, 8, 4, 2 and 1?
#
# ### Exercise: the sum of a warp
#
# <!-- exercise: warp_sum_kernel -->
#
# The check refuses shared memory.

# %% [markdown]
# ## 5 · Thirty-two banks
#
# Shared memory has 32 **banks**. Word number `w` lies in bank `w mod 32`, and each bank serves one word at a time. If 32 lanes read words of 32 different banks, all are served at once; *different* words of *one* bank are served one after the other. Each turn beyond the first counts as a **bank conflict**. Lanes that read the same word share it.
#
# **Predict:** a tile of 32 by 32 words. A warp reads a row: conflicts? A warp reads a column: conflicts?

# %%
my_guess = {"row": ..., "column": ...}

from rnncourse.views.access_map import walk_a_tile

for direction, down in (("row", 0), ("column", 1)):
    counts = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), 32,
                          down).counts
    print(f"a {direction}: you guessed {my_guess[direction]};",
          f"counted were {counts.bank_conflicts}" if counts
          else "not counted on a GPU")

# %% [markdown]
# The replay of the walk down the column shows every access. Under the source stands the warp's request: a column for each bank, a box for each word that the bank must serve. **Look for** the bank with the most boxes. Then change `32, 1` in the cell into `33, 1`.

# %%
cuda.replay(walk_a_tile[1, 32], np.zeros(32, "float32"), 32, 1)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# A column of a tile with 32 words a row lies in one single bank: 31 lanes wait.
#
# </details>
#
# Now change the length of the rows. Blue cells are served in the first turn, orange ones wait.
#
# **Look for:** which lengths have no conflict at all? What do they have in common?

# %%
from rnncourse.views.access_map import explore_banks

explore_banks()

# %% [markdown]
# <details><summary>Answer</summary>33, and every odd length: walking down a column then visits all 32 banks before it comes to the first one again.</details>
#
# One unused word at the end of each row, 128 bytes for the whole tile, takes the conflicts away. This is called **padding**.
#
# Your CPU may have the same problem. Its caches hold lines, mostly of 64 bytes or 16 numbers. A line's address decides its **set**, the few places where it may lie; with rows of 8,192 bytes the lines of a column share very few sets. Rows of 2,048 numbers are 128 lines, rows of 2,064 are 129, an odd number. **Guess:** of two matrices, one has rows of 2,048, the other of 2,064, of which 2,048 are used. How many times as long does it take to copy the first one's transpose?

# %%
from rnncourse.lab.turns import disturbance, take_turns

my_guess = ...

square = np.ones((2048, 2048), "float32")
padded = np.ones((2048, 2064), "float32")[:, :2048]
timed = take_turns({"rows of 2048": lambda: square.T.copy(),
                    "rows of 2064": lambda: padded.T.copy()}, 5)
print(disturbance(timed) or "nothing disturbed these times:")
plain, longer = (timing.median * 1e3 for timing in timed.values())
print(f"rows of 2048 {plain:.1f} ms, of 2064 {longer:.1f} ms: "
      f"{plain / longer:.2f} times as long, you guessed {my_guess}")

# %% [markdown]
# If it is well above 1, you have measured padding on a CPU. If it is near 1, each set of your caches may have room for enough lines, or the processor chooses the sets by hashing.
#
# ### Exercise: a transpose without conflicts
#
# <!-- exercise: transpose_without_conflicts -->

# %%
drawings.show("banks_and_padding")

# %% [markdown]
# ## 6 · Measure: what the three transposes move
#
# The naive kernel of lesson 09, one through a tile of 32 by 32, and one whose tile has rows of 33. All three transpose a square whose sides are multiples of 32, with blocks of 32 by 32 threads. **Predict:** a matrix of 64 by 64 is 512 sectors, so at least 1,024 are read and written. How many does the naive kernel move?

# %%
@cuda.jit
def naive_transpose(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        y[column, row] = x[row, column]


@cuda.jit
def transpose_through_a_tile(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y[column, row] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def transpose_through_a_padded_tile(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y[column, row] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


# %%
my_guess = ...

x = rng.normal(size=(64, 64)).astype("float32")
transposes = {}
for kernel in (naive_transpose, transpose_through_a_tile,
               transpose_through_a_padded_tile):
    y = np.zeros_like(x)
    report = cuda.observe(kernel, (2, 2), (32, 32), x, y)
    assert np.array_equal(y, x.T)
    if report.counts:
        counts = transposes[kernel.__name__] = report.counts
        print(f"{kernel.__name__:32} "
              f"{counts.global_load_sectors + counts.global_store_sectors:5} "
              f"sectors, {counts.bank_conflicts:4} conflicts, "
              f"{counts.barriers} barriers")
print("for the naive one you guessed", my_guess, "sectors")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **4,608**: the naive kernel reads 512 sectors. A warp is now one row of 32, so each lane of a write touches another sector: 4,096. (Blocks of 8 by 8, in lesson 09, moved 1,536 in all.) Both kernels with a tile move 1,024. Padding removes the conflicts: without it a warp reads one column of the tile from one bank.
#
# </details>
#
# ## 7 · Break it: the second barrier
#
# A product in tiles has two barriers a tile, and the second looks superfluous. Here is the kernel of section 2 without it. **Predict:** is its result right in the simulator? Is it right on a GPU? And what does the simulator say?

# %%
@cuda.jit
def matmul_with_one_barrier(a, b, c):
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile[y, x] = a[row, start + x]
        cuda.syncthreads()
        for k in range(8):
            total += tile[y, k] * b[start + k, column]
    c[row, column] = total


my_guess = ...
result = np.zeros((8, 8), "float32")
short_a, short_b = a[:8, :16].copy(), b[:16, :8].copy()
report = cuda.observe(matmul_with_one_barrier, (1, 1), (8, 8), short_a, short_b,
                      result)
wrong = int((~np.isclose(result, short_a @ short_b, atol=1e-5)).sum())
print(f"{wrong} of {result.size} elements are wrong in this run")
for finding in report.findings if cuda.is_simulated else ():
    print(finding)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Wrong in the simulator, **56 of 64 elements**. One thread may be a tile ahead of another and overwrite what the other one still needs. In the simulator a thread runs until it reaches a barrier, so this shows. On a GPU the eight threads that share a row of this tile lie in one warp, mostly in step, and all elements may be right. A right result in one run proves nothing: that nothing *orders* the two accesses is the finding.
#
# </details>
#
# ## Recap
#
# **Tiles of 8 by 8 divide the loads of a matrix by 8, the width of the result's tile: each number is loaded once for every tile of the result that needs it. The price is two barriers a tile.**

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("loads of a product, 32 by 32", "65,536 naive, 2 · 4,096 in tiles of 8"),
    ("barriers a tile", "2: full, and free again"),
    ("2 by 2 results a thread", "half of the loads; w by w: 2·w for w² "
     "products"),
    ("a sum of n numbers", "log₂ n rounds; halving lets whole warps rest"),
    ("within a warp", "shuffles: no memory, no barrier"),
    ("bank of word w", "w mod 32; odd row lengths keep columns apart"),
]
for question, answer in rows:
    print(f"{question:32}{answer}")
if one_tile.counts:
    factor = naive.counts.global_loads // 2 / of_a
    # 16 blocks, each with 32 / 8 tiles of a
    barriers = one_tile.counts.barriers / (16 * 32 / 8)
    verdict = "holds" if factor == 64 else "does NOT hold"
    print(f"\nclaim, a tile of 8 by 8 divides the loads by 64: {verdict}; it "
          f"divides those of a by {factor:g}, and costs "
          f"{barriers:g} barriers a tile")
else:
    print("\nclaim: not counted on a GPU; in the simulator it does NOT hold: "
          "the loads of a are divided by 8")
rnnlab.progress("10_cuda_shared_memory")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Tiles of 16 by 16: how often is each number of a 1,024 by 1,024 product loaded?</summary>1,024 / 16 = 64 times instead of 1,024.</details>
#
# <details><summary>Why does the product need a barrier after the inner loop?</summary>Otherwise a quick thread fills the next tile while a slow one still reads this one.</details>
#
# <details><summary>All lanes read the same word of shared memory. Conflicts?</summary>None: one word is handed to all.</details>
#
# <details><summary>A tile has 34 words a row. How many turns does reading a column take?</summary>2: rows 16 apart share a bank.</details>
#
# <details><summary>Which lane holds the sum after shuffling down by 16, 8, 4, 2, 1?</summary>Lane 0.</details>

# %% [markdown]
# ## Sources
#
# - NVIDIA, *CUDA C++ Programming Guide*: shared memory, its 32 banks of 4 bytes, warp shuffles; the size of shared memory by compute capability.
# - M. Harris, *Optimizing Parallel Reduction in CUDA*, 2007: sums by halving, and neighbours first.
# - S. Boehm, *How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance: a Worklog*, 2022: tiles in registers, vector loads; its 94 % as the author states it.
# - The eighth in section 2: te42kyfo/gpu-benches, gpu-latency, an H100's 34 cycles for the L1 cache, 265 for the L2 cache.
#
# Next: [11 · Is a busy GPU a full GPU?](11_naive_gpu_rnn.ipynb)

# %% [markdown]
# # 10 · Shared memory
#
# **Claim to test: a simple product of two matrices loads the same numbers again and again; a tile in shared memory divides the loads by the tile's width, and costs two barriers a tile.**
#
# You will count the loads of both, walk into bank conflicts and out again, and add up numbers without touching memory at all.
#
# - **Time:** 120 minutes, exercises included.
# - **You need:** [09 · First kernels](09_cuda_first_kernels.ipynb): grids, sectors, barriers. No GPU.
# - **Afterwards you can** write a tiled product, a sum by halving and by shuffles, tell a bank conflict from a table of addresses, and say what a barrier costs.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("shared_tile")

# %% [markdown]
# ## 1 · The naive product, counted
#
# One thread makes one element of `c = a b`: it walks along a row of `a` and down a column of `b`. For matrices of 32 by 32 that is 1 024 threads, each with 32 steps.
#
# **Predict:** how many numbers do all threads together load from global memory? And how many different numbers are there?

# %%
import numpy as np

from rnnlab import cuda
from rnncourse.figures.picture import show

my_guess = 2048


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

# %%
different = a.size + b.size
if naive.counts:
    loads = naive.counts.global_loads
    print(f"you guessed {my_guess}; loaded were {loads} numbers, {different} of them different")
    print(f"each number was loaded {loads / different:g} times")

# %% [markdown]
# Every number is loaded once for each element of `c` that needs it: 32 times. Sectors soften that a little, because the lanes of a warp share them. But a row of `a` is still loaded again by every block beside it, and by every warp of a block. A GPU's caches (L1 in each multiprocessor, L2 for all) serve many of these loads, so not all of them reach memory; each still takes an instruction, a request and its latency.
#
# All 64 threads of a block need the same 8 rows of `a` and the same 8 columns of `b`. If each thread loads a few of those numbers and stores them where all can read them, each number is loaded once a block.

# %% [markdown]
# ## 2 · Shared memory
#
# **Shared memory** belongs to a block and lives on the chip, next to the arithmetic: on an H200 up to 227 KiB of it a block. Reading it takes about a tenth of the time of reading the L2 cache (memory itself is slower still), and nothing outside the block can see it. An array of fixed size, as below, may take up to 48 KiB; more needs a setting of the launch.
#
# `cuda.shared.array((8, 8), np.float32)` declares a **tile**: one for each block, not one for each thread. The plan of a tiled product, 8 numbers of the inner size at a time:
#
# 1. every thread loads one number of `a` and one of `b` into the tiles;
# 2. all wait: the tiles are full;
# 3. every thread adds 8 products from the tiles;
# 4. all wait: no thread fills the tiles again while another one still reads.

# %%
drawings.show("tiled_product")

# %% [markdown]
# **Predict:** with tiles of 8 by 8, how often is each number loaded from global memory? What would tiles of 16 by 16 give?
#
# ### Exercise: the tiled product
#
# <!-- exercise: tiled_matmul_kernel -->
#
# In [work/10_cuda_shared_memory.ipynb](../work/10_cuda_shared_memory.ipynb). It is the longest kernel so far, and you have seen every line of it before.

# %% [markdown]
# The effect can be seen on half of the work. The kernel below puts only the tiles of `a` into shared memory; it still loads `b` from global memory for every product, and its sizes must be multiples of 8. Compare the loads with those of the naive kernel: those of `a` have moved to *shared loads*.

# %%
@cuda.jit
def matmul_with_one_tile(a, b, c):
    """c [M,N] becomes a [M,K] times b [K,N]; all sizes are multiples of 8."""
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[row, start + cuda.threadIdx.x]
        cuda.syncthreads()
        for k in range(8):
            total += tile[cuda.threadIdx.y, k] * b[start + k, column]
        cuda.syncthreads()
    c[row, column] = total


one_tile = cuda.observe(matmul_with_one_tile, (4, 4), (8, 8), a, b, c)
print("right:", np.allclose(c, a @ b, atol=1e-5))
if one_tile.counts:
    for name, counts in (("naive", naive.counts), ("a in tiles", one_tile.counts)):
        print(f"{name:10}: {counts.global_loads:6} loads, {counts.global_load_sectors:5} sectors, "
              f"{counts.shared_loads:6} shared loads, {counts.barriers:3} barriers")
    of_a = one_tile.counts.global_loads - naive.counts.global_loads // 2
    print(f"a: {of_a} loads where the naive kernel has {naive.counts.global_loads // 2}: "
          f"{naive.counts.global_loads // 2 / of_a:g} times fewer")

# %% [markdown]
# The loads of `a` are an eighth: each number is loaded once for every tile of `c` beside it, 32 / 8 = 4 times. Your kernel of the exercise does the same for `b`. The price is two barriers a tile. At a barrier a warp may have to wait; that is why a GPU keeps several blocks on each multiprocessor, so that the warps of another block can work meanwhile.
#
# The picture below shows this for a smaller kernel: two rotations of 32 numbers in shared memory. It has a row for each thread, a mark for each access to shared memory, and a line for each barrier. The simulator runs one thread until it reaches a barrier, then the next one: that is why the marks form a staircase. The last thread to arrive has nobody to wait for and runs on, so its marks continue behind the line.

# %%
from rnncourse.views.barrier_timeline import barriers_in_words, figure_barriers


@cuda.jit
def rotate_twice(x):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    for _ in range(2):
        part[i] = x[i]
        cuda.syncthreads()
        x[i] = part[(i + 1) % 32]
        cuda.syncthreads()


x, out = np.ones(32, "float32"), np.zeros(1, "float32")
rotated = np.arange(32, dtype="float32")
rotation = cuda.observe(rotate_twice, 1, 32, rotated)
print("after two rotations:", rotated[:3], "…", rotated[-3:])
if cuda.is_simulated:
    show(figure_barriers(rotation), alt=barriers_in_words(rotation))

# %% [markdown]
# ## 3 · Adding up together
#
# 32 numbers need 31 additions in any order. One thread takes 31 steps; 16 threads that add a pair each, then 8, then 4, take 5 steps. After each barrier half as many threads have something to do.
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


try:
    sum_with_a_lonely_barrier[1, 32](x, out)
except RuntimeError as fault:
    print(fault)

# %% [markdown]
# 16 threads never reach the barrier. In your own version, put it outside the `if`.
#
# ### Exercise: the sum of a block
#
# <!-- exercise: block_sum_kernel -->

# %% [markdown]
# ## 4 · From register to register
#
# The last five halvings happen within one warp, whose 32 lanes run mostly, but not always, in step. They need neither shared memory nor a barrier: a **shuffle** copies the register of another lane. The lanes in its mask wait for one another, hence `_sync`; but only `cuda.syncwarp()` also orders what they write to memory. `cuda.shfl_down_sync(mask, value, step)` gives lane `i` the `value` of lane `i + step`; `mask` says which lanes take part, here all 32.

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
# Shared memory has 32 **banks**. Word number `w` lies in bank `w mod 32`, and each bank serves one word at a time. If 32 lanes read words of 32 different banks, all are served at once; two lanes that read *different* words of *one* bank are served one after the other. That is a **bank conflict**. Lanes that read the same word share it.
#
# **Predict:** a tile of 32 by 32 words. A warp reads a row: conflicts? A warp reads a column: conflicts?

# %%
my_guess = {"row": 0, "column": 0}

from rnncourse.views.bank_map import walk_a_tile

for direction, down in (("row", 0), ("column", 1)):
    counts = cuda.observe(walk_a_tile, 1, 32, np.zeros(32, "float32"), 32, down).counts
    conflicts = counts.bank_conflicts if counts else "not counted on a GPU"
    print(f"a {direction}: you guessed {my_guess[direction]}, counted were {conflicts}")

# %% [markdown]
# The replay of the walk down the column shows every access. Under the source stands the warp's request: a column for each bank, a box for each word that the bank must serve. **Look for** the bank with 32 boxes. Then change `32, 1` in the cell into `33, 1`.

# %%
cuda.replay(walk_a_tile[1, 32], np.zeros(32, "float32"), 32, 1)

# %% [markdown]
# A column of a tile with 32 words a row lies in one single bank: 31 lanes wait. Now change the length of the rows. Blue cells are served in the first turn, orange ones wait.
#
# **Look for:** which lengths have no conflict at all? What do they have in common?

# %%
from rnncourse.views.bank_map import explore_banks

explore_banks()

# %% [markdown]
# Every odd length does it: then walking down a column visits all 32 banks before it comes to the first one again. One unused word at the end of each row, 128 bytes for the whole tile, takes the conflicts away. This is called **padding**, and many fast kernels use it.
#
# ### Exercise: a transpose without conflicts
#
# <!-- exercise: transpose_without_conflicts -->

# %%
drawings.show("banks_and_padding")

# %% [markdown]
# ## 6 · Measure: what the three transposes move
#
# The naive kernel of lesson 09, one through a tile of 32 by 32, and one whose tile has a row length of 33. They transpose the same matrix, and their results are the same. To keep the two short, they transpose a square whose sides are multiples of 32, and a block has 32 by 32 threads; your kernel of the exercise needs neither.

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
    column, row = cuda.blockIdx.x * 32 + cuda.threadIdx.y, cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y[column, row] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def transpose_through_a_padded_tile(x, y):
    tile = cuda.shared.array((32, 33), np.float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    column, row = cuda.blockIdx.x * 32 + cuda.threadIdx.y, cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y[column, row] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


# %%
x = rng.normal(size=(64, 64)).astype("float32")
transposes = {}
for kernel in (naive_transpose, transpose_through_a_tile, transpose_through_a_padded_tile):
    y = np.zeros_like(x)
    report = cuda.observe(kernel, (2, 2), (32, 32), x, y)
    assert np.array_equal(y, x.T)
    if report.counts:
        counts = transposes[kernel.__name__] = report.counts
        print(f"{kernel.__name__:32} {counts.global_load_sectors + counts.global_store_sectors:5} sectors, "
              f"{counts.bank_conflicts:4} conflicts, {counts.barriers} barriers")

# %% [markdown]
# A matrix of 64 by 64 float32 is 512 sectors; reading and writing it once is 1 024, and both kernels with a tile move no more. The naive kernel writes each element into a sector of its own: 4 096 for the writes alone. What padding takes away is the conflicts: without it the 32 lanes of a warp read one column of the tile, which lies in one bank, and 31 of them wait.
#
# ## 7 · Break it: the second barrier
#
# A product in tiles has two barriers a tile, and the second looks superfluous. Here is the kernel of section 2 without it. **Predict:** is its result right in the simulator? Is it right on a GPU? And what does the simulator say?

# %%
@cuda.jit
def matmul_with_one_barrier(a, b, c):
    tile = cuda.shared.array((8, 8), np.float32)
    column, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], 8):
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[row, start + cuda.threadIdx.x]
        cuda.syncthreads()
        for k in range(8):
            total += tile[cuda.threadIdx.y, k] * b[start + k, column]
    c[row, column] = total


result = np.zeros((8, 8), "float32")
short_a, short_b = a[:8, :16].copy(), b[:16, :8].copy()
report = cuda.observe(matmul_with_one_barrier, (1, 1), (8, 8), short_a, short_b, result)
wrong = int((~np.isclose(result, short_a @ short_b, atol=1e-5)).sum())
print(f"{wrong} of {result.size} elements are wrong in this run")
for finding in report.findings if cuda.is_simulated else ():
    print(finding)

# %% [markdown]
# One thread may be a tile ahead of another and overwrite what the other one still needs. In the simulator a thread runs until it reaches a barrier, so elements are wrong at once. On a GPU the warps of a block often stay close together, and all elements may be right. A right result in one run proves nothing: that nothing *orders* the two accesses is the finding.
#
# ## Recap

# %%
rows = [
    ("loads of a product, 32 by 32", "65 536 naive, 8 192 with tiles of 8"),
    ("barriers a tile", "2: full, and free again"),
    ("a sum of n numbers", "log₂ n halvings"),
    ("within a warp", "shuffles: no memory, no barrier"),
    ("bank of word w", "w mod 32; odd row lengths keep columns apart"),
]
for question, answer in rows:
    print(f"{question:32}{answer}")
if one_tile.counts:
    factor = naive.counts.global_loads // 2 / of_a
    barriers = one_tile.counts.barriers / (16 * 32 / 8)  # 16 blocks, each with 32 / 8 tiles of a
    verdict = "holds" if (factor, barriers) == (8, 2) else "does NOT hold"
    print(f"\nclaim: {verdict}; tiles of 8 divide the loads of a by {factor:g}, and cost {barriers:g} barriers each")
rnnlab.progress("cuda_shared_memory")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Tiles of 16 by 16: how often is each number of a 1024 by 1024 product loaded?</summary>1024 / 16 = 64 times instead of 1024.</details>
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
# - M. Harris, *Optimizing Parallel Reduction in CUDA*, 2007: sums by halving.
# - The tenth in section 2 is from gpu-benches (te42kyfo/gpu-benches, gpu-latency): about 30 cycles for shared memory, 265 for the L2 cache of an H100.
#
# Next: [11 · A naive GPU RNN](11_naive_gpu_rnn.ipynb)

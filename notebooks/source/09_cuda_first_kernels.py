# Course map: grids, blocks, warps; sectors counted, races found, with or without a GPU

# %% [markdown]
# # 09 · First kernels
#
# **Claim to test: two kernels that read and write the same numbers ask memory for the same number of bytes. Is that so?**
#
# You will write kernels that run on a GPU, run them on whatever machine you have, and count what they ask for. The recap has the simulator's verdict.
#
# - **Time:** 95 minutes, exercises included.
# - **You need:** [02 · Back through time](02_bptt.ipynb) for the arrays; Python functions and NumPy indexing. No GPU.
# - **Afterwards you can** write a kernel for any number of elements, say how many sectors an access moves before you run it, and find a race from the two lines that a finding names.

# %%
import rnnlab
rnnlab.banner()

# %% [markdown]
# **May you skip lessons 09 to 16?** The cell asks four questions. To answer, put four numbers after the path's name, `...` for one that you leave out, and run it again.

# %%
from rnncourse import paths

paths.test("kernels")

# %%
from rnncourse import drawings

drawings.show("grid_block_warp")

# %% [markdown]
# ## 1 · A function that runs a thousand times
#
# A **kernel** is a function that a GPU runs once for every **thread**. You launch it on a **grid**: a number of **blocks**, each with the same number of threads. All threads run the same lines; each one finds out its place in the grid and does its own part.
#
# `from rnnlab import cuda` gives you what programs use as `numba.cuda`. With a GPU, it is `numba.cuda`. Without one, or if Jupyter is started with `RNNLAB_CUDA=simulator`, it is a simulator that runs every thread in Python and writes down what it does. The kernel is the same text in both, but only the simulator counts.

# %%
import numpy as np

from rnnlab import cuda
from rnncourse.figures.picture import show

print("simulated" if cuda.is_simulated else "on a GPU")
skipped = "not launched on a GPU; RNNLAB_CUDA=simulator shows this launch"


@cuda.jit
def scale_kernel(a, x, y):
    """y [n] becomes a·x, a thread for each element."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i]


# %% [markdown]
# `cuda.grid(1)` is the thread's place in the whole grid: `blockIdx.x · blockDim.x + threadIdx.x`. A launch, `kernel[blocks, threads]` called with the arguments, returns nothing; what the threads write stands in the arrays afterwards. A constant is written as `np.float32(10)`: a plain `10.0` is a float64, and float64 arithmetic is slower on most GPUs.
#
# **Predict:** 10 elements, blocks of 4 threads. How many blocks do you need, and how many threads have nothing to do?

# %%
my_blocks = 2

x = np.arange(10, dtype="float32")
y = np.zeros_like(x)
scale_kernel[my_blocks, 4](np.float32(10), x, y)
print(y)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# With two blocks, elements 8 and 9, which no thread owned, are still 0. With three blocks there are 12 threads for 10 elements: two of them find `i < x.size` false and do nothing.
#
# </details>
#
# (Blocks this small are for reading; real ones have multiples of 32 threads.) The next kernel lacks the line with `if`, so it runs in the simulator only.

# %%
@cuda.jit
def scale_without_end(a, x, y):
    i = cuda.grid(1)
    y[i] = a * x[i]


try:
    if cuda.is_simulated:
        scale_without_end[3, 4](np.float32(10), x, y)
    else:
        print(skipped)
except RuntimeError as fault:
    print(fault)

# %% [markdown]
# The simulator stops at the first access beyond the end. A GPU usually would not: it checks no array's bounds, and the two threads would read and overwrite whatever lies beyond its end. **So run a kernel in the simulator before you run it on a GPU.**
#
# ### Exercise: saxpy
#
# <!-- exercise: saxpy_kernel -->
#
# saxpy is BLAS's name for y ← a·x + y. Write it in [work/09_cuda_first_kernels.ipynb](../work/09_cuda_first_kernels.ipynb).
#
# ### Exercise: tanh with few threads
#
# <!-- exercise: tanh_kernel -->
#
# Let g = `cuda.gridsize(1)`, the number of all threads. With fewer threads than elements, thread i takes the elements i, i + g, i + 2·g, …

# %% [markdown]
# ## 2 · Threads come in warps
#
# A GPU does not run threads one by one. It runs **warps** of 32 threads, the **lanes**, mostly in step: the same instruction for all of them. (Since 2017 lanes may drift apart: section 4.) When that instruction loads from memory, the 32 lanes make one **request**, and the request moves whole **sectors** of 32 bytes: 8 float32 each.
#
# So the price of a load is not the number of bytes that the lanes read, but the number of sectors that hold them. `cuda.observe` launches a kernel once and gives a report of both.

# %%
from rnncourse.views.access_map import strided_copy

x, y = np.zeros(1024, "float32"), np.zeros(32, "float32")
report = cuda.observe(strided_copy, 1, 32, x, y, 1, 0)
report

# %% [markdown]
# On a GPU this cell prints a time instead: a GPU counts sectors only for a profiler.
#
# **Predict:** the kernel copies `x[offset + i·stride]`. With stride 1, 32 lanes read 128 bytes, in 4 sectors. How many sectors does stride 2 read? And 8? And 16?

# %%
my_guess = {2: ..., 4: ..., 8: ..., 16: ...}

for stride, guess in my_guess.items():
    x = np.zeros(32 * stride, "float32")
    moved = cuda.observe(strided_copy, 1, 32, x, y, stride, 0).counts
    print(f"stride {stride:2}: you guessed {guess};",
          f"{moved.global_load_sectors} sectors read" if moved
          else "not counted on a GPU")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# From stride 8 on every lane has a sector of its own, 32 of them: seven eighths of the bytes read are not used. (Counted are sectors that a warp asks for; caches, which may hold some of them, come in lesson 10.)
#
# </details>
#
# Now move the sliders. Colours are sectors, ticks are lanes.
#
# **Look for:** what does an offset of 1 cost at stride 1? Which offsets cost nothing?

# %%
from rnncourse.views.access_map import explore_stride

explore_stride()

# %% [markdown]
# <details><summary>Answer</summary>At stride 1 an offset of 8 elements, a whole sector, or of a multiple costs nothing, since x begins at a sector; any other offset makes a row of 32 lanes straddle one sector more.</details>
#
# Accesses of lanes to neighbouring elements are called **coalesced**. The rule: *let neighbouring threads touch neighbouring elements.*
#
# ### A map over a matrix
#
# `cuda.grid(2)` gives a thread two places, the one along x first: let it be the **column**, since lanes are counted along x first. The kernel adds a bias to each row of sums.
#
# **Predict:** a warp of a block of 8 by 4 threads is 8 columns by 4 rows. How many sectors does its read of `sums` move, and how many if `column` and `row` are exchanged in the first line?

# %%
my_guess = {"as it is": ..., "exchanged": ...}
drawings.show("two_dimensional_map")


@cuda.jit
def add_bias(sums, bias, y):
    """y [B,H] becomes sums [B,H] plus bias [H], a thread for each element."""
    column, row = cuda.grid(2)
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = sums[row, column] + bias[column]


@cuda.jit
def add_bias_exchanged(sums, bias, y):
    row, column = cuda.grid(2)
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = sums[row, column] + bias[column]


sums, bias = np.ones((32, 32), "float32"), np.arange(32, dtype="float32")
maps = []
for kernel, (name, guess) in zip((add_bias, add_bias_exchanged),
                                 my_guess.items(), strict=True):
    y = np.zeros_like(sums)
    moved = cuda.observe(kernel, (4, 8), (8, 4), sums, bias, y).counts
    maps.append(moved)
    print(f"{name}: right: {np.array_equal(y, sums + bias)};",
          f"{moved.global_load_sectors} sectors, {moved.global_load_requests} "
          f"requests; sums {moved.global_load_sectors / 32 - 1:g} a warp, "
          f"you guessed {guess}" if moved else "not counted on a GPU")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The reads take 160 sectors in 64 requests. Half of the requests read `sums`, 4 sectors each: four rows of 32 bytes. The other half read the bias, one sector a warp: the same eight numbers for all four rows. Exchanged, a warp is 8 rows by 4 columns: 8 sectors for `sums`, each half used, and one for the bias, 32 · 9 = 288. Writing `y` takes as many as reading `sums`: 288 sectors read and written as it is, 544 exchanged.
#
# </details>
#
# ## 3 · The naive transpose: one side is not coalesced
#
# Transposing a matrix computes nothing, so memory is all there is. The naive kernel reads along rows, and therefore writes along columns.
#
# **Predict:** a matrix of 64 by 64, blocks of 8 by 8 threads. A warp is then 8 columns by 4 rows. How many sectors does a warp's read move, and how many its write?

# %%
@cuda.jit
def naive_transpose(x, y):
    """y [columns,rows] becomes the transpose of x [rows,columns]."""
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        y[column, row] = x[row, column]


my_guess = {"read": ..., "write": ...}
x = np.random.default_rng(0).normal(size=(64, 64)).astype("float32")
y = np.zeros_like(x)
naive = cuda.observe(naive_transpose, (8, 8), (8, 8), x, y)
print("right:", np.array_equal(y, x.T))
naive

# %% [folded]
# Print the sectors of a read and of a write.
if naive.counts:
    requests = naive.counts.global_load_requests
    print(f"a read moves {naive.counts.global_load_sectors / requests:g} "
          "sectors, 4 rows of 32 bytes")
    print(f"a write moves {naive.counts.global_store_sectors / requests:g} "
          "sectors, 8 rows of 16 bytes")
print("you guessed", my_guess)
drawings.show("transpose_sides")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Only half of each written sector is used. In blocks of 32 by 8 a warp is 32 columns by 1 row, and its write touches 32 sectors.
#
# </details>
#
# The next cell replays the kernel on 16 by 16 numbers, step by step. Press *next*, and **look for** the two requests of a warp: which one fills its sectors, and which leaves them half empty?

# %%
small = np.zeros((16, 16), "float32")
cuda.replay(naive_transpose[(2, 2), (8, 8)], small, small.copy())

# %% [markdown]
# The way out is a detour through **shared memory**, tens of kilobytes (on recent GPUs up to some 200) that the threads of a block have in common and that are not divided into sectors: read a tile along its rows, wait for each other, write along the rows of the result.
#
# First a smaller case: a filter of three numbers, a **stencil**, reads nearly every element three times. Below, a block of 8 threads loads its 8 elements into shared memory once, and one neighbour at each end, its **halo**. At `cuda.syncthreads()` every thread waits until all threads of its block have arrived (section 4).
#
# **Predict:** how many loads for 32 elements, directly and with a halo? What changes if blocks have 32 threads?

# %%
@cuda.jit
def smooth_directly(x, y):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)


@cuda.jit
def smooth_with_halo(x, y):
    """x.size is a multiple of 8, the threads of a block."""
    part = cuda.shared.array(10, np.float32)  # 8 elements and 2 neighbours
    i, k = cuda.grid(1), cuda.threadIdx.x
    part[k + 1] = x[i]
    if k == 0 and i > 0:
        part[0] = x[i - 1]
    if k == 7 and i < x.size - 1:
        part[9] = x[i + 1]
    cuda.syncthreads()
    if 0 < i < x.size - 1:
        y[i] = (part[k] + part[k + 1] + part[k + 2]) / np.float32(3)

# %%
my_guess = {"directly": ..., "with a halo": ...}
x = np.arange(32, dtype="float32") ** 2
results = []
for kernel in (smooth_directly, smooth_with_halo):
    y = np.zeros_like(x)
    smoothed = cuda.observe(kernel, 4, 8, x, y)
    results.append(y)
    moved = smoothed.counts
    print(f"{kernel.__name__}:", f"{moved.global_loads} loads in "
          f"{moved.global_load_sectors} sectors, {len(smoothed.findings)} "
          "findings" if moved else "not counted on a GPU")
    for finding in smoothed.findings:
        print(finding)
print("equal:", np.array_equal(*results), "· you guessed", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 3 · 30 = 90 loads become 32 + 6 = 38: each block loads its own elements, the two blocks inside load two more, and the two at the ends one. Sectors gain less: 18 become 10. With 32 threads (10, 7 and 9 in the kernel become 34, 31 and 33, the launch `1, 32`) one block has all 32 elements: 32 loads, and here no halo.
#
# </details>
#
# **Break it:** take `cuda.syncthreads()` away and read the finding: a thread reads a number of `part` that its neighbour may not have written yet.

# %% [markdown]
# ## 4 · What “wait for each other” means
#
# Threads of a block run in no order that you may rely on. Between “I have written my number” and “I read yours” there must be something that orders the two: `cuda.syncthreads()`, the **barrier** of a block.
#
# This kernel reverses the order of 32 numbers. **Predict:** how many of them will be right here? Would they be right on a GPU?

# %%
my_guess = ...


@cuda.jit
def reverse_with_a_race(x):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    x[i] = part[31 - i]


numbers = np.arange(32, dtype="float32")
race = cuda.observe(reverse_with_a_race, 1, 32, numbers)
right = int((numbers == np.arange(32)[::-1]).sum())
print(numbers[:4], "…", numbers[-4:], f"{right} are right; you guessed "
      f"{my_guess}")
race

# %% [markdown]
# Two accesses to the same element, at least one of them a write, by two threads, and nothing that orders them: a **data race**.
#
# <details class="outcome"><summary>What came out</summary>
#
# In the simulator the first half of the threads read elements that had not been written yet; shared memory begins as NaN there, so that this shows. On a GPU it holds old numbers, and the 32 threads are one warp, mostly in step: the result would often be right. It is not promised, since lanes may run independently.
#
# </details>
#
# The finding offers two remedies: `cuda.syncthreads()` orders the accesses of a whole block; `cuda.syncwarp()` those of one warp.
#
# A race is a missing order, not a wrong result. So the simulator looks for the order, among the accesses of this run; it cannot judge lines that the run does not reach. (Bank conflicts: lesson 10.) Start the threads in another order and it finds a race again:

# %%
drawings.show("race")
if cuda.is_simulated:
    for seed in (1, 2):
        with cuda.settings(shuffle=True, seed=seed):
            found = cuda.observe(reverse_with_a_race, 1, 32,
                                 np.arange(32, dtype="float32")).findings
        print([finding.kind for finding in found])

# %% [markdown]
# Now the barrier, in the right place.

# %%
@cuda.jit
def reverse(x):
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    x[i] = part[31 - i]


numbers = np.arange(32, dtype="float32")
fixed = cuda.observe(reverse, 1, 32, numbers)
print(numbers[:4], "…", numbers[-4:])
print("findings:", [finding.kind for finding in fixed.findings])

# %% [markdown]
# ### Exercise: fix the race
#
# <!-- exercise: fix_the_race -->
#
# Somebody's kernel smooths numbers in a ring, step after step. It needs two barriers. Where?
#
# ### Exercise: a transpose with both sides coalesced
#
# <!-- exercise: transpose_coalesced -->
#
# Section 3's way out. The check counts sectors: no more than rows need.

# %% [markdown]
# ## 5 · Break it: a barrier that not all reach
#
# A barrier waits for *all* threads of the block. **Predict:** what happens when only half of them come?

# %%
my_guess = ...


@cuda.jit
def half_a_barrier(x):
    i = cuda.threadIdx.x
    if i < 16:
        cuda.syncthreads()
    x[i] = i


try:
    if cuda.is_simulated:
        half_a_barrier[1, 32](np.zeros(32, "float32"))
    else:
        print(skipped)
except RuntimeError as fault:
    print(fault)
print("you guessed:", my_guess)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The manual forbids it: such code is likely to hang or to have unintended side effects. On a recent GPU this kernel may even pass, since a barrier there waits only for threads that have not ended. The simulator counts the threads that have reached the barrier.
#
# </details>
#
# Change the condition to `i < 32`, run the cell again, and the finding is gone.
#
# ## Recap
#
# **Two kernels that read and write the same numbers may ask for different numbers of sectors, here 1.9 times as many: what counts is how many the lanes of a warp touch in one request.** How many of them reach memory itself depends on the caches, too.

# %% [folded]
# Print a table, what this run says of the claim, your progress.
rows = [
    ("a thread's place", "cuda.grid(1), threadIdx, blockIdx"),
    ("more threads than elements", "if i < x.size"),
    ("more elements than threads", "range(grid(1), n, gridsize(1))"),
    ("price of an access", "sectors of 32 bytes a warp touches"),
    ("order within a block", "cuda.syncthreads(), by all threads"),
]
for question, answer in rows:
    print(f"{question:30}{answer}")

if naive.counts:
    counts = naive.counts
    straight, exchanged = (count.sectors for count in maps)
    factor = counts.global_store_sectors / counts.global_load_sectors
    says = "holds" if straight == exchanged else "does NOT hold"
    print(f"\nclaim: {says}; to read and write, add_bias asks for")
    print(f"{straight} sectors, add_bias_exchanged {exchanged}; the transpose "
          "reads and writes")
    print(f"{counts.global_loads} numbers each, and its writes need {factor:g} "
          "times the sectors of its reads")
else:
    print("\nclaim: not counted on a GPU; in the simulator it does NOT hold: "
          "288 sectors against 544")
rnnlab.progress("09_cuda_first_kernels")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>33 elements, blocks of 32 threads: how many blocks, and how many idle threads?</summary>2 blocks; 31 threads of the second one.</details>
#
# <details><summary>A warp loads 32 neighbouring float64. How many sectors?</summary>8: 256 bytes, if they begin at a sector.</details>
#
# <details><summary>All 32 lanes load the same element. How many sectors?</summary>1.</details>
#
# <details><summary>Why is a right result no proof that there is no race?</summary>Another order of the threads, which a GPU may choose, can give another result.</details>
#
# <details><summary>May a barrier stand in an if?</summary>Only if all threads of the block take the same branch.</details>

# %% [markdown]
# ## Sources
#
# - NVIDIA, *CUDA C++ Programming Guide*: thread hierarchy, warps, 32-byte sectors of global memory, barriers and what is undefined about them.
# - Numba, *CUDA Python Reference*: the words that kernels here are written in. [github.com/NVIDIA/numba-cuda](https://github.com/NVIDIA/numba-cuda)
# - M. Harris, *An Efficient Matrix Transpose in CUDA C/C++*, 2013: the transpose through shared memory.
#
# Next: [10 · Shared memory](10_cuda_shared_memory.ipynb)

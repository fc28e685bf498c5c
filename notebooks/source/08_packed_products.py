# %% [markdown]
# # 08 · A product in Python
#
# **Claim to test: a product that Python compiles while it runs, without C or assembly, cannot beat the library that NumPy calls.**
#
# You will find out what that library does for a large product, which part of it is wasted on the product of one step, and how to leave that part out. The recap prints the verdict for your machine.
#
# - **Time:** 135 minutes, exercises included.
# - **You need:** [07 · Threads](07_parallel_cpu.ipynb), and Numba, which `make lab` installs. No GPU.
# - **Afterwards you can** pack weights into panels, compute the best tile for a number of registers, count what each cache loads for an order of calls, and decide how two cores share a step.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("packed_panels")

# %% [markdown]
# ## 1 · What the library reaches
#
# NumPy hands a product to a **BLAS**, a library that was written for large matrices, in assembly language. Its rate for 1 024 by 1 024 by 1 024 serves as the roof of this lesson.
#
# A step's product is smaller: the states of a minibatch [B,H] times weights [H,N], with N = 4H for an LSTM. **Predict:** what part of that rate does NumPy reach for 64 sequences and 64 units? And for 512 units?

# %%
from functools import partial

import numpy as np

from rnncourse.lab.turns import disturbance, take_turns

rng = np.random.default_rng(0)


def repeats(B, K, N):
    """How often a product is repeated in a timed run: to about 400 million operations, at least once."""
    return max(1, 200_000_000 // (B * K * N))


def by_numpy(B, K, N):
    """NumPy's product of [B,K] and [K,N], repeated, ready to run."""
    a, weights, c = rng.random((B, K), "float32"), rng.random((K, N), "float32"), np.empty((B, N), "float32")
    return lambda: [np.matmul(a, weights, out=c) for _ in range(repeats(B, K, N))]


def rate(shape, timing):
    """GFLOP/s of a product that was repeated so often."""
    return 2e-9 * np.prod(shape) * repeats(*shape) / timing.median


# %%
my_guess = {64: 1.0, 512: 1.0}
shapes = [(64, H, H) for H in (64, 128, 256, 512, 1024)] + [(1024, 1024, 1024)]
times = take_turns({shape: by_numpy(*shape) for shape in shapes}, 7)
rates = {shape: rate(shape, timing) for shape, timing in times.items()}
roof = rates[shapes[-1]]
print(disturbance({str(shape): timing for shape, timing in times.items()}))
for shape in shapes:
    print(f"{' × '.join(map(str, shape)):18} {rates[shape]:6.1f} GFLOP/s, {rates[shape] / roof:4.0%} of the last one")
print("you guessed", ", ".join(f"{part:.0%} for {H} units" for H, part in my_guess.items()))

# %% [markdown]
# Whatever is missing from 100 % is not arithmetic, and a line above 100 % says that the large product waited for memory, or that something disturbed it. In each call the library chooses a method for the shape, wakes its threads, copies both factors into an order of its own, multiplies, and waits until all threads have finished.
#
# The copying is called **packing**. Packing the weights moves K·N numbers, and the product has B·K·N multiply-adds: with many rows that is a small addition, with few rows it is not. A recurrent network repeats it in every step, for the same weights.
#
# ## 2 · Packed once
#
# A **panel** holds some neighbouring columns of the weights, term after term: the order in which they will be read. "Term" here means one k of the sum over k.
#
# The function below packs [K,N] into panels [P,K,columns]. **Predict:** packing takes what part of NumPy's time for a product with 4 rows, and with 64?

# %%
from numba import njit

my_guess = {4: 0.1, 64: 0.1}
columns = 32


@njit(nogil=True)
def pack(weights, panels):
    for p in range(panels.shape[0]):
        for k in range(panels.shape[1]):
            for j in range(panels.shape[2]):
                panels[p, k, j] = weights[k, p * panels.shape[2] + j]


# %%
K = N = 512
weights, panels = rng.random((K, N), "float32"), np.empty((N // columns, K, columns), "float32")
ways = {f"{B} rows": by_numpy(B, K, N) for B in my_guess}
times = take_turns(ways | {"packing": lambda: [pack(weights, panels) for _ in range(20)]}, 9, settled=True)
print(disturbance(times))
for B in my_guess:
    product_seconds = times[f"{B} rows"].median / repeats(B, K, N)
    part = times["packing"].median / 20 / product_seconds
    print(f"packing takes {100 * part:.2g} % of a product with {B} rows; you guessed {my_guess[B]:.0%}")

# %% [markdown]
# The library packs in a faster way than this loop does, but it packs in every call. A network of 100 steps needs the panels once. That is the idea of this lesson, and of the persistent kernels at its end: what does not change is laid out once, where it will be needed.
#
# ### Exercise: panels for gates
#
# <!-- exercise: pack_panels -->
#
# In [work/08_packed_products.ipynb](../work/08_packed_products.ipynb). The lesson's loop handles neither gates nor edges.

# %% [markdown]
# ## 3 · A tile in registers
#
# A core computes with **vector registers**, each of several numbers. A fused multiply-add (**FMA**) multiplies two vectors and adds them to a third one.
#
# Two things can keep a core from its best rate. Operands must be loaded, and the core begins only so many loads in a cycle. And a sum must be ready: the result of an FMA can be used again after some cycles only, its **latency**. If two FMAs begin in each cycle and a result takes four, eight sums must be under way at any time.

# %% [markdown]
# The answer to both is a **tile**: r rows of states times v vectors of weights, with all r·v sums in registers. For one term it loads v vectors of the panel and r numbers of the states, and feeds r·v FMAs with them. If there are more sums than registers, the compiler **spills** some: it stores and loads them in every term.
#
# **Count** before you look: which tile has the fewest loads for each FMA and fits into 16 registers? And into 32? Move the sliders; every tile needs a register for each sum and each vector of the panel, and one more.

# %%
drawings.show("register_tile")

# %%
from rnnlab.kernels.packed.host import CORE, VECTOR_BYTES
from rnncourse.views.tile_view import explore_tile

print(f"Numba compiles for vectors of {VECTOR_BYTES // 4} float32 here. The model assumes {CORE.registers} registers, "
      f"{CORE.fmas_per_cycle} FMAs and {CORE.loads_per_cycle} loads in a cycle, and a latency of {CORE.fma_latency} cycles")
explore_tile(registers=CORE.registers)

# %% [markdown]
# The assumed figures are those of many current cores, and yours may have others. Registers, loads and latency give the same answer most of the time: as many sums as fit, in a tile that is neither too high nor too wide. But a minibatch has a number of rows, too, and 17 rows are no multiple of 6.
#
# ### Exercise: the best tile
#
# <!-- exercise: choose_tile -->
#
# It is graded by counting cycles and loads.
#
# ## 4 · Measured tiles
#
# Python has no word for "these sums stay in registers", and Numba's loops do not find such a tile by themselves. But Numba lets a Python function emit instructions of **LLVM**, the compiler underneath. Sums are then values that pass from one turn of the loop to the next (`phi`), not places in memory.
#
# Below is one term of a tile. Find the r + v loads, and the r·v multiply-adds.

# %%
from rnnlab.kernels.packed import kernel

rnnlab.show_source(kernel._emit_step)

# %% [markdown]
# Now ten tiles, each compiled by itself, on one core. Weights and states lie in the nearest cache, so only registers, loads and latency count. **Predict** the fastest one, and the first one that spills.
#
# "Stack" counts the instructions of the inner loop that read or write the stack, which is where spilled sums go.

# %%
from rnnlab.kernels.packed.tiles import Tile, predicted_rate
from rnncourse.lab.tile_rates import measure_tiles

my_guess = {"fastest": (4, 2), "first that spills": (16, 4)}
tiles = [(1, 1), (4, 1), (4, 2), (6, 2), (4, 3), (8, 2), (12, 2), (5, 5), (8, 4), (16, 4)]
measured, timings = measure_tiles(tiles)
peak, best = max((rate.gflops, tile) for tile, rate in measured.items())
print("rows × vectors   registers   predicted   measured                stack")
for tile, (gflops, loop) in measured.items():
    print(f"{tile.rows:5} × {tile.vectors} {tile.registers:15} {predicted_rate(tile, CORE):13.0%} "
          f"{gflops / peak:10.0%}, {gflops:5.1f} GFLOP/s {loop.stack:4}")
print(f"fastest: {best.rows} × {best.vectors}; you guessed {my_guess}. {disturbance(timings)}")

# %% [markdown]
# Measured rates are parts of the rate of the fastest tile here. The prediction for a tile whose registers are too few is no prediction of its time: the model counts the accesses to the stack, but not how late they come back. Compare the columns from the top. Small tiles should wait for their sums. Where the registers are too few, the last column counts the accesses to the stack. If the measured rate there is far below the predicted one, this is why: the model counts a spilled sum as two more accesses, but it also comes back late, and the next term waits for it.
#
# **Look at** the same numbers in the picture, and find the tile with the largest gap between prediction and measurement.

# %%
explore_tile({tile: rate.gflops for tile, rate in measured.items()}, CORE.registers)

# %% [markdown]
# **Break it:** how slow can a tile become? Change the rows and the vectors below; the more sums spill, the more the loop resembles one that keeps its sums in memory.

# %%
my_guess, broken = 0.5, Tile(16, 6)
spilled, timings = measure_tiles([best, broken], rounds=5)
share = spilled[broken].gflops / spilled[best].gflops
loop = spilled[broken].loop
print(f"{broken.rows} × {broken.vectors}: {share:.0%} of the best rate; you guessed {my_guess:.0%}")
print(f"{loop.stack} accesses to the stack for {loop.multiplies} multiply-adds. {disturbance(timings)}")

# %% [markdown]
# ## 5 · From a tile to a product
#
# A product is a loop over panels, and in each panel a loop over tiles of rows. `multiply_rows` contains the loop over tiles; the function below contains the loop over panels. `multiply_rows` also cuts the terms into pieces, so that a piece of a panel stays in the nearest cache while all rows use it; you will write this cut in the exercise. The function below computes the whole product, apart from edges: rows `low` to `high` of a, and panels `first` to `last`.
#
# **Predict:** is it faster than NumPy for 64 sequences and 512 units, with one core each?

# %%
from rnnlab.kernels.compiled.threads import single_threaded_blas
from rnnlab.kernels.packed.products import multiply_rows

my_guess = "NumPy"


@njit(nogil=True)
def product(a, panels, c, rows, share):
    """c [B,N] = a [B,K] times panels [P,K,columns], for a share of the rows and of the panels."""
    (_, K), N, columns = a.shape, c.shape[1], panels.shape[2]
    (low, high), (first, last) = rows, share
    flat_a, flat_c, flat_panels = a.reshape(-1), c.reshape(-1), panels.reshape(-1)
    for p in range(first, last):
        at = low * N + p * columns
        multiply_rows(high - low, flat_a, low * K, K, flat_panels, p * K * columns, K, flat_c, at, N, False)


# %%
from rnnlab.kernels.packed.panels import panel_width


def operands(B, K, N):
    """(a [B,K], weights [K,N], their panels, room for the product [B,N])"""
    a, weights = rng.random((B, K), "float32"), rng.random((K, N), "float32")
    panels = np.empty((N // panel_width("float32"), K, panel_width("float32")), "float32")
    pack(weights, panels)
    return a, weights, panels, np.empty((B, N), "float32")


shape = (64, 512, 512)
a, weights, panels, c = operands(*shape)
all_rows, all_panels = (0, len(a)), (0, len(panels))
ours = lambda: [product(a, panels, c, all_rows, all_panels) for _ in range(repeats(*shape))]
with single_threaded_blas():
    times = take_turns({"NumPy": by_numpy(*shape), "ours": ours}, 9)
print("same product:", np.allclose(c, a @ weights, rtol=1e-4))
for name, timing in times.items():
    print(f"{name:6} {rate(shape, timing):6.1f} GFLOP/s; the best tile reached {peak:.1f}")
print("you guessed", my_guess, disturbance(times))

# %% [markdown]
# Between the product and its tile lie the caches; yours are printed below. Weights of 512 by 2 048 are more than the first one holds, and perhaps more than the second. In which order should the tiles come? If the rows are the outer loop, every tile of rows reads all weights again.
#
# **Predict:** how many bytes of weights does each order read, from beyond the nearest cache, for 64 rows?

# %%
from rnnlab.kernels.packed.host import ROWS
from rnnlab.resources import caches

print({name: f"{size // 1024} KiB" for name, size in caches().items()})
my_guess = {"panel by panel": 4, "tile by tile": 4}  # MB
shape = B, K, N = 64, 512, 2048
reads = {"panel by panel": 1, "tile by tile": -(-B // ROWS)}
a, weights, panels, c = operands(*shape)
all_panels, tiles_of_rows = (0, len(panels)), [(r, min(r + ROWS, B)) for r in range(0, B, ROWS)]
ways = {"panel by panel": lambda: product(a, panels, c, (0, B), all_panels),
        "tile by tile": lambda: [product(a, panels, c, rows, all_panels) for rows in tiles_of_rows]}
times = take_turns(ways, 15)
print(disturbance(times))
for way, timing in times.items():
    print(f"{way}: by count {4e-6 * reads[way] * K * N:5.1f} MB of weights; you guessed {my_guess[way]}; "
          f"{2e-9 * B * K * N / timing.median:6.1f} GFLOP/s")
drawings.show("panels_in_caches")

# %% [markdown]
# If the second rate is lower, the loads are the reason; if both are alike, your second or third cache delivers fast enough. The count of the first order holds only because `multiply_rows` cuts the terms: a whole panel of 512 terms fills most of a nearest cache of 32 or 48 KiB, or all of it, and each tile of rows would load it again.
#
# ### Exercise: the order of the calls
#
# <!-- exercise: tiled_product -->
#
# It is graded by what each level loads.

# %% [markdown]
# ## 6 · One call for a sequence
#
# A step with few units is over soon, and a call from Python takes time of its own, whatever the size. In a recurrent network T such products follow each other, so a single call is enough: it loops over the steps and stays in compiled code.
#
# **Predict:** 100 steps in one call, in place of 100 calls: how many times as fast, at 64 units and at 512?

# %%
from rnnlab.kernels.packed.barrier import wait

my_guess = {64: 1.0, 512: 1.0}


@njit(nogil=True)
def steps(T, a, panels, c, rows, share, arrivals, members):
    """T products; after each one all members of a team wait for each other."""
    for _ in range(T):
        product(a, panels, c, rows, share)
        wait(arrivals, members)


alone = np.zeros(1, "int64")
for H in my_guess:
    a, weights, panels, c = operands(64, H, H)
    work = a, panels, c, (0, 64), (0, len(panels))
    ways = {"100 calls": lambda: [product(*work) for _ in range(100)], "1 call": lambda: steps(100, *work, alone, 1)}
    times = take_turns(ways, 9)
    factor = times["100 calls"].median / times["1 call"].median
    print(f"{H:3} units: {factor:.2f} times as fast in one call; you guessed {my_guess[H]} {disturbance(times)}")

# %% [markdown]
# What a call costs is the same at both sizes, so it should show at 64 units and hardly at 512. NumPy cannot leave it out: each of its products is a call, checks its arguments and its result, and wakes its threads.
#
# ## 7 · Two cores
#
# A step can be shared in two ways. By **minibatch**: each core has some rows and all weights, and no core waits. By **units**: each core has all rows and some panels, and all wait for each other after each step (`wait` above), because the next step needs all units.
#
# **Predict** which way is faster for 64 sequences, and which for 1.

# %%
from rnnlab.kernels.compiled.threads import shares
from rnnlab.kernels.packed import team

my_guess = {64: "minibatch", 1: "minibatch"}
cores = team.count()


def shared(T, way, a, panels, c):
    """T steps by a team of one thread a core, each with its share."""
    rows, parts = [(0, len(a))], [(0, len(panels))]
    if way == "minibatch":
        rows = shares(len(a), cores)
    else:
        parts = shares(len(panels), cores)
    members, waiting = max(len(rows), len(parts)), len(parts)
    arrivals = np.zeros(1, "int64")
    task = lambda n: steps(T, a, panels, c, rows[n % len(rows)], parts[n % len(parts)], arrivals, waiting)
    team.run(task, members)


for B in my_guess:
    a, weights, panels, c = operands(B, 512, 2048)
    times = take_turns({way: lambda way=way: shared(10, way, a, panels, c) for way in ("minibatch", "units")}, 9)
    for way, timing in times.items():
        print(f"B = {B:2}, by {way:9}: {1e5 * timing.median:6.0f} µs a step")
    print(f"you guessed {my_guess[B]}. {disturbance(times)}")

# %% [markdown]
# With one sequence only the units can be shared, and what counts is reading the weights: two cores have two caches. If the units are slower even there, the barriers cost more than half of that reading. With many, both ways do the same arithmetic, and the barriers decide, together with the question whose weights still fit into a core's own cache. `team` binds each thread to a core: two threads of a barrier that take turns on one core would wait for each other all the time.
#
# ### Exercise: units or minibatch
#
# <!-- exercise: split_work -->

# %% [markdown]
# ## 8 · Beside NumPy
#
# All parts together: packed once, tiles in registers, one call for all steps, one thread a core. NumPy has its own threads and the same number of cores. All are measured in turns, and each turn waits until all threads are at rest (`settled`): NumPy's spin for a while after a product (lesson 07), and would keep a core from ours.
#
# **Predict:** from which size on is NumPy ahead?

# %%
my_guess = "512"
sizes, curves, disturbed = (64, 128, 256, 512, 1024), {"NumPy": [], "ours": []}, {}
for H in sizes:
    shape = 64, H, H
    a, weights, panels, c = operands(*shape)
    ours = partial(shared, repeats(*shape), "minibatch", a, panels, c)
    times = take_turns({"NumPy": by_numpy(*shape), "ours": ours}, 9, settled=True)
    disturbed[H] = disturbance({f"{name}, {H} units": times[name] for name in curves})
    for name, curve in curves.items():
        curve.append(rate(shape, times[name]))
    print(f"64 × {H} × {H}: NumPy {curves['NumPy'][-1]:6.1f}, ours {curves['ours'][-1]:6.1f} GFLOP/s")
noisy = ", ".join(str(H) for H in sizes if disturbed[H])
if noisy:
    print(f"something else was using the cores at {noisy} units: run again")
print("you guessed", my_guess)

# %%
from rnncourse.figures.picture import canvas, show

figure, axis = canvas(height=3.2)
for name, curve in curves.items():
    axis.plot(sizes, curve, "o-", label=name)
axis.axhline(roof, color="black", linestyle=":", label="NumPy, 1024 × 1024 × 1024")
axis.axhline(peak * cores, color="black", linestyle="--", label="the fastest tile, on all cores")
axis.set(xscale="log", xlabel="units H, for 64 sequences", ylabel="GFLOP/s", ylim=(0, None))
axis.set_xticks(sizes, sizes, minor=False)
axis.minorticks_off()
axis.legend(fontsize=8)
factors = [ours / theirs for ours, theirs in zip(curves["ours"], curves["NumPy"], strict=True)]
words = ", ".join(f"{factor:.2f} at {H}" for factor, H in zip(factors, sizes, strict=True))
show(figure, f"Our product's rate over NumPy's, for 64 sequences: {words} units. "
     f"Dotted: NumPy's large product, {roof:.0f} GFLOP/s; dashed: the fastest tile on all cores, {peak * cores:.0f}.")
print("ours over NumPy:", words)

# %% [markdown]
# Above 1, the product compiled here is ahead; below 1, the library is. If it is so at few units only, the library's fixed costs were the reason: its calls, its packing, its threads. If it stays ahead at 1 024 units, its tile or its order suits your processor better than the library's does. If a point was flagged, another program used the cores: run the cell again before you believe it.
#
# ## 9 · In a network
#
# The ladder's rung `packed_weights` is built from these parts, with edges, gates, gradients and all cells. It packs once a pass, and computes the gates while a tile is still near. Its first call compiles for some seconds. **Predict:** by what factor is its forward pass faster than that of `numba_parallel`, which leaves its products to a BLAS?

# %%
from rnnlab.ladder import numba_parallel, packed_weights
from rnnlab.network import Network

my_guess = 1.5
network = Network.create("lstm", 256, 256, seed=0)
x = rng.normal(size=(20, 32, 256)).astype("float32")
rungs = {"numba_parallel": numba_parallel, "packed_weights": packed_weights}
times = take_turns({name: partial(rung.forward, network, x, None) for name, rung in rungs.items()}, 9, settled=True)
for name, timing in times.items():
    print(f"{name:15} {1e3 * timing.median:7.2f} ms")
slow, fast = (times[name].median for name in rungs)
print(f"factor {slow / fast:.2f}; you guessed {my_guess}. {disturbance(times)}")
outputs = [rung.forward(network, x, None)[0] for rung in rungs.values()]
print("same outputs:", np.allclose(*outputs, atol=1e-5))

# %% [markdown]
# One step of one sequence is different: it uses each weight once, so packing would cost more than the step. `rnnlab.Inference(network).step(x, state)` therefore prepares nothing. It reads the rows of PyTorch's layout where they lie, and a parameter that you change counts in the next step. `rnnlab.fastest(network, x)` measures every rung on your machine and prints the reasons for its choice.
#
# What stays is the bound of the arithmetic: no order of loops computes a multiply-add twice as fast as the core begins it. [docs/performance.md](../docs/performance.md) compares the training step of this rung with PyTorch, JAX and PyTensor, shape by shape, and says what bounds each of them.
#
# ## Recap

# %%
rows = [
    ("a BLAS, in each call", "chooses a method, wakes threads, packs, multiplies, waits"),
    ("panel", "some columns of the weights, term after term"),
    ("tile", "r rows by v vectors of sums in registers"),
    ("registers of a tile", "r·v sums, v vectors of weights, 1 number of the states"),
    ("loads for each multiply-add", "(r + v) / (r·v)"),
    ("order of the calls", "a piece of a panel stays near until all rows have used it"),
    ("one call for a sequence", "nothing is checked, packed or started between two steps"),
    ("two cores", "minibatch without a barrier, or units with a barrier a step"),
]
for question, answer in rows:
    print(f"{question:30}{answer}")
steady = {H: factor for H, factor in zip(sizes, factors, strict=True) if not disturbed[H]}
ahead = [f"{factor:.2f} at {H}" for H, factor in steady.items() if factor > 1.05]
verdict = "undecided, every size was disturbed: run section 8 again" if not steady else (
    f"does NOT hold here; the compiled product over NumPy's: {', '.join(ahead)} units" if ahead else
    f"holds here, at {', '.join(map(str, steady))} units")
print(f"\nclaim: {verdict}")
rnnlab.progress("packed_products")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does packing cost a library little for a large product, and much for a step?</summary>It moves K·N numbers, whatever the number of rows; the arithmetic is B·K·N.</details>
#
# <details><summary>How many registers does a tile of 6 rows by 2 vectors need?</summary>15: 12 sums, 2 vectors of weights, 1 number.</details>
#
# <details><summary>Two FMAs begin in a cycle, each takes 5 cycles. How many sums must be under way?</summary>10.</details>
#
# <details><summary>Which of the three arrays should be fetched once, and what follows for the loops?</summary>The weights: the panels are the outer loop, the rows the inner one.</details>
#
# <details><summary>One sequence, two cores: why share the units?</summary>There is nothing else to share, and each core then reads half of the weights.</details>

# %% [markdown]
# ## Sources
#
# - K. Goto and R. van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, ACM TOMS 34(3), 2008: packing, panels, and which piece lies in which cache.
# - F. G. Van Zee and R. van de Geijn, *BLIS: A Framework for Rapidly Instantiating BLAS Functionality*, ACM TOMS 41(3), 2015: the tile as the only part that depends on the processor.
# - T. M. Low et al., *Analytical Modeling Is Enough for High-Performance BLIS*, ACM TOMS 43(2), 2016: the tile computed from registers and latency.
# - A. Fog, *Instruction tables*, agner.org: latencies and rates of FMA and loads; the model's figures are round ones, not those of one processor.
# - LLVM's language reference: `phi`, and the intrinsic `llvm.fma`.
#
# Next: [09 · First kernels](09_cuda_first_kernels.ipynb)

# Course map: a product that Python compiles beside the BLAS: weights packed once, a tile's instructions, one call a sequence

# %% [markdown]
# # 08 · Packed products
#
# **Claim to test: no product that Python compiles while it runs, without C or assembly, is faster than the library that NumPy calls. Is that so?**
#
# You will begin with three plain loops and make the product of one step faster, one idea at a time.
#
# - **Time:** 125 minutes, exercises included.
# - **You need:** [07 · Threads](07_parallel_cpu.ipynb), and Numba, which `make lab` installs. No GPU.
# - **Afterwards you can** compute the best tile for a number of registers, write its instructions, count what each cache loads for an order of calls, and say what every step of a fast product is worth.

# %%
import rnnlab
rnnlab.banner()

# %%
from rnncourse import drawings

drawings.show("same_weights_every_step")

# %% [markdown]
# ## 1 · Three loops beside a library
#
# NumPy hands a product to a **BLAS**, a library for large matrices, whose innermost loops are written in assembly or C. A step's product is smaller: the states of a minibatch [B,K] times weights [K,N]. Here B is 64; K and N are 128 in one column of the table and 512 in the other.
#
# `climb` below measures a way of multiplying in turns with NumPy, on one core each.
#
# **Predict:** what part of the library's rate do three plain loops reach, compiled by Numba, at 512 units?

# %%
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from rnncourse.lab.turns import disturbance, take_turns

rng = np.random.default_rng(0)
B, SIZES, table, disturbed = 64, (128, 512), {}, {}
prepared, numpy_with = {}, {}  # its way; NumPy's threads in words


def turns_of(H, threads):
    """How often a timed run repeats a product: 100 million operations or more;
    ten times as many on several cores, which must be woken first."""
    return max(1, 1_000_000 // (H * H)) * (10 if threads > 1 else 1)


def measure(prepare, H, threads, numpy_threads):
    """Times at H units of prepare(turns, a, weights, c)() and of NumPy."""
    a, weights, c = (rng.random(shape, "float32")
                     for shape in ((B, H), (H, H), (B, H)))
    turns = turns_of(H, threads)
    ways = {"own": prepare(turns, a, weights, c),
            "NumPy": repeated(np.matmul, turns, a, weights, c)}
    with threadpool_limits(numpy_threads):
        times = take_turns(ways, 9, settled=threads > 1)
    ways["own"]()
    assert np.allclose(c, a @ weights, rtol=1e-4), "another product"
    return times

# %%
def repeated(product, turns, *work):
    """product(*work), ready to run so often."""
    return lambda: [product(*work) for _ in range(turns)]


def climb(step, prepare, threads=1):
    """A row of the table: a product's rate, its part of NumPy's better rate."""
    table[step], disturbed[step], prepared[step] = {}, "", prepare
    for H in SIZES:
        beside = []
        for n, words in {threads: "all threads", 1: "one thread"}.items():
            times = measure(prepare, H, threads, n)
            disturbed[step] = disturbed[step] or disturbance(times)
            beside.append((times["NumPy"].median, times["own"].median, words))
        numpy, _, numpy_with[step, H] = min(beside)  # NumPy's better time
        own = np.mean([own for _, own, _ in beside])
        rate = 2e-9 * B * H * H * turns_of(H, threads) / own
        table[step][H] = rate, numpy / own
    show_table()


def show_table():
    """All steps so far: GFLOP/s and the part of NumPy's rate, at both sizes."""
    heads = (f"{f'{H} units':>17}" for H in SIZES)
    print(f"{'GFLOP/s, part of NumPy':26}" + "".join(heads))
    for step, row in table.items():
        cells = (f"{gflops:10.3g}{part:7.0%}" for gflops, part in row.values())
        note = " disturbed" if disturbed[step] else ""
        print(f"{step:26}" + "".join(cells), note)


# %% needs a compiler
from numba import njit

my_guess = ...


@njit(nogil=True)
def three_loops(a, weights, c):
    for b in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = a[b, 0] * weights[0, j]
            for k in range(1, a.shape[1]):
                total += a[b, k] * weights[k, j]
            c[b, j] = total


@njit(nogil=True, fastmath=True)
def j_innermost(a, weights, c):
    c[:] = 0
    for b in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[b, j] += a[b, k] * weights[k, j]


for product in (three_loops, j_innermost):
    climb(product.__name__.replace("_", " "), partial(repeated, product))
print(f"at 512 units {table['three loops'][512][1]:.1%} of NumPy's rate; you "
      f"guessed {my_guess:.0%}. {disturbed['three loops']}")
drawings.show("cache_lines")

# %% [markdown]
# The second number of a pair is the part of NumPy's rate, measured in the same turns. Where a row says *disturbed*, another program used the cores: run it again. Memory is read in **cache lines**, often of 64 bytes or 16 float32.
#
# <details class="outcome"><summary>What came out</summary>
#
# The first row's part is small for three reasons. The loop over k goes down a column of weights, so it reads a cache line for each number. All k add to one sum, so each addition waits some cycles for the one before it. And for both reasons no vectors are used. The second row mends all three: with j innermost the loop goes along rows, and its sums are independent. (`fastmath` also allows fused multiply-adds.)
#
# </details>
#
# In each call the library chooses a method for the shape, usually copies both factors into an order of its own, and multiplies. The copying is called **packing**. It moves K·N weights, and the product has B·K·N multiply-adds.
#
# ## 2 · Packed once
#
# **Predict:** how long does a plain loop take to pack the weights, as a part of NumPy's time for a product with 4 rows, and with 64 rows?

# %% needs a compiler
my_guess = {4: ..., 64: ...}
COLUMNS = 32


@njit(nogil=True)
def pack(weights, panels):
    """panels [P,K,columns] from weights [K,N]: the columns of a panel lie
    together, term after term."""
    for p in range(panels.shape[0]):
        for k in range(panels.shape[1]):
            for j in range(panels.shape[2]):
                panels[p, k, j] = weights[k, p * panels.shape[2] + j]


weights = rng.random((512, 512), "float32")
panels = np.empty((512 // COLUMNS, 512, COLUMNS), "float32")
rows = {B: rng.random((B, 512), "float32") for B in my_guess}
ways = {f"{B} rows": repeated(np.matmul, 20, a, weights, a.copy())
        for B, a in rows.items()}
with threadpool_limits(1):
    packing = lambda: [pack(weights, panels) for _ in range(20)]
    times = take_turns(ways | {"packing": packing}, 9)

# %% [folded] needs a compiler
# Print what packing costs beside a product.
print(disturbance(times))
for B_of_product, guess in my_guess.items():
    part = times["packing"].median / times[f"{B_of_product} rows"].median
    print(f"packing takes {part:.2g} times as long as a product with "
          f"{B_of_product} rows; you guessed {guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# Packing costs the same for any number of rows, so its share falls as the rows grow.
#
# </details>
#
# A recurrent network multiplies by the same weights in every step, so it needs to pack **once**. That is the idea of this lesson, and of the persistent kernels at the end of the course: what does not change is laid out once, where it will be needed.
#
# A **panel** holds some neighbouring columns of the weights, term after term, as they will be read. (A *term* is one k of the sum over k.) The loop below goes through panels, again with j innermost. **Predict:** what part of the library's rate does it reach at 512 units?

# %% needs a compiler
drawings.show("packed_panels")

my_guess = ...

@njit(nogil=True, fastmath=True)
def panel_by_panel(a, panels, c):
    c[:] = 0
    for p in range(panels.shape[0]):
        first = p * panels.shape[2]
        for b in range(a.shape[0]):
            sums = c[b, first : first + panels.shape[2]]
            for k in range(a.shape[1]):
                for j in range(sums.size):
                    sums[j] += a[b, k] * panels[p, k, j]


# %% needs a compiler
from rnnlab.kernels.packed.panels import panel_width

width = panel_width("float32")


def packed(weights):
    """Panels [P,K,width] of weights [K,N], packed once."""
    panels = np.empty((weights.shape[1] // width, weights.shape[0], width),
                      "float32")
    pack(weights, panels)
    return panels


def with_panels(product):
    """For `climb`: product(a, panels, c), called so often from Python; packing
    is not timed."""
    def prepare(turns, a, weights, c):
        panels = packed(weights)
        return lambda: [product(a, panels, c) for _ in range(turns)]

    return prepare


climb("packed once", with_panels(panel_by_panel))
print(f"you guessed {my_guess:.0%}. {disturbed['packed once']}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# The loop now reads the weights as one stream. That alone does not help, and can make a product slower: the innermost loop is as short as a panel is wide. And each multiply-add loads a vector of the panel and one of sums, and stores the sums; the next term waits for that.
#
# </details>
#
# ## 3 · A tile in registers
#
# A core computes with **vector registers**. A fused multiply-add (**FMA**) multiplies two vectors and adds the product to a third. A core begins few loads in a cycle, often two. And an FMA's result can be used only after its **latency**: if two FMAs begin in each cycle and take four, eight sums must be under way at any time.

# %% [markdown]
# The answer to both is a **tile**: r rows of states times v vectors of weights, with all r·v sums in registers. For one term it loads v vectors of the panel and r numbers of the states, and feeds r·v FMAs with them. It needs a register for each sum and each vector, and one more for a state. If they are too few, the compiler **spills** some sums: it stores and loads them in every term.
#
# **Predict:** which tile has the fewest loads for each FMA and fits into 16 registers? And into 32? Sliders for other numbers follow.

# %%
drawings.show("register_tile")

my_guess = {16: (..., ...), 32: (..., ...)}
tiles = [(r, v) for r in range(1, 32) for v in range(1, 32)]
for registers, guess in my_guess.items():
    fitting = [(r, v) for r, v in tiles if r * v + v + 1 <= registers]
    loads = {(r, v): (r + v) / (r * v) for r, v in fitting}
    best = min(loads, key=loads.get)
    print(f"{registers} registers: {best[0]} × {best[1]}, {loads[best]:.2f} "
          f"loads for each FMA; you guessed {guess[0]} × {guess[1]}: "
          f"{loads.get(guess, 'it does not fit')}")

# %% [folded] needs a compiler
# Print what the model assumes of this processor.
from rnnlab.kernels.packed.host import CORE, VECTOR_BYTES

print(f"Numba compiles for vectors of {VECTOR_BYTES // 4} float32 here. The "
      f"model assumes {CORE.registers} registers, {CORE.fmas_per_cycle} FMAs "
      f"and {CORE.loads_per_cycle} loads in a cycle, and a latency of "
      f"{CORE.fma_latency} cycles")

# %%
from rnncourse.views.tile_view import explore_tile

explore_tile(registers=32)

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 4 × 3 in 16 registers, 5 × 5 in 32: a tile that is nearly square, because r + v is smallest then for a given r·v.
#
# </details>
#
# The assumed figures are those of many current cores; yours may have others. A minibatch need not fit the tile: 17 rows in tiles of 4 are four tiles and one row that is left over, and that row's tile has so few sums that it waits for each of them.
#
# ### Exercise: the best tile
#
# <!-- exercise: choose_tile -->
#
# In [work/08_packed_products.ipynb](../work/08_packed_products.ipynb). It is graded by counting cycles and loads.
#
# ## 4 · A tile is written
#
# Python has no word for “this sum stays in a register”, and a compiler rarely finds such a tile in three loops. So we write its instructions. Five are enough: `zero`, `load`, `spread` (a state into all lanes), `multiply_add`, `store`. `CountingCore` understands them and counts.
#
# The function below uses three registers, and computes one sum after the other. **Predict:** how many loads for a tile of 4 × 3 with 100 terms?

# %%
from rnncourse.lab.counting_core import CountingCore

my_guess = ...


def sum_by_sum(core, rows, vectors, terms):
    for r in range(rows):
        for v in range(vectors):
            core.zero(0)
            for k in range(terms):
                core.load(1, k, v)
                core.spread(2, r, k)
                core.multiply_add(0, 1, 2)
            core.store(0, r, v)


core = CountingCore(rows=4, vectors=3, terms=100, registers=3)
sum_by_sum(core, 4, 3, 100)
print("; ".join(core.listing[:5]), "…")
print(f"{core.loads} loads for {core.multiplies} multiply-adds; you guessed "
      f"{my_guess}")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# 2,400 loads: two for each of 1,200 multiply-adds, and each multiply-add waits for the one before it.
#
# </details>
#
# With 13 registers more the same tile takes 700: every vector of a term serves four rows, and every state three vectors. That function is yours to write. Your instructions are then compiled by **LLVM**, the compiler underneath Numba, and timed.
#
# ### Exercise: the instructions of a tile
#
# <!-- exercise: emit_tile -->

# %% [markdown]
# ## 5 · The cliff
#
# The course's own kernel (`rnnlab/kernels/packed/kernel.py`) emits its tiles in the same way, with a loop over terms around them. Below, twelve tiles are compiled, each by itself, on one core. Weights and states lie in the nearest cache, so only registers, loads and latency count.
#
# **Predict** the fastest tile, and what part of its rate the slowest one reaches.

# %% needs a compiler
from rnncourse.figures.picture import canvas, show
from rnncourse.lab.tile_rates import measure_tiles
from rnncourse.views.tile_view import draw_cliff, find_cliff
from rnnlab.kernels.packed.tiles import predicted_rate

my_guess = {"fastest": (..., ...), "slowest": ...}
tiles = [(1, 1), (2, 1), (4, 1), (4, 2), (4, 3), (8, 2), (8, 3), (5, 5),
         (16, 2), (12, 3), (12, 4), (16, 4)]
measured, timings = measure_tiles(tiles)
peak, best = max((rate.gflops, tile) for tile, rate in measured.items())

# %% [folded] needs a compiler
# Print and draw the rate of each tile.
print(disturbance(timings))
print("rows × vectors   registers   predicted   measured                stack")
for tile, (gflops, loop) in measured.items():
    predicted = ("spills, " * (tile.spills(CORE) > 0)
                 + f"{predicted_rate(tile, CORE):.0%}")
    print(f"{tile.rows:5} × {tile.vectors} {tile.registers:15} {predicted:>13} "
          f"{gflops / peak:10.0%}, {gflops:5.1f} GFLOP/s {loop.stack:4}")
low, slowest = min((rate.gflops, tile) for tile, rate in measured.items())
print(f"best {best.rows} × {best.vectors}, slowest {slowest.rows} × "
      f"{slowest.vectors}: {low / peak:.0%}; guess", my_guess)

rates = {tile: rate.gflops for tile, rate in measured.items()}
show(draw_cliff(rates, CORE.registers), find_cliff(rates, CORE.registers))

# %% [markdown]
# - **Left of the dashed line** each tile waits less for its sums than the one before, until FMAs begin as fast as the core can begin them. Several tiles come near that bound; the model does not explain the few percent between them. If the first three reach twice the prediction, your core probably begins one FMA of such vectors in a cycle, so that half as many sums suffice.
# - **At the line** the registers are full.
# - **Right of it** sums spill. “Stack” counts the accesses to the stack in the innermost loop: spilled sums, and what else found no register. If the rate falls there, these are the likeliest reason, though their number alone does not give the rate. (The prediction counts a load and a store for each.) If it stays high, the compiler found registers that the model does not know, or your core hides the accesses.
#
# **Break it:** how slow can a tile become? What spills is stored and loaded again; but the stack lies in the nearest cache.

# %% needs a compiler
from rnnlab.kernels.packed.tiles import Tile

my_guess = ...
broken = Tile(16, 6)
spilled, timings = measure_tiles([best, broken], rounds=5)
share, loop = (spilled[broken].gflops / spilled[best].gflops,
               spilled[broken].loop)
print(disturbance(timings), f"{broken.rows} × {broken.vectors}: {share:.0%} of "
      f"the best rate; you guessed {my_guess:.0%}")
print(f"{loop.stack} accesses to the stack for {loop.multiplies} multiply-adds")

# %% [markdown]
# ## 6 · From a tile to a product
#
# A spilled sum costs a load and a store in each term, and the nearest cache serves them: that bounds the loss.
#
# A product is a loop over panels, and in it a loop over tiles of rows. `multiply_tile` is the course's kernel: one tile, of at most `ROWS` rows. Of the many tiles with section 5's best predicted rate the course takes one with the fewest vectors, since a narrow panel wastes less at edges; then the most rows for whose addresses there are registers.
#
# **Predict:** what part of the library's rate does the product reach at 512 units?

# %% needs a compiler
from rnnlab.kernels.packed.host import ROWS, VECTORS
from rnnlab.kernels.packed.kernel import multiply_tile

my_guess = ...


def gain(before, after, H):
    """How many times as fast `after` is on one core, and the factor's range."""
    a, weights = rng.random((B, H), "float32"), rng.random((H, H), "float32")
    ways = {way: way(turns_of(H, 1), a, weights, np.empty_like(a))
            for way in (before, after)}
    with threadpool_limits(1):
        old, new = take_turns(ways, 21).values()
    low, high = (old.spread[k] / new.spread[1 - k] for k in (0, 1))
    return f"{old.median / new.median:.2f} ({low:.2f} to {high:.2f})"


@njit(nogil=True)
def tile_by_tile(a, panels, c):
    (B, K), N, width = a.shape, c.shape[1], panels.shape[2]
    flat_a, flat_panels, flat_c = a.ravel(), panels.ravel(), c.reshape(-1)
    for p in range(len(panels)):
        for r in range(0, B, ROWS):
            multiply_tile(False, min(ROWS, B - r), flat_a, r * K, K,
                          flat_panels, p * K * width, K, flat_c,
                          r * N + p * width, N, False)

print(f"a tile: {ROWS} × {VECTORS}")
climb("tiles in registers", with_panels(tile_by_tile))
print(f"you guessed {my_guess:.0%}. {disturbed['tiles in registers']}")

# %% [markdown]
# The tile changed four things at once. Sums stay in registers; a vector of weights serves all rows of the tile; more sums are under way; and no short loop begins anew for each term. The last row over the one before says what the four are worth together, not what each is worth.
#
# ## 7 · From which cache do the weights come?
#
# Every tile of rows reads its whole panel. A panel that fits into the nearest cache comes from beyond it once; one that does not fit comes again for every tile of rows, ⌈64/`ROWS`⌉ times.
#
# The remedy is to cut the terms as well. A **piece** of a panel has as many terms as fill half of the nearest cache; states and results need room, too. It stays there until all rows have used it.
#
# **Predict:** how many times as fast is a product in pieces, at 512 units and at 128?

# %% needs a compiler
from rnnlab.resources import caches

my_guess = {128: ..., 512: ...}
print("caches:", {name: f"{size // 1024} KiB"
                  for name, size in caches().items()} or "unknown")
TERMS = caches().get("L1", 32768) // 2 // (4 * width)
print(f"a panel: 128 or 512 terms of 4·{width} bytes; a piece: {TERMS}")

@njit(nogil=True)
def piece_by_piece(a, panels, c):
    (B, K), N, width = a.shape, c.shape[1], panels.shape[2]
    flat_a, flat_panels, flat_c = a.ravel(), panels.ravel(), c.reshape(-1)
    for p in range(len(panels)):
        for k in range(0, K, TERMS):
            for r in range(0, B, ROWS):
                multiply_tile(False, min(ROWS, B - r), flat_a, r * K + k, K,
                              flat_panels, (p * K + k) * width,
                              min(TERMS, K - k), flat_c, r * N + p * width, N,
                              k > 0)  # adds to c

climb("pieces of K", with_panels(piece_by_piece))
whole, cut = prepared["tiles in registers"], prepared["pieces of K"]
for H, guess in my_guess.items():
    print(f"{H} units: {gain(whole, cut, H)} times the rate of whole panels; "
          f"you guessed {guess}")
drawings.show("panels_in_caches")

# %% [markdown]
# The range in brackets comes from the quartiles of both times. Where a panel has no more terms than a piece, nothing was cut: that factor should be near 1, and how far it is off shows the noise.
#
# Where panels were cut, a factor clearly above 1 says that reading them again from beyond the nearest cache was a limit. A factor near 1 says that the next cache delivers them as fast as the multiply-adds need them; then fewer loads, which the exercise counts, save no time. Below 1, the cut costs more than it saves: each piece loads and stores the sums.
#
# The drawing shows what the order of the other loops decides. With rows outside, every tile of rows passes over **all** weights, and these seldom fit into the nearest cache. The exercise counts it.
#
# ### Exercise: the order of the calls
#
# <!-- exercise: tiled_product -->
#
# It is graded by what each level loads.

# %% [markdown]
# ## 8 · What has to be done only once?
#
# Two costs do not depend on the number of rows: packing the weights, and a call from Python. A recurrent network can pay each of them once: it packs before the first step, and its loop over the steps is compiled. NumPy's library is called in every step, and whatever it packs, it packs anew.
#
# Below, three ways are compared: pack in every step; pack once, with a call a step; pack once, with one call for all steps.
#
# **Predict:** how many times as fast is a product if it is packed once, and then if all steps are one call, at 128 units and at 512?

# %% needs a compiler
from rnnlab.kernels.packed.barrier import wait

my_guess = {128: (..., ...), 512: (..., ...)}  # packing once, one call


@njit(nogil=True)
def steps(turns, a, panels, c, arrivals, members):
    """So many products; after each one all members of a team wait for each
    other."""
    for _ in range(turns):
        piece_by_piece(a, panels, c)
        wait(arrivals, members)


def in_one_call(turns, a, weights, c):
    panels = packed(weights)
    return lambda: steps(turns, a, panels, c, np.zeros(1, "int64"), 1)


@njit(nogil=True)
def pack_and_multiply(a, weights, panels, c):
    pack(weights, panels)
    piece_by_piece(a, panels, c)


def packing_each_time(turns, a, weights, c):
    return repeated(pack_and_multiply, turns, a, weights, packed(weights), c)


# %% needs a compiler
climb("one call for all steps", in_one_call)
each_time = {}  # NumPy's time over that of packing in every step
for H, (guess, guess_of_call) in my_guess.items():
    times = measure(packing_each_time, H, 1, 1)
    each_time[H] = times["NumPy"].median / times["own"].median
    print(f"{H} units, packing once: {gain(packing_each_time, cut, H)} times "
          f"as fast; guess {guess}")
    print(f"{H} units, one call:     {gain(cut, in_one_call, H)} times as "
          f"fast; guess {guess_of_call}")
    print(f"{H} units, packing in every step: {each_time[H]:.0%} of NumPy's "
          f"rate. {disturbance(times)}")

# %% [markdown]
# A factor near 1 says that a cost is small beside such a product. With fewer rows or units it is a larger part.
#
# The lines *packing in every step* prepare nothing, like the library. The lines *packing once* say what packing costs. What is ahead of 100 % does not come from packing once: perhaps it comes from the tile, or from what the library does besides; these times do not say. (The library's packing may be faster than our plain loop.)
#
# ## 9 · What do two cores share?
#
# - By **minibatch**: each core has a part of the rows and all weights, and none waits for another.
# - By **units**: each core has all rows and a part of the panels. The next step needs all units, so after each step the cores wait for each other (`wait` above counts the arrivals).
#
# **Predict:** which way is faster for 64 sequences, and which for 1? The weights are those of an LSTM with 512 units: 2,048 columns, 4 MB. On many machines each core has a second cache of its own.

# %% needs a compiler
from rnnlab.kernels.compiled.threads import shares
from rnnlab.kernels.packed import team

my_guess = {64: ..., 1: ...}
cores = team.count()


def shared(way, turns, a, weights, c):
    """For `climb`: a thread a core, each with its share of rows or panels."""
    panels = packed(weights)
    if way == "minibatch":
        parts = [(a[low:high], panels, c[low:high])
                 for low, high in shares(len(a), cores)]
    else:
        of_c = lambda count: np.empty((len(a), width * count), "float32")
        parts = [(a, panels[low:high], of_c(high - low))
                 for low, high in shares(len(panels), cores)]
    # so many wait for each other
    members = 1 if way == "minibatch" else len(parts)
    return partial(run_team, turns, parts, members)


def run_team(turns, parts, members):
    arrivals = np.zeros(1, "int64")
    team.run(lambda n: steps(turns, *parts[n], arrivals, members), len(parts))


# %% needs a compiler
for n, guess in my_guess.items():
    a, weights, c = (rng.random(shape, "float32")
                     for shape in ((n, 512), (512, 2048), (n, 2048)))
    times = take_turns({way: shared(way, 10, a, weights, c)
                        for way in ("minibatch", "units")}, 9, settled=True)
    print(f"{n} sequences; you guessed {guess}. {disturbance(times)}")
    for way, timing in times.items():
        print(f"by {way:9}: {1e5 * timing.median:6.0f} µs a step")

# %% [markdown]
# <details class="outcome"><summary>What came out</summary>
#
# **One sequence.** There is one row, so by minibatch one core does everything. By units each core multiplies by its half of the weights, 2 MB on two cores, which may fit into its second cache (section 7 printed its size). Half the work gives 2 on two cores; weights that now fit give more, waiting less.
#
# **64 sequences.** Both ways halve the arithmetic. By units the cores wait in every step; by minibatch each core reads all weights. Equal times say that neither cost matters, or that both are equal.
#
# </details>
#
# In this test the states stay the same, so no core reads what the other wrote. In a network it does, so the units look a little too good here.
#
# ## 10 · Who is ahead on all cores?
#
# The last row has all ideas together, on all cores, with the minibatch shared. Beside it stands the better of NumPy's two rates, with one thread and with all: for small products, threads can cost a library more than they save. Before each turn the machine rests until no thread computes (`settled`).
#
# **Predict:** who is ahead at 128 units, and at 512?

# %% needs a compiler
from rnncourse.lab.blas import describe_library

my_guess = {128: ..., 512: ...}
climb(f"{cores} cores" if cores > 1 else "a team of one",
      partial(shared, "minibatch"), cores)
*_, last = table
for H, guess in my_guess.items():
    factor = table[last][H][1]
    print(f"{H} units: {factor:.2f} times NumPy's better rate "
          f"({numpy_with[last, H]}); you guessed {guess}")
print(disturbed[last])
print(f"{describe_library()}; vectors here: {VECTOR_BYTES} bytes")

# %% [folded] needs a compiler
# Draw the rate after each idea.
figure, axis = canvas(height=3.6)
for H, marker in zip(SIZES, "os", strict=True):
    axis.plot([row[H][1] for row in table.values()], f"{marker}-",
              label=f"{H} units")
axis.axhline(1, color="black", linestyle=":", label="NumPy")
axis.set(yscale="log", ylabel="rate over NumPy's")
axis.set_yticks(ticks := (0.01, 0.03, 0.1, 0.3, 1, 3),
                [f"{tick:g}" for tick in ticks])
axis.minorticks_off()
axis.set_xticks(range(len(table)), [step.replace(" ", "\n", 1)
                                    for step in table], fontsize=8)
axis.legend(fontsize=8)
words = "; ".join(f"{step}: " + " and ".join(f"{row[H][1]:.2g}" for H in SIZES)
                  for step, row in table.items())
show(figure, f"Rate over NumPy's at 128 and 512 units, by idea. {words}.")

# %% [markdown]
# Above the dotted line, the product compiled here is ahead. If the last point lies higher than the one to its left, more cores bring this product more than more threads bring the library.
#
# Libraries know the idea: MKL and FBGEMM have calls that pack weights once (sources below). NumPy does not use them.
#
# The last row is a bare product. On the scoreboard stands a forward pass of a tanh network with 256 units, by the ladder's rung `packed_weights`: products with inputs and states, biases, tanh, and packing once a pass. **Predict** its rate, on one core and on all, as parts of the rate of one large product on one core.

# %% needs a compiler
from rnncourse import scoreboard
from rnnlab.ladder import packed_weights

my_guess = {1: ..., cores: ...}
network, x, state, _ = scoreboard.problem("rnn_tanh")
forward = lambda: packed_weights.forward(network, x, state)
for threads in sorted({1, cores}):
    scoreboard.measure("08", {f"packed weights, threads: {threads}": forward},
                       network, rounds=9, threads=threads,
                       show=threads == cores)
print("you guessed", my_guess)

# %% [markdown]
# The 100 % of this table is the library's large product, measured once on one core; a row on one core can pass it, since the library is not a bound.
#
# What is the bound? A core begins a limited number of multiply-adds in a cycle, and no order of loops changes that. The highest rates of section 5, where everything lies in the nearest cache, are probably this bound. What bounds larger networks stands in [docs/performance.md](../docs/performance.md).
#
# To use all this, call `rnnlab.fastest(network, x)`: it measures every rung on your machine and prints the reasons for its choice. Single steps of one sequence (`rnnlab.Inference(network).step(x, state)`) pack nothing: each reads a weight once, and the weights may change between two steps.
#
# ## Recap
#
# **A product compiled for one network needs no assembly by hand. The order of the loops and the tile are worth most; what pieces, one call and packing once add depends on sizes and caches.**
#
# The lines below the table divide each row's part of NumPy's rate by that of the row before, on one core. These rows were measured at different moments, and a tenth decides nothing; sections 7 and 8 compared in turns.

# %% [folded] needs a compiler
# Print what this run says of the claim.
from itertools import pairwise

show_table()
for before, after in pairwise([*table][:-1]):  # on one core
    factors = (f"{table[after][H][1] / table[before][H][1]:.2g}" for H in SIZES)
    print(f"{after}: {' and '.join(factors)} times the row before")
undisturbed = [step for step in table if not disturbed[step]]
part, step, H = max(((table[step][H][1], step, H) for step in undisturbed
                     for H in SIZES), default=(0, "", 0))
if part > 1.1:
    says = (f"does NOT hold here; {step}, {H} units: {part:.2f} times NumPy's "
            f"rate ({numpy_with[step, H]}), weights packed beforehand\n"
            "(one core, packing in every step: "
            f"{' and '.join(f'{each_time[H]:.2f}' for H in SIZES)} times)")
elif len(undisturbed) < len(table):
    says = "is undecided: another program used the cores; run the lesson again"
else:
    says = f"holds here, at {' and '.join(map(str, SIZES))} units"
print(f"\nclaim: {says}")

# %% [folded]
# Print the lesson in a table, and your progress.
rows = [
    ("panel", "columns of the weights, term after term; packed once"),
    ("tile", "r rows by v vectors of sums in registers"),
    ("registers of a tile", "r·v sums, v vectors of weights, 1 state"),
    ("loads a multiply-add", "(r + v) / (r·v)"),
    ("a spilled sum", "is stored and loaded again in every term"),
    ("order of the calls",
     "a piece that fits stays until all rows have used it"),
    ("two cores", "minibatch without barriers, or units with one a step"),
]
for question, answer in rows:
    print(f"{question:22}{answer}")
rnnlab.progress("08_packed_products")

# %% [markdown]
# ## Recall
#
# Answer first, then open.
#
# <details><summary>Why does packing cost a library little for a large product, and much for a step of a few sequences?</summary>It moves K·N numbers, whatever the number of rows; the arithmetic is B·K·N.</details>
#
# <details><summary>How many registers does a tile of 6 rows by 2 vectors need?</summary>15: 12 sums, 2 vectors of weights, 1 state.</details>
#
# <details><summary>17 rows in tiles of 6 by 2, two FMAs and two loads a cycle, latency 4: how many cycles for a term?</summary>6, 6 and 5 rows: 12 sums take 6 cycles, 10 sums take 5, and the loads (8 and 7) take 4 and 3.5. Together 6 + 6 + 5 = 17.</details>
#
# <details><summary>Two FMAs begin in a cycle, each takes 5 cycles. How many sums must be under way?</summary>10.</details>
#
# <details><summary>Which of the three arrays should be fetched once, and what follows for the loops?</summary>The weights: the panels are the outer loop, the rows the inner one.</details>
#
# <details><summary>One sequence, two cores: why share the units?</summary>There is nothing else to share, and each core then reads and multiplies half of the weights.</details>

# %% [markdown]
# ## Sources
#
# - K. Goto and R. van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, ACM TOMS 34(3), 2008: packing, panels, and which piece lies in which cache.
# - F. G. Van Zee and R. van de Geijn, *BLIS: A Framework for Rapidly Instantiating BLAS Functionality*, ACM TOMS 41(3), 2015: the tile as the only part that depends on the processor.
# - T. M. Low et al., *Analytical Modeling Is Enough for High-Performance BLIS*, ACM TOMS 43(2), 2016: the tile computed from registers and latency.
# - Intel's oneMKL reference (`cblas_sgemm_pack`, `cblas_sgemm_compute`) and FBGEMM (`PackBMatrix`): libraries that can pack once.
# - A. Fog, *Instruction tables*, agner.org: latencies and rates of FMA and loads.
#
# Next: [09 · First kernels](09_cuda_first_kernels.ipynb)

# %% [markdown]
# # 08 · Packed products: exercises
#
# A tile that fits into registers, the instructions that compute it, and calls in an order that suits the caches.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(choose_tile)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] choose_tile

# %% [markdown]
# Your tiles for the vector registers of three kinds of processors, if each begins two multiply-adds and two loads in a cycle, with a latency of 4 cycles:

# %%
own_tile = use(choose_tile)
for name, registers in (("SSE, AVX2", 16), ("AVX-512, NEON", 32), ("twice as many", 64)):
    tiles = {B: own_tile(B, registers, 4, 2, 2) for B in (1, 4, 16, 64)}
    print(f"{name:14}", ", ".join(f"B = {B}: {r} × {v}" for B, (r, v) in tiles.items()))

# %% [exercise] emit_tile

# %% [markdown]
# Your instructions, compiled for this processor: the same function, called with a core that emits LLVM's instructions in place of counting them. Which tile of yours is the fastest? Section 5 of the lesson has the rates of the course's own loops.

# %% needs a compiler
from rnncourse.lab.tile_rates import EmittedTile
from rnncourse.lab.turns import take_turns

own_emitter = use(emit_tile)
emitted = {name: EmittedTile(own_emitter, *name) for name in ((1, 1), (4, 1), (4, 3), (16, 2))}
emitted_times = take_turns({name: own.run for name, own in emitted.items()}, 5)
for (r, v), timing in emitted_times.items():
    gflops, is_right = emitted[r, v].rate(timing), emitted[r, v].is_right()
    print(f"{r:2} × {v}: {gflops:6.1f} GFLOP/s; same product as NumPy's: {is_right}")

# %% [exercise] tiled_product

# %% [markdown]
# Your order with real numbers. NumPy stands in for the compiled kernel, so this says that the product is right, not how fast it is.

# %%
rng = np.random.default_rng(0)
a, weights = rng.normal(size=(10, 70)), rng.normal(size=(70, 24))
columns = np.stack(np.split(weights, 3, axis=1))  # panels [3,70,8]
sums = np.zeros((10, 24))


def multiply_piece(row, rows, panel, term, terms):
    """Adds to sums [rows, a panel's columns] what the terms give."""
    part = a[row : row + rows, term : term + terms] @ columns[panel, term : term + terms]
    sums[row : row + rows, 8 * panel : 8 * panel + 8] += part


multiply_piece.rows, multiply_piece.columns = 4, 8
use(tiled_product)(multiply_piece, 10, 70, 3, 512)
print("same product:", np.allclose(sums, a @ weights))

# %%
progress("08_packed_products")
